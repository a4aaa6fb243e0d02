/** A broken text keeps its last numbers, on their line and marked; a sound one, or none, does not. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { analyse, prepare, readerFor } from '../../src/analysis.ts';
import { movedShown, NOTHING_SHOWN, nextShown, type Shown } from '../../src/editor/last-good.ts';
import { tokenAt, tokensOf } from '../../src/editor/plan-tokens.ts';
import { fittedHint, lensesOf, marked } from '../../src/editor/surfaces.ts';
import type { Analysis } from '../../src/model/analysis.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';

const FILE = 'a.pipeline.yaml';
const SOUND = 'bubblelens: 1\npipeline: { size: 4, schedule: 1f1b, microbatches: 8 }\nmodel: { layers: 32 }\n';

function analysisOf(text: string): Analysis {
  return analyse({ file: FILE, texts: { [FILE]: text }, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS });
}

function only(shown: Shown) {
  const [plan] = shown.plans;
  assert.ok(plan && shown.plans.length === 1);
  return plan;
}

before(async () => {
  const reader = readerFor(FILE, SOUND);
  assert.ok(reader);
  await prepare(reader);
});

test('a sound text shows its own numbers', () => {
  const shown = nextShown(NOTHING_SHOWN, analysisOf(SOUND));
  assert.equal(shown.stale, null);
  assert.equal(SOUND.slice(only(shown).anchor.offset)[0], '4');
  assert.equal(lensesOf(only(shown), shown)[0]?.command, 'bubblelens.showTimeline');
});

test('a broken text keeps the last good numbers, marked, and recovers', () => {
  const good = nextShown(NOTHING_SHOWN, analysisOf(SOUND));
  const broken = `# note\n${SOUND.replace('microbatches: 8 }', 'microbatches: [8')}`;
  const moved = movedShown(good, FILE, [{ rangeOffset: 0, rangeLength: 0, text: '# note\n' }]);
  assert.equal(broken[only(moved).anchor.offset], '4');
  const shown = nextShown(moved, analysisOf(broken));
  assert.ok(shown.stale !== null);
  assert.equal(only(shown).analysis.texts.headline, only(good).analysis.texts.headline);
  assert.equal(marked('x', shown), 'x (last good)');
  assert.ok(lensesOf(only(shown), shown).every((lens) => lens.command === 'bubblelens.showTimeline'));
  const again = nextShown(shown, analysisOf(SOUND.replace('8', '16')));
  assert.equal(again.stale, null);
  assert.notEqual(only(again).analysis.texts.headline, only(good).analysis.texts.headline);
});

test('a text that was never sound shows what there is', () => {
  const shown = nextShown(NOTHING_SHOWN, analysisOf('bubblelens: 1\npipeline: { size: [\n'));
  assert.equal(shown.stale, null);
});

test("a file that is nobody's any more shows nothing", () => {
  const good = nextShown(NOTHING_SHOWN, analysisOf(SOUND));
  const shown = nextShown(good, { file: FILE, reader: null, problems: [], needs: [], plans: [] });
  assert.deepEqual(shown, { plans: [], stale: null });
});

test('every value of the plan is found at its token', () => {
  const { plan } = only(nextShown(NOTHING_SHOWN, analysisOf(SOUND))).analysis;
  const tokens = tokensOf(plan);
  const at = (text: string) => tokenAt(tokens, FILE, SOUND.indexOf(text) + text.length - 1)?.key;
  assert.equal(at('microbatches: 8'), 'microbatches');
  assert.equal(at('schedule: 1f1b'), 'schedule');
  assert.equal(at('layers: 32'), 'model.layers');
  assert.equal(tokenAt(tokens, FILE, 0), null);
  assert.equal(tokenAt(tokens, 'other.yaml', SOUND.indexOf('8')), null);
});

test('a hint loses whole parts at its end before the editor cuts it', () => {
  assert.equal(fittedHint('19.9 % idle · 1.13 s · $765/day', { stale: null }), '19.9 % idle · 1.13 s · $765/day');
  assert.equal(fittedHint('19.9 % idle · 1.13 s · $765/day', { stale: 'x' }), '19.9 % idle · 1.13 s (last good)');
  assert.equal(
    fittedHint('12.0 % idle, refused at launch · 2.06 s · $462/day', { stale: null }),
    '12.0 % idle, refused at launch · 2.06 s',
  );
  assert.equal(fittedHint('a reason that is longer than any editor shows', { stale: null }).length, 45);
});
