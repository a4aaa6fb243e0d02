#!/bin/bash
# A launch that Megatron-LM refuses: 94 layers do not divide over 8 pipeline ranks.
#
# Look at: the squiggle. Without it, the job would wait in the queue, start, and stop at the first assertion.
# Try: --decoder-first-pipeline-num-layers 13 and --decoder-last-pipeline-num-layers 9. The six ranks between hold 12
# layers each, and the last one has less to do beside the output head, which costs as much as three layers.

GPUS_PER_NODE=8
NUM_NODES=${NUM_NODES:-32}

MODEL_ARGS=(
    --num-layers 94
    --hidden-size 4096
    --ffn-hidden-size 12288
    --swiglu
    --num-attention-heads 64
    --kv-channels 128
    --group-query-attention
    --num-query-groups 4
    --seq-length 4096
    --max-position-embeddings 40960
    --vocab-size 151936
    --untie-embeddings-and-output-weights
)

MOE_ARGS=(
    --num-experts 128
    --moe-router-topk 8
    --moe-ffn-hidden-size 1536
)

PARALLEL_ARGS=(
    --tensor-model-parallel-size 4
    --pipeline-model-parallel-size 8
    --expert-model-parallel-size 8
    --sequence-parallel
)

TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1024
    --train-iters 50000
    --bf16
)

torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES pretrain_gpt.py \
    "${MODEL_ARGS[@]}" "${MOE_ARGS[@]}" "${PARALLEL_ARGS[@]}" "${TRAINING_ARGS[@]}"
