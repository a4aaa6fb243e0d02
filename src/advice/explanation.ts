/**
 * A plan explained as plain text: for `Explain This Config`, which can be diffed, and for the terminal. Columns are
 * padded so that it reads in any fixed-width font.
 */

import type { Plan } from '../model/plan.ts';
import type { Report } from '../model/report.ts';
import { dollars, duration, gibibytes, number, percent } from './format.ts';
import { bubbleFormula } from './formula.ts';
import { holdsText } from './rank-work.ts';
import { rangeText, valueText } from './sources.ts';
import type { WordingInput } from './wording-input.ts';

export function explanation(input: WordingInput, headline: string, waterfall: string, badge: string): string {
  const { plan, report, noReport } = input;
  return [
    `${plan.name}: ${headline}`,
    ...(report === null ? [`  ${noReport ?? 'nothing to simulate'}`] : [`  ${waterfall} · ${badge}`]),
    ...(report === null ? [] : definitions(plan, report)),
    ...(input.costs === null ? [] : [`  costs: ${input.costs.how}`]),
    ...(report === null ? [] : ['', ...rankTable(input, report)]),
    ...(report === null ? [] : unknowns(report)),
    ...findingLines(input),
    '',
    '  Where the inputs come from',
    ...inputs(input).map((line) => `    ${line}`),
  ].join('\n');
}

function definitions(plan: Plan, report: Report): readonly string[] {
  const { schedule, pp, vpp, microbatches } = plan;
  const formula =
    schedule.value === null
      ? null
      : bubbleFormula(schedule.value, pp.value ?? 0, vpp.value ?? 0, microbatches.value ?? 0);
  const shown = formula !== null && Math.abs(formula.value - report.waterfall.schedule) <= 5e-4;
  return [
    ...(shown ? [`  equal stages: ${formula.symbols} = ${formula.numbers} = ${percent(formula.value)}`] : []),
    `  over the ideal ${percent(report.bubbleOverIdeal)} (Megatron's definition), longest rank span ${percent(report.spanBubbleFraction)} (zero-bubble paper's)`,
    ...(report.stepMs === null ? [] : [`  step ${duration(report.stepMs)}, ${moneyText(report)}`]),
  ];
}

function moneyText(report: Report): string {
  const { usdPerDayLost, usdLostOverRun, daysLost } = report;
  const money = usdPerDayLost === null ? 'money ?' : `${dollars(usdPerDayLost)} a day lost`;
  const run = usdLostOverRun === null ? [] : [`${dollars(usdLostOverRun)} over the run`];
  return [money, ...run, daysLost === null ? 'days lost ?' : `${number(daysLost)} days lost`].join(', ');
}

function rankTable({ plan, placement }: WordingInput, report: Report): readonly string[] {
  const rows = report.ranks.map((rank, r) => [
    String(r),
    percent(rank.idleFraction),
    percent(rank.warmupFraction),
    percent(rank.stallFraction),
    percent(rank.cooldownFraction),
    String(rank.peakActivations),
    rank.peakBytes === null ? '?' : gibibytes(rank.peakBytes),
    placement === null ? '' : holdsText(plan, placement, plan.pp.value ?? 1, plan.vpp.value ?? 1, r),
  ]);
  const head = ['rank', 'idle', 'warm-up', 'stalls', 'cool-down', 'peak', 'memory', 'holds'];
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), title.length),
  );
  return [head, ...rows].map((row) => {
    const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padStart(widths[column]!)));
    return `  ${cells.join('  ')}`.trimEnd();
  });
}

function unknowns(report: Report): readonly string[] {
  if (report.unknowns.length === 0) return [];
  return [
    '',
    ...report.unknowns.map(
      ({ what, missing, say }) => `  ${what} ?: needs ${missing}${say === null ? '' : ` (${say})`}`,
    ),
  ];
}

function findingLines({ findings, texts, file }: WordingInput): readonly string[] {
  if (findings.length === 0) return [];
  const lines = findings.map(
    (finding) => `  ${finding.severity} ${finding.code}, ${rangeText(finding.range, texts, file)}: ${finding.message}`,
  );
  return ['', ...lines];
}

function inputs({ plan, texts, file }: WordingInput): readonly string[] {
  const value = (name: string, sourced: Parameters<typeof valueText>[1]) => valueText(name, sourced, texts, file);
  return [
    value('pp', plan.pp),
    value('vpp', plan.vpp),
    value('schedule', plan.schedule),
    value('microbatches', plan.microbatches),
    value('micro batch', plan.microBatchSize),
    value('global batch', plan.globalBatchSize),
    value('GPUs', plan.gpus),
    value('dp', plan.dp),
    value('tp', plan.tp),
    value('cp', plan.cp),
    value('ep', plan.ep),
    value('layers', plan.model.layers),
    value('sequence', plan.sequenceLength),
  ];
}
