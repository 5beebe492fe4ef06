/* SPDX-License-Identifier: GPL-3.0-or-later */
/* space_case.h - random small cases of a search space: a system, a workload, constraints, options.
 */
#ifndef TH_TESTS_UNIT_SPACE_CASE_H
#define TH_TESTS_UNIT_SPACE_CASE_H
#include "mapper/search/partition/partition.h"
#include "mapper/search/searches.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

enum { EVALUATIONS = 12 /* of searches */, ACCELS = 3, LAYERS = 3, STRATEGIES = 100 };

#define ACCEL(NAME, GROUP, DESIGNS, VECTOR)                                                        \
    "{ name = \"" NAME "\"; group = " GROUP "; dram = { capacity = \"1GiB\"; bandwidth = "         \
    "\"4GB/s\"; latency = \"20ns\"; burst = \"16B\"; }; vector = { clock = \"1GHz\"; "             \
    "elements_per_cycle = " VECTOR "; }; designs = [" DESIGNS "]; }"
#define SYSTEM(ACCELS, NAMES, LINK)                                                                \
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "            \
    "macs_per_cycle = 8; }, { name = \"e\"; type = \"roofline\"; clock = \"500MHz\"; "             \
    "macs_per_cycle = 40; } ); accelerators = (" ACCELS "); links = ( { all_pairs = [" NAMES       \
    "]; " LINK " } );"
#define FAST  "bandwidth = \"80Gbps\"; latency = \"10ns\";"
#define SLOW  "bandwidth = \"4Gbps\"; latency = \"100ns\";"
#define TWO   "\"a\", \"b\""
#define THREE "\"a\", \"b\", \"c\""

static const char *const systems[] = {
    SYSTEM(ACCEL("a", "0", "\"d\"", "4") "," ACCEL("b", "0", "\"d\"", "4"), TWO, FAST),
    SYSTEM(ACCEL("a", "0", "\"d\"", "4") "," ACCEL("b", "1", "\"d\"", "4"), TWO, SLOW),
    SYSTEM(ACCEL("a", "0", "\"d\"", "4") "," ACCEL("b", "0", "\"e\"", "4"), TWO, FAST),
    SYSTEM(ACCEL("a", "0", "\"d\", \"e\"", "4") "," ACCEL("b", "0", "\"e\", \"d\"", "2"), TWO,
           FAST),
    SYSTEM(ACCEL("a", "0", "\"d\"", "4") "," ACCEL("b", "0", "\"d\"", "4") "," ACCEL("c", "1",
                                                                                     "\"d\"", "4"),
           THREE, FAST),
    SYSTEM(ACCEL("a", "0", "\"e\"", "4") "," ACCEL("b", "1", "\"d\"", "4") "," ACCEL("c", "1",
                                                                                     "\"d\"", "4"),
           THREE, FAST),
    SYSTEM(ACCEL("a", "0", "\"d\", \"e\"", "4") "," ACCEL("b", "0", "\"d\", \"e\"", "4"), TWO,
           FAST),
};
enum { N_SYSTEMS = sizeof systems / sizeof *systems };

typedef struct {
    gsl_rng *random;
    th_problem problem;
    th_search_options options;
    th_constraints *constraints;
    th_evaluator *evaluator;
    th_initial_generator *generator;
    th_partitioner partitioner; /* what shares by speed are */
    int32_t batch;              /* that a strategy may split */
    /* by layer and size of set */
    th_strategy strategy[LAYERS][ACCELS + 1][STRATEGIES];
    int n_strategies[LAYERS][ACCELS + 1];
    /* brute force */
    th_mapping *m; /* with as many sets as accelerators; some empty */
    int n_given;
    bool overlap;    /* sets may share accelerators */
    int64_t n, most; /* mappings tried; given up after */
    th_map *different;
    int64_t n_different;
    double best;
} space_case;

static inline th_workload *draw_workload(gsl_rng *r, int n_layers)
{
    static const char *const kinds[] = {
        "type = \"conv\"; outputs = %d; kernel = 3; padding = 1;", "type = \"fc\"; outputs = %d;",
        "type = \"max_pool\"; kernel = 2; stride = 1;", "type = \"relu\";",
        "type = \"conv\"; outputs = %d; kernel = 1;"};
    char text[2000], layer[100];
    int n =
        snprintf(text, sizeof text,
                 "name = \"n\"; batch = %d; element_bytes = 2; input = { channels = %d; height "
                 "= %d; width = %d; }; layers = (",
                 (int)pick(r, 1, 3), (int)pick(r, 1, 3), (int)pick(r, 3, 5), (int)pick(r, 2, 3));
    for (int l = 0; l < n_layers; l++) {
        snprintf(layer, sizeof layer, kinds[pick(r, 0, 4)], (int)pick(r, 1, 4));
        n += snprintf(text + n, sizeof text - (size_t)n, "%s{ name = \"l%d\"; %s", l ? ", " : "", l,
                      layer);
        if (l > 0 && pick(r, 0, 2) == 0 && pick(r, 0, 1)) /* side by side */
            n += snprintf(text + n, sizeof text - (size_t)n, " inputs = [\"input\"];");
        n += snprintf(text + n, sizeof text - (size_t)n, " }");
    }
    snprintf(text + n, sizeof text - (size_t)n, " );");
    th_error e = {"", ""};
    return th_workload_read_text(text, "net", 0, &e);
}

/* By itself: every strategy that the space allows. */
static inline void list_strategies(space_case *c, int layer, int n)
{
    static const th_dim dims[] = {TH_DIM_H, TH_DIM_W, TH_DIM_K, TH_DIM_B};
    const th_layer *l = &c->problem.workload->layers[layer];
    const bool is_full = c->options.space == TH_SPACE_FULL;
    const int chunks = is_full ? c->options.chunks : 1,
              codes = is_full ? 3 * 3 * 3 * 3 * 3 * 3 * 3 : 3 * 3 * 3 * 3 * 3;
    th_strategy *list = c->strategy[layer][n];
    int *count = &c->n_strategies[layer][n];
    for (int code = 0; code < codes; code++) { /* splits up to 3; in full of kernels too */
        th_strategy s = th_strategy_single;
        int left = code, product = 1;
        for (int d = 0; d < TH_N_DIMS; d++, left /= 3)
            product *= s.split[d] = 1 + left % 3;
        if (c->options.space == TH_SPACE_FULL && product < n && n % product == 0) {
            th_strategy_set_copies(&s, n / product);
            product = n;
        }
        for (int rotate = TH_NO_ROTATION; product == n && rotate <= TH_DIM_W; rotate++) {
            s.rotate = rotate;
            if (th_strategy_fits(&s, l, c->batch, n))
                list[(*count)++] = s;
        }
        s.rotate = TH_NO_ROTATION;
        for (int d = 0; product == n && d < 4; d++)
            for (int many = 2; many <= chunks; many++) {
                th_strategy_set_chunks(&s, many, (int32_t)dims[d]);
                if (th_strategy_fits(&s, l, c->batch, n))
                    list[(*count)++] = s;
            }
    }
}

static inline void list_all_strategies(space_case *c)
{
    memset(c->n_strategies, 0, sizeof c->n_strategies);
    for (int l = 0; l < c->problem.workload->n_layers; l++)
        for (int n = 1; n <= ACCELS; n++)
            list_strategies(c, l, n);
}

static inline th_strategy any_strategy(space_case *c, int layer, int n)
{
    int count = c->n_strategies[layer][n];
    return count > 0 ? c->strategy[layer][n][pick(c->random, 0, count - 1)] : th_strategy_single;
}

/* A set with members in any order, perhaps shares, a design and a layer with its strategy. */
static inline void draw_partial(space_case *c)
{
    gsl_rng *r = c->random;
    const th_system *s = c->problem.system;
    int32_t n = (int32_t)pick(r, 1, s->n_accels), first = (int32_t)pick(r, 0, s->n_accels - 1);
    int layer = (int)pick(r, 0, c->problem.workload->n_layers - 1);
    th_mapping *m = th_mapping_new(1, &n, c->problem.workload->n_layers);
    const int32_t shares[] = {(int32_t)pick(r, 1, 3), (int32_t)pick(r, 1, 3), 2};
    for (int32_t i = 0; i < n; i++)
        m->sets[0].accels[i] = (first + s->n_accels - i) % s->n_accels; /* falling */
    m->sets[0].design = TH_DESIGN_ANY;
    if (n > 1 && pick(r, 0, 1))
        th_set_share(&m->sets[0], shares);
    for (int l = 0; l < m->n_layers; l++)
        m->set_of[l] = l == layer ? 0 : -1;
    c->constraints->partial = m;
    if (pick(r, 0, 1)) {
        m->strategy[layer] = any_strategy(c, layer, n);
        c->constraints->has_strategy[layer] =
            th_strategy_fits(&m->strategy[layer], &c->problem.workload->layers[layer], c->batch, n);
    }
}

static inline void draw_constraints(space_case *c)
{
    static const char *const accels[] = {"a", "b", "[ab]"};
    const th_system *s = c->problem.system;
    const th_workload *w = c->problem.workload;
    th_error e = {"", ""};
    c->constraints = th_constraints_new(s, w);
    c->problem.constraints = c->constraints;
    if (pick(c->random, 0, 1))
        th_constraints_forbid(c->constraints, s, w, "l0", accels[pick(c->random, 0, 1)], &e);
    if (pick(c->random, 0, 2) == 0)
        th_constraints_allow(c->constraints, s, w, "l*", accels[pick(c->random, 0, 2)], &e);
    if (pick(c->random, 0, 2) > 0)
        draw_partial(c);
    if (th_constraints_validate(c->constraints, s, w, &e) == 0)
        return;
    th_constraints_free(c->constraints);
    c->problem.constraints = c->constraints = NULL;
}

static inline void draw_options(space_case *c)
{
    gsl_rng *r = c->random;
    c->options = th_search_defaults;
    c->options.evaluations = EVALUATIONS;
    c->options.seed = (uint64_t)pick(r, 1, 1000);
    c->options.keep_late = true;
    c->options.sets_inside_groups = pick(r, 0, 3) == 0;
    c->options.chunks = (int)pick(r, 1, 3);
    c->options.space = pick(r, 0, 1) ? TH_SPACE_FULL : TH_SPACE_BASIC;
}

static inline bool are_alike(const th_system *s)
{
    const th_accel *first = &s->nodes[s->accel_node[0]].a;
    bool alike = true;
    for (int32_t a = 1; a < s->n_accels; a++) {
        const th_accel *x = &s->nodes[s->accel_node[a]].a;
        alike &= x->n_designs == first->n_designs && x->designs[0] == first->designs[0];
    }
    return alike;
}

static inline bool begin_case(space_case *c, int number)
{
    th_error e = {"", ""};
    *c = (space_case){.random = th_random_stream(11, "space", (uint64_t)number), .best = INFINITY};
    th_system *s = system_of(systems[number % N_SYSTEMS]);
    th_workload *w =
        draw_workload(c->random, s->n_accels == 3 ? 1 + number / 6 % 2 : 1 + number / 6 % 3);
    if (!w) { /* a kernel larger than its input */
        th_system_free(s);
        gsl_rng_free(c->random);
        return false;
    }
    int micro = pick(c->random, 0, 3) == 0 && w->batch > 1 ? 2 : 1;
    c->problem =
        (th_problem){.system = s,
                     .workload = w,
                     .stream = {.n_inputs = (int)pick(c->random, 1, 2), .micro_batches = micro}};
    c->batch = w->batch / micro;
    if (pick(c->random, 0, 3) == 0)
        c->problem.objective = TH_OBJECTIVE_THROUGHPUT;
    if (pick(c->random, 0, 3) == 0)
        c->problem.goal.deadline_ps = pick(c->random, 100, 3000) * 1000;
    c->options.space = TH_SPACE_BASIC;
    list_all_strategies(c); /* for constraints */
    if (pick(c->random, 0, 2) == 0)
        draw_constraints(c);
    draw_options(c);
    c->evaluator = th_evaluator_new(&c->problem, &e);
    c->generator = c->evaluator ? th_initial_new(c->evaluator, &e) : NULL;
    if (!c->generator || th_partitioner_init(&c->partitioner, c->generator, &c->problem, false, &e))
        bail_out(&e);
    if (!are_alike(s))
        c->options.space = TH_SPACE_BASIC;
    if (c->options.space == TH_SPACE_BASIC)
        c->options.chunks = 1;
    list_all_strategies(c);
    c->n_given = th_constraints_n_sets(c->constraints);
    c->overlap = c->options.space == TH_SPACE_FULL && c->n_given == 0;
    return true;
}

static inline void end_case(space_case *c)
{
    th_partitioner_clear(&c->partitioner);
    th_initial_free(c->generator);
    th_evaluator_free(c->evaluator);
    th_constraints_free(c->constraints);
    th_workload_free((th_workload *)c->problem.workload);
    th_system_free((th_system *)c->problem.system);
    gsl_rng_free(c->random);
}

#endif
