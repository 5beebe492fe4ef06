/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_search_random.c - every search on random workloads of every kind of layer: what it finds can
 * be run, and takes what it said. */
#include <config.h>
#include "mapper/search/search.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"
#include <stdarg.h>

static int n_wrong, case_number;

static void wrong(const char *format, ...)
{
    va_list arguments;
    if (n_wrong++ >= 10)
        return;
    va_start(arguments, format);
    printf("# case %d: ", case_number);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

static void check_search(const th_search_type *type, const th_problem *p)
{
    th_search_options o = {.seed = (uint64_t)case_number, .evaluations = 40, .threads = 1};
    th_error e = {"", ""};
    th_fitness fitness;
    auto_search *s = th_search_new(type, p, &o, &e);
    while (s && !s->done && th_search_iterate(s, &e) == 0)
        ;
    if (!s || !s->done) {
        if (strcmp(e.id, "MAP-0025") != 0 &&
            strcmp(e.id, "MAP-0070") != 0) /* a layer too small for the baseline's groups */
            wrong("%s: %s %s", type->name, e.id, e.text);
    } else if (th_mapping_check(s->best, p->system, p->workload, &e) ||
               th_evaluator_run(th_pool_evaluator(s->pool), s->best, INFINITY, &fitness, &e)) {
        wrong("%s: best mapping: %s %s", type->name, e.id, e.text);
    } else if (fitness.value != s->best_fitness.value || s->counts.infeasible > 0) {
        wrong("%s: best fitness %.17g, is %.17g; %lld infeasible", type->name,
              s->best_fitness.value, fitness.value, (long long)s->counts.infeasible);
    }
}

/* Memory is ample, so every mapping that a search makes must be one that can be run. */
TEST(searches_make_sound_mappings)
{
    th_system *systems[] = {
        system_of(RANDOM_TOPOLOGY("type = \"ring\"; dims = [6];")),
        system_of(
            RANDOM_TOPOLOGY("type = \"mesh\"; dims = [2, 4]; host = { bandwidth = \"2Gbps\"; };")),
        shipped_system("f1_16xlarge"),
    };
    n_wrong = 0;
    for (case_number = 0; case_number < TAP_REPEATS(40) && n_wrong == 0; case_number++) {
        auto_rng *r = th_random_stream(8, "search", (uint64_t)case_number);
        auto_workload *w = random_workload(r);
        th_problem p = {.system = systems[case_number % 3],
                        .workload = w,
                        .stream = random_stream(r, w),
                        .objective = pick(r, 0, 1)};
        for (int i = 0; th_search_types[i]; i++)
            check_search(th_search_types[i], &p);
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    for (int i = 0; i < 3; i++)
        th_system_free(systems[i]);
}

TAP_MAIN("search_random")
