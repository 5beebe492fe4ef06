/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_mapping_keys.c - what a mapping's figures depend on is in the keys of what is kept: an
 * evaluator and a generator of initial mappings that have been asked before answer like new ones
 * about a mapping that differs in one thing; and digests of mappings, constraints and searches
 * change with everything that they stand for. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "mapper/evaluate/evaluate.h"
#include "mapper/mapping_digest.h"
#include "mapper/search/checkpoint.h"
#include "mapper/search/initial/initial_mapping.h"
#include "mapper/search/search.h"
#include "mapper/strategies.h"
#include "tests/unit/learned_help.h"
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

static th_evaluator *new_evaluator(const th_problem *p)
{
    th_error e = {"", ""};
    th_evaluator *x = th_evaluator_new(p, &e);
    if (!x)
        bail_out(&e);
    return x;
}

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
    th_problem whole = *p;
    whole.no_segments = true;
    th_evaluator *e = new_evaluator(&whole);
    th_fitness f = fitness_of(e, m);
    th_evaluator_free(e);
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
        gsl_rng *r = th_random_stream(31, "evaluator", (uint64_t)i);
        const th_system *s = systems[i % 3 == 2];
        th_workload *w = network(r, i);
        th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
        p.network = th_network_find(pick(r, 0, 3) ? "fluid" : "ideal");
        th_evaluator *asked = new_evaluator(&p);
        th_mapping *m = first_mapping(r, s, w, i);
        for (int k = 0; m && k < STEPS; k++) {
            compare(asked, &p, m, &t);
            th_mapping *next = neighbour(r, s, w, m);
            th_mapping_free(m);
            m = next;
        }
        if (t.n_wrong > 0)
            printf("# case %d\n", i);
        th_mapping_free(m);
        th_evaluator_free(asked);
        th_workload_free(w);
        gsl_rng_free(r);
    }
    printf("# %d evaluations, %d fit, %d changes of the value\n", t.n, t.n_fit, t.n_changed);
    CU_ASSERT_EQUAL(t.n_wrong, 0);
    CU_ASSERT_TRUE(t.n_fit * 2 > t.n && t.n_changed * 3 > t.n);
    for (int i = 0; i < 2; i++)
        th_system_free(systems[i]);
}

/* --- generators of initial mappings --- */

/* What dynamic programming gives a set: its strategies, and the estimate; -1: it cannot run. */
static th_time solve(th_initial_generator *g, th_mapping *m, int set)
{
    th_error e = {"", ""};
    th_time estimate = 0;
    int status = th_initial_solve(g, m, set, (th_jitter){0, NULL}, &estimate, &e);
    if (status < 0)
        bail_out(&e);
    return status ? -1 : estimate;
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
    th_evaluator *e = new_evaluator(p);
    th_initial_generator *fresh = th_initial_new(e, NULL);
    th_mapping *x = th_mapping_copy(m), *y = th_mapping_copy(m);
    bool same = same_choices(asked, fresh, m, layer);
    for (int set = 0; set < m->n_sets; set++) {
        th_time t = solve(asked, x, set), u = solve(fresh, y, set);
        same &= t == u && (t < 0 || th_mapping_equal(x, y));
    }
    th_mapping_free(x);
    th_mapping_free(y);
    th_initial_free(fresh);
    th_evaluator_free(e);
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
        gsl_rng *r = th_random_stream(32, "generator", (uint64_t)i);
        const th_system *s = systems[i % 3 == 2];
        th_workload *w = network(r, i);
        th_mapping *m = first_mapping(r, s, w, i);
        th_constraints *c = m ? constraints_of(r, s, w, m) : NULL;
        th_problem p = {.system = s, .workload = w, .stream = th_stream_single, .constraints = c};
        th_evaluator *e = new_evaluator(&p);
        th_initial_generator *asked = th_initial_new(e, NULL);
        for (int k = 0; m && k < STEPS; k++, n++) {
            n_wrong += !same_answers(asked, &p, m, (int)pick(r, 0, w->n_layers - 1));
            th_mapping *next = neighbour(r, s, w, m);
            th_mapping_free(m);
            m = next;
        }
        if (n_wrong > 0)
            printf("# case %d\n", i);
        th_initial_free(asked);
        th_evaluator_free(e);
        th_constraints_free(c);
        th_mapping_free(m);
        th_workload_free(w);
        gsl_rng_free(r);
    }
    CU_ASSERT_TRUE(n_wrong == 0 && n > 4 * CASES);
    for (int i = 0; i < 2; i++)
        th_system_free(systems[i]);
}

/* --- digests --- */

static bool same_digest(const th_mapping *a, const th_mapping *b)
{
    th_mapping_digest x = th_mapping_digest_of(a), y = th_mapping_digest_of(b);
    return memcmp(&x, &y, sizeof x) == 0;
}

/* Number i of the numbers of a mapping, one more. False: there are no more. */
static bool add_one(th_mapping *m, int i)
{
    const int layers = m->n_layers, words = layers * TH_STRATEGY_WORDS;
    int32_t *at = NULL;
    for (int s = 0; !at && s < m->n_sets; s++) {
        const int n = m->sets[s].n_accels;
        if (i == 0)
            at = &m->sets[s].design;
        else if (i <= n)
            at = &m->sets[s].accels[i - 1];
        else if (i <= 2 * n)
            at = &m->sets[s].shares[i - n - 1];
        i -= 2 * n + 1;
    }
    if (at)
        return ++*at, true;
    if (i < layers)
        return ++m->set_of[i], true;
    if ((i -= layers) < words)
        return ++((int32_t *)m->strategy)[i], true;
    if ((i -= words) < layers)
        return ++m->order[i], true;
    if ((i -= layers) < layers)
        return ++m->weights[i], true;
    if (i - layers == 0)
        return m->activations_cross = true, true;
    return false;
}

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(th_mapping) == 64 && sizeof(th_set) == 24, "one more: see add_one");
#endif

/* Only what made a mapping is left out. */
TEST(every_number_of_a_mapping_is_in_its_digest)
{
    th_workload *w = workload_of(blocks);
    th_mapping *m = mapping_on("012 43", w), *other = mapping_on("0124 3", w);
    int32_t shares[] = {3, 1, 2};
    int n = 0;
    CU_ASSERT_FALSE(same_digest(m, other));
    CU_ASSERT_EQUAL(th_set_share(&other->sets[1], shares), 0);
    CU_ASSERT_EQUAL(th_mapping_add_queues(m), 0);
    for (int s = 0; s < 2; s++) {
        th_mapping *shared = th_mapping_copy(m);
        CU_ASSERT_EQUAL(th_set_share(&m->sets[s], shares), 0);
        CU_ASSERT_FALSE(same_digest(m, shared));
        th_mapping_free(shared);
    }
    for (bool is_there = true; is_there; n++) {
        th_mapping *changed = th_mapping_copy(m);
        changed->generator++;
        CU_ASSERT_TRUE(same_digest(m, changed));
        is_there = add_one(changed, n);
        CU_ASSERT_EQUAL(same_digest(m, changed), !is_there);
        th_mapping_free(changed);
    }
    CU_ASSERT_EQUAL(n - 1, 2 + 2 * 5 + w->n_layers * (3 + TH_STRATEGY_WORDS) + 1);
    th_mapping_free(m);
    th_mapping_free(other);
    th_workload_free(w);
}

static uint64_t digest_of_flag(th_constraints *c, bool *flag)
{
    *flag = !*flag;
    uint64_t d = th_constraints_digest(c);
    *flag = !*flag;
    return d;
}

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(th_constraints) == 48, "one more: see th_constraints_digest");
#endif

TEST(everything_of_constraints_is_in_their_digest)
{
    th_system *s = shipped_system("f1_16xlarge");
    th_workload *w = workload_of(blocks);
    th_constraints *c = th_constraints_new(s, w);
    const uint64_t free = th_constraints_digest(c);
    c->partial = mapping_on("0123 45", w);
    const uint64_t of = th_constraints_digest(c);
    CU_ASSERT_TRUE(of != free && free != th_constraints_digest(NULL));
    for (int i = 0; i < c->n_layers * c->n_accels; i++) {
        CU_ASSERT_NOT_EQUAL(digest_of_flag(c, &c->is_allowed[i]), of);
        CU_ASSERT_NOT_EQUAL(digest_of_flag(c, &c->is_forbidden[i]), of);
    }
    for (int i = 0; i < c->n_layers; i++) {
        CU_ASSERT_NOT_EQUAL(digest_of_flag(c, &c->is_restricted[i]), of);
        CU_ASSERT_NOT_EQUAL(digest_of_flag(c, &c->has_strategy[i]), of);
    }
    c->partial->strategy[3].split[TH_DIM_K]++;
    CU_ASSERT_NOT_EQUAL(th_constraints_digest(c), of);
    th_constraints_free(c);
    th_workload_free(w);
    th_system_free(s);
}

/* A record of a journal is that of a batch: of its mappings, their order and number, the bound. */
TEST(everything_of_a_batch_is_in_its_digest)
{
    th_workload *w = workload_of(blocks);
    th_mapping *a = mapping_on("01", w), *b = mapping_on("10", w);
    th_mapping *const both[] = {a, b}, *const turned[] = {b, a};
    const uint64_t of = th_checkpoint_batch(both, 2, 7);
    CU_ASSERT_EQUAL(th_checkpoint_batch(both, 2, 7), of);
    CU_ASSERT_NOT_EQUAL(th_checkpoint_batch(both, 1, 7), of);
    CU_ASSERT_NOT_EQUAL(th_checkpoint_batch(both, 2, 8), of);
    CU_ASSERT_NOT_EQUAL(th_checkpoint_batch(turned, 2, 7), of);
    th_mapping_free(a);
    th_mapping_free(b);
    th_workload_free(w);
}

static bool same_header(const th_problem *p, const th_search_options *o,
                        const th_journal_header *of)
{
    th_journal_header h;
    CU_ASSERT_EQUAL(th_checkpoint_describe(th_search_find("two_level"), p, o, &h, NULL), 0);
    return memcmp(h.part, of->part, sizeof h.part) == 0;
}

static void check_options(const th_problem *p, const th_journal_header *of)
{
    enum { N = 10 };
    th_workload *w = workload_of(blocks);
    th_mapping *start = mapping_on("01", w);
    th_search_options o[N];
    for (int i = 0; i < N; i++)
        o[i] = th_search_defaults;
    o[0].seed++;
    o[1].sets_inside_groups = !o[1].sets_inside_groups;
    o[2].keep_late = !o[2].keep_late;
    o[3].start = start;
    o[4].initial = TH_INITIAL_RANDOM;
    o[5].space = TH_SPACE_BASIC;
    o[6].chunks++;
    o[7].steps++;
    o[8].stop_gap += 0.1;
    o[9].survives = true;
    for (int i = 0; i < N; i++)
        CU_ASSERT_FALSE(same_header(p, &o[i], of));
    th_mapping_free(start);
    th_workload_free(w);
}

static void check_networks(const th_problem *p, const th_journal_header *of)
{
    enum { N = 11 };
    th_problem q[N];
    for (int i = 0; i < N; i++)
        q[i] = *p;
    q[0].network = th_network_find("packet");
    q[1].network_options.weigh_by_latency = true;
    q[2].network_options.packet_bytes = 4096;
    q[3].network_options.buffer_bytes = 1 << 20;
    q[4].network_options.n_virtual_channels = 3;
    q[5].network_options.credit_delay_ps = 7;
    q[6].network_options.router_delay_ps = 7;
    q[7].network_options.terminal_bits_per_s = 1000;
    q[8].network_options.n_crossbar_inputs = 7;
    q[9].network_options.allocation_cycle_ps = 7;
    q[10].network_options.may_deadlock = true;
    for (int i = 0; i < N; i++)
        CU_ASSERT_FALSE(same_header(&q[i], &th_search_defaults, of));
}

static void check_goals(const th_problem *p, const th_journal_header *of)
{
    enum { N = 8 };
    th_problem q[N];
    for (int i = 0; i < N; i++)
        q[i] = *p;
    q[0].stream.n_inputs++;
    q[1].stream.interval_ps++;
    q[2].stream.micro_batches++;
    q[3].stream.in_flight++;
    q[4].goal.objective = TH_OBJECTIVE_THROUGHPUT;
    q[5].goal.weight[TH_N_TERMS - 1] = 1;
    q[6].goal.n_front = 2;
    q[7].goal.deadline_ps = 7;
    for (int i = 0; i < N; i++)
        CU_ASSERT_FALSE(same_header(&q[i], &th_search_defaults, of));
}

/* A journal goes on where all that its batches depend on is the same. */
TEST(everything_of_a_search_is_in_its_header)
{
    th_system *s = shipped_system("f1_16xlarge"), *ring = shipped_system("ring8");
    th_workload *w = workload_of(blocks), *alexnet = shipped_workload("alexnet");
    th_constraints *c = th_constraints_new(s, w);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_journal_header of;
    p.network = th_network_find("fluid");
    CU_ASSERT_EQUAL(
        th_checkpoint_describe(th_search_find("two_level"), &p, &th_search_defaults, &of, NULL), 0);
    CU_ASSERT_TRUE(same_header(&p, &th_search_defaults, &of));
    check_options(&p, &of);
    check_networks(&p, &of);
    check_goals(&p, &of);
    th_problem q[] = {p, p, p};
    q[0].system = ring;
    q[1].workload = alexnet;
    q[2].constraints = c;
    for (int i = 0; i < 3; i++)
        CU_ASSERT_FALSE(same_header(&q[i], &th_search_defaults, &of));
    th_constraints_free(c);
    th_workload_free(w);
    th_workload_free(alexnet);
    th_system_free(s);
    th_system_free(ring);
}

/* The header of a search on a system with this design. */
static th_journal_header header_with(const char *design)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(
        &text,
        "name = \"t\"; designs = ( { name = \"d\"; %s } ); accelerators = ( { dram = { "
        "capacity = \"1GiB\"; bandwidth = \"1GB/s\"; }; vector = { clock = \"1GHz\"; "
        "elements_per_cycle = 1; }; designs = [\"d\"]; } ); topology = { type = "
        "\"ring\"; dims = [2]; bandwidth = \"8Gbps\"; latency = \"1us\"; };",
        design);
    th_system *s = system_of(text.text);
    th_workload *w = workload_of(blocks);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_journal_header h;
    CU_ASSERT_EQUAL(
        th_checkpoint_describe(th_search_find("two_level"), &p, &th_search_defaults, &h, NULL), 0);
    th_workload_free(w);
    th_system_free(s);
    th_strbuf_clear(&text);
    return h;
}

/* Of the file that a design reads, the bytes and not the name: another predictor, or another row,
 * under the same name. */
TEST(files_of_designs_are_in_the_header)
{
    const th_op_kind kinds[] = {TH_OP_CONV, TH_OP_DENSE};
    const th_phase phases[] = {TH_PHASE_CALL, TH_PHASE_CALL};
    th_strbuf design = TH_STRBUF_INIT, model = TH_STRBUF_INIT;
    th_predictor *other = learned_new(kinds, phases, 2);
    temporary_file f = learned_file();
    th_strbuf_printf(&design, "type = \"learned\"; model = \"%s\"; gpu = \"large\";", f.path);
    th_journal_header before = header_with(design.text), again = header_with(design.text);
    CU_ASSERT_EQUAL(memcmp(before.part, again.part, sizeof before.part), 0);
    th_predictor_write(other, &model);
    FILE *out = fopen(f.path, "w");
    CU_ASSERT_EQUAL(fwrite(model.text, 1, model.length, out), model.length);
    fclose(out);
    th_journal_header after = header_with(design.text);
    CU_ASSERT_NOT_EQUAL(before.part[TH_JOURNAL_DESIGNS], after.part[TH_JOURNAL_DESIGNS]);
    remove_file(&f);
    th_predictor_free(other);
    th_strbuf_clear(&model);
    th_strbuf_clear(&design);
}

TAP_MAIN("mapping_keys")
