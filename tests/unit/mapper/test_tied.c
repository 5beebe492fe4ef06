/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_tied.c - layers that have the weights of another one: what they hold of them, marked element
 * by element, and what becomes of the tie. */
#include <config.h>
#include <math.h>
#include "base/alloc.h"
#include "mapper/evaluate/evaluate.h"
#include "mapper/lower/capacity.h"
#include "mapper/lower/lower.h"
#include "mapper/serialize/serializer.h"
#include "mapper/strategies.h"
#include "tests/unit/draw.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"
#include "workloads/fuse/fuse.h"
#include "workloads/models.h"
#include "workloads/workload_write.h"

#define RING4(CAPACITY)                                                                            \
    "name = \"t\"; " MAP_HELP_ACCEL(CAPACITY) "topology = { type = \"ring\"; dims = [4]; "         \
                                              "bandwidth = \"8Gbps\"; latency = \"100ns\"; };"
/* 24 words of 8 channels; pairs of products and of convolutions. One owner comes second. */
#define PAIRS                                                                                      \
    "name = \"net\"; batch = 2; input = { channels = 1; height = 12; width = 1; }; layers = ("     \
    "{ name = \"words\"; type = \"embedding\"; vocabulary = 24; outputs = 8; },"                   \
    "{ name = \"up\"; type = \"matmul\"; columns = 16; weights_of = \"up2\"; },"                   \
    "{ name = \"down\"; type = \"matmul\"; columns = 8; },"                                        \
    "{ name = \"up2\"; type = \"matmul\"; columns = 16; bias = true; },"                           \
    "{ name = \"down2\"; type = \"matmul\"; columns = 8; },"                                       \
    "{ name = \"f\"; type = \"conv\"; outputs = 8; kernel = [3, 1]; padding = [1, 0]; },"          \
    "{ name = \"g\"; type = \"conv\"; outputs = 8; kernel = [3, 1]; padding = [1, 0]; "            \
    "weights_of = \"f\"; },"                                                                       \
    "{ name = \"logits\"; type = \"matmul\"; columns = 24; bias = true; weights_of = \"words\"; }"
#define MORE                                                                                       \
    ", { name = \"again\"; type = \"matmul\"; inputs = \"g\"; columns = 24; "                      \
    "weights_of = \"words\"; }"

enum { ELEMENTS = 1 << 12, ACCELS = 4 };

/* Marks the weights of a part, its number in the order outputs, inputs, kernel rows; how many. */
static int64_t mark(const th_layer *l, const th_loop_box *x, bool *has)
{
    bool is_table = l->kind == TH_LAYER_EMBEDDING;
    int64_t n = 0;
    int32_t outputs = is_table ? l->vocabulary : x->hi[TH_DIM_K];
    for (int32_t k = is_table ? 0 : x->lo[TH_DIM_K]; k < outputs; k++)
        for (int32_t c = x->lo[is_table ? TH_DIM_K : TH_DIM_C];
             c < x->hi[is_table ? TH_DIM_K : TH_DIM_C]; c++)
            for (int32_t r = is_table ? 0 : x->lo[TH_DIM_R]; r < (is_table ? 1 : x->hi[TH_DIM_R]);
                 r++) {
                int32_t inner = is_table ? l->dim[TH_DIM_K] : l->dim[TH_DIM_C];
                bool *at = &has[(k * inner + c) * l->dim[TH_DIM_R] + r];
                n += !*at;
                *at = true;
            }
    return n;
}

static bool rotates(const th_layer *l, const th_strategy *s)
{
    return th_shard_rotating(l, s) == TH_OPERAND_WEIGHT;
}

/* Bytes of parameters on each accelerator: weights that are held for any layer of a tie once (or,
 * in *each, for each of them), 2 bytes each. */
static void expected(const th_workload *w, const th_mapping *m, int64_t *once, int64_t *each)
{
    static bool has[ACCELS][16][ELEMENTS];
    memset(has, 0, sizeof has);
    memset(once, 0, ACCELS * sizeof *once);
    memset(each, 0, ACCELS * sizeof *each);
    for (int i = 0; i < w->n_layers; i++) {
        const th_layer *l = &w->layers[i];
        const th_set *set = &m->sets[m->set_of[i]];
        for (int r = 0; r < set->n_accels; r++) {
            int a = set->accels[r], owner = l->tied_to > 0 ? l->tied_to - 1 : i;
            int64_t bytes = th_shard_weight_bytes(l, &m->strategy[i], set->shares, r);
            th_loop_box x = th_shard_loops(l, 1, &m->strategy[i], set->shares, r);
            each[a] += bytes;
            once[a] += bytes;
            if (th_layer_has_weights(l) && !rotates(l, &m->strategy[i]))
                once[a] += 2 * mark(l, &x, has[a][owner]) - th_shard_weight_piece_bytes(l, &x);
        }
    }
}

static th_mapping *draw_mapping(gsl_rng *r, const th_workload *w)
{
    static const char *const sets[] = {"0123", "3120", "01 23", "2 301", "0 1 23", "0 1 2 3"};
    static const int32_t shares[] = {3, 1, 2, 5};
    th_mapping *m = mapping_on(sets[draw(r, 0, 5)], w);
    for (int i = 0; i < m->n_sets; i++)
        if (draw(r, 0, 2) == 0)
            th_set_share(&m->sets[i], shares);
    for (int i = 0; i < w->n_layers; i++) {
        th_strategy *list;
        m->set_of[i] = draw(r, 0, 3) ? 0 : draw(r, 0, m->n_sets - 1);
        int n = th_strategies_list(&w->layers[i], w->batch, m->sets[m->set_of[i]].n_accels, &list);
        m->strategy[i] = list[draw(r, 0, n - 1)];
        th_free(list);
    }
    return m;
}

/* Exact for pairs; of three, what one has in common with both others may count twice. */
static int compare(const char *text, bool are_pairs, int *n_shared)
{
    th_system *s = system_of(RING4("1GiB"));
    th_workload *w = workload_of(text);
    th_lower *l = th_lower_new(s, w, NULL);
    th_program *p = th_program_new(NULL);
    gsl_rng *r = th_random_stream(5, "tied", are_pairs);
    int n_wrong = 0;
    for (int i = 0; i < 400; i++) {
        th_mapping *m = draw_mapping(r, w);
        int64_t once[ACCELS], each[ACCELS];
        expected(w, m, once, each);
        n_wrong += th_lower_program(l, m, &th_stream_single, p, NULL) != 0;
        for (int a = 0; a < ACCELS; a++) {
            int64_t got = th_lower_weight_bytes(l)[a], sum = 0;
            th_memory_peak held;
            n_wrong += are_pairs ? got != once[a] : got < once[a] || got > each[a];
            *n_shared += got < each[a];
            n_wrong += th_lower_held(l, m, &th_stream_single, a, &held, NULL) != 0;
            for (size_t k = 0; k < held.n; k++)
                sum += held.held[k].kind == TH_HELD_WEIGHTS ? held.held[k].bytes : 0;
            n_wrong += sum != got;
            th_memory_peak_clear(&held);
        }
        th_mapping_free(m);
    }
    gsl_rng_free(r);
    th_program_free(p);
    th_lower_free(l);
    th_workload_free(w);
    th_system_free(s);
    return n_wrong;
}

TEST(weights_that_lie_together_count_once)
{
    int n_shared = 0;
    CU_ASSERT_EQUAL(compare(PAIRS ");", true, &n_shared), 0);
    CU_ASSERT_TRUE(n_shared > 500);
    CU_ASSERT_EQUAL(compare(PAIRS MORE ");", false, &n_shared), 0);
}

/* 24 x 8 words, 8 x 16 up, 16 x 8 twice, 8 x 8 x 3; biases of 16, 24, 8 and 8: 2 bytes each. Three
 * with one table on one accelerator, each kept by the other two in turn. */
TEST(by_hand)
{
    const int64_t all = 2 * (192 + 128 + 2 * 128 + 192 + 56);
    th_system *s = system_of(RING4("1GiB"));
    th_workload *w = workload_of(PAIRS MORE ");");
    th_lower *l = th_lower_new(s, w, NULL);
    th_program *p = th_program_new(NULL);
    th_mapping *m = mapping_on("0 1 2", w);
    for (int i = 0; i < w->n_layers; i++)
        put_layer(m, i, 0, "");
    CU_ASSERT_EQUAL(th_lower_program(l, m, &th_stream_single, p, NULL), 0);
    CU_ASSERT_EQUAL(th_lower_weight_bytes(l)[0], all);
    CU_ASSERT_EQUAL(th_capacity_of_weights(w), all - 2 * (24 + 8)); /* of owners alone */
    CU_ASSERT_EQUAL(2 * th_workload_parameters(w), all);
    put_layer(m, th_workload_find(w, "logits"), 1, ""); /* apart: its own, with 24 biases */
    put_layer(m, th_workload_find(w, "again"), 1, "");
    CU_ASSERT_EQUAL(th_lower_program(l, m, &th_stream_single, p, NULL), 0);
    CU_ASSERT_EQUAL(th_lower_weight_bytes(l)[0], all - 2 * 24);
    CU_ASSERT_EQUAL(th_lower_weight_bytes(l)[1], 2 * (192 + 24));
    th_mapping_free(m);
    th_program_free(p);
    th_lower_free(l);
    th_workload_free(w);
    th_system_free(s);
}

static th_evaluator *evaluator_of(th_problem p, bool no_segments)
{
    th_error e = {"", ""};
    p.no_segments = no_segments;
    th_evaluator *x = th_evaluator_new(&p, &e);
    if (!x)
        bail_out(&e);
    return x;
}

TEST(segments_fit_where_the_whole_fits)
{
    th_system *s = system_of(RING4("2400B"));
    th_workload *w = workload_of(PAIRS MORE ");");
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_evaluator *by_segments = evaluator_of(p, false), *whole = evaluator_of(p, true);
    gsl_rng *r = th_random_stream(6, "tied segments", 0);
    int n_fit = 0, n_wrong = 0, n_all = 300;
    for (int i = 0; i < n_all; i++) {
        th_mapping *m = draw_mapping(r, w);
        th_fitness f, g;
        n_wrong += th_evaluator_run(by_segments, m, INFINITY, &f, NULL) ||
                   th_evaluator_run(whole, m, INFINITY, &g, NULL) || f.fit != g.fit ||
                   f.value != g.value;
        n_fit += g.fit == TH_FIT;
        th_mapping_free(m);
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_fit > n_all / 10 && n_fit < n_all * 9 / 10);
    CU_ASSERT_TRUE(th_evaluator_segments(by_segments).lookups > 0);
    gsl_rng_free(r);
    th_evaluator_free(by_segments);
    th_evaluator_free(whole);
    th_workload_free(w);
    th_system_free(s);
}

/* ---- ties stay ---- */

static const char *owner_of(const th_workload *w, const char *layer)
{
    int at = w ? th_workload_find(w, layer) : -1;
    if (at < 0)
        return "(no layer)";
    const th_layer *l = &w->layers[at];
    return l->tied_to > 0 ? w->layers[l->tied_to - 1].name : "-";
}

static th_strbuf bytes_of(const th_workload *w)
{
    th_serializer out = TH_SERIALIZER_INIT;
    th_serializer_write_workload(&out, w);
    return out.out;
}

TEST(ties_are_part_of_a_problem)
{
    th_workload *w = workload_of(PAIRS ");");
    th_strbuf tied = bytes_of(w);
    th_serializer in = th_serializer_reader(tied.text, tied.length);
    th_workload *back = th_serializer_read_workload(&in, NULL);
    TAP_ASSERT_TEXT(owner_of(back, "logits"), "words");
    TAP_ASSERT_TEXT(owner_of(back, "up"), "up2");
    w->layers[th_workload_find(w, "logits")].tied_to = 0;
    th_strbuf free = bytes_of(w);
    CU_ASSERT_TRUE(tied.length != free.length || memcmp(tied.text, free.text, free.length) != 0);
    th_strbuf_clear(&tied);
    th_strbuf_clear(&free);
    th_workload_free(back);
    th_workload_free(w);
}

/* Written, read, joined with another and fused (gelu goes into up, so numbers change). */
TEST(ties_follow_their_layers)
{
    th_workload *w = workload_of(
        "name = \"net\"; input = { channels = 8; height = 12; width = 1; }; layers = ("
        "{ name = \"head\"; type = \"matmul\"; columns = 8; inputs = \"r\"; weights_of = \"f\"; },"
        "{ name = \"c\"; type = \"conv\"; outputs = 8; inputs = \"input\"; },"
        "{ name = \"r\"; type = \"relu\"; }, { name = \"f\"; type = \"conv\"; outputs = 8; } );");
    th_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL(th_workload_write(w, &text, NULL), 0);
    th_workload *again = workload_of(text.text), *fused = th_workload_fuse(w, NULL);
    th_workload *two = th_models_join(again, w, &(th_model_options){.name = "b"}, NULL);
    TAP_ASSERT_TEXT(owner_of(w, "head"), "f");
    TAP_ASSERT_TEXT(owner_of(again, "head"), "f");
    TAP_ASSERT_TEXT(owner_of(fused, "head"), "f");
    CU_ASSERT_EQUAL(fused->n_layers, 3);
    TAP_ASSERT_TEXT(owner_of(two, "net/head"), "net/f");
    TAP_ASSERT_TEXT(owner_of(two, "b/head"), "b/f");
    CU_ASSERT_EQUAL(th_workload_parameters(two), 4 * 72);
    th_strbuf_clear(&text);
    th_workload_free(two);
    th_workload_free(fused);
    th_workload_free(again);
    th_workload_free(w);
}

TAP_MAIN("tied")
