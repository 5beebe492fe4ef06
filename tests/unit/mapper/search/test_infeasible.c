/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_infeasible.c - layers that an accelerator cannot run by some strategies, or by none:
 * searches go round them while there is another way, and say which layer it was when there is none.
 */
#include <config.h>
#include "mapper/search/search.h"
#include "mapper/search/searches.h"
#include "mapper/search/initial/initial_mapping.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

/* A depthwise layer of 40,000 groups and 80,000 images: 3.2e9 together are more than one shard may
 * have (2^31 - 1), halves of them are not. */
#define GROUPS "40000"
#define IMAGES "80000"
#define NET                                                                                        \
    "name = \"wide\"; batch = " IMAGES "; input = { channels = " GROUPS                            \
    "; height = 1; width = 1; }; layers = ( { name = \"dw\"; type = \"conv\"; outputs = " GROUPS   \
    "; groups = " GROUPS "; } );"
#define REASON                                                                                     \
    "layer \"dw\": a shard of " IMAGES " images in " GROUPS                                        \
    " groups: must be 2147483647 at most together"
#define ACCELS(N)                                                                                  \
    "name = \"t\"; " MAP_HELP_ACCEL("1TiB") "topology = { type = \"ring\"; dims = [" N             \
                                            "]; bandwidth = \"8Gbps\"; latency = \"100ns\"; };"

static th_workload *wide;

static th_search *search_on(const th_system *s, const char *name, th_error *e)
{
    th_problem p = {.system = s, .workload = wide, .stream = th_stream_single};
    th_search_options o = {.seed = 1, .evaluations = 40, .threads = 1};
    th_search *x = th_search_new(th_search_find(name), &p, &o, e);
    while (x && !x->done && th_search_iterate(x, e) == 0)
        ;
    return x;
}

TEST(a_mapping_by_hand_names_the_layer)
{
    auto_system *s = system_of(ACCELS("2"));
    th_error e = {"", ""};
    auto_lower *l = th_lower_new(s, wide, &e);
    auto_program *program = th_program_new(&e);
    auto_mapping *one = mapping_on("0", wide), *two = mapping_on("01", wide);
    put_layer(two, 0, 0, "B2");
    CU_ASSERT_EQUAL(th_lower_program(l, one, &th_stream_single, program, &e), -1);
    TAP_ASSERT_ERROR(e, "SIM-0009", REASON);
    CU_ASSERT_FALSE(th_error_is_no_memory(&e));
    CU_ASSERT_EQUAL(th_lower_program(l, two, &th_stream_single, program, &e), 0);
}

TEST(searches_find_the_only_feasible_mapping)
{
    auto_system *s = system_of(ACCELS("2"));
    for (int i = 0; th_search_types[i]; i++) {
        if (th_search_types[i] == &th_search_h2h) /* whole layers on single accelerators */
            continue;
        th_error e = {"", ""};
        auto_search *x = search_on(s, th_search_types[i]->name, &e);
        if (th_search_types[i] == &th_search_computation_prioritized) {
            TAP_ASSERT_TEXT(e.id, "MAP-0041"); /* its groups are single accelerators */
            TAP_ASSERT_TEXT(e.text, "computation_prioritized: no design of group 0 can run all "
                                    "layers: " REASON);
        } else if (th_search_types[i] == &th_search_single ||
                   th_search_types[i] == &th_search_pipeline_parallel) {
            CU_ASSERT_PTR_NOT_NULL(
                strstr(e.text, REASON)); /* one accelerator has all of the layer */
            CU_ASSERT_PTR_NULL(x->best);
        } else {
            TAP_ASSERT_TEXT(e.text, "");
            CU_ASSERT_TRUE(x->done && x->best && x->best->sets[0].n_accels == 2);
        }
    }
}

/* They make mappings without asking designs; so does the portfolio, which runs them, and what
 * enumerates. */
static bool asks_no_design(const th_search_type *type)
{
    return type == &th_search_uniform || type == &th_search_single ||
           type == &th_search_data_parallel || type == &th_search_portfolio ||
           type == &th_search_exhaustive;
}

TEST(searches_say_why_nothing_is_feasible)
{
    auto_system *s = system_of(ACCELS("1"));
    for (int i = 0; th_search_types[i]; i++) {
        if (th_search_types[i] == &th_search_h2h) /* for systems with serial transfers */
            continue;
        th_error e = {"", ""};
        auto_search *x = search_on(s, th_search_types[i]->name, &e);
        if (th_search_types[i] != &th_search_computation_prioritized) {
            char made[400], none[400];
            snprintf(none, sizeof none,
                     "%s: no mapping of \"wide\" onto \"t\" can be made: " REASON,
                     th_search_types[i]->name);
            snprintf(made, sizeof made,
                     "%s: none of %lld mappings of \"wide\" onto \"t\" fits; the first: " REASON,
                     th_search_types[i]->name, (long long)x->n_evaluations);
            TAP_ASSERT_ERROR(e, x->n_evaluations > 0 ? "MAP-0024" : "MAP-0042",
                             x->n_evaluations > 0 ? made : none);
            CU_ASSERT_EQUAL(x->n_evaluations > 0, asks_no_design(th_search_types[i]));
        }
        CU_ASSERT_PTR_NULL(x->best);
    }
}

/* One image of one channel, one pixel: nothing to cut. */
TEST(a_layer_that_cannot_be_cut_has_no_choices)
{
    auto_system *s = system_of(ACCELS("2"));
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 1; height = 1; width = 1; }; layers = ( "
        "{ name = \"point\"; type = \"conv\"; outputs = 1; } );");
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_error e = {"", ""};
    auto_evaluator *evaluator = th_evaluator_new(&p, &e);
    auto_initial_generator *generator = th_initial_new(evaluator, &e);
    int32_t accels[] = {0, 1};
    CU_ASSERT_EQUAL(th_initial_choices(generator, &(th_set){0, 1, accels, NULL}, 0, &e)->n, 1);
    TAP_ASSERT_TEXT(th_initial_infeasibility(generator)->id, "");
    CU_ASSERT_EQUAL(th_initial_choices(generator, &(th_set){0, 2, accels, NULL}, 0, &e)->n, 0);
    TAP_ASSERT_TEXT(th_initial_infeasibility(generator)->id, "MAP-0040");
    TAP_ASSERT_TEXT(th_initial_infeasibility(generator)->text,
                    "layer \"point\" cannot be split over 2 accelerators");
}

static void make_all(void)
{
    wide = workload_of(NET);
}

TAP_MAIN_WITH("infeasible", make_all)
