/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_bound.c - lower bounds by hand, and that no algorithm, on no system, in no network beats
 * them. */
#include <config.h>
#include "sim/collective/bound.h"
#include "sim/collective/algorithms.h"
#include "tests/unit/collective_shapes.h"

/* --- by hand ---------------------------------------------------------------------------------- */

/* In ns. */
static double bound_of(const th_system *s, const th_collective *c)
{
    th_time bound = -1;
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_collective_bound(c, s, &bound, &e), 0);
    return (double)bound / 1000;
}

/* A star of 8, a link each: all_reduce of 240,000 bytes: 500 + 2 * 7/8 * 24,000, or when switches
 * may add, 500 + 24,000. Half duplex, what goes out and comes in share 10 bytes per ns: twice that.
 * A ring has two links: 500 + 2 * 7/8 * 12,000. Broadcast: S. all_to_all: 7/8. */
TEST(bounds_match_the_closed_forms)
{
    auto_system *star = of_size("star", 8), *half = generated_with("star", &(int){8}, 1, true);
    auto_system *ring = of_size("ring", 8);
    th_collective c = collective(star, TH_ALL_REDUCE, "ring", 240000);
    CU_ASSERT_EQUAL(bound_of(star, &c), 42500);
    CU_ASSERT_EQUAL(bound_of(half, &c), 48500);
    CU_ASSERT_EQUAL(bound_of(ring, &c), 21500);
    c.delay_ps = 3000;
    CU_ASSERT_EQUAL(bound_of(ring, &c), 21503);
    c.delay_ps = 0;
    c.algorithm = th_algorithm_find("in_switch");
    CU_ASSERT_EQUAL(bound_of(star, &c), 24500);
    c.algorithm = NULL;
    CU_ASSERT_EQUAL(bound_of(star, &c), 24500);
    c.kind = TH_ALL_TO_ALL;
    CU_ASSERT_EQUAL(bound_of(star, &c), 21500);
    c.kind = TH_BROADCAST;
    CU_ASSERT_EQUAL(bound_of(star, &c), 24500);
    c.kind = TH_GATHER;
    CU_ASSERT_EQUAL(bound_of(star, &c), 21500);
    c.kind = TH_REDUCE_SCATTER;
    CU_ASSERT_EQUAL(bound_of(star, &c), 21500);
    c.kind = TH_BARRIER;
    CU_ASSERT_EQUAL(bound_of(star, &c), 500);
    c.kind = TH_ALL_REDUCE;
    c.n_ranks = 1;
    CU_ASSERT_EQUAL(bound_of(star, &c), 0);
}

/* Two islands of four on a link of 10 bytes per ns between their switches, their own links ten
 * times as wide: 240,000 bytes must cross it both ways, 24,000 ns. all_to_all: 4 ranks times half
 * of S. */
TEST(cuts_between_islands_bound_their_traffic)
{
    auto_system *s = system_of(
        "name = \"islands\"; designs = ({ name = \"r\"; type = \"roofline\"; clock = \"1GHz\";"
        " macs_per_cycle = 1; });"
        "accelerators = ({ names = [\"0\", \"1\", \"2\", \"3\"]; group = 1;"
        " dram = { capacity = \"1GiB\"; bandwidth = \"10TB/s\"; };"
        " vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"r\"]; },"
        "{ names = [\"4\", \"5\", \"6\", \"7\"]; group = 2;"
        " dram = { capacity = \"1GiB\"; bandwidth = \"10TB/s\"; };"
        " vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"r\"]; });"
        "switches = (\"a\");"
        "links = ({ all_pairs = [\"0\", \"1\", \"2\", \"3\"]; bandwidth = \"800Gbps\"; latency = "
        "\"0\"; },"
        "{ all_pairs = [\"4\", \"5\", \"6\", \"7\"]; bandwidth = \"800Gbps\"; latency = \"0\"; },"
        "{ between = [\"0\", \"a\"]; bandwidth = \"80Gbps\"; latency = \"500ns\"; },"
        "{ between = [\"a\", \"4\"]; bandwidth = \"80Gbps\"; latency = \"500ns\"; });");
    th_collective c = collective(s, TH_ALL_REDUCE, "ring", 240000);
    CU_ASSERT_EQUAL(bound_of(s, &c), 24500);
    c.kind = TH_ALL_TO_ALL;
    CU_ASSERT_EQUAL(bound_of(s, &c), 4 * 12000 + 500);
    c.kind = TH_ALL_GATHER;
    CU_ASSERT_EQUAL(bound_of(s, &c), 12500);
}

#define ALIKE(topology)                                                                            \
    "name = \"s\"; designs = ({ name = \"r\"; type = \"roofline\"; clock = \"1GHz\";"              \
    " macs_per_cycle = 1; });"                                                                     \
    "accelerators = ({ dram = { capacity = \"1GiB\"; bandwidth = \"10TB/s\"; };"                   \
    " vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"r\"]; });"              \
    "topology = { " topology " };"

/* Two islands of four round switches of 100 bytes per ns, with one card of 10 bytes per ns each: it
 * counts, not the links inside. 240,000 bytes take 24,000 ns over its link, with the link's 500
 * ns. */
TEST(what_an_island_hangs_on_counts)
{
    auto_system *s =
        system_of(ALIKE("type = \"islands\"; dims = [2, 4]; nics = \"island\"; bandwidth = "
                        "[\"800Gbps\", \"80Gbps\"]; latency = [\"100ns\", \"500ns\"];"));
    th_collective c = collective(s, TH_ALL_REDUCE, "ring", 240000);
    CU_ASSERT_EQUAL(bound_of(s, &c), 24500);
}

/* 4 x 4 with links of 10 bytes per ns: 8 ranks send half of their 16,000 bytes each over 4 links. A
 * fat tree of two levels, oversubscribed by 2: each switch of four ranks has two links up, and
 * three quarters of what they send go there. */
TEST(cuts_between_halves_bound_their_traffic)
{
    auto_system *s = system_of(
        ALIKE("type = \"mesh\"; dims = [4, 4]; bandwidth = \"80Gbps\"; latency = \"500ns\";"));
    th_collective c = collective(s, TH_ALL_TO_ALL, "direct", 16000);
    CU_ASSERT_EQUAL(bound_of(s, &c), 8 * 8000 / (4 * 10) + 500);
    th_system_free(s);
    s = system_of(
        ALIKE("type = \"fattree\"; dims = [4, 2]; oversubscription = 2; bandwidth = \"80Gbps\"; "
              "latency = \"500ns\";"));
    c = collective(s, TH_ALL_TO_ALL, "direct", 16000);
    CU_ASSERT_EQUAL(bound_of(s, &c), 4 * 12000 / (2 * 10) + 500);
}

/* --- at random -------------------------------------------------------------------------------- */

enum { NODES_MAX = 12, AT_ONCE_MAX = 3 };

static void connect_at_random(th_system *s, gsl_rng *r, int a, int b)
{
    th_system_add_cable(s, a, b,
                        th_cable_symmetric(pick(r, 1, 100) * INT64_C(8000000000),
                                           pick(r, 0, 2) * 700000, pick(r, 0, 2) > 0),
                        NULL);
}

/* A tree of accelerators and switches at random, and some more links; islands at random. */
static th_system *random_system(gsl_rng *r)
{
    auto_system *prototype = shipped_system("npu_v1");
    th_system *s = th_system_new("random", NULL);
    int n_accels = (int)pick(r, 2, 8), n = n_accels + (int)pick(r, 0, NODES_MAX - 8);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        th_system_add_node(s, name, i < n_accels ? TH_NODE_ACCEL : TH_NODE_SWITCH,
                           (int)pick(r, 0, 2), NULL);
        if (i < n_accels)
            th_system_copy_accel(s, i, prototype, 0, NULL);
        s->nodes[i].reduces = i >= n_accels && pick(r, 0, 3) > 0;
        if (i > 0)
            connect_at_random(s, r, i, (int)pick(r, 0, i - 1));
    }
    for (int64_t more = pick(r, 0, 2 * n); more > 0; more--) {
        int x = (int)pick(r, 0, n - 1), y = (int)pick(r, 0, n - 1);
        if (x != y)
            connect_at_random(s, r, x, y);
    }
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(th_system_finish(s, &e), 0);
    return s;
}

/* A group, an algorithm that can, sizes and chunks; drawn again until the algorithm takes it. */
static th_collective random_collective(const th_system *s, gsl_rng *r, int32_t *nodes)
{
    int n_algorithms = 0;
    while (th_algorithms[n_algorithms])
        n_algorithms++;
    for (;;) {
        th_collective c = {.algorithm = th_algorithms[pick(r, 0, n_algorithms - 1)],
                           .kind = (int32_t)pick(r, 0, TH_SEND_RECV),
                           .rank_node = nodes,
                           .n_ranks = (int32_t)pick(r, 2, s->n_accels),
                           .bytes = pick(r, 0, 1) ? pick(r, 0, 300) : pick(r, 0, 1000000),
                           .chunks = (int32_t)pick(r, 1, 6),
                           .delay_ps = pick(r, 0, 1) * 12345};
        if (c.kind == TH_SEND_RECV)
            c.n_ranks = 2;
        c.root = (int32_t)pick(r, 0, c.n_ranks - 1);
        for (int i = 0; i < s->n_accels; i++) {
            int j = (int)pick(r, 0, i);
            nodes[i] = nodes[j];
            nodes[j] = s->accel_node[i];
        }
        th_collective_schedule x;
        if (!(c.algorithm->kinds >> c.kind & 1u) || th_collective_schedule_init(&x, &c, s, NULL))
            continue;
        th_collective_schedule_clear(&x);
        return c;
    }
}

/* The times of n collectives that start at once. False: the packet network has no order of its
 * channels for the routes of this system that is free of deadlocks, and says so. */
static bool run(const th_system *s, const char *network, const th_collective *c, int n,
                th_time *times)
{
    th_error e = {"", ""};
    th_compute_cost_cache *w = th_compute_cost_cache_new(s, &e);
    th_machine *m =
        th_machine_new(s, w, &(th_machine_options){.network = th_network_find(network)}, &e);
    if (!m) {
        TAP_ASSERT_TEXT(e.id, "NET-0014");
        th_compute_cost_cache_free(w);
        return false;
    }
    auto_program *p = th_program_new(&e);
    for (int i = 0; i < n; i++) {
        int32_t number = th_program_add_collective(p, &c[i], &e);
        th_task t = {
            .kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .collective = number, .layer = -1};
        th_program_add(p, &t, &e);
    }
    auto_result result = {0};
    CU_ASSERT_EQUAL(th_program_finish(p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, p, &e), 0);
    bool done = th_machine_run_until(m, TH_TIME_MAX, &e) == TH_STOP_DONE;
    CU_ASSERT_TRUE(done || strcmp(e.id, "NET-0014") == 0 || strcmp(e.id, "NET-0015") == 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_result(m, &result, &e), 0);
    for (int i = 0; i < n; i++)
        times[i] = result.tasks[i].end_ps - result.tasks[i].start_ps;
    th_machine_free(m);
    th_compute_cost_cache_free(w);
    return done;
}

static void try_one(const char *network, uint64_t seed, int64_t *n_tight)
{
    auto_rng *r = th_random_stream(seed, "bounds", 0);
    auto_system *s = random_system(r);
    int32_t nodes[AT_ONCE_MAX][NODES_MAX];
    th_collective c[AT_ONCE_MAX];
    th_time times[AT_ONCE_MAX], again[AT_ONCE_MAX];
    int n = (int)pick(r, 1, AT_ONCE_MAX);
    for (int i = 0; i < n; i++)
        c[i] = random_collective(s, r, nodes[i]);
    bool done = run(s, network, c, n, times);
    CU_ASSERT_EQUAL(run(s, network, c, n, again), done);
    CU_ASSERT_EQUAL(memcmp(times, again, (size_t)n * sizeof *times), 0);
    for (int i = 0; i < n && done; i++) {
        th_time bound = 0;
        CU_ASSERT_EQUAL(th_collective_bound(&c[i], s, &bound, NULL), 0);
        CU_ASSERT_TRUE(times[i] >= bound);
        *n_tight += bound > 0 && times[i] - bound < times[i] / 5;
        if (times[i] < bound)
            printf("# %s, seed %d: %s by %s, %d ranks, %lld bytes, %d chunks: %lld under %lld ps\n",
                   network, (int)seed, th_collective_names[c[i].kind], c[i].algorithm->name,
                   c[i].n_ranks, (long long)c[i].bytes, c[i].chunks, (long long)times[i],
                   (long long)bound);
    }
}

/* Half or full duplex, any widths and latencies, any groups, up to three at once; and the bounds
 * are not idle: some runs come close. */
TEST(nothing_beats_its_bound_under_fluid)
{
    int64_t n_tight = 0;
    for (uint64_t seed = 0; seed < 2000; seed++)
        try_one("fluid", seed, &n_tight);
    CU_ASSERT_TRUE(n_tight > 50);
}

TEST(nothing_beats_its_bound_under_ideal_alone)
{
    /* ideal knows no contention: what one sends to several at once is under way at once, so bounds
     * hold only for algorithms that send one after the other: a ring of chains, one chunk. */
    auto_system *s = of_size("star", 6);
    th_collective c = collective(s, TH_ALL_REDUCE, "ring", 600000);
    th_time time, bound = 0;
    CU_ASSERT_TRUE(run(s, "ideal", &c, 1, &time));
    CU_ASSERT_EQUAL(th_collective_bound(&c, s, &bound, NULL), 0);
    CU_ASSERT_TRUE(time >= bound);
}

TEST(nothing_beats_its_bound_under_packet)
{
    int64_t n_tight = 0;
    for (uint64_t seed = 0; seed < 150; seed++)
        try_one("packet", seed, &n_tight);
    CU_ASSERT_TRUE(n_tight > 2);
}

TAP_MAIN("bound")
