/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "sim/network/astra/trace_replay.h"
#include "sim/network/models.h"
#include "tests/unit/auto_network.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/astra_help.h"
#include "tests/unit/draw.h"
#include "tests/unit/tap.h"

/* ---- systems ---- */

typedef astra_setup setup;

#define RING1 "ring"
#define RING2 "ring, ring"
#define RING3 "ring, ring, ring"

static th_network *network_of(const th_network_type *type, const th_system *s)
{
    th_network_options o = {0};
    th_error e = {"", ""};
    th_network *n = type->create(s, &o, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(n);
    type->reset(n);
    return n;
}

/* One collective of all, begun at now: when it ends, or -1 with *e. */
static th_time ask(th_network *n, th_collective_kind kind, int64_t bytes, th_time now, th_error *e)
{
    const th_system *s = n->system;
    int32_t *ranks = th_alloc_array((size_t)s->n_accels, sizeof *ranks);
    for (int i = 0; i < s->n_accels; i++)
        ranks[i] = s->accel_node[i];
    th_collective c = {.kind = (int32_t)kind,
                       .rank_node = ranks,
                       .n_ranks = s->n_accels,
                       .bytes = bytes,
                       .chunks = 1};
    th_time end = -7;
    int status = n->type->collective(n, &c, now, &end, e);
    th_free(ranks);
    return status == 1 ? end : status;
}

static int64_t ns_of(const th_network_type *type, const setup *u, th_collective_kind kind,
                     int64_t bytes)
{
    th_error e = {"", ""};
    th_system *s = astra_system(u);
    th_network *n = network_of(type, s);
    th_time end = ask(n, kind, bytes, 0, &e);
    TAP_ASSERT_TEXT(e.text, "");
    n->type->destroy(n);
    th_system_free(s);
    return end / 1000;
}

#define AWARE   (&th_network_astra_aware)
#define UNAWARE (&th_network_astra_unaware)

/* ---- collectives against ASTRA-sim ---- */

enum { MIB = 1 << 20, GIB = 1 << 30 };

/* What ASTRA-sim answered, ns; bytes as it counts them. 50 GB/s and 500 ns where not said. */
TEST(agrees_on_one_dimension)
{
    static const struct {
        const th_network_type *type;
        const char *topology, *size;
        th_collective_kind kind;
        int64_t bytes;
        int splits;
        int64_t ns;
    } rows[] = {
        {AWARE, "ring", "4", TH_ALL_REDUCE, MIB, 1, 33829},
        {AWARE, "ring", "4", TH_ALL_REDUCE, MIB, 4, 43000},
        {AWARE, "ring", "64", TH_ALL_REDUCE, MIB, 4, 296896},
        {UNAWARE, "ring", "16", TH_REDUCE_SCATTER, 64 * MIB, 1, 1297480},
        {AWARE, "fully_connected", "8", TH_REDUCE_SCATTER, GIB, 1, 19265186},
        {AWARE, "fully_connected", "16", TH_ALL_GATHER, 64 * MIB, 4, 18780640},
        {UNAWARE, "fully_connected", "64", TH_ALL_TO_ALL, 64 * MIB, 1, 40402666},
        {AWARE, "switch", "4", TH_ALL_GATHER, GIB, 1, 120003040},
        {AWARE, "switch", "8", TH_ALL_REDUCE, MIB, 1, 84199},
        {AWARE, "switch", "64", TH_ALL_TO_ALL, GIB, 4, 1268144680},
        {UNAWARE, "switch", "4", TH_ALL_REDUCE, 64 * MIB, 1, 1975435},
        {UNAWARE, "switch", "16", TH_ALL_REDUCE, MIB, 4, 159640},
        {UNAWARE, "switch", "64", TH_REDUCE_SCATTER, GIB, 4, 21923536},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setup u = {rows[i].topology, rows[i].size, "50", "500", RING1, rows[i].splits};
        int64_t ours = rows[i].bytes;
        if (rows[i].kind == TH_ALL_GATHER) /* ours is the gathered result */
            ours *= atoi(rows[i].size);
        CU_ASSERT_EQUAL(ns_of(rows[i].type, &u, rows[i].kind, ours), rows[i].ns);
    }
}

TEST(agrees_on_several_dimensions)
{
    static const setup cube = {"ring, ring, ring", "8, 8, 8", "50, 50, 50",
                               "500, 500, 500",    RING3,     1};
    static const setup torus = {"ring, ring", "16, 16", "50, 50", "500, 500", RING2, 1};
    static const setup pods = {"switch, switch", "8, 8", "400, 50", "500, 2000", RING2, 1};
    static const setup large = {"switch, switch", "8, 32", "400, 50", "500, 2000", RING2, 1};
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &cube, TH_REDUCE_SCATTER, MIB), 32160);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &cube, TH_ALL_REDUCE, MIB), 62378);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &torus, TH_ALL_TO_ALL, GIB), 300122420);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &pods, TH_REDUCE_SCATTER, GIB), 6391951);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &pods, TH_ALL_GATHER, 64LL * MIB), 308594);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &large, TH_ALL_REDUCE, MIB), 273659);
}

/* 2560 bytes of an all-to-all, 8 accelerators with 2400 GB/s and 500 ns. */
TEST(agrees_on_direct)
{
    static const setup full = {"fully_connected", "8", "2400", "500", "direct", 1};
    static const setup star = {"switch", "8", "2400", "500", "direct", 1};
    static const setup ring = {"ring", "8", "2400", "500", RING1, 1};
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &full, TH_ALL_TO_ALL, 2560), 520);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &star, TH_ALL_TO_ALL, 2560), 1020);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &ring, TH_ALL_TO_ALL, 2560), 14290);
}

/* ---- by hand ---- */

/* A ring of 3 at 1 GB/s = 1.073741824 bytes/ns and 100 ns, 7 ns at the ends. A chunk of one byte is
 * raised to three, so messages are of one byte: t = floor(100 + 0.93) = 100, reducing takes
 * floor(1 / 1600) = 0. Two chunks: 2 (5 * 7 + 4 * 100) = 870. */
TEST(raises_small_chunks)
{
    static const setup u = {"ring", "3", "1", "100", RING1, 2, .endpoint_delay_ns = 7};
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &u, TH_ALL_REDUCE, 2), 870);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &u, TH_ALL_REDUCE, 0), 870);
}

/* 100 bytes in 3 chunks of 33 leave one byte: a fourth chunk, as long as the others. Messages of
 * 33 / 3 = 11 bytes: t = floor(100 + 10.24) = 110, so 4 (3 * 10 + 2 * 110) = 1000. */
TEST(rounds_chunks_up)
{
    static const setup u = {"ring", "3", "1", "100", RING1, 3};
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &u, TH_REDUCE_SCATTER, 100), 1000);
}

/* 2 x 3 of rings, 6000 bytes, 1 and 2 GB/s, 100 and 200 ns, 10 ns at the ends, 1600 bytes/ns.
 * All-reduce of all of it in each dimension:
 *   d0  m 3000: t = floor(100 + 2793.967) = 2893, 3 * 10 + 2 * 2893 + 1 * 3 * 1      = 5819
 *   d1  m 2000: t = floor(200 + 931.322) = 1131,  5 * 10 + 4 * 1131 + 2 * 3 * 1      = 4580 */
TEST(knows_the_baseline)
{
    static const setup u = {
        "ring, ring", "2, 3", "1, 2", "100, 200", RING2, 1, .optimization = "baseline"};
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &u, TH_ALL_REDUCE, 6000), 5819 + 4580);
}

/* Five at 1 GB/s, 100 ns, 10 ns at the ends; messages of 8000 / 5 = 1600 bytes: 1490.12 ns alone,
 * 1590 with the latency, reduced in 3 * 1.
 *   full mesh  reduce-scatter 2 * 10 + 1590 + 3, all-reduce 3 * 10 + 2 * 1590 + 3
 *   switch     unaware floor(200 + 1490.12) = 1690; aware the fourth message leaves after
 *              3 * 1490 and takes 2 * 1590: 2 * 10 + 7650 for an all-to-all
 *   ring       two hops to the farthest, unaware floor(200 + 1490.12) = 1690 */
TEST(knows_direct)
{
    static const setup full = {"fully_connected", "5", "1", "100", "direct", 1};
    static const setup star = {"switch", "5", "1", "100", "direct", 1};
    static const setup ring = {"ring", "5", "1", "100", "direct", 1};
    CU_ASSERT_EQUAL(ns_of(AWARE, &full, TH_REDUCE_SCATTER, 8000), 1613);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &full, TH_ALL_REDUCE, 8000), 3213);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &star, TH_ALL_REDUCE, 8000), 30 + 2 * 1690 + 3);
    CU_ASSERT_EQUAL(ns_of(AWARE, &star, TH_ALL_TO_ALL, 8000), 7670);
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &ring, TH_ALL_GATHER, 8000), 20 + 1690);
}

/* The same rings, reduce-scatter of 12000 bytes in two chunks of 6000: m 3000 in d0 takes
 * 2 * 10 + 2893 + 3 = 2916, m 1000 in d1 (200 + 465.66 = 665) 3 * 10 + 2 * 665 + 0 = 1360. The
 * second chunk follows into d0 when the first goes on: 2 * 2916 + 1360. With two places in each
 * dimension both go side by side: 2916 + 1360. */
TEST(pipes_chunks_through_dimensions)
{
    setup u = {"ring, ring", "2, 3", "1, 2", "100, 200", RING2, 2};
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &u, TH_REDUCE_SCATTER, 12000), 7192);
    CU_ASSERT_EQUAL(ns_of(AWARE, &u, TH_REDUCE_SCATTER, 12000), 7192);
    u.active_chunks = 2;
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &u, TH_REDUCE_SCATTER, 12000), 4276);
}

/* 3 x 2, 18000 bytes in chunks of 6000: d0 (2 GB/s, 200 ns, m 2000: t = 1131) takes
 * 3 * 10 + 2 * 1131 + 2 * 3 * 1 = 2298, d1 (1 GB/s, 100 ns, m 1000: t = 1031) 2 * 10 + 1031 + 0 =
 * 1051: d0 is never idle. */
TEST(waits_for_the_slowest_dimension)
{
    setup u = {"ring, ring", "3, 2", "2, 1", "200, 100", RING2, 3};
    CU_ASSERT_EQUAL(ns_of(UNAWARE, &u, TH_REDUCE_SCATTER, 18000), 3 * 2298 + 1051);
}

/* Three in a ring or round a switch, 1 GB/s, 100 ns, 10 ns at the ends, two chunks A and B of 48000
 * bytes under way at once: messages of 16000 take a link 14901 and arrive after 15001, reducing
 * takes 3 * 10. Reduce-scatter, ring:
 *   A sends at 10, there at 15011; B waits for the link until 14911, there at 29912
 *   A could send at 15051, but the link is free at 29812: there at 44813; B from 44713, at 59714
 *   B leaves 10 + 30 later
 * All-gather, switch; the second link is as busy as the first, A's way is free when it comes:
 *   A 10 -> 15011 -> 30012, B 14911 -> 29912 -> 44913
 *   A 30022 -> 45023 -> 60024, B from 44923 -> 59924 -> 74925, 10 at its end */
TEST(chunks_meet_on_aware_links)
{
    static const setup ring = {"ring", "3", "1", "100", RING1, 2, 2};
    static const setup star = {"switch", "3", "1", "100", RING1, 2, 2};
    CU_ASSERT_EQUAL(ns_of(AWARE, &ring, TH_REDUCE_SCATTER, 96000), 59754);
    CU_ASSERT_EQUAL(ns_of(AWARE, &star, TH_ALL_GATHER, 3 * 32000), 74935);
}

/* ---- one rank stands for all ---- */

typedef struct {
    char topology[100], sizes[100], bandwidth[100], latency[100], implementation[100];
    setup u;
} random_setup;

static void put_word(char *list, const char *word)
{
    th_strbuf next = TH_STRBUF_INIT;
    th_strbuf_printf(&next, "%s%s%s", list, list[0] ? ", " : "", word);
    snprintf(list, 100, "%s", next.text);
    th_strbuf_clear(&next);
}

/* Of several dimensions, unaware; of one, aware, where all ranks do the same at the same time. */
static void draw_setup(gsl_rng *r, bool is_aware, random_setup *x)
{
    static const char *const kinds[] = {"ring", "switch", "fully_connected"};
    static const char *const rates[] = {"50", "0.5", "25.5", "400"};
    static const char *const delays[] = {"0", "500", "123.5", "7"};
    static const char *const ways[] = {"ring", "direct", "direct2", "halvingDoubling"};
    *x = (random_setup){.topology = ""};
    for (int d = 0, n_dims = is_aware ? 1 : draw(r, 1, 3); d < n_dims; d++) {
        int kind = draw(r, 0, 2), way = draw(r, 0, is_aware && kind == 0 ? 2 : 3);
        char size[12];
        snprintf(size, sizeof size, "%d", way == 3 ? 2 << draw(r, 0, 2) : draw(r, 2, 7));
        put_word(x->topology, kinds[kind]);
        put_word(x->sizes, size);
        put_word(x->bandwidth, rates[draw(r, 0, 3)]);
        put_word(x->latency, delays[draw(r, 0, 3)]);
        put_word(x->implementation, ways[way]);
    }
    x->u = (setup){x->topology,
                   x->sizes,
                   x->bandwidth,
                   x->latency,
                   x->implementation,
                   .splits = draw(r, 1, 5),
                   .active_chunks = draw(r, 1, 3),
                   .endpoint_delay_ns = draw(r, -1, 20),
                   .optimization = draw(r, 0, 1) ? "baseline" : "localBWAware"};
}

/* Every rank's part, message by message: when the last one ends; -1: they differ. */
static int64_t followed_ns(const th_system *s, bool is_aware, th_trace_collective kind,
                           int64_t bytes)
{
    th_error e = {"", ""};
    th_trace_node node = TH_TRACE_NODE(0);
    node.kind = TH_TRACE_COLLECTIVE;
    node.collective = kind;
    node.bytes = bytes;
    th_trace_rank *ranks = th_alloc_zero((size_t)s->n_accels, sizeof *ranks);
    for (int i = 0; i < s->n_accels; i++)
        ranks[i] = (th_trace_rank){.nodes = &node, .n_nodes = 1, .first = i};
    th_trace t = {
        .prefix = (char *)"all", .ranks = ranks, .n_ranks = s->n_accels, .n_nodes = s->n_accels};
    th_astra_replay all = {.n_events = 0};
    th_astra_replay_options o = {.trace = &t, .system = s};
    CU_ASSERT_EQUAL(th_astra_replay_run(&o, is_aware, &all, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    int64_t ns = all.ranks ? all.ranks[0].finish_ns : -1;
    for (int i = 0; all.ranks && i < s->n_accels; i++)
        ns = all.ranks[i].finish_ns == ns ? ns : -1;
    th_astra_replay_clear(&all);
    th_free(ranks);
    return ns;
}

TEST(one_rank_takes_as_long_as_all)
{
    static const th_trace_collective kinds[] = {TH_TRACE_ALL_REDUCE, TH_TRACE_ALL_GATHER,
                                                TH_TRACE_ALL_TO_ALL, TH_TRACE_REDUCE_SCATTER};
    gsl_rng *r = th_random_stream(3, "astra", 0);
    for (int i = 0; i < 2000; i++) {
        random_setup x;
        th_error e = {"", ""};
        bool is_aware = draw(r, 0, 1);
        int64_t one = 0, bytes = (int64_t)1000 * draw(r, 1, 1000);
        th_trace_collective kind = kinds[draw(r, 0, 3)];
        draw_setup(r, is_aware, &x);
        auto_system *s = astra_system(&x.u);
        CU_ASSERT_EQUAL(th_astra_collective_ns(s, is_aware, kind, bytes, &one, &e), 0);
        TAP_ASSERT_TEXT(e.text, "");
        int64_t all = followed_ns(s, is_aware, kind, bytes);
        CU_ASSERT_EQUAL(one, all);
    }
    gsl_rng_free(r);
}

/* ---- one at a time, and what is not taken ---- */

TEST(takes_one_collective_at_a_time)
{
    static const setup u = {"ring", "4", "50", "500", RING1, 1};
    th_error e = {"", ""};
    auto_system *s = astra_system(&u);
    auto_network *n = network_of(AWARE, s);
    CU_ASSERT_EQUAL(ask(n, TH_ALL_REDUCE, MIB, 0, &e), 33829000);
    CU_ASSERT_EQUAL(ask(n, TH_ALL_REDUCE, MIB, 5, &e), 2 * 33829000);
    CU_ASSERT_EQUAL(ask(n, TH_ALL_REDUCE, MIB, 70000001, &e), 70000001 + 33829000);
    n->type->reset(n);
    CU_ASSERT_EQUAL(ask(n, TH_ALL_REDUCE, MIB, 3, &e), 33829003);
}

/* What ASTRA-sim has no formula for goes message by message. */
TEST(leaves_others_to_messages)
{
    static const setup u = {"ring", "4", "50", "500", RING1, 1};
    th_error e = {"", ""};
    auto_system *s = astra_system(&u);
    auto_network *n = network_of(AWARE, s);
    CU_ASSERT_EQUAL(ask(n, TH_BROADCAST, MIB, 0, &e), 0);
    int32_t ranks[] = {0, 1, 2};
    th_collective c = {
        .kind = TH_ALL_REDUCE, .rank_node = ranks, .n_ranks = 3, .bytes = MIB, .chunks = 1};
    th_time end = 5;
    CU_ASSERT_EQUAL(n->type->collective(n, &c, 0, &end, &e), 0);
    CU_ASSERT_EQUAL(end, 5);
}

static void expect_refusal(const th_network_type *type, const setup *u, th_collective_kind kind,
                           int64_t bytes, const char *id, const char *text)
{
    th_error e = {"", ""};
    auto_system *s = astra_system(u);
    auto_network *n = network_of(type, s);
    CU_ASSERT_EQUAL(ask(n, kind, bytes, 0, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
}

TEST(refuses_what_it_cannot)
{
    static const setup halving = {"ring", "4", "50", "500", "halvingDoubling", 1};
    static const setup odd = {"switch", "6", "50", "500", "halvingDoubling", 1};
    static const setup over_all = {"switch, ring", "4, 2", "50, 50", "500, 500", "ring, oneRing"};
    static const setup tree = {"switch", "4", "50", "500", "doubleBinaryTree", 1};
    static const setup busy = {"ring", "4", "50", "500", RING1, 4, 2};
    static const setup endless = {"ring", "5000", "50", "500", RING1, 2, 2};
    static const setup slow = {"ring", "4", "0.000001", "500", RING1, 1};
    expect_refusal(AWARE, &halving, TH_ALL_TO_ALL, MIB, "NET-0031",
                   "all_to_all is halvingDoubling in dimension 0: astra_aware does not know it on "
                   "these links (ring it does)");
    expect_refusal(
        UNAWARE, &odd, TH_ALL_REDUCE, MIB, "NET-0031",
        "all_reduce is halvingDoubling in dimension 0: astra_unaware does not know it of "
        "a size that is no power of two (ring it does)");
    expect_refusal(UNAWARE, &over_all, TH_ALL_GATHER, MIB, "NET-0031",
                   "all_gather is oneRing in dimension 1: astra_unaware does not know it over "
                   "several dimensions (ring it does)");
    expect_refusal(AWARE, &tree, TH_ALL_REDUCE, MIB, "SIM-0302",
                   "all_reduce is doubleBinaryTree in dimension 0: must be ring, direct, "
                   "halvingDoubling or one of those over all dimensions");
    expect_refusal(AWARE, &endless, TH_ALL_TO_ALL, 1LL << 40, "NET-0036",
                   "active-chunks-per-dimension 2: 24995000 messages of one collective would be "
                   "followed, at most 16777216 are possible");
    expect_refusal(
        UNAWARE, &busy, TH_ALL_GATHER, 15, "NET-0034",
        "an all_gather of 3 bytes from each rank cannot be cut into preferred-dataset-splits 4");
    expect_refusal(UNAWARE, &slow, TH_ALL_REDUCE, 1LL << 50, "NET-0035",
                   "all_reduce of 1125899906842624 bytes takes longer than any run: 106 days");
}

TEST(needs_the_files)
{
    th_error e = {"", ""};
    th_network_options o = {0};
    static const setup u = {"ring", "4", "50", "500", RING1, 1};
    auto_system *s = astra_system(&u);
    struct th_astra *block = s->astra;
    s->astra = NULL;
    CU_ASSERT_PTR_NULL(AWARE->create(s, &o, &e));
    TAP_ASSERT_ERROR(e, "NET-0030",
                     "system \"astra\": network astra_aware computes with ASTRA-sim's "
                     "network.yml and system.json: read the system with -format astra");
    s->astra = block;
}

/* ---- messages ---- */

typedef struct {
    int src, dst;
    int64_t bytes;
    th_time start, delay, end;
} sent;

/* Starts all in order of time; each must end when it says. */
static void expect_messages(const th_network_type *type, const setup *u, const sent *m, int n_sent)
{
    auto_system *s = astra_system(u);
    auto_network *n = network_of(type, s);
    auto_events *q = th_events_new();
    th_event e;
    int n_ended = 0;
    const int32_t first_number = INT32_MAX - 100; /* numbers are the machine's */
    for (int i = 0; i < n_sent; i++) {            /* the machine's part, in small */
        while (th_events_peek(q, &e) && e.time <= m[i].start) {
            th_events_pop(q, &e);
            if (type->event(n, q, e.time, &e) && ++n_ended)
                CU_ASSERT_EQUAL(e.time, m[(int32_t)e.object - first_number].end);
        }
        CU_ASSERT_EQUAL(type->start(n, q, m[i].start, first_number + i,
                                    &(th_message){s->accel_node[m[i].src], s->accel_node[m[i].dst],
                                                  m[i].bytes, m[i].delay}),
                        0);
    }
    while (th_events_pop(q, &e))
        if (type->event(n, q, e.time, &e) && ++n_ended)
            CU_ASSERT_EQUAL(e.time, m[(int32_t)e.object - first_number].end);
    CU_ASSERT_EQUAL(n_ended, n_sent);
    CU_ASSERT_EQUAL(type->settle(n, q, 0), 0);
    for (int l = 0; l < s->n_links; l++)
        CU_ASSERT_EQUAL(n->link_flows[l], 0);
}

/* 1000 bytes at 1 GB/s: 931.32 ns. Ring of 5 with 100.5 ns: one hop floor(1031.82) = 1031; two hops
 * floor(201 + 931.32) = 1132 unaware, 2 * 1031 aware. Messages on one link, aware: the second is
 * sent when the link is free after floor(931.32) = 931; the third comes when it is free again. */
TEST(sends_messages_along_a_ring)
{
    static const setup u = {"ring", "5", "1", "100.5", RING1, 1};
    static const sent alone[] = {{0, 1, 1000, 0, 0, 1031000},
                                 {3, 1, 1000, 0, 0, 1132000},
                                 {3, 1, 1000, 0, 7, 1132007},
                                 {2, 2, 1000, 9, 0, 9}};
    static const sent queued[] = {{0, 1, 1000, 0, 0, 1031000},
                                  {0, 1, 1000, 10, 0, 931000 + 1031000},
                                  {0, 2, 1000, 20, 0, 2 * 931000 + 2 * 1031000},
                                  {0, 1, 1000, 4000000, 500, 4000500 + 1031000}};
    expect_messages(UNAWARE, &u, alone, 4);
    expect_messages(AWARE, &u, queued, 4);
}

/* Half way round a ring of 4 ASTRA-sim goes upwards whatever the source: from 1 to 3 over 2, so
 * that the message to 2 waits for 931 ns. A hop takes floor(100 + 931.32) = 1031. */
TEST(goes_upwards_half_way_round_a_ring)
{
    static const setup u = {"ring", "4", "1", "100", RING1, 1};
    static const sent both[] = {{1, 3, 1000, 0, 0, 2 * 1031000},
                                {1, 2, 1000, 10, 0, 931000 + 1031000}};
    expect_messages(AWARE, &u, both, 2);
}

/* Ring of 4 with 1 GB/s, 100 ns, then a switch of 3 with 2 GB/s, 50.5 ns; 1000 bytes. From (0, 0)
 * to (1, 2): one step along the ring, 1031; then the switch, floor(101 + 465.66) = 566 unaware,
 * 2 floor(50.5 + 465.66) = 1032 aware. */
TEST(sends_messages_across_dimensions)
{
    static const setup u = {"ring, switch", "4, 3", "1, 2", "100, 50.5", RING2, 1};
    static const sent unaware[] = {{0, 9, 1000, 0, 0, 1597000}},
                      aware[] = {{0, 9, 1000, 0, 0, 2063000}};
    expect_messages(UNAWARE, &u, unaware, 1);
    expect_messages(AWARE, &u, aware, 1);
}

/* Wave after wave: once the first has been, no more memory is asked for. */
TEST(memory_follows_the_messages_that_live)
{
    static const setup u = {"ring, switch", "4, 3", "1, 2", "100, 50.5", RING2, 1};
    const th_network_type *const types[] = {AWARE, UNAWARE};
    th_system *s = astra_system(&u);
    for (int i = 0; i < 2; i++) {
        th_network *n = network_of(types[i], s);
        th_events *q = th_events_new();
        th_event e;
        int64_t calls = 0;
        for (int32_t wave = 0, number = INT32_MAX - 1000; wave < 50; wave++) {
            for (int k = 0; k < 12; k++)
                CU_ASSERT_EQUAL(types[i]->start(n, q, wave * TH_PS_PER_S, number++,
                                                &(th_message){k, (k + 5) % 12, 1000, 3 * k}),
                                0);
            while (th_events_pop(q, &e))
                types[i]->event(n, q, e.time, &e);
            calls = wave == 0 ? th_alloc_calls() : calls;
        }
        CU_ASSERT_EQUAL(th_alloc_calls(), calls);
        th_events_free(q);
        n->type->destroy(n);
    }
    th_system_free(s);
}

TEST(counts_bytes_on_links)
{
    static const setup u = {"switch", "3", "1", "100", RING1, 1};
    const th_network_type *const types[] = {AWARE, UNAWARE};
    for (int i = 0; i < 2; i++) {
        auto_system *s = astra_system(&u);
        auto_network *n = network_of(types[i], s);
        auto_events *q = th_events_new();
        th_event e;
        CU_ASSERT_EQUAL(n->type->start(n, q, 0, 0, &(th_message){0, 2, 700, 0}), 0);
        while (th_events_pop(q, &e))
            n->type->event(n, q, e.time, &e);
        CU_ASSERT_EQUAL(n->link_bytes[th_system_find_link(s, "0_switch")], 700);
        CU_ASSERT_EQUAL(n->link_bytes[th_system_find_link(s, "switch_2")], 700);
        CU_ASSERT_EQUAL(n->link_bytes[th_system_find_link(s, "switch_0")], 0);
    }
}

/* Starts a message from accelerator 0: its end, or -1 with *e. */
static th_time send(const th_network_type *type, const setup *u, const char *to, int64_t bytes,
                    th_error *e)
{
    th_system *s = astra_system(u);
    th_network *n = network_of(type, s);
    th_events *q = th_events_new();
    th_event last = {.time = -1};
    const th_message m = {0, th_system_find_node(s, to), bytes, 0};
    if (n->type->start(n, q, 0, 0, &m) < 0)
        th_network_failed(n, e);
    else
        while (th_events_pop(q, &last))
            n->type->event(n, q, last.time, &last);
    th_events_free(q);
    n->type->destroy(n);
    th_system_free(s);
    return last.time;
}

/* 2^50 bytes at 1074 bytes/s take 1e12 s. To a switch, which has no coordinates, aware goes link by
 * link: 107374182400 bytes at 100 GiB/s, 100 ns before them. */
TEST(refuses_messages_it_cannot_time)
{
    static const setup slow = {"ring", "4", "0.000001", "500", RING1, 1};
    static const setup star = {"switch", "4", "100", "100", RING1, 1};
    static const char endless[] =
        "1125899906842624 bytes from \"0\" to \"1\" take longer than any run: 106 days";
    const th_network_type *const types[] = {AWARE, UNAWARE};
    for (int i = 0; i < 2; i++) {
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(send(types[i], &slow, "1", 1LL << 50, &e), -1);
        TAP_ASSERT_ERROR(e, "NET-0037", endless);
    }
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(send(AWARE, &star, "switch", 107374182400, &e), 1000000100000);
    CU_ASSERT_EQUAL(send(UNAWARE, &star, "switch", 700, &e), -1);
    TAP_ASSERT_ERROR(e, "NET-0038",
                     "network astra_unaware: a transfer from \"0\" to \"switch\": \"switch\" must "
                     "be an accelerator");
}

static int begin_one(const void *s, th_error *e)
{
    th_network_options o = {0};
    int32_t ranks[] = {0, 1, 2, 3, 4, 5};
    th_collective c = {
        .kind = TH_ALL_REDUCE, .rank_node = ranks, .n_ranks = 6, .bytes = 6000, .chunks = 1};
    th_time at = -1;
    th_network *n = UNAWARE->create(s, &o, e);
    int begun = n ? n->type->collective(n, &c, 0, &at, e) : -1;
    UNAWARE->destroy(n);
    return begun == 1 && at > 0 ? 0 : -1;
}

TEST(survives_lack_of_memory)
{
    auto_system *s = astra_system(&(setup){"ring, ring", "2, 3", "1, 2", "100, 200", RING2, 5});
    CU_ASSERT_TRUE(fail_each_allocation(begin_one, s) > 10);
}

TAP_MAIN("astra")
