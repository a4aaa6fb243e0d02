/**
 * Where a script that another one names may lie. A script finds its neighbours through its own folder (`dirname $0`),
 * through the folder it is started in (its own, or the root), or by a path below the root.
 */

/** Stands for the root in values that are known to be below it; no real path starts so. */
export const ROOT = '<root>';

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** Without `.` and `..`; null when it leaves the root. */
export function normalise(path: string): string | null {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.length === 0 ? null : parts.join('/');
}

/** Candidates, relative to the root, for a path that the script `from` names; the likelier first. */
export function candidates(named: string, from: string): readonly string[] {
  if (named.length > 1024 || /[\n\0~]/.test(named)) return [];
  if (named.startsWith(`${ROOT}/`)) return [normalise(named.slice(ROOT.length + 1))].filter((path) => path !== null);
  if (named.startsWith('/') || named.startsWith(ROOT)) return [];
  const both = [normalise(`${folderOf(from)}/${named}`), normalise(named)];
  return [...new Set(both.filter((path) => path !== null))];
}

/**
 * What a command substitution gives when it only asks where the script is (`pwd`, `dirname "$0"`, `cd … && pwd`):
 * the path below the root; null for any other command.
 */
export function placeOfScript(command: string, file: string): string | null {
  if (command.length > 400) return null;
  if (/^\s*pwd(\s+-[LP])?\s*$/.test(command)) return '.';
  if (/^\s*git\s+rev-parse\s+--show-toplevel\s*$/.test(command)) return ROOT;
  if (!/\$\{?(0|BASH_SOURCE)\b/.test(command)) return null;
  const up = (command.match(/\/\.\.(?=["'/\s)]|$)/g) ?? []).length;
  if (/\bdirname\b/.test(command)) return [ROOT, folderOf(file), ...Array<string>(up).fill('..')].join('/');
  return /\b(realpath|readlink)\b/.test(command) ? `${ROOT}/${file}` : null;
}
