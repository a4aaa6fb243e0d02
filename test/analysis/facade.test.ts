/**
 * The facade end to end: the explanation of every shipped example is a golden text, which is what the terminal and
 * `Explain This Config` show. `UPDATE=1` rewrites them; read the difference.
 */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyse, applyEdits, explainText, prepare, readerFor, timelineView, withFixes } from '../../src/analysis.ts';
import type { Texts } from '../../src/model/reading.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';

const EXAMPLES = join(process.cwd(), 'examples');
const GOLDEN = join(process.cwd(), 'test/fixtures/explain');

const examples = readdirSync(EXAMPLES)
  .filter((file) => !file.endsWith('.md'))
  .sort();

async function inputFor(file: string, text: string) {
  const reader = readerFor(file, text);
  assert.ok(reader, `${file} is read`);
  await prepare(reader);
  const texts: Texts = { [file]: text };
  return { file, texts, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS };
}

function hold(name: string, actual: string): void {
  const path = join(GOLDEN, `${name}.golden.txt`);
  if (process.env.UPDATE === '1' || !existsSync(path)) {
    mkdirSync(GOLDEN, { recursive: true });
    writeFileSync(path, actual);
    assert.equal(process.env.UPDATE, '1', `${name} had no golden text; it was written, read it`);
  }
  assert.equal(actual, readFileSync(path, 'utf8'));
}

test('there are at least six examples', () => {
  assert.ok(examples.length >= 6);
});

for (const file of examples) {
  test(`explanation of ${file}`, async () => {
    const input = await inputFor(file, readFileSync(join(EXAMPLES, file), 'utf8'));
    hold(file, explainText(analyse(input)));
  });

  test(`every surface of ${file} shows the same number`, async () => {
    const input = await inputFor(file, readFileSync(join(EXAMPLES, file), 'utf8'));
    const analysis = analyse(input);
    for (const { texts, report, plan } of analysis.plans) {
      assert.ok(texts.hover.split('\n\n').length <= 12, 'a hover has at most 12 lines');
      if (report === null) continue;
      const shown = `${(Math.round(report.bubbleFraction * 1000) / 10).toFixed(1)} %`;
      for (const surface of ['headline', 'lens', 'hover', 'explanation'] as const) {
        if (plan.pp.value !== 1) assert.ok(texts[surface].includes(shown), `${surface} of ${plan.name} shows ${shown}`);
      }
      assert.equal(timelineView(analysis, plan.id).view?.headline, texts.headline);
    }
  });

  test(`a fix of ${file} keeps its promise`, async () => {
    const input = await inputFor(file, readFileSync(join(EXAMPLES, file), 'utf8'));
    const analysis = withFixes(input, analyse(input));
    for (const { plan, findings } of analysis.plans) {
      for (const fix of findings.flatMap((finding) => finding.fixes)) {
        const after = analyse({ ...input, texts: applyEdits(input.texts, fix.edits) });
        const changed = after.plans.find((each) => each.plan.id === plan.id);
        assert.equal(changed?.report?.bubbleFraction, fix.predicted.bubbleFraction, fix.title);
      }
    }
  });
}

test('a file that nobody claims has no reader, no plan and no finding', () => {
  const analysis = analyse({
    file: 'compose.yaml',
    texts: { 'compose.yaml': 'services:\n  db:\n    image: postgres\n' },
    said: {},
    settings: DEFAULT_ANALYSIS_SETTINGS,
  });
  assert.deepEqual(analysis, { file: 'compose.yaml', reader: null, problems: [], needs: [], plans: [] });
});
