/** What the parser of `node:util` makes of arguments, in the words of this command line. */

/** A number after an option's name is the option's value: `--pp -1` is `--pp=-1`, not two options. */
export function prepared(args: readonly string[]): string[] {
  const ready: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === '--') return [...ready, ...args.slice(i)];
    const next = args[i + 1];
    const takesNext = /^--[^=]+$/.test(arg) && next !== undefined && /^-(\.?\d|inf|nan)/i.test(next);
    ready.push(takesNext ? `${arg}=${next}` : arg);
    if (takesNext) i++;
  }
  return ready;
}

/** Why the parser refused, in one clause without a full stop. */
export function refusalOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const unvalued = /^Option '(?:-\w, )?(--[^\s']+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(text);
  return unvalued === null ? text.split(/[.\n]\s|\.$/)[0]! : `${unvalued[1]} is given without a value`;
}
