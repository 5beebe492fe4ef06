/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_dram_limits.c - DRAMs at the ends of a transfer, as narrow as links or narrower: by hand,
 * and what no model may break on random systems. */
#include <config.h>
#include "tests/unit/packet_help.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"

enum { FLOWS = 12, ROUNDS = 150, PACKET = 500 };

static th_network *create_named(const char *name, const th_system *s, const th_network_options *o)
{
    th_error e = {"", ""};
    th_network *n = th_network_find(name)->create(s, o, &e);
    if (!n)
        printf("# %s %s\n", e.id, e.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(n);
    return n;
}

static void drive_named(const char *name, const th_system *s, const th_network_options *o,
                        transfer *t, int count)
{
    auto_network *n = create_named(name, s, o);
    CU_ASSERT_EQUAL(drive_network(n, t, count, false), 0);
}

static void set_dram(th_system *s, int accel, int64_t bits_per_s)
{
    s->nodes[accel].a.dram_bits_per_s = bits_per_s;
}

/* One link of 1 GB/s and 700 ns between DRAMs of 0.5 GB/s. 10,000 bytes take 700 + 20000 ns. As ten
 * packets: DRAM 0 has read packet k at 2000 (k + 1), the link sends it in the 1000 ns before, and
 * its head is at DRAM 1, which writes 2000 ns, at 1700 + 2000 k: the last is written at 21700. */
TEST(a_narrow_dram_limits_a_message)
{
    auto_system *s = new_system(2, 100);
    connect(s, 0, 1, GB, 700);
    set_dram(s, 0, GB / 2);
    set_dram(s, 1, GB / 2);
    finish(s);
    transfer t[] = {{0, 0, 1, 10000, 0}};
    drive_named("ideal", s, &(th_network_options){0}, t, 1);
    CU_ASSERT_EQUAL(t[0].end, 20700 * NS);
    drive_named("fluid", s, &(th_network_options){0}, t, 1);
    CU_ASSERT_EQUAL(t[0].end, 20700 * NS);
    drive_named("packet", s, &(th_network_options){.packet_bytes = 1000}, t, 1);
    CU_ASSERT_EQUAL(t[0].end, 21700 * NS);
}

/* Two nodes send to 1 over links of 1 GB/s, and its DRAM of 1 GB/s writes what both bring: each
 * has half of it: packets of 1000 ns take turns, and the last two of 200 end at 199 and 200 us. No
 * such DRAM slows what 0 sends to 3. */
TEST(messages_share_a_dram)
{
    auto_system *s = new_system(4, 100);
    connect(s, 0, 1, GB, 0);
    connect(s, 2, 1, GB, 0);
    connect(s, 0, 3, GB, 0);
    set_dram(s, 1, GB);
    finish(s);
    transfer t[] = {{0, 0, 1, 100000, 0}, {0, 2, 1, 100000, 0}, {0, 0, 3, 100000, 0}};
    drive_named("packet", s, &(th_network_options){.packet_bytes = 1000}, t, 3);
    CU_ASSERT_EQUAL(t[0].end, 199000 * NS);
    CU_ASSERT_EQUAL(t[1].end, 200000 * NS);
    CU_ASSERT_EQUAL(t[2].end, 100000 * NS);
}

/* A DRAM of 1.5 GB/s waits for nobody: 1 sends at 0.1 GB/s, and that does not hold up what 2 sends
 * to the same DRAM at 1 GB/s; nor does what 0 sends over its slow link hold up what it sends over
 * its fast one. Only in the beginning: the 16 packets that wait for the slow link (four channels of
 * four) take turns with those for the fast one, at 0.75 GB/s each, so that goes without 0.25 of its
 * 1 GB/s for 16 packets of 1333 ns: 5.3 us more than 200. */
TEST(a_slow_link_does_not_occupy_a_dram)
{
    auto_system *s = new_system(3, 100);
    connect(s, 0, 1, GB / 10, 0);
    connect(s, 0, 2, GB, 0);
    set_dram(s, 0, GB * 3 / 2);
    finish(s);
    transfer in[] = {{0, 1, 0, 20000, 0}, {0, 2, 0, 200000, 0}};
    drive_named("packet", s, &(th_network_options){.packet_bytes = 1000}, in, 2);
    CU_ASSERT_TRUE(in[1].end >= 200000 * NS && in[1].end <= 202000 * NS);
    CU_ASSERT_TRUE(in[0].end >= 200000 * NS && in[0].end <= 202000 * NS);
    transfer out[] = {{0, 0, 1, 20000, 0}, {0, 0, 2, 200000, 0}};
    drive_named("packet", s, &(th_network_options){.packet_bytes = 1000}, out, 2);
    CU_ASSERT_TRUE(out[1].end >= 200000 * NS && out[1].end <= 206500 * NS);
    CU_ASSERT_EQUAL(out[0].end, 200000 * NS);
}

/* --- random systems --------------------------------------------------------------------------- */

static th_system *random_drams(gsl_rng *r, int n)
{
    th_system *s = new_system(n, 100);
    for (int i = 0; i < n; i++)
        set_dram(s, i, pick(r, 0, 3) ? pick(r, 1, 12) * GB / 8 : 100 * GB);
    return random_cables(r, s, n);
}

static th_network_options random_options(gsl_rng *r)
{
    return (th_network_options){.packet_bytes = PACKET,
                                .buffer_bytes = pick(r, 0, 3) * 700,
                                .credit_delay_ps = pick(r, 0, 1) * 70 * NS,
                                .terminal_bits_per_s = pick(r, 0, 3) == 0 ? GB / 2 : 0,
                                .n_crossbar_inputs = (int32_t)pick(r, 0, 2),
                                .allocation_cycle_ps = pick(r, 0, 3) == 0 ? 30 * NS : 0};
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The latencies, and the bytes over the narrowest of links and DRAMs. */
static th_time lower_bound_ps(const th_system *s, const transfer *t)
{
    th_route_summary route;
    if (t->src == t->dst)
        return 0;
    CU_ASSERT_EQUAL_FATAL(th_route_summarize(s, t->src, t->dst, &route), 0);
    int64_t bits = least(route.bits_per_s, least(s->nodes[t->src].a.dram_bits_per_s,
                                                 s->nodes[t->dst].a.dram_bits_per_s));
    return route.latency_ps + th_duration_ps(t->bytes, bits);
}

/* No DRAM has moved more than its rate allows. */
static int count_overfull(const th_system *s, const transfer *t)
{
    int overfull = 0;
    for (int a = 0; a < s->n_accels; a++) {
        th_time last = 0;
        int64_t moved = 0;
        for (int i = 0; i < FLOWS; i++) {
            if (t[i].src == t[i].dst || (t[i].src != a && t[i].dst != a))
                continue;
            moved += t[i].bytes;
            last = t[i].end > last ? t[i].end : last;
        }
        overfull += last + 1 < th_duration_ps(moved, s->nodes[a].a.dram_bits_per_s);
    }
    return overfull;
}

static void random_transfers(gsl_rng *r, transfer *t, int n_nodes)
{
    for (int i = 0; i < FLOWS; i++)
        t[i] = (transfer){0, (int)pick(r, 0, n_nodes - 1), (int)pick(r, 0, n_nodes - 1),
                          pick(r, 0, pick(r, 0, 1) ? 100 * PACKET : 3 * PACKET), -1};
}

/* Any number at once: none ends before the bound; in ideal each at the bound. */
TEST(no_model_moves_more_than_dram_and_links_allow)
{
    auto_rng *r = th_random_stream(11, "drams", 0);
    static transfer ideal[FLOWS], fluid[FLOWS], packet[FLOWS];
    int early = 0, overfull = 0, inexact = 0, later_than_fluid = 0;
    for (int round = 0; round < TAP_REPEATS(ROUNDS); round++) {
        int nodes = (int)pick(r, 4, 9);
        auto_system *s = random_drams(r, nodes);
        th_network_options o = random_options(r);
        random_transfers(r, ideal, nodes);
        memcpy(fluid, ideal, sizeof fluid);
        memcpy(packet, ideal, sizeof packet);
        drive_named("ideal", s, &o, ideal, FLOWS);
        drive_named("fluid", s, &o, fluid, FLOWS);
        drive_named("packet", s, &o, packet, FLOWS);
        for (int i = 0; i < FLOWS; i++) {
            th_time bound = lower_bound_ps(s, &ideal[i]);
            inexact += ideal[i].end != bound;
            early += packet[i].end < bound;
            later_than_fluid += ideal[i].end > fluid[i].end;
        }
        overfull += count_overfull(s, fluid) + count_overfull(s, packet);
    }
    printf("# %d inexact, %d early, %d later than fluid, %d DRAMs overfull\n", inexact, early,
           later_than_fluid, overfull);
    CU_ASSERT_TRUE(inexact == 0 && early == 0 && later_than_fluid == 0 && overfull == 0);
}

/* Alone, a message of many packets takes what fluid says, and a packet per link and DRAM more. */
TEST(alone_a_message_takes_the_same_time_in_all_models)
{
    auto_rng *r = th_random_stream(12, "alone", 0);
    int wrong = 0;
    for (int round = 0; round < TAP_REPEATS(ROUNDS); round++) {
        int nodes = (int)pick(r, 4, 9);
        auto_system *s = random_drams(r, nodes);
        transfer t = {0, 0, (int)pick(r, 1, nodes - 1), pick(r, 1, 100 * PACKET), -1};
        th_time slack = (nodes + 2) * th_duration_ps(PACKET, GB / 8);
        th_time bound = lower_bound_ps(s, &t);
        drive_named("fluid", s, &(th_network_options){0}, &t, 1);
        wrong += t.end < bound || t.end > bound + 1;
        drive_named("packet", s, &(th_network_options){.packet_bytes = PACKET}, &t, 1);
        wrong += t.end < bound || t.end > bound + slack;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TAP_MAIN("dram_limits")
