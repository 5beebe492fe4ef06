/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_group_form.c - groups of one form: every algorithm takes the same time for each of them
 * alone, and auto's choice is the one that it makes when asked for nothing else. */
#include <config.h>
#include "sim/collective/algorithms.h"
#include "tests/unit/collective_time.h"
#include "tests/unit/draw.h"
#include "tests/unit/sim_help.h"

enum { GROUP = 4, N_GROUPS = 6, N = GROUP * N_GROUPS };

static const int64_t gb = INT64_C(8000000000); /* 1 GB/s in bits per second */

/* Accelerators that are not connected, with a DRAM of dram_gbytes GB/s. */
static th_system *new_system(int dram_gbytes)
{
    th_system *s = th_system_new("sys", NULL), *prototype = shipped_system("npu_v1");
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        th_system_add_node(s, name, TH_NODE_ACCEL, 0, NULL);
        th_system_copy_accel(s, i, prototype, 0, NULL);
        s->nodes[i].a.dram_bits_per_s = dram_gbytes * gb;
    }
    th_system_free(prototype);
    return s;
}

static th_cable cable_of(int gbytes, int ns)
{
    return th_cable_symmetric(gbytes * gb, (th_time)ns * 1000, true);
}

/* Cables that are alike but for a few odd ones: half the rate, more latency, two in parallel, or
 * half duplex. */
static void connect(th_system *s, gsl_rng *r, int a, int b)
{
    int odd = draw(r, 0, 15);
    th_cable cable = cable_of(odd == 0 ? 5 : 10, odd == 1 ? 900 : 500);
    cable.is_full_duplex = odd != 3;
    th_system_add_cable(s, a, b, cable, NULL);
    if (odd == 2)
        th_system_add_cable(s, a, b, cable_of(10, 500), NULL);
}

static int add_switch(th_system *s, gsl_rng *r, const char *name, bool reduces)
{
    int node = th_system_add_node(s, name, TH_NODE_SWITCH, 0, NULL);
    s->nodes[node].reduces = reduces;
    if (reduces && draw(r, 0, 3) == 0)
        s->nodes[node].reduction_bits_per_s = 20 * gb;
    return node;
}

static void add_star(th_system *s, gsl_rng *r)
{
    int hub = add_switch(s, r, "hub", draw(r, 0, 1));
    for (int i = 0; i < N; i++)
        connect(s, r, i, hub);
}

static void add_ring(th_system *s, gsl_rng *r)
{
    for (int i = 0; i < N; i++)
        connect(s, r, i, (i + 1) % N);
}

/* Rows of GROUP. */
static void add_torus(th_system *s, gsl_rng *r)
{
    for (int i = 0; i < N; i++) {
        connect(s, r, i, i / GROUP * GROUP + (i + 1) % GROUP);
        connect(s, r, i, (i + GROUP) % N);
    }
}

/* A leaf for each group, and two spines. */
static void add_fat_tree(th_system *s, gsl_rng *r)
{
    char name[16];
    bool reduces = draw(r, 0, 1);
    int spine[2] = {add_switch(s, r, "s0", reduces), add_switch(s, r, "s1", reduces)};
    for (int g = 0; g < N_GROUPS; g++) {
        snprintf(name, sizeof name, "l%d", g);
        int leaf = add_switch(s, r, name, reduces);
        for (int i = 0; i < GROUP; i++) {
            s->nodes[g * GROUP + i].group = g / 2;
            connect(s, r, g * GROUP + i, leaf);
        }
        for (int i = 0; i < 2; i++)
            connect(s, r, leaf, spine[i]);
    }
}

static void (*const topologies[])(th_system *s, gsl_rng *r) = {add_star, add_ring, add_torus,
                                                               add_fat_tree};
enum { N_TOPOLOGIES = sizeof topologies / sizeof *topologies };

static th_system *draw_system(gsl_rng *r, int topology)
{
    th_system *s = new_system(draw(r, 0, 1) ? 1000 : 15);
    if (draw(r, 0, 1))
        s->nodes[draw(r, 0, N - 1)].a.dram_bits_per_s = 8 * gb;
    topologies[topology](s, r);
    CU_ASSERT_EQUAL(th_system_finish(s, NULL), 0);
    return s;
}

/* Group g: neighbours, or every N_GROUPS-th. */
static th_collective group_of(int g, bool is_strided, int kind, int64_t bytes, int32_t *nodes)
{
    for (int i = 0; i < GROUP; i++)
        nodes[i] = is_strided ? g + i * N_GROUPS : g * GROUP + i;
    return (th_collective){
        .kind = kind, .rank_node = nodes, .n_ranks = GROUP, .bytes = bytes, .chunks = 1};
}

static bool same_form(const th_system *s, const th_collective *a, const th_collective *b)
{
    th_collective_choice_key x, y;
    CU_ASSERT_EQUAL(th_group_form(a, s, 7, &x, NULL), 1);
    CU_ASSERT_EQUAL(th_group_form(b, s, 7, &y, NULL), 1);
    return memcmp(&x, &y, sizeof x) == 0;
}

/* By each algorithm that can. */
static void take_the_same(const th_system *s, const char *network, th_collective a, th_collective b)
{
    for (int i = 0; th_algorithms[i]; i++) {
        th_collective_schedule cs[2];
        a.algorithm = b.algorithm = th_algorithms[i];
        a.chunks = b.chunks = 3;
        int refused[2] = {th_collective_schedule_init(&cs[0], &a, s, NULL),
                          th_collective_schedule_init(&cs[1], &b, s, NULL)};
        CU_ASSERT_EQUAL(refused[0], refused[1]);
        for (int k = 0; k < 2; k++)
            if (!refused[k])
                th_collective_schedule_clear(&cs[k]);
        if (!refused[0])
            CU_ASSERT_EQUAL(time_of(s, network, &a), time_of(s, network, &b));
    }
}

/* On random systems, all pairs of groups. */
TEST(groups_of_one_form_take_the_same_time)
{
    auto_rng *r = th_random_stream(1, "form", 0);
    int alike = 0, different = 0;
    for (int i = 0; i < 60 * N_TOPOLOGIES; i++) {
        auto_system *s = draw_system(r, i % N_TOPOLOGIES);
        int kind = draw(r, 0, TH_BARRIER - 1);
        bool is_strided = draw(r, 0, 3) == 0;
        int64_t bytes = draw(r, 1, 2000000);
        for (int g = 0; g < N_GROUPS; g++)
            for (int h = 0; h < g; h++) {
                int32_t nodes[2][GROUP];
                th_collective a = group_of(g, is_strided, kind, bytes, nodes[0]),
                              b = group_of(h, is_strided, kind, bytes, nodes[1]);
                bool is_same = same_form(s, &a, &b);
                alike += is_same;
                different += !is_same;
                if (is_same)
                    take_the_same(s, i % 3 ? "fluid" : "ideal", a, b);
            }
    }
    printf("# %d pairs alike, %d not\n", alike, different);
    CU_ASSERT_TRUE(alike > 100 && different > 100);
}

static th_collective_choice choice_of(th_tuner_context t, const th_collective *c)
{
    th_collective_choice out = {NULL, 0};
    CU_ASSERT_EQUAL(th_tuner_choose(&t, c, &out.algorithm, &out.chunks, NULL), 0);
    return out;
}

/* All groups of a system, one after the other, choose what each chooses alone. */
TEST(a_group_chooses_what_it_chooses_alone)
{
    auto_rng *r = th_random_stream(2, "form", 0);
    for (int i = 0; i < 12 * N_TOPOLOGIES; i++) {
        auto_system *s = draw_system(r, i % N_TOPOLOGIES);
        auto_costs *w = th_compute_cost_cache_new(s, NULL);
        auto_machine *m = th_machine_new(
            s, w, &(th_machine_options){.network = th_network_types[i / N_TOPOLOGIES % 3]}, NULL);
        th_tuner_context t = th_machine_tuner_context(m), alone = t;
        alone.choices = NULL;
        int kind = draw(r, 0, TH_BARRIER - 1);
        int64_t bytes = draw(r, 1, 1 << draw(r, 4, 17));
        for (int g = 0; g < N_GROUPS; g++) {
            int32_t nodes[GROUP];
            th_collective c = group_of(g, false, kind, bytes, nodes);
            c.chunks = 0;
            th_collective_choice one = choice_of(t, &c), other = choice_of(alone, &c);
            CU_ASSERT_PTR_EQUAL(one.algorithm, other.algorithm);
            CU_ASSERT_EQUAL(one.chunks, other.chunks);
        }
    }
}

static int n_simulators;
static th_simulator counted;
static void *(*create)(void *setup, th_error *err);

static void *create_counted(void *setup, th_error *err)
{
    n_simulators++;
    return create(setup, err);
}

/* Six simulators before; what differs in one cable, rate, latency or switch still has its own. */
TEST(alike_groups_of_a_star_are_simulated_once)
{
    auto_system *s = new_system(1000);
    int hub = th_system_add_node(s, "hub", TH_NODE_SWITCH, 0, NULL);
    for (int i = 0; i < N; i++)
        th_system_add_cable(s, i, hub, cable_of(i == GROUP ? 5 : 10, i == 2 * GROUP ? 900 : 500),
                            NULL);
    th_system_add_cable(s, 3 * GROUP, hub, cable_of(10, 500), NULL);
    CU_ASSERT_EQUAL(th_system_finish(s, NULL), 0);
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    auto_machine *m = th_machine_new(s, w, NULL, NULL);
    th_tuner_context t = th_machine_tuner_context(m);
    counted = *t.simulator;
    create = counted.create;
    counted.create = create_counted;
    t.simulator = &counted;
    n_simulators = 0;
    for (int g = 0; g < N_GROUPS; g++) {
        int32_t nodes[GROUP];
        th_collective c = group_of(g, false, TH_ALL_REDUCE, 100000, nodes);
        choice_of(t, &c);
    }
    CU_ASSERT_EQUAL(n_simulators, 3 + 1); /* groups 1, 2, 3, and the others */
}

TAP_MAIN("group_form")
