#!/bin/bash
# An interleaved plan: a 175B model with Megatron-LM, 8 pipeline ranks that hold 4 small stages each instead of one
# large one. The pipeline fills and drains a stage at a time, so both take a quarter of the time.
#
# Look at: the timeline. The pale and the dark blocks of a rank are its stages; the gaps at both ends are short.
# Try: delete the line --num-layers-per-virtual-pipeline-stage: the plan becomes plain 1F1B, and the idle share
# of its schedule grows from 5.2 % to 17.9 %.

GPUS_PER_NODE=8
NUM_NODES=16

MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --vocab-size 51200
)

PARALLEL_ARGS=(
    --tensor-model-parallel-size 8
    --pipeline-model-parallel-size 8
    --num-layers-per-virtual-pipeline-stage 3    # 96 / 8 ranks / 3 = 4 stages on each rank
    --sequence-parallel
)

TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 64        # 2 replicas: 32 microbatches each
    --train-iters 100000
    --bf16
)

torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES pretrain_gpt.py \
    "${MODEL_ARGS[@]}" "${PARALLEL_ARGS[@]}" "${TRAINING_ARGS[@]}"
