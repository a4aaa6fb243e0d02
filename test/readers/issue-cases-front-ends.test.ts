/**
 * What public issue threads ran into, in the frameworks of these front ends: the right code at the right token, and
 * where a thread has a right answer, that answer. One row each, with the thread.
 */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { analyse } from '../../src/analysis.ts';
import type { FindingCode } from '../../src/model/finding-codes.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { fixtureTexts } from './front-ends.ts';

before(() => loadParsers(['yaml', 'jsonc']));

interface IssueCase {
  readonly thread: string;
  readonly folder: string;
  readonly file: string;
  /** The code and the characters that it stands on; null where the config is legal. */
  readonly finding: readonly [code: FindingCode, token: string] | null;
  /** The split, as layers per rank, where the thread is about one. */
  readonly split: string | null;
}

const CASES: readonly IssueCase[] = [
  {
    thread: 'https://github.com/modelscope/ms-swift/issues/5737',
    folder: 'ms-swift',
    file: 'layers-not-divisible.sh',
    finding: ['layers-not-divisible', '4'],
    split: null,
  },
  {
    thread: 'https://github.com/modelscope/ms-swift/issues/5737',
    folder: 'ms-swift',
    file: 'layers-ends-mended.sh',
    finding: null,
    split: '11|12|12|11',
  },
  {
    thread: 'https://github.com/radixark/miles/pull/1102',
    folder: 'slime',
    file: 'dynamic.sh',
    finding: null,
    split: '16|16|16|13',
  },
  {
    thread: 'https://github.com/deepspeedai/DeepSpeed/issues/568',
    folder: 'deepspeed',
    file: 'zero/ds_config.json',
    finding: ['options-conflict', '2'],
    split: null,
  },
  {
    thread: 'https://github.com/deepspeedai/Megatron-DeepSpeed/issues/474',
    folder: 'megatron-deepspeed',
    file: 'refused-zero-one-stage.sh',
    finding: ['options-conflict', '3'],
    split: null,
  },
  {
    thread: 'https://github.com/bigscience-workshop/Megatron-DeepSpeed/issues/186',
    folder: 'megatron-deepspeed',
    file: 'weighed-embeddings.sh',
    finding: null,
    split: '5|6|6|6|6|6|6|6|6|6|6|5',
  },
];

for (const { thread, folder, file, finding, split } of CASES) {
  test(`${thread}: ${file}`, () => {
    const texts = fixtureTexts(folder);
    const [first] = analyse({ file, texts, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS }).plans;
    assert.ok(first !== undefined);
    const errors = first.findings.filter(({ severity }) => severity === 'error');
    const told = errors.map(({ code, range }) => [
      code,
      texts[range.file]!.slice(range.offset, range.offset + range.length),
    ]);
    assert.deepEqual(told, finding === null ? [] : [finding]);
    if (split !== null) assert.equal(first.stageLayers?.map((chunks) => chunks.join('+')).join('|'), split);
  });
}
