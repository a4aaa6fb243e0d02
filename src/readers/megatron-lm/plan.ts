/**
 * A plan from Megatron-core's keys, whichever file kind of Megatron-LM they were read from: what was said outside the
 * file first, then the resolver.
 */

import type { MegatronInput, MegatronKey, Setting, WorldPart } from '../../frameworks/megatron-core/keys.ts';
import { resolveMegatron } from '../../frameworks/megatron-core/resolve.ts';
import type { Finding } from '../../model/finding.ts';
import type { Plan, Said } from '../../model/plan.ts';
import type { FrameworkId } from '../../model/schedule.ts';
import { type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { saidNumber, saidText } from '../said.ts';

export interface PlanInput {
  readonly path: string;
  readonly id: string;
  readonly name: string;
  readonly anchor: TextRange;
  /** Where findings without a token of their own go. */
  readonly findingsPlace: TextRange;
  readonly keys: ReadonlyMap<MegatronKey, Setting>;
  readonly said: Said;
  readonly world: {
    readonly gpus: Sourced<number>;
    readonly gpusPerNode: Sourced<number>;
    readonly parts: readonly WorldPart[];
  };
  readonly elsewhere: string | null;
  readonly passed: string | null;
  readonly complete: boolean;
  /** Whose schedule rules hold; Megatron-LM's where nothing is said. */
  readonly framework?: FrameworkId;
}

/** The file's name without folders and extension. */
export function stem(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.\w+$/, '');
}

export function megatronPlan(plan: PlanInput): Plan {
  const { path, said, anchor, world } = plan;
  const dp = saidNumber(said, 'parallel.data', unknown('the data-parallel size'));
  const input: MegatronInput = {
    keys: plan.keys,
    world: saidNumber(said, 'cluster.gpus', world.gpus),
    worldParts: Object.hasOwn(said, 'cluster.gpus') ? [] : world.parts,
    dp: dp.value === null ? null : dp,
    anchor: plan.findingsPlace,
    elsewhere: plan.elsewhere,
    passed: plan.passed,
    complete: plan.complete,
  };
  const { findings, ...values } = resolveMegatron(input);
  const price = unknown('the price of a GPU hour', 'cluster.usdPerGpuHour');
  return {
    id: plan.id,
    name: plan.name,
    framework: plan.framework ?? 'megatron-lm',
    anchor,
    ...values,
    cluster: {
      gpu: saidText(said, 'cluster.gpu', unknown('the GPU type', 'cluster.gpu')),
      gpusPerNode: saidNumber(said, 'cluster.gpusPerNode', world.gpusPerNode),
      usdPerGpuHour: saidNumber(said, 'cluster.usdPerGpuHour', price),
    },
    findings: placed(path, findings, anchor),
  };
}

/** Findings about a token in a companion are told at the plan's own line, with the token as a related place. */
export function placed(path: string, findings: readonly Finding[], anchor: TextRange): readonly Finding[] {
  return findings.map((each) =>
    each.range.file === path
      ? each
      : { ...each, range: anchor, related: [{ message: 'written here', range: each.range }, ...each.related] },
  );
}
