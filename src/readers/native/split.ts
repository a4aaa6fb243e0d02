/**
 * The `stages` list: what every stage holds and how long it takes. Without one, the layers are split evenly where
 * they divide; nothing is guessed where they do not.
 */

import type { Finding, RelatedPlace } from '../../model/finding.ts';
import type { ExplicitStage, StageContent } from '../../model/plan.ts';
import { derived, fromText, rangeOf, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { finding } from '../limits.ts';
import type { ListNode, TreeNode } from '../tree.ts';
import type { Checked, Token } from './check.ts';

/** Stages that a split is spelt out for. */
const MAX_STAGES = 65_536;

export interface Split {
  readonly stages: Sourced<readonly StageContent[]>;
  readonly stageTimes: Sourced<readonly ExplicitStage[]>;
  /** Layers of the whole model: as written, else the sum over the stages. */
  readonly layers: Sourced<number>;
  readonly findings: readonly Finding[];
}

interface SplitInput {
  readonly pp: Sourced<number>;
  readonly vpp: Sourced<number>;
  readonly layers: Sourced<number>;
  readonly list: ListNode | null;
  /** The key `stages`, for findings about the list as a whole. */
  readonly listKeyRange: TextRange;
  readonly anchor: TextRange;
  readonly checked: Checked;
}

export function readSplit(input: SplitInput): Split {
  const { pp, vpp, list } = input;
  const count = pp.value === null || vpp.value === null ? null : pp.value * vpp.value;
  if (list === null) return splitEvenly(input, count, unknown("the stages' times", 'stages'));
  if (count !== null && list.items.length !== count) return refuseCount(input, list.items.length, count);
  const findings: Finding[] = [];
  const stageTimes =
    count === null
      ? unknown('how many stages there are', pp.value === null ? 'pipeline.size' : 'pipeline.virtualStages')
      : readTimes(list, input, findings);
  const written = list.items.map((_, s) => numberOf(input.checked, `stages[${s}].layers`));
  if (written.every((layers) => layers === null)) {
    const split = splitEvenly(input, count, stageTimes);
    return { ...split, findings: [...findings, ...split.findings] };
  }
  return { ...readContents(input, list, written, count, findings), stageTimes, findings };
}

function refuseCount(input: SplitInput, listed: number, count: number): Split {
  const { pp, vpp, layers } = input;
  const needed =
    vpp.value === 1
      ? `${pp.value} ranks hold one stage each`
      : `${pp.value} ranks x ${vpp.value} virtual stages are ${count}`;
  const message = `stages lists ${listed} ${listed === 1 ? 'entry' : 'entries'}, but ${needed}`;
  const missing = `a list of ${count} stages`;
  return {
    stages: unknown(missing, 'stages', input.listKeyRange),
    stageTimes: unknown(missing, 'stages', input.listKeyRange),
    layers,
    findings: [
      finding('split-invalid', message, input.listKeyRange, [
        ...place('pipeline.size', pp),
        ...place('pipeline.virtualStages', vpp),
      ]),
    ],
  };
}

function splitEvenly(input: SplitInput, count: number | null, stageTimes: Split['stageTimes']): Split {
  const { pp, vpp, layers } = input;
  const none = (missing: string, say: string, findings: readonly Finding[] = []): Split => ({
    stages: unknown(missing, say),
    stageTimes,
    layers,
    findings,
  });
  if (count === null)
    return none('the number of stages', pp.value === null ? 'pipeline.size' : 'pipeline.virtualStages');
  if (layers.value === null) return none('the number of layers', 'model.layers');
  if (count > MAX_STAGES) return none(`a split over ${count} stages (at most ${MAX_STAGES})`, 'stages');
  if (layers.value % count !== 0) {
    const over = vpp.value === 1 ? `${count} stages` : `${pp.value} x ${vpp.value} = ${count} stages`;
    const message = `${layers.value} layers do not divide over ${over}: say the layers of each under stages`;
    const problem = finding('layers-not-divisible', message, rangeOf(layers) ?? input.anchor, [
      ...place('pipeline.size', pp),
      ...place('pipeline.virtualStages', vpp),
    ]);
    return none('how the layers are split', 'stages', input.list === null ? [{ ...problem, severity: 'warning' }] : []);
  }
  const each = layers.value / count;
  const contents = Array.from({ length: count }, (_, s) => content(each, s, count));
  const stages = derived(contents, `${layers.value} layers / ${count} stages = ${each} each`, ['pp', 'vpp']);
  return { stages, stageTimes, layers, findings: [] };
}

function readContents(
  input: SplitInput,
  list: ListNode,
  written: readonly (number | null)[],
  count: number | null,
  findings: Finding[],
): Pick<Split, 'stages' | 'layers'> {
  const { layers } = input;
  const gap = written.indexOf(null);
  if (gap >= 0) {
    const message = `stages[${gap}] has no layers: the split counts only when every stage has them`;
    findings.push(finding('missing-value', message, tokenOf(list.items[gap]!, input.listKeyRange)));
    return { stages: unknown(`the layers of stages[${gap}]`, 'stages'), layers };
  }
  const counts = written.map((value) => value ?? 0);
  const sum = counts.reduce((total, value) => total + value, 0);
  if (layers.value !== null && layers.value !== sum) {
    const message = `model.layers is ${layers.value}, but the stages hold ${sum} layers`;
    findings.push(
      finding('options-conflict', message, rangeOf(layers) ?? input.anchor, [
        { message: 'the stages are listed here', range: input.listKeyRange },
      ]),
    );
  }
  const stages =
    count === null
      ? unknown('how many stages there are', 'pipeline.virtualStages')
      : fromText(
          counts.map((value, s) => content(value, s, count)),
          input.listKeyRange,
        );
  return { stages, layers: layers.value === null ? derived(sum, 'the sum over the stages', ['stages']) : layers };
}

function readTimes(list: ListNode, input: SplitInput, findings: Finding[]): Split['stageTimes'] {
  const { checked, listKeyRange } = input;
  const timed = list.items.some((_, s) =>
    ['forwardMs', 'backwardMs', 'backwardInputMs', 'backwardWeightMs'].some((key) =>
      checked.values.has(`stages[${s}].${key}`),
    ),
  );
  if (!timed) return unknown("the stages' times", 'stages', listKeyRange);
  const times: ExplicitStage[] = [];
  let whole = 0;
  for (const [s, item] of list.items.entries()) {
    const range = tokenOf(item, listKeyRange);
    const forwardMs = numberOf(checked, `stages[${s}].forwardMs`);
    const backward = readBackward(checked, s, findings);
    if (forwardMs === null || backward === null) {
      const missing = forwardMs === null ? 'forwardMs' : 'backwardMs';
      const message = `stages[${s}] has no ${missing}: times count only when every stage has them`;
      findings.push(finding('missing-value', message, range));
      return unknown(`the ${missing} of stages[${s}]`, 'stages', range);
    }
    if (backward.whole) whole++;
    const activationBytes = numberOf(checked, `stages[${s}].activationBytes`);
    times.push({
      forwardMs,
      backwardInputMs: backward.inputMs,
      backwardWeightMs: backward.weightMs,
      activationBytes,
      range,
    });
  }
  const note =
    'backwardMs is the whole backward: how it splits into input and weights is not known, so all of it counts as input';
  return fromText(times, listKeyRange, whole > 0 ? note : undefined);
}

interface Backward {
  readonly inputMs: number;
  readonly weightMs: number;
  /** Only the whole is known: it stands in `inputMs`. */
  readonly whole: boolean;
}

function readBackward(checked: Checked, s: number, findings: Finding[]): Backward | null {
  const token = (key: string): Token | undefined => checked.values.get(`stages[${s}].${key}`);
  const total = token('backwardMs');
  const input = token('backwardInputMs');
  const weight = token('backwardWeightMs');
  if (total === undefined) {
    return input === undefined || weight === undefined
      ? null
      : { inputMs: Number(input.value), weightMs: Number(weight.value), whole: false };
  }
  const totalMs = Number(total.value);
  if (input === undefined && weight === undefined) return { inputMs: totalMs, weightMs: 0, whole: true };
  const inputMs = input === undefined ? totalMs - Number(weight!.value) : Number(input.value);
  const weightMs = weight === undefined ? totalMs - inputMs : Number(weight.value);
  if (inputMs < 0 || weightMs < 0 || Math.abs(inputMs + weightMs - totalMs) > 1e-6 * Math.max(1, totalMs)) {
    const related = [input, weight].flatMap((part): readonly RelatedPlace[] =>
      part === undefined ? [] : [{ message: `its part of ${part.value} ms`, range: part.range }],
    );
    const message = `stages[${s}]: backwardMs ${totalMs} is not backwardInputMs + backwardWeightMs; the parts count`;
    findings.push(finding('options-conflict', message, total.range, related));
    if (input === undefined || weight === undefined) return { inputMs: totalMs, weightMs: 0, whole: true };
  }
  return { inputMs, weightMs, whole: false };
}

function content(layers: number, stage: number, count: number): StageContent {
  return { layers, embedding: stage === 0, head: stage === count - 1, mtp: 0 };
}

function numberOf(checked: Checked, key: string): number | null {
  const value = checked.values.get(key)?.value;
  return typeof value === 'number' ? value : null;
}

/** The whole of a short entry, the first key of a long one. */
function tokenOf(node: TreeNode, fallback: TextRange): TextRange {
  if (node.kind === 'map' && !node.flow) {
    const first = node.entries.values().next().value;
    return first === undefined ? node.range : first.keyRange;
  }
  return node.range ?? fallback;
}

function place(key: string, sourced: Sourced<number>): readonly RelatedPlace[] {
  const range = rangeOf(sourced);
  return range === null ? [] : [{ message: `${key} is ${sourced.value}`, range }];
}
