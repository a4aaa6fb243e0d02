/**
 * A reader for one framework that feeds Megatron-core from YAML. The framework says how its file is laid out: which
 * plans it holds and, for each, the settings in Megatron's keys. Reading, companions, syntax and edits are the same for
 * all of them.
 */

import type { Change } from '../../model/finding.ts';
import type { Plan, Said } from '../../model/plan.ts';
import type { Reader, Reading, Texts } from '../../model/reading.ts';
import type { TextRange } from '../../model/source.ts';
import { megatronYamlCompletions } from '../completion/megatron.ts';
import type { Edits } from '../megatron-lm/edits.ts';
import type { TreeNode } from '../tree.ts';
import { readYaml } from '../yaml/read.ts';
import { type Companions, openCompanions } from './config.ts';
import { mcoreEdits } from './edits.ts';
import type { Interpolation } from './interpolate.ts';
import { anchorOf, mcorePlan } from './plan.ts';
import type { Settings, Spelling } from './settings.ts';
import type { World, WorldKeys } from './world.ts';

/** One plan of a file, before it is resolved. */
export interface View {
  readonly id: string;
  readonly name: string;
  readonly settings: Settings;
  readonly spelling: Spelling;
  readonly interpolation: Interpolation;
  readonly world: World;
  /** The two numbers whose product is the GPU count; null where it is given otherwise. */
  readonly worldKeys: WorldKeys | null;
  /** Where a key that is not written may still be given; null when the framework's default holds. */
  readonly elsewhere: string | null;
  /** The document's own token for the plan, where the pipeline size is written elsewhere. */
  readonly near: TextRange | null;
  /** The plan's line where the pipeline size is another plan's token; else the pipeline size counts. */
  readonly anchor?: TextRange | null;
  readonly commandLine?: boolean;
  readonly dynamic?: string | null;
  /** Where a new key goes; the document itself where absent. */
  readonly home?: { readonly file: string; readonly root: TreeNode };
  /** What this framework does that Megatron does not. */
  readonly finish?: (plan: Plan) => Plan;
  /** Changes with a spelling of their own; undefined for all others. */
  readonly edit?: (plan: Plan, change: Change) => Edits | undefined;
}

export interface Document {
  readonly file: string;
  readonly root: TreeNode;
  readonly companions: Companions;
}

export interface McoreFramework {
  readonly id: string;
  readonly title: string;
  /** As defaults name it: "NeMo". */
  readonly name: string;
  readonly files: readonly string[];
  readonly claims: (path: string, text: string) => boolean;
  readonly views: (document: Document) => readonly View[];
}

export function mcoreReader(framework: McoreFramework): Reader {
  return {
    id: framework.id,
    title: framework.title,
    files: framework.files,
    parsers: ['yaml', 'jsonc'],
    claims: framework.claims,
    read: (path, texts, said) => read(framework, path, texts, said),
    edits: (texts, plan, change) => edits(framework, texts, plan, change),
    completions: (path, text, offset) =>
      megatronYamlCompletions(
        text,
        offset,
        (whole) => readYaml(path, whole).root,
        (settled) => open(framework, path, { [path]: settled }).views.map((view) => view.spelling),
      ),
  };
}

function open(framework: McoreFramework, path: string, texts: Texts) {
  const tree = readYaml(path, texts[path] ?? '');
  const companions = openCompanions(path, texts);
  const document: Document = { file: path, root: tree.root, companions };
  return { tree, document, views: tree.root.kind === 'map' ? framework.views(document) : [] };
}

function read(framework: McoreFramework, path: string, texts: Texts, said: Said): Reading {
  const { tree, document, views } = open(framework, path, texts);
  const { companions } = document;
  const plans = views.map((view) => planOf(framework, document, view, said));
  return { plans, problems: tree.problems, needs: [...companions.needs], optional: [...companions.optional] };
}

function planOf(framework: McoreFramework, { file, companions }: Document, view: View, said: Said): Plan {
  const plan = mcorePlan({
    companions,
    id: view.id,
    name: view.name,
    anchor: view.anchor ?? anchorOf(view.settings, file, view.near),
    settings: view.settings,
    said,
    world: view.world,
    title: framework.name,
    spelling: view.spelling,
    elsewhere: view.elsewhere,
    commandLine: view.commandLine ?? false,
    dynamic: view.dynamic ?? null,
  });
  return view.finish === undefined ? plan : view.finish(plan);
}

function edits(framework: McoreFramework, texts: Texts, plan: Plan, change: Change): Edits {
  const { tree, document, views } = open(framework, plan.anchor.file, texts);
  const view = views.find((each) => each.id === plan.id);
  if (view === undefined) return null;
  const own = view.edit?.(plan, change);
  if (own !== undefined) return own;
  if (view.dynamic != null && change.key === 'pipeline.microbatches') return null;
  return mcoreEdits(plan, change, {
    texts,
    home: view.home ?? { file: document.file, root: document.root },
    settings: view.settings,
    spelling: view.spelling,
    interpolation: view.interpolation,
    world: view.worldKeys,
    broken: tree.problems.some(({ code }) => code === 'syntax-error'),
  });
}
