/**
 * What each surface says of a plan, as data: hint, lens, hover, status. All of them come from one report, so that they
 * cannot disagree. Markdown is in the hover only; text that comes from a file is escaped there.
 */

import type { PlanTexts } from '../model/analysis.ts';
import type { Finding } from '../model/finding.ts';
import type { Plan } from '../model/plan.ts';
import type { RankReport, Report, Waterfall } from '../model/report.ts';
import { explanation } from './explanation.ts';
import { badgeText, dollars, duration, number, percent } from './format.ts';
import { bubbleFormula } from './formula.ts';
import { valueText } from './sources.ts';
import type { WordingInput } from './wording-input.ts';

const HOVER_RANKS = 8;

export function planTexts(input: WordingInput): PlanTexts {
  const { plan, report } = input;
  const refused = refusal(input.findings);
  const trouble = refused === null ? null : troubleWord(plan);
  const headline = report === null ? (trouble ?? 'idle ?') : headlineText(report, trouble);
  const waterfall = report === null ? (input.noReport ?? '') : waterfallText(report.waterfall);
  const badge = input.costs === null ? 'no costs' : badgeText(input.costs.badge);
  return {
    headline,
    waterfall,
    badge,
    hint: hintText(input, headline),
    hintTooltip: report === null ? (refused?.message ?? input.noReport ?? '') : `${waterfall} · ${badge}`,
    lens: lensText(input, headline, waterfall, badge),
    lensAsk: ask(plan),
    hover: hoverText(input, headline, waterfall, badge),
    status: plan.pp.value === 1 ? 'no pipeline' : headline,
    explanation: explanation(input, headline, waterfall, badge),
  };
}

export function waterfallText({ schedule, imbalance, communication }: Waterfall): string {
  return `schedule ${percent(schedule)} + imbalance ${percent(imbalance)} + communication ${percent(communication)}`;
}

/** Only a framework refuses; a hand-made plan has errors. */
function troubleWord(plan: Plan): string {
  return plan.framework === null ? 'has errors' : 'refused at launch';
}

function headlineText(report: Report, trouble: string | null): string {
  const idle = `${percent(report.bubbleFraction)} idle`;
  return trouble === null ? idle : `${trouble} · ${idle}`;
}

function refusal(findings: readonly Finding[]): Finding | null {
  return findings.find((finding) => finding.severity === 'error') ?? null;
}

function hintText({ plan, report, noReport, findings }: WordingInput, headline: string): string {
  if (plan.pp.value === 1) return 'no pipeline';
  if (report === null) return refusal(findings) === null ? `idle ?: ${noReport ?? 'not known'}` : headline;
  return [headline, ...timeAndMoney(report)].join(' · ');
}

/** Step time and money where known; a `?` where stage times are known and money is not. */
function timeAndMoney(report: Report): readonly string[] {
  if (report.stepMs === null) return [];
  return [duration(report.stepMs), report.usdPerDayLost === null ? '$?/day' : `${dollars(report.usdPerDayLost)}/day`];
}

function lensText(
  { plan, report, noReport }: WordingInput,
  headline: string,
  waterfall: string,
  badge: string,
): string {
  if (plan.pp.value === 1) return `${plan.name}: no pipeline (pp 1)`;
  if (report === null) return `${headline}: ${noReport ?? 'not known'}`;
  return `${headline}: ${waterfall} · ${badge}`;
}

/** What is worth asking the user for: the GPU count first, since most depends on it. */
function ask(plan: Plan): PlanTexts['lensAsk'] {
  if (plan.gpus.value === null) return { title: 'GPU count ?: set it', say: 'cluster.gpus' };
  return null;
}

function hoverText(input: WordingInput, headline: string, waterfall: string, badge: string): string {
  const { plan, report } = input;
  if (report === null) {
    const why = refusal(input.findings)?.message ?? input.noReport ?? 'not known';
    return [`**${headline}**: ${escapeMarkdown(why)}`, ...sourceLines(input)].join('\n\n');
  }
  const lines = [
    ...refusedLine(input.findings),
    `**${headline}** · ${badge} · ${plan.schedule.value} · pp ${plan.pp.value}, vpp ${plan.vpp.value}, microbatches ${plan.microbatches.value}`,
    waterfall,
    ...formulaLine(plan, report),
    `Over the ideal: ${percent(report.bubbleOverIdeal)} (Megatron's definition) · longest rank span: ${percent(report.spanBubbleFraction)} (zero-bubble paper's)`,
    rankLine(report.ranks),
    peakLine(report.ranks),
    ...moneyLine(report),
    `Costs: ${escapeMarkdown(input.costs?.how ?? '')}`,
    ...sourceLines(input),
  ];
  return lines.map(unbroken).join('\n\n');
}

/** Below the headline, a number and its percent sign stay on one line of the hover. */
function unbroken(line: string): string {
  return line.startsWith('**') ? line : line.replaceAll(' %', '\u00a0%');
}

function refusedLine(findings: readonly Finding[]): readonly string[] {
  const refused = refusal(findings);
  return refused === null ? [] : [`**Error:** ${escapeMarkdown(refused.message)}`];
}

function formulaLine(plan: Plan, report: Report): readonly string[] {
  const { schedule, pp, vpp, microbatches } = plan;
  if (schedule.value === null || pp.value === null || vpp.value === null || microbatches.value === null) return [];
  const formula = bubbleFormula(schedule.value, pp.value, vpp.value, microbatches.value);
  if (formula === null || Math.abs(formula.value - report.waterfall.schedule) > 5e-4) return [];
  return [`Equal stages: ${formula.symbols} = ${formula.numbers} = ${percent(formula.value)}`];
}

function rankLine(ranks: readonly RankReport[]): string {
  const shown = ranks.slice(0, HOVER_RANKS).map((rank, r) => `${r}: ${percent(rank.idleFraction)}`);
  const rest = ranks.length > HOVER_RANKS ? [`… ${ranks.length - 1}: ${percent(ranks.at(-1)!.idleFraction)}`] : [];
  return `Idle by rank: ${[...shown, ...rest].join(' · ')}`;
}

function peakLine(ranks: readonly RankReport[]): string {
  const peaks = ranks.map((rank) => rank.peakActivations);
  return `Peak activations (stage-microbatches): rank 0 holds ${peaks[0]}, the last rank ${peaks.at(-1)}`;
}

function moneyLine(report: Report): readonly string[] {
  if (report.stepMs === null) return ['Step ? and money ?: the costs are relative, stage times would tell'];
  const tail = report.tailMs === null ? 'tail ?' : `tail ${duration(report.tailMs)}`;
  const lost = report.usdPerDayLost === null ? 'money ?' : `${dollars(report.usdPerDayLost)} a day lost`;
  const days = report.daysLost === null ? 'days lost ?' : `${number(report.daysLost)} days lost over the run`;
  return [`Step ${duration(report.stepMs)} (${tail}) · ${lost} · ${days}`];
}

function sourceLines({ plan, texts, file }: WordingInput): readonly string[] {
  const values = [
    valueText('pp', plan.pp, texts, file),
    valueText('microbatches', plan.microbatches, texts, file),
    valueText('layers', plan.model.layers, texts, file),
    valueText('GPUs', plan.gpus, texts, file),
  ];
  return [`From: ${values.map(escapeMarkdown).join(' · ')}`];
}

/** Keeps text of a file from being read as Markdown or as a link. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!<>|~]/g, '\\$&').replace(/[\r\n]+/g, ' ');
}
