/** The fixtures of the front ends that share a way of testing: a folder each, with its companions beside the configs. */

import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { framework } from '../../src/frameworks/table.ts';
import type { Plan, Said } from '../../src/model/plan.ts';
import type { Reader, Texts } from '../../src/model/reading.ts';
import { deepSpeed } from '../../src/readers/deepspeed.ts';
import { gptNeox } from '../../src/readers/gpt-neox.ts';
import { maxtext } from '../../src/readers/maxtext.ts';
import { megatronDeepSpeed } from '../../src/readers/megatron-deepspeed.ts';
import { megatronLm } from '../../src/readers/megatron-lm.ts';
import { mindformers } from '../../src/readers/mindformers.ts';
import { mindspeedLlm } from '../../src/readers/mindspeed-llm.ts';
import { mlperf } from '../../src/readers/mlperf.ts';
import { msSwift } from '../../src/readers/ms-swift.ts';
import { paddlenlp } from '../../src/readers/paddlenlp.ts';
import { slime } from '../../src/readers/slime.ts';
import { verl } from '../../src/readers/verl.ts';

export interface FrontEnd {
  readonly reader: Reader;
  readonly folder: string;
  /** Which files of the folder are configs of their own; the others are companions. */
  readonly isConfig: (path: string) => boolean;
}

const atTop = (path: string) => !path.includes('/');

export const FRONT_ENDS: readonly FrontEnd[] = [
  { reader: msSwift, folder: 'ms-swift', isConfig: atTop },
  { reader: slime, folder: 'slime', isConfig: atTop },
  { reader: verl, folder: 'verl', isConfig: atTop },
  { reader: mindspeedLlm, folder: 'mindspeed-llm', isConfig: atTop },
  { reader: megatronLm, folder: 'pai-megatron-patch', isConfig: (path) => atTop(path) && path !== 'called.sh' },
  { reader: mlperf, folder: 'mlperf', isConfig: atTop },
  { reader: megatronDeepSpeed, folder: 'megatron-deepspeed', isConfig: atTop },
  { reader: deepSpeed, folder: 'deepspeed', isConfig: (path) => path.endsWith('.json') },
  { reader: gptNeox, folder: 'gpt-neox', isConfig: atTop },
  { reader: maxtext, folder: 'maxtext', isConfig: atTop },
  { reader: mindformers, folder: 'mindformers', isConfig: atTop },
  { reader: paddlenlp, folder: 'paddlenlp', isConfig: atTop },
];

/** All files of a fixture folder by their path in it, without goldens. */
export function fixtureTexts(folder: string): Texts {
  const root = join(process.cwd(), 'test/fixtures', folder);
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.golden.txt'))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    paths.sort().map((path) => [
      path
        .slice(root.length + 1)
        .split(sep)
        .join('/'),
      readFileSync(path, 'utf8'),
    ]),
  );
}

/** `# said cluster.gpus=64` in the fixture is what was said outside it. */
export function saidIn(text: string): Said {
  const entries = [...text.matchAll(/^# said ([\w.]+)=(.+)$/gm)];
  return Object.fromEntries(entries.map((entry) => [entry[1]!, { value: entry[2]!, by: 'the test' }]));
}

/** What the framework says to the schedule of a plan, which the analysis adds to the reader's own findings. */
export function refusalLine(plan: Plan): string {
  const { pp, vpp, schedule, microbatches, groupSize } = plan;
  if (pp.value === null || vpp.value === null || schedule.value === null || microbatches.value === null) {
    return '  schedule not complete\n';
  }
  const sizes = { pp: pp.value, vpp: vpp.value, microbatches: microbatches.value, groupSize: groupSize.value };
  const refusal = framework(plan.framework!)!.refuse({ schedule: schedule.value, ...sizes });
  return refusal === null ? '  schedule accepted\n' : `  schedule refused ${refusal.code}: ${refusal.message}\n`;
}
