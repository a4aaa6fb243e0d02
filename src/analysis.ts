/**
 * The one facade: files and settings in, an analysis as plain data out. Editor, command line and tests call this and
 * nothing below it. Data flows one way: text, reader, plan, costs, simulation, report, rules, findings, edits.
 */

import { dollars, oneLine, percent, printable } from './advice/format.ts';
import { placeOf } from './advice/places.ts';
import { holdsText, stagesOfRank } from './advice/rank-work.ts';
import type { Proposal, RuleContext } from './advice/rules/rule.ts';
import { RULES } from './advice/rules/table.ts';
import { planTexts } from './advice/wording.ts';
import { type MeasuredCosts, measuredProblem, withMeasuredCosts } from './cost/measured.ts';
import { reportWithMoney } from './cost/money.ts';
import { stageCosts } from './cost/stage-costs.ts';
import type { Refusal } from './frameworks/framework.ts';
import { framework } from './frameworks/table.ts';
import type { Analysis, PlanAnalysis } from './model/analysis.ts';
import type { Costs } from './model/costs.ts';
import type { Finding, Fix, RelatedPlace, TextEdit } from './model/finding.ts';
import type { Plan, Said } from './model/plan.ts';
import type { RankView, TimelineView } from './model/protocol.ts';
import type { Reader, Texts } from './model/reading.ts';
import type { Report } from './model/report.ts';
import type { Placement } from './model/schedule.ts';
import type { AnalysisSettings } from './model/settings.ts';
import { firstUnknown } from './model/source.ts';
import type { Timeline } from './model/timeline.ts';
import { loadParsers, parsersLoaded } from './readers/parsers.ts';
import { saidPlan } from './readers/said.ts';
import { saidInComments } from './readers/said-comments.ts';
import { READERS } from './readers/table.ts';
import { legality, orderRefusal, scheduleRow, sizeRefusal } from './sim/schedules/table.ts';
import { MAX_STAGES, type PipelineShape, sizeProblem } from './sim/shape.ts';
import { pipelineReport, type SimulationOptions } from './sim/simulate.ts';

export interface AnalysisInput {
  /** The document, relative to the root, with `/`. */
  readonly file: string;
  /** The document and the companions at hand, by path relative to the root. */
  readonly texts: Texts;
  readonly said: Said;
  readonly settings: AnalysisSettings;
  /** Costs measured elsewhere; they stand in front of what the file says. */
  readonly measured?: MeasuredCosts;
}

/** The reader that claims a file, from its path and a cheap look at the text. */
export function readerFor(path: string, text: string): Reader | null {
  return READERS.find((reader) => reader.claims(path, text)) ?? null;
}

/** Loads what the reader needs; `analyse` is synchronous afterwards. */
export async function prepare(reader: Reader): Promise<void> {
  await loadParsers(reader.parsers);
}

export function ready(reader: Reader): boolean {
  return parsersLoaded(reader.parsers);
}

/** Analyses one file. A file that nobody claims has no reader and no plans. */
export function analyse(input: AnalysisInput): Analysis {
  const { plans, ...rest } = readPlans(input);
  return { ...rest, plans: plans.map((plan) => analysePlan(plan, input)) };
}

/** The same where no plan of the file takes long to simulate; null where one does, which is known from reading alone. */
export function analyseIfLight(input: AnalysisInput): Analysis | null {
  const { plans, ...rest } = readPlans(input);
  if (plans.some(isHeavy)) return null;
  return { ...rest, plans: plans.map((plan) => analysePlan(plan, input)) };
}

function readPlans(input: AnalysisInput): Omit<Analysis, 'plans'> & { readonly plans: readonly Plan[] } {
  const { file, texts } = input;
  const reader = readerFor(file, texts[file] ?? '');
  if (reader === null) return { file, reader: null, problems: [], needs: [], plans: [] };
  const comments = saidInComments(file, texts[file] ?? '');
  const said = { ...comments.said, ...input.said };
  const reading = reader.read(file, texts, said);
  return {
    file,
    reader: reader.id,
    problems: [...reading.problems, ...comments.problems].map(onOneLine),
    needs: reading.needs,
    optional: reading.optional ?? [],
    plans: reading.plans.map((plan) => tidied(saidPlan(plan, said))),
  };
}

/**
 * The analysis with fixes in its findings: each proposal of a rule is spelled by the reader, applied, read and
 * simulated again, and offered only when it lowers the idle share and nothing new is refused.
 */
export function withFixes(input: AnalysisInput, analysis: Analysis): Analysis {
  const reader = READERS.find((each) => each.id === analysis.reader);
  if (reader === undefined) return analysis;
  const plans = analysis.plans.map((before) => {
    const context = ruleContext(before.plan, before.costs, before.report, before.placement, input.settings);
    if (context === null) return before;
    const found = RULES.flatMap((rule) => rule.check(context) ?? []);
    const findings = before.findings.map((finding) => {
      const match = found.find((each) => each.finding.code === finding.code && each.proposals.length > 0);
      const fixes = match?.proposals.flatMap((proposal) => fixFor(input, reader, before, proposal) ?? []) ?? [];
      return fixes.length === 0 ? finding : { ...finding, fixes };
    });
    return { ...before, findings };
  });
  return { ...analysis, plans };
}

function fixFor(input: AnalysisInput, reader: Reader, before: PlanAnalysis, proposal: Proposal): Fix | null {
  let texts = input.texts;
  let plan: Plan = before.plan;
  const edits: TextEdit[] = [];
  for (const change of proposal.changes) {
    const spelled = reader.edits(texts, plan, change);
    if (spelled === null || (edits.length > 0 && proposal.changes.length > 1)) return null;
    edits.push(...spelled);
    texts = applyEdits(texts, spelled);
    plan = reader.read(input.file, texts, saidFor(input, texts)).plans.find((each) => each.id === plan.id) ?? plan;
  }
  const after = analyse({ ...input, texts }).plans.find((each) => each.plan.id === before.plan.id);
  if (!after?.report || !before.report || after.report.bubbleFraction >= before.report.bubbleFraction) return null;
  if (errorCount(after) > errorCount(before)) return null;
  const saved =
    before.report.usdPerDayLost === null || after.report.usdPerDayLost === null
      ? null
      : before.report.usdPerDayLost - after.report.usdPerDayLost;
  const gain = `idle ${percent(before.report.bubbleFraction)} to ${percent(after.report.bubbleFraction)}`;
  const notes = [proposal.alters, saved === null || saved <= 0 ? null : `saves ${dollars(saved)} a day`];
  return {
    title: `${proposal.title}: ${[gain, ...notes.filter((note) => note !== null)].join(', ')}`,
    edits,
    predicted: { bubbleFraction: after.report.bubbleFraction, usdPerDaySaved: saved },
  };
}

/** What was said outside the files stands before what a comment in the document says. */
function saidFor({ file, said }: AnalysisInput, texts: Texts): Said {
  return { ...saidInComments(file, texts[file] ?? '').said, ...said };
}

function errorCount(analysis: PlanAnalysis): number {
  return analysis.findings.filter((finding) => finding.severity === 'error').length;
}

/** Texts with edits applied, from the last to the first so that offsets hold. */
export function applyEdits(texts: Texts, edits: readonly TextEdit[]): Texts {
  const changed: Record<string, string> = { ...texts };
  for (const edit of [...edits].sort((a, b) => b.offset - a.offset)) {
    const text = changed[edit.file] ?? '';
    changed[edit.file] = text.slice(0, edit.offset) + edit.text + text.slice(edit.offset + edit.length);
  }
  return changed;
}

/** Names and messages may quote the file: each is kept to one line. */
function tidied(plan: Plan): Plan {
  return { ...plan, name: oneLine(plan.name, 80), findings: plan.findings.map(onOneLine) };
}

function onOneLine(finding: Finding): Finding {
  const related = finding.related.map((each) => ({ ...each, message: oneLine(each.message) }));
  return { ...finding, message: oneLine(finding.message), related };
}

function analysePlan(read: Plan, { file, texts, settings, measured }: AnalysisInput): PlanAnalysis {
  const plan = measured === undefined ? read : withMeasuredCosts(read, measured);
  const placement = plan.schedule.value === null ? null : (scheduleRow(plan.schedule.value)?.placement ?? null);
  const shape = shapeOf(plan);
  const costs = listable(plan) ? stageCosts(plan) : null;
  const simulated = typeof shape === 'string' ? shape : simulate(plan, shape, costs, settings);
  const report = typeof simulated === 'string' ? null : simulated;
  const noReport = typeof simulated === 'string' ? simulated : null;
  const context = ruleContext(plan, costs, report, placement, settings);
  const findings = inOrder([
    ...plan.findings,
    ...refusals(plan, shape),
    ...tooLarge(plan, shape, noReport),
    ...(measured === undefined ? [] : notMeasured(plan, measured)),
    ...(context === null ? [] : RULES.flatMap((rule) => rule.check(context)?.finding ?? [])),
  ]);
  return {
    plan,
    placement,
    stageLayers: stageLayers(plan, placement),
    costs,
    report,
    noReport,
    findings,
    texts: planTexts({ plan, costs, report, noReport, placement, findings, texts, file }),
    responsible: {
      warmup: placeOf(plan, ['microbatches', 'globalBatchSize']),
      cooldown: placeOf(plan, ['microbatches', 'globalBatchSize']),
      stall: placeOf(plan, ['stages', 'layers', 'schedule', 'pp']),
      stage: placeOf(plan, ['stages', 'layers', 'pp']),
      transfer: placeOf(plan, ['transferMs', 'pp']),
    },
  };
}

function ruleContext(
  plan: Plan,
  costs: Costs | null,
  report: Report | null,
  placement: Placement | null,
  settings: AnalysisSettings,
): RuleContext | null {
  const { pp, vpp, microbatches } = plan;
  if (costs === null || report === null || placement === null) return null;
  if (pp.value === null || vpp.value === null || microbatches.value === null) return null;
  return { plan, costs, report, settings, placement, pp: pp.value, vpp: vpp.value, microbatches: microbatches.value };
}

/** The shape to simulate, or why there is none. */
function shapeOf(plan: Plan): PipelineShape | string {
  const { pp, vpp, schedule, microbatches, groupSize } = plan;
  const missing = firstUnknown([pp, vpp, schedule, microbatches]);
  if (missing !== null) return `${missing.source.missing} is not known`;
  if (pp.value === null || vpp.value === null || schedule.value === null || microbatches.value === null) return '';
  const request = { schedule: schedule.value, pp: pp.value, vpp: vpp.value, microbatches: microbatches.value };
  const rules = plan.framework === null ? null : framework(plan.framework);
  return {
    ...request,
    groupSize: groupSize.value ?? rules?.defaultGroupSize({ ...request, groupSize: null }) ?? pp.value,
    variant: rules?.variant(schedule.value) ?? null,
  };
}

/** An action that is searched for or laid out costs so many times what it costs to run. */
const SEARCHED_TIMES = 64;
const LIGHT_ACTIONS = 50_000;

function isHeavy(plan: Plan): boolean {
  const shape = shapeOf(plan);
  const row = typeof shape === 'string' ? null : scheduleRow(shape.schedule);
  if (row === null || typeof shape === 'string') return false;
  const times = row.searches(shape) || row.tooLarge !== undefined ? SEARCHED_TIMES : 1;
  return times * row.actions(shape) > LIGHT_ACTIONS;
}

function listable(plan: Plan): boolean {
  const { pp, vpp } = plan;
  return pp.value !== null && vpp.value !== null && pp.value * vpp.value <= MAX_STAGES;
}

/** That a plan is not simulated for its size alone: the simulator says so, or there are too many stages to list. */
function tooLarge(plan: Plan, shape: PipelineShape | string, noReport: string | null): readonly Finding[] {
  if (typeof shape === 'string' || noReport === null) return [];
  if (listable(plan) && noReport !== sizeRefusal(shape)) return [];
  const message = `Not simulated: ${noReport}`;
  return [
    { code: 'too-large-to-simulate', severity: 'information', message, range: plan.anchor, related: [], fixes: [] },
  ];
}

function notMeasured(plan: Plan, measured: MeasuredCosts): readonly Finding[] {
  const message = measuredProblem(plan, measured);
  if (message === null) return [];
  return [{ code: 'split-invalid', severity: 'warning', message, range: plan.anchor, related: [], fixes: [] }];
}

function simulate(plan: Plan, shape: PipelineShape, costs: Costs | null, settings: AnalysisSettings): Report | string {
  if (!listable(plan)) return sizeProblem(shape) ?? 'the plan has too many stages to simulate';
  if (costs === null) return 'the split over stages does not fit the sizes';
  const result = pipelineReport(shape, costs, communicationOf(plan));
  return result.ok ? reportWithMoney(plan, costs, result.report, settings) : result.reason;
}

/** An unknown mode has a problem at its token; meanwhile transfers behave as without one. */
function communicationOf({ communication }: Plan): SimulationOptions {
  return { communication: communication.value ?? 'async' };
}

/** What the framework, or for a hand-made plan the schedule itself, says against the shape. */
function refusals(plan: Plan, shape: PipelineShape | string): readonly Finding[] {
  if (typeof shape === 'string') return [];
  const rules = plan.framework === null ? null : framework(plan.framework);
  const refusal = rules === null ? illegal(shape) : rules.refuse({ ...shape, groupSize: plan.groupSize.value });
  if (refusal === null) return [];
  const range = placeOf(plan, refusal.about);
  if (plan.findings.some((finding) => finding.code === refusal.code && finding.range.offset === range.offset))
    return [];
  const related = refusal.about.slice(1).flatMap((key): readonly RelatedPlace[] => {
    const place = placeOf(plan, [key]);
    return place.offset === range.offset && place.file === range.file ? [] : [{ message: key, range: place }];
  });
  return [{ code: refusal.code, severity: 'error', message: refusal.message, range, related, fixes: [] }];
}

function illegal(shape: PipelineShape): Refusal | null {
  const reason = shape.pp * shape.vpp > MAX_STAGES ? null : orderRefusal(shape);
  return reason === null
    ? null
    : { code: 'schedule-not-legal', message: reason, about: ['schedule', 'vpp', 'microbatches'] };
}

function inOrder(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort(
    (a, b) => a.range.file.localeCompare(b.range.file, 'en') || a.range.offset - b.range.offset,
  );
}

function stageLayers(plan: Plan, placement: Placement | null): readonly (readonly number[])[] | null {
  const { pp, vpp, stages } = plan;
  if (stages.value === null || pp.value === null || vpp.value === null || placement === null) return null;
  if (!listable(plan) || stages.value.length !== pp.value * vpp.value) return null;
  const layers = stages.value.map((stage) => stage.layers);
  return Array.from({ length: pp.value }, (_, rank) =>
    stagesOfRank(placement, pp.value, vpp.value, rank).map((stage) => layers[stage]!),
  );
}

/** Start and end of every action, or in one line why there are none. */
export type TimelineOutcome = { readonly timeline: Timeline } | { readonly timeline: null; readonly reason: string };

export function timelineOf({ plan, costs, report, noReport }: PlanAnalysis): TimelineOutcome {
  const none = (reason: string): TimelineOutcome => ({ timeline: null, reason });
  const shape = shapeOf(plan);
  if (report === null || costs === null || typeof shape === 'string') return none(noReport ?? 'it is not simulated');
  const result = pipelineReport(shape, costs, communicationOf(plan));
  if (!result.ok) return none(result.reason);
  const { timeline } = result;
  if (timeline !== null) return { timeline };
  // The report of equal microbatches needs no action by action; a picture does.
  return none(`too long to draw: ${legality(shape) ?? 'it is not run action by action'}`);
}

/** What the webview draws for one plan, or in one line why there is nothing to draw. */
export type ViewOutcome = { readonly view: TimelineView } | { readonly view: null; readonly reason: string };

export function timelineView(analysis: Analysis, planId: string): ViewOutcome {
  const found = analysis.plans.find((each) => each.plan.id === planId) ?? analysis.plans[0];
  if (found === undefined) {
    return { view: null, reason: analysis.problems[0]?.message ?? 'No pipeline plan in this file.' };
  }
  const drawn = timelineOf(found);
  if (drawn.timeline === null) return { view: null, reason: drawn.reason };
  return { view: viewOf(analysis, found, found.report!, drawn.timeline) };
}

function viewOf(analysis: Analysis, found: PlanAnalysis, report: Report, timeline: Timeline): TimelineView {
  const { plan, texts } = found;
  const pp = plan.pp.value ?? 1;
  const vpp = plan.vpp.value ?? 1;
  const ranks = report.ranks.map(
    (rank, r): RankView => ({ ...rank, rank: r, holds: holdsText(plan, found.placement!, pp, vpp, r) }),
  );
  return {
    planId: plan.id,
    title: `${plan.name} · ${plan.schedule.value} · pp ${pp}${vpp > 1 ? ` · vpp ${vpp}` : ''} · ${plan.microbatches.value} microbatches`,
    headline: texts.headline,
    waterfall: texts.waterfall,
    parts: report.waterfall,
    badge: found.costs!.badge,
    badgeText: texts.badge,
    timeline,
    ranks,
    pp,
    vpp,
    plans: analysis.plans.map((each) => ({ id: each.plan.id, name: each.plan.name })),
  };
}

/** The whole file explained as plain text. */
export function explainText(analysis: Analysis): string {
  if (analysis.reader === null) return `${oneLine(analysis.file)}: no pipeline config that Bubblelens reads`;
  const problems = analysis.problems.map((problem) => `  ${problem.severity} ${problem.code}: ${problem.message}`);
  const plans = analysis.plans.map((each) => each.texts.explanation);
  const body = plans.length === 0 ? ['  no plan found'] : plans;
  return printable(
    [`${oneLine(analysis.file)} (${analysis.reader})`, ...problems, '', body.join('\n\n'), ''].join('\n'),
  );
}
