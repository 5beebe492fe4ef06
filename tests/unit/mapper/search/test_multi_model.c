/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_multi_model.c - networks that share a system: each as alone where they do not meet, and
 * their deadlines. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/evaluate/deadline.h"
#include "mapper/serialize/serializer.h"
#include "mapper/search/search.h"
#include "mapper/strategies.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"
#include "workloads/models.h"

static th_system *f1;
static th_workload *alexnet, *two_readers;

/* Two layers read the input, and one of them twice. */
#define TWO_READERS                                                                                \
    "name = \"y\"; input = { channels = 6; height = 20; width = 20; }; layers = ( "                \
    "{ name = \"a\"; type = \"conv\"; outputs = 6; kernel = 3; padding = 1; },"                    \
    "{ name = \"b\"; type = \"conv\"; outputs = 6; kernel = 5; padding = 2; inputs = "             \
    "[\"input\"]; },"                                                                              \
    "{ name = \"s\"; type = \"add\"; inputs = [\"a\", \"b\", \"input\"]; },"                       \
    "{ name = \"c\"; type = \"conv\"; outputs = 32; kernel = 3; } );"

/* Random strategies on two sets. */
static void draw(th_mapping *m, const th_workload *w, int32_t first, int32_t n, int first_set,
                 gsl_rng *r)
{
    for (int32_t l = first; l < first + n; l++) {
        th_strategy *list;
        m->set_of[l] = first_set + (int32_t)pick(r, 0, 1);
        int count = th_strategies_list(&w->layers[l], 1, m->sets[m->set_of[l]].n_accels, &list);
        m->strategy[l] = list[pick(r, 0, count - 1)];
        th_free(list);
    }
}

/* When each input of each model ends: by model, then input. */
static void run_ends(const th_workload *w, const th_mapping *m, const th_stream *stream,
                     th_time *end)
{
    th_error e = {"", ""};
    auto_lower *l = th_lower_new(f1, w, &e);
    auto_program *p = th_program_new(&e);
    CU_ASSERT_EQUAL_FATAL(th_mapping_check(m, f1, w, &e), 0);
    CU_ASSERT_EQUAL_FATAL(th_lower_program(l, m, stream, p, &e), 0);
    auto_machine *machine = th_machine_new(f1, th_lower_costs(l), NULL, &e);
    CU_ASSERT_EQUAL(th_machine_load(machine, p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(machine, TH_TIME_MAX, &e), TH_STOP_DONE);
    if (w->n_models > 0)
        th_deadline_model_ends(w, p, th_machine_times(machine), end);
    for (int32_t i = 0; w->n_models == 0 && i < stream->n_inputs; i++)
        end[i] = th_machine_input_end(machine, i);
}

/* The part of a mapping of both that is the model's, as a mapping of it alone. */
static th_mapping *part_of(const th_mapping *both, const th_workload *w, int32_t first, int set)
{
    th_mapping *m = mapping_on(set == 0 ? "01 23" : "4 567", w);
    for (int i = 0; i < 2; i++)
        m->sets[i].design = both->sets[set + i].design;
    for (int32_t l = 0; l < w->n_layers; l++) {
        m->set_of[l] = both->set_of[first + l] - set;
        m->strategy[l] = both->strategy[first + l];
    }
    return m;
}

static void compare_with_each_alone(const th_workload *a, const th_workload *b,
                                    const th_stream *stream, th_time arrival, gsl_rng *r)
{
    enum { INPUTS_MAX = 8 };
    th_time both_end[2 * INPUTS_MAX], alone[INPUTS_MAX];
    const th_workload *of[2] = {a, b};
    auto_workload *w = th_models_join(a, b, &(th_model_options){"b", arrival, 0}, NULL);
    auto_mapping *both = mapping_on("01 23 4 567", w);
    for (int i = 0; i < both->n_sets; i++)
        both->sets[i].design = (int32_t)pick(r, 0, 2);
    draw(both, w, 0, a->n_layers, 0, r);
    draw(both, w, a->n_layers, b->n_layers, 2, r);
    run_ends(w, both, stream, both_end);
    for (int model = 0; model < 2; model++) {
        auto_mapping *m = part_of(both, of[model], model ? a->n_layers : 0, 2 * model);
        run_ends(of[model], m, stream, alone);
        for (int32_t i = 0; i < stream->n_inputs; i++)
            CU_ASSERT_EQUAL(both_end[model * stream->n_inputs + i],
                            alone[i] + (model ? arrival : 0));
    }
}

/* To the picosecond, whatever the other does, with one input and with streams. */
TEST(apart_each_runs_as_if_alone)
{
    auto_rng *r = th_random_stream(1, "apart", 0);
    static const th_stream streams[] = {{1, 0, 1, 0}, {6, 0, 1, 0}, {5, 200000000, 1, 2}};
    for (int i = 0; i < 12; i++) {
        th_time arrival = i % 2 ? pick(r, 1, 3000000000) : 0;
        compare_with_each_alone(i % 3 ? alexnet : two_readers, i % 4 ? two_readers : alexnet,
                                &streams[i % 3], arrival, r);
    }
}

/* On one accelerator, of which each needs more than half: alone either fits, both together do not.
 */
TEST(memory_holds_both)
{
    th_error e = {"", ""};
    auto_system *small = system_of(
        "name = \"t\"; " MAP_HELP_ACCEL("50kB") "topology = { type = \"ring\"; dims = [2]; "
                                                "bandwidth = \"8Gbps\"; latency = \"100ns\"; };");
    auto_workload *w = th_models_join(two_readers, two_readers, &(th_model_options){"b", 0, 0}, &e);
    int64_t together = 0;
    for (int apart = 0; apart < 2; apart++) {
        auto_mapping *m = mapping_on("0 1", w);
        for (int l = 0; apart && l < two_readers->n_layers; l++)
            m->set_of[two_readers->n_layers + l] = 1;
        auto_lower *l = th_lower_new(small, w, &e);
        auto_program *p = th_program_new(&e);
        int failed = th_lower_program(l, m, &th_stream_single, p, &e);
        int64_t peak = th_lower_peak_bytes(l)[0];
        CU_ASSERT_EQUAL(failed, apart ? 0 : -1);
        if (!apart)
            TAP_ASSERT_TEXT(e.id, "MAP-0022");
        together = apart ? together : peak;
        if (apart)
            CU_ASSERT_EQUAL(together, 2 * peak);
    }
}

/* Two models of two inputs, 100 apart: arrivals 10 and 110, 40 and 140. Ends 60 and 190: latencies
 * 50 and 80; 100 and 150: 60 and 10. */
TEST(due_on_paper)
{
    auto_workload *w = th_models_join(NULL, alexnet, &(th_model_options){"a", 10, 70}, NULL);
    auto_workload *both = th_models_join(w, alexnet, &(th_model_options){"b", 40, 55}, NULL);
    const th_time end[] = {60, 190, 100, 150};
    th_stream s = {2, 100, 1, 0};
    th_model_timing a = th_deadline_model_timing(both, &s, 0, end),
                    b = th_deadline_model_timing(both, &s, 1, end);
    CU_ASSERT_TRUE(a.is_complete && a.end_ps == 190 && a.latency_ps == 65 &&
                   a.max_latency_ps == 80 && a.lateness_ps == 10);
    CU_ASSERT_TRUE(b.end_ps == 150 && b.latency_ps == 35 && b.max_latency_ps == 60 &&
                   b.lateness_ps == 5);
    CU_ASSERT_EQUAL(th_deadline_lateness(both, &s, end), 15);
    CU_ASSERT_TRUE(th_deadline_exists(both) && !th_deadline_exists(alexnet));
    CU_ASSERT_FALSE(
        th_deadline_model_timing(both, &s, 1, (const th_time[]){60, 190, 100, -1}).is_complete);
}

/* --- searches --------------------------------------------------------------------------------- */

static th_search *search_for(const th_workload *w, const char *type, bool keep_late, th_error *err)
{
    th_problem p = {.system = f1, .workload = w, .stream = th_stream_single};
    th_search_options o = th_search_defaults;
    o.evaluations = TAP_REPEATS(200);
    o.keep_late = keep_late;
    th_search *s = th_search_new(th_search_find(type), &p, &o, err);
    int failed = !s;
    while (!failed && !s->done)
        failed = th_search_iterate(s, err);
    if (!failed)
        return s;
    th_search_free(s);
    return NULL;
}

/* A deadline of the second model, which is last in program order, is met where it can be, though
 * the end of both is later for it; and one that cannot be met is told. */
TEST(searches_meet_the_deadlines_of_models)
{
    th_error e = {"", ""};
    static const th_time deadlines[] = {2500000000, 1000};
    for (int i = 0; i < 2; i++) {
        auto_workload *w =
            th_models_join(alexnet, two_readers, &(th_model_options){"b", 0, deadlines[i]}, &e);
        auto_search *s = search_for(w, "two_level", true, &e);
        CU_ASSERT_PTR_NOT_NULL_FATAL(s);
        CU_ASSERT_EQUAL(s->best_fitness.metrics.lateness_ps == 0, i == 0);
        th_time end[2];
        run_ends(w, s->best, &th_stream_single, end);
        CU_ASSERT_EQUAL(th_deadline_lateness(w, &th_stream_single, end),
                        s->best_fitness.metrics.lateness_ps);
        th_search_free(s);
        s = search_for(w, "two_level", false, &e);
        CU_ASSERT_EQUAL(s != NULL, i == 0);
    }
    TAP_ASSERT_TEXT(e.id, "MAP-0114");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(e.text, "none meets the deadlines of its models: the least late"));
}

TEST(every_search_and_baseline_maps_them)
{
    auto_workload *w =
        th_models_join(alexnet, two_readers, &(th_model_options){"b", 1000000, 0}, NULL);
    for (int i = 0; th_search_types[i]; i++) {
        th_error e = {"", ""};
        if (strcmp(th_search_types[i]->name, "exhaustive") == 0 ||
            strcmp(th_search_types[i]->name, "nsga2") == 0)
            continue; /* the one takes hours, the other a front */
        th_search *s = search_for(w, th_search_types[i]->name, false, &e);
        CU_ASSERT_PTR_NOT_NULL(s);
        if (!s) {
            printf("# %s: %s\n", th_search_types[i]->name, e.text);
            continue;
        }
        th_time end[2], last;
        run_ends(w, s->best, &th_stream_single, end);
        last = end[0] > end[1] ? end[0] : end[1];
        CU_ASSERT_EQUAL(last, s->best_fitness.metrics.latency_ps);
        th_search_free(s);
    }
}

/* Written, read, the same. */
TEST(mappings_of_models_are_written_and_read)
{
    th_error e = {"", ""};
    auto_rng *r = th_random_stream(3, "written", 0);
    auto_workload *w = th_models_join(alexnet, two_readers, &(th_model_options){"b", 0, 0}, NULL);
    auto_mapping *m = mapping_on("01 23 4 567", w);
    auto_strbuf text = TH_STRBUF_INIT;
    draw(m, w, 0, alexnet->n_layers, 0, r);
    draw(m, w, alexnet->n_layers, two_readers->n_layers, 2, r);
    th_mapping_write(m, f1, w, &text);
    auto_mapping *again = th_mapping_read_text(text.text, "again", f1, w, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_TRUE(again && th_mapping_equal(m, again));
}

/* To a rank; bytes that are cut off anywhere are refused. */
TEST(models_travel)
{
    auto_workload *w = th_models_join(alexnet, two_readers, &(th_model_options){"b", 7, 9}, NULL);
    auto_serializer out = TH_SERIALIZER_INIT, again = TH_SERIALIZER_INIT, sent = TH_SERIALIZER_INIT;
    CU_ASSERT_EQUAL(th_serializer_send_workload(&sent, w, NULL), 0);
    th_serializer_write_workload(&out, w);
    th_serializer in = th_serializer_reader(sent.out.text, sent.out.length);
    auto_workload *back = th_serializer_receive_workload(&in, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_TRUE(back->n_models == 2 && back->models[1].deadline_ps == 9);
    th_serializer_write_workload(&again, back);
    CU_ASSERT_TRUE(again.out.length == out.out.length &&
                   memcmp(again.out.text, out.out.text, out.out.length) == 0);
    for (size_t n = 0; n < sent.out.length; n += 1 + n / 50) {
        th_error e = {"", ""};
        th_serializer cut = th_serializer_reader(sent.out.text, n);
        CU_ASSERT_PTR_NULL(th_serializer_receive_workload(&cut, &e));
    }
}

static void make_all(void)
{
    f1 = shipped_system("f1_16xlarge");
    alexnet = shipped_workload("alexnet");
    two_readers = workload_of(TWO_READERS);
}

TAP_MAIN_WITH("multi_model", make_all)
