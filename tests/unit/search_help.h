/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search_help.h - problems, searches to the end, and fitness, for the tests of searches. */
#ifndef TH_TESTS_UNIT_SEARCH_HELP_H
#define TH_TESTS_UNIT_SEARCH_HELP_H
#include "mapper/search/search.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

static inline th_problem problem_of(const th_system *s, const th_workload *w)
{
    return (th_problem){.system = s, .workload = w, .stream = th_stream_single};
}

static inline th_search *search_of(const char *name, const th_problem *p,
                                   const th_search_options *o)
{
    th_error e = {"", ""};
    th_search *s = th_search_new(th_search_find(name), p, o, &e);
    if (!s)
        bail_out(&e);
    return s;
}

/* To the end; every best on the way must be sound. */
static inline void run(th_search *s)
{
    th_error e = {"", ""};
    double before = INFINITY;
    while (!s->done) {
        CU_ASSERT_EQUAL_FATAL(th_search_iterate(s, &e), 0);
        CU_ASSERT_TRUE(s->best_fitness.value <= before);
        CU_ASSERT_TRUE(!s->best ||
                       th_mapping_check(s->best, s->problem.system, s->problem.workload, &e) == 0);
        before = s->best_fitness.value;
    }
    TAP_ASSERT_TEXT(e.text, "");
}

static inline th_search *found(const char *name, const th_problem *p, const th_search_options *o)
{
    th_search *s = search_of(name, p, o);
    run(s);
    return s;
}

static inline double fitness_of(const th_problem *p, const th_mapping *m)
{
    th_evaluator *e = th_evaluator_new(p, NULL);
    th_fitness f;
    CU_ASSERT_EQUAL(th_evaluator_run(e, m, INFINITY, &f, NULL), 0);
    th_evaluator_free(e);
    return f.value;
}

/* A stem, two branches from it, and their sum. */
static inline th_workload *branching_workload(void)
{
    return workload_of(
        "name = \"branches\"; batch = 1; input = { channels = 3; height = 56; width = "
        "56; }; layers = ("
        "{ name = \"stem\"; type = \"conv\"; outputs = 64; kernel = 3; padding = 1; },"
        "{ name = \"a\"; type = \"conv\"; outputs = 96; kernel = 3; padding = 1; },"
        "{ name = \"b\"; type = \"conv\"; outputs = 96; inputs = \"stem\"; },"
        "{ name = \"sum\"; type = \"add\"; inputs = [\"a\", \"b\"]; } );");
}

#endif
