/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_mapping_keys.c - what a mapping's figures depend on is in the keys of what is kept: an
 * evaluator and a generator of initial mappings that have been asked before answer like new ones
 * about a mapping that differs in one thing. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/search/initial/initial_mapping.h"
#include "mapper/strategies.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

/* --- mappings that differ in one thing --- */

static void change_set(gsl_rng *r, const th_system *s, th_mapping *m)
{
    th_set *set = &m->sets[pick(r, 0, m->n_sets - 1)], *other = &m->sets[pick(r, 0, m->n_sets - 1)];
    int32_t shares[RANDOM_ACCELS_MAX];
    switch (pick(r, 0, 2)) {
    case 0:
        set->design = (int32_t)pick(r, TH_DESIGN_OWN, s->n_designs - 1);
        break;
    case 1: /* two members change places, maybe over sets */
    {
        int32_t *a = &set->accels[pick(r, 0, set->n_accels - 1)],
                *b = &other->accels[pick(r, 0, other->n_accels - 1)], swap = *a;
        *a = *b;
        *b = swap;
        break;
    }
    default:
        for (int i = 0; i < set->n_accels; i++)
            shares[i] = (int32_t)pick(r, 1, 3);
        CU_ASSERT_EQUAL(th_set_share(set, pick(r, 0, 1) ? shares : NULL), 0);
    }
}

static void change_layer(gsl_rng *r, const th_workload *w, th_mapping *m)
{
    const int layer = (int)pick(r, 0, w->n_layers - 1);
    th_strategy *list, *at = &m->strategy[layer];
    if (pick(r, 0, 2) == 0)
        m->set_of[layer] = (int32_t)pick(r, 0, m->n_sets - 1);
    int n = th_strategies_list_all(&w->layers[layer], w->batch, m->sets[m->set_of[layer]].n_accels,
                                   &list);
    if (n > 0)
        *at = list[pick(r, 0, n - 1)];
    th_free(list);
    if (at->rotate == TH_NO_ROTATION && pick(r, 0, 2) == 0)
        th_strategy_set_chunks(at, (int32_t)pick(r, 2, 4), (int32_t)pick(r, 0, TH_DIM_W));
}

/* A mapping that differs from m in one thing. */
static th_mapping *neighbour(gsl_rng *r, const th_system *s, const th_workload *w,
                             const th_mapping *m)
{
    for (;;) {
        th_mapping *copy = th_mapping_copy(m);
        if (pick(r, 0, 1))
            change_set(r, s, copy);
        else
            change_layer(r, w, copy);
        if (th_mapping_check(copy, s, w, NULL) == 0)
            return copy;
        th_mapping_free(copy);
    }
}

/* --- evaluators --- */

static th_fitness fitness_of(th_evaluator *e, const th_mapping *m)
{
    th_error err = {"", ""};
    th_fitness f;
    if (th_evaluator_run(e, m, INFINITY, &f, &err))
        bail_out(&err);
    return f;
}

/* By the whole program, without anything kept. */
static th_fitness fitness_alone(const th_problem *p, const th_mapping *m)
{
    th_error err = {"", ""};
    th_fitness f;
    auto_evaluator *e = evaluator_of(*p);
    if (th_evaluator_run_without_link(e, m, -1, &f, NULL, &err))
        bail_out(&err);
    return f;
}

typedef struct {
    int n, n_fit, n_wrong;
    double last;
    int n_changed; /* times that another value came */
} tally;

static void compare(th_evaluator *asked, const th_problem *p, const th_mapping *m, tally *t)
{
    th_fitness f = fitness_of(asked, m), alone = fitness_alone(p, m);
    t->n++;
    t->n_fit += f.fit == TH_FIT;
    t->n_changed += f.value != t->last;
    t->last = f.value;
    t->n_wrong += f.fit != alone.fit || f.value != alone.value;
}

/* Blocks of one shape: two are chained alike, the third reads what lies before the second; the last
 * product has the table of the first layer for weights. */
static const char blocks[] =
    "name = \"n\"; batch = 2; input = { channels = 1; height = 8; width = 1; }; layers = ("
    "{ name = \"e\"; type = \"embedding\"; vocabulary = 24; outputs = 8; },"
    "{ name = \"a\"; type = \"conv\"; kernel = 1; outputs = 8; }, { name = \"b\"; type = \"conv\"; "
    "kernel = 1; outputs = "
    "8; }, { name = \"s\"; type = \"add\"; inputs = [\"a\", \"b\"]; },"
    "{ name = \"c\"; type = \"conv\"; kernel = 1; outputs = 8; }, { name = \"d\"; type = \"conv\"; "
    "kernel = 1; outputs = "
    "8; }, { name = \"t\"; type = \"add\"; inputs = [\"c\", \"d\"]; },"
    "{ name = \"f\"; type = \"conv\"; kernel = 1; outputs = 8; }, { name = \"g\"; type = \"conv\"; "
    "kernel = 1; outputs = "
    "8; }, { name = \"u\"; type = \"add\"; inputs = [\"t\", \"g\"]; },"
    "{ name = \"o\"; type = \"conv\"; kernel = 1; outputs = 24; weights_of = \"e\"; } );";

/* Every layer has the shape of others, also the first and the last; two blocks of equal layers that
 * read each other in another way, and vector layers of several functions between products. */
#define CONV(NAME, INPUT)                                                                          \
    "{ name = \"" NAME "\"; type = \"conv\"; kernel = 1; outputs = 8; inputs = \"" INPUT "\"; },"
#define OTHER(NAME, TYPE, INPUTS)                                                                  \
    "{ name = \"" NAME "\"; type = \"" TYPE "\"; inputs = [" INPUTS "]; },"
static const char repeats[] =
    "name = \"n\"; batch = 2; input = { channels = 8; height = 8; width = 1; }; layers = (" CONV(
        "a", "input") CONV("b", "a") CONV("c", "b") OTHER("s", "add", "\"a\", \"b\", \"c\"")
        CONV("d", "s") CONV("e", "d") CONV("f", "d") OTHER("t", "add", "\"d\", \"e\", \"f\"")
            OTHER("u", "relu", "\"t\"") CONV("g", "u") OTHER("v", "gelu", "\"g\"") CONV("h", "v")
                OTHER("w", "relu", "\"h\"")
                    CONV("i", "w") "{ name = \"j\"; type = \"conv\"; kernel = 1; outputs = 8; },"
                                   "{ name = \"k\"; type = \"conv\"; kernel = 1; outputs = 8; } );";

static th_workload *network(gsl_rng *r, int number)
{
    return number % 4 == 0   ? workload_of(blocks)
           : number % 4 == 1 ? workload_of(repeats)
                             : random_workload(r);
}

/* In every other case layers of one shape stand on a set by one strategy, whose keys differ by
 * little. */
static th_mapping *first_mapping(gsl_rng *r, const th_system *s, const th_workload *w, int number)
{
    static const char *const strategies[] = {"", "H2", "K2"};
    if (number % 8 > 1)
        return random_mapping(r, s, w, w->batch);
    const int way = (int)pick(r, 0, 2);
    th_mapping *m = mapping_on(way == 0 ? "3 01 24" : "03 1 24", w);
    for (int l = 0; l < w->n_layers; l++)
        put_layer(m, l, 0, strategies[way]);
    return m;
}

TEST(an_evaluator_answers_like_a_new_one)
{
    enum { CASES = TAP_REPEATS(60), STEPS = 24 };
    th_system *systems[] = {shipped_system("f1_16xlarge"), shipped_system("ring8")};
    tally t = {0};
    for (int i = 0; i < CASES; i++) {
        auto_rng *r = th_random_stream(31, "evaluator", (uint64_t)i);
        const th_system *s = systems[i % 3 == 2];
        auto_workload *w = network(r, i);
        th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
        p.network = th_network_find(pick(r, 0, 3) ? "fluid" : "ideal");
        auto_evaluator *asked = evaluator_of(p);
        auto_mapping *m = first_mapping(r, s, w, i);
        for (int k = 0; m && k < STEPS; k++) {
            compare(asked, &p, m, &t);
            th_mapping *next = neighbour(r, s, w, m);
            th_mapping_free(m);
            m = next;
        }
        if (t.n_wrong > 0)
            printf("# case %d\n", i);
    }
    printf("# %d evaluations, %d fit, %d changes of the value\n", t.n, t.n_fit, t.n_changed);
    CU_ASSERT_EQUAL(t.n_wrong, 0);
    CU_ASSERT_TRUE(t.n_fit * 2 > t.n && t.n_changed * 3 > t.n);
    for (int i = 0; i < 2; i++)
        th_system_free(systems[i]);
}

/* --- states at cuts that differ in one thing --- */

/* Four quick accelerators, four slow ones, two between; any two have a link of their own. */
#define MEMORY "dram = { capacity = \"1GiB\"; bandwidth = \"1000GB/s\"; }; "
#define VECTOR "vector = { clock = \"1GHz\"; elements_per_cycle = 8; }; "
static const char uneven[] =
    "name = \"u\"; designs = ({ name = \"q\"; type = \"roofline\"; clock = \"1GHz\"; "
    "macs_per_cycle = 64; }, { name = \"s\"; type = \"roofline\"; clock = \"1GHz\"; "
    "macs_per_cycle = 1; }, { name = \"m\"; type = \"roofline\"; clock = \"1GHz\"; "
    "macs_per_cycle = 8; }); "
    "accelerators = ({ count = 4; " MEMORY VECTOR "designs = [\"q\"]; }, "
    "{ count = 4; " MEMORY VECTOR "designs = [\"s\"]; }, "
    "{ count = 2; " MEMORY VECTOR "designs = [\"m\"]; }); "
    "topology = { type = \"fully_connected\"; dims = [10]; bandwidth = \"80Gbps\"; latency = "
    "\"1ns\"; };";

/* By segments as by the whole program. set_of: by layer; strategies: by set. */
static void check_segments(const char *layers, const char *sets, const char *set_of,
                           const char *const *strategies)
{
    char text[2000];
    snprintf(text, sizeof text,
             "name = \"n\"; batch = 2; input = { channels = 8; height = 8; width = 1; }; layers = "
             "(%s { name = \"y\"; type = \"conv\"; kernel = 1; outputs = 8; } );",
             layers);
    auto_system *s = system_of(uneven);
    auto_workload *w = workload_of(text);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    p.network = th_network_find("fluid");
    auto_mapping *m = mapping_on(sets, w);
    auto_evaluator *e = evaluator_of(p);
    for (int i = 0; i < m->n_sets; i++)
        m->sets[i].design = TH_DESIGN_OWN;
    for (int l = 0; l < w->n_layers; l++)
        put_layer(m, l, set_of[l] - '0', strategies[set_of[l] - '0']);
    const th_fitness f = fitness_of(e, m), alone = fitness_alone(&p, m);
    CU_ASSERT_TRUE(f.fit == TH_FIT && f.value == alone.value);
    CU_ASSERT_TRUE(th_evaluator_segments(e).replayed > 4);
}

/* Between layers w on one accelerator, which wait for all before them, blocks of equal tasks. When
 * the quick half of s ends, for which f is the last to come, the slow half waits: d for b, or c. */
#define BLOCK(N, INPUT, OF_D)                                                                      \
    CONV("w" N, INPUT)                                                                             \
    CONV("x" N, "w" N)                                                                             \
    CONV("b" N, "x" N)                                                                             \
    CONV("c" N, "x" N)                                                                             \
    CONV("d" N, OF_D N)                                                                            \
    CONV("f" N, "x" N) OTHER("s" N, "add", "\"b" N "\", \"c" N "\", \"d" N "\", \"f" N "\"")
TEST(what_pending_tasks_wait_for_is_in_the_key)
{
    check_segments(BLOCK("1", "input", "b") BLOCK("2", "s1", "c") CONV("w3", "s2"), "3 04 15 26 87",
                   "0122341012234100", (const char *const[]){"", "B2", "B2", "B2", "B2"});
}

/* Of two chunks of s, whose rows the quick half of b makes first, the upper one ends first, or the
 * lower one, while the other one waits. Of v, the upper chunk reads the upper rows alone. */
#define CHUNKS(N, INPUT)                                                                           \
    CONV("w" N, INPUT)                                                                             \
    CONV("b" N, "w" N)                                                                             \
    CONV("s" N, "b" N)                                                                             \
    "{ name = \"v" N "\"; type = \"conv\"; kernel = [3, 1]; padding = [2, 0, 0, "                  \
    "0]; outputs = 8; },"
TEST(which_pending_tasks_are_the_last_is_in_the_key)
{
    check_segments(CHUNKS("1", "input") CHUNKS("2", "v1"), "3 08 4 91 2", "012403240",
                   (const char *const[]){"", "H2", "xH2", "H2", "xH2"});
}

/* --- generators of initial mappings --- */

/* What dynamic programming gives a set: its strategies, and the estimate; -1: it cannot run. */
static th_time solve_up_to(th_initial_generator *g, th_mapping *m, int set, th_time enough)
{
    th_error e = {"", ""};
    th_time estimate = 0;
    int status = th_initial_solve(g, m, set, (th_jitter){.enough = enough}, &estimate, &e);
    if (status < 0)
        bail_out(&e);
    return status ? -1 : estimate;
}

static th_time solve(th_initial_generator *g, th_mapping *m, int set)
{
    return solve_up_to(g, m, set, 0);
}

static bool same_choices(th_initial_generator *a, th_initial_generator *b, const th_mapping *m,
                         int layer)
{
    const th_set *set = &m->sets[m->set_of[layer]];
    const th_choices *x = th_initial_choices(a, set, layer, NULL),
                     *y = th_initial_choices(b, set, layer, NULL);
    bool same = x && y && x->n == y->n;
    for (int i = 0; same && i < x->n; i++)
        same = th_strategy_equal(&x->strategy[i], &y->strategy[i]) && x->time[i] == y->time[i] &&
               x->resident_bytes[i] == y->resident_bytes[i];
    return same;
}

/* Of every set of a mapping, and of one layer by a generator that has been asked about no other. */
static bool same_answers(th_initial_generator *asked, const th_problem *p, const th_mapping *m,
                         int layer)
{
    auto_evaluator *e = evaluator_of(*p);
    auto_initial_generator *fresh = th_initial_new(e, NULL);
    auto_mapping *x = th_mapping_copy(m), *y = th_mapping_copy(m);
    bool same = same_choices(asked, fresh, m, layer);
    for (int set = 0; set < m->n_sets; set++) {
        th_time t = solve(asked, x, set), u = solve(fresh, y, set);
        same &= t == u && (t < 0 || th_mapping_equal(x, y));
    }
    return same;
}

/* A layer's strategy is given in some: other layers of its shape may have any. */
static th_constraints *constraints_of(gsl_rng *r, const th_system *s, const th_workload *w,
                                      const th_mapping *m)
{
    th_constraints *c = th_constraints_new(s, w);
    c->partial = th_mapping_copy(m);
    c->has_strategy[pick(r, 0, w->n_layers - 1)] = pick(r, 0, 1);
    return c;
}

TEST(a_generator_answers_like_a_new_one)
{
    enum { CASES = TAP_REPEATS(30), STEPS = 8 };
    th_system *systems[] = {shipped_system("f1_16xlarge"), shipped_system("ring8")};
    int n = 0, n_wrong = 0;
    for (int i = 0; i < CASES && n_wrong == 0; i++) {
        auto_rng *r = th_random_stream(32, "generator", (uint64_t)i);
        const th_system *s = systems[i % 3 == 2];
        auto_workload *w = network(r, i);
        auto_mapping *m = first_mapping(r, s, w, i);
        auto_constraints *c = m ? constraints_of(r, s, w, m) : NULL;
        th_problem p = {.system = s, .workload = w, .stream = th_stream_single, .constraints = c};
        auto_evaluator *e = evaluator_of(p);
        auto_initial_generator *asked = th_initial_new(e, NULL);
        for (int k = 0; m && k < STEPS; k++, n++) {
            n_wrong += !same_answers(asked, &p, m, (int)pick(r, 0, w->n_layers - 1));
            th_mapping *next = neighbour(r, s, w, m);
            th_mapping_free(m);
            m = next;
        }
        if (n_wrong > 0)
            printf("# case %d\n", i);
    }
    CU_ASSERT_TRUE(n_wrong == 0 && n > 4 * CASES);
    for (int i = 0; i < 2; i++)
        th_system_free(systems[i]);
}

/* Of every set of a mapping, by a new generator each: what stays within enough, to the picosecond,
 * is what is found without a limit, and what does not is not made. */
static bool keeps_within(const th_problem *p, const th_mapping *m)
{
    bool keeps = true;
    for (int set = 0; set < m->n_sets; set++) {
        auto_evaluator *e = evaluator_of(*p);
        auto_initial_generator *any = th_initial_new(e, NULL), *within = th_initial_new(e, NULL),
                               *below = th_initial_new(e, NULL);
        auto_mapping *x = th_mapping_copy(m), *y = th_mapping_copy(m), *z = th_mapping_copy(m);
        th_time t = solve(any, x, set);
        if (t > 1)
            keeps &= solve_up_to(within, y, set, t) == t && th_mapping_equal(x, y) &&
                     solve_up_to(below, z, set, t - 1) == -1 && solve(below, z, set) == t &&
                     th_mapping_equal(x, z);
    }
    return keeps;
}

TEST(a_mapping_is_made_up_to_an_estimate)
{
    enum { CASES = TAP_REPEATS(40) };
    th_system *s = shipped_system("f1_16xlarge");
    int n = 0, n_wrong = 0;
    for (int i = 0; i < CASES; i++) {
        auto_rng *r = th_random_stream(33, "enough", (uint64_t)i);
        auto_workload *w = network(r, i);
        auto_mapping *m = first_mapping(r, s, w, i);
        th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
        n += m != NULL;
        n_wrong += m && !keeps_within(&p, m);
    }
    CU_ASSERT_TRUE(n_wrong == 0 && n > CASES / 2);
    th_system_free(s);
}

TAP_MAIN("mapping_keys")
