/** Numbers in sentences: thousands apart, and what is counted in its singular or plural. */

/** 8000000 -> "8,000,000", 1234.5 -> "1,234.5"; independent of the machine's locale. */
export function grouped(value: number): string {
  return String(value).replace(/^-?\d{4,}/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

/** (1, "stage") -> "1 stage", (8000000, "action") -> "8,000,000 actions". */
export function counted(count: number, one: string): string {
  const plural = one.endsWith('ch') ? `${one}es` : `${one}s`;
  return `${grouped(count)} ${count === 1 ? one : plural}`;
}
