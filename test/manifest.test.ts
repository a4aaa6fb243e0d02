/**
 * The manifest and the README against the typed tables: settings, commands, finding codes, languages. What the table
 * says is what the editor offers and what the documentation tells.
 */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LANGUAGES, STARTING_FILES, STARTING_LANGUAGES } from '../src/editor/languages.ts';
import { COMMANDS } from '../src/model/commands.ts';
import { FINDING_CODES } from '../src/model/finding-codes.ts';
import { SETTINGS } from '../src/model/settings.ts';

interface Property {
  readonly type: string | readonly string[];
  readonly default: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description: string;
  readonly scope: string;
  readonly order: number;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { contributes } = manifest;

test('the settings are those of the table, in its order', () => {
  const sections: readonly { readonly properties: Readonly<Record<string, Property>> }[] = contributes.configuration;
  const properties = Object.fromEntries(sections.flatMap((section) => Object.entries(section.properties)));
  assert.deepEqual(Object.keys(properties), Object.keys(SETTINGS));
  Object.entries(SETTINGS).forEach(([key, row], index) => {
    const limits = { minimum: undefined, maximum: undefined, ...row };
    const property = properties[key];
    assert.ok(property);
    assert.deepEqual(property.type, row.nullable ? [row.type, 'null'] : row.type, key);
    assert.equal(property.default, row.default, key);
    assert.equal(property.minimum, limits.minimum, key);
    assert.equal(property.maximum, limits.maximum, key);
    assert.equal(property.description, row.description, key);
    assert.equal(property.order, index + 1, key);
    assert.ok(property.description.length <= 200 && property.scope === 'resource', key);
  });
});

test('the commands are those of the table, and the palette shows them when they can be used', () => {
  const commands: readonly { command: string; title: string; category: string }[] = contributes.commands;
  const rows: [string, { readonly title: string; readonly when: string }][] = Object.entries(COMMANDS);
  assert.deepEqual(
    commands.map(({ command, title, category }) => ({ command, title, category })),
    rows.map(([command, { title }]) => ({ command, title, category: 'Bubblelens' })),
  );
  assert.deepEqual(
    contributes.menus.commandPalette,
    rows.filter(([, { when }]) => when !== 'true').map(([command, { when }]) => ({ command, when })),
  );
});

test('the extension starts on the languages it reads and on nothing general', () => {
  assert.deepEqual(manifest.activationEvents, [
    ...STARTING_LANGUAGES.map((language) => `onLanguage:${language}`),
    ...STARTING_FILES.map((name) => `workspaceContains:${name}`),
    'onWebviewPanel:bubblelens.timeline',
  ]);
  assert.deepEqual(
    LANGUAGES.filter((language) => !(STARTING_LANGUAGES as readonly string[]).includes(language)),
    ['json'],
  );
});

test('the types are those of the oldest editor that the manifest allows', () => {
  assert.equal(manifest.engines.vscode, `^${manifest.devDependencies['@types/vscode']}`);
});

test('every finding code has its page, and every page its code', () => {
  const pages = readdirSync('media/docs').filter((name) => name.endsWith('.md'));
  assert.deepEqual(
    pages.sort(),
    Object.keys(FINDING_CODES)
      .map((code) => `${code}.md`)
      .sort(),
  );
  for (const [code, { title }] of Object.entries(FINDING_CODES)) {
    const page = readFileSync(`media/docs/${code}.md`, 'utf8');
    assert.ok(page.includes(code) && page.includes(title), `media/docs/${code}.md names its code and title`);
  }
});

test('every file that the manifest names is there', () => {
  const named = [manifest.icon, contributes.jsonValidation[0].url, contributes.yamlValidation[0].url];
  for (const file of named) assert.ok(existsSync(file), file);
  const icon = readFileSync(manifest.icon);
  assert.deepEqual([icon.readUInt32BE(16), icon.readUInt32BE(20)], [256, 256]);
});

test('every colour has a default for each kind of theme, and the page falls back to the same', () => {
  const page = readFileSync('webview/timeline.css', 'utf8');
  for (const { id, description, defaults } of contributes.colors) {
    assert.match(id, /^bubblelens\.[a-zA-Z]+$/);
    assert.ok(description.length > 0);
    assert.deepEqual(Object.keys(defaults), ['dark', 'light', 'highContrast', 'highContrastLight']);
    const fallbacks = page.matchAll(new RegExp(`var\\(--vscode-${id.replace('.', '-')}, (#[0-9a-f]{6})\\)`, 'g'));
    assert.deepEqual(
      Object.values(defaults),
      [...fallbacks].map(([, colour]) => colour),
      id,
    );
  }
});

test('the README tells every setting with its default and every command, and no other', () => {
  const lines = readFileSync('README.md', 'utf8').split('\n');
  const rows = lines
    .map((line) => /^\| `(bubblelens\.[\w.]+)` \| `(.*?)` \| (.+) \|$/.exec(line))
    .filter((row) => row !== null);
  assert.deepEqual(
    rows.map(([, key, value]) => [key, value]),
    Object.entries(SETTINGS).map(([key, row]) => [key, String(row.default)]),
  );
  const start = lines.indexOf('### Commands');
  const end = lines.findIndex((line, i) => i > start && line.startsWith('#'));
  const commands = lines.slice(start, end).flatMap((line) => /^\| ([A-Z][^|]+) \|/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    commands,
    Object.values(COMMANDS).map(({ title }) => title),
  );
});
