/** The JSON of `explain`: the keys that scripts rely on, `null` for unknown, places as line and column from 1. */

import type { Analysis, PlanAnalysis } from '../model/analysis.ts';
import type { Finding } from '../model/finding.ts';
import { PLAN_KEYS, type Plan } from '../model/plan.ts';
import { lineStarts, positionAt } from '../model/position.ts';
import type { Texts } from '../model/reading.ts';
import type { Source, TextRange } from '../model/source.ts';

type Json = Readonly<Record<string, unknown>>;

export function analysisJson(analysis: Analysis, texts: Texts): Json {
  const place = placer(texts);
  return {
    file: analysis.file,
    reader: analysis.reader,
    problems: analysis.problems.map((problem) => findingJson(problem, place)),
    plans: analysis.plans.map((plan) => planJson(plan, place)),
  };
}

type Placer = (range: TextRange) => Json;

function placer(texts: Texts): Placer {
  const starts = new Map<string, readonly number[]>();
  return ({ file, offset, length }) => {
    const known = starts.get(file) ?? lineStarts(texts[file] ?? '');
    starts.set(file, known);
    return { file, ...positionAt(known, offset), length };
  };
}

function planJson({ plan, placement, stageLayers, report, noReport, findings }: PlanAnalysis, place: Placer): Json {
  return {
    id: plan.id,
    name: plan.name,
    line: place(plan.anchor).line,
    framework: plan.framework,
    pp: plan.pp.value,
    vpp: plan.vpp.value,
    schedule: plan.schedule.value,
    placement,
    groupSize: plan.groupSize.value,
    microbatches: plan.microbatches.value,
    microBatchSize: plan.microBatchSize.value,
    globalBatchSize: plan.globalBatchSize.value,
    sequenceLength: plan.sequenceLength.value,
    gpus: plan.gpus.value,
    dp: plan.dp.value,
    tp: plan.tp.value,
    cp: plan.cp.value,
    ep: plan.ep.value,
    layers: plan.model.layers.value,
    stageLayers,
    sources: sourcesJson(plan, place),
    report,
    noReport,
    findings: findings.map((finding) => findingJson(finding, place)),
  };
}

function sourcesJson(plan: Plan, place: Placer): Json {
  const named = PLAN_KEYS.map((key) => [key, sourceJson(plan[key].source, place)] as const);
  return Object.fromEntries([...named, ['layers', sourceJson(plan.model.layers.source, place)]]);
}

function sourceJson(source: Source, place: Placer): Json {
  if (!('range' in source) || source.range === undefined) return { ...source };
  const { range, ...rest } = source;
  return { ...rest, ...place(range) };
}

function findingJson(finding: Finding, place: Placer): Json {
  const { code, severity, message, range, related, fixes } = finding;
  return {
    code,
    severity,
    message,
    ...place(range),
    related: related.map((each) => ({ message: each.message, ...place(each.range) })),
    fixes,
  };
}
