/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_trace_replay.c - execution traces on ASTRA-sim's networks and on ours, by hand. A ring of 4
 * at 50 GB/s (2^30) and 500 ns; 10 ns of endpoint delay, 1600 GB/s of memory, one chunk. */
#include <config.h>
#include "sim/execution_trace/lower_trace.h"
#include "sim/execution_trace/trace_stuck.h"
#include "sim/network/astra/trace_replay.h"
#include "sim/machine/machine.h"
#include "sim/network/network.h"
#include "tests/unit/astra_help.h"
#include "tests/unit/tap.h"
#include "tests/unit/trace_help.h"

enum { LOAD = 2, COMPUTE = 4, SEND = 5, RECEIVE = 6, COLLECTIVE = 7, RANKS = 4 };

/* Of one dimension (ring, switch or fully_connected), all collectives by one algorithm. */
static th_system *system_of_kind(const char *topology, const char *algorithm)
{
    return astra_system(&(astra_setup){topology, "4", "50", "500", algorithm, .peak_tflops = 900});
}

static th_system *ring(void)
{
    return system_of_kind("ring", "ring");
}

/* ---- as ASTRA-sim ---- */

/* The finishing times of the ranks, ns, on a system that it frees. */
static void assert_finish_on(th_system *s, const trace_row *rows, size_t n, bool is_aware,
                             const int64_t *expected)
{
    th_error e = {"", ""};
    auto_trace *t = trace_of(RANKS, rows, n, NULL, &e);
    th_astra_replay replay;
    th_astra_replay_options o = {.trace = t, .system = s};
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_EQUAL_FATAL(th_astra_replay_run(&o, is_aware, &replay, &e), 0);
    for (int i = 0; i < RANKS; i++) {
        if (replay.ranks[i].finish_ns != expected[i])
            printf("# rank %d: %lld, not %lld\n", i, (long long)replay.ranks[i].finish_ns,
                   (long long)expected[i]);
        CU_ASSERT_EQUAL(replay.ranks[i].finish_ns, expected[i]);
    }
    th_astra_replay_clear(&replay);
    th_system_free(s);
}
#define FINISH_ON(SYSTEM, ROWS, IS_AWARE, ...)                                                     \
    assert_finish_on((SYSTEM), (ROWS), sizeof(ROWS) / sizeof *(ROWS), (IS_AWARE),                  \
                     (const int64_t[]){__VA_ARGS__})
#define FINISH(ROWS, IS_AWARE, ...) FINISH_ON(ring(), ROWS, IS_AWARE, __VA_ARGS__)
#define IDLE(RANK)                                                                                 \
    {                                                                                              \
        (RANK), 1, COMPUTE, "", "us 1"                                                             \
    }
#define ALL(ID, AFTER, ATTRIBUTES)                                                                 \
    {0, ID, COLLECTIVE, AFTER, ATTRIBUTES}, {1, ID, COLLECTIVE, AFTER, ATTRIBUTES},                \
        {2, ID, COLLECTIVE, AFTER, ATTRIBUTES},                                                    \
    {                                                                                              \
        3, ID, COLLECTIVE, AFTER, ATTRIBUTES                                                       \
    }

/* 6 messages of 262,144 bytes take floor(500 + 4882.8) ns each, 3 reductions 3 floor(163.8), 7
 * delays 10: 33,829. The second waits for the unit, though it depends on nothing. */
TEST(collectives_of_one_rank_do_not_overlap)
{
    static const trace_row rows[] = {ALL(1, "", "comm_type 0 comm_size 1048576"),
                                     ALL(2, "", "comm_type 0 comm_size 1048576")};
    FINISH(rows, false, 67658, 67658, 67658, 67658);
    FINISH(rows, true, 67658, 67658, 67658, 67658);
}

/* To the other side: 2 x 500 + 19,531 ns at once, or link by link twice floor(500 + 19,531.25). */
TEST(a_message_over_two_links)
{
    static const trace_row rows[] = {{0, 1, SEND, "", "comm_dst 2 comm_tag 7 comm_size 1048576"},
                                     IDLE(1),
                                     {2, 1, RECEIVE, "", "comm_src 0 comm_tag 7 comm_size 1048576"},
                                     IDLE(3)};
    FINISH(rows, false, 20531, 1000, 20531, 1000);
    FINISH(rows, true, 40062, 1000, 40062, 1000);
}

/* The k-th receive of a key meets the k-th send: 20,031 ns each, one after the other. The receive
 * of another size is never matched, so its rank does not finish. */
TEST(messages_meet_by_tag_ends_and_size)
{
    static const trace_row rows[] = {{0, 1, SEND, "", "comm_dst 1 comm_tag 7 comm_size 1048576"},
                                     {0, 2, SEND, "", "comm_dst 1 comm_tag 7 comm_size 1048576"},
                                     {1, 5, RECEIVE, "", "comm_src 0 comm_tag 7 comm_size 1048576"},
                                     {1, 6, RECEIVE, "", "comm_src 0 comm_tag 7 comm_size 1048576"},
                                     IDLE(2),
                                     {3, 1, RECEIVE, "", "comm_src 0 comm_tag 7 comm_size 9"}};
    FINISH(rows, false, 40062, 40062, 1000, -1);
}

TEST(a_send_that_nobody_receives_ends)
{
    static const trace_row rows[] = {
        {0, 1, SEND, "", "comm_dst 1 comm_tag 7 comm_size 1048576"}, IDLE(1), IDLE(2), IDLE(3)};
    FINISH(rows, false, 20031, 1000, 1000, 1000);
}

TEST(a_rank_that_never_joins)
{
    static const trace_row rows[] = {{0, 1, COLLECTIVE, "", "comm_type 0 comm_size 4096"},
                                     {1, 1, COLLECTIVE, "", "comm_type 0 comm_size 4096"},
                                     {2, 1, COLLECTIVE, "", "comm_type 0 comm_size 4096"},
                                     IDLE(3)};
    FINISH(rows, false, -1, -1, -1, 1000);
}

/* Nothing is ready after node 1: the rank has finished, though 2 and 3 wait for each other. */
TEST(a_cycle_behind_a_root)
{
    static const trace_row rows[] = {{0, 1, COMPUTE, "", "us 1"},
                                     {0, 2, COMPUTE, "1 3", "us 1"},
                                     {0, 3, COMPUTE, "2", "us 1"},
                                     IDLE(1),
                                     IDLE(2),
                                     IDLE(3)};
    FINISH(rows, false, 1000, 1000, 1000, 1000);
}

/* A node of the host does not take the accelerator's unit. */
TEST(units)
{
    static const trace_row rows[] = {{0, 1, COMPUTE, "", "us 4"},
                                     {0, 2, COMPUTE, "", "us 5 is_cpu_op 1"},
                                     {0, 3, COMPUTE, "", "us 2"},
                                     IDLE(1),
                                     IDLE(2),
                                     IDLE(3)};
    FINISH(rows, false, 6000, 1000, 1000, 1000);
}

/* ---- other algorithms and networks ---- */

#define ALL_REDUCE     "comm_type 0 comm_size 1048576"
#define ALL_GATHER     "comm_type 2 comm_size 1048576"
#define ALL_TO_ALL     "comm_type 6 comm_size 1048576"
#define REDUCE_SCATTER "comm_type 7 comm_size 1048576"

/* The time at which all four ranks finish one collective, congestion-unaware. */
static void assert_collective(const char *topology, const char *algorithm, const char *collective,
                              int64_t ns)
{
    const trace_row rows[] = {ALL(1, "", collective)};
    FINISH_ON(system_of_kind(topology, algorithm), rows, false, ns, ns, ns, ns);
}

/* Three messages of a quarter at once, floor(500 + 4882.8) ns: 10 + 5382, 10 and a reduction of
 * 489, the other half 5382, 10. A gather sends 1 MiB, 20,031 ns; two at a time, in two rounds. */
TEST(direct_collectives)
{
    assert_collective("fully_connected", "direct", ALL_REDUCE, 10 + 5382 + 10 + 489 + 5382 + 10);
    assert_collective("fully_connected", "direct", REDUCE_SCATTER, 10 + 5382 + 10 + 489);
    assert_collective("fully_connected", "direct", ALL_GATHER, 10 + 20031 + 10);
    assert_collective("fully_connected", "direct2", ALL_GATHER, 2 * (10 + 20031) + 10);
    assert_collective("fully_connected", "direct", ALL_TO_ALL, 10 + 5382 + 10);
    assert_collective("fully_connected", "oneDirect", ALL_GATHER, 10 + 20031 + 10);
}

/* Over a switch, two latencies: halves, quarters, quarters, halves, of which the second waits for a
 * reduction. A gather sends 1 and 2 MiB, a scatter a half and a quarter. */
TEST(halving_and_doubling_over_a_switch)
{
    assert_collective("switch", "halvingDoubling", ALL_REDUCE,
                      10 + 10765 + 10 + 489 + 5882 + 10 + 5882 + 10 + 10765 + 10);
    assert_collective("switch", "halvingDoubling", ALL_GATHER, 10 + 20531 + 10 + 40062 + 10);
    assert_collective("switch", "oneHalvingDoubling", ALL_GATHER, 10 + 20531 + 10 + 40062 + 10);
    assert_collective("switch", "halvingDoubling", REDUCE_SCATTER,
                      10 + 10765 + 10 + 489 + 5882 + 10);
}

/* Every quarter goes on to its rank: 1 + 2 + 3 steps. */
TEST(an_all_to_all_round_the_ring)
{
    assert_collective("ring", "ring", ALL_TO_ALL, 6 * (10 + 5382) + 10);
    assert_collective("ring", "ring", ALL_GATHER, 3 * (10 + 20031) + 10);
    assert_collective("ring", "ring", REDUCE_SCATTER, 10 + 3 * 5382 + 3 * (10 + 489));
}

/* From 0 to 2 by the link from 1 to 2, which is busy for 39,062 ns with 2 MiB of rank 1. */
TEST(messages_wait_for_a_link)
{
    static const trace_row rows[] = {{0, 1, SEND, "", "comm_dst 2 comm_tag 7 comm_size 1048576"},
                                     {1, 1, SEND, "", "comm_dst 2 comm_tag 8 comm_size 2097152"},
                                     {2, 1, RECEIVE, "", "comm_src 1 comm_tag 8 comm_size 2097152"},
                                     {2, 2, RECEIVE, "", "comm_src 0 comm_tag 7 comm_size 1048576"},
                                     IDLE(3)};
    FINISH(rows, true, 39062 + 20031, 39562, 39062 + 20031, 1000);
}

/* To a switch and from it, a link of 500 ns each, or by a link of their own. */
TEST(links_of_switches_and_of_pairs)
{
    static const trace_row rows[] = {{0, 1, SEND, "", "comm_dst 2 comm_tag 7 comm_size 1048576"},
                                     IDLE(1),
                                     {2, 1, RECEIVE, "", "comm_src 0 comm_tag 7 comm_size 1048576"},
                                     IDLE(3)};
    FINISH_ON(system_of_kind("switch", "ring"), rows, true, 40062, 1000, 40062, 1000);
    FINISH_ON(system_of_kind("fully_connected", "ring"), rows, true, 20031, 1000, 20031, 1000);
    FINISH_ON(system_of_kind("switch", "ring"), rows, false, 20531, 1000, 20531, 1000);
}

/* ---- our networks ---- */

/* Ends of the first node of ranks 0 and 1, ps; why: what does not come to its end. */
static void assert_ends(const trace_row *rows, size_t n, const char *groups, const char *network,
                        const th_time *expected, const char *why_expected)
{
    th_error e = {"", ""}, why = {"", ""};
    auto_system *s = ring();
    auto_trace *t = trace_of(RANKS, rows, n, groups, &e);
    auto_program *p = th_program_new(NULL);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    CU_ASSERT_FATAL(t != NULL);
    CU_ASSERT_EQUAL(th_lower_trace(&(th_lower_trace_options){.trace = t, .system = s}, p, &e), 0);
    CU_ASSERT_EQUAL(th_program_finish(p, &e) || th_program_look_up_works(p, costs, &e), 0);
    th_machine_options o = {.network = th_network_find(network)};
    auto_machine *m = th_machine_new(s, costs, &o, &e);
    CU_ASSERT_FATAL(m && th_machine_load(m, p, &e) == 0);
    th_machine_run_until(m, INT64_MAX, &e);
    th_trace_explainer *x = th_trace_explainer_new(t, s, th_machine_times(m), &e);
    th_trace_explain(x, &why, &e);
    if (why_expected)
        CU_ASSERT_PTR_NOT_NULL(strstr(why.text, why_expected));
    for (int64_t i = 0, first = 0; i < 2 && !why_expected; first += t->ranks[i++].n_nodes) {
        th_time end = th_machine_times(m)[first].end_ps;
        if (end != expected[i])
            printf("# %s, rank %d: %lld ps, not %lld\n", network, (int)i, (long long)end,
                   (long long)expected[i]);
        CU_ASSERT_EQUAL(end, expected[i]);
    }
    th_trace_explainer_free(x);
}
#define ENDS(ROWS, GROUPS, NETWORK, ...)                                                           \
    assert_ends((ROWS), sizeof(ROWS) / sizeof *(ROWS), (GROUPS), (NETWORK),                        \
                (const th_time[]){__VA_ARGS__}, NULL)
#define STUCK(ROWS, WHY)                                                                           \
    assert_ends((ROWS), sizeof(ROWS) / sizeof *(ROWS), NULL, "fluid", NULL, (WHY))

#define GATHER "comm_type 2 comm_size 1048576 pg_name 1 tharsis_algorithm ring"

/* 1 MiB takes 19,531.25 ns and 500. Two gathers of 0 and 1 at once share the links. */
TEST(collectives_of_one_rank_share_the_links)
{
    static const trace_row one[] = {{0, 1, COLLECTIVE, "", GATHER}, {1, 1, COLLECTIVE, "", GATHER}},
                           two[] = {{0, 1, COLLECTIVE, "", GATHER},
                                    {0, 2, COLLECTIVE, "", GATHER},
                                    {1, 1, COLLECTIVE, "", GATHER},
                                    {1, 2, COLLECTIVE, "", GATHER}};
    ENDS(one, "{\"1\": [0, 1]}", "fluid", 20031250, 20031250);
    ENDS(two, "{\"1\": [0, 1]}", "fluid", 39562500, 39562500);
    ENDS(two, "{\"1\": [0, 1]}", "ideal", 20031250, 20031250);
}

/* Rank 1 comes at 10 us; both end then plus 20,031.25 ns. 256 packets of 4,096 bytes take 76,294 ps
 * each, rounded up. */
TEST(a_collective_begins_with_its_last_rank)
{
    static const trace_row rows[] = {{0, 1, COLLECTIVE, "", GATHER},
                                     {1, 1, COLLECTIVE, "2", GATHER},
                                     {1, 2, COMPUTE, "", "us 10"}};
    ENDS(rows, "{\"1\": [0, 1]}", "fluid", 30031250, 30031250);
    ENDS(rows, "{\"1\": [0, 1]}", "packet", 30031264, 30031264);
}

TEST(what_never_comes_is_named)
{
    static const trace_row receive[] = {{1, 5, RECEIVE, "", "comm_src 0 comm_tag 7 comm_size 9"}},
                           cycle[] = {{2, 1, COMPUTE, "", "us 1"},
                                      {2, 2, COMPUTE, "1 3", "us 1"},
                                      {2, 3, COMPUTE, "2", "us 1"}},
                           itself[] = {{3, 4, COMPUTE, "4", "us 1"}},
                           order[] = {{0, 1, COLLECTIVE, "", "comm_type 0 comm_size 4096"},
                                      {1, 1, COLLECTIVE, "", "comm_type 7 comm_size 4096"},
                                      {2, 1, COLLECTIVE, "", "comm_type 0 comm_size 4096"},
                                      {3, 1, COLLECTIVE, "", "comm_type 0 comm_size 4096"}};
    STUCK(receive, "rank 1: node 5 waits for tag 7 (9 bytes) from rank 0, which never sends it");
    STUCK(cycle, "rank 2: node 2 waits for node 3, that for node 2: a cycle of dependencies");
    STUCK(itself, "rank 3: node 4 waits for ");
    STUCK(order, "rank 0: node 1 (all_reduce of 4096 bytes) meets another one on rank 1, node 1 "
                 "(reduce_scatter of 4096 bytes)");
}

TAP_MAIN("trace_replay")
