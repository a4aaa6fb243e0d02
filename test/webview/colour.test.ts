/** Colours: what the browser computes is read, and every theme's own fallback can be told from its background. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Colour, contrast, cssColour, flatten, inkOn, mixColours, parseColour } from '../../webview/colour.ts';

const css = readFileSync('webview/timeline.css', 'utf8');
const NAMES = ['forward', 'backward', 'backward-input', 'backward-weight', 'idle', 'transfer'];
/** Editor backgrounds of the editor's default themes. */
const THEMES = [
  { selector: 'body', manifestKey: 'dark', background: '#1f1f1f' },
  { selector: 'body.vscode-light', manifestKey: 'light', background: '#ffffff' },
  { selector: 'body.vscode-high-contrast', manifestKey: 'highContrast', background: '#000000' },
  { selector: 'body.vscode-high-contrast-light', manifestKey: 'highContrastLight', background: '#ffffff' },
] as const;

function hex(text: string): Colour {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
  return { r, g, b, a: 1 };
}

function fallback(selector: string, name: string): Colour {
  const block = new RegExp(`^${selector.replaceAll('.', '\\.')} \\{([^}]*)\\}`, 'm').exec(
    css.slice(css.indexOf('\nbody {')),
  )?.[1];
  const match = new RegExp(`--bl-${name}: var\\([^,]+, (#[0-9a-f]{6})\\)`).exec(block ?? '');
  assert.ok(match?.[1], `${selector} has no fallback for ${name}`);
  return hex(match[1]);
}

test('the forms that a browser computes are read', () => {
  assert.deepEqual(parseColour('rgb(1, 2, 3)'), { r: 1, g: 2, b: 3, a: 1 });
  assert.deepEqual(parseColour('rgba(255, 255, 255, 0.7)'), { r: 255, g: 255, b: 255, a: 0.7 });
  assert.deepEqual(parseColour('color(srgb 1 0.5 0 / 0.5)'), { r: 255, g: 127.5, b: 0, a: 0.5 });
  assert.equal(parseColour('tomato'), null);
  assert.equal(parseColour('rgb(a, b, c)'), null);
  assert.equal(cssColour({ r: 1.4, g: 2, b: 3, a: 1 }), 'rgba(1, 2, 3, 1)');
});

test('contrast is that of WCAG', () => {
  assert.equal(Math.round(contrast(hex('#000000'), hex('#ffffff')) * 10) / 10, 21);
  assert.equal(Math.round(contrast(hex('#777777'), hex('#ffffff')) * 100) / 100, 4.48);
  assert.deepEqual(inkOn(hex('#ffff00')), hex('#000000'));
  assert.deepEqual(inkOn(hex('#00007f')), hex('#ffffff'));
  assert.deepEqual(flatten({ r: 255, g: 255, b: 255, a: 0.5 }, hex('#000000')), { r: 127.5, g: 127.5, b: 127.5, a: 1 });
});

test('the fallbacks are the defaults of the colours that the extension contributes', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const contributed = new Map<string, Record<string, string>>(
    manifest.contributes.colors.map((row: { id: string; defaults: Record<string, string> }) => [row.id, row.defaults]),
  );
  assert.deepEqual(
    [...contributed.keys()],
    NAMES.map((name) => `bubblelens.${name.replace(/-(.)/, (_, letter) => letter.toUpperCase())}`),
  );
  NAMES.forEach((name, n) => {
    const defaults = [...contributed.values()][n];
    THEMES.forEach(({ selector, manifestKey }) => {
      assert.deepEqual(fallback(selector, name), hex(defaults?.[manifestKey] ?? ''), `${name} in ${manifestKey}`);
    });
  });
});

for (const { selector, background } of THEMES) {
  test(`${selector}: shapes stand out, text on them reads, forward and backward differ in lightness`, () => {
    for (const name of NAMES) {
      const colour = fallback(selector, name);
      const found = contrast(colour, hex(background));
      assert.ok(found >= 3, `${name} has contrast ${found.toFixed(2)}`);
    }
    for (const name of NAMES.slice(0, 4)) {
      const first = fallback(selector, name);
      const last = mixColours(first, hex(background), 0.34);
      for (const colour of [first, last]) {
        const found = contrast(colour, inkOn(colour));
        assert.ok(found >= 4.5, `text on ${name} has contrast ${found.toFixed(2)}`);
      }
    }
    const between = contrast(fallback(selector, 'forward'), fallback(selector, 'backward'));
    assert.ok(between >= 1.25, `forward and backward: ${between.toFixed(2)}`);
  });
}
