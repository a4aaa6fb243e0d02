/** The documentation pages of the finding codes against the table of codes. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FINDING_CODES } from '../src/model/finding-codes.ts';

const FOLDER = join(process.cwd(), 'media/docs');
const SECTIONS = ['What it says', 'Why it matters', 'Example', 'What to do', 'When to ignore it'];
const SEVERITY = { error: 'usually an error', warning: 'usually a warning', information: 'usually information' };

test('every finding code has a page, and every page a code', () => {
  const pages = readdirSync(FOLDER).map((name) => name.replace(/\.md$/, ''));
  assert.deepEqual(pages.sort(), Object.keys(FINDING_CODES).sort());
});

for (const [code, row] of Object.entries(FINDING_CODES)) {
  test(`the page of ${code} says what, why, an example, what to do and when to ignore it`, () => {
    const text = readFileSync(join(FOLDER, `${code}.md`), 'utf8');
    const lines = text.split('\n');
    assert.equal(lines[0], `# ${row.title}`);
    assert.equal(lines[2], `\`${code}\`, ${SEVERITY[row.severity]}.`);
    const sections = lines.filter((line) => line.startsWith('## ')).map((line) => line.slice(3));
    assert.deepEqual(sections, SECTIONS);
    for (const section of text.split(/^## .*$/m).slice(1)) assert.ok(section.trim().length > 5);
    assert.ok(lines.length >= 20 && lines.length <= 50, `${lines.length} lines`);
  });
}
