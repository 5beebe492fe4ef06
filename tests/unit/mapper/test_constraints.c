/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_constraints.c - what searches must keep to, and that they do. THARSIS_CASE=N runs one random
 * case alone. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/search/search.h"
#include "mapper/strategies.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

enum { CASES = TAP_REPEATS(40), EVALUATIONS = 60 };

static th_system *ring;
static th_workload *chain;

static const char chain_text[] =
    "name = \"chain\"; batch = 2; input = { channels = 8; height = 8; width = 8; }; layers = ("
    "{ name = \"c1\"; type = \"conv\"; outputs = 16; kernel = 3; padding = 1; },"
    "{ name = \"p1\"; type = \"max_pool\"; kernel = 2; },"
    "{ name = \"c2\"; type = \"conv\"; outputs = 16; kernel = 3; padding = 1; },"
    "{ name = \"f1\"; type = \"fc\"; outputs = 10; } );";

static th_constraints *none(void)
{
    th_constraints *c = th_constraints_new(ring, chain);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    return c;
}

static void allow(th_constraints *c, const char *layers, const char *accels)
{
    CU_ASSERT_EQUAL(th_constraints_allow(c, ring, chain, layers, accels, NULL), 0);
}

static void forbid(th_constraints *c, const char *layers, const char *accels)
{
    CU_ASSERT_EQUAL(th_constraints_forbid(c, ring, chain, layers, accels, NULL), 0);
}

static int32_t may(const th_constraints *c, int layer)
{
    int32_t bits = 0;
    for (int32_t a = 0; a < ring->n_accels; a++)
        bits |= th_constraints_allows(c, layer, a) << a;
    return bits;
}

static th_error refused(th_constraints *c)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_constraints_validate(c, ring, chain, &e), -1);
    th_constraints_free(c);
    return e;
}

/* --- what they say ---------------------------------------------------------------------------- */

/* Six accelerators: c1, c2 may use 0 .. 2 and 5 but not 1; all others what is not 4. */
TEST(patterns_add_up_and_forbid_at_last)
{
    auto_constraints *c = none();
    allow(c, "c*", "[0-2]");
    allow(c, "c?", "5");
    forbid(c, "c*", "1");
    forbid(c, "*", "4");
    CU_ASSERT_EQUAL(may(c, 0), 1 << 0 | 1 << 2 | 1 << 5);
    CU_ASSERT_EQUAL(may(c, 2), 1 << 0 | 1 << 2 | 1 << 5);
    CU_ASSERT_EQUAL(may(c, 1), 0x3f & ~(1 << 4));
    CU_ASSERT_EQUAL(may(NULL, 1), 0x3f);
    CU_ASSERT_EQUAL(th_constraints_validate(c, ring, chain, NULL), 0);
}

TEST(refuses_patterns_without_a_match)
{
    auto_constraints *c = none();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_constraints_allow(c, ring, chain, "d*", "1", &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0090", "no layer is called \"d*\"");
    CU_ASSERT_EQUAL(th_constraints_forbid(c, ring, chain, "c*", "6", &e), -1);
    TAP_ASSERT_TEXT(e.text, "no accelerator is called \"6\"");
    CU_ASSERT_EQUAL(may(c, 0), 0x3f);
}

static th_constraints *partial(const char *text)
{
    th_constraints *c = none();
    th_error e = {"", ""};
    if (th_mapping_read_partial_text(text, "p.map", ring, chain, c, &e))
        bail_out(&e);
    return c;
}

#define PARTIAL                                                                                    \
    "sets = ( { accelerators = [\"3\", \"1\"]; shares = [2, 1]; }, { design = \"d\"; "             \
    "accelerators = [\"0\"]; } ); "                                                                \
    "layers = ( { name = \"c2\"; set = 0; split = { K = 2; }; }, { name = \"f1\"; set = 1; } );"

TEST(refuses_contradictions)
{
    th_constraints *c = none();
    allow(c, "c2", "3");
    forbid(c, "*", "3");
    th_error e = refused(c);
    TAP_ASSERT_ERROR(e, "MAP-0091", "layer \"c2\" is left no accelerator that it may use");
    c = partial(PARTIAL);
    forbid(c, "f*", "0");
    e = refused(c);
    TAP_ASSERT_ERROR(e, "MAP-0092", "layer \"f1\" is fixed to set 1, but may not use accel/0");
}

TEST(says_what_is_not_as_given)
{
    auto_constraints *c = partial(PARTIAL);
    auto_mapping *m = mapping_on("31 0 2", chain);
    th_error e = {"", ""};
    put_layer(m, 0, 2, "");
    put_layer(m, 1, 2, "");
    put_layer(m, 2, 0, "H2");
    put_layer(m, 3, 2, "");
    CU_ASSERT_EQUAL(th_constraints_check(c, m, ring, chain, &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0094", "set 0 is not as the partial mapping gives it");
    CU_ASSERT_EQUAL(th_set_share(&m->sets[0], (const int32_t[]){2, 1}), 0);
    CU_ASSERT_EQUAL(th_constraints_check(c, m, ring, chain, &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0095", "layer \"c2\" is not as the partial mapping gives it");
    forbid(c, "c1", "2");
    CU_ASSERT_EQUAL(th_constraints_check(c, m, ring, chain, &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0093", "layer \"c1\" may not use accel/2");
    put_layer(m, 0, 1, "");
    CU_ASSERT_EQUAL(th_set_share(&m->sets[0], NULL), 0);
    CU_ASSERT_EQUAL(th_constraints_apply(c, m, chain, 2), 0);
    CU_ASSERT_EQUAL(th_constraints_check(c, m, ring, chain, &e), 0);
    CU_ASSERT_EQUAL(m->set_of[3], 1);
    CU_ASSERT_EQUAL(m->strategy[2].split[TH_DIM_K], 2);
}

/* --- that they are kept to -------------------------------------------------------------------- */

static th_search *search_for(const th_search_type *type, const th_problem *p, th_error *e)
{
    th_search_options o = th_search_defaults;
    o.evaluations = EVALUATIONS;
    th_search *s = th_search_new(type, p, &o, e);
    while (s && !s->done && th_search_iterate(s, e) == 0)
        ;
    return s;
}

TEST(names_a_layer_that_none_can_run)
{
    auto_system *s = system_of(
        "name = \"s\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 4; },"
        "{ name = \"no_tiles\"; type = \"serial_tiled\"; clock = \"1GHz\"; bus_bits = 64; "
        "throughput = 1e9; } );"
        "accelerators = ( { names = [\"a\", \"b\"]; dram = { capacity = \"1MiB\"; bandwidth = "
        "\"8GB/s\"; }; "
        "vector = { clock = \"1GHz\"; elements_per_cycle = 2; }; designs = [\"no_tiles\"]; },"
        "{ name = \"c\"; dram = { capacity = \"1MiB\"; bandwidth = \"8GB/s\"; }; "
        "vector = { clock = \"1GHz\"; elements_per_cycle = 2; }; designs = [\"d\"]; } );"
        "hosts = ( \"h\" ); links = ( { center = \"h\"; leaves = [\"a\", \"b\", \"c\"]; "
        "bandwidth = \"8Gbps\"; latency = \"1us\"; } );");
    auto_constraints *c = th_constraints_new(s, chain);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_constraints_forbid(c, s, chain, "c2", "c", &e), 0);
    CU_ASSERT_EQUAL(th_constraints_validate(c, s, chain, &e), 0);
    th_problem p = {.system = s, .workload = chain, .stream = th_stream_single, .constraints = c};
    auto_search *x = search_for(th_search_find("two_level"), &p, &e);
    TAP_ASSERT_TEXT(e.id, "MAP-0042");
    CU_ASSERT_PTR_NOT_NULL(strstr(e.text,
                                  "layer \"c2\" can run on none of the accelerators that it may "
                                  "use: accel/a, accel/b"));
}

/* Two sets given with shares and with a design, one layer with its split, one without; the rest is
 * free. What is given stands in the result byte by byte, and the file of the result is a mapping.
 */
TEST(completes_what_is_begun)
{
    auto_constraints *c = partial(PARTIAL);
    th_problem p = {
        .system = ring, .workload = chain, .stream = th_stream_single, .constraints = c};
    th_error e = {"", ""};
    auto_search *x = search_for(th_search_find("two_level"), &p, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(x->best);
    CU_ASSERT_EQUAL(th_constraints_check(c, x->best, ring, chain, &e), 0);
    CU_ASSERT_EQUAL(th_mapping_check(x->best, ring, chain, &e), 0);
    auto_strbuf text = TH_STRBUF_INIT;
    th_mapping_write(x->best, ring, chain, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(
        text.text, "(\n  { design = \"d\"; accelerators = [ \"3\", \"1\" ]; shares = [ 2, 1 ]; },\n"
                   "  { design = \"d\"; accelerators = [ \"0\" ]; }"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text.text, "  { name = \"c2\"; set = 0; split = { K = 2; }; },\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "  { name = \"f1\"; set = 1; split = {  }; }\n"));
}

/* Random networks on random subsets of six accelerators. A search may find nothing, and says so;
 * what it finds keeps to the constraints. Those with offspring find something wherever one
 * accelerator may run all. */
static int check_case(int number)
{
    auto_rng *r = th_random_stream(11, "constraints", (uint64_t)number);
    auto_workload *w = random_workload(r);
    auto_constraints *c = th_constraints_new(ring, w);
    th_problem p = {.system = ring, .workload = w, .stream = th_stream_single, .constraints = c};
    int32_t common = (int32_t)pick(r, 0, ring->n_accels - 1);
    int n_found = 0;
    for (int l = 0; l < w->n_layers; l++)
        for (int32_t a = 0; a < ring->n_accels; a++)
            c->is_forbidden[l * ring->n_accels + a] = a != common && pick(r, 0, 2) == 0;
    for (int i = 0; th_search_types[i]; i++) {
        th_error e = {"", ""};
        const th_search_type *type = th_search_types[i];
        auto_search *x = search_for(type, &p, &e);
        if (x && x->best) {
            CU_ASSERT_EQUAL(th_constraints_check(c, x->best, ring, w, &e), 0);
            TAP_ASSERT_TEXT(e.text, "");
            n_found++;
        } else {
            bool may_refuse = type->is_baseline || type == th_search_find("exhaustive");
            CU_ASSERT_TRUE(e.text[0] && may_refuse);
            if (!may_refuse)
                printf("# %s: %s\n", type->name, e.text);
        }
    }
    return n_found;
}

TEST(every_search_keeps_to_them)
{
    const char *only = getenv("THARSIS_CASE");
    int n = 0;
    for (int i = only ? atoi(only) : 0; i < CASES && (!only || i == atoi(only)); i++) {
        unsigned before = CU_get_number_of_failures();
        n += check_case(i);
        if (CU_get_number_of_failures() > before)
            printf("# case %d\n", i);
    }
    printf("# %d mappings found\n", n);
    CU_ASSERT_TRUE(only || n >= 2 * CASES);
}

/* --- that an evaluation applies them to copies ------------------------------------------------ */

static bool same_bytes(const th_mapping *a, const th_mapping *b)
{
    size_t layers = (size_t)a->n_layers;
    bool same = a->n_sets == b->n_sets && a->n_layers == b->n_layers &&
                a->generator == b->generator && !a->order == !b->order &&
                memcmp(a->set_of, b->set_of, layers * sizeof *a->set_of) == 0 &&
                memcmp(a->strategy, b->strategy, layers * sizeof *a->strategy) == 0;
    for (int i = 0; same && i < a->n_sets; i++)
        same = th_set_equal(&a->sets[i], &b->sets[i]);
    return same;
}

/* The sets of m, some with a design and with other shares, a part of its layers, on any of these
 * sets, and strategies for a part of those. */
static th_constraints *random_partial(gsl_rng *r, const th_mapping *m, const th_workload *w)
{
    th_constraints *c = th_constraints_new(ring, w);
    c->partial = th_mapping_copy(m);
    for (int i = 0; i < m->n_sets; i++) {
        th_set *set = &c->partial->sets[i];
        int32_t shares[RANDOM_ACCELS_MAX];
        for (int a = 0; a < set->n_accels; a++)
            shares[a] = (int32_t)pick(r, 1, 3);
        set->design = pick(r, 0, 1) ? 0 : TH_DESIGN_ANY;
        CU_ASSERT_EQUAL(th_set_share(set, pick(r, 0, 1) ? shares : NULL), 0);
    }
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *list;
        int32_t set = (int32_t)pick(r, -1, m->n_sets - 1);
        c->partial->set_of[l] = set;
        if (set < 0)
            continue;
        int n = th_strategies_list(&w->layers[l], w->batch, m->sets[set].n_accels, &list);
        c->has_strategy[l] = n > 0 && pick(r, 0, 1);
        if (c->has_strategy[l])
            c->partial->strategy[l] = list[pick(r, 0, n - 1)];
        th_free(list);
    }
    return c;
}

/* Of an evaluation of m alone: of its copy with the constraints applied, and m stays as it is. */
static void check_evaluation(const th_search_type *type, const th_problem *p, th_mapping *m,
                             th_mapping *applied)
{
    th_search_options o = th_search_defaults;
    th_fitness found[2];
    th_error e = {"", ""};
    auto_mapping *before = th_mapping_copy(m);
    auto_search *s = th_search_new(type, p, &o, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_EQUAL_FATAL(th_search_evaluate(s, &m, 1, INFINITY, &found[0], &e), 0);
    CU_ASSERT_TRUE(same_bytes(m, before));
    CU_ASSERT_EQUAL(th_search_evaluate(s, &applied, 1, INFINITY, &found[1], &e), 0);
    CU_ASSERT_EQUAL(found[0].fit, found[1].fit);
    CU_ASSERT_TRUE(!(found[0].value < found[1].value) && !(found[1].value < found[0].value));
    CU_ASSERT_EQUAL(!s->best, found[0].fit != TH_FIT);
    if (s->best)
        CU_ASSERT_TRUE(th_mapping_equal(s->best, applied));
    if (s->best && type->is_baseline)
        CU_ASSERT_EQUAL(s->best->generator, TH_GENERATOR_BASELINE);
}

TEST(an_evaluation_leaves_the_mapping_as_it_was)
{
    static const char *const types[] = {"random", "computation_prioritized"};
    int n_changed = 0;
    for (int i = 0; i < CASES; i++) {
        auto_rng *r = th_random_stream(12, "partial", (uint64_t)i);
        auto_workload *w = random_workload(r);
        auto_mapping *m = random_mapping(r, ring, w, w->batch);
        auto_constraints *c = m ? random_partial(r, m, w) : NULL;
        auto_mapping *applied = m ? th_mapping_copy(m) : NULL;
        const th_problem p = {
            .system = ring, .workload = w, .stream = th_stream_single, .constraints = c};
        if (m)
            CU_ASSERT_EQUAL(th_constraints_apply(c, applied, w, w->batch), 0);
        n_changed += m && !same_bytes(m, applied);
        for (size_t k = 0; m && k < sizeof types / sizeof *types; k++)
            check_evaluation(th_search_find(types[k]), &p, m, applied);
    }
    printf("# %d mappings that constraints change\n", n_changed);
    CU_ASSERT_TRUE(n_changed > CASES / 2);
}

static int read_constraints(const void *text, th_error *e)
{
    auto_constraints *c = th_constraints_new(ring, chain);
    int failed =
        c ? th_mapping_read_partial_text(text, "p.map", ring, chain, c, e) : th_error_no_memory(e);
    return failed;
}

TEST(out_of_memory_leaks_nothing)
{
    CU_ASSERT_TRUE(fail_each_allocation(read_constraints, PARTIAL) > 10);
}

static void make_all(void)
{
    ring = system_of(RANDOM_TOPOLOGY("type = \"ring\"; dims = [6];"));
    chain = workload_of(chain_text);
}

TAP_MAIN_WITH("constraints", make_all)
