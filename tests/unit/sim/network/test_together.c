/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_together.c - messages that start together, followed by classes, end when they end one by
 * one, and leave the same statistics. */
#include <config.h>
#include "base/alloc.h"
#include "sim/machine/machine.h"
#include "tests/unit/auto_network.h"
#include "tests/unit/collective_shapes.h"
#include "tests/unit/draw.h"

typedef struct shape {
    const char *type;
    int dims[3], n_dims;
} shape;

static const shape shapes[] = {
    {"star", {13}, 1},           {"ring", {8}, 1},
    {"ring", {13}, 1},           {"line", {9}, 1},
    {"fully_connected", {9}, 1}, {"mesh", {3, 4}, 2},
    {"torus", {4, 4}, 2},        {"torus", {3, 5}, 2},
    {"torus", {3, 3, 3}, 3},     {"hypercube", {4}, 1},
    {"fattree", {4, 2}, 2},      {"fattree", {3, 3}, 2},
    {"dragonfly", {1, 2, 2}, 3}, {"islands", {2, 8}, 2},
    {"islands", {5, 4}, 2},      {"rails", {4, 2, 4}, 3},
};

static void run_one_by_one(th_network *n, const th_message *m, int count, th_time *end)
{
    auto_events *q = th_events_new();
    th_event e;
    for (int i = 0; i < count; i++)
        CU_ASSERT_EQUAL(n->type->start(n, q, 0, i, &m[i]), 0);
    for (th_time now = 0;; now = e.time) {
        while (th_events_peek(q, &e) && e.time == now) {
            th_events_pop(q, &e);
            if (n->type->event(n, q, now, &e))
                *end = now;
        }
        CU_ASSERT_EQUAL(n->type->settle(n, q, now), 0);
        if (!th_events_peek(q, &e))
            return;
    }
}

/* Of all ranks to all, to one, from one, or to those at some distances; of one or two lengths. */
static int draw_messages(const th_system *s, gsl_rng *r, th_message *out)
{
    int n = s->n_accels, count = 0, pattern = draw(r, 0, 3), root = draw(r, 0, n - 1);
    int far = draw(r, 1, n - 1);
    int64_t bytes = draw(r, 0, 3) ? draw(r, 1, 2000000) * (draw(r, 0, 3) ? 1 : INT64_C(1000003))
                                  : draw(r, 0, 9);
    int64_t other = draw(r, 0, 1) ? bytes : bytes / 2;
    int late = draw(r, 0, 1) * draw(r, 1, 900000);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int hops = (j - i + n) % n;
            bool is_sent = pattern == 0 || (pattern == 1 && j == root) ||
                           (pattern == 2 && i == root) || (pattern == 3 && hops % far < 2);
            if (is_sent && i != j)
                out[count++] = (th_message){s->accel_node[i], s->accel_node[j],
                                            hops % 2 ? bytes : other, late, draw(r, 0, 1)};
        }
    return count;
}

static void expect_the_same(const th_network *a, const th_network *b)
{
    for (int l = 0; l < a->system->n_links; l++) {
        CU_ASSERT_EQUAL(a->link_bytes[l], b->link_bytes[l]);
        CU_ASSERT_EQUAL(a->link_busy_ps[l], b->link_busy_ps[l]);
        CU_ASSERT_EQUAL(a->link_flow_ps[l], b->link_flow_ps[l]);
        CU_ASSERT_EQUAL(a->link_peak_flows[l], b->link_peak_flows[l]);
    }
}

TEST(classes_of_messages_end_when_each_does)
{
    auto_rng *r = th_random_stream(1, "together", 0);
    int n_told = 0, n_all = 0;
    for (size_t i = 0; i < 40 * sizeof shapes / sizeof *shapes; i++) {
        const shape *of = &shapes[i / 40];
        auto_system *s = generated_with(of->type, of->dims, of->n_dims, i % 4 == 3);
        auto_network *one = th_network_find("fluid")->create(s, &(th_network_options){0}, NULL);
        auto_network *all = th_network_find("fluid")->create(s, &(th_network_options){0}, NULL);
        th_message m[32 * 32];
        th_time end = 0, told;
        int n = draw_messages(s, r, m);
        one->type->reset(one);
        all->type->reset(all);
        run_one_by_one(one, m, n, &end);
        n_all++;
        if (all->type->together(all, m, n, TH_TIME_MAX, &told) <= 0)
            continue;
        n_told++;
        CU_ASSERT_EQUAL(end, told);
        if (end != told)
            printf("# %s %d, %d messages: %lld ps, together %lld\n", of->type, of->dims[0], n,
                   (long long)end, (long long)told);
        expect_the_same(one, all);
    }
    printf("# %d of %d were told together\n", n_told, n_all);
    CU_ASSERT_TRUE(n_told > n_all / 4);
}

/* Every observer sees events; this one looks at none. */
static const th_observer_type blind = {0};

static void run_collective(const th_system *s, const th_collective *c, const char *network,
                           bool is_seen, th_result *out)
{
    const th_machine_options o = {.network = th_network_find(network)};
    const th_task task = {.kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .layer = -1};
    th_observer observer = {.type = &blind};
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    auto_machine *m = th_machine_new(s, w, &o, NULL);
    auto_program *p = th_program_new(NULL);
    th_time end;
    CU_ASSERT_TRUE(!th_program_add_collective(p, c, NULL) && !th_program_add(p, &task, NULL) &&
                   !th_program_finish(p, NULL) && !th_machine_load(m, p, NULL));
    CU_ASSERT_EQUAL(th_machine_observe(m, is_seen ? &observer : NULL, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_run_together(m, 0, &end, NULL), !is_seen); /* later: not yet */
    CU_ASSERT_EQUAL(th_machine_now(m), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
    CU_ASSERT_TRUE(is_seen || end == th_machine_now(m));
    CU_ASSERT_EQUAL(th_machine_result(m, out, NULL), 0);
}

/* Of the run with one step and of that event by event. */
static void expect_equal_results(const th_system *s, const th_collective *c, const char *network)
{
    th_result all = {0}, one = {0};
    run_collective(s, c, network, false, &all);
    run_collective(s, c, network, true, &one);
    CU_ASSERT_EQUAL(all.elapsed_ps, one.elapsed_ps);
    CU_ASSERT_EQUAL(all.moved_bytes, one.moved_bytes);
    CU_ASSERT_EQUAL(all.n_events, one.n_events);
    for (int l = 0; l < s->n_links; l++) {
        const th_link_result *x = &all.links[l], *y = &one.links[l];
        CU_ASSERT_TRUE(x->bytes == y->bytes && x->busy_ps == y->busy_ps &&
                       x->flow_ps == y->flow_ps && x->peak_flows == y->peak_flows);
    }
    for (int a = 0; a < s->n_accels; a++)
        CU_ASSERT_TRUE(all.accels[a].sent_bytes == one.accels[a].sent_bytes &&
                       all.accels[a].received_bytes == one.accels[a].received_bytes &&
                       all.accels[a].idle_ps == one.accels[a].idle_ps);
    CU_ASSERT_EQUAL(all.tasks[0].ready_ps, one.tasks[0].ready_ps);
    CU_ASSERT_EQUAL(all.tasks[0].start_ps, one.tasks[0].start_ps);
    CU_ASSERT_EQUAL(all.tasks[0].end_ps, one.tasks[0].end_ps);
    CU_ASSERT_EQUAL(all.tasks[0].cause, one.tasks[0].cause);
    th_result_clear(&all);
    th_result_clear(&one);
}

TEST(a_run_of_one_collective_has_the_same_results)
{
    static const char *const algorithms[] = {"direct", "direct"};
    const int kinds[] = {TH_ALL_TO_ALL, TH_ALL_GATHER};
    auto_system *s = generated("fattree", (int[]){66, 1}, 2);
    for (int i = 0; i < 2; i++) {
        th_collective c = collective(s, kinds[i], algorithms[i], 1000003);
        expect_equal_results(s, &c, "fluid");
    }
}

/* The tuner's simulation of the algorithm that it has chosen is the run, on every network. */
TEST(a_run_after_a_choice_has_the_same_results)
{
    static const char *const networks[] = {"fluid", "packet", "ideal"};
    auto_rng *r = th_random_stream(1, "tuned", 0);
    for (size_t i = 0; i < 4 * sizeof shapes / sizeof *shapes; i++) {
        const shape *of = &shapes[i / 4];
        auto_system *s = generated_with(of->type, of->dims, of->n_dims, i % 4 == 3);
        th_collective c =
            collective(s, draw(r, TH_ALL_REDUCE, TH_SCATTER), "direct", draw(r, 1, 300000));
        c.algorithm = NULL;
        c.chunks = draw(r, 0, 1);
        c.root = draw(r, 0, c.n_ranks - 1);
        c.delay_ps = draw(r, 0, 1) * draw(r, 1, 900000);
        expect_equal_results(s, &c, networks[i % 3]);
    }
}

TAP_MAIN("together")
