/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_transformer.c - parameters of published language models against the printed counts, and
 * operations by hand. */
#include <config.h>
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"
#include "workloads/transformer/transformer.h"

TEST(parameters_as_published)
{
    int n_exact = 0;
    for (const th_transformer_preset *p = th_transformer_presets; p->shape.name; p++) {
        int64_t n = transformer_parameters(&p->shape);
        double off = (double)n / (double)p->published - 1;
        if (!(fabs(off) <= p->tolerance))
            TAP_ASSERT_TEXT(p->shape.name, "within its tolerance");
        CU_ASSERT_TRUE(fabs(off) <= p->tolerance);
        CU_ASSERT_EQUAL(th_transformer_check(&p->shape, NULL), 0);
        n_exact += n == p->published;
    }
    CU_ASSERT_TRUE(n_exact >= 15);
}

/* Two layers of width 8, 2 heads of 4, one head of keys: attention 8 x 4 (2 + 2) + 8 x 8 = 192; a
 * gated network of 16: 3 x 8 x 16 = 384; vocabulary 10: 80. Products: 2 (192 + 384) + 80 = 1232. */
static const th_transformer small = {.name = "small",
                                     .layers = 2,
                                     .hidden = 8,
                                     .heads = 2,
                                     .kv_heads = 1,
                                     .head_dim = 4,
                                     .ffn = 16,
                                     .vocab = 10,
                                     .gated = true,
                                     .norm_size = 1,
                                     .window_every = 1};

TEST(a_model_by_hand)
{
    CU_ASSERT_EQUAL(th_transformer_active_weights(&small), 1232);
    CU_ASSERT_EQUAL(transformer_parameters(&small), 1232 + 80 + 5 * 8);
    /* keys that a query meets: (5 + 1) / 2 of 5; with a window of 2, (1 + 2 + 2 + 2 + 2) / 5 */
    CU_ASSERT_DOUBLE_EQUAL(th_transformer_keys(&small, 0, 5), 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(th_transformer_operations(&small, 5, true), 6 * 1232 + 2 * 12 * 8 * 3,
                           1e-9);
    CU_ASSERT_DOUBLE_EQUAL(th_transformer_operations(&small, 5, false), 6 * 1232 + 2 * 12 * 8 * 5,
                           1e-9);
    th_transformer t = small;
    t.window = 2;
    CU_ASSERT_DOUBLE_EQUAL(th_transformer_keys(&t, 0, 5), 1.8, 1e-12);
    t.window_every = 2;
    CU_ASSERT_DOUBLE_EQUAL(th_transformer_keys(&t, 1, 5), 3, 1e-12);
}

/* The second layer has 4 experts of width 6, of which a token passes 2, and a shared one of 3:
 * experts of 144 weights, shared 72, router 32. */
TEST(experts_by_hand)
{
    th_transformer t = small;
    t.experts = (th_experts){.n = 4, .top_k = 2, .ffn = 6, .shared_ffn = 3, .dense_layers = 1};
    CU_ASSERT_EQUAL(th_transformer_active_weights(&t), 192 + 384 + 192 + 2 * 144 + 72 + 32 + 80);
    CU_ASSERT_EQUAL(th_transformer_layer_parameters(&t, 1), 192 + 4 * 144 + 72 + 32 + 16);
}

/* A layer of attention, with a window of 2 and one key for 2; one of a dense network of 4; one
 * of states: 100 weights of products, 7 parameters besides, 50 operations of a token. */
TEST(kinds_by_hand)
{
    th_transformer t = small;
    t.layers = 4, t.n_kinds = t.n_pattern = 3;
    t.kinds[0] = (th_transformer_kind){
        .name = "a", .heads = 2, .kv_heads = 1, .head_dim = 4, .window = 2, .ratio = 2, .index = 3};
    t.kinds[1] = (th_transformer_kind){.name = "f", .ffn = 4};
    t.kinds[2] =
        (th_transformer_kind){.name = "s", .weights = 100, .parameters = 7, .operations = 50};
    t.pattern[1] = 1, t.pattern[2] = 2;
    CU_ASSERT_EQUAL(th_transformer_check(&t, NULL), 0);
    CU_ASSERT_EQUAL(th_transformer_layer_parameters(&t, 0), 192 + 8);
    CU_ASSERT_EQUAL(th_transformer_layer_parameters(&t, 1), 96 + 8);
    CU_ASSERT_EQUAL(th_transformer_layer_parameters(&t, 2), 100 + 7 + 8);
    CU_ASSERT_EQUAL(th_transformer_layer_parameters(&t, 3), 192 + 8);
    CU_ASSERT_EQUAL(th_transformer_parameters(&t), transformer_parameters(&t));
    CU_ASSERT_EQUAL(th_transformer_active_weights(&t), 2 * 192 + 96 + 100 + 80);
    /* 1.8 of the last two, 3 / 2 of the others; these are scored by products of 3 */
    CU_ASSERT_DOUBLE_EQUAL(th_transformer_keys(&t, 0, 5), 1.8 + 1.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(th_transformer_operations(&t, 5, true),
                           6 * 660 + 2 * (12 * 8 * 3.3 + 3 * 2 * 3 * 1.5) + 3 * 50, 1e-9);
}

/* The forward pass has the model's parameters, and norms over all heads; and its products: active
 * weights for each token, attention of every query with every key that it sees, twice; so they are
 * a third of the operations of a step. */
TEST(forward_pass_of_presets)
{
    enum { SEQUENCE = 64, BATCH = 2 };
    int n_made = 0;
    th_error err;
    for (const th_transformer_preset *p = th_transformer_presets; p->shape.name; p++) {
        const th_transformer *t = &p->shape;
        th_workload *w = th_transformer_forward(
            t, &(th_forward_options){.sequence = SEQUENCE, .batch = BATCH, .precision = TH_BF16},
            &err);
        if (t->experts.n > 0 || t->latent.kv_rank > 0) {
            CU_ASSERT_PTR_NULL(w);
            TAP_ASSERT_TEXT(err.id, t->experts.n > 0 ? "WORK-0406" : "WORK-0407");
            continue;
        }
        CU_ASSERT_PTR_NOT_NULL_FATAL(w);
        int64_t d = t->head_dim, heads = t->heads + t->kv_heads;
        int64_t more = -t->other;
        if (t->has_qk_norm)
            more += t->layers * (heads - 2) * d * t->norm_size;
        CU_ASSERT_EQUAL(parameters_of(w), transformer_parameters(t) + more);
        double attention = 0;
        for (int32_t i = 0; i < t->layers; i++)
            attention += (double)t->heads * 2 * d * SEQUENCE * th_transformer_keys(t, i, SEQUENCE);
        double macs = BATCH * (SEQUENCE * (double)th_transformer_active_weights(t) + attention);
        CU_ASSERT_EQUAL(th_workload_macs(w), (int64_t)(macs + 0.5));
        CU_ASSERT_DOUBLE_EQUAL(
            macs, BATCH * SEQUENCE * th_transformer_operations(t, SEQUENCE, true) / 6, 1e-9 * macs);
        th_workload_free(w);
        n_made++;
    }
    CU_ASSERT_TRUE(n_made >= 25);
}

static const char *refused(th_transformer t, th_error *err)
{
    *err = (th_error){.id = ""};
    CU_ASSERT_EQUAL(th_transformer_check(&t, err), -1);
    return err->id;
}

TEST(shapes_that_do_not_fit)
{
    th_error err;
    th_transformer t = small;
    t.vocab = 0;
    TAP_ASSERT_TEXT(refused(t, &err), "WORK-0400");
    TAP_ASSERT_TEXT(err.text, "-vocab: must be at least 1");
    t = small, t.heads = 3, t.kv_heads = 2;
    TAP_ASSERT_TEXT(refused(t, &err), "WORK-0401");
    t = small, t.ffn = 0;
    TAP_ASSERT_TEXT(refused(t, &err), "WORK-0402");
    t = small, t.experts = (th_experts){.n = 4, .top_k = 5, .ffn = 6};
    TAP_ASSERT_TEXT(refused(t, &err), "WORK-0403");
    t.experts.top_k = 2, t.experts.ffn = 0;
    TAP_ASSERT_TEXT(refused(t, &err), "WORK-0404");
    t.experts.ffn = 6, t.experts.dense_layers = 3;
    TAP_ASSERT_TEXT(refused(t, &err), "WORK-0405");
}

TAP_MAIN("transformer")
