/**
 * FlagScale's heterogeneous training: meshes of their own sizes one behind the other, `[tp, cp, ep, dp, pp]` each, and
 * the layers of every stage. The pipeline is as long as the meshes together. Mirrors FlagOpen/FlagScale@da4935ec6
 * flagscale/train/hetero/parallel_context.py and examples/aquila/conf/train/hetero.yaml.
 */

import type { Finding } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import { derived, fromText, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { finding } from '../limits.ts';
import { isOn, placeIn } from '../mcore/config.ts';
import type { Settings } from '../mcore/settings.ts';
import { type ListNode, nodeAt, type TreeNode } from '../tree.ts';

export interface Meshes {
  readonly section: string;
  readonly list: ListNode;
  readonly split: ListNode | null;
  readonly meshes: readonly (readonly [tp: number, cp: number, ep: number, dp: number, pp: number])[];
}

/** The meshes, where they are switched on and well formed. */
export function meshesOf(root: TreeNode, system: string): Meshes | null {
  const section = `${system}.hetero`;
  const list = nodeAt(root, `${section}.hetero_process_meshes`);
  if (!isOn(root, `${section}.enable_hetero`) || list.kind !== 'list') return null;
  const numbers = numbersOf(list);
  if (numbers === null || numbers.length === 0 || numbers.length % 5 !== 0) return null;
  const split = nodeAt(root, `${section}.hetero_pipeline_layer_split`);
  const meshes = Array.from(
    { length: numbers.length / 5 },
    (_, i) => numbers.slice(5 * i, 5 * i + 5) as unknown as Meshes['meshes'][number],
  );
  return { section, list, split: split.kind === 'list' ? split : null, meshes };
}

function numbersOf(list: ListNode): number[] | null {
  const numbers = list.items.map((item) => (item.kind === 'scalar' && typeof item.value === 'number' ? item.value : 0));
  return numbers.every((each) => Number.isSafeInteger(each) && each >= 1) ? numbers : null;
}

/** Sizes that the meshes share stay known; the others differ from rank to rank. */
export function withMeshes(settings: Settings, { list, meshes }: Meshes): void {
  const place = list.range;
  const put = (key: 'tp' | 'cp' | 'ep', at: number) => {
    const values = new Set(meshes.map((mesh) => mesh[at]!));
    const [value] = [...values];
    const sourced: Sourced<string> =
      values.size === 1
        ? fromText(String(value), place, 'of every process mesh')
        : unknown(`one ${key} size: it differs between the process meshes`, undefined, place);
    settings.set(key, { value: sourced, spelled: 'hetero_process_meshes', place });
  };
  put('tp', 0);
  put('cp', 1);
  put('ep', 2);
  const pp = meshes.reduce((sum, mesh) => sum + mesh[4], 0);
  const how = `stages of the process meshes, ${meshes.map((mesh) => mesh[4]).join(' + ')}`;
  settings.set('pp', { value: derived(String(pp), how, []), spelled: 'hetero_process_meshes', place });
}

/** GPUs of all meshes, the data-parallel size where it is one, and the split that is written. */
export function finishMeshes(plan: Plan, { list, split, meshes, section }: Meshes, root: TreeNode, file: string): Plan {
  const findings: Finding[] = plan.findings.filter(
    ({ code }) => !['layers-not-divisible', 'world-size-not-divisible', 'batch-not-divisible'].includes(code),
  );
  const sum = meshes.reduce((all, [tp, cp, , dp, pp]) => all + tp * cp * dp * pp, 0);
  const gpus =
    plan.gpus.source.kind === 'assumed' ? plan.gpus : derived(sum, 'GPUs of the process meshes together', []);
  const dps = new Set(meshes.map((mesh) => mesh[3]));
  const dp: Sourced<number> =
    dps.size === 1
      ? fromText([...dps][0]!, list.range, 'of every process mesh')
      : unknown('one data-parallel size: it differs between the process meshes', undefined, list.range);
  const batch = plan.globalBatchSize.value;
  const pass = plan.microBatchSize.value === null || dp.value === null ? null : plan.microBatchSize.value * dp.value;
  const microbatches: Sourced<number> =
    batch === null || pass === null || batch % pass !== 0
      ? unknown('the number of microbatches of the process meshes', 'pipeline.microbatches', list.range)
      : derived(batch / pass, `${batch} / ${pass}`, ['globalBatchSize', 'microBatchSize', 'dp']);
  const stages = layersOf(
    plan,
    split,
    placeIn(file, root, [`${section}.hetero_pipeline_layer_split`]) ?? plan.anchor,
    findings,
  );
  return { ...plan, gpus, dp, microbatches, vpp: plan.vpp, stages, findings };
}

function layersOf(plan: Plan, split: ListNode | null, place: TextRange, findings: Finding[]): Plan['stages'] {
  const layers = split === null ? null : numbersOf(split);
  if (split === null || layers === null) return unknown('the split (hetero_pipeline_layer_split)');
  const sum = layers.reduce((a, b) => a + b, 0);
  const [pp, total] = [plan.pp.value, plan.model.layers.value];
  if (pp !== null && layers.length !== pp) {
    const message = `hetero_pipeline_layer_split has ${layers.length} stages, the process meshes have ${pp}`;
    findings.push(finding('split-invalid', message, place));
    return unknown('a split with one entry per stage');
  }
  if (total !== null && sum !== total) {
    const message = `hetero_pipeline_layer_split adds up to ${sum} layers, num_layers is ${total}`;
    findings.push(finding('split-invalid', message, place));
    return unknown('a split of all layers');
  }
  const last = layers.length - 1;
  const contents = layers.map((each, i) => ({ layers: each, embedding: i === 0, head: i === last, mtp: 0 }));
  return { value: contents, source: { kind: 'text', range: split.range } };
}
