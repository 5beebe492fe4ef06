/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_network.c - transfers through networks, by hand. */
#include <config.h>
#include "sim/network/network.h"
#include "base/alloc.h"
#include "tests/unit/network_help.h"
#include "topology/routing/route.h"

/* --- by hand ---------------------------------------------------------------------------------- */

/* 0 - 1 at 1 GB/s, 1000 ns, 1 - 2 at 0.25 GB/s, 500 ns: 1000 bytes take 1500 + 4000 ns, however
 * many do. */
TEST(ideal_adds_latencies_and_the_narrowest_link)
{
    auto_system *s = new_system(3, 100);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 1000000, true), NULL);
    th_system_add_cable(s, 1, 2, th_cable_symmetric(GB / 4, 500000, true), NULL);
    finish(s);
    transfer t[] = {{0, 0, 2, 1000, 0}, {0, 0, 2, 1000, 0}, {7000, 2, 1, 3, 0}};
    drive("ideal", s, t, 3);
    CU_ASSERT_TRUE(t[0].end == 5500000 && t[1].end == 5500000 && t[2].end == 7000 + 500000 + 12000);
    drive("fluid", s, t + 2, 1); /* alone, fluid is ideal */
    CU_ASSERT_EQUAL(t[2].end, 7000 + 500000 + 12000);
}

static const double *expected_demands;
static int wrong_demands;

static void watch_first_demands(th_network *n, th_time now, th_time next)
{
    (void)next;
    for (int a = 0; now == 0 && a < n->system->n_accels; a++)
        wrong_demands += fabs(th_network_dram_demand(n, a) - expected_demands[a]) > 1;
}

/* 0 - 1 at 1 GB/s, 1 - 2 at 0.5. Flows 0 -> 2, 0 -> 1, 1 -> 2: the second link is the bottleneck,
 * 0.25 each, and 0 -> 1 gets the remaining 0.75. 1000 bytes of the first are through at 4000 ns;
 * the second has 3000 of 6000 left and now 1 GB/s: 7000 ns; the third 1000 of 2000 left at 0.5:
 * 6000 ns. Draws before: accelerator 0 1.0, 1 0.75 + 0.25 (what passes through does not count), 2
 * 0.5 GB/s. */
TEST(three_flows_on_two_links)
{
    const double demands[] = {1e9, 1e9, 0.5e9};
    auto_system *s = new_system(3, 100);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 0, true), NULL);
    th_system_add_cable(s, 1, 2, th_cable_symmetric(GB / 2, 0, true), NULL);
    finish(s);
    auto_network *n = th_network_find("fluid")->create(s, &defaults, NULL);
    transfer t[] = {{0, 0, 2, 1000, 0}, {0, 0, 1, 6000, 0}, {0, 1, 2, 2000, 0}};
    for (int again = 0; again < 2; again++) {
        n->type->reset(n);
        expected_demands = demands;
        wrong_demands = 0;
        drive_network(n, t, 3, watch_first_demands);
        CU_ASSERT_EQUAL(wrong_demands, 0);
        CU_ASSERT_TRUE(t[0].end == 4000000 && t[1].end == 7000000 && t[2].end == 6000000);
        int first = th_system_find_link(s, "0_1"), second = th_system_find_link(s, "1_2");
        CU_ASSERT_TRUE(n->link_bytes[first] == 7000 && n->link_bytes[second] == 3000);
        CU_ASSERT_TRUE(n->link_busy_ps[first] == 7000000 && n->link_busy_ps[second] == 6000000);
        for (int a = 0; a < 3; a++)
            CU_ASSERT_EQUAL(th_network_dram_demand(n, a), 0);
    }
}

/* 10 TB at 1 GB/s take 10,000 s; 9,000 times 7 bytes share the link with them, for 14 ns at half of
 * it, and cost them 7 ns each: 10,000 s + 63 us, to the picosecond. */
TEST(a_long_flow_loses_no_picosecond)
{
    enum { SHORT = 9000, TOGETHER = 14000, LOST = 7000 };
    const th_time every = 1100000000001, alone = INT64_C(10000) * TH_PS_PER_S;
    auto_system *s = new_system(2, 100);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 0, true), NULL);
    finish(s);
    transfer *t = th_alloc_array(SHORT + 1, sizeof *t);
    t[0] = (transfer){0, 0, 1, INT64_C(10000000000000), 0};
    for (int i = 1; i <= SHORT; i++)
        t[i] = (transfer){i * every, 0, 1, 7, 0};
    drive("fluid", s, t, SHORT + 1);
    CU_ASSERT_EQUAL(t[0].end, alone + (th_time)SHORT * LOST);
    int wrong = 0;
    for (int i = 1; i <= SHORT; i++)
        wrong += t[i].end != t[i].at + TOGETHER;
    CU_ASSERT_EQUAL(wrong, 0);
    th_free(t);
}

/* Cables of 1 GB/s from hub 0 to hub 1, of 0.6 from 1 to 2, and wide ones to the leaves behind:
 * kinds of transfers cross the first, the second or both. */
enum { KINDS = 3, PER_KIND = 40 };

static th_system *hubs(int leaves)
{
    th_system *s = new_system(3 + 2 * KINDS * leaves, 1000000);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 0, true), NULL);
    th_system_add_cable(s, 1, 2, th_cable_symmetric(GB * 6 / 10, 0, true), NULL);
    for (int i = 0; i < 2 * KINDS * leaves; i++) {
        static const int hub[2 * KINDS] = {0, 1, 1, 2, 0, 2};
        th_system_add_cable(s, 3 + i, hub[i % (2 * KINDS)], th_cable_symmetric(100 * GB, 0, true),
                            NULL);
    }
    finish(s);
    return s;
}

/* Transfers with one route are one flow of the solver. Each ends in the picosecond in which it does
 * if all have leaves, and so routes, of their own: gigabytes, random starts, some at one time. */
TEST(transfers_with_one_route_end_as_with_their_own)
{
    enum { N = KINDS * PER_KIND, RUNS = 20 };
    auto_system *one = hubs(1), *own = hubs(N);
    int wrong = 0, late = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        auto_rng *r = th_random_stream(run, "bundles", 0);
        transfer a[N], b[N];
        th_time at = 0;
        for (int i = 0; i < N; i++) {
            int kind = (int)pick(r, 0, KINDS - 1);
            at += pick(r, 0, 2) ? (th_time)pick(r, 0, 2000000000) * 1000 + (th_time)run : 0;
            a[i] = (transfer){at, 3 + 2 * kind, 4 + 2 * kind, pick(r, 1, 5000000000), 0};
            if (i > 0 && pick(r, 0, 3) == 0)
                a[i].bytes = a[i - 1].bytes;
            b[i] = a[i];
            b[i].src += 2 * KINDS * i;
            b[i].dst += 2 * KINDS * i;
        }
        drive("fluid", one, a, N);
        drive("fluid", own, b, N);
        for (int i = 0; i < N; i++) {
            wrong += a[i].end != b[i].end || a[i].end < 0;
            late += a[i].end > a[i].at + 2 * TH_PS_PER_S;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(late > RUNS * N / 2); /* they do share */
}

/* On three cables in a row of odd bandwidths, no transfer ends before it does without contention,
 * and one that is alone in that picosecond. About one duration in a thousand exceeds a whole number
 * of picoseconds by less than a thousandth. */
TEST(no_transfer_ends_before_it_would_alone)
{
    enum { N = 6, RUNS = 4000 };
    auto_system *s = new_system(4, 100);
    const int64_t bits_per_s[] = {7999999927, 3000000019, 12999999929};
    for (int i = 0; i < 3; i++)
        th_system_add_cable(s, i, i + 1, th_cable_symmetric(bits_per_s[i], 500, true), NULL);
    finish(s);
    int early = 0, wrong_alone = 0, late = 0;
    auto_rng *r = th_random_stream(1, "early", 0);
    for (int run = 0; run < RUNS; run++) {
        transfer fluid[N], ideal[N];
        th_time at = 0;
        for (int i = 0; i < N; i++) {
            int src = (int)pick(r, 0, 2);
            at += (th_time)pick(r, 0, 3000000);
            fluid[i] = (transfer){at, src, (int)pick(r, (uint64_t)src + 1, 3), pick(r, 1, 3000), 0};
            ideal[i] = fluid[i];
        }
        drive("fluid", s, fluid, N);
        drive("ideal", s, ideal, N);
        for (int i = 0; i < N; i++) {
            early += fluid[i].end < ideal[i].end;
            late += fluid[i].end > ideal[i].end;
        }
        drive("fluid", s, fluid, 1);
        wrong_alone += fluid[0].end != ideal[0].end;
    }
    CU_ASSERT_TRUE(early == 0 && wrong_alone == 0);
    CU_ASSERT_TRUE(late > RUNS && late < RUNS * N * 3 / 4);
}

/* Both ways at once on 1 GB/s, 3000 and 1000 bytes. Half duplex: 0.5 each until 2000 ns, then 2000
 * bytes at 1. */
TEST(half_duplex_cables_share_one_medium)
{
    for (int full = 0; full < 2; full++) {
        auto_system *s = new_system(2, 100);
        th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 0, full), NULL);
        finish(s);
        transfer t[] = {{0, 0, 1, 3000, 0}, {0, 1, 0, 1000, 0}};
        drive("fluid", s, t, 2);
        CU_ASSERT_EQUAL(t[0].end, full ? 3000000 : 4000000);
        CU_ASSERT_EQUAL(t[1].end, full ? 1000000 : 2000000);
    }
}

/* A bus: both hops of 0 - 2 - 1 on one medium of 1 GB/s, so each byte uses it twice: 0.5 GB/s. */
TEST(a_route_may_cross_one_medium_twice)
{
    auto_system *s = new_system(2, 100);
    th_system_add_node(s, "hub", TH_NODE_SWITCH, 0, NULL);
    int bus = th_system_add_medium(s, GB, NULL);
    const int ends[][2] = {{0, 2}, {2, 0}, {1, 2}, {2, 1}};
    for (int i = 0; i < 4; i++)
        th_system_add_link(s, ends[i][0], ends[i][1], bus, 100000, NULL);
    finish(s);
    transfer t[] = {{0, 0, 1, 1000, 0}, {0, 0, 1, 1000, 0}};
    drive("fluid", s, t, 1);
    CU_ASSERT_EQUAL(t[0].end, 200000 + 2000000);
    drive("fluid", s, t, 2);
    CU_ASSERT_TRUE(t[0].end == 200000 + 4000000 && t[1].end == t[0].end);
}

/* 1 GB/s, 700 ns: the first enters at 700 ns and is alone until the second, begun at 1000 ns,
 * enters at 1700. Then 0.5 each: the second's 1000 bytes end at 3700; the first has 5000 - 1000 -
 * 1000 left: 6700. */
TEST(latency_delays_the_entry)
{
    auto_system *s = new_system(2, 100);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 700000, true), NULL);
    finish(s);
    transfer t[] = {{0, 0, 1, 5000, 0}, {1000000, 0, 1, 1000, 0}};
    drive("fluid", s, t, 2);
    CU_ASSERT_TRUE(t[0].end == 6700000 && t[1].end == 3700000);
}

/* From a node to itself no link is used: it is there at once. */
TEST(a_transfer_to_itself_ends_at_once)
{
    auto_system *s = new_system(2, 100);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 700000, true), NULL);
    finish(s);
    transfer t[] = {{0, 0, 1, 2000, 0}, {5, 1, 1, 1000, 0}};
    drive("fluid", s, t, 2);
    CU_ASSERT_TRUE(t[0].end == 2700000 && t[1].end == 5);
}

/* No bytes: 300 ns before the first byte and 700 ns of latency, and nothing from the other flow,
 * which has its 1 GB/s. With 3000 bytes it would be 1000 + 3000 alone. */
TEST(a_message_without_bytes_shares_nothing)
{
    auto_system *s = new_system(2, 100);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 700000, true), NULL);
    finish(s);
    auto_network *n = th_network_find("fluid")->create(s, &defaults, NULL);
    auto_events *q = th_events_new();
    th_event e;
    th_time end[3] = {0};
    n->type->reset(n);
    const th_message m[] = {{0, 1, 0, 300000}, {0, 1, 3000, 0}, {1, 0, 3000, 300000}};
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(n->type->start(n, q, 0, i, &m[i]), 0);
    while (th_events_pop(q, &e)) {
        if (n->type->event(n, q, e.time, &e))
            end[e.object] = e.time;
        CU_ASSERT_EQUAL(n->type->settle(n, q, e.time), 0);
    }
    CU_ASSERT_TRUE(end[0] == 1000000 && end[1] == 3700000 && end[2] == 4000000);
}

/* 0 - 1 at 1 GB/s, 1000 ns, then 1 - 2 at 8 GB/s, 3000 ns. Flow 0 -> 1 has weight 1, flow 0 -> 2 4:
 * 0.8 and
 * 0.2 GB/s once both share, from 4000 ns on. Until then the first has 1 GB/s: of its 11000 bytes
 * 3000 are through at 4000 ns, and 8000 take 10000 ns more: 14000. The second has had 2000 of 3000
 * by then, and has
 * 1 GB/s now: 15000. */
TEST(weights_may_be_latencies)
{
    auto_system *s = new_system(3, 1000);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 1000000, true), NULL);
    th_system_add_cable(s, 1, 2, th_cable_symmetric(8 * GB, 3000000, true), NULL);
    finish(s);
    const th_network_options by_latency = {.weigh_by_latency = true};
    auto_network *n = th_network_find("fluid")->create(s, &by_latency, NULL);
    transfer t[] = {{0, 0, 1, 11000, 0}, {0, 0, 2, 3000, 0}};
    n->type->reset(n);
    drive_network(n, t, 2, NULL);
    CU_ASSERT_TRUE(t[0].end == 14000000 && t[1].end == 15000000);
}

/* --- DRAM that flows can saturate ------------------------------------------------------------- */

/* Links of 2 GB/s each way: a DRAM is out of reach of flows beyond 4 * 2 + 4 = 12 GB/s. */
TEST(a_dram_is_shared_when_flows_can_saturate_it)
{
    for (int gbytes = 9; gbytes < 15; gbytes++) {
        auto_system *s = new_system(2, gbytes);
        th_system_add_cable(s, 0, 1, th_cable_symmetric(2 * GB, 0, true), NULL);
        finish(s);
        auto_network *fluid = th_network_find("fluid")->create(s, &defaults, NULL),
                     *ideal = th_network_find("ideal")->create(s, &defaults, NULL);
        CU_ASSERT_EQUAL(fluid->is_shared[1], gbytes <= 12);
        CU_ASSERT_FALSE(ideal->is_shared[1]);
    }
}

/* One of 8 GB/s with 4 engines is contended from 8 - 4 * 2 = 0 on, with any flow; one of 10 GB/s
 * when a link of 2 is in use; one of 12 when two are, here both ways of a cable; until no flow is
 * on it.
 */
TEST(a_dram_is_contended_while_links_in_use_can_saturate_it)
{
    for (int gbytes = 8; gbytes <= 12; gbytes += 2) {
        auto_system *s = new_system(2, gbytes);
        th_system_add_cable(s, 0, 1, th_cable_symmetric(2 * GB, 0, true), NULL);
        finish(s);
        auto_network *n = th_network_find("fluid")->create(s, &defaults, NULL);
        auto_events *q = th_events_new();
        th_event e;
        n->type->reset(n);
        CU_ASSERT_TRUE(n->is_shared[1] && n->is_contended[1]);
        CU_ASSERT_TRUE(n->type->update_contention(n, 0) == 0 && n->n_toggled == 2 &&
                       !n->is_contended[1]);
        for (int32_t flow = 0; flow < 2; flow++) {
            n->type->start(n, q, 0, flow, &(th_message){flow, 1 - flow, 2000 * (flow + 1), 0});
            th_events_pop(q, &e);
            CU_ASSERT_FALSE(n->type->event(n, q, e.time, &e));
            n->type->update_contention(n, e.time);
            n->type->settle(n, q, e.time);
            CU_ASSERT_EQUAL(n->is_contended[0], gbytes <= 10 || flow == 1);
            CU_ASSERT_EQUAL(n->is_contended[1], gbytes <= 10 || flow == 1);
            CU_ASSERT_DOUBLE_EQUAL(th_network_dram_demand(n, 1) / 1e9, 2 * (flow + 1), 1e-9);
        }
        for (int32_t flow = 0; flow < 2; flow++) {
            th_events_pop(q, &e);
            CU_ASSERT_TRUE(n->type->event(n, q, e.time, &e) && (int32_t)e.object == flow);
            CU_ASSERT_EQUAL(e.time, 1000000 * (flow + 1));
            n->type->update_contention(n, e.time);
            n->type->settle(n, q, e.time);
            CU_ASSERT_EQUAL(n->is_contended[1], flow == 0);
        }
    }
}

/* In GB/s: the flow, then the engines. */
typedef struct {
    double flow, in, weight, out;
} rates;

static void assert_rates(th_network *n, th_events *q, unsigned mask, const double *port, rates r)
{
    const double want[] = {r.in, r.weight, r.out, 0};
    CU_ASSERT_EQUAL(n->type->demand(n, 1, mask, port), 0);
    CU_ASSERT_EQUAL(n->type->settle(n, q, 0), 0);
    CU_ASSERT_DOUBLE_EQUAL(th_network_dram_demand(n, 1) / 1e9, r.flow, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(th_network_dram_demand(n, 0) / 1e9, r.flow, 1e-9);
    for (int e = 0; e < TH_N_ENGINES; e++)
        if (mask >> e & 1)
            CU_ASSERT_DOUBLE_EQUAL(n->engine_rate[TH_N_ENGINES + e] / 1e9, want[e], 1e-9);
}

/* A flow of 2 GB/s at most into accelerator 1 with 3 GB/s of DRAM. Alone: 2. With an engine of 5
 * GB/s: 1.5 each. With two of 5: 1 each. With one of 0.25 and one of 5: 0.25 and 1.375 each. With
 * one of 0.25: the flow has its link's 2. With three of 5: 0.75 each. */
TEST(flows_and_engines_share_a_dram_fairly)
{
    const double fast[] = {5e9, 5e9, 5e9, 5e9}, mixed[] = {0.25e9, 5e9, 5e9, 5e9};
    auto_system *s = new_system(2, 3);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(2 * GB, 0, true), NULL);
    finish(s);
    auto_network *n = th_network_find("fluid")->create(s, &defaults, NULL);
    auto_events *q = th_events_new();
    th_event e;
    n->type->reset(n);
    n->type->start(n, q, 0, 0, &(th_message){0, 1, 1000000000, 0});
    th_events_pop(q, &e);
    CU_ASSERT_FALSE(n->type->event(n, q, 0, &e));
    assert_rates(n, q, 0, fast, (rates){2, 0, 0, 0});
    assert_rates(n, q, 1, fast, (rates){1.5, 1.5, 0, 0});
    assert_rates(n, q, 3, fast, (rates){1, 1, 1, 0});
    assert_rates(n, q, 0, fast, (rates){2, 0, 0, 0});
    assert_rates(n, q, 5, mixed, (rates){1.375, 0.25, 0, 1.375});
    assert_rates(n, q, 1, mixed, (rates){2, 0.25, 0, 0});
    assert_rates(n, q, 0, fast, (rates){2, 0, 0, 0});
    assert_rates(n, q, 7, fast, (rates){0.75, 0.75, 0.75, 0.75});
}

/* 3 GB/s of DRAM at accelerator 1, links of 3 GB/s. Flows of weights 1 and 4 (us of latency), and
 * an engine, as the flow of 4: 2, 0.5 and 0.5 GB/s. Without one of the flows 1.5 each. */
TEST(with_weights_an_engine_is_like_the_slowest_flow_at_its_dram)
{
    const double fast[] = {5e9, 5e9, 5e9, 5e9}, engine[] = {0.5, 1.5, 1.5};
    const th_network_options by_latency = {.weigh_by_latency = true};
    auto_system *s = new_system(3, 3);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(3 * GB, 1000000, true), NULL);
    th_system_add_cable(s, 2, 1, th_cable_symmetric(3 * GB, 4000000, true), NULL);
    finish(s);
    auto_network *n = th_network_find("fluid")->create(s, &by_latency, NULL);
    auto_events *q = th_events_new();
    th_event e;
    for (int with = 0; with < 3; with++) { /* both flows, or one of them */
        th_events_reset(q);
        n->type->reset(n);
        for (int32_t f = 0; f < 2; f++)
            if (with == 0 || with == f + 1)
                n->type->start(n, q, 0, f, &(th_message){f == 0 ? 2 : 0, 1, 1000000000, 0});
        for (int i = 0; i < (with == 0 ? 2 : 1); i++) {
            th_events_pop(q, &e);
            CU_ASSERT_FALSE(n->type->event(n, q, 4000000, &e));
        }
        CU_ASSERT_EQUAL(n->type->demand(n, 1, 1, fast), 0);
        CU_ASSERT_EQUAL(n->type->settle(n, q, 4000000), 0);
        CU_ASSERT_DOUBLE_EQUAL(n->engine_rate[TH_N_ENGINES] / 1e9, engine[with], 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(th_network_dram_demand(n, 1) / 1e9, 3 - engine[with], 1e-9);
    }
}

/* --- the table, and memory -------------------------------------------------------------------- */

/* 2^50 bytes at 1 bit/s: 9e15 s. So too when the delay alone is as long as a run can be. */
TEST(what_takes_longer_than_any_run_is_refused)
{
    static const char *const names[] = {"fluid", "ideal", "packet"};
    auto_system *s = new_system(2, 100);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(1, 1000, true), NULL);
    finish(s);
    for (int i = 0; i < 3; i++) {
        auto_network *n = th_network_find(names[i])->create(s, &defaults, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(n);
        n->type->reset(n);
        auto_events *q = th_events_new();
        CU_ASSERT_EQUAL(n->type->start(n, q, 7, 0, &(th_message){0, 1, 1LL << 50, 0}), -1);
        TAP_ASSERT_TEXT(n->why.id, "NET-0037");
        TAP_ASSERT_TEXT(
            n->why.text,
            "1125899906842624 bytes from \"0\" to \"1\" take longer than any run: 106 days");
        CU_ASSERT_EQUAL(n->type->start(n, q, 7, 0, &(th_message){0, 1, 5, TH_TIME_MAX - 8}), -1);
    }
}

TEST(the_table_is_in_order)
{
    for (int i = 0; th_network_types[i]; i++)
        CU_ASSERT_PTR_EQUAL(th_network_find(th_network_types[i]->name), th_network_types[i]);
    TAP_ASSERT_TEXT(th_network_types[0]->name, "fluid");
    CU_ASSERT_PTR_NULL(th_network_find("Fluid"));
}

/* Rows that compute with more than the graph have tests of their own. */
static bool takes(const th_network_type *type, const th_system *s)
{
    th_error err = {"", ""};
    auto_network *n = type->create(s, &defaults, &err);
    bool is_refused = !n && strcmp(err.id, "NET-0030") == 0;
    return !is_refused;
}

/* Wave after wave of the same flows over routes of one to five links, under numbers that are high
 * and only grow: once the first wave has been, no more memory is asked for. */
TEST(memory_follows_the_flows_that_live)
{
    enum { WAVES = 300, WAVE = 12 };
    th_system *s = new_system(6, 3);
    for (int i = 0; i < 5; i++)
        th_system_add_cable(s, i, i + 1, th_cable_symmetric(GB, 1000, true), NULL);
    finish(s);
    for (int i = 0; th_network_types[i]; i++) {
        const th_network_type *type = th_network_types[i];
        if (!takes(type, s))
            continue;
        th_network *n = type->create(s, &defaults, NULL);
        th_events *q = th_events_new();
        int64_t calls = 0, bytes = 0, ended = 0;
        th_time now = 0;
        type->reset(n);
        for (int32_t wave = 0, number = INT32_MAX - 30000; wave < WAVES; wave++) {
            gsl_rng *r = th_random_stream(7, "waves", 0);
            th_event e;
            for (int k = 0; k < WAVE; k++, number += 7) {
                int src = (int)pick(r, 0, 5), dst = (src + 1 + (int)pick(r, 0, 4)) % 6;
                th_message m = {src, dst, pick(r, 1, 5000), 0};
                bytes += m.bytes * abs(dst - src);
                CU_ASSERT_EQUAL(type->start(n, q, now, number, &m), 0);
            }
            CU_ASSERT_EQUAL(type->settle(n, q, now), 0);
            while (th_events_pop(q, &e)) {
                now = e.time;
                ended += type->event(n, q, now, &e);
                CU_ASSERT_EQUAL(type->settle(n, q, now), 0);
            }
            gsl_rng_free(r);
            if (wave == 0)
                calls = th_alloc_calls();
        }
        CU_ASSERT_EQUAL(th_alloc_calls(), calls);
        CU_ASSERT_EQUAL(ended, WAVES * WAVE);
        for (int l = 0; l < s->n_links; l++)
            bytes -= n->link_bytes[l];
        CU_ASSERT_EQUAL(bytes, 0);
        n->type->destroy(n);
        th_events_free(q);
    }
    th_system_free(s);
}

TAP_MAIN("network")
