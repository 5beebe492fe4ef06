/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_tied.c - layers that have the weights of another one: what they hold of them, marked element
 * by element, and what becomes of the tie. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/lower/capacity.h"
#include "mapper/lower/lower_state.h"
#include "mapper/serialize/serializer.h"
#include "mapper/strategies.h"
#include "tests/unit/draw.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"
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
    static const char *const sets[] = {"0123",    "3120",      "01 23",    "2 301",   "0 1 23",
                                       "0 1 2 3", "0123 20 3", "21 10 12", "3 30 012"};
    static const int32_t shares[] = {3, 1, 2, 5};
    th_mapping *m = mapping_on(sets[draw(r, 0, 8)], w);
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
    auto_system *s = system_of(RING4("1GiB"));
    auto_workload *w = workload_of(text);
    auto_lower *l = th_lower_new(s, w, NULL);
    auto_program *p = th_program_new(NULL);
    auto_rng *r = th_random_stream(5, "tied", are_pairs);
    int n_wrong = 0;
    for (int i = 0; i < 400; i++) {
        auto_mapping *m = draw_mapping(r, w);
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
    }
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
    auto_system *s = system_of(RING4("1GiB"));
    auto_workload *w = workload_of(PAIRS MORE ");");
    auto_lower *l = th_lower_new(s, w, NULL);
    auto_program *p = th_program_new(NULL);
    auto_mapping *m = mapping_on("0 1 2", w);
    for (int i = 0; i < w->n_layers; i++)
        put_layer(m, i, 0, "");
    CU_ASSERT_EQUAL(th_lower_program(l, m, &th_stream_single, p, NULL), 0);
    CU_ASSERT_EQUAL(th_lower_weight_bytes(l)[0], all);
    CU_ASSERT_EQUAL(th_capacity_of_weights(w), all - 2 * (24 + 8)); /* of owners alone */
    CU_ASSERT_EQUAL(2 * parameters_of(w), all);
    put_layer(m, th_workload_find(w, "logits"), 1, ""); /* apart: its own, with 24 biases */
    put_layer(m, th_workload_find(w, "again"), 1, "");
    CU_ASSERT_EQUAL(th_lower_program(l, m, &th_stream_single, p, NULL), 0);
    CU_ASSERT_EQUAL(th_lower_weight_bytes(l)[0], all - 2 * 24);
    CU_ASSERT_EQUAL(th_lower_weight_bytes(l)[1], 2 * (192 + 24));
}

TEST(segments_fit_where_the_whole_fits)
{
    auto_system *s = system_of(RING4("2400B"));
    auto_workload *w = workload_of(PAIRS MORE ");");
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_evaluator *by_segments = evaluator_of(p), *whole = evaluator_of(p);
    auto_rng *r = th_random_stream(6, "tied segments", 0);
    int n_fit = 0, n_wrong = 0, n_all = 300;
    for (int i = 0; i < n_all; i++) {
        auto_mapping *m = draw_mapping(r, w);
        th_fitness f, g;
        n_wrong += th_evaluator_run(by_segments, m, INFINITY, &f, NULL) ||
                   th_evaluator_run_without_link(whole, m, -1, &g, NULL, NULL) || f.fit != g.fit ||
                   f.value != g.value;
        n_fit += g.fit == TH_FIT;
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_fit > n_all / 10 && n_fit < n_all * 9 / 10);
    CU_ASSERT_TRUE(th_evaluator_segments(by_segments).lookups > 0);
}

/* ---- serial transfers ---- */

#define SERIAL_ACCEL(NAME)                                                                         \
    "{ name = \"" NAME "\"; designs = [\"s\"]; dram = { capacity = \"1GiB\"; bandwidth = "         \
    "\"1TB/s\"; latency = \"0ns\"; burst = \"1B\"; }; "                                            \
    "vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; }"
#define SERIAL                                                                                     \
    "name = \"serial\"; transfers = \"serial\"; hosts = ( \"host\" ); designs = ( { name = "       \
    "\"s\"; "                                                                                      \
    "type = \"serial_tiled\"; clock = \"1MHz\"; bus_bits = 32; throughput = 1000000; tile_k = 2; " \
    "tile_c = 1; tile_h = 2; tile_w = 2; } ); accelerators = ( " SERIAL_ACCEL(                     \
        "a") ", " SERIAL_ACCEL("b") ", " SERIAL_ACCEL("c") ", " SERIAL_ACCEL("d") " ); "           \
                                                                                  "links = ( { "   \
                                                                                  "center = "      \
                                                                                  "\"host\"; "     \
                                                                                  "leaves = "      \
                                                                                  "[\"a\", "       \
                                                                                  "\"b\", \"c\", " \
                                                                                  "\"d\"]; "       \
                                                                                  "bandwidth = "   \
                                                                                  "\"8Gbps\"; "    \
                                                                                  "latency = "     \
                                                                                  "\"0ns\"; "      \
                                                                                  "duplex = "      \
                                                                                  "\"full\"; } );"

enum { WORDS = 96, CHANNELS = 36, LAYERS_MOST = 16 };

/* A random network of a table, products between two widths, and convolutions, of which each may
 * have the weights of another of its shape: an earlier or the last one. are_pairs: of one alone. */
static th_workload *draw_network(gsl_rng *r, bool are_pairs)
{
    static const char *const types[] = {
        "type = \"embedding\"; vocabulary = %d; outputs = %d;", "type = \"matmul\"; columns = %d;",
        "type = \"matmul\"; columns = %d;",
        "type = \"conv\"; outputs = %d; kernel = [3, 1]; padding = [1, 0];"};
    int type[LAYERS_MOST], n_tied[LAYERS_MOST] = {0}, owner[LAYERS_MOST], n = draw(r, 4, 7) * 2;
    for (int i = 0, wide = 0; i < n; i++, wide = type[i - 1] == 1) /* a table, up, down, a filter */
        type[i] = i == 0 ? 0 : wide ? 2 : draw(r, 0, 1) ? 1 : 3;
    for (int i = n - 1; i >= 0; i--) {
        int of = draw(r, 0, n - 1);
        bool fits = type[of] == type[i] || (type[of] == 0 && type[i] == 1);
        owner[i] = of != i && fits && n_tied[i] == 0 && (of < i || owner[of] < 0) &&
                           !(are_pairs && n_tied[of])
                       ? of
                       : -1;
        if (owner[i] >= 0)
            n_tied[of]++;
    }
    for (int i = 0; i < n; i++) /* one that has another's weights lends none */
        owner[i] = owner[i] >= 0 && owner[owner[i]] >= 0 ? -1 : owner[i];
    auto_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text,
                     "name = \"net\"; precision = \"fp32\"; input = { channels = 1; height = "
                     "12; width = 1; }; layers = (");
    for (int i = 0; i < n; i++) {
        th_strbuf_printf(&text, "%s{ name = \"l%d\"; ", i ? ", " : "", i);
        th_strbuf_printf(&text, types[type[i]], type[i] < 2 ? WORDS : CHANNELS, CHANNELS);
        if (owner[i] >= 0)
            th_strbuf_printf(&text, " weights_of = \"l%d\";", owner[i]);
        th_strbuf_printf(&text, " }");
    }
    th_strbuf_printf(&text, ");");
    return workload_of(text.text);
}

static th_mapping *draw_serial_mapping(gsl_rng *r, const th_workload *w)
{
    static const uint8_t places[] = {TH_WEIGHTS_AUTO, TH_WEIGHTS_AUTO, TH_WEIGHTS_AUTO,
                                     TH_WEIGHTS_PINNED, TH_WEIGHTS_STREAMED};
    th_mapping *m = draw_mapping(r, w);
    CU_ASSERT_EQUAL(th_mapping_add_queues(m), 0);
    for (int i = 0; i < w->n_layers; i++) {
        m->weights[i] = places[draw(r, 0, 4)];
        if (m->strategy[i].rotate == TH_NO_ROTATION && m->strategy[i].chunks == 0)
            continue;
        m->strategy[i] = th_strategy_single;
        m->strategy[i].split[TH_DIM_K] = m->sets[m->set_of[i]].n_accels;
    }
    return m;
}

/* Bytes that each accelerator receives. */
static void received(const th_lower *l, const th_program *p, int64_t *bytes)
{
    memset(bytes, 0, ACCELS * sizeof *bytes);
    for (int t = 0; t < p->n_tasks; t++) {
        const th_task *task = &p->tasks[t];
        int accel = task->kind == TH_TASK_TRANSFER ? l->system->nodes[task->peer].accel : -1;
        if (accel >= 0)
            bytes[accel] += task->bytes;
    }
}

typedef struct {
    int64_t pinned[ACCELS], loaded[ACCELS];
    int n_left_out; /* positions that are not as the mapping says */
} weight_bytes;

/* Which layers' weights are pinned on each accelerator: what fills it lists them, and those of the
 * layer at the peak, whose input and output are listed as well. One that has nothing of its own is
 * not listed. The number of accelerators whose list does not add up. */
static int find_pinned(th_lower *l, const th_mapping *m, bool is_in[ACCELS][LAYERS_MOST])
{
    int n_wrong = 0;
    memset(is_in, 0, sizeof *is_in * ACCELS);
    for (int a = 0; a < ACCELS; a++) {
        int64_t weights = 0, all = 0, pinned = th_lower_weight_bytes(l)[a];
        th_memory_peak held;
        th_peak_place peak = {.layer = 0};
        n_wrong += th_lower_held(l, m, &th_stream_single, a, &held, NULL) != 0;
        for (size_t k = 0; k < held.n; k++) {
            bool is_weights = held.held[k].kind == TH_HELD_WEIGHTS;
            all += held.held[k].bytes;
            weights += is_weights ? held.held[k].bytes : 0;
            if (is_weights)
                is_in[a][held.held[k].layer] = true;
        }
        if (weights != pinned && th_lower_peak_of(l, a, &peak))
            is_in[a][peak.layer] = false;
        n_wrong += all != th_lower_peak_bytes(l)[a];
        th_memory_peak_clear(&held);
    }
    return n_wrong;
}

/* What is pinned, element by element, and what must be transferred of what is not; once: of weights
 * that are pinned there for another layer nothing. 4 bytes each. */
static weight_bytes marked(const th_workload *w, const th_mapping *m,
                           bool is_pinned[ACCELS][LAYERS_MOST], bool once)
{
    static bool has[ACCELS][LAYERS_MOST][ELEMENTS];
    weight_bytes x = {{0}, {0}, 0};
    memset(has, 0, sizeof has);
    for (int pass = 0; pass < 2; pass++) /* first what is pinned */
        for (int i = 0; i < w->n_layers; i++) {
            const th_layer *layer = &w->layers[i];
            const th_set *set = &m->sets[m->set_of[i]];
            for (int r = 0; r < set->n_accels; r++) {
                int a = set->accels[r], owner = layer->tied_to > 0 ? layer->tied_to - 1 : i;
                bool is_in = is_pinned[a][i];
                th_loop_box loops = th_shard_loops(layer, 1, &m->strategy[i], set->shares, r);
                int64_t bytes = th_shard_weight_bytes(layer, &m->strategy[i], set->shares, r);
                if (is_in != (pass == 0))
                    continue;
                static bool seen[ELEMENTS];
                memcpy(seen, has[a][owner], sizeof seen);
                if (once && th_layer_has_weights(layer))
                    bytes += 4 * mark(layer, &loops, is_in ? has[a][owner] : seen) -
                             th_shard_weight_piece_bytes(layer, &loops);
                *(is_in ? &x.pinned[a] : &x.loaded[a]) += bytes;
                x.n_left_out += m->weights[i] == TH_WEIGHTS_PINNED && !is_in && bytes > 0;
                x.n_left_out += m->weights[i] == TH_WEIGHTS_STREAMED && is_in;
            }
        }
    return x;
}

static int lower_to(th_lower *l, const th_mapping *m, th_program *p, int64_t *bytes, th_error *e)
{
    int failed = th_lower_program(l, m, &th_stream_single, p, e);
    if (!failed)
        received(l, p, bytes);
    return failed;
}

/* The bytes that are received where every layer's weights are: what is left are activations. */
static void receive_activations(const th_system *s, th_workload *w, const th_mapping *m,
                                int64_t *bytes)
{
    int32_t tied[LAYERS_MOST];
    auto_mapping *streamed = th_mapping_copy(m);
    th_lower *l = th_lower_new(s, w, NULL);
    th_program *p = th_program_new(NULL);
    for (int i = 0; i < w->n_layers; i++) {
        tied[i] = w->layers[i].tied_to;
        w->layers[i].tied_to = 0;
        streamed->weights[i] = TH_WEIGHTS_STREAMED;
    }
    CU_ASSERT_EQUAL(lower_to(l, streamed, p, bytes, NULL), 0);
    for (int i = 0; i < w->n_layers; i++)
        w->layers[i].tied_to = tied[i];
    th_program_free(p);
    th_lower_free(l);
    for (int i = 0; i < w->n_layers; i++)
        for (int r = 0; r < m->sets[m->set_of[i]].n_accels; r++)
            bytes[m->sets[m->set_of[i]].accels[r]] -= th_shard_weight_bytes(
                &w->layers[i], &m->strategy[i], m->sets[m->set_of[i]].shares, r);
}

/* -1 if what must be pinned does not fit. Of three layers with one table, and of parts that only
 * some of them have, a part may count twice. */
static int compare_serial(const th_system *s, th_workload *w, const th_mapping *m, bool are_pairs,
                          int *n_shared)
{
    th_error e = {"", ""};
    th_lower *l = th_lower_new(s, w, NULL);
    th_program *p = th_program_new(NULL);
    bool pinned[ACCELS][LAYERS_MOST];
    int64_t got[ACCELS], activations[ACCELS];
    int n_wrong = 0, failed = lower_to(l, m, p, got, &e);
    if (!failed) {
        receive_activations(s, w, m, activations);
        n_wrong += find_pinned(l, m, pinned);
        weight_bytes once = marked(w, m, pinned, true), each = marked(w, m, pinned, false);
        n_wrong += once.n_left_out;
        for (int a = 0; a < ACCELS; a++) {
            int64_t held = th_lower_weight_bytes(l)[a], loaded = got[a] - activations[a];
            double space = (double)s->nodes[s->accel_node[a]].a.dram_bytes * s->weight_memory;
            n_wrong += held < once.pinned[a] || held > each.pinned[a] || loaded < once.loaded[a] ||
                       loaded > each.loaded[a] || (double)held > space;
            n_wrong += are_pairs && (held != once.pinned[a] || loaded != once.loaded[a]);
            *n_shared += held < each.pinned[a] || loaded < each.loaded[a];
        }
    } else
        n_wrong += strcmp(e.id, "MAP-0085") != 0;
    th_program_free(p);
    th_lower_free(l);
    return failed && n_wrong == 0 ? -1 : n_wrong;
}

TEST(weights_on_a_serial_system_are_held_and_transferred_once)
{
    auto_rng *r = th_random_stream(7, "tied serial", 0);
    int n_wrong = 0, n_shared = 0, n_refused = 0, n_all = 300;
    for (int i = 0; i < n_all; i++) {
        auto_system *s = system_of(SERIAL);
        auto_workload *w = draw_network(r, i % 2);
        auto_mapping *m = draw_serial_mapping(r, w);
        s->weight_memory = 1000.0 * draw(r, 0, 200) / (1 << 30);
        int result = compare_serial(s, w, m, i % 2, &n_shared);
        n_refused += result < 0;
        n_wrong += result > 0;
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_shared > n_all / 4 && n_refused < n_all / 2);
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
    auto_workload *w = workload_of(PAIRS ");");
    auto_strbuf tied = bytes_of(w);
    auto_serializer sent = TH_SERIALIZER_INIT;
    CU_ASSERT_EQUAL(th_serializer_send_workload(&sent, w, NULL), 0);
    th_serializer in = th_serializer_reader(sent.out.text, sent.out.length);
    auto_workload *back = th_serializer_receive_workload(&in, NULL);
    TAP_ASSERT_TEXT(owner_of(back, "logits"), "words");
    TAP_ASSERT_TEXT(owner_of(back, "up"), "up2");
    w->layers[th_workload_find(w, "logits")].tied_to = 0;
    auto_strbuf free = bytes_of(w);
    CU_ASSERT_TRUE(tied.length != free.length || memcmp(tied.text, free.text, free.length) != 0);
}

/* Written, read, joined with another and fused (gelu goes into up, so numbers change). */
TEST(ties_follow_their_layers)
{
    auto_workload *w = workload_of(
        "name = \"net\"; input = { channels = 8; height = 12; width = 1; }; layers = ("
        "{ name = \"head\"; type = \"matmul\"; columns = 8; inputs = \"r\"; weights_of = \"f\"; },"
        "{ name = \"c\"; type = \"conv\"; outputs = 8; inputs = \"input\"; },"
        "{ name = \"r\"; type = \"relu\"; }, { name = \"f\"; type = \"conv\"; outputs = 8; } );");
    auto_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL(th_workload_write(w, &text, NULL), 0);
    auto_workload *again = workload_of(text.text), *fused = th_workload_fuse(w, NULL);
    auto_workload *two = th_models_join(again, w, &(th_model_options){.name = "b"}, NULL);
    TAP_ASSERT_TEXT(owner_of(w, "head"), "f");
    TAP_ASSERT_TEXT(owner_of(again, "head"), "f");
    TAP_ASSERT_TEXT(owner_of(fused, "head"), "f");
    CU_ASSERT_EQUAL(fused->n_layers, 3);
    TAP_ASSERT_TEXT(owner_of(two, "net/head"), "net/f");
    TAP_ASSERT_TEXT(owner_of(two, "b/head"), "b/f");
    CU_ASSERT_EQUAL(parameters_of(two), 4 * 72);
}

TAP_MAIN("tied")
