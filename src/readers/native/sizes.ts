/**
 * The two products that tie a plan's sizes together: GPUs = pipeline x tensor x context x data, and global batch =
 * micro batch x data x microbatches. What is written is never changed, and stays unknown where it is not legal; what
 * the products determine is derived, except for the pipeline size, which a plan must say; what contradicts them is a
 * finding with every place that takes part in it.
 */

import type { Finding, RelatedPlace } from '../../model/finding.ts';
import type { FindingCode } from '../../model/finding-codes.ts';
import type { PlanKey } from '../../model/plan.ts';
import { derived, rangeOf, type Sourced, type TextRange } from '../../model/source.ts';
import { finding } from '../limits.ts';

export interface Sizes {
  readonly pp: Sourced<number>;
  readonly tp: Sourced<number>;
  readonly cp: Sourced<number>;
  readonly dp: Sourced<number>;
  readonly gpus: Sourced<number>;
  readonly microBatchSize: Sourced<number>;
  readonly globalBatchSize: Sourced<number>;
  readonly microbatches: Sourced<number>;
}

type SizeKey = keyof Sizes & PlanKey;

const NATIVE_NAMES: Readonly<Record<SizeKey, string>> = {
  pp: 'pipeline.size',
  tp: 'parallel.tensor',
  cp: 'parallel.context',
  dp: 'parallel.data',
  gpus: 'cluster.gpus',
  microBatchSize: 'batch.micro',
  globalBatchSize: 'batch.global',
  microbatches: 'pipeline.microbatches',
};

export interface Product {
  readonly total: SizeKey;
  readonly factors: readonly SizeKey[];
  readonly notDivisible: FindingCode;
}

export const GPU_PRODUCT: Product = {
  total: 'gpus',
  factors: ['tp', 'pp', 'cp', 'dp'],
  notDivisible: 'world-size-not-divisible',
};

export const BATCH_PRODUCT: Product = {
  total: 'globalBatchSize',
  factors: ['microBatchSize', 'dp', 'microbatches'],
  notDivisible: 'batch-not-divisible',
};

/** Derives every size that the written ones determine. `anchor` is where a finding goes whose total has no token. */
export function settleSizes(written: Sizes, anchor: TextRange): { sizes: Sizes; findings: readonly Finding[] } {
  const sizes: Record<SizeKey, Sourced<number>> = { ...written };
  const findings: Finding[] = [];
  const contradicted = new Set<Product>();
  for (const product of [GPU_PRODUCT, BATCH_PRODUCT, GPU_PRODUCT]) {
    if (contradicted.has(product)) continue;
    const problem = settle(sizes, product, anchor);
    if (problem === null) continue;
    contradicted.add(product);
    findings.push(problem);
  }
  return { sizes, findings };
}

/** Whether the products may give it: it is not written, not even wrongly. */
function isDerivable(key: SizeKey, size: Sourced<number>): boolean {
  return key !== 'pp' && size.value === null && size.source.range === undefined;
}

function settle(sizes: Record<SizeKey, Sourced<number>>, product: Product, anchor: TextRange): Finding | null {
  const known = product.factors.filter((key) => sizes[key].value !== null);
  const open = product.factors.filter((key) => sizes[key].value === null);
  const divisor = known.reduce((result, key) => result * sizes[key].value!, 1);
  const total = sizes[product.total].value;
  if (total === null) {
    if (open.length === 0 && Number.isSafeInteger(divisor) && isDerivable(product.total, sizes[product.total])) {
      sizes[product.total] = derived(divisor, known.map((key) => sizes[key].value).join(' x '), known);
    }
    return null;
  }
  if (total % divisor !== 0 || (open.length === 0 && total !== divisor)) {
    return contradiction(sizes, product, known, divisor, open.length === 0, anchor);
  }
  const rest = total / divisor;
  if ((open.length !== 1 && rest !== 1) || !open.every((key) => isDerivable(key, sizes[key]))) return null;
  const how = `${total} / ${known.length === 1 ? divisor : `(${known.map((key) => sizes[key].value).join(' x ')})`}`;
  for (const key of open) sizes[key] = derived(rest, how, [product.total, ...known]);
  return null;
}

function contradiction(
  sizes: Readonly<Record<SizeKey, Sourced<number>>>,
  product: Product,
  known: readonly SizeKey[],
  divisor: number,
  complete: boolean,
  anchor: TextRange,
): Finding {
  const total = `${NATIVE_NAMES[product.total]} is ${sizes[product.total].value}`;
  const factors = known.map((key) => `${NATIVE_NAMES[key]} ${sizes[key].value}`).join(' x ');
  const result = known.length === 1 ? factors : `${factors} = ${divisor}`;
  const message = complete ? `${total}, but ${result}` : `${total}, which does not divide by ${result}`;
  const related = known.flatMap((key): readonly RelatedPlace[] => {
    const range = rangeOf(sizes[key]);
    return range === null ? [] : [{ message: `${NATIVE_NAMES[key]} is ${sizes[key].value}`, range }];
  });
  return finding(
    complete ? 'options-conflict' : product.notDivisible,
    message,
    rangeOf(sizes[product.total]) ?? anchor,
    related,
  );
}
