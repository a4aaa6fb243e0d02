/**
 * The rooms: which part of the source may import which, and which globals the pure rooms must not touch. The table is
 * the one of the README's "Rooms"; adding a room is one row.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { test } from 'node:test';

const ROOT = process.cwd();

interface Room {
  /** Path prefix below the root, `/` at the end for a folder. */
  readonly at: string;
  readonly rooms: readonly string[];
  /** Packages, and `node:` for node's own modules. */
  readonly packages: readonly string[];
  readonly pure: boolean;
}

const CORE = [
  'src/model/',
  'src/frameworks/',
  'src/sim/',
  'src/cost/',
  'src/readers/',
  'src/advice/',
  'src/analysis.ts',
];

const ROOMS: readonly Room[] = [
  { at: 'src/model/', rooms: [], packages: [], pure: true },
  { at: 'src/frameworks/', rooms: ['src/model/'], packages: [], pure: true },
  { at: 'src/sim/', rooms: ['src/model/', 'src/frameworks/'], packages: [], pure: true },
  { at: 'src/cost/', rooms: ['src/model/'], packages: [], pure: true },
  {
    at: 'src/readers/',
    rooms: ['src/model/', 'src/frameworks/'],
    packages: ['yaml', 'jsonc-parser', 'toml-eslint-parser', '@lezer/common', '@lezer/python'],
    pure: true,
  },
  { at: 'src/advice/', rooms: ['src/model/', 'src/frameworks/', 'src/sim/', 'src/cost/'], packages: [], pure: true },
  { at: 'src/analysis.ts', rooms: CORE.filter((room) => room !== 'src/analysis.ts'), packages: [], pure: true },
  {
    at: 'src/worker/',
    rooms: CORE,
    packages: ['node:'],
    pure: false,
  },
  { at: 'src/measure/', rooms: ['src/model/'], packages: ['node:'], pure: false },
  { at: 'src/cli/', rooms: [...CORE, 'src/measure/', 'src/worker/', 'package.json'], packages: ['node:'], pure: false },
  { at: 'src/editor/', rooms: [...CORE, 'src/measure/', 'src/worker/'], packages: ['vscode', 'node:'], pure: false },
  {
    at: 'src/extension.ts',
    rooms: [...CORE, 'src/editor/', 'src/measure/', 'src/worker/'],
    packages: ['vscode', 'node:'],
    pure: false,
  },
  { at: 'webview/', rooms: ['src/model/'], packages: ['@vscode/webview-ui-toolkit'], pure: false },
];

const FORBIDDEN_GLOBALS =
  /(?<![.\w$'"-])(Date|process|setTimeout|setInterval|setImmediate|queueMicrotask|performance|fetch|require|globalThis|console)\s*[.(]|Math\.random|new Date\b|\beval\s*\(|new Function\b/;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g;

function sources(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

function roomOf(file: string): Room | undefined {
  return ROOMS.find((room) => (room.at.endsWith('/') ? file.startsWith(room.at) : file === room.at));
}

function importsOf(text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1');
}

export function violations(file: string, text: string): readonly string[] {
  const room = roomOf(file);
  if (room === undefined) return [`${file}: belongs to no room`];
  const code = withoutComments(text);
  const bad = importsOf(code).filter((target) => !allowed(room, file, target));
  const global = room.pure ? FORBIDDEN_GLOBALS.exec(code.replace(/(['"`])(?:\\.|(?!\1).)*\1/g, "''")) : null;
  return [
    ...bad.map((target) => `${file}: ${room.at} may not import ${target}`),
    ...(global === null ? [] : [`${file}: ${room.at} is pure and may not use ${global[0].trim()}`]),
  ];
}

function allowed(room: Room, file: string, target: string): boolean {
  if (!target.startsWith('.')) {
    return room.packages.some((name) =>
      name === 'node:' ? target.startsWith(name) : target === name || target.startsWith(`${name}/`),
    );
  }
  const path = join(dirname(file), target).split(sep).join('/');
  return [room.at, ...room.rooms].some((each) => (each.endsWith('/') ? path.startsWith(each) : path === each));
}

test('every source file imports only what its room may, and pure rooms touch no global', () => {
  const files = [...sources('src'), ...sources('webview')];
  assert.ok(files.length > 20, 'the sources are found');
  assert.deepEqual(
    files.flatMap((file) => violations(file, readFileSync(join(ROOT, file), 'utf8'))),
    [],
  );
});

test('the check itself catches what it forbids', () => {
  const caught = (file: string, text: string) => violations(file, text).length;
  assert.equal(caught('src/sim/x.ts', "import { analyse } from '../analysis.ts';"), 1);
  assert.equal(caught('src/sim/x.ts', "import { a } from '../readers/said.ts';"), 1);
  assert.equal(caught('src/cost/x.ts', "const a = await import('../sim/shape.ts');"), 1);
  assert.equal(caught('src/readers/x.ts', "import * as vscode from 'vscode';"), 1);
  assert.equal(caught('src/readers/x.ts', "import { readFileSync } from 'node:fs';"), 1);
  assert.equal(caught('src/advice/x.ts', 'const now = Date.now();'), 1);
  assert.equal(caught('src/advice/x.ts', 'const r = Math.random();'), 1);
  assert.equal(caught('src/advice/x.ts', 'setTimeout(() => {}, 1);'), 1);
  assert.equal(caught('src/advice/x.ts', 'const p = process.env.HOME;'), 1);
  assert.equal(caught('webview/x.ts', "import { x } from '../src/sim/shape.ts';"), 1);
  assert.equal(caught('src/nowhere/x.ts', ''), 1);
  assert.equal(
    caught('src/advice/x.ts', "import type { Plan } from '../model/plan.ts';\n/** Date.now() in words */"),
    0,
  );
});

test('vscode is imported only by the editor room and the entry', () => {
  const users = sources('src').filter((file) => /from 'vscode'/.test(readFileSync(join(ROOT, file), 'utf8')));
  assert.deepEqual(
    users.filter((file) => !file.startsWith('src/editor/') && file !== 'src/extension.ts'),
    [],
  );
});
