/** The engine against a plain list simulator in Python, timed in the same run: the same makespan, how many times faster. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { Costs } from '../../src/model/costs.ts';
import { clearPrograms } from '../../src/sim/cache.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { pipelineReport } from '../../src/sim/simulate.ts';

export const title = 'A plain 1F1B simulator in Python (test/bench/list-simulator.py) against a fresh run of ours';

const WARM_UP = 40;
const RUNS = 21;

export async function rows() {
  return [
    { pp: 8, microbatches: 64 },
    { pp: 64, microbatches: 1024 },
  ].map(({ pp, microbatches }) => {
    const script = path.join(process.env.BUBBLELENS_ROOT ?? process.cwd(), 'test/bench/list-simulator.py');
    const printed = execFileSync('python3', [script, String(pp), String(microbatches)], { encoding: 'utf8' });
    const [makespan, pythonMs] = printed.trim().split(' ').map(Number);
    const ours = fresh(pp, microbatches);
    assert.equal(ours.makespan, makespan);
    return { pp, microbatches, 'Python ms': pythonMs, 'ours ms': ours.ms, 'times faster': pythonMs! / ours.ms };
  });
}

/** Order, simulation and report with every cache emptied; the median once warm, as in an editor that is in use. */
function fresh(pp: number, microbatches: number): { readonly makespan: number; readonly ms: number } {
  const shape: PipelineShape = { schedule: '1f1b', pp, vpp: 1, microbatches, groupSize: pp, variant: null };
  const ones = new Array<number>(pp).fill(1);
  const costs: Costs = {
    badge: 'relative',
    unit: 'layer',
    how: '',
    forward: ones,
    backwardInput: ones,
    backwardWeight: ones,
    transfer: new Array<number>(pp - 1).fill(0),
    activationBytes: new Array<null>(pp).fill(null),
  };
  const times: number[] = [];
  let makespan = 0;
  for (let run = 0; run < WARM_UP + RUNS; run++) {
    clearPrograms();
    const began = performance.now();
    const result = pipelineReport(shape, costs);
    if (run >= WARM_UP) times.push(performance.now() - began);
    assert.ok(result.ok);
    makespan = result.report.makespan;
  }
  return { makespan, ms: times.sort((a, b) => a - b)[RUNS >> 1]! };
}
