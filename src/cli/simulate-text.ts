/** The answer of `simulate` for a person: the headline, its parts, a small picture, and a line per rank. */

import { counted, grouped } from '../model/counted.ts';
import type { MemoryCurve } from '../model/memory-curve.ts';
import type { RankReport } from '../model/report.ts';
import type { Timeline } from '../model/timeline.ts';
import type { Spread, Variation } from '../model/variation.ts';
import type { Answer } from './answer.ts';
import type { Timing } from './timing.ts';

const PICTURE_COLUMNS = 72;
const MAX_PICTURE_RANKS = 32;
const MAX_PICTURE_ACTIONS = 200_000;
/** By kind: F, I, W, B. */
const INK = ['░', '▒', '▓', '█'] as const;
const OVERLAPPED = '▚';
const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

export function answerText(answer: Answer, measured: Timing | null): string {
  const { shape, report, request } = answer;
  const { waterfall } = report;
  const sizes = [
    request.order === null ? shape.schedule : 'custom order',
    `pp ${shape.pp}`,
    ...(shape.vpp > 1 ? [`vpp ${shape.vpp}`] : []),
    counted(shape.microbatches, 'microbatch'),
    ...(shape.groupSize > 1 ? [`group size ${shape.groupSize}`] : []),
    ...(request.memoryLimit === null
      ? []
      : [`at most ${counted(request.memoryLimit, 'live stage-microbatch')} a rank`]),
    ...(request.framework === null ? [] : [`as ${request.framework} runs it`]),
    ...(request.communication === 'async' ? [] : [`${request.communication} transfers`]),
  ];
  const lines = [
    sizes.join(' · '),
    ...request.orderNotes.map((note) => `  note: ${note}`),
    '',
    `  idle share    ${percent(report.bubbleFraction)} of a makespan of ${amount(report.makespan)}`,
    `                schedule ${signed(waterfall.schedule)}, imbalance ${signed(waterfall.imbalance)}, communication ${signed(waterfall.communication)}`,
    `  over ideal    ${percent(report.bubbleOverIdeal)} of the busy time (Megatron's definition)`,
    `  longest span  ${percent(report.spanBubbleFraction)} (the zero-bubble paper's definition)`,
    ...(answer.variation === null ? [] : variationLines(answer.variation)),
    '',
    ...picture(answer),
    ...rankTable(report.ranks),
    ...(answer.memoryCurve === null ? [] : memoryLines(answer.memoryCurve, report.makespan)),
    ...(answer.orders === null ? [] : ['', ...answer.orders.map((order, rank) => `rank ${rank}: ${order}`)]),
    ...(measured === null ? [] : ['', timingLine(measured)]),
  ];
  return `${lines.join('\n')}\n`;
}

function variationLines({ samples, seed, makespan, bubbleFraction }: Variation): readonly string[] {
  const row = ({ p5, p50, p95, mean }: Spread, say: (value: number) => string) =>
    `p5 ${say(p5)}, p50 ${say(p50)}, p95 ${say(p95)}, mean ${say(mean)}`;
  return [
    `  varies        makespan ${row(makespan, amount)} (${counted(samples, 'sample')}, seed ${seed})`,
    `                idle share ${row(bubbleFraction, percent)}`,
  ];
}

function timingLine({ actions, orderMs, simulateMs, cachedMs, runs }: Timing): string {
  const ms = (time: number) => `${time.toFixed(3)} ms`;
  return `${counted(actions, 'action')}: order ${ms(orderMs)}, simulation ${ms(simulateMs)}, new costs ${ms(cachedMs)} (medians of ${runs} runs)`;
}

/** A row per rank, a column per slice of time: the most that the rank holds in it, as a share of the largest peak. */
function memoryLines({ ranks, freedAt }: MemoryCurve, makespan: number): readonly string[] {
  let most = 0;
  for (const { live } of ranks) for (let i = 0; i < live.length; i++) most = Math.max(most, live[i]!);
  const rows = ranks.slice(0, MAX_PICTURE_RANKS).map((memory, rank) => {
    const columns = new Array<number>(PICTURE_COLUMNS).fill(0);
    for (let i = 0; i < memory.live.length; i++) {
      const until = i + 1 < memory.time.length ? memory.time[i + 1]! : memory.time[i]!;
      const column = (time: number) => Math.min(PICTURE_COLUMNS - 1, Math.floor((time / makespan) * PICTURE_COLUMNS));
      for (let c = column(memory.time[i]!); c <= column(until); c++)
        columns[c] = Math.max(columns[c]!, memory.live[i]!);
    }
    const row = columns.map((live) => (live === 0 ? '·' : HEIGHTS[Math.ceil((live / most) * HEIGHTS.length) - 1]!));
    return `  ${String(rank).padStart(4)}  ${row.join('')}`;
  });
  return [
    '',
    `  live stage-microbatches, at most ${grouped(most)}; let go at the ${freedAt === 'W' ? 'weight' : 'input'} gradient`,
    ...(makespan > 0 ? rows : []),
  ];
}

function rankTable(ranks: readonly RankReport[]): readonly string[] {
  const head = ['rank', 'idle', 'warm-up', 'stalls', 'cool-down', 'busy', 'peak', 'waits for'];
  const rows = ranks.map((rank, r) => [
    String(r),
    percent(rank.idleFraction),
    percent(rank.warmupFraction),
    percent(rank.stallFraction),
    percent(rank.cooldownFraction),
    amount(rank.busy),
    grouped(rank.peakActivations),
    rank.stalls.map((stall) => `rank ${stall.waitedForRank} ${percent(stall.fraction)}`).join(', '),
  ]);
  const widths = head.map((title, c) => rows.reduce((width, row) => Math.max(width, row[c]!.length), title.length));
  return [head, ...rows].map((row) =>
    `  ${row.map((cell, c) => (c === head.length - 1 ? cell : cell.padStart(widths[c]!))).join('  ')}`.trimEnd(),
  );
}

/** A row per rank, a column per slice of time, inked by the kind that runs in the middle of the slice. */
function picture(answer: Answer): readonly string[] {
  const { pp, vpp, microbatches } = answer.shape;
  if (pp > MAX_PICTURE_RANKS || pp * vpp * microbatches > MAX_PICTURE_ACTIONS || answer.report.makespan === 0)
    return [];
  const timeline = answer.timeline();
  if (timeline === null) return [];
  const rows = Array.from({ length: pp }, (_, rank) => `  ${String(rank).padStart(4)}  ${pictureRow(timeline, rank)}`);
  const kinds = new Set(Array.from(timeline.kind));
  const legend = [
    ['forward', 0],
    ['backward, input', 1],
    ['backward, weights', 2],
    ['backward', 3],
  ] as const;
  const keys = legend.filter(([, kind]) => kinds.has(kind)).map(([name, kind]) => `${INK[kind]} ${name}`);
  if (rows.some((row) => row.includes(OVERLAPPED))) keys.push(`${OVERLAPPED} overlapped pair`);
  return [...rows, `        ${[...keys, '· idle'].join('  ')}`, ''];
}

function pictureRow(timeline: Timeline, rank: number): string {
  let row = '';
  let i = timeline.rankStart[rank]!;
  const stop = timeline.rankStart[rank + 1]!;
  for (let column = 0; column < PICTURE_COLUMNS; column++) {
    const time = ((column + 0.5) / PICTURE_COLUMNS) * timeline.makespan;
    while (i < stop && timeline.end[i]! <= time) i++;
    row += i < stop && timeline.start[i]! <= time ? inkOf(timeline, i, stop) : '·';
  }
  return row;
}

/** The two actions of an overlapped pair share start and end. */
function inkOf({ start, end, kind }: Timeline, i: number, stop: number): string {
  const isPair = i + 1 < stop && start[i] === start[i + 1] && end[i] === end[i + 1];
  return isPair ? OVERLAPPED : INK[kind[i] as 0 | 1 | 2 | 3];
}

function percent(fraction: number): string {
  return Number.isFinite(fraction) ? `${(100 * fraction).toFixed(1)} %` : '∞';
}

function signed(fraction: number): string {
  const text = percent(fraction);
  return text === '-0.0 %' ? '0.0 %' : text;
}

function amount(time: number): string {
  return grouped(Number(time.toPrecision(6)));
}
