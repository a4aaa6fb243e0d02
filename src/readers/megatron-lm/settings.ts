/**
 * From the flags of a launch, and from what was said outside the files, to Megatron-core's keys. What was said stands
 * in front of what is written, and replaces every other way to give the same value.
 */

import { MEGATRON_KEYS, type MegatronKey, type Setting } from '../../frameworks/megatron-core/keys.ts';
import type { Said } from '../../model/plan.ts';
import { fromText, type TextRange, unknown } from '../../model/source.ts';
import { spoken } from '../said.ts';
import type { Flag, Flags } from '../shell/flags.ts';

const KEYS = Object.keys(MEGATRON_KEYS) as readonly MegatronKey[];

/** Native keys that stand for a Megatron key, and the keys that they make void. */
const SAID: Readonly<Record<string, { readonly key: MegatronKey; readonly voids: readonly MegatronKey[] }>> = {
  'pipeline.size': { key: 'pp', voids: [] },
  'pipeline.virtualStages': { key: 'virtualStages', voids: ['layersPerVirtualStage', 'layout'] },
  'pipeline.microbatches': { key: 'microbatches', voids: [] },
  'pipeline.groupSize': { key: 'groupSize', voids: [] },
  'parallel.tensor': { key: 'tp', voids: [] },
  'parallel.context': { key: 'cp', voids: [] },
  'parallel.expert': { key: 'ep', voids: [] },
  'batch.micro': { key: 'microBatch', voids: [] },
  'batch.global': { key: 'globalBatch', voids: ['stepSchedule', 'rampup'] },
  'model.layers': { key: 'layers', voids: ['encoderLayers'] },
  'model.hidden': { key: 'hidden', voids: [] },
  'model.heads': { key: 'heads', voids: [] },
  'model.kvHeads': { key: 'queryGroups', voids: ['groupQuery'] },
  'model.ffn': { key: 'ffn', voids: [] },
  'model.vocabulary': { key: 'vocabulary', voids: [] },
  'model.sequence': { key: 'sequence', voids: ['encoderSequence'] },
  'model.recompute': { key: 'recomputeGranularity', voids: ['recomputeActivations'] },
  'run.steps': { key: 'trainIters', voids: [] },
};

/** `names` are another framework's names for some keys, with `-` for `_`. */
export function readSettings(
  flags: Flags,
  said: Said,
  names: Readonly<Partial<Record<MegatronKey, string>>> = {},
): ReadonlyMap<MegatronKey, Setting> {
  const settings = new Map<MegatronKey, Setting>();
  for (const key of KEYS) {
    const flag = flags.byName.get(names[key] ?? MEGATRON_KEYS[key].flag);
    if (flag !== undefined) settings.set(key, settingOf(flag, MEGATRON_KEYS[key].takes === 'switch'));
  }
  return withSaid(settings, said);
}

/** What was said stands in front, and makes void what else would give the same value. */
export function withSaid(read: ReadonlyMap<MegatronKey, Setting>, said: Said): ReadonlyMap<MegatronKey, Setting> {
  const settings = new Map(read);
  for (const [native, { key, voids }] of Object.entries(SAID)) {
    const entry = Object.hasOwn(said, native) ? said[native] : undefined;
    if (entry === undefined) continue;
    for (const each of voids) settings.delete(each);
    settings.set(key, { value: spoken(String(entry.value), entry), spelled: native, place: null });
  }
  return settings;
}

export function settingOf(flag: Flag, isSwitch: boolean): Setting {
  const base = { spelled: flag.spelled, place: flag.range };
  const [first] = flag.values;
  const maybe = flag.maybe ?? flag.values.find((value) => value.maybe !== null)?.maybe ?? null;
  if (maybe !== null)
    return { ...base, value: unknown(`${flag.spelled}, ${maybe}`, undefined, first?.range ?? flag.range) };
  if (isSwitch) return { ...base, value: fromText('true', flag.range) };
  if (first === undefined) return { ...base, value: fromText('', flag.range) };
  const missing = flag.values.find((value) => value.text === null);
  if (missing !== undefined) {
    return { ...base, value: unknown(`${flag.spelled}: ${missing.missing ?? 'its value'}`, undefined, missing.range) };
  }
  const text = flag.values.map((value) => value.text).join(' ');
  return { ...base, value: fromText(text, spanOf(first.range, flag.values.at(-1)!.range), first.note ?? undefined) };
}

/** From the first value to the last where they stand together. */
function spanOf(first: TextRange, last: TextRange): TextRange {
  const length = last.offset + last.length - first.offset;
  return last.file === first.file && length > first.length && length < 4096 ? { ...first, length } : first;
}
