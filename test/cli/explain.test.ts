/** `explain` as a script calls it: exit codes, one-line errors, overrides and measured costs. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const ROOT = process.cwd();
const CLI = join(ROOT, 'dist', 'cli.js');
const folder = mkdtempSync(join(tmpdir(), 'bubblelens-explain-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'explain', ...args], {
    encoding: 'utf8',
    cwd: ROOT,
  });
  return { status, stdout, stderr };
}

function onlyPlan(...args: readonly string[]) {
  const { status, stdout, stderr } = run(...args, '--json');
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout).files[0].plans[0];
}

test('what is said outside the file stands in front and is named', () => {
  const plan = onlyPlan('examples/short-on-microbatches.toml', '--gpus', '128');
  assert.equal(plan.gpus, 128);
  assert.equal(plan.dp, 2);
  assert.deepEqual(plan.sources.gpus, { kind: 'assumed', by: 'the command line' });
});

test('measured costs turn shares into milliseconds and dollars', () => {
  const plan = onlyPlan(
    'examples/heavy-last-stage.sh',
    '--costs',
    'examples/measured.pipeline.yaml',
    '--set',
    'cluster.usdPerGpuHour=2',
  );
  assert.equal(plan.report.costs, 'measured');
  assert.ok(plan.report.stepMs > 1000 && plan.report.usdPerDayLost > 0);
});

test('places count lines and columns from 1', () => {
  const plan = onlyPlan('examples/refused-by-megatron.sh');
  const [finding] = plan.findings;
  assert.deepEqual(
    [finding.code, finding.severity, finding.line, finding.column],
    ['layers-not-divisible', 'error', 34, 36],
  );
});

for (const [name, args, said] of [
  ['no file', [], /^usage: /],
  ['a missing file', ['nowhere.sh'], /nowhere\.sh: no such file/],
  ['a folder', ['examples'], /examples: not a file/],
  ['an unknown option', ['examples/sound-nanotron.yaml', '--nonsense'], /--nonsense/],
  ['an unknown key', ['examples/sound-nanotron.yaml', '--set', 'a.b=1'], /does not know "a\.b"/],
  ['a bad count', ['examples/sound-nanotron.yaml', '--gpus', 'many'], /cluster\.gpus takes a whole number above 0/],
  [
    'a negative count',
    ['examples/sound-nanotron.yaml', '--gpus', '-4'],
    /cluster\.gpus takes a whole number above 0, not "-4"/,
  ],
  ['a root that is no folder', ['examples/sound-nanotron.yaml', '--root', 'README.md'], /--root takes a folder/],
  ['costs that are none', ['examples/sound-nanotron.yaml', '--costs', 'README.md'], /--costs README\.md/],
] as const) {
  test(`${name} ends with 2 and one line`, () => {
    const { status, stdout, stderr } = run(...args);
    assert.equal(status, 2);
    assert.match(stderr, said);
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
    assert.equal(stdout.trim(), '');
  });
}

test('names and messages cannot command a terminal', () => {
  const file = join(folder, 'x.pipeline.yaml');
  writeFileSync(
    file,
    'bubblelens: 1\nname: "a\\e[31m\\u202Eb"\npipeline: { size: 2, schedule: 1f1b, microbatches: 4 }\n',
  );
  const { stdout } = run(file);
  assert.match(stdout, /a\[31mb: /);
});

test('a measured step that is shorter than the pipeline is said and not used', () => {
  const file = join(folder, 'short.pipeline.yaml');
  writeFileSync(
    file,
    'bubblelens: 1\npipeline: { size: 1, microbatches: 4 }\nstages: [{ forwardMs: 10, backwardMs: 20 }]\nmeasured: { stepMs: 50 }\n',
  );
  const plan = onlyPlan(file);
  assert.deepEqual(
    plan.findings.map((each: { code: string }) => each.code),
    ['measured-step-short'],
  );
  assert.equal(plan.report.stepMs, 120);
});
