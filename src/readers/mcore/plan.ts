/**
 * A plan of a framework that feeds Megatron-core from YAML: the settings through the one resolver, then told in the
 * framework's own names. What the resolver does not know of is added here: a layout beside virtual stages, which the
 * config classes compare and the command line excludes, and batches that are packed while training.
 */

import { MEGATRON_KEYS, type MegatronKey } from '../../frameworks/megatron-core/keys.ts';
import type { Finding } from '../../model/finding.ts';
import type { Plan, Said } from '../../model/plan.ts';
import { rangeOf, type TextRange, unknown } from '../../model/source.ts';
import { finding } from '../limits.ts';
import { megatronPlan } from '../megatron-lm/plan.ts';
import { withSaid } from '../megatron-lm/settings.ts';
import type { Companions } from './config.ts';
import type { Settings, Spelling } from './settings.ts';
import type { World } from './world.ts';

export interface McorePlanInput {
  readonly companions: Companions;
  readonly id: string;
  readonly name: string;
  readonly anchor: TextRange;
  readonly settings: Settings;
  readonly said: Said;
  readonly world: World;
  /** The framework, as defaults name it: "NeMo". */
  readonly title: string;
  readonly spelling: Spelling;
  /** Where a key that is not written may still be given; null when the framework's default holds. */
  readonly elsewhere: string | null;
  /** The options pass Megatron's command line, which excludes what the config classes compare. */
  readonly commandLine?: boolean;
  /** Why the number of microbatches depends on the data; null when it does not. */
  readonly dynamic?: string | null;
}

export function mcorePlan(input: McorePlanInput): Plan {
  const { companions, settings, said } = input;
  const { file } = companions;
  const keys = new Map(withSaid(settings, said));
  const layout = keys.get('layout');
  const beside = input.commandLine === true || layout === undefined ? undefined : keys.get('virtualStages');
  if (beside !== undefined) keys.delete('virtualStages');
  const plan = megatronPlan({
    path: file,
    id: input.id,
    name: input.name,
    anchor: input.anchor,
    findingsPlace: input.anchor,
    keys,
    said,
    world: input.world,
    elsewhere: input.elsewhere,
    passed: null,
    complete: false,
  });
  const conflict = beside === undefined ? null : layoutConflict(plan, beside, layout!);
  const findings = conflict === null ? plan.findings : [...plan.findings, conflict];
  const whole = withDynamic({ ...plan, findings: [...findings, ...companions.findings] }, input);
  return respelled(whole, (text) => told(text, input));
}

type Written = NonNullable<ReturnType<Settings['get']>>;

/** Both may be given; the virtual stages must then be those of the layout. */
function layoutConflict({ vpp }: Plan, beside: Written, layout: Written): Finding | null {
  const { value } = beside.value;
  if (value === null || vpp.value === null || Number(value) === vpp.value) return null;
  const message = `virtual_pipeline_model_parallel_size conflicts with pipeline_model_parallel_layout, (virtual_pipeline_model_parallel_size=${value}, detected_vpp_size=${vpp.value})`;
  const range = rangeOf(beside.value) ?? beside.place ?? vpp.source;
  const place = rangeOf(layout.value) ?? layout.place;
  if (!('offset' in range)) return null;
  return finding('layout-invalid', message, range, place === null ? [] : [{ message: layout.spelled, range: place }]);
}

function withDynamic(plan: Plan, { dynamic, said }: McorePlanInput): Plan {
  if (dynamic == null || Object.hasOwn(said, 'pipeline.microbatches')) return plan;
  const findings = plan.findings.filter(({ code }) => code !== 'batch-not-divisible');
  return { ...plan, microbatches: unknown(dynamic, 'pipeline.microbatches'), findings };
}

const BY_FLAG: ReadonlyMap<string, MegatronKey> = new Map(
  Object.entries(MEGATRON_KEYS).map(([key, { flag }]) => [flag, key as MegatronKey]),
);

/** Megatron-LM's flags and name, as the framework calls them. */
function told(text: string, { title, spelling }: Pick<McorePlanInput, 'title' | 'spelling'>): string {
  return text
    .replace(/--([a-z][a-z0-9-]*[a-z0-9])/g, (_, flag: string) => {
      const key = BY_FLAG.get(flag);
      const path = key === undefined ? undefined : spelling[key]?.[0];
      return path?.split('.').at(-1) ?? flag.replaceAll('-', '_');
    })
    .replace(/^Megatron-LM: /, `${title}: `);
}

const WORDS: ReadonlySet<string> = new Set(['why', 'missing', 'how', 'message']);

/** The same value with its sentences told anew. Lists of stages hold no sentence and are left alone. */
function respelled<T>(value: T, tell: (text: string) => string): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value.length > 200 ? value : value.map((each) => respelled(each, tell))) as T;
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    WORDS.has(key) && typeof each === 'string' ? tell(each) : respelled(each, tell),
  ]);
  return Object.fromEntries(entries) as T;
}

/** The nearest to the pipeline size that the document itself holds. */
export function anchorOf(settings: Settings, file: string, near: TextRange | null): TextRange {
  const pp = settings.get('pp');
  const candidates = [pp === undefined ? null : rangeOf(pp.value), pp?.place ?? null, near];
  return (
    candidates.find((range) => range !== null && range.file === file && range.length > 0) ?? {
      file,
      offset: 0,
      length: 0,
    }
  );
}
