/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_packet_deadlock.c - what can deadlock is given channels, and what does is explained. */
#include <config.h>
#include "sim/machine/machine.h"
#include "tests/unit/generated.h"
#include "tests/unit/packet_help.h"
#include "topology/routing/route.h"

/* --- deadlock --------------------------------------------------------------------------------- */

/* Four nodes in a one-way ring send ten packets each to the one before them. */
static const transfer round_trip[] = {
    {0, 0, 3, 10000, 0}, {0, 1, 0, 10000, 0}, {0, 2, 1, 10000, 0}, {0, 3, 2, 10000, 0}};

TEST(a_routing_that_can_deadlock_is_given_channels)
{
    auto_system *s = one_way_ring(4);
    transfer t[4];
    memcpy(t, round_trip, sizeof t);
    drive(s, &(th_network_options){.packet_bytes = 1000, .buffer_bytes = 1000}, t, 4);
    drive(
        s,
        &(th_network_options){.packet_bytes = 1000, .buffer_bytes = 1000, .n_virtual_channels = 2},
        t, 4);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_TRUE(t[i].end > 0);
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(
        th_network_find("packet")->create(s, &(th_network_options){.n_virtual_channels = 1}, &e));
    TAP_ASSERT_ERROR(e, "NET-0014",
                     "network packet: the routes of system \"sys\" can deadlock (0_1 -> 1_2 "
                     "-> 2_3 -> 3_0 -> 0_1): that takes 2 virtual channels, there are 1");
}

/* The same with one channel and room for one packet: at 100 ns each link's buffer holds a packet
 * that goes on, and at 1000 ns the next ones would; all wait for all. */
TEST(a_deadlock_is_detected_and_explained)
{
    auto_system *s = one_way_ring(4);
    auto_network *n = create(s, &(th_network_options){.packet_bytes = 1000,
                                                      .buffer_bytes = 1000,
                                                      .n_virtual_channels = 1,
                                                      .may_deadlock = true});
    transfer t[4];
    memcpy(t, round_trip, sizeof t);
    CU_ASSERT_EQUAL(drive_network(n, t, 4, false), -1);
    TAP_ASSERT_TEXT(n->why.id, "NET-0016");
    TAP_ASSERT_TEXT(n->why.text,
                    "network packet: deadlock at 1us: 8 packets wait and none can move: "
                    "0_1 waits for 1_2 waits for 2_3 waits for 3_0 waits for 0_1");
}

/* The machine passes it on. */
TEST(a_run_that_is_stuck_ends_with_the_reason)
{
    auto_system *s = one_way_ring(4);
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    auto_program *p = th_program_new(NULL);
    const th_machine_options o = {.network = th_network_find("packet"),
                                  .network_options = {.packet_bytes = 1000,
                                                      .buffer_bytes = 1000,
                                                      .n_virtual_channels = 1,
                                                      .may_deadlock = true}};
    auto_machine *m = th_machine_new(s, w, &o, NULL);
    th_error e = {"", ""};
    for (int i = 0; i < 4; i++)
        th_program_add(p,
                       &(th_task){.kind = TH_TASK_TRANSFER,
                                  .node = round_trip[i].src,
                                  .peer = round_trip[i].dst,
                                  .bytes = round_trip[i].bytes,
                                  .layer = -1},
                       NULL);
    th_program_finish(p, NULL);
    th_machine_load(m, p, NULL);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_ERROR);
    TAP_ASSERT_TEXT(e.id, "NET-0016");
}

enum { CLASSES = 4 };

/* Kahn: takes away what nothing waits for; what is left waits in a cycle. edge[a * n + b]: a can
 * wait for b. */
static bool is_acyclic(const uint8_t *edge, int n)
{
    int left = n;
    bool *gone = calloc((size_t)n, sizeof *gone), any = true;
    while (any) {
        any = false;
        for (int a = 0; a < n; a++) {
            bool waits = gone[a];
            for (int b = 0; b < n && !waits; b++)
                waits = edge[a * n + b] && !gone[b];
            if (waits)
                continue;
            gone[a] = any = true;
            left--;
        }
    }
    free(gone);
    return left == 0;
}

/* All routes with their classes, spread over those that they leave, checked without any order of
 * links. */
static void assert_no_deadlock(const th_system *s, bool waits_at_end)
{
    auto_channels *c = th_channels_new(s, waits_at_end, NULL);
    int n = s->n_links * CLASSES, links[TH_ROUTE_MAX];
    uint8_t class_of[TH_ROUTE_MAX], *edge = calloc((size_t)n * (size_t)n, 1);
    CU_ASSERT_TRUE_FATAL(th_channels_needed(c) <= CLASSES);
    for (int src = 0; src < s->n_nodes; src++)
        for (int dst = 0; dst < s->n_nodes; dst++) {
            int hops = th_route(s, src, dst, links);
            int needed = th_channels_classes(c, links, hops, class_of);
            CU_ASSERT_TRUE(needed <= th_channels_needed(c));
            th_channels_spread(CLASSES - needed, src, dst, class_of, hops);
            for (int i = 0; i + (waits_at_end ? 1 : 2) < hops; i++)
                edge[(links[i] * CLASSES + class_of[i]) * n + links[i + 1] * CLASSES +
                     class_of[i + 1]] = 1;
        }
    CU_ASSERT_TRUE(is_acyclic(edge, n));
    free(edge);
}

TEST(classes_leave_no_cycle)
{
    auto_rng *r = th_random_stream(5, "channels", 0);
    for (int i = 0; i < 15; i++) {
        auto_system *s = i < 5 ? one_way_ring(3 + i) : random_system(r, (int)pick(r, 5, 14));
        assert_no_deadlock(s, false);
        assert_no_deadlock(s, true);
    }
}

/* Half-way routes go both ways round each ring: two classes are enough (one date line per ring and
 * direction), and leave no cycle. Rings of two and three nodes have no routes of three links. */
TEST(a_torus_takes_two_classes)
{
    const int cases[][3] = {{4, 4, 1}, {6, 4, 1}, {2, 6, 1}, {8, 1, 1}, {4, 2, 3}, {5, 4, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_system *s = generated("torus", cases[i], 3);
        for (int waits_at_end = 0; waits_at_end < 2; waits_at_end++) {
            th_channels *c = th_channels_new(s, waits_at_end, NULL);
            CU_ASSERT_EQUAL(th_channels_needed(c), 2);
            th_channels_free(c);
            assert_no_deadlock(s, waits_at_end);
        }
    }
}

/* Of two classes a route that needs one takes either, about as often. */
TEST(routes_are_spread_over_the_classes)
{
    int n_raised = 0;
    for (int src = 0; src < 40; src++)
        for (int dst = 0; dst < 40; dst++) {
            uint8_t class_of[3] = {0, 0, 0};
            th_channels_spread(1, src, dst, class_of, 3);
            CU_ASSERT_TRUE(class_of[0] <= 1 && class_of[1] == class_of[0] &&
                           class_of[2] == class_of[0]);
            n_raised += class_of[0];
        }
    CU_ASSERT_TRUE(n_raised > 700 && n_raised < 900);
}

/* A torus of 24 x 24 has more pairs than are looked at. Buffers of one packet, no more channels
 * than it is given: all arrive. */
TEST(large_systems_do_not_deadlock_either)
{
    enum { SIDE = 24, MESSAGES = 4000 };
    const th_topology_options o = {.dims = {SIDE, SIDE},
                                   .n_dims = 2,
                                   .bits_per_s = {GB},
                                   .latency_ps = {100 * NS},
                                   .n_bandwidths = 1,
                                   .n_latencies = 1,
                                   .host_latency_ps = -1};
    auto_system *prototype = shipped_system("ring8");
    auto_system *s = th_topology_create("torus", th_topology_find("torus"), &o, prototype, NULL);
    auto_network *n = create(s, &(th_network_options){.packet_bytes = 500, .buffer_bytes = 500});
    th_packet_network *p = (th_packet_network *)n;
    auto_rng *r = th_random_stream(6, "large", 0);
    static transfer t[MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        t[i] = (transfer){0, (int)pick(r, 0, SIDE * SIDE - 1), (int)pick(r, 0, SIDE * SIDE - 1),
                          2000, -1};
    CU_ASSERT_TRUE(p->channels.n_classes >= 2 + TH_CHANNELS_SPARE &&
                   p->channels.n_channels == p->channels.n_classes);
    CU_ASSERT_EQUAL(drive_network(n, t, MESSAGES, false), 0);
    for (int i = 0; i < MESSAGES; i++)
        CU_ASSERT_TRUE(t[i].end >= 0);
}

/* Two switches that nobody is joined to. */
TEST(a_missing_route_is_told)
{
    auto_system *s = new_system(2, 100);
    connect(s, 0, 1, GB, 100);
    th_system_add_node(s, "a", TH_NODE_SWITCH, 0, NULL);
    th_system_add_node(s, "b", TH_NODE_SWITCH, 0, NULL);
    finish(s);
    auto_network *n = create(s, &(th_network_options){0});
    transfer t[] = {{0, 2, 3, 10, -1}};
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(drive_network(n, t, 1, false), -1);
    CU_ASSERT_EQUAL(th_network_failed(n, &e), -1);
    TAP_ASSERT_ERROR(e, "NET-0015", "network packet: system \"sys\" has no route from a to b");
}

TAP_MAIN("packet_deadlock")
