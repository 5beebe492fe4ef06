/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/routing/route.h"
#include "base/alloc.h"
#include "base/random.h"
#include "tests/unit/tap.h"
#include <pthread.h>

/* n accelerators that do not forward, then m switches. */
static th_system *new_system(int n, int m, const char *routing)
{
    static int the_design = 0;
    const th_accel a = {.dram_bytes = 1,
                        .dram_bits_per_s = 1,
                        .dram_burst_bytes = 1,
                        .vector_hz = 1,
                        .vector_elements_per_cycle = 1,
                        .designs = &the_design,
                        .n_designs = 1};
    char name[16];
    th_system *s = th_system_new("sys", NULL);
    th_system_add_design(s, "d", "tiled", NULL, 0, NULL);
    for (int i = 0; i < n + m; i++) {
        snprintf(name, sizeof name, "%d", i);
        th_system_add_node(s, name, i < n ? TH_NODE_ACCEL : TH_NODE_SWITCH, 0, NULL);
        s->nodes[i].forwards = i >= n;
        if (i < n)
            th_system_set_accel(s, i, &a, NULL);
    }
    s->routing = th_routing_find(routing);
    return s;
}

static void finish(th_system *s)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_system_finish(s, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
}

enum { N_LEAVES = 8, PER_LEAF = 8, N_SPINES = 4, N_RANKS = N_LEAVES * PER_LEAF };

/* Leaf switches 64 .. 71, spines 72 .. 75; every leaf has a cable to every spine. */
static th_system *new_clos(const char *routing)
{
    th_system *s = new_system(N_RANKS, N_LEAVES + N_SPINES, routing);
    for (int i = 0; i < N_RANKS; i++)
        th_system_add_cable(s, i, N_RANKS + i / PER_LEAF, th_cable_symmetric(100, 5, true), NULL);
    for (int leaf = N_RANKS; leaf < N_RANKS + N_LEAVES; leaf++)
        for (int spine = N_RANKS + N_LEAVES; spine < s->n_nodes; spine++)
            th_system_add_cable(s, leaf, spine, th_cable_symmetric(100, 5, true), NULL);
    finish(s);
    return s;
}

/* 64 x 56 pairs go over a spine: 896 over each of the four if the hash is even, and by the binomial
 * distribution within 5 x 26 of that. Shortest takes the first spine always. */
TEST(pairs_are_spread_over_the_spines)
{
    auto_system *ecmp = new_clos("ecmp"), *shortest = new_clos("shortest");
    int links[TH_ROUTE_MAX], n_over[N_SPINES] = {0}, n_first = 0;
    for (int a = 0; a < N_RANKS; a++)
        for (int b = 0; b < N_RANKS; b++) {
            if (a / PER_LEAF == b / PER_LEAF)
                continue;
            CU_ASSERT_EQUAL(th_route(ecmp, a, b, links), 4);
            n_over[ecmp->links[links[1]].to - N_RANKS - N_LEAVES]++;
            CU_ASSERT_EQUAL(th_route(shortest, a, b, links), 4);
            n_first += shortest->links[links[1]].to == N_RANKS + N_LEAVES;
        }
    for (int i = 0; i < N_SPINES; i++)
        CU_ASSERT_TRUE(n_over[i] > 896 - 5 * 26 && n_over[i] < 896 + 5 * 26);
    CU_ASSERT_EQUAL(n_first, 64 * 56);
}

/* Switches 2 (wide), 3 (narrow), 4 (wide), 5 (wide, slow) between 0 and 1: only 2 and 4 are best.
 * And three parallel cables straight from 6 to 7, one of them slow. */
TEST(only_equally_good_paths_are_taken)
{
    int n_over[8] = {0}, links[TH_ROUTE_MAX];
    for (int n_more = 0; n_more < 40; n_more++) { /* other node numbers, other hashes */
        auto_system *s = new_system(2 + n_more, 4, "ecmp");
        int sw = 2 + n_more;
        for (int i = 0; i < 4; i++) {
            th_system_add_cable(s, 0, sw + i, th_cable_symmetric(100, i == 3 ? 6 : 5, true), NULL);
            for (int a = 1; a < 2 + n_more; a++)
                th_system_add_cable(s, a, sw + i, th_cable_symmetric(i == 1 ? 60 : 100, 5, true),
                                    NULL);
        }
        finish(s);
        for (int a = 1; a < 2 + n_more; a++) {
            CU_ASSERT_EQUAL(th_route(s, 0, a, links), 2);
            n_over[s->links[links[0]].to - sw]++;
        }
    }
    CU_ASSERT_TRUE(n_over[0] > 300 && n_over[2] > 300 && n_over[1] == 0 && n_over[3] == 0);
    CU_ASSERT_EQUAL(n_over[0] + n_over[2], 40 * 41 / 2);
}

TEST(parallel_cables_are_shared)
{
    int n_by[3] = {0}, links[TH_ROUTE_MAX];
    auto_system *s = new_system(101, 0, "ecmp");
    for (int a = 1; a <= 100; a++)
        for (int i = 0; i < 3; i++)
            th_system_add_cable(s, 0, a, th_cable_symmetric(100, i == 1 ? 6 : 5, true), NULL);
    s->nodes[0].forwards = true;
    finish(s);
    for (int a = 1; a <= 100; a++) {
        CU_ASSERT_EQUAL(th_route(s, 0, a, links), 1);
        n_by[(links[0] / 2) % 3]++;
    }
    CU_ASSERT_TRUE(n_by[0] > 30 && n_by[2] > 30 && n_by[1] == 0);
}

/* ---- random systems: as good as shortest, and the same whoever asks first ---- */

enum { N_RANDOM = 90 }; /* too many for columns in advance */

static th_system *new_random_system(uint64_t seed, const char *routing)
{
    gsl_rng *r = th_random_stream(seed, "ecmp", 0);
    th_system *s = new_system(N_RANDOM, 0, routing);
    for (int i = 0; i < N_RANDOM; i++) {
        s->nodes[i].forwards = i % 7 != 0;
        th_system_add_cable(s, i, 1 + 7 * (i / 7), th_cable_symmetric(10, 2, true), NULL);
        th_system_add_cable(s, 1 + 7 * (i / 7), 1, th_cable_symmetric(10, 2, true), NULL);
    }
    for (int i = 0; i < 3 * N_RANDOM; i++) {
        int a = (int)th_random_below(r, N_RANDOM), b = (int)th_random_below(r, N_RANDOM);
        th_system_add_cable(s, a, b,
                            th_cable_symmetric(10 + (int64_t)th_random_below(r, 2),
                                               (th_time)th_random_below(r, 2), true),
                            NULL);
    }
    gsl_rng_free(r);
    finish(s);
    return s;
}

TEST(paths_are_as_good_as_the_shortest)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        auto_system *ecmp = new_random_system(seed, "ecmp"),
                    *shortest = new_random_system(seed, "shortest");
        for (int a = 0; a < N_RANDOM; a++)
            for (int b = 0; b < N_RANDOM; b++) {
                th_route_summary x, y;
                CU_ASSERT_EQUAL(th_route_summarize(ecmp, a, b, &x), 0);
                CU_ASSERT_EQUAL(th_route_summarize(shortest, a, b, &y), 0);
                CU_ASSERT_TRUE(x.n_links == y.n_links && x.bits_per_s == y.bits_per_s &&
                               x.latency_ps == y.latency_ps);
            }
    }
}

typedef struct walk {
    const th_system *s;
    bool backwards;
    uint64_t sum; /* of all routes */
} walk;

static void *walk_all(void *argument)
{
    walk *w = argument;
    int links[TH_ROUTE_MAX];
    for (int i = 0; i < N_RANDOM * N_RANDOM; i++) {
        int pair = w->backwards ? N_RANDOM * N_RANDOM - 1 - i : i;
        int n = th_route(w->s, pair % N_RANDOM, pair / N_RANDOM, links);
        for (int k = 0; k < n; k++)
            w->sum += (uint64_t)(pair + 1) * (uint64_t)(k + 3) * (uint64_t)links[k];
    }
    return NULL;
}

/* Two threads that meet in the middle read what one thread reads. */
TEST(routes_do_not_depend_on_who_asks_first)
{
    static const char *const routings[] = {"ecmp", "shortest"};
    for (int i = 0; i < 8; i++) {
        auto_system *alone = new_random_system(5, routings[i % 2]),
                    *shared = new_random_system(5, routings[i % 2]);
        walk first = {.s = alone}, up = {.s = shared}, down = {.s = shared, .backwards = true};
        pthread_t thread;
        walk_all(&first);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, walk_all, &down), 0);
        walk_all(&up);
        pthread_join(thread, NULL);
        CU_ASSERT_TRUE(first.sum > 0 && up.sum == first.sum && down.sum == first.sum);
    }
}

/* A route says that memory is out, and is found when asked again. */
TEST(survives_every_failing_allocation)
{
    static const char *const routings[] = {"ecmp", "shortest"};
    for (int i = 0; i < 2; i++) {
        int64_t live = th_alloc_live();
        th_system *s = new_random_system(9, routings[i]);
        int links[TH_ROUTE_MAX], k = 0, n = TH_NO_MEMORY;
        while (n == TH_NO_MEMORY && k < 100) {
            th_alloc_fail_at(++k);
            n = th_route(s, 80, 3, links);
            th_alloc_fail_at(0);
        }
        CU_ASSERT_EQUAL(k, 4); /* reach, queue, column; then none fails */
        CU_ASSERT_TRUE(n > 1);
        th_route_summary sum;
        CU_ASSERT_TRUE(th_route_summarize(s, 80, 3, &sum) == 0 && sum.n_links == n);
        th_alloc_fail_at(1);
        CU_ASSERT_EQUAL(th_route_summarize(s, 3, 80, &sum), TH_NO_MEMORY);
        th_alloc_fail_at(0);
        th_system_free(s);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
}

TAP_MAIN("route_ecmp")
