/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_step_precision.c - steps in 32 bits: memory and messages by hand, products against the law,
 * kernels of attention, what is refused. */
#include <config.h>
#include "predictor/law/law.h"
#include "tests/unit/tap.h"
#include "tests/unit/training/plan_help.h"
#include "training/kernel_counts.h"
#include "training/plan_memory.h"
#include "training/plan_step.h"

enum { HIDDEN = 512, FFN = 2048, HEADS = 8, VOCAB = 1000, LAYERS = 12, SEQUENCE = 1024 };
enum { TENSOR = 2, REPLICAS = 4, TOKENS = 2 * SEQUENCE };

static th_transformer model_of(bool has_dropout)
{
    return (th_transformer){.name = "m",
                            .layers = LAYERS,
                            .hidden = HIDDEN,
                            .heads = HEADS,
                            .kv_heads = HEADS,
                            .head_dim = HIDDEN / HEADS,
                            .ffn = FFN,
                            .vocab = VOCAB,
                            .norm_size = 1,
                            .positions = 1,
                            .no_attention_dropout = !has_dropout,
                            .window_every = 1};
}

static th_parallel_plan plan_of(th_train_precision precision, th_attention attention)
{
    return (th_parallel_plan){.n = {TENSOR, 1, 1, 1, REPLICAS, 1, 1, 1, REPLICAS},
                              .batch = {SEQUENCE, 2, 2 * REPLICAS},
                              .order = {0, 1, 2, 3},
                              .schedule = th_pipeline_find("1f1b"),
                              .precision = precision,
                              .attention = attention,
                              .sequence_parallel = true,
                              .gradient_bytes = 4,
                              .expert_skew = 1};
}

static th_work_context context_of(const th_transformer *t, const th_parallel_plan *p,
                                  const char *design)
{
    th_error err;
    th_work_context c = {.t = t, .p = p, .numbers = th_training_numbers_shipped()};
    c.device = (th_training_device){.operations_per_s = 989.4e12, .bytes_per_s = 3.35e12};
    CU_ASSERT_EQUAL_FATAL(
        th_training_device_find(&c.device, design, (th_design_device){.is_core = true}, &err), 0);
    return c;
}

/* A rank's parameters: of a layer 12 h^2 and two norms, the tables, the last norm. 16 h numbers of
 * a token are kept (arXiv 2205.05198); of a score what the softmax made, what dropout left of it,
 * and a byte of its mask. */
TEST(memory_by_hand)
{
    static const struct {
        th_train_precision precision;
        th_attention attention;
        bool has_dropout;
        int number, states, score;
    } rows[] = {{TH_TRAIN_BF16, TH_ATTENTION_FUSED, true, 2, 12, 0},
                {TH_TRAIN_BF16, TH_ATTENTION_UNFUSED, true, 2, 12, 5},
                {TH_TRAIN_BF16, TH_ATTENTION_UNFUSED, false, 2, 12, 2},
                {TH_TRAIN_FP32, TH_ATTENTION_FUSED, true, 4, 8, 0},
                {TH_TRAIN_TF32, TH_ATTENTION_SOFTMAX, true, 4, 8, 9},
                {TH_TRAIN_FP32, TH_ATTENTION_UNFUSED, false, 4, 8, 4}};
    const int64_t n =
        (LAYERS * (12 * HIDDEN * HIDDEN + 2 * HIDDEN) + 2 * VOCAB * HIDDEN + 2 * HIDDEN) / TENSOR;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        th_error err;
        const th_transformer t = model_of(rows[i].has_dropout);
        const th_parallel_plan p = plan_of(rows[i].precision, rows[i].attention);
        const th_work_context c = context_of(&t, &p, "h100");
        th_pipeline_schedule s;
        CU_ASSERT_EQUAL_FATAL(th_pipeline_make(p.schedule, &(th_pipeline_shape){1, 1, 1}, &s, &err),
                              0);
        const th_plan_memory m = th_plan_memory_of(&c, &s, 0);
        const int64_t number = rows[i].number;
        CU_ASSERT_EQUAL(m.of[TH_MEMORY_WEIGHTS], number * n);
        CU_ASSERT_EQUAL(m.of[TH_MEMORY_GRADIENTS], 4 * n);
        CU_ASSERT_EQUAL(m.of[TH_MEMORY_STATES], rows[i].states * n / REPLICAS);
        CU_ASSERT_EQUAL(m.of[TH_MEMORY_ACTIVATIONS],
                        LAYERS * (number * 16 * TOKENS * HIDDEN / TENSOR +
                                  (int64_t)rows[i].score * TOKENS * SEQUENCE * HEADS / TENSOR));
        CU_ASSERT_EQUAL(m.of[TH_MEMORY_BUFFERS], (number + 4) * TOKENS * VOCAB / TENSOR);
        th_pipeline_clear(&s);
    }
}

/* Forward, on one rank of two: queries, keys and values; output; up; down. */
TEST(products_follow_the_law)
{
    static const double shapes[][2] = {/* inner, columns */
                                       {HIDDEN, 3 * HIDDEN / 2.},
                                       {HIDDEN / 2., HIDDEN},
                                       {HIDDEN, FFN / 2.},
                                       {FFN / 2., HIDDEN}};
    static const struct {
        th_train_precision precision;
        th_op_precision of;
    } rows[] = {{TH_TRAIN_BF16, TH_PRECISION_BF16},
                {TH_TRAIN_TF32, TH_PRECISION_TF32},
                {TH_TRAIN_FP32, TH_PRECISION_FP32}};
    double before = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const th_transformer t = model_of(true);
        const th_parallel_plan p = plan_of(rows[i].precision, TH_ATTENTION_FUSED);
        const th_work_context c = context_of(&t, &p, "h100");
        th_pieces pieces;
        double got = 0, law = 0;
        int64_t bytes = 0;
        th_layer_work(&c, 0, TH_PIPELINE_FORWARD, false, &pieces);
        for (int k = 0; k < pieces.n; k++) {
            got += pieces.of[k].part_s[TH_WORK_PRODUCTS];
            bytes += pieces.of[k].bytes;
        }
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            law += th_law_product_ms(&c.device.gpu, rows[i].of, 1, TOKENS, shapes[k][0],
                                     shapes[k][1]) /
                   1e3 / c.numbers.of[TH_NUMBER_CLOCK];
        CU_ASSERT_DOUBLE_EQUAL(got, law, 1e-12);
        CU_ASSERT_TRUE(law > before);
        before = law;
        /* two all-gathers and two reduce-scatters of the tokens; half of them to another stage */
        const int64_t number = th_plan_number_bytes(&p);
        CU_ASSERT_EQUAL(bytes, 4 * number * TOKENS * HIDDEN);
        CU_ASSERT_EQUAL(th_boundary_bytes(&c), number * TOKENS * HIDDEN / TENSOR);
    }
}

/* The vendor's attention has 16 bits, and so has the kernel that masks and normalizes. Scale, mask
 * and softmax without casts, dropout. */
TEST(kernels_of_attention)
{
    const th_transformer with = model_of(true), without = model_of(false);
    const th_parallel_plan wide = plan_of(TH_TRAIN_TF32, TH_ATTENTION_FUSED);
    const th_parallel_plan softmax = plan_of(TH_TRAIN_FP32, TH_ATTENTION_SOFTMAX);
    const th_parallel_plan narrow = plan_of(TH_TRAIN_FP16, TH_ATTENTION_SOFTMAX);
    CU_ASSERT_EQUAL(th_attention_of(&wide, 4), TH_ATTENTION_PORTABLE);
    CU_ASSERT_EQUAL(th_attention_of(&softmax, 4), TH_ATTENTION_UNFUSED);
    CU_ASSERT_EQUAL(th_attention_of(&narrow, 4), TH_ATTENTION_SOFTMAX);
    CU_ASSERT_EQUAL(th_kernels_of_attention(&softmax, &with, TH_ATTENTION_UNFUSED, false), 6);
    CU_ASSERT_EQUAL(th_kernels_of_attention(&softmax, &without, TH_ATTENTION_UNFUSED, true), 7);
    CU_ASSERT_EQUAL(th_kernels_of_attention(&narrow, &with, TH_ATTENTION_UNFUSED, false), 8);
    CU_ASSERT_EQUAL(th_kernels_of_attention(&narrow, &without, TH_ATTENTION_SOFTMAX, false), 3);
}

/* In 16 bits 34 bytes of a parameter, in 32 bits 32; products of TF32 take twice the energy. */
TEST(optimizer_and_energy)
{
    const th_transformer t = model_of(true);
    const th_design_energy e = {.is_known = true, .mac_j = {[TH_FP32] = 9, [TH_BF16] = 1}};
    const th_parallel_plan bf16 = plan_of(TH_TRAIN_BF16, TH_ATTENTION_FUSED);
    const th_parallel_plan tf32 = plan_of(TH_TRAIN_TF32, TH_ATTENTION_FUSED);
    const th_parallel_plan fp32 = plan_of(TH_TRAIN_FP32, TH_ATTENTION_FUSED);
    const th_work_context c = context_of(&t, &bf16, "h100"), d = context_of(&t, &fp32, "h100");
    CU_ASSERT_DOUBLE_EQUAL(th_optimizer_s(&c, 1 << 20) / th_optimizer_s(&d, 1 << 20), 34 / 32.,
                           1e-12);
    const double one = th_step_joules(&e, &t, &bf16, 0);
    CU_ASSERT_DOUBLE_EQUAL(th_step_joules(&e, &t, &tf32, 0), 2 * one, 1e-9 * one);
    CU_ASSERT_DOUBLE_EQUAL(th_step_joules(&e, &t, &fp32, 0), 9 * one, 1e-9 * one);
}

TEST(gradients_of_fewer_bits_are_refused)
{
    th_error err;
    const th_transformer t = model_of(true);
    th_parallel_plan p = plan_of(TH_TRAIN_TF32, TH_ATTENTION_FUSED);
    CU_ASSERT_EQUAL(th_plan_check(&p, &t, TENSOR * REPLICAS, &err), 0);
    p.gradient_bytes = 2;
    CU_ASSERT_EQUAL(th_plan_check(&p, &t, TENSOR * REPLICAS, &err), -1);
    TAP_ASSERT_TEXT(err.text, "-gradients 16bit: in tf32 must be fp32");
}

TAP_MAIN("step_precision")
