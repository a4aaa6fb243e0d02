/** A reading of the native format as readable text: every value with where it comes from, every finding with its token. */

import type { Finding } from '../../src/model/finding.ts';
import type { Plan } from '../../src/model/plan.ts';
import { lineStarts, positionAt } from '../../src/model/position.ts';
import type { Reading } from '../../src/model/reading.ts';
import type { Source, Sourced, TextRange } from '../../src/model/source.ts';

export function dumpReading(reading: Reading, text: string): string {
  const at = placer(text);
  const lines = [...reading.problems.flatMap((problem) => findingLines(problem, at, 'problem'))];
  for (const plan of reading.plans) {
    lines.push(`plan ${plan.id} "${plan.name}" anchor ${at(plan.anchor)}`);
    lines.push(...planLines(plan, at), ...plan.findings.flatMap((each) => findingLines(each, at, 'finding')));
  }
  if (reading.plans.length === 0) lines.push('no plan');
  return `${lines.join('\n')}\n`;
}

interface Shown {
  readonly value: unknown;
  readonly source: Source;
}

type At = (range: TextRange) => string;

/** `line:column "token"`. */
function placer(text: string): At {
  const starts = lineStarts(text);
  return ({ offset, length }) => {
    const { line, column } = positionAt(starts, offset);
    const token = text.slice(offset, offset + length);
    return `${line}:${column} ${JSON.stringify(token.length > 60 ? `${token.slice(0, 57)}...` : token)}`;
  };
}

function findingLines(finding: Finding, at: At, kind: string): readonly string[] {
  return [
    `${kind} ${finding.severity} ${finding.code} ${at(finding.range)}: ${finding.message}`,
    ...finding.related.map(({ message, range }) => `    ${at(range)}: ${message}`),
  ];
}

function planLines(plan: Plan, at: At): readonly string[] {
  const { model, cluster, run } = plan;
  const values: Readonly<Record<string, Shown>> = {
    pp: plan.pp,
    vpp: plan.vpp,
    tp: plan.tp,
    cp: plan.cp,
    ep: plan.ep,
    dp: plan.dp,
    gpus: plan.gpus,
    schedule: plan.schedule,
    groupSize: plan.groupSize,
    microbatches: plan.microbatches,
    microBatchSize: plan.microBatchSize,
    globalBatchSize: plan.globalBatchSize,
    sequenceLength: plan.sequenceLength,
    communication: plan.communication,
    layers: model.layers,
    hidden: model.hidden,
    heads: model.heads,
    kvHeads: model.kvHeads,
    ffn: model.ffn,
    gated: model.gated,
    vocabulary: model.vocabulary,
    recompute: model.recompute,
    dtype: model.dtype,
    ...(model.experts === null ? {} : { experts: model.experts.count, topK: model.experts.topK }),
    gpu: cluster.gpu,
    gpusPerNode: cluster.gpusPerNode,
    usdPerGpuHour: cluster.usdPerGpuHour,
    steps: run.steps,
    tokens: run.tokens,
    transferMs: plan.transferMs,
    measuredStepMs: plan.measuredStepMs,
    stages: shown(plan.stages, (stages) => stages.map(stageText).join(' ')),
    stageTimes: shown(plan.stageTimes, (times) =>
      times
        .map((t) => `${t.forwardMs}/${t.backwardInputMs}/${t.backwardWeightMs}/${t.activationBytes ?? '?'}`)
        .join(' '),
    ),
  };
  return Object.entries(values).map(([name, sourced]) => `  ${name} ${valueText(sourced, at)}`);
}

function stageText(stage: NonNullable<Plan['stages']['value']>[number]): string {
  return `${stage.embedding ? 'E' : ''}${stage.layers}${stage.head ? 'H' : ''}`;
}

function shown<T>(sourced: Sourced<T>, text: (value: T) => string): Shown {
  return sourced.value === null ? sourced : { value: text(sourced.value), source: sourced.source };
}

function valueText({ value, source }: Shown, at: At): string {
  switch (source.kind) {
    case 'text':
      return `= ${value}  [${at(source.range)}${source.note === undefined ? '' : `; ${source.note}`}]`;
    case 'default':
      return `= ${value}  [default: ${source.why}]`;
    case 'derived':
      return `= ${value}  [derived: ${source.how}; from ${source.from.join(', ')}]`;
    case 'assumed':
      return `= ${value}  [assumed by ${source.by}]`;
    case 'measured':
    case 'estimated':
      return `= ${value}  [${source.kind}: ${source.how}]`;
    case 'unknown':
      return `? ${source.missing}${source.say === undefined ? '' : ` (${source.say})`}${source.range === undefined ? '' : ` at ${at(source.range)}`}`;
  }
}
