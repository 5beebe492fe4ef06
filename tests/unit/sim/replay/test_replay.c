/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_replay.c - random programs: every way of running one gives the same result, and what holds
 * for every result. test_machine.c has the cases by hand. */
#include <config.h>
#include "sim/observe/event_recorder.h"
#include "base/alloc.h"
#include "sim/analysis/critical_path.h"
#include "tests/unit/replay_checks.h"
#include "tests/unit/stepping.h"
#include "tests/unit/tap.h"
#include "topology/routing/route.h"

static void depend(th_program *p, int32_t after, int32_t before)
{
    th_program_depend(p, after, before, NULL);
}

static const th_machine_options per_layer = {.per_layer = true};

static th_result replay_observed(const world *w, const th_machine_options *o, th_observer *observer)
{
    th_error e = {"", ""};
    th_machine_options options = o ? *o : (th_machine_options){0};
    options.per_layer = true;
    auto_machine *m = th_machine_new(w->system, w->costs, &options, &e);
    CU_ASSERT_EQUAL(th_machine_observe(m, observer, &e), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, w->program, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    TAP_ASSERT_TEXT(e.text, "");
    return result_of(w, m);
}

static th_result replay(const world *w, const th_machine_options *o)
{
    return replay_observed(w, o, NULL);
}

/* Tile by tile. */
static th_result replay_stepped(const world *w, const th_machine_options *o)
{
    th_observer stepping = {.type = &stepping_type};
    return replay_observed(w, o, &stepping);
}

static int differs(th_result r, const th_result *from)
{
    int n = differences(&r, from);
    th_result_clear(&r);
    return n;
}

/* A recorder of tiles is attached and detached at random events. */
static th_result replay_recorded(const world *w, const th_machine_options *o)
{
    th_error e = {"", ""};
    th_machine_options options = o ? *o : (th_machine_options){0};
    options.per_layer = true;
    th_event_recorder recorder;
    th_event_recorder_init(&recorder);
    recorder.kinds = 1u << TH_RECORD_TILES;
    auto_machine *m = th_machine_new(w->system, w->costs, &options, &e);
    int failed = th_machine_load(m, w->program, &e);
    th_stop stop = TH_STOP_UNTIL;
    while (!failed && stop != TH_STOP_DONE && stop != TH_STOP_ERROR) {
        bool observes = pick(w->random, 0, 3) > 0;
        failed = th_machine_observe(m, observes ? &recorder.observer : NULL, &e);
        for (int i = (int)pick(w->random, 1, 2000);
             i > 0 && stop != TH_STOP_DONE && stop != TH_STOP_ERROR; i--) {
            stop = th_machine_step(m, 1, &e);
            th_event_recorder_forget(&recorder, NULL);
        }
    }
    CU_ASSERT_FALSE(failed);
    CU_ASSERT_EQUAL(stop, TH_STOP_DONE);
    th_result r = result_of(w, m);
    th_event_recorder_clear(&recorder);
    return r;
}

static void every_way_of_running_on(uint64_t seed, int64_t dram_bits_per_s, int rounds)
{
    auto_world w = new_world(seed, dram_bits_per_s);
    int wrong = 0;
    int64_t expanded = 0;
    for (int round = 0; round < rounds; round++) {
        random_program(&w, (int)pick(w.random, 5, TASKS_MAX));
        auto_result r = replay(&w, NULL);
        expanded += r.n_expanded;
        wrong += breaches(&w, &r) + path_breaches(&r) + order_breaches(&w, &r);
        wrong += r.n_events != 2 * r.n_tasks;
        wrong += differs(replay_stepped(&w, NULL), &r);
        wrong += differs(replay(&w, &(th_machine_options){.always_contended = true}), &r);
        wrong += differs(
            replay(&w, &(th_machine_options){.network_options.solves_uncontended = true}), &r);
        for (int s = 0; s < 4; s++)
            wrong += differs(replay_recorded(&w, NULL), &r);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(expanded > 10);
}

/* Bandwidths that change while flows are on them, alone or not; some cables go down and come up
 * again. */
static th_result replay_changed(const world *w, const th_machine_options *o, uint64_t seed,
                                th_time end)
{
    th_error e = {"", ""};
    auto_rng *random = th_random_stream(seed, "changes", 0);
    auto_machine *m = th_machine_new(w->system, w->costs, o, &e);
    CU_ASSERT_EQUAL(th_machine_load(m, w->program, &e), 0);
    for (int i = 0; i < 40; i++) {
        th_property_event down = {.at = (th_time)((double)end * th_random_unit(random)),
                                  .kind = TH_PROPERTY_BANDWIDTH,
                                  .object = (int32_t)pick(random, 0, w->system->n_links - 1),
                                  .factor = (double)pick(random, 0, 2) / 2},
                          up = down;
        up.at += end / 50;
        up.factor = 1;
        CU_ASSERT_EQUAL(th_machine_add_property_event(m, &down, &e), 0);
        CU_ASSERT_EQUAL(th_machine_add_property_event(m, &up, &e), 0);
    }
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    TAP_ASSERT_TEXT(e.text, "");
    return result_of(w, m);
}

/* Whether flows that are alone keep to themselves or not, with equal weights and others, contended
 * DRAMs and not. */
TEST(flows_that_are_alone_end_as_solved)
{
    int wrong = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        auto_world w = new_world(70 + seed, (int64_t[]){0, 40000000000, 56000000000}[seed % 3]);
        random_program(&w, (int)pick(w.random, 50, TASKS_MAX));
        th_machine_options by_itself = {.network_options.weigh_by_latency = seed % 2 == 1},
                           solved = by_itself;
        solved.network_options.solves_uncontended = true;
        auto_result r = replay(&w, &by_itself);
        wrong += differs(replay(&w, &solved), &r);
        th_time end = r.elapsed_ps;
        th_result_clear(&r);
        r = replay_changed(&w, &by_itself, seed, end);
        wrong += differs(replay_changed(&w, &solved, seed, end), &r);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(collapsing_changes_nothing)
{
    every_way_of_running_on(51, 0, 12);
}

/* Links bring 6.5 GB/s in all and 1 at most each: at 5 GB/s flows could saturate a DRAM as soon as
 * a cable is in use, at 7 GB/s with three of them, at 24 by no means. */
TEST(collapsing_changes_nothing_with_other_drams)
{
    every_way_of_running_on(52, 40000000000, 5);
    every_way_of_running_on(54, 56000000000, 6);
    every_way_of_running_on(53, 192000000000, 4);
}

/* Half of the accelerators weak, half not. */
TEST(collapsing_changes_nothing_with_mixed_drams)
{
    auto_world w = new_world(54, 0);
    int wrong = 0;
    for (int round = 0; round < 6; round++) {
        th_compute_cost_cache *before = w.costs;
        for (int a = 0; a < 8; a += 2)
            w.system->nodes[w.system->accel_node[a]].a.dram_bits_per_s =
                pick(w.random, 8, 40) * 1000000000;
        random_program(&w, 150);
        th_compute_cost_cache *own = th_compute_cost_cache_new(w.system, NULL);
        for (int32_t t = 0; t < w.program->n_tasks; t++) {
            th_task *k = &w.program->tasks[t];
            if (k->kind == TH_TASK_COMPUTE) {
                const th_compute_cost *same = th_compute_cost_get(before, k->compute_cost);
                k->compute_cost = th_compute_cost_lookup(own, w.system->nodes[k->node].accel,
                                                         same->design, &same->shard, NULL);
            }
        }
        w.costs = own;
        th_result r = replay(&w, NULL);
        wrong += breaches(&w, &r) + path_breaches(&r) + order_breaches(&w, &r);
        wrong += differs(replay_stepped(&w, NULL), &r);
        wrong += differs(replay_recorded(&w, NULL), &r);
        th_result_clear(&r);
        th_compute_cost_cache_free(own);
        w.costs = before;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Who does not ask for layers gets the same of all else. */
TEST(layers_change_nothing)
{
    auto_world w = new_world(62, 40000000000);
    random_program(&w, 200);
    auto_result with = replay(&w, NULL);
    auto_machine *m = th_machine_new(w.system, w.costs, NULL, NULL);
    th_machine_load(m, w.program, NULL);
    th_machine_run_until(m, TH_TIME_MAX, NULL);
    auto_result without = result_of(&w, m);
    CU_ASSERT_EQUAL(without.n_layers, 0);
    CU_ASSERT_EQUAL(with.n_layers, 6);
    with.n_layers = 0;
    CU_ASSERT_EQUAL(differences(&with, &without), 0);
}

TEST(ideal_networks_never_expand)
{
    auto_world w = new_world(55, 0);
    random_program(&w, 300);
    const th_machine_options o = {.network = th_network_find("ideal")};
    auto_result r = replay(&w, &o);
    CU_ASSERT_EQUAL(breaches(&w, &r) + path_breaches(&r) + order_breaches(&w, &r), 0);
    CU_ASSERT_EQUAL(r.n_expanded, 0);
    auto_result all = replay_stepped(&w, &o);
    CU_ASSERT_EQUAL(differences(&r, &all), 0);
}

/* Results so far hold their sums and never go back. */
static int inspect(const world *w, th_machine *m, th_time *seen)
{
    auto_result r = result_of(w, m);
    int wrong = breaches(w, &r) + (r.elapsed_ps < *seen);
    *seen = r.elapsed_ps;
    return wrong;
}

enum { NONE, SLOW_DRAM, N_SORTS };

static world world_of_sort(uint64_t seed, int sort)
{
    return new_world(seed, sort == SLOW_DRAM ? 40000000000 : 0);
}

TEST(slices_and_steps_change_nothing)
{
    for (int sort = 0; sort < N_SORTS; sort++) {
        auto_world w = world_of_sort(56, sort);
        int wrong = 0;
        random_program(&w, 250);
        auto_result r = replay(&w, NULL);
        auto_machine *m = th_machine_new(w.system, w.costs, &per_layer, NULL);
        th_time seen = 0, to = 0;
        th_machine_load(m, w.program, NULL);
        while (th_machine_run_until(m, to, NULL) == TH_STOP_UNTIL) {
            wrong += th_machine_now(m) != to || inspect(&w, m, &seen);
            to += pick(w.random, 0, r.elapsed_ps / 50);
        }
        wrong += differs(result_of(&w, m), &r);
        th_machine_load(m, w.program, NULL);
        seen = 0;
        int64_t events = 0;
        while (th_machine_step(m, 1, NULL) == TH_STOP_UNTIL) {
            wrong += th_machine_events(m) <= events || th_machine_events(m) > events + 2;
            events = th_machine_events(m);
            wrong += inspect(&w, m, &seen);
        }
        wrong += differs(result_of(&w, m), &r);
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

/* Loaded again after the end, and from the midst of it, with another program in between. */
TEST(loading_again_gives_the_same)
{
    for (int sort = 0; sort < N_SORTS; sort++) {
        auto_world w = world_of_sort(57, sort);
        int wrong = 0;
        random_program(&w, 150);
        auto_program *other = w.program;
        w.program = NULL;
        random_program(&w, 200);
        auto_result r = replay(&w, NULL);
        auto_machine *m = th_machine_new(w.system, w.costs, &per_layer, NULL);
        for (int i = 0; i < 8; i++) {
            th_machine_load(m, other, NULL);
            th_machine_run_until(m, r.elapsed_ps * i / 8, NULL);
            th_machine_load(m, w.program, NULL);
            if (i % 2)
                CU_ASSERT_EQUAL(th_machine_run_until(m, r.elapsed_ps * i / 9, NULL), TH_STOP_UNTIL);
            if (i % 2)
                th_machine_load(m, w.program, NULL);
            th_machine_run_until(m, TH_TIME_MAX, NULL);
            wrong += differs(result_of(&w, m), &r);
        }
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

TEST(machines_side_by_side_do_not_meet)
{
    world a = new_world(58, 0), b = new_world(59, 40000000000);
    random_program(&a, 200);
    random_program(&b, 200);
    auto_result ra = replay(&a, NULL), rb = replay(&b, NULL);
    th_machine *ma = th_machine_new(a.system, a.costs, &per_layer, NULL),
               *mb = th_machine_new(b.system, b.costs, &per_layer, NULL);
    th_machine_load(ma, a.program, NULL);
    th_machine_load(mb, b.program, NULL);
    bool more = true;
    while (more) {
        more = th_machine_step(ma, pick(a.random, 1, 9), NULL) == TH_STOP_UNTIL;
        more |= th_machine_step(mb, pick(a.random, 1, 9), NULL) == TH_STOP_UNTIL;
    }
    CU_ASSERT_EQUAL(differs(result_of(&a, ma), &ra) + differs(result_of(&b, mb), &rb), 0);
    th_machine_free(ma);
    th_machine_free(mb);
    free_world(&a);
    free_world(&b);
}

/* The same dependencies, added in another order. */
/* What one machine has worked out, another one knows; and it outlives both. */
TEST(machines_share_ends_of_computes)
{
    auto_world w = new_world(77, 0);
    auto_completion_cache *ends = th_completion_cache_new(TH_COMPLETION_CACHE_MAX);
    th_completion_cache_share(ends);
    for (int round = 0; round < 10; round++) {
        random_program(&w, TASKS_MAX);
        auto_result r = replay(&w, NULL);
        CU_ASSERT_EQUAL(differs(replay(&w, &(th_machine_options){.completions = ends}), &r), 0);
        size_t n = th_completion_cache_count(ends);
        CU_ASSERT_EQUAL(differs(replay(&w, &(th_machine_options){.completions = ends}), &r), 0);
        CU_ASSERT_EQUAL(th_completion_cache_count(ends), n);
    }
    CU_ASSERT_TRUE(th_completion_cache_count(ends) > 10);
}

TEST(the_order_of_telling_does_not_matter)
{
    auto_world w = new_world(60, 0);
    int wrong = 0;
    for (int round = 0; round < 5; round++) {
        random_program(&w, 200);
        auto_result r = replay(&w, NULL);
        auto_program *original = w.program;
        w.program = th_program_new(NULL);
        for (int32_t t = 0; t < original->n_tasks; t++)
            th_program_add(w.program, &original->tasks[t], NULL);
        for (int i = n_edges - 1; i >= 0; i--)
            depend(w.program, edges[i][0], edges[i][1]);
        th_program_finish(w.program, NULL);
        wrong += differs(replay(&w, NULL), &r);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* --- memory ----------------------------------------------------------------------------------- */

TAP_MAIN("replay")
