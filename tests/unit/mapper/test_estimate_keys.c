/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_estimate_keys.c - what estimates and lower bounds depend on is in the keys of what is kept
 * of them: routes, bounds of shards, times that remain and transitions answer, after questions that
 * differ in one thing, like those that were asked nothing before. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/evaluate/bounds_layer.h"
#include "mapper/lower/plan_state.h"
#include "mapper/search/initial/initial_mapping_state.h"
#include "mapper/strategies.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"
#include "topology/routing/route.h"

static const char line[] =
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
    "macs_per_cycle = 4; }, { name = \"e\"; type = \"systolic\"; clock = \"500MHz\"; rows = 4; "
    "cols = 2; dataflow = \"ws\"; } ); accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth "
    "= \"2GB/s\"; latency = \"20ns\"; burst = \"16B\"; }; vector = { clock = \"1GHz\"; "
    "elements_per_cycle = 2; }; designs = [\"d\", \"e\"]; } ); topology = { type = \"line\"; dims "
    "= [3]; bandwidth = \"8Gbps\"; latency = \"50ns\"; host = { bandwidth = \"4Gbps\"; }; };";

/* --- routes and the traffic on them --- */

static th_plans *plans_of(const th_system *s, const th_workload *w)
{
    th_error e = {"", ""};
    th_plans *p = th_plans_new(s, w, &e);
    if (!p)
        bail_out(&e);
    return p;
}

/* Adds up what a transfer takes on each medium of its route; returns the most of any. */
static th_time carry_by_hand(const th_system *s, th_time *busy, int from, int to, int64_t bytes)
{
    int links[TH_ROUTE_MAX], n = th_route(s, from, to, links);
    th_time most = 0;
    for (int i = 0; i < n; i++) {
        const int32_t medium = s->links[links[i]].medium;
        busy[medium] += th_duration_ps(bytes, s->media[medium].bits_per_s);
        most = busy[medium] > most ? busy[medium] : most;
    }
    return most;
}

static const char one_layer[] =
    "name = \"n\"; batch = 2; input = { channels = 8; height = 8; "
    "width = 1; }; layers = ( { name = \"a\"; type = \"conv\"; kernel = 1; outputs "
    "= 8; } );";

TEST(routes_and_sizes_of_transfers)
{
    enum { MEDIA_MAX = 64, TRANSFERS = 300 };
    auto_system *s = system_of(line);
    auto_workload *w = workload_of(one_layer);
    auto_plans *p = plans_of(s, w);
    auto_rng *r = th_random_stream(41, "routes", 0);
    th_plan_traffic t;
    th_time busy[MEDIA_MAX] = {0}, most = 0;
    CU_ASSERT_TRUE_FATAL(s->n_media <= MEDIA_MAX);
    th_plan_traffic_begin(&t, p);
    for (int i = 0; i < TRANSFERS; i++) { /* few sizes: the last one is often that of before */
        const int from = (int)pick(r, 0, s->n_nodes - 1), to = (int)pick(r, 0, s->n_nodes - 1);
        const int64_t bytes = 1000 * pick(r, 1, 2);
        const th_time by_hand = carry_by_hand(s, busy, from, to, bytes);
        most = by_hand > most ? by_hand : most;
        th_plan_carry(&t, from, to, bytes);
        CU_ASSERT_EQUAL(t.busiest, most);
        auto_plans *fresh = plans_of(s, w);
        CU_ASSERT_EQUAL(th_plan_route_bound(p, from, to, bytes),
                        th_plan_route_bound(fresh, from, to, bytes));
    }
    CU_ASSERT_TRUE(most > 0 && !t.failed);
}

/* --- lower bounds of shards --- */

static void init_floors(th_floors *f, const th_problem *p)
{
    th_error e = {"", ""};
    if (th_floors_init(f, p, &(th_bounds_scope){.cuts = TH_CUTS_EVEN}, &e))
        bail_out(&e);
}

static void add_floor(th_strbuf *out, th_floors *f, const th_shard *shard)
{
    const int64_t number = th_floors_number(f, shard);
    const struct th_task_floor *t = &f->tasks[number];
    th_strbuf_clear(out);
    th_strbuf_printf(out, "%.17g %.17g %.17g %d %d", t->occupied, t->computing, t->dram_bytes,
                     (int)t->unknown, (int)t->unknown_design);
    for (int c = 0; c < f->n_classes; c++)
        th_strbuf_printf(out, " %.17g", f->task_ps[number * f->n_classes + c]);
}

/* Products on arrays: dense, sparse, transposed, of attention; the vector unit. */
static void list_shards(th_shard *x)
{
    th_shard dense = conv_shard(2, 24, 12, 10, 10, 3);
    for (int i = 0; i < TH_N_TENSORS; i++)
        dense.precision[i] = TH_INT16;
    x[0] = x[1] = x[2] = x[3] = x[4] = dense;
    x[1].sparse_n = 2, x[1].sparse_m = 4, x[1].density_ppm[TH_TENSOR_WEIGHT] = 500000;
    x[2].up_h = x[2].up_w = 2, x[2].in_h = x[2].in_w = 6, x[2].products_h = x[2].products_w = 15;
    x[3] =
        (th_shard){TH_LAYER_ATTENTION, 0, {2, 30, 24, 10, 1, 7, 1}, 6, 3, 10, 1, 1, 1, 1, 1, 1, 1};
    x[3].n_operands = 3, x[3].scores = 70;
    memcpy(x[3].precision, x[0].precision, sizeof x[0].precision);
    memcpy(x[3].density_ppm, x[0].density_ppm, sizeof x[0].density_ppm);
    x[4].kind = TH_LAYER_ELEMENTWISE, x[4].n_operands = 2, x[4].function = TH_FUNCTION_MUL;
}

/* Every number of a shard, one more or one less. */
TEST(every_number_of_a_shard)
{
    enum { SHARDS = 5, WORDS = sizeof(th_shard) / sizeof(int32_t) };
    th_shard shards[SHARDS];
    th_system *systems[] = {system_of(line), shipped_system("f1_16xlarge")};
    th_workload *w = workload_of(one_layer);
    th_strbuf base = TH_STRBUF_INIT, known = TH_STRBUF_INIT, alone = TH_STRBUF_INIT;
    bool counts[WORDS] = {false};
    int n_counts = 0;
    list_shards(shards);
    for (int i = 0; i < 2 * SHARDS; i++) {
        const th_problem p = {.system = systems[i % 2], .workload = w, .stream = th_stream_single};
        th_floors asked, fresh;
        init_floors(&asked, &p);
        add_floor(&base, &asked, &shards[i / 2]);
        for (size_t k = 0; k < 2 * WORDS; k++) {
            const size_t at = k / 2;
            th_shard more = shards[i / 2];
            int32_t *word = &((int32_t *)&more)[at];
            *word += k % 2 == 0 ? 1 : *word > 1 ? -1 : 0;
            const bool is_sparse = more.sparse_n > 0 && more.sparse_m > 1;
            if (more.kind != shards[i / 2].kind || (!is_sparse && more.sparse_m > 0))
                continue; /* its other numbers would be wrong */
            init_floors(&fresh, &p);
            add_floor(&known, &asked, &more);
            add_floor(&alone, &fresh, &more);
            TAP_ASSERT_TEXT(known.text, alone.text);
            counts[at] |= strcmp(alone.text, base.text) != 0;
            th_floors_clear(&fresh);
        }
        th_floors_clear(&asked);
    }
    for (size_t at = 0; at < WORDS; at++)
        n_counts += counts[at];
    printf("# %d of %d words change a bound\n", n_counts, (int)WORDS);
    CU_ASSERT_TRUE(n_counts >= 28);
    th_strbuf_clear(&base);
    th_strbuf_clear(&known);
    th_strbuf_clear(&alone);
    th_workload_free(w);
    for (int i = 0; i < 2; i++)
        th_system_free(systems[i]);
}

/* --- transitions of dynamic programming --- */

/* Layers that read the same one, or equal ones, and differ in one thing: what they read (a, d, the
 * input, another set), their own shape (b, c), what lies between (r, s), whose strategy is given
 * (e, g). */
#define CONV(NAME, INPUT, KERNEL, OUTPUTS)                                                         \
    "{ name = \"" NAME "\"; type = \"conv\"; inputs = \"" INPUT "\"; kernel = " KERNEL             \
    "; outputs = " OUTPUTS "; },"
#define UNARY(NAME, TYPE, INPUT)                                                                   \
    "{ name = \"" NAME "\"; type = \"" TYPE "\"; inputs = \"" INPUT "\"; },"
static const char tree[] =
    "name = \"n\"; batch = 2; input = { channels = 8; height = 8; width = 8; }; layers = (" CONV(
        "a", "input", "1", "8") CONV("b", "a", "1", "8") CONV("c", "a", "1", "16")
        CONV("d", "c", "3; padding = 1", "8") CONV("l", "d", "1", "8") CONV("e", "input", "1", "8")
            CONV("f", "e", "1", "8") CONV("g", "a", "1", "8") UNARY("r", "relu", "a")
                CONV("h", "r", "1", "8") UNARY("s", "softmax", "a") CONV("i", "s", "1", "8")
                    CONV("p", "a", "1", "8")
                        CONV("o", "p", "1",
                             "8") "{ name = \"z\"; type = \"add\"; inputs = [\"b\", \"l\"]; } );";

static int layer_named(const th_workload *w, const char *name)
{
    int l = 0;
    while (strcmp(w->layers[l].name, name) != 0)
        l++;
    return l;
}

/* The times of all pairs of choices. */
static void add_transitions(th_strbuf *out, th_initial_generator *g, const th_mapping *m, int layer)
{
    th_error e = {"", ""};
    const th_set *set = &m->sets[m->set_of[layer]];
    const th_initial_path path = th_initial_path_to(g, m, layer);
    th_transition t = {set, &path, layer, th_transition_matrix_of(g, set, &path, layer, &e)};
    const th_choices *to = th_initial_choices(g, set, layer, &e);
    const th_choices *from =
        path.ancestor < 0 ? NULL : th_initial_choices(g, set, path.ancestor, &e);
    if (!t.matrix || !to)
        bail_out(&e);
    th_strbuf_clear(out);
    for (int i = 0; i < (from ? from->n : 1); i++)
        for (int k = 0; k < to->n; k++)
            th_strbuf_printf(out, " %lld",
                             (long long)th_transition_time(g, &t, i, k, TH_TIME_MAX, &e));
}

TEST(every_thing_of_a_transition)
{
    static const char *const asked_about[] = {"b", "c", "l", "f", "g", "h", "i", "a", "o", "b"};
    enum { QUESTIONS = sizeof asked_about / sizeof *asked_about };
    auto_system *s = shipped_system("ring8");
    auto_workload *w = workload_of(tree);
    auto_strbuf known = TH_STRBUF_INIT, alone = TH_STRBUF_INIT, before = TH_STRBUF_INIT;
    auto_mapping *m = mapping_on("03 12 5", w);
    auto_constraints *c = th_constraints_new(s, w);
    int n_other = 0;
    for (int l = 0; l < w->n_layers; l++)
        put_layer(m, l, 0, "C2");
    c->partial = th_mapping_copy(m);
    c->has_strategy[layer_named(w, "e")] = c->has_strategy[layer_named(w, "g")] = true;
    const th_problem p = {.system = s, .workload = w, .stream = th_stream_single, .constraints = c};
    auto_evaluator *e = evaluator_of(p);
    auto_initial_generator *asked = th_initial_new(e, NULL);
    for (int i = 0; i < 2 * QUESTIONS; i++) {
        const int layer = layer_named(w, asked_about[i % QUESTIONS]);
        for (int l = 0; i == QUESTIONS && l < w->n_layers; l++) /* then on another set */
            m->set_of[l] = 1;
        m->set_of[layer_named(w, "p")] = 2; /* so o reads from another set */
        auto_initial_generator *fresh = th_initial_new(e, NULL);
        add_transitions(&known, asked, m, layer);
        add_transitions(&alone, fresh, m, layer);
        TAP_ASSERT_TEXT(known.text, alone.text);
        n_other += i > 0 && strcmp(alone.text, before.text) != 0;
        th_strbuf_clear(&before);
        th_strbuf_printf(&before, "%s", alone.text);
    }
    CU_ASSERT_TRUE(n_other >= 2 * QUESTIONS - 3);
}

TAP_MAIN("estimate_keys")
