#!/bin/bash
# A heavy last stage: an 8B model with a vocabulary of 128256 words, on 8 pipeline ranks.
#
# Look at: the hover on `--pipeline-model-parallel-size`. The output head costs as much as two layers, the last rank
# holds it beside its 4 layers, and seven ranks wait for it in every microbatch: that is the imbalance.
# Try: --decoder-first-pipeline-num-layers 5 and --decoder-last-pipeline-num-layers 3: half of it is gone.

GPUS_PER_NODE=8
NUM_NODES=8

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
)

MODEL_ARGS=(
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --swiglu
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --seq-length 8192
    --max-position-embeddings 8192
    --vocab-size 128256
    --untie-embeddings-and-output-weights
)

PARALLEL_ARGS=(
    --tensor-model-parallel-size 1
    --pipeline-model-parallel-size 8
)

TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1024      # 8 replicas: 128 microbatches each
    --train-iters 100000
    --bf16
)

torchrun "${DISTRIBUTED_ARGS[@]}" pretrain_gpt.py \
    "${MODEL_ARGS[@]}" \
    "${PARALLEL_ARGS[@]}" \
    "${TRAINING_ARGS[@]}"
