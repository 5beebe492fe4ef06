/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_wide.c - changes beyond what dynamic programming chooses from: each is held against the
 * rules, a written and a sent copy, the bounds, and what a partial mapping gives. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/evaluate/bounds.h"
#include "mapper/mapping_read.h"
#include "mapper/search/algorithms/polish_moves.h"
#include "mapper/search/variation/wide.h"
#include "mapper/serialize/serializer.h"
#include "mapper/strategies.h"
#include "tests/unit/search_help.h"

static const char system_text[] =
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
    "macs_per_cycle = 64; }, { name = \"e\"; type = \"roofline\"; clock = \"1GHz\"; "
    "macs_per_cycle = 96; }, { name = \"f\"; type = \"roofline\"; clock = \"1GHz\"; "
    "macs_per_cycle = 160; } ); accelerators = ( { names = [\"0\", \"1\", \"2\", \"3\", \"4\"]; "
    "dram = { capacity = \"1MiB\"; bandwidth = \"8GB/s\"; latency = \"100ns\"; burst = \"64B\"; "
    "}; vector = { clock = \"1GHz\"; elements_per_cycle = 16; }; designs = [\"d\", \"e\"]; }, "
    "{ names = [\"5\"]; dram = { capacity = \"1MiB\"; bandwidth = \"8GB/s\"; latency = "
    "\"100ns\"; burst = \"64B\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 16; }; "
    "designs = [\"f\"]; } ); hosts = ( \"h\" ); links = ( { all_pairs = [\"0\", \"1\", \"2\", "
    "\"3\", \"4\", \"5\"]; bandwidth = \"8Gbps\"; latency = \"1us\"; }, { center = \"h\"; leaves = "
    "[\"0\", \"1\", \"2\", \"3\", \"4\", \"5\"]; bandwidth = \"16Gbps\"; latency = \"1us\"; } );";

/* A stem, three blocks of c, d, s, and a classifier. */
#define BLOCK(NAME, FROM)                                                                          \
    "{ name = \"" NAME "c\"; type = \"conv\"; inputs = [\"" FROM "\"]; outputs = 8; kernel = 3; "  \
    "padding = 1; }, { name = \"" NAME "d\"; type = \"conv\"; outputs = 8; kernel = 3; padding = " \
    "1; }, { name = \"" NAME "s\"; type = \"add\"; inputs = [\"" NAME "d\", \"" FROM "\"]; },"
static const char net_text[] =
    "name = \"net\"; batch = 2; input = { channels = 3; height = 8; width = 8; }; layers = ("
    "{ name = \"stem\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; }," BLOCK("1",
                                                                                         "stem")
        BLOCK("2", "1s") BLOCK("3", "2s") "{ name = \"pool\"; type = \"mean_pool\"; kernel = 8; },"
                                          "{ name = \"fc\"; type = \"fc\"; outputs = 16; } );";
enum { N_LAYERS = 12, SUM = 3 };

static th_workload *net;

/* --- strategies of their own --- */

/* The conv before a sum changes; the sum that has a strategy of its own keeps it, others follow;
 * what following gives is not its own. */
TEST(following_respects_strategies_of_their_own)
{
    auto_mapping *m = mapping_on("0123", net);
    for (int l = 0; l < N_LAYERS; l++)
        put_layer(m, l, 0, l >= 10 ? "K4" : "H4");
    put_layer(m, SUM, 0, "W4");
    th_mapping_find_own(m, net, 2);
    for (int l = 0; l < N_LAYERS; l++)
        CU_ASSERT_EQUAL(m->own[l], l == SUM);
    CU_ASSERT_TRUE(th_mapping_is_free(m, net, SUM));
    CU_ASSERT_FALSE(th_mapping_is_free(m, net, 6));
    put_layer(m, 2, 0, "K4");
    put_layer(m, 5, 0, "K4");
    CU_ASSERT_TRUE(th_mapping_follow(m, net, 2));
    const th_strategy w4 = strategy_of("W4"), k4 = strategy_of("K4");
    CU_ASSERT_TRUE(th_strategy_equal(&m->strategy[SUM], &w4));
    CU_ASSERT_TRUE(th_strategy_equal(&m->strategy[6], &k4));
    put_layer(m, 2, 0, "W4");
    CU_ASSERT_TRUE(th_mapping_follow(m, net, 2));
    CU_ASSERT_FALSE(m->own[SUM]);
    auto_mapping *copy = th_mapping_copy(m);
    copy->own[6] = true;
    th_mapping_take_strategies(m, copy, 5, 7);
    CU_ASSERT_TRUE(m->own[6] && !m->own[SUM]);
}

/* --- blocks and orders --- */

TEST(layers_alike_stand_at_the_same_place_of_blocks)
{
    /* stem, 3 blocks of 3, pool, fc; then runs of equal shapes, which are no blocks of two kinds */
    const int32_t nets[][N_LAYERS] = {{9, 1, 1, 2, 1, 1, 2, 1, 1, 2, 7, 8},
                                      {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                                      {1, 2, 1, 2, 1, 2, 3, 4, 5, 3, 4, 5}};
    const struct {
        int net, layer, first, end, period;
    } cases[] = {{0, 0, 0, 1, 0},    {0, 1, 1, 10, 3}, {0, 5, 2, 10, 3}, {0, 9, 3, 10, 3},
                 {0, 10, 10, 11, 0}, {1, 4, 4, 5, 0},  {2, 4, 0, 6, 2},  {2, 10, 7, 12, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const th_alike all = th_alike_layers(nets[cases[i].net], N_LAYERS, cases[i].layer);
        CU_ASSERT_EQUAL(all.first, cases[i].first);
        CU_ASSERT_EQUAL(all.end, cases[i].end);
        CU_ASSERT_EQUAL(all.period, cases[i].period);
        for (int l = all.first; all.period && l < all.end; l += all.period)
            CU_ASSERT_EQUAL(nets[cases[i].net][l], nets[cases[i].net][cases[i].layer]);
    }
}

/* On a torus of 4 x 4 rows of four become blocks of 2 x 2; shares go with their members. */
TEST(swapped_digits_make_blocks_of_rows)
{
    int32_t accels[16], shares[16];
    th_set set = {0, 16, accels, shares};
    for (int32_t i = 0; i < 16; i++)
        accels[i] = shares[i] = i;
    static const int32_t blocks[] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
    CU_ASSERT_EQUAL(th_set_digits(&set), 4);
    CU_ASSERT_EQUAL(th_set_swap_digits(&set, 1, 2), 0);
    for (int i = 0; i < 16; i++) {
        CU_ASSERT_EQUAL(accels[i], blocks[i]);
        CU_ASSERT_EQUAL(shares[i], blocks[i]);
    }
    static const int32_t of_six[] = {0, 3, 1, 4, 2, 5};
    set.n_accels = 6;
    set.shares = NULL;
    for (int32_t i = 0; i < 6; i++)
        accels[i] = i;
    CU_ASSERT_EQUAL(th_set_swap_digits(&set, 0, 1), 0);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(accels[i], of_six[i]);
}

/* --- what holds for every mapping --- */

static void check_copies(const th_problem *p, const th_mapping *m)
{
    th_error e = {"", ""};
    const th_serializer_limits limits = {p->system->n_accels, p->system->n_designs, N_LAYERS};
    auto_strbuf text = TH_STRBUF_INIT;
    th_serializer w = TH_SERIALIZER_INIT;
    th_mapping_write(m, p->system, net, &text);
    auto_mapping *read = th_mapping_read_text(text.text, "m", p->system, net, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(read);
    th_serializer_write_mapping(&w, m);
    th_serializer r = th_serializer_reader(w.out.text, w.out.length);
    auto_mapping *sent = th_serializer_read_mapping(&r, &limits);
    th_serializer_clear(&w);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sent);
    th_mapping_find_own(sent, net, 2);
    CU_ASSERT_TRUE(th_mapping_equal(m, read) && th_mapping_equal(m, sent));
    for (int l = 0; l < N_LAYERS; l++)
        CU_ASSERT_TRUE(m->own[l] == read->own[l] && m->own[l] == sent->own[l]);
}

static void check_mapping(const th_problem *p, const th_mapping *m)
{
    th_error e = {"", ""};
    const th_bounds_scope scope = {.cuts = th_bounds_cuts_of(m), .chunks = th_bounds_chunks_of(m)};
    auto_bounds bounds;
    CU_ASSERT_EQUAL(th_mapping_check(m, p->system, net, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    double took = fitness_of(p, m);
    CU_ASSERT_EQUAL_FATAL(th_bounds_find(p, &scope, &bounds, &e), 0);
    CU_ASSERT_TRUE(isinf(took) || (double)bounds.makespan_ps[bounds.largest] <= took);
}

typedef struct {
    int made[TH_N_MOVES], own, kernels, kept;
} tally;

static int draw_wide(th_variation *v, void *state, int i, th_mapping **out, th_error *err)
{
    return th_variation_wide(v, state, (th_wide)(i % TH_N_WIDE), out, err);
}

/* One of the kind at random, as polish makes it. */
static th_mapping *any_move(th_variation *v, th_mapping *now, int kind)
{
    th_error e = {"", ""};
    th_mapping *batch[TH_N_WIDE] = {NULL}, *next = NULL;
    th_moves moves = {NULL, 0, 0};
    if (kind >= TH_MOVE_WIDE) {
        const th_offspring how = {draw_wide, now, TH_VARIATION_TRIES};
        CU_ASSERT_EQUAL_FATAL(th_variation_offspring(v, &how, TH_N_WIDE, batch, &e), 0);
        for (int i = 0; i < TH_N_WIDE; i++)
            if (i == kind - TH_MOVE_WIDE)
                next = batch[i];
            else
                th_mapping_free(batch[i]);
        return next;
    }
    CU_ASSERT_EQUAL_FATAL(th_moves_list(v, now, (th_move_kind)kind, &moves, &e), 0);
    const size_t at = moves.n > 0 ? (size_t)th_variation_below(v, (int)moves.n) : 0;
    if (moves.n > 0)
        CU_ASSERT_EQUAL_FATAL(th_move_make(v, now, &moves.at[at], &next, &e), 0);
    th_free(moves.at);
    return next;
}

static void count_layers(const th_mapping *m, tally *t)
{
    for (int l = 0; l < N_LAYERS; l++) {
        t->own += m->own[l];
        t->kernels += m->strategy[l].split[TH_DIM_R] * m->strategy[l].split[TH_DIM_S] > 1;
    }
}

static void walk(const th_problem *p, tally *t)
{
    enum { STEPS = 6 * TH_N_MOVES };
    th_error e = {"", ""};
    auto_search *s = search_of("two_level", p, &th_search_defaults);
    th_variation v = {0};
    auto_mapping *now = NULL;
    CU_ASSERT_EQUAL_FATAL(th_variation_init(&v, s, "wide", &e), 0);
    while (!now || th_constraints_check(p->constraints, now, p->system, net, NULL)) {
        th_mapping_free(now);
        CU_ASSERT_EQUAL_FATAL(th_variation_random(&v, true, &now, &e), 0);
        if (now)
            CU_ASSERT_EQUAL_FATAL(th_search_apply_constraints(s, now, &e), 0);
    }
    for (int i = 0; i < STEPS; i++) {
        const int kind = i % TH_N_MOVES;
        static const int32_t shares[] = {3, 2, 1, 1, 2, 3};
        if (!p->constraints && kind == TH_N_MOVES - 1)
            CU_ASSERT_EQUAL_FATAL(th_set_share(&now->sets[0], shares), 0);
        th_mapping *next = any_move(&v, now, kind), *child = NULL;
        if (!next)
            continue;
        t->made[kind]++;
        const th_mapping *father = th_mapping_same_sets(next, now) ? now : NULL;
        const bool keeps = th_constraints_check(p->constraints, next, p->system, net, NULL) == 0;
        CU_ASSERT_TRUE(keeps || kind < TH_MOVE_WIDE); /* no listed one is simulated then */
        t->kept += keeps;
        if (!p->constraints)
            check_copies(p, next);
        CU_ASSERT_EQUAL_FATAL(th_variation_sharding(&v, next, father, &child, &e), 0);
        for (int l = 0; child && !p->constraints && l < N_LAYERS; l++)
            CU_ASSERT_TRUE(!child->own[l] || !th_layer_has_macs(&net->layers[l]));
        if (child && !p->constraints)
            check_copies(p, child);
        th_mapping_free(child);
        if (keeps) {
            if (i % 3 == 0)
                check_mapping(p, next);
            count_layers(next, t);
            th_mapping_free(now);
            now = next;
        } else {
            th_mapping_free(next);
        }
    }
    th_variation_clear(&v);
}

TEST(every_move_gives_a_mapping_of_the_space)
{
    static const char partial[] =
        "sets = ( { accelerators = [\"3\", \"1\"]; }, { accelerators = [\"0\", \"2\"]; "
        "design = \"d\"; } ); layers = ( { name = \"1c\"; set = 0; split = { K = 2; }; chunks = { "
        "H = 2; }; }, { name = \"1s\"; set = 0; split = { W = 2; }; }, { name = \"fc\"; set = 1; } "
        ");";
    th_error e = {"", ""};
    auto_system *s = system_of(system_text);
    tally t = {.own = 0};
    for (int i = 0; i < 3; i++) {
        th_problem p = problem_of(s, net);
        auto_constraints *c = th_constraints_new(s, net);
        if (i == 2) {
            CU_ASSERT_EQUAL_FATAL(th_mapping_read_partial_text(partial, "p", s, net, c, &e), 0);
            p.constraints = c;
        }
        walk(&p, &t);
    }
    printf("# %d layers with strategies of their own, %d with kernels split; made:", t.own,
           t.kernels);
    for (int k = 0; k < TH_N_MOVES; k++)
        printf(" %d", t.made[k]);
    printf("\n");
    CU_ASSERT_TRUE(t.own > 20 && t.kernels > 0);
    for (int k = TH_MOVE_WIDE; k < TH_N_MOVES; k++)
        CU_ASSERT_TRUE(t.made[k] > 2);
}

/* --- the spaces of searches --- */

/* In basic none of it is a result. */
TEST(basic_has_no_kernels_split_and_no_other_order)
{
    auto_system *s = system_of(system_text);
    const th_problem p = problem_of(s, net);
    for (int basic = 0; basic < 2; basic++) {
        th_search_options o = th_search_defaults;
        o.space = basic ? TH_SPACE_BASIC : TH_SPACE_FULL;
        o.chunks = basic ? 1 : 4;
        o.evaluations = 600;
        auto_search *x = found("polish", &p, &o);
        tally t = {.own = 0};
        bool is_ordered = true;
        count_layers(x->best, &t);
        for (int i = 0; i < x->best->n_sets; i++)
            for (int r = 1; r < x->best->sets[i].n_accels; r++)
                is_ordered &= x->best->sets[i].accels[r] > x->best->sets[i].accels[r - 1];
        printf("# %s: %d own, %d kernels, ordered %d\n", basic ? "basic" : "full", t.own, t.kernels,
               is_ordered);
        CU_ASSERT_TRUE(!basic || (is_ordered && t.kernels == 0 && t.own == 0));
    }
}

/* A search keeps what it was given: strategies of their own that are worth it stay. */
TEST(searches_keep_strategies_of_their_own)
{
    auto_system *s = system_of(system_text);
    const th_problem p = problem_of(s, net);
    th_error e = {"", ""};
    th_search_options o = th_search_defaults;
    o.evaluations = 1;
    auto_mapping *start = mapping_on("0123", net);
    for (int l = 0; l < N_LAYERS; l++)
        put_layer(start, l, 0, l >= 10 ? "K4" : l % 3 == 0 && l > 0 ? "W4" : "H4");
    th_mapping_find_own(start, net, 2);
    o.start = start;
    auto_search *x = found("polish", &p, &o);
    th_variation v = {0};
    th_mapping *child = NULL;
    int n_children = 0, n_with_own = 0;
    CU_ASSERT_EQUAL_FATAL(th_variation_init(&v, x, "own", &e), 0);
    for (int i = 0; i < 40; i++) {
        CU_ASSERT_EQUAL_FATAL(th_variation_sharding(&v, x->best, NULL, &child, &e), 0);
        int n = 0;
        for (int l = 0; child && l < N_LAYERS; l++)
            n += child->own[l];
        n_children += child != NULL;
        n_with_own += child && n > 0;
        th_mapping_free(child);
    }
    /* a mutation changes few of the three */
    CU_ASSERT_TRUE(n_children > 20 && 4 * n_with_own > 3 * n_children);
    th_variation_clear(&v);
}

static void make_all(void)
{
    net = workload_of(net_text);
}

TAP_MAIN_WITH("wide", make_all)
