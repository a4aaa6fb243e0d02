/** Configs of 500 lines at pp 16, vpp 4: what the measurements in the editor type into. */

const LINES = 500;
const RANKS = 16;
const CHUNKS = 4;

/** A native file that gives every stage's times; the first stage's forward time is the one given. */
export function nativeConfig(microbatches: number, forwardMs: number): string {
  const stages = Array.from({ length: RANKS * CHUNKS }, (_, stage) => [
    `  - layers: ${stage % 16 === 15 ? 1 : 2}`,
    `    forwardMs: ${stage === 0 ? forwardMs : 10.4 + (stage % 7) / 10}`,
    '    backwardInputMs: 10.2',
    '    backwardWeightMs: 7.7',
    '    activationBytes: 1.2e9',
  ]);
  return padded([
    'bubblelens: 1',
    'name: measured in the editor',
    `pipeline: { size: ${RANKS}, schedule: interleaved-1f1b, virtualStages: ${CHUNKS}, microbatches: ${microbatches} }`,
    'parallel: { tensor: 8, data: 4 }',
    'cluster: { gpus: 512, usdPerGpuHour: 2.5 }',
    'transfer: { ms: 0.4 }',
    'stages:',
    ...stages.flat(),
  ]);
}

/** A short native file whose order is searched for, which takes long. */
export function searchedConfig(schedule: string, pp: number, vpp: number, microbatches: number): string {
  return [
    'bubblelens: 1',
    `pipeline: { size: ${pp}, schedule: ${schedule}, virtualStages: ${vpp}, microbatches: ${microbatches} }`,
    `model: { layers: ${2 * pp * vpp} }`,
    'transfer: { ms: 0.4 }',
    '',
  ].join('\n');
}

/** A file of 500 lines that is nobody's: what the editor itself does at a keystroke. */
export function foreignConfig(): string {
  return padded(['services:', '  web:', '    replicas: 4']);
}

/** A Megatron-LM launch script of the same size. */
export function megatronConfig(microbatches: number): string {
  return padded([
    '#!/bin/bash',
    'MODEL_ARGS=(',
    '  --num-layers 128 --hidden-size 8192 --num-attention-heads 64 --seq-length 4096 --max-position-embeddings 4096',
    '  --vocab-size 128256',
    ')',
    `torchrun --nproc_per_node 8 --nnodes 64 pretrain_gpt.py "\${MODEL_ARGS[@]}" \\`,
    `  --tensor-model-parallel-size 8 --pipeline-model-parallel-size ${RANKS} \\`,
    '  --num-layers-per-virtual-pipeline-stage 2 \\',
    `  --micro-batch-size 1 --global-batch-size ${microbatches * 4}`,
  ]);
}

function padded(lines: readonly string[]): string {
  const comments = Array.from({ length: LINES - lines.length }, (_, i) => `# note ${i}: why this is as it is`);
  return [...lines, ...comments, ''].join('\n');
}
