/**
 * Paths below the workspace folder. A companion that a config names (a sourced script, a parent file) is read only
 * when it lies inside the folder, so a path that leaves it is refused before anything is read.
 */

/** The path without `.` and `..`, with `/`; null when it is absolute, leaves the root or is not a path at all. */
export function insideRoot(path: string): string | null {
  const slashed = path.replaceAll('\\', '/');
  if (slashed === '' || slashed.startsWith('/') || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(slashed)) return null;
  if (slashed.includes('\0')) return null;
  const parts: string[] = [];
  for (const part of slashed.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.length === 0 ? null : parts.join('/');
}

/** The path of `full` below `root`, both absolute with `/`; null when it lies elsewhere or is the root itself. */
export function relativeTo(root: string, full: string): string | null {
  const prefix = root.endsWith('/') ? root : `${root}/`;
  return full.startsWith(prefix) && full.length > prefix.length ? full.slice(prefix.length) : null;
}

/** Every folder on the way to a relative path, and the path itself: `a/b/c` gives `a`, `a/b`, `a/b/c`. */
export function steps(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
