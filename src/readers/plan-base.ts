/** The parts of a plan that hardly any config says, as unknowns that name what would tell them. */

import type { Plan, Said } from '../model/plan.ts';
import { SCHEDULE_IDS, type ScheduleId } from '../model/schedule.ts';
import { byDefault, firstUnknown, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { spoken } from './said.ts';
import { entryAt, nodeAt, type TreeNode } from './tree.ts';

type Open = Pick<Plan, 'cluster' | 'run' | 'stageTimes' | 'transferMs' | 'measuredStepMs' | 'communication'>;

/** `title` names the framework whose sends do not wait. */
export function openParts(title: string): Open {
  return {
    communication: byDefault('async', `${title} posts sends without waiting for the receiver`),
    cluster: {
      gpu: unknown('the kind of GPU', 'cluster.gpu'),
      gpusPerNode: unknown('the GPUs of one machine', 'cluster.gpusPerNode'),
      usdPerGpuHour: unknown('the price of a GPU hour', 'cluster.usdPerGpuHour'),
    },
    run: {
      steps: unknown('the length of the run', 'run.steps'),
      tokens: unknown('the tokens of the run', 'run.tokens'),
    },
    stageTimes: unknown('measured stage times', 'stages'),
    transferMs: unknown('the time of a transfer', 'transfer.ms'),
    measuredStepMs: unknown('a measured step', 'measured.stepMs'),
  };
}

/** The schedule that was said outside the file; null where none was. */
export function saidSchedule(said: Said): Sourced<ScheduleId> | null {
  const entry = Object.hasOwn(said, 'pipeline.schedule') ? said['pipeline.schedule'] : undefined;
  const id = SCHEDULE_IDS.find((each) => each === entry?.value);
  return entry === undefined || id === undefined ? null : spoken(id, entry);
}

/** The token of the first path that is written, else the first key of the file. */
export function anchorAt(file: string, root: TreeNode, paths: readonly string[]): TextRange {
  for (const path of paths) {
    const node = nodeAt(root, path);
    if (node.kind === 'scalar' && node.range.length > 0 && node.range.file === file) return node.range;
    const entry = entryAt(root, path);
    if (entry !== null && entry.keyRange.file === file) return entry.keyRange;
  }
  const first = root.kind === 'map' ? root.entries.values().next().value : undefined;
  return first?.keyRange.file === file ? first.keyRange : { file, offset: 0, length: 0 };
}

/** The values of all; the unknown that explains why not. */
export function allOf(values: readonly Sourced<number>[]): readonly number[] | ReturnType<typeof unknown> {
  const missing = firstUnknown(values);
  return missing ?? values.map((value) => value.value!);
}

/** The file's name without folders and extension. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
}
