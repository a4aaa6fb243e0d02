/**
 * Megatron-LM's functional tests: `model_config.yaml` with a `MODEL_ARGS:` map of flags. The runner passes `--flag
 * value` for each entry and the bare flag for `true`, and takes the GPUs from the cluster, so their count is not in the
 * file. Mirrors NVIDIA/Megatron-LM@d98e8a64dd tests/functional_tests/shell_test_utils/_run_training.sh.
 */

import { MEGATRON_KEYS, type MegatronKey, type Setting } from '../frameworks/megatron-core/keys.ts';
import type { Change } from '../model/finding.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { fromText, rangeOf, type TextRange, unknown } from '../model/source.ts';
import { changeEdits, type Edits } from './megatron-lm/edits.ts';
import { megatronPlan } from './megatron-lm/plan.ts';
import { withSaid } from './megatron-lm/settings.ts';
import type { MapEntry, MapNode, ScalarNode, TreeNode } from './tree.ts';
import { readYaml } from './yaml/read.ts';

const ARGUMENTS = /^MODEL_ARGS(?:_\d+)?$/;
const MARK = /^MODEL_ARGS(?:_\d+)?:/m;
const KEYS = Object.keys(MEGATRON_KEYS) as readonly MegatronKey[];

function claims(path: string, text: string): boolean {
  return /\.ya?ml$/i.test(path) && text.includes('--pipeline-model-parallel-') && MARK.test(text);
}

/** The maps of flags, in file order; the second is that of a second run. */
function argumentMaps(root: TreeNode): readonly { readonly name: string; readonly map: MapNode }[] {
  if (root.kind !== 'map') return [];
  return [...root.entries.values()].flatMap(({ key, value }) =>
    ARGUMENTS.test(key) && value.kind === 'map' ? [{ name: key, map: value }] : [],
  );
}

function entryOf(map: MapNode, key: MegatronKey): MapEntry | undefined {
  return map.entries.get(`--${MEGATRON_KEYS[key].flag}`);
}

function read(path: string, texts: Texts, said: Said): Reading {
  const { root, problems } = readYaml(path, texts[path] ?? '');
  const maps = argumentMaps(root);
  const plans = maps.map(({ name, map }, i) =>
    planOf(path, map, i === 0 ? 'main' : name, maps.length > 1 ? name : null, said),
  );
  return { plans, problems, needs: [] };
}

function planOf(path: string, map: MapNode, id: string, suffix: string | null, said: Said): Plan {
  const settings = new Map<MegatronKey, Setting>();
  for (const key of KEYS) {
    const entry = entryOf(map, key);
    if (entry !== undefined) settings.set(key, settingOf(entry, key));
  }
  const keys = withSaid(settings, said);
  const pp = settings.get('pp');
  const anchor = (pp === undefined ? null : (rangeOf(pp.value) ?? pp.place)) ?? map.range;
  const folder = path.split('/').at(-2) ?? path;
  return megatronPlan({
    path,
    id,
    name: suffix === null ? folder : `${folder}: ${suffix}`,
    anchor,
    findingsPlace: anchor,
    keys,
    said,
    world: {
      gpus: unknown('the GPU count, which the test runner takes from the cluster', 'cluster.gpus'),
      gpusPerNode: unknown('the GPUs per node', 'cluster.gpusPerNode'),
      parts: [],
    },
    elsewhere: null,
    passed: null,
    complete: false,
  });
}

function settingOf({ key, keyRange, value }: MapEntry, name: MegatronKey): Setting {
  const base = { spelled: key, place: keyRange };
  if (value.kind !== 'scalar') return { ...base, value: unknown(`${key}: one value`, undefined, keyRange) };
  const range = innerRange(value);
  if (MEGATRON_KEYS[name].takes === 'switch') return { ...base, value: fromText(String(value.value), keyRange) };
  const text = typeof value.value === 'string' ? value.value : value.text;
  return text.includes('$')
    ? { ...base, value: unknown(`${key}: ${text}`, undefined, range) }
    : { ...base, value: fromText(text, range) };
}

/** Between the quotes. */
function innerRange({ quoted, range }: ScalarNode): TextRange {
  return quoted && range.length >= 2 ? { ...range, offset: range.offset + 1, length: range.length - 2 } : range;
}

function edits(texts: Texts, plan: Plan, change: Change): Edits {
  const { file } = plan.anchor;
  const text = texts[file] ?? '';
  const maps = argumentMaps(readYaml(file, text).root);
  const map = (plan.id === 'main' ? maps[0] : maps.find((each) => each.name === plan.id))?.map;
  if (map === undefined) return null;
  return changeEdits(plan, change, {
    has: (key) => entryOf(map, key) !== undefined,
    replace: (key, value) => {
      const node = entryOf(map, key)?.value;
      if (node?.kind !== 'scalar' || !/^\d[\d_]*$/.test(String(node.value))) return null;
      return [{ ...innerRange(node), text: String(value) }];
    },
    insert: (before, key, value) => {
      const entry = entryOf(map, before);
      if (entry === undefined || map.flow) return null;
      const { offset } = entry.keyRange;
      const indent = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
      if (indent.trim() !== '') return null;
      return [{ file, offset, length: 0, text: `--${MEGATRON_KEYS[key].flag}: ${value}\n${indent}` }];
    },
    setGpus: () => null,
  });
}

export const megatronLmYaml: Reader = {
  id: 'megatron-lm-yaml',
  title: 'Megatron-LM test configs (MODEL_ARGS)',
  files: ['**/model_config.yaml'],
  parsers: ['yaml'],
  claims,
  read,
  edits,
};
