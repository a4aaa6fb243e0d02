/**
 * `bubblelens simulate`: one schedule at given sizes and costs, without any file. The same request comes from flags
 * or from a line of a batch, and the same answer goes out as text or JSON.
 */

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromeTrace } from '../sim/chrome-trace.ts';
import { answer, answerJson } from './answer.ts';
import { prepared, refusalOf } from './arguments.ts';
import { batch } from './batch.ts';
import { type Parsed, requestFromFlags, simulateFlags } from './options.ts';
import { orderFile, orderFormat, writeOrder } from './order-file.ts';
import { answerText } from './simulate-text.ts';
import type { Streams } from './streams.ts';
import { timing } from './timing.ts';

const SIMULATE_USAGE =
  'usage: bubblelens simulate --schedule S --pp P --microbatches M [--vpp V] [--group-size G] [--framework NAME] ' +
  '[--forward F --backward-input I --backward-weight W] [--stage-scale a,b,…] ' +
  '[--p2p C [--ranks-per-node N --p2p-cross-node C] [--p2p-wrap-around C] | --p2p-edges a,b,…] ' +
  '[--communication MODE] [--overlap-factor K] [--jitter SIGMA [--samples N] [--seed S] [--rank-scale a,b,…] [--microbatch-scale a,b,…]] ' +
  '[--memory-limit N] [--order FILE] [--order-out FILE [--order-format text|csv|csv-comms]] [--orders] ' +
  '[--memory-curve [--freed-at I|W] [--activation-bytes N,…]] [--trace OUT.json] [--timing] [--json], ' +
  'or simulate --batch with one JSON request a line on stdin';

/** Exit codes: 0 done, 2 refused or could not run. */
export async function simulate(args: readonly string[], streams: Streams = process): Promise<number> {
  const flags = readFlags(args);
  if (!flags.ok) return fail(streams, flags.problem);
  const { batch: isBatch, trace, timing: isTimed, json, 'order-out': out, 'order-format': form, ...rest } = flags.value;
  if (isBatch === true) {
    const stray = Object.keys(rest).length > 0 || [trace, isTimed, out, form].some((each) => each !== undefined);
    if (stray) return fail(streams, '--batch takes its requests from stdin, and no other option');
    return batch(streams.stdin, streams.stdout);
  }
  if (form !== undefined && out === undefined) return fail(streams, '--order-format is given without --order-out');
  const format = typeof out === 'string' ? orderFormat(out, form) : null;
  if (format?.ok === false) return fail(streams, format.problem);
  const order = typeof rest.order === 'string' ? orderFile(rest.order) : null;
  if (order !== null && !order.ok) return fail(streams, order.problem);
  const request = requestFromFlags({ ...rest, order: order?.value });
  if (!request.ok) return fail(streams, request.problem);
  const answered = answer(request.value);
  if (!answered.ok) return fail(streams, answered.problem);
  const unwritten = format === null ? null : writeOrder(String(out), format.value, answered.value);
  if (unwritten !== null) return fail(streams, unwritten);
  const measured = isTimed === true ? timing(answered.value) : null;
  if (typeof trace === 'string') {
    try {
      const timeline = answered.value.timeline();
      if (timeline === null) return fail(streams, `--trace ${trace}: the run is too long to write every action of it`);
      writeFileSync(trace, chromeTrace(timeline));
    } catch (error) {
      return fail(streams, `--trace ${trace}: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  const text =
    json === true ? `${JSON.stringify(answerJson(answered.value, measured))}\n` : answerText(answered.value, measured);
  streams.stdout.write(text);
  return 0;
}

function readFlags(args: readonly string[]): Parsed<Readonly<Record<string, unknown>>> {
  try {
    const { values } = parseArgs({
      args: prepared(args),
      options: {
        ...simulateFlags(),
        batch: { type: 'boolean' },
        trace: { type: 'string' },
        'order-out': { type: 'string' },
        'order-format': { type: 'string' },
        timing: { type: 'boolean' },
        json: { type: 'boolean' },
      },
    });
    return { ok: true, value: values };
  } catch (error) {
    return { ok: false, problem: `${refusalOf(error)}; ${SIMULATE_USAGE}` };
  }
}

function fail({ stderr }: Streams, problem: string): number {
  stderr.write(`bubblelens simulate: ${problem}\n`);
  return 2;
}
