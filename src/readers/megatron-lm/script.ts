/**
 * Launch scripts of every framework that takes Megatron's flags: one plan for each launch, with what a dialect spells
 * or counts otherwise. The shell, the launches and the resolver are the same for all.
 */

import type { MegatronInput, MegatronKey, Setting } from '../../frameworks/megatron-core/keys.ts';
import { MEGATRON_KEYS } from '../../frameworks/megatron-core/keys.ts';
import type { Change, Finding } from '../../model/finding.ts';
import type { Plan, Said } from '../../model/plan.ts';
import type { Reading, Texts } from '../../model/reading.ts';
import type { FrameworkId } from '../../model/schedule.ts';
import { rangeOf, type Sourced, type TextRange } from '../../model/source.ts';
import { finding, refuseText } from '../limits.ts';
import { type Companions, openCompanions } from '../mcore/config.ts';
import type { Flag } from '../shell/flags.ts';
import { shellFindings } from '../shell/problems.ts';
import { type Edits, launchEdits } from './edits.ts';
import { type Launch, readLaunches } from './launches.ts';
import { megatronPlan, placed, stem } from './plan.ts';
import { readSettings, withSaid } from './settings.ts';
import type { World } from './world.ts';

/** What a framework does differently from Megatron-LM with the same kind of script. */
export interface ScriptDialect {
  readonly framework?: FrameworkId;
  /** Names of its own for Megatron's keys, with `-` for `_`. */
  readonly names?: Readonly<Partial<Record<MegatronKey, string>>>;
  /** How a flag that is inserted is spelled. */
  readonly spell?: (name: string) => string;
  /** Flags that take no value; Megatron's where nothing is said. */
  readonly switches?: ReadonlySet<string>;
  /** Whether a launch is one of its own. */
  readonly takes?: (launch: Launch) => boolean;
  /** What the launch says beyond the flags under Megatron's and the dialect's names; fills in `settings`. */
  readonly settings?: (launch: Launch, settings: Settings, companions: Companions) => void;
  readonly world?: (launch: Launch) => World;
  /** Whether the flags that Megatron requires must stand in the command. */
  readonly requires?: boolean;
  /** Whether a native key has no effect in a launch, so that writing it would change nothing. */
  readonly isInert?: (launch: Launch, key: string) => boolean;
  /** What the framework makes of the resolved plan. */
  readonly finish?: (plan: Plan, launch: Launch, said: Said, companions: Companions) => Plan;
}

export type Settings = Map<MegatronKey, Setting>;

export const SHELL_FILE = /\.(?:sh|bash|slurm|sbatch|job|sub)$/i;
export const SHELL_GLOBS = ['**/*.sh', '**/*.bash', '**/*.slurm', '**/*.sbatch'] as const;
const TRAINS = /\bpretrain_\w+\.py\b|\btrain\w*\.py\b/;

/** Other interpreters have scripts of their own, whose strings may hold a whole shell. */
const SHEBANG = /^#!.{0,200}sh\b/;

export function isShell(path: string, text: string): boolean {
  return SHELL_FILE.test(path) || SHEBANG.test(text);
}

export function readScript(path: string, texts: Texts, said: Said, dialect: ScriptDialect): Reading {
  const text = texts[path] ?? '';
  const refused = refuseText(path, text);
  if (refused !== null) return { plans: [], problems: [refused], needs: [] };
  const { launches, shell } = readLaunches(path, readable(texts), dialect.switches);
  const problems = shellFindings(path, shell);
  const own = launches.filter((launch) => dialect.takes?.(launch) !== false);
  const companions = openCompanions(path, readable(texts));
  const plans = own.map((launch) => {
    const input = { path, launch, said, needs: shell.needs, several: own.length > 1, companions };
    const plan = withMissing(planOf(input, dialect), companions);
    return { ...plan, findings: placed(path, plan.findings, plan.anchor) };
  });
  const needs = [...new Set([...shell.needs, ...companions.needs])];
  return { plans, problems, needs, optional: [...companions.optional] };
}

/** Companions that are too large or binary are as good as absent. */
function readable(texts: Texts): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([file, text]) => refuseText(file, text) === null));
}

interface LaunchInput {
  readonly path: string;
  readonly launch: Launch;
  readonly said: Said;
  readonly needs: readonly string[];
  readonly several: boolean;
  readonly companions: Companions;
}

function planOf({ path, launch, said, needs, several, companions }: LaunchInput, dialect: ScriptDialect): Plan {
  const settings = new Map(readSettings(launch.flags, {}, dialect.names));
  dialect.settings?.(launch, settings, companions);
  const keys = withSaid(settings, said);
  const anchor = anchorOf(path, launch, keys.get('pp')?.value ?? null);
  const elsewhere = elsewhereOf(launch, needs);
  const script = launch.script?.text?.replace(/^.*\//, '') ?? 'launch';
  const order = launch.id === 'main' ? 1 : launch.id.replace('launch-', '');
  const plan = megatronPlan({
    path,
    id: launch.id,
    name: several ? `${stem(path)}: ${script} (${order})` : stem(path),
    anchor,
    findingsPlace: launch.script?.range.file === path ? launch.script.range : anchor,
    keys,
    said,
    world: dialect.world?.(launch) ?? launch.world,
    elsewhere,
    passed: launch.flags.open.find((each) => each.kind !== 'variable')?.missing ?? null,
    complete: dialect.requires !== false && isComplete(launch, keys, elsewhere),
    ...(dialect.framework === undefined ? {} : { framework: dialect.framework }),
  });
  const whole = launch.cutOff === null ? plan : { ...plan, findings: [...plan.findings, cutOff(path, launch, anchor)] };
  return dialect.finish?.(whole, launch, said, companions) ?? whole;
}

/** The plan is that of the whole command, as it is meant. */
function cutOff(path: string, { script, cutOff }: Launch, anchor: TextRange): Finding {
  const message = `The line above does not end in a \\, so that these flags do not reach ${script?.text?.replace(/^.*\//, '') ?? 'the command'}`;
  const range = cutOff?.file === path ? cutOff : anchor;
  return { ...finding('syntax-error', message, range), severity: 'warning' };
}

/** Companions that name each other in a loop, and the like, are told with the plan. */
function withMissing(plan: Plan, { findings }: Companions): Plan {
  if (findings.length === 0) return plan;
  return {
    ...plan,
    findings: [...plan.findings, ...findings.map((each) => ({ ...each, severity: 'information' as const }))],
  };
}

/** The place that a person edits to change the pipeline: the value, else the flag, else the script that is launched. */
function anchorOf(path: string, launch: Launch, pp: Sourced<string> | null): TextRange {
  const flag = launch.flags.byName.get('pipeline-model-parallel-size');
  const written = pp === null ? null : rangeOf(pp);
  const value = flag?.values[0]?.range;
  const candidates = [written, value, flag?.range, launch.script?.range, launch.place];
  const own = candidates.find((range) => range != null && range.file === path);
  return own ?? { file: path, offset: 0, length: 0 };
}

/** Where flags may hide that the launch does not show: an undefined variable, or a companion that is not at hand. */
function elsewhereOf({ flags }: Launch, needs: readonly string[]): string | null {
  const open = flags.open.find((each) => each.kind === 'variable');
  if (open === undefined) return null;
  return needs.length === 0 ? open.missing : `${open.missing} (perhaps ${needs[0]} does)`;
}

/** Whether Megatron's required flags must stand in this command. */
function isComplete(launch: Launch, keys: MegatronInput['keys'], elsewhere: string | null): boolean {
  return (
    elsewhere === null &&
    launch.flags.open.length === 0 &&
    TRAINS.test(launch.script?.text ?? '') &&
    !keys.has('checkpointArgs') &&
    !keys.has('yamlConfig')
  );
}

/** The edits of a launch script in the dialect's spelling. */
export function scriptEdits(texts: Texts, plan: Plan, change: Change, dialect: ScriptDialect): Edits {
  const launch = readLaunches(plan.anchor.file, texts, dialect.switches).launches.find((each) => each.id === plan.id);
  if (launch === undefined || dialect.isInert?.(launch, change.key) === true) return null;
  const nameOf = (key: MegatronKey): string => dialect.names?.[key] ?? MEGATRON_KEYS[key].flag;
  const flagOf = (key: MegatronKey): Flag | undefined => launch.flags.byName.get(nameOf(key));
  const spell = dialect.spell ?? ((name: string) => name);
  return launchEdits(texts, plan, change, {
    flagOf,
    spell: (key) => `--${spell(nameOf(key))}`,
    world: dialect.world?.(launch) ?? launch.world,
  });
}
