/**
 * Schedules that Primus patches into Megatron: the zero-bubble runtime (`patch_zero_bubble`) and its own
 * (`patch_primus_pipeline` with `pp_algorithm`). Without a switch every other key about them does nothing. Mirrors
 * AMD-AGI/Primus@fd1eeabb primus/backends/megatron/core/pipeline_parallel/zerobubble/{README.md,zbpp_utils.py} and
 * primuspipe/pipeline_launcher.py.
 */

import type { Finding } from '../../model/finding.ts';
import type { Plan, StageContent } from '../../model/plan.ts';
import type { ScheduleId } from '../../model/schedule.ts';
import { derived, unknown } from '../../model/source.ts';
import { finding } from '../limits.ts';
import { placeIn } from '../mcore/config.ts';
import { textOf } from '../mcore/interpolate.ts';
import { type ListNode, nodeAt, type TreeNode } from '../tree.ts';

export interface PrimusSchedule {
  readonly id: ScheduleId;
  readonly how: string;
  /** Virtual stages that the schedule needs; null where the config's hold. */
  readonly vpp: number | null;
  readonly key: string;
}

const MEMORY: Readonly<Record<string, ScheduleId>> = { half: 'v-half', min: 'v-min', zb: 'zbv' };

const ALGORITHMS: Readonly<Record<string, readonly [ScheduleId, number | null]>> = {
  '1f1b': ['1f1b', 1],
  '1f1b-interleaved': ['interleaved-1f1b', null],
  'zero-bubble': ['zb-h1', 1],
  'zero-bubble-heuristic': ['zb-1p', 1],
  'zbv-formatted': ['zbv', 2],
  'v-half': ['v-half', 2],
  'v-min': ['v-min', 2],
};

/** The word of a key, with the environment's default put in. */
function wordAt(root: TreeNode, path: string): string | null {
  const node = nodeAt(root, path);
  return node.kind === 'scalar' && node.value !== null ? textOf(node, path, { root, dialect: 'primus' }).value : null;
}

function isOn(root: TreeNode, path: string): boolean {
  return /^true$/i.test(wordAt(root, path) ?? '');
}

/** What a switch turns on; null when Megatron's own schedule runs. A text is Primus' reason against it. */
export function primusSchedule(root: TreeNode): PrimusSchedule | string | null {
  if (isOn(root, 'patch_zero_bubble')) return zeroBubble(root);
  if (!isOn(root, 'patch_primus_pipeline')) return null;
  const name = wordAt(root, 'pp_algorithm') ?? '1f1b-interleaved';
  if (!Object.hasOwn(ALGORITHMS, name)) return `Invalid algorithm: ${name.slice(0, 40)}`;
  const [id, vpp] = ALGORITHMS[name]!;
  const alike =
    name === 'zero-bubble' || name === 'zero-bubble-heuristic' ? ', simulated as the nearest that is known' : '';
  return { id, vpp, how: `Primus: pp_algorithm ${name}${alike}`, key: 'pp_algorithm' };
}

function zeroBubble(root: TreeNode): PrimusSchedule | string {
  if (isOn(root, 'enable_1f1b_v')) return { id: '1f1b-v', vpp: 2, how: 'Primus: enable_1f1b_v', key: 'enable_1f1b_v' };
  if (!isOn(root, 'zero_bubble_v_schedule')) {
    return { id: 'zb-1p', vpp: 1, how: 'Primus: patch_zero_bubble without a V schedule', key: 'patch_zero_bubble' };
  }
  const setup = wordAt(root, 'zero_bubble_v_schedule_mem_setup') ?? 'half';
  if (!Object.hasOwn(MEMORY, setup))
    return `zero_bubble_v_schedule_mem_setup must be min, half or zb, not ${setup.slice(0, 40)}`;
  return {
    id: MEMORY[setup]!,
    vpp: 2,
    how: `Primus: zero_bubble_v_schedule, memory setup ${setup}`,
    key: 'zero_bubble_v_schedule',
  };
}

/** The patched schedule and the hand-made split in a plan that was resolved by Megatron's rules. */
export function withPrimus(plan: Plan, root: TreeNode, file: string): Plan {
  return withSchedule(withSplitList(plan, root, file), root, file);
}

function withSchedule(plan: Plan, root: TreeNode, file: string): Plan {
  const schedule = primusSchedule(root);
  if (schedule === null || plan.pp.value === null || plan.pp.value === 1 || plan.schedule.source.kind === 'assumed')
    return plan;
  const findings: Finding[] = [...plan.findings];
  if (typeof schedule === 'string') {
    const key = isOn(root, 'patch_zero_bubble') ? 'zero_bubble_v_schedule_mem_setup' : 'pp_algorithm';
    findings.push(finding('unknown-schedule', schedule, placeIn(file, root, [key]) ?? plan.anchor));
    return { ...plan, schedule: unknown('a schedule that Primus has', 'pipeline.schedule'), findings };
  }
  if (schedule.vpp !== null && plan.vpp.value !== null && plan.vpp.value !== schedule.vpp) {
    const message = `${schedule.how} requires vpp_size to be ${schedule.vpp}, but it is ${plan.vpp.value}`;
    findings.push(finding('schedule-not-legal', message, placeIn(file, root, [schedule.key]) ?? plan.anchor));
  }
  const id = schedule.id === 'interleaved-1f1b' && plan.vpp.value === 1 ? '1f1b' : schedule.id;
  return { ...plan, framework: 'zero-bubble', schedule: derived(id, schedule.how, ['pp', 'vpp']), findings };
}

/** `decoder_pipeline_manual_split_list`: the layers of each chunk, those of one rank together. */
function withSplitList(plan: Plan, root: TreeNode, file: string): Plan {
  const list = nodeAt(root, 'decoder_pipeline_manual_split_list');
  const [pp, vpp] = [plan.pp.value, plan.vpp.value];
  if (list.kind !== 'list' || pp === null || vpp === null) return plan;
  const place = placeIn(file, root, ['decoder_pipeline_manual_split_list']) ?? plan.anchor;
  const findings = plan.findings.filter(({ code }) => code !== 'layers-not-divisible');
  const reason = listProblem(list, pp * vpp, plan.model.layers.value);
  if (reason !== null)
    return {
      ...plan,
      stages: unknown('a legal split list'),
      findings: [...findings, finding('split-invalid', reason, place)],
    };
  return { ...plan, stages: { value: stagesOf(list, pp, vpp), source: { kind: 'text', range: list.range } }, findings };
}

function listProblem(list: ListNode, stages: number, layers: number | null): string | null {
  const numbers = list.items.map((item) =>
    item.kind === 'scalar' && typeof item.value === 'number' ? item.value : -1,
  );
  if (numbers.length !== stages)
    return `decoder_pipeline_manual_split_list has ${numbers.length} entries for ${stages} stages`;
  if (numbers.some((each) => !Number.isSafeInteger(each) || each < 0))
    return 'decoder_pipeline_manual_split_list takes whole numbers';
  const sum = numbers.reduce((a, b) => a + b, 0);
  return layers === null || sum === layers
    ? null
    : `decoder_pipeline_manual_split_list adds up to ${sum} layers, num_layers is ${layers}`;
}

function stagesOf(list: ListNode, pp: number, vpp: number): readonly StageContent[] {
  const numbers = list.items.map((item) => (item.kind === 'scalar' ? Number(item.value) : 0));
  const last = pp * vpp - 1;
  return Array.from({ length: pp * vpp }, (_, stage) => ({
    layers: numbers[(stage % pp) * vpp + Math.floor(stage / pp)]!,
    embedding: stage === 0,
    head: stage === last,
    mtp: 0,
  }));
}
