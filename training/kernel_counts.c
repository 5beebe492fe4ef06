/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_counts.c - see kernel_counts.h. Counted in the source of Megatron-LM (of 2022,
 * model/transformer.py and fused_softmax.py, for eager and unfused ones; of later releases, with
 * their fusions, for fused ones), one for each operation of PyTorch that computes; views launch
 * nothing. */
#include <config.h>
#include "training/kernel_counts.h"

typedef struct kernel_count {
    int8_t forward, backward;
} kernel_count;

static int32_t pick(kernel_count n, bool is_backward)
{
    return is_backward ? n.backward : n.forward;
}

/* Norm: one kernel; backward one for its input and one for its weights. Residual: bias, dropout,
 * sum. Heads: a copy in front of the scores' product and one behind the other; backward those, and
 * the gradients of three parts put together. Rotary: of queries and keys, each turned half, two
 * products, a sum. Activation: bias and function, or function and product. Gradient: sum of a bias,
 * then both added up. Message,
 * eager: what the calls around it take (a buffer, a batch of sends and receives,
 * torch.cuda.synchronize) in launches; fitted. */
static const struct {
    kernel_count fused, eager;
} counts[TH_N_KERNEL_PARTS] = {
    [TH_KERNELS_NORM] = {{1, 2}, {1, 2}},       [TH_KERNELS_RESIDUAL] = {{1, 1}, {3, 3}},
    [TH_KERNELS_HEADS] = {{1, 1}, {2, 4}},      [TH_KERNELS_ROTARY] = {{1, 1}, {8, 8}},
    [TH_KERNELS_ACTIVATION] = {{1, 1}, {2, 3}}, [TH_KERNELS_GRADIENT] = {{0, 0}, {0, 3}},
    [TH_KERNELS_MESSAGE] = {{1, 1}, {12, 12}},
};

int32_t th_kernels_of(const th_parallel_plan *p, th_kernel_part part, bool is_backward)
{
    return pick(p->has_fused_kernels ? counts[part].fused : counts[part].eager, is_backward);
}

/* Fused: one, backward three (dO O, the gradients, their cast: FlashAttention). Else two products,
 * backward four; scores are scaled, masked and normalized, in 16 bits cast before and behind, or
 * one kernel does all of it; dropout. */
static const kernel_count attention_counts[] = {[TH_ATTENTION_FUSED] = {1, 3},
                                                [TH_ATTENTION_PORTABLE] = {1, 3},
                                                [TH_ATTENTION_UNFUSED] = {2 + 3, 4 + 3},
                                                [TH_ATTENTION_SOFTMAX] = {2 + 1, 4 + 1}};

static bool has_32_bits(const th_parallel_plan *p)
{
    return th_plan_number_bytes(p) > 2;
}

int32_t th_kernels_of_attention(const th_parallel_plan *p, const th_transformer *t,
                                th_attention attention, bool is_backward)
{
    const bool casts = attention == TH_ATTENTION_UNFUSED && !has_32_bits(p);
    const bool drops = attention >= TH_ATTENTION_UNFUSED && !t->no_attention_dropout;
    return pick(attention_counts[attention], is_backward) + (casts ? 2 : 0) + (drops ? 1 : 0);
}

/* is_kernel_available of Megatron-LM's fused_softmax.py: 16 bits, four rows of scores to a block.
 * The vendor's kernels and FlashAttention have 16 bits, others (PyTorch's memory-efficient
 * attention, Triton) 32, too. */
th_attention th_attention_of(const th_parallel_plan *p, int32_t heads)
{
    enum { ROWS = 4, SEQUENCE_LEAST = 17, SEQUENCE_MOST = 2048 };
    int32_t n = p->batch.sequence;
    if (p->attention == TH_ATTENTION_FUSED && has_32_bits(p))
        return TH_ATTENTION_PORTABLE;
    if (p->attention != TH_ATTENTION_SOFTMAX)
        return p->attention;
    bool fits = !has_32_bits(p) && n >= SEQUENCE_LEAST && n <= SEQUENCE_MOST && n % ROWS == 0 &&
                (int64_t)p->batch.micro_batch * heads % ROWS == 0;
    return fits ? TH_ATTENTION_SOFTMAX : TH_ATTENTION_UNFUSED;
}

th_training_number th_launch_number(const th_parallel_plan *p)
{
    static const th_training_number numbers[] = {[TH_LAUNCH_PYTHON] = TH_NUMBER_HOST_PYTHON,
                                                 [TH_LAUNCH_COMPILED] = TH_NUMBER_HOST_KERNEL,
                                                 [TH_LAUNCH_GRAPH] = TH_NUMBER_HOST_GRAPH};
    if (p->launch == TH_LAUNCH_AUTO)
        return p->has_fused_kernels ? TH_NUMBER_HOST_KERNEL : TH_NUMBER_HOST_PYTHON;
    return numbers[p->launch];
}
