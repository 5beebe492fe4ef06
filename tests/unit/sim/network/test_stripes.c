/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_stripes.c - large messages over parallel cables and cards: by hand, and what holds on random
 * systems under every model. */
#include <config.h>
#include "base/min_max.h"
#include "base/random.h"
#include "tests/unit/auto.h"
#include "tests/unit/draw.h"
#include "tests/unit/network_help.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

enum { US = 1000000, ROUNDS = 60, FROM = 1000 };
static const char *const models[] = {"ideal", "fluid", "packet"};

static void connect(th_system *s, int a, int b, int64_t bits_per_s)
{
    th_system_add_cable(s, a, b, th_cable_symmetric(bits_per_s, US, true), NULL);
}

static th_time time_of(const char *model, const th_system *s, int src, int dst, int64_t bytes)
{
    transfer t = {0, src, dst, bytes, -1};
    drive(model, s, &t, 1);
    return t.end;
}

static void expect(const th_system *s, int64_t bytes, th_time expected)
{
    for (int m = 0; m < 3; m++) {
        th_time end = time_of(models[m], s, 0, s->n_accels - 1, bytes);
        if (end < expected || end > expected + (m == 2 ? US / 2 : 2))
            printf("# %s: %lld bytes: %lld\n", models[m], (long long)bytes, (long long)end);
        CU_ASSERT_TRUE(end >= expected && end <= expected + (m == 2 ? US / 2 : 2));
    }
}

/* Four cables of 1 GB/s: 999 bytes take 1 us + 999 ns on one, 4000 bytes 1 us + 1000 ns on four. */
TEST(equal_cables_carry_equal_shares)
{
    auto_system *s = new_system(2, 1000);
    for (int i = 0; i < 4; i++)
        connect(s, 0, 1, GB);
    s->stripes_from = FROM;
    finish(s);
    expect(s, 999, US + 999000);
    expect(s, 4000, 2 * US);
    expect(s, 4000000, 1001 * (th_time)US);
}

/* 1 and 3 GB/s: 4 bytes per ns. A cable of another latency is not one of them. */
TEST(unlike_cables_share_by_rate)
{
    auto_system *s = new_system(2, 1000);
    connect(s, 0, 1, GB);
    connect(s, 0, 1, 3 * GB);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(2 * GB, 2 * US, true), NULL);
    s->stripes_from = FROM;
    finish(s);
    expect(s, 4000000, 1001 * (th_time)US);
}

/* Three cables of 1 GB/s, then two of 1, over node 1: 2 bytes per ns, in the four pieces between
 * 0, 1/3, 1/2, 2/3 and 1. */
TEST(stripes_are_cut_where_any_node_cuts)
{
    auto_system *s = new_system(3, 1000);
    for (int i = 0; i < 3; i++)
        connect(s, 0, 1, GB);
    for (int i = 0; i < 2; i++)
        connect(s, 1, 2, GB);
    s->stripes_from = FROM;
    finish(s);
    th_stripes of;
    CU_ASSERT_EQUAL_FATAL(th_stripes_find(s, 0, 2, NULL, &of), 0);
    CU_ASSERT_EQUAL(of.n, 4);
    CU_ASSERT_EQUAL(of.start[2], TH_STRIPE_WHOLE / 2);
    th_route_summary r;
    CU_ASSERT_EQUAL(th_route_of_message(s, 0, 2, FROM, &r), 0);
    CU_ASSERT_EQUAL(r.bits_per_s, 2 * GB);
    transfer t = {0, 0, 2, 6000000, -1};
    drive("fluid", s, &t, 1);
    CU_ASSERT_EQUAL(t.end, 3002 * (th_time)US);
}

/* Nodes 0 and 1 have a card on each of four switches; node 2 has one on the first. */
TEST(cards_share_a_message)
{
    auto_system *s = new_system(3, 1000);
    char name[8];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "s%d", i);
        int rail = th_system_add_node(s, name, TH_NODE_SWITCH, 0, NULL);
        connect(s, 0, rail, GB);
        connect(s, 1, rail, GB);
        if (i == 0)
            connect(s, 2, rail, GB);
    }
    s->stripes_from = FROM;
    finish(s);
    th_route_summary r;
    CU_ASSERT_TRUE(th_route_of_message(s, 0, 1, FROM, &r) == 0 && r.bits_per_s == 4 * GB);
    CU_ASSERT_TRUE(th_route_of_message(s, 0, 1, FROM - 1, &r) == 0 && r.bits_per_s == GB);
    CU_ASSERT_EQUAL(time_of("fluid", s, 0, 1, 4000000), 1002 * (th_time)US);
    CU_ASSERT_EQUAL(time_of("fluid", s, 0, 2, 4000000), 4002 * (th_time)US);
    CU_ASSERT_EQUAL(time_of("fluid", s, 0, 1, 999), 2 * US + 999000);
}

/* Of four cables of 1 GB/s medium 0 fails at 500 us, when each of a message's quarters has 500,000
 * bytes left: the first two go on over one cable and end at 1501 us. The next message, of 3 MB,
 * begins at 2000 us, has three cables, and ends at 3001. */
TEST(a_failed_cable_leaves_the_others)
{
    auto_system *s = new_system(2, 1000);
    for (int i = 0; i < 4; i++)
        connect(s, 0, 1, GB);
    s->stripes_from = FROM;
    finish(s);
    auto_network *n = th_network_find("fluid")->create(s, &defaults, NULL);
    auto_events *q = th_events_new();
    th_time ends[2] = {-1, -1};
    th_event e;
    n->type->reset(n);
    for (int k = 0; k < 2; k++) {
        th_time now = k * 2000 * (th_time)US, fails = k == 0 ? 501 * (th_time)US : -1;
        const th_message m = {0, 1, k ? 3000000 : 4000000, 0, 0};
        CU_ASSERT_EQUAL(th_network_send(n, q, now, k, &m), 0);
        while (n->type->settle(n, q, now) == 0 && th_events_peek(q, &e)) {
            if (fails >= 0 && e.time >= fails) {
                now = fails;
                fails = -1;
                CU_ASSERT_EQUAL(n->type->avoid(n, q, 0, true, now), 0);
                continue;
            }
            th_events_pop(q, &e);
            now = e.time;
            if (th_network_arrives(n, q, now, &e))
                ends[k] = now;
        }
    }
    CU_ASSERT_EQUAL(ends[0], 1501 * (th_time)US);
    CU_ASSERT_EQUAL(ends[1], 3001 * (th_time)US);
    CU_ASSERT_EQUAL(n->link_bytes[0], 500000);
}

/* ---- random systems ---- */

/* Three to six accelerators and switches, joined by 1 to 4 cables of unlike rates; the same cables
 * in every system of a seed. */
static th_system *random_cables(int round, int64_t stripes_from)
{
    auto_rng *r = th_random_stream(43, "stripes", (uint64_t)round);
    int n_accels = draw(r, 2, 4), n_switches = draw(r, 1, 3);
    th_system *s = new_system(n_accels, round % 3 == 0 ? 2 : 1000);
    char name[16];
    for (int i = 0; i < n_switches; i++) {
        snprintf(name, sizeof name, "s%d", i);
        th_system_add_node(s, name, TH_NODE_SWITCH, 0, NULL);
    }
    for (int a = 0; a < s->n_nodes; a++)
        for (int b = a + 1; b < s->n_nodes; b++)
            for (int k = b == a + 1 ? draw(r, 1, 4) : draw(r, 0, 1) * draw(r, 0, 4); k > 0; k--)
                connect(s, a, b, GB * draw(r, 1, 4));
    s->routing = th_routing_find(round % 2 ? "ecmp" : "shortest");
    s->stripes_from = stripes_from;
    finish(s);
    return s;
}

/* Bits/s of all media out of the node. */
static int64_t out_of(const th_system *s, int node)
{
    int64_t sum = 0;
    for (int i = s->adjacency.out_start[node]; i < s->adjacency.out_start[node + 1]; i++)
        sum += s->media[s->links[s->adjacency.out_links[i]].medium].bits_per_s;
    return sum;
}

TEST(stripes_are_never_slower_and_never_below_the_bound)
{
    int n_faster = 0;
    for (int round = 0; round < TAP_REPEATS(ROUNDS); round++) {
        auto_system *whole = random_cables(round, 0), *s = random_cables(round, FROM);
        int64_t bytes = 100000 + 7919 * round, dram = s->nodes[0].a.dram_bits_per_s;
        th_route_summary r;
        CU_ASSERT_EQUAL(th_route_of_message(s, 0, 1, bytes, &r), 0);
        th_time least =
            r.latency_ps + th_duration_ps(bytes, th_min(dram, th_min(out_of(s, 0), out_of(s, 1))));
        th_time alone = r.latency_ps + th_duration_ps(bytes, th_min(dram, r.bits_per_s));
        for (int m = 0; m < 3; m++) {
            th_time before = time_of(models[m], whole, 0, 1, bytes),
                    now = time_of(models[m], s, 0, 1, bytes);
            th_time slack = m == 2 ? 20 * (th_time)US : 4000; /* a byte per stripe */
            if (now > before + slack || now < least || now + 10 < alone || now > alone + slack)
                printf("# %d %s: %lld, was %lld, bound %lld, alone %lld\n", round, models[m],
                       (long long)now, (long long)before, (long long)least, (long long)alone);
            CU_ASSERT_TRUE(now <= before + slack && now >= least);
            CU_ASSERT_TRUE(now + 10 >= alone && now <= alone + slack);
            n_faster += now < before;
        }
        CU_ASSERT_EQUAL(time_of("fluid", s, 0, 1, FROM - 1),
                        time_of("fluid", whole, 0, 1, FROM - 1));
    }
    printf("# %d faster\n", n_faster);
    CU_ASSERT_TRUE(n_faster > TAP_REPEATS(ROUNDS));
}

/* A chain of nodes with 1 to 5 cables of unlike rates at each hop, against one with a cable of
 * their sum; one to five messages at a time, from end to end. Bytes are conserved at every hop. */
TEST(stripes_are_as_fast_as_one_wide_cable)
{
    enum { NODES = 4, MESSAGES = 5 };
    for (int round = 0; round < TAP_REPEATS(ROUNDS); round++) {
        auto_rng *r = th_random_stream(44, "wide", (uint64_t)round);
        auto_system *s = new_system(NODES, 1000), *wide = new_system(NODES, 1000);
        for (int i = 0; i + 1 < NODES; i++) {
            int64_t sum = 0, bits;
            for (int k = draw(r, 1, 5); k > 0; k--, sum += bits)
                connect(s, i, i + 1, bits = GB * draw(r, 1, 9));
            connect(wide, i, i + 1, sum);
        }
        s->stripes_from = FROM;
        finish(s);
        finish(wide);
        transfer a[MESSAGES], b[MESSAGES];
        int64_t crossed = 0;
        int n_messages = draw(r, 1, MESSAGES);
        for (int i = 0; i < n_messages; i++) {
            a[i] = (transfer){0, 0, NODES - 1, draw(r, 1, 9) * 1000000, -1};
            crossed += a[i].bytes;
        }
        memcpy(b, a, sizeof b);
        auto_network *n = th_network_find("fluid")->create(s, &defaults, NULL);
        n->type->reset(n);
        drive_network(n, a, n_messages, NULL);
        drive("fluid", wide, b, n_messages);
        th_time last[2] = {0, 0};
        for (int i = 0; i < n_messages; i++) {
            last[0] = th_max(last[0], a[i].end);
            last[1] = th_max(last[1], b[i].end);
        }
        if (last[0] > last[1] + last[1] / 100)
            printf("# %d: %lld, one cable %lld\n", round, (long long)last[0], (long long)last[1]);
        CU_ASSERT_TRUE(last[0] <= last[1] + last[1] / 100 && last[0] >= last[1] - 10);
        for (int l = 0; l < s->n_links; l++)
            crossed -= s->links[l].from == 1 && s->links[l].to == 2 ? n->link_bytes[l] : 0;
        CU_ASSERT_EQUAL(crossed, 0);
    }
}

TAP_MAIN("stripes")
