/**
 * Cheap looks at a YAML file, before any parser: whether a top-level section stands there, and which keys it holds.
 * Line by line at the start of lines only, so that a file that is not ours costs one pass of `includes`.
 */

const YAML = /\.ya?ml$/i;

export function isYaml(path: string): boolean {
  return YAML.test(path);
}

/** Whether a key stands at the very start of a line. */
export function hasSection(text: string, key: string): boolean {
  let at = text.indexOf(`${key}:`);
  while (at >= 0) {
    if (at === 0 || text[at - 1] === '\n' || (at === 1 && text[0] === '\uFEFF')) return true;
    at = text.indexOf(`${key}:`, at + 1);
  }
  return false;
}

/** Whether a key stands somewhere below a section, at any depth: at the start of a line, indented. */
export function hasInner(text: string, key: string): boolean {
  let at = text.indexOf(`${key}:`);
  while (at >= 0) {
    let before = at - 1;
    while (before >= 0 && BLANK.has(text[before]!)) before--;
    if (before < at - 1 && (before < 0 || text[before] === '\n')) return true;
    at = text.indexOf(`${key}:`, at + 1);
  }
  return false;
}

const BLANK: ReadonlySet<string> = new Set([' ', '\t', '-']);

/** Lines of a section that are looked at. */
const MAX_LINES = 4000;

/** Whether a top-level section holds the key itself, not something deeper in it. */
export function sectionHolds(text: string, section: string, key: string): boolean {
  const start = sectionStart(text, section);
  if (start < 0 || !text.includes(key, start)) return false;
  const flow = /^[^:\n]*:[ \t]*\{([^}]{0,4000})/.exec(text.slice(start, start + 4200));
  if (flow !== null) return new RegExp(`(?:^|[\\s,])${key}[ \\t]*:`).test(flow[1]!);
  let indent: string | null = null;
  let at = text.indexOf('\n', start) + 1;
  for (let line = 0; at > 0 && at < text.length && line < MAX_LINES; line++) {
    let first = at;
    while (first < text.length && (text[first] === ' ' || text[first] === '\t')) first++;
    const next = text.indexOf('\n', first) + 1;
    if (first < text.length && !'#\r\n'.includes(text[first]!)) {
      if (first === at) return false;
      indent ??= text.slice(at, first);
      if (first - at === indent.length && text.startsWith(`${key}:`, first)) return true;
    }
    at = next;
  }
  return false;
}

function sectionStart(text: string, section: string): number {
  if (text.startsWith(`${section}:`)) return 0;
  const at = text.indexOf(`\n${section}:`);
  return at < 0 ? -1 : at + 1;
}
