/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_replay_long.c - random programs whose runs last seconds to days, with clocks and bandwidths
 * that change on the way: every way of running one gives the same result. Rounding shows here: a
 * double that holds 10 TB is good for a picosecond at 1 GB/s. test_replay.c has runs of some
 * milliseconds. */
#include <config.h>
#include "tests/unit/replay_checks.h"
#include "tests/unit/stepping.h"
#include "tests/unit/tap.h"

/* What the programs of a test have in common; bytes are those of random_program times scale. */
typedef struct {
    uint64_t first_seed;
    int n_programs;
    int64_t scale;
    int n_clocks, n_cables, n_failures; /* that change; of accelerators */
    bool by_latency, in_bursts, is_measured;
    bool lasts_days; /* then ends may be a picosecond apart where DRAMs are contended throughout */
} sort;

/* An accelerator is dead for at most a twentieth of end, by a fault that ends or by what is set. */
static void fail_at_random(th_machine *m, const world *w, gsl_rng *random, th_time end)
{
    const bool is_fault = pick(random, 0, 1);
    th_property_event dead = {.at = (th_time)((double)end * th_random_unit(random)),
                              .kind = TH_PROPERTY_FREQUENCY,
                              .object = (int32_t)pick(random, 0, w->system->n_accels - 1),
                              .role = is_fault ? TH_PROPERTY_FAULT : TH_PROPERTY_SET},
                      repaired = dead;
    repaired.at += (th_time)((double)(end / 20) * th_random_unit(random));
    repaired.factor = 1;
    repaired.role = is_fault ? TH_PROPERTY_REPAIR : TH_PROPERTY_SET;
    CU_ASSERT_EQUAL(th_machine_add_property_event(m, &dead, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_add_property_event(m, &repaired, NULL), 0);
}

/* Changes of a run that lasts until about end, the same for every machine that runs it. Clocks
 * before the run and in its midst, in half of the runs with jitter; cables go down, or to half, for
 * a fiftieth of it. */
static void change_at_random(th_machine *m, const world *w, const sort *s, uint64_t seed,
                             th_time end)
{
    static const double factors[] = {0.001, 0.01, 0.25, 1.0 / 3, 0.5, 1, 1.5, 3};
    enum { N_FACTORS = sizeof factors / sizeof *factors };
    auto_rng *random = th_random_stream(seed, "changes", 0);
    for (int i = 0; i < s->n_clocks; i++) {
        th_time at = (th_time)((double)end * th_random_unit(random));
        const th_property_event clock = {.at = pick(random, 0, 3) ? at : 0,
                                         .kind = TH_PROPERTY_FREQUENCY,
                                         .object =
                                             (int32_t)pick(random, 0, w->system->n_accels - 1),
                                         .factor = factors[pick(random, 0, N_FACTORS - 1)]};
        CU_ASSERT_EQUAL(th_machine_add_property_event(m, &clock, NULL), 0);
    }
    for (int a = 0; s->n_clocks > 0 && seed % 2 && a < w->system->n_accels; a++) {
        const th_property_event jitter = {
            .kind = TH_PROPERTY_JITTER, .object = a, .factor = 0.3, .seed = seed};
        CU_ASSERT_EQUAL(th_machine_add_property_event(m, &jitter, NULL), 0);
    }
    for (int i = 0; i < s->n_cables; i++) {
        th_property_event down = {.at = (th_time)((double)end * th_random_unit(random)),
                                  .kind = TH_PROPERTY_BANDWIDTH,
                                  .object = (int32_t)pick(random, 0, w->system->n_links - 1),
                                  .factor = (double)pick(random, 0, 1) / 2},
                          up = down;
        up.at += end / 50;
        up.factor = 1;
        CU_ASSERT_EQUAL(th_machine_add_property_event(m, &down, NULL), 0);
        CU_ASSERT_EQUAL(th_machine_add_property_event(m, &up, NULL), 0);
    }
    for (int i = 0; i < s->n_failures; i++)
        fail_at_random(m, w, random, end);
}

typedef struct {
    th_machine_options options;
    int n_stops;     /* so often it is stopped, and its result taken */
    bool is_stepped; /* tile by tile, to the first stop and between every two later ones */
} way;

/* end: when it ends without changes; 0: there are none. */
static th_result replay(const world *w, const way *how, const sort *s, uint64_t seed, th_time end)
{
    th_error e = {"", ""};
    th_result r;
    th_observer stepping = {.type = &stepping_type};
    th_machine_options options = how->options;
    options.per_layer = true;
    options.network_options.weigh_by_latency = s->by_latency;
    auto_machine *m = th_machine_new(w->system, w->costs, &options, &e);
    CU_ASSERT_EQUAL(th_machine_observe(m, how->is_stepped ? &stepping : NULL, &e), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, w->program, &e), 0);
    if (end > 0)
        change_at_random(m, w, s, seed, end);
    for (int i = 1; i <= how->n_stops; i++) {
        th_machine_run_until(m, end / how->n_stops * i, &e);
        if (how->is_stepped)
            CU_ASSERT_EQUAL(th_machine_observe(m, i % 2 ? NULL : &stepping, &e), 0);
        r = result_of(w, m);
        CU_ASSERT_EQUAL(s->n_failures > 0 ? breaches(w, &r) : 0, 0);
        th_result_clear(&r);
    }
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    TAP_ASSERT_TEXT(e.text, "");
    r = result_of(w, m);
    return r;
}

/* Of bursts: tasks of the host at random times, and 30 transfers that start as each of them ends.
 */
static void random_bursts(world *w)
{
    enum { BURSTS = 10, SIZE = 30 };
    gsl_rng *r = w->random;
    th_program_free(w->program);
    w->program = th_program_new(NULL);
    for (int i = 0; i < BURSTS * (SIZE + 1); i++) {
        bool is_transfer = i % (SIZE + 1) > 0;
        th_task t = {.kind = is_transfer ? TH_TASK_TRANSFER : TH_TASK_HOST,
                     .layer = -1,
                     .node = -1,
                     .peer = -1};
        if (is_transfer) {
            t.node = (int32_t)pick(r, 0, w->system->n_nodes - 1);
            t.peer =
                (t.node + 1 + (int32_t)pick(r, 0, w->system->n_nodes - 2)) % w->system->n_nodes;
            t.bytes = pick(r, 1, pick(r, 0, 2) ? 100000 : 3000000);
        } else {
            t.release_ps = pick(r, 0, 20000000000);
        }
        th_program_add(w->program, &t, NULL);
        if (is_transfer)
            th_program_depend(w->program, i, i - i % (SIZE + 1), NULL);
    }
    th_program_finish(w->program, NULL);
}

/* Four accelerators whose convolutions take measured times, and compute from their start on; pools
 * load first. */
static world measured_world(uint64_t seed)
{
    static const char form[] =
        "name = \"four\"; designs = ( { name = \"d\"; type = \"table\"; "
        "file = \"%s/topology/systems/measured_example.csv\"; } ); accelerators = ( { names = "
        "[\"0\", \"1\", \"2\", \"3\"]; dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; "
        "latency = \"100ns\"; burst = \"64B\"; }; vector = { clock = \"200MHz\"; "
        "elements_per_cycle = 64; }; designs = [\"d\"]; } ); hosts = ( \"host\" ); links = ( "
        "{ center = \"host\"; leaves = [\"0\", \"1\", \"2\", \"3\"]; bandwidth = \"8Gbps\"; "
        "latency = \"1us\"; duplex = \"full\"; } );";
    char text[5000];
    const char *top = getenv("srcdir");
    snprintf(text, sizeof text, form, top ? top : ".");
    world w = {.system = system_of(text), .random = th_random_stream(seed, "measured", 0)};
    w.costs = th_compute_cost_cache_new(w.system, NULL);
    for (int i = 0; i < 2; i++) {
        th_shard s = conv_shard(1, 32, i ? 32 : 16, 28, 28, i ? 1 : 3);
        s.in_h = s.in_w = 28;
        s.kind = i ? TH_LAYER_POOL : TH_LAYER_CONV;
        CU_ASSERT_TRUE(th_compute_cost_lookup(w.costs, 0, 0, &s, NULL) >= 0);
    }
    w.n_works = th_compute_cost_count(w.costs);
    return w;
}

static world make_world(const sort *s, uint64_t seed)
{
    static const int64_t drams[] = {0, 40000000000, 56000000000, 192000000000};
    world w = s->is_measured ? measured_world(seed) : new_world(seed, drams[seed % 4]);
    if (s->in_bursts)
        random_bursts(&w);
    else
        random_program(&w, TASKS_MAX);
    for (int32_t t = 0; t < w.program->n_tasks; t++) {
        w.program->tasks[t].bytes *= t % 3 ? s->scale : 1;
        w.program->tasks[t].release_ps *= s->in_bursts ? s->scale : 1;
    }
    return w;
}

/* Does any task end more than a picosecond apart? docs/models/network.md says where that comes
 * from. */
static bool ends_differ(const th_result *a, const th_result *b)
{
    bool differ = a->n_tasks != b->n_tasks || a->is_done != b->is_done;
    for (int32_t t = 0; !differ && t < a->n_tasks; t++)
        differ = llabs(a->tasks[t].end_ps - b->tasks[t].end_ps) > 1;
    return differ;
}

/* In how many ways a run of the program differs from its run by the defaults. */
static int count_wrong(const world *w, const sort *s, uint64_t seed)
{
    static const way ways[] = {
        {.is_stepped = true},
        {.options.always_contended = true},
        {.options.network_options.solves_uncontended = true},
        {.n_stops = 40},
        {.is_stepped = true, .n_stops = 40},
    };
    const way by_default = {0};
    bool changes = s->n_clocks + s->n_cables + s->n_failures > 0;
    auto_result r = replay(w, &by_default, s, seed, 0);
    th_time end = changes ? r.elapsed_ps : 0;
    int wrong = 0;
    if (changes) {
        th_result_clear(&r);
        r = replay(w, &by_default, s, seed, end);
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        auto_result other = replay(w, &ways[i], s, seed, end);
        bool is_rounded = s->lasts_days && ways[i].options.always_contended;
        wrong += is_rounded ? ends_differ(&r, &other) : differences(&r, &other) > 0;
    }
    return wrong;
}

static void every_way_gives_the_same(const sort *s)
{
    int wrong = 0;
    for (int i = 0; i < TAP_REPEATS(s->n_programs); i++) {
        auto_world w = make_world(s, s->first_seed + (uint64_t)i);
        wrong += count_wrong(&w, s, s->first_seed + (uint64_t)i);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Seconds. */
TEST(clocks_that_change)
{
    every_way_gives_the_same(
        &(sort){.first_seed = 1000, .n_programs = 12, .scale = 1, .n_clocks = 40});
    every_way_gives_the_same(
        &(sort){.first_seed = 1100, .n_programs = 12, .scale = 1, .n_clocks = 40, .n_cables = 20});
    every_way_gives_the_same(&(sort){
        .first_seed = 1200, .n_programs = 12, .scale = 1, .n_clocks = 40, .is_measured = true});
}

/* In the midst of tasks of every mode, also where DRAMs are contended; a task begins again. */
TEST(accelerators_that_fail_and_are_repaired)
{
    every_way_gives_the_same(
        &(sort){.first_seed = 1300, .n_programs = 8, .scale = 1, .n_failures = 40});
    every_way_gives_the_same(&(sort){.first_seed = 1350,
                                     .n_programs = 8,
                                     .scale = 1,
                                     .n_failures = 30,
                                     .n_clocks = 20,
                                     .n_cables = 10});
}

/* Minutes. */
TEST(transfers_of_gigabytes)
{
    every_way_gives_the_same(&(sort){.first_seed = 2000, .n_programs = 24, .scale = 1000});
    every_way_gives_the_same(&(sort){.first_seed = 2100,
                                     .n_programs = 24,
                                     .scale = 1000,
                                     .n_clocks = 20,
                                     .n_cables = 40,
                                     .by_latency = true});
}

/* More than a day. */
TEST(transfers_of_terabytes)
{
    every_way_gives_the_same(
        &(sort){.first_seed = 3000, .n_programs = 24, .scale = 1000000, .lasts_days = true});
    every_way_gives_the_same(&(sort){.first_seed = 3100,
                                     .n_programs = 24,
                                     .scale = 1000000,
                                     .n_clocks = 20,
                                     .n_cables = 40,
                                     .lasts_days = true});
}

TEST(transfers_that_start_at_once)
{
    every_way_gives_the_same(&(sort){
        .first_seed = 1, .n_programs = 24, .scale = 1000000, .n_cables = 40, .in_bursts = true});
    every_way_gives_the_same(&(sort){.first_seed = 1,
                                     .n_programs = 24,
                                     .scale = 1000000,
                                     .n_cables = 40,
                                     .by_latency = true,
                                     .in_bursts = true});
}

/* Three machines, each with changes of its own, so that they meet the clocks in another order. What
 * one has worked out of a compute, another one finds. */
TEST(machines_share_ends_at_any_clocks)
{
    const sort s = {.scale = 1, .n_clocks = 12};
    size_t n_known = 0;
    int wrong = 0;
    for (uint64_t seed = 5000; seed < 5012; seed++) {
        auto_world w = make_world(&s, seed);
        auto_completion_cache *ends = th_completion_cache_new(TH_COMPLETION_CACHE_MAX);
        th_completion_cache_share(ends);
        const way alone = {0}, together = {.options.completions = ends};
        for (uint64_t i = 0; i < 3; i++) {
            const th_time end = 20000000000;
            auto_result r = replay(&w, &alone, &s, seed + 1000 * i, end);
            auto_result shared = replay(&w, &together, &s, seed + 1000 * i, end);
            wrong += differences(&r, &shared) > 0;
        }
        n_known += th_completion_cache_count(ends);
    }
    CU_ASSERT_TRUE(n_known > 100);
    CU_ASSERT_EQUAL(wrong, 0);
}

TAP_MAIN("replay_long")
