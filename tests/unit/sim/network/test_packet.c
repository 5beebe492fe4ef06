/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_packet.c - packets: latency and turns by hand, conservation and order, options. */
#include <config.h>
#include "base/alloc.h"
#include "sim/machine/machine.h"
#include "tests/unit/packet_help.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"

/* --- latency, by hand ------------------------------------------------------------------------- */

/* One link of 1 GB/s and 700 ns: 10000 bytes are three packets one behind the other, none is one
 * packet without bytes. */
TEST(a_link_takes_its_latency_and_the_bytes)
{
    auto_system *s = new_system(2, 100);
    connect(s, 0, 1, GB, 700);
    finish(s);
    transfer t[] = {{0, 0, 1, 10000, 0}, {20000 * NS, 0, 1, 0, 0}, {30000 * NS, 1, 1, 5, 0}};
    drive(s, &(th_network_options){0}, t, 3);
    CU_ASSERT_EQUAL(t[0].end, 10700 * NS);
    CU_ASSERT_EQUAL(t[1].end, 20700 * NS);
    CU_ASSERT_EQUAL(t[2].end, 30000 * NS);
    drive(s, &(th_network_options){.packet_bytes = 7, .router_delay_ps = 20 * NS}, t, 3);
    CU_ASSERT_EQUAL(t[0].end, 10720 * NS);
}

/* 100 + 200 + 300 ns and 3 x 50 ns of routers: 1000 bytes are through 750 + 1000 ns after their
 * start (stored and forwarded: 750 + 3000), 10000 bytes after 750 + 10000. */
TEST(packets_cut_through)
{
    const th_network_options o = {.router_delay_ps = 50 * NS};
    auto_system *s = new_system(4, 100);
    for (int i = 0; i < 3; i++)
        connect(s, i, i + 1, GB, 100 * (i + 1));
    finish(s);
    transfer t[] = {{0, 0, 3, 1000, 0}, {50000 * NS, 0, 3, 10000, 0}, {90000 * NS, 0, 3, 0, 0}};
    drive(s, &o, t, 3);
    CU_ASSERT_EQUAL(t[0].end, 1750 * NS);
    CU_ASSERT_EQUAL(t[1].end, 60750 * NS);
    CU_ASSERT_EQUAL(t[2].end, 90750 * NS);
}

/* 0.25 GB/s then 1 GB/s, 100 ns each: the last of 1000 bytes cannot leave the fast link before it
 * has come in, at 100 + 4000 ns: 4200 ns. The other way the slow link begins at 100 ns: 4200 ns
 * too. */
TEST(the_slow_link_sets_the_pace)
{
    auto_system *s = new_system(3, 100);
    connect(s, 0, 1, GB / 4, 100);
    connect(s, 1, 2, GB, 100);
    finish(s);
    transfer t[] = {{0, 0, 2, 1000, 0}, {0, 2, 0, 1000, 0}};
    drive(s, &(th_network_options){0}, t, 2);
    CU_ASSERT_TRUE(t[0].end == 4200 * NS && t[1].end == 4200 * NS);
}

/* Two links of 1 GB/s and 1000 ns; packets of 1000 bytes, room for two, credits take 500 ns. The
 * room of a packet sent at s is free when it has left, s + 1000 + 1000, and known to be at s +
 * 2500. So two packets go every 2500 ns, at 2500 k and 2500 k + 1000. The twentieth goes at 23500,
 * comes to the second link at 24500, and is through at 25500 + 1000. */
TEST(credits_limit_the_throughput)
{
    const th_network_options o = {.packet_bytes = 1000,
                                  .buffer_bytes = 2000,
                                  .n_virtual_channels = 1,
                                  .credit_delay_ps = 500 * NS};
    auto_system *s = new_system(3, 100);
    for (int i = 0; i < 2; i++)
        connect(s, i, i + 1, GB, 1000);
    finish(s);
    transfer t[] = {{0, 0, 2, 20000, 0}};
    drive(s, &o, t, 1);
    CU_ASSERT_EQUAL(t[0].end, 26500 * NS);
    /* Each of three channels has room for two: 3000 ns cover the round trip of 2500. */
    th_network_options more = o;
    more.n_virtual_channels = 3;
    drive(s, &more, t, 1);
    CU_ASSERT_EQUAL(t[0].end, 22000 * NS);
    /* And so has the default buffer. */
    drive(s, &(th_network_options){.packet_bytes = 1000, .credit_delay_ps = 500 * NS}, t, 1);
    CU_ASSERT_EQUAL(t[0].end, 22000 * NS);
}

/* --- turns, by hand --------------------------------------------------------------------------- */

/* 0, 1 and 2 send ten packets each through 3, which sends ten of its own, to 4; 100 ns, 1000 ns a
 * packet. 3 has the link at 0 and stands in line for its second packet before the others come, at
 * 100 ns. Then they take turns: 3 3 0 1 2 3 0 1 2 3 ... So 3's tenth is in slot 1 + 4 x 8 = 33
 * (from 0), and those of the others are the last three of the forty. */
TEST(inputs_take_turns)
{
    auto_system *s = new_system(5, 100);
    for (int i = 0; i < 3; i++)
        connect(s, i, 3, GB, 100);
    connect(s, 3, 4, GB, 100);
    finish(s);
    transfer t[] = {
        {0, 0, 4, 10000, 0}, {0, 1, 4, 10000, 0}, {0, 2, 4, 10000, 0}, {0, 3, 4, 10000, 0}};
    drive(s, &(th_network_options){.packet_bytes = 1000}, t, 4);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(t[i].end, (38 + i) * 1000 * NS + 100 * NS);
    CU_ASSERT_EQUAL(t[3].end, 34100 * NS);
}

/* 0 sends two messages of ten packets through 2, 1 one: by input, not by message or channel. The
 * link to 3 begins at 100 ns with 0's first packet; 1's tenth is the twentieth on it. 0's messages
 * take turns, so they end with the last two of the thirty. */
TEST(an_input_has_one_turn_for_all_its_channels)
{
    auto_system *s = new_system(4, 100);
    connect(s, 0, 2, GB, 100);
    connect(s, 1, 2, GB, 100);
    connect(s, 2, 3, GB, 100);
    finish(s);
    transfer t[] = {{0, 0, 3, 10000, 0}, {0, 0, 3, 10000, 0}, {0, 1, 3, 10000, 0}};
    drive(s, &(th_network_options){.packet_bytes = 1000, .n_virtual_channels = 4}, t, 3);
    CU_ASSERT_EQUAL(t[2].end, 20200 * NS);
    CU_ASSERT_EQUAL(t[0].end, 29200 * NS);
    CU_ASSERT_EQUAL(t[1].end, 30200 * NS);
}

/* A half-duplex cable of 1 GB/s, 3 packets up and 2 down: up, down, up, down, up. */
TEST(links_of_one_medium_take_turns)
{
    auto_system *s = new_system(2, 100);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(GB, 100 * NS, false), NULL);
    finish(s);
    transfer t[] = {{0, 0, 1, 3000, 0}, {0, 1, 0, 2000, 0}};
    drive(s, &(th_network_options){.packet_bytes = 1000}, t, 2);
    CU_ASSERT_TRUE(t[0].end == 5100 * NS && t[1].end == 4100 * NS);
}

/* 0 sends two packets to 3, then one to 2; link 1 -> 3 is ten times slower, and there is room for
 * one packet in each channel's buffer. With one channel the last waits until both others have left
 * 1, at 20000 ns; with two until the first has, at 10000; with three it goes at 2000, when its link
 * is free. */
TEST(more_channels_let_packets_pass)
{
    const th_time ends[] = {21000 * NS, 11000 * NS, 3000 * NS};
    th_network_options o = {.packet_bytes = 1000, .buffer_bytes = 1000};
    auto_system *s = new_system(4, 100);
    connect(s, 0, 1, GB, 0);
    connect(s, 1, 2, GB, 0);
    connect(s, 1, 3, GB / 10, 0);
    finish(s);
    for (int i = 0; i < 3; i++) {
        transfer t[] = {{0, 0, 3, 2000, -1}, {1, 0, 2, 1000, -1}};
        o.n_virtual_channels = i + 1;
        drive(s, &o, t, 2);
        CU_ASSERT_TRUE(t[0].end == 20000 * NS && t[1].end == ends[i]);
    }
}

/* --- routers, by hand ------------------------------------------------------------------------- */

/* 0 sends 1000 bytes to 1 and to 2 over a link each, then 1 and 2 send to 0; 1 GB/s, 100 ns, the
 * router takes 30. Without terminals both are through at the same time. With terminals of 1 GB/s
 * the second follows the first into 0's router, and out of it; and each takes 30 ns more out of the
 * last router. */
TEST(terminals_carry_what_a_node_injects_and_takes)
{
    th_network_options o = {.packet_bytes = 1000, .router_delay_ps = 30 * NS};
    auto_system *s = new_system(3, 100);
    connect(s, 0, 1, GB, 100);
    connect(s, 0, 2, GB, 100);
    finish(s);
    transfer t[] = {{0, 0, 1, 1000, 0},
                    {0, 0, 2, 1000, 0},
                    {9000 * NS, 1, 0, 1000, 0},
                    {9000 * NS, 2, 0, 1000, 0}};
    drive(s, &o, t, 4);
    CU_ASSERT_TRUE(t[0].end == 1130 * NS && t[1].end == 1130 * NS);
    CU_ASSERT_TRUE(t[2].end == 10130 * NS && t[3].end == 10130 * NS);
    o.terminal_bits_per_s = GB;
    drive(s, &o, t, 4);
    CU_ASSERT_TRUE(t[0].end == 1160 * NS && t[1].end == 2160 * NS);
    CU_ASSERT_TRUE(t[2].end == 10160 * NS && t[3].end == 11160 * NS);
    /* Half as fast, they set the pace. */
    o.terminal_bits_per_s = GB / 2;
    drive(s, &o, t, 4);
    CU_ASSERT_TRUE(t[0].end == 2160 * NS && t[1].end == 4160 * NS);
}

/* 0 sends a packet to 3, then one to 2, through 1, whose links out take 10000 ns for one. The
 * second comes to 1 at 1000 ns, in another channel. One crossbar input reads it when it has read
 * the first, at 10000 ns; two read both, if they are not those of one crossbar input: channels 0
 * and 1 are not. */
TEST(a_crossbar_input_reads_one_packet_at_a_time)
{
    const struct {
        int n_inputs, n_channels;
        th_time end_ps;
    } cases[] = {{0, 2, 11000 * NS}, {1, 2, 20000 * NS}, {2, 2, 11000 * NS}, {1, 3, 20000 * NS}};
    auto_system *s = new_system(4, 100);
    connect(s, 0, 1, GB, 0);
    connect(s, 1, 2, GB / 10, 0);
    connect(s, 1, 3, GB / 10, 0);
    finish(s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        transfer t[] = {{0, 0, 3, 1000, 0}, {1, 0, 2, 1000, 0}};
        drive(s,
              &(th_network_options){.packet_bytes = 1000,
                                    .n_virtual_channels = cases[i].n_channels,
                                    .n_crossbar_inputs = cases[i].n_inputs},
              t, 2);
        CU_ASSERT_TRUE(t[0].end == 10000 * NS && t[1].end == cases[i].end_ps);
    }
}

/* One channel: the second packet is given its channel while a cycle of 70 ns goes by after the
 * first has left. The first of all does not wait, nor does one that comes when the buffer is
 * empty for longer than that. */
TEST(the_next_packet_of_a_channel_waits_for_a_cycle)
{
    const th_network_options o = {
        .packet_bytes = 1000, .n_virtual_channels = 1, .allocation_cycle_ps = 70 * NS};
    auto_system *s = new_system(3, 100);
    connect(s, 0, 1, GB, 0);
    connect(s, 1, 2, GB / 10, 0);
    finish(s);
    transfer t[] = {{0, 0, 2, 2000, 0}, {20100 * NS, 0, 2, 1000, 0}, {40000 * NS, 0, 2, 1000, 0}};
    drive(s, &o, t, 3);
    CU_ASSERT_EQUAL(t[0].end, 20070 * NS);
    CU_ASSERT_EQUAL(t[1].end, 30140 * NS); /* there at 20100, goes at 20070 + 70 */
    CU_ASSERT_EQUAL(t[2].end, 50000 * NS);
}

/* At 5000 ns the links 2 -> 4 and 2 -> 5 have sent what they had, from 1 and from 0. 0's packets to
 * 4 and to 3 wait for its only crossbar input, 1's to 4 came last. Then 3 and 4 both grant to 0,
 * whose input accepts 3. Link 2 -> 4 has lost: it takes 1's packet at once without a cycle, else a
 * cycle later, and 0's after that. */
TEST(a_grant_that_is_not_accepted_costs_a_cycle)
{
    th_network_options o = {.packet_bytes = 1000, .n_virtual_channels = 4, .n_crossbar_inputs = 1};
    auto_system *s = new_system(6, 100);
    connect(s, 0, 2, GB, 0);
    connect(s, 1, 2, GB, 0);
    connect(s, 2, 3, GB, 0);
    connect(s, 2, 4, GB / 5, 0);
    connect(s, 2, 5, GB / 5, 0);
    finish(s);
    for (int i = 0; i < 2; i++) {
        transfer t[] = {{0, 0, 5, 1000, 0},
                        {1, 0, 4, 1000, 0},
                        {1500 * NS, 0, 3, 1000, 0},
                        {0, 1, 4, 1000, 0},
                        {3000 * NS, 1, 4, 1000, 0}};
        o.allocation_cycle_ps = i * 60 * NS;
        drive(s, &o, t, 5);
        CU_ASSERT_TRUE(t[0].end == 5000 * NS && t[3].end == 5000 * NS);
        CU_ASSERT_EQUAL(t[2].end, 6000 * NS);
        CU_ASSERT_EQUAL(t[4].end, 10000 * NS + i * 60 * NS);
        CU_ASSERT_EQUAL(t[1].end, 15000 * NS + i * 60 * NS);
    }
}

/* --- against fluid, conservation, order ------------------------------------------------------- */

static void run_model(const char *model, const th_system *s, transfer *t, int count)
{
    auto_network *n = th_network_find(model)->create(s, &(th_network_options){0}, NULL);
    CU_ASSERT_EQUAL(drive_network(n, t, count, false), 0);
}

/* Where each input of a busy link carries one flow, fair by packets is fair by flows: all ends
 * agree within a packet or so for each flow that shared, here within 0.5 % of 4 MB. */
TEST(long_messages_come_near_fluid)
{
    auto_system *s = new_system(6, 100);
    for (int i = 0; i < 5; i++)
        connect(s, i, 5, i == 3 ? GB / 2 : GB, 300 + 100 * i);
    finish(s);
    transfer a[] = {{0, 0, 4, 4000000, 0},
                    {0, 1, 4, 2000000, 0},
                    {250000 * NS, 2, 4, 3000000, 0},
                    {0, 3, 1, 1000000, 0},
                    {500000 * NS, 4, 3, 3500000, 0}};
    transfer b[5];
    memcpy(b, a, sizeof a);
    run_model("fluid", s, a, 5);
    run_model("packet", s, b, 5);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_DOUBLE_EQUAL((double)b[i].end / (double)a[i].end, 1, 0.005);
}

enum { N_RANDOM = 300 };

static void random_transfers(gsl_rng *r, transfer *t, int n_nodes)
{
    for (int i = 0; i < N_RANDOM; i++)
        t[i] = (transfer){(th_time)pick(r, 0, 20) * 700 * NS, (int)pick(r, 0, n_nodes - 1),
                          (int)pick(r, 0, n_nodes - 1), pick(r, 0, 3) ? pick(r, 0, 9000) : 0, -1};
}

static int64_t bytes_over(const th_system *s, const transfer *t, int link)
{
    int64_t sum = 0;
    int links[TH_ROUTE_MAX];
    for (int i = 0; i < N_RANDOM; i++) {
        int n = th_route(s, t[i].src, t[i].dst, links);
        for (int h = 0; h < n; h++)
            sum += links[h] == link ? t[i].bytes : 0;
    }
    return sum;
}

static th_network_options random_options(gsl_rng *r, const th_system *s)
{
    th_network_options o = {.packet_bytes = 512,
                            .buffer_bytes = 512,
                            .credit_delay_ps = pick(r, 0, 1) * 70 * NS,
                            .terminal_bits_per_s = pick(r, 0, 2) * GB / 2,
                            .n_crossbar_inputs = (int32_t)pick(r, 0, 2),
                            .allocation_cycle_ps = pick(r, 0, 1) * 30 * NS};
    auto_channels *c = th_channels_new(s, o.terminal_bits_per_s > 0, NULL);
    o.n_virtual_channels = th_channels_needed(c);
    return o;
}

/* Buffers of one packet and no more channels than needed, so that links push back all the time,
 * with and without terminals, limits of crossbar inputs and allocation cycles: every message
 * arrives, no sooner than alone; every link has carried its bytes, is empty, and was busy for as
 * long as they take at least. Starting in the other order changes nothing. */
TEST(random_traffic_is_conserved_and_ordered)
{
    auto_rng *r = th_random_stream(11, "packet", 0);
    for (int round = 0; round < 40; round++) {
        int nodes = (int)pick(r, 5, 12);
        auto_system *s = random_system(r, nodes);
        const th_network_options o = random_options(r, s);
        auto_network *n = create(s, &o);
        static transfer t[N_RANDOM], again[N_RANDOM];
        random_transfers(r, t, nodes);
        memcpy(again, t, sizeof t);
        CU_ASSERT_EQUAL(drive_network(n, t, N_RANDOM, false), 0);
        for (int l = 0; l < s->n_links; l++) {
            int64_t bytes = bytes_over(s, t, l);
            CU_ASSERT_EQUAL(n->link_bytes[l], bytes);
            CU_ASSERT_EQUAL(n->link_flows[l], 0);
            CU_ASSERT_TRUE(n->link_busy_ps[l] >=
                           th_duration_ps(bytes, s->media[s->links[l].medium].bits_per_s) - 1);
        }
        int early = 0, different = 0;
        CU_ASSERT_EQUAL(drive_network(n, again, N_RANDOM, true), 0);
        for (int i = 0; i < N_RANDOM; i++) {
            th_route_summary way;
            th_route_summarize(s, t[i].src, t[i].dst, &way);
            early +=
                t[i].src != t[i].dst &&
                t[i].end - t[i].at < way.latency_ps + th_duration_ps(t[i].bytes, way.bits_per_s);
            different += t[i].end != again[i].end;
        }
        CU_ASSERT_EQUAL(early, 0);
        CU_ASSERT_EQUAL(different, 0);
    }
}

/* --- options, and parts by themselves --------------------------------------------------------- */

static void assert_refused(const th_system *s, th_network_options o, const char *id)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_network_find("packet")->create(s, &o, &e));
    TAP_ASSERT_TEXT(e.id, id);
}

TEST(bad_options_are_refused)
{
    th_system *s = one_way_ring(3);
    int64_t live = th_alloc_live();
    assert_refused(s, (th_network_options){.packet_bytes = -1}, "NET-0010");
    assert_refused(s, (th_network_options){.packet_bytes = INT64_C(1) << 31}, "NET-0010");
    assert_refused(s, (th_network_options){.buffer_bytes = 4095}, "NET-0011");
    assert_refused(s, (th_network_options){.packet_bytes = 10, .buffer_bytes = 9}, "NET-0011");
    assert_refused(s, (th_network_options){.n_virtual_channels = -1}, "NET-0012");
    assert_refused(s, (th_network_options){.n_virtual_channels = 33}, "NET-0012");
    assert_refused(s, (th_network_options){.credit_delay_ps = -1}, "NET-0013");
    assert_refused(s, (th_network_options){.router_delay_ps = -1}, "NET-0013");
    assert_refused(s, (th_network_options){.terminal_bits_per_s = -1}, "NET-0017");
    assert_refused(s, (th_network_options){.n_crossbar_inputs = -1}, "NET-0018");
    assert_refused(s, (th_network_options){.n_crossbar_inputs = 33}, "NET-0018");
    assert_refused(s, (th_network_options){.allocation_cycle_ps = -1}, "NET-0019");
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    th_system_free(s);
}

/* Messages of 300 packets over two links, of which the k-th allocation fails. 0 or -1. */
static int drive_failing(th_network *n, int64_t k)
{
    transfer t[4] = {{0, 0, 2, 150000, 0}, {0, 0, 1, 9999, 0}, {0, 1, 2, 1, 0}, {5, 0, 2, 800, 0}};
    th_alloc_fail_at(k);
    int failed = drive_network(n, t, 4, false);
    th_alloc_fail_at(0);
    return failed;
}

TEST(a_failed_allocation_fails_the_run)
{
    th_system *s = new_system(3, 100);
    connect(s, 0, 1, GB, 100);
    connect(s, 1, 2, GB, 100);
    finish(s);
    const th_network_options o = {.packet_bytes = 500};
    int64_t k = 2, live = th_alloc_live(); /* the first is the test's own queue */
    for (int failed = -1; failed; k++) {
        th_network *n = create(s, &o);
        failed = drive_failing(n, k);
        n->type->destroy(n);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    CU_ASSERT_TRUE(k > 10);
    th_system_free(s);
}

TEST(time_steps_come_in_order)
{
    enum { POSTS = 20000 };
    auto_rng *r = th_random_stream(3, "instants", 0);
    static int left[POSTS];
    th_packet_events q;
    th_time now = 0;
    int pending = 0, taken = 0;
    memset(left, 0, sizeof left);
    th_packet_events_init(&q);
    for (int i = 0; i < POSTS || pending > 0;) {
        if (i < POSTS && pick(r, 0, 2) > 0) {
            th_time at = now + pick(r, 0, pick(r, 0, 1) ? 5 : 5000);
            CU_ASSERT_EQUAL(
                th_packet_events_post(&q, at, &(th_packet_event){-1, (int32_t)at, i++, 0}), 0);
            pending++;
            continue;
        }
        th_time at = th_packet_events_next(&q);
        CU_ASSERT_TRUE(at >= now);
        for (int32_t h = th_packet_events_take(&q), next; h >= 0; h = next) {
            next = q.events[h].next;
            CU_ASSERT_TRUE(q.events[h].kind == (int32_t)at && left[q.events[h].object]++ == 0);
            th_packet_events_give_back(&q, h);
            pending--;
            taken++;
            now = at;
        }
    }
    CU_ASSERT_TRUE(taken == POSTS && th_packet_events_next(&q) == TH_TIME_MAX);
    th_packet_events_clear(&q);
}

TEST(sets_give_the_least_first)
{
    const int32_t items[] = {270000, 63, 64, 4095, 4096, 0, 63, 262144},
                  sorted[] = {0, 63, 64, 4095, 4096, 262144, 270000};
    th_index_set s;
    CU_ASSERT_EQUAL(th_index_set_init(&s, 270001), 0);
    CU_ASSERT_TRUE(th_index_set_is_empty(&s));
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        th_index_set_add(&s, items[i]);
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++)
        CU_ASSERT_EQUAL(th_index_set_take(&s), sorted[i]);
    CU_ASSERT_TRUE(th_index_set_is_empty(&s));
    th_index_set_clear(&s);
}

TAP_MAIN("packet")
