/** Plans as readable text for golden files: every value with its source, every finding with the token it stands on. */

import type { Plan } from '../../src/model/plan.ts';
import { lineStarts, positionAt } from '../../src/model/position.ts';
import type { Reading, Texts } from '../../src/model/reading.ts';
import type { Sourced, TextRange } from '../../src/model/source.ts';

export function dump(reading: Reading, texts: Texts): string {
  const lines: string[] = [];
  for (const need of reading.needs) lines.push(`needs ${need}`);
  for (const problem of reading.problems)
    lines.push(`problem ${problem.code} ${at(problem.range, texts)}: ${problem.message}`);
  for (const plan of reading.plans) lines.push('', ...dumpPlan(plan, texts));
  if (reading.plans.length === 0) lines.push('no plan');
  return `${lines.join('\n').trim()}\n`;
}

function at(range: TextRange, texts: Texts): string {
  const text = texts[range.file] ?? '';
  const { line, column } = positionAt(lineStarts(text), range.offset);
  const token = text.slice(range.offset, range.offset + range.length).replace(/\s+/g, ' ');
  return `${range.file.replace(/^.*\//, '')}:${line}:${column} "${token.length > 60 ? `${token.slice(0, 60)}…` : token}"`;
}

function show(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value
    .map((stage: { layers: number; embedding: boolean; head: boolean; mtp: number }) =>
      [stage.embedding ? 'E' : '', stage.layers, stage.mtp > 0 ? `m${stage.mtp}` : '', stage.head ? 'L' : ''].join(''),
    )
    .join('|');
}

function line(name: string, sourced: Sourced<unknown>, texts: Texts): string {
  const { source } = sourced;
  const head = `${name.padEnd(16)} ${sourced.value === null ? '?' : show(sourced.value)}`;
  switch (source.kind) {
    case 'text':
      return `${head}  @ ${at(source.range, texts)}${source.note === undefined ? '' : ` (${source.note})`}`;
    case 'default':
      return `${head}  default: ${source.why}`;
    case 'derived':
      return `${head}  = ${source.how}`;
    case 'assumed':
      return `${head}  said by ${source.by}`;
    case 'unknown':
      return `${head}  ${source.missing}${source.say === undefined ? '' : ` [${source.say}]`}${source.range === undefined ? '' : ` @ ${at(source.range, texts)}`}`;
    default:
      return head;
  }
}

function dumpPlan(plan: Plan, texts: Texts): string[] {
  const values: Record<string, Sourced<unknown>> = {
    pp: plan.pp,
    vpp: plan.vpp,
    tp: plan.tp,
    cp: plan.cp,
    ep: plan.ep,
    dp: plan.dp,
    gpus: plan.gpus,
    gpusPerNode: plan.cluster.gpusPerNode,
    schedule: plan.schedule,
    groupSize: plan.groupSize,
    microbatches: plan.microbatches,
    microBatchSize: plan.microBatchSize,
    globalBatchSize: plan.globalBatchSize,
    sequenceLength: plan.sequenceLength,
    stages: plan.stages,
    layers: plan.model.layers,
    hidden: plan.model.hidden,
    heads: plan.model.heads,
    kvHeads: plan.model.kvHeads,
    ffn: plan.model.ffn,
    gated: plan.model.gated,
    vocabulary: plan.model.vocabulary,
    recompute: plan.model.recompute,
    dtype: plan.model.dtype,
    steps: plan.run.steps,
    tokens: plan.run.tokens,
  };
  const { experts } = plan.model;
  if (experts !== null) {
    Object.assign(values, {
      experts: experts.count,
      topK: experts.topK,
      expertFfn: experts.ffn,
      shared: experts.shared,
    });
  }
  return [
    `plan ${plan.id} "${plan.name}" anchor ${at(plan.anchor, texts)}`,
    ...Object.entries(values).map(([name, sourced]) => `  ${line(name, sourced, texts)}`),
    ...plan.findings.flatMap((finding) => [
      `  ${finding.severity} ${finding.code} ${at(finding.range, texts)}`,
      `    ${finding.message}`,
      ...finding.related.map((place) => `    see ${at(place.range, texts)}: ${place.message}`),
    ]),
  ];
}
