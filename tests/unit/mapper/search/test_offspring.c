/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Offspring that several threads make: the result depends on the numbers of the members alone.
 */
#include <config.h>
#include <stdatomic.h>
#include "base/alloc.h"
#include "mapper/lower/plan_state.h"
#include "mapper/search/variation/variation.h"
#include "tests/unit/search_help.h"

enum { MEMBERS = 36 };

static th_system *sys;
static th_workload *net;
static th_problem problem;

typedef struct {
    th_mapping *parent;
    bool fills_up; /* a member finds the memos full, as if the plans of others had been too many */
    int fails_at, other_fails_at;
    atomic_int tries[MEMBERS];
} offspring_test;

static int offspring(th_variation *b, void *state, int i, th_mapping **out, th_error *err)
{
    offspring_test *n = state;
    th_plans *plans = th_initial_plans(b->generator);
    atomic_fetch_add(&n->tries[i], 1);
    if (n->fails_at > 0 && (i == n->fails_at || i == n->other_fails_at))
        return th_error_set(err, "MAP-0023", "member %d", i);
    if (n->fills_up && i == MEMBERS / 4)
        atomic_fetch_add(&plans->first->held_bytes, (size_t)TH_PLANS_LIMIT + 1);
    switch (i % 4) {
    case 0:
        return th_variation_sharding(b, n->parent, NULL, out, err);
    case 1:
        return th_variation_perturbed(b, n->parent, out, err);
    case 2:
        return th_variation_partitioning(b, n->parent, out, err);
    default:
        return th_variation_random(b, i % 8 == 3, out, err);
    }
}

static th_search *search_on(int threads)
{
    th_search_options o = th_search_defaults;
    o.threads = threads;
    return search_of("two_level", &problem, &o);
}

/* In a number of batches, one after the other. */
static void make_batch(int threads, int broods, offspring_test *n, th_mapping **out)
{
    th_error e = {"", ""};
    th_variation b = {0};
    auto_search *s = search_on(threads);
    CU_ASSERT_EQUAL_FATAL(th_variation_init(&b, s, "members", &e), 0);
    for (int i = 0; i < broods; i++) {
        int each = MEMBERS / broods;
        CU_ASSERT_EQUAL(th_variation_offspring(&b,
                                               &(th_offspring){offspring, n, TH_VARIATION_TRIES},
                                               each, out + i * each, &e),
                        0);
    }
    TAP_ASSERT_TEXT(e.text, "");
    th_variation_clear(&b);
}

static void free_all(th_mapping **m)
{
    for (int i = 0; i < MEMBERS; i++)
        th_mapping_free(m[i]);
}

static int n_equal(th_mapping *const *a, th_mapping *const *b)
{
    int n = 0;
    for (int i = 0; i < MEMBERS; i++)
        n += a[i] && b[i] && th_mapping_equal(a[i], b[i]);
    return n;
}

TEST(members_do_not_depend_on_threads)
{
    th_mapping *alone[MEMBERS], *among[MEMBERS];
    offspring_test n = {.parent = mapping_on("01 23", net)};
    make_batch(1, 1, &n, alone);
    for (int threads = 2; threads <= 5; threads++) {
        make_batch(threads, 1, &n, among);
        CU_ASSERT_EQUAL(n_equal(alone, among), MEMBERS);
        free_all(among);
    }
    free_all(alone);
    th_mapping_free(n.parent);
}

/* No two members have the same numbers: they are seldom equal. */
TEST(each_member_has_numbers_of_its_own)
{
    th_mapping *first[MEMBERS];
    int n_same = 0;
    offspring_test n = {.parent = mapping_on("01 23", net)};
    make_batch(1, 1, &n, first);
    for (int i = 3; i < MEMBERS; i += 4) /* drawn at random, by nothing but these numbers */
        for (int j = 3; j < i; j += 4)
            n_same += th_mapping_equal(first[i], first[j]);
    CU_ASSERT_TRUE(n_same <= 2);
    free_all(first);
    th_mapping_free(n.parent);
}

/* What threads may not drop they leave to the calling thread, with the same end. */
TEST(full_caches_change_no_result)
{
    th_mapping *alone[MEMBERS], *among[MEMBERS];
    offspring_test n = {.parent = mapping_on("01 23", net)};
    make_batch(1, 1, &n, alone);
    n.fills_up = true;
    for (int threads = 1; threads <= 3; threads++) {
        for (int i = 0; i < MEMBERS; i++)
            atomic_store(&n.tries[i], 0);
        make_batch(threads, 1, &n, among);
        CU_ASSERT_EQUAL(n_equal(alone, among), MEMBERS);
        free_all(among);
    }
    free_all(alone);
    th_mapping_free(n.parent);
}

TEST(the_first_failure_is_reported)
{
    int64_t live;
    offspring_test n = {.parent = mapping_on("01 23", net), .fails_at = 30, .other_fails_at = 7};
    for (int threads = 1; threads <= 3; threads++) {
        th_error e = {"", ""};
        th_mapping *out[MEMBERS];
        th_variation b = {0};
        live = th_alloc_live();
        th_search *s = search_on(threads);
        CU_ASSERT_EQUAL_FATAL(th_variation_init(&b, s, "members", &e), 0);
        CU_ASSERT_EQUAL(th_variation_offspring(&b,
                                               &(th_offspring){offspring, &n, TH_VARIATION_TRIES},
                                               MEMBERS, out, &e),
                        -1);
        TAP_ASSERT_ERROR(e, "MAP-0023", "member 7");
        CU_ASSERT_PTR_NULL(out[0]);
        th_variation_clear(&b);
        th_search_free(s);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    th_mapping_free(n.parent);
}

static int nothing(th_variation *b, void *state, int i, th_mapping **out, th_error *err)
{
    offspring_test *n = state;
    atomic_fetch_add(&n->tries[i], 1);
    return i % 2 ? 0 : th_variation_random(b, true, out, err);
}

TEST(what_cannot_be_made_is_tried_and_left_out)
{
    for (int threads = 1; threads <= 2; threads++) {
        enum { TRIES = 5, FEW = 10 };
        offspring_test n = {.parent = NULL};
        th_error e = {"", ""};
        th_mapping *out[FEW];
        th_variation b = {0};
        auto_search *s = search_on(threads);
        CU_ASSERT_EQUAL_FATAL(th_variation_init(&b, s, "members", &e), 0);
        CU_ASSERT_EQUAL(
            th_variation_offspring(&b, &(th_offspring){nothing, &n, TRIES}, FEW, out, &e), 0);
        for (int i = 0; i < FEW; i++) {
            CU_ASSERT_EQUAL(n.tries[i], i % 2 ? TRIES : 1);
            CU_ASSERT_EQUAL(out[i] == NULL, i % 2);
            th_mapping_free(out[i]);
        }
        th_variation_clear(&b);
    }
}

/* By a search with this budget: an offspring batch of which every second member cannot be made. */
static int fill_within(int64_t budget, th_mapping **out, int size)
{
    offspring_test n = {.parent = NULL};
    th_error e = {"", ""};
    th_variation b = {0};
    th_search_options o = th_search_defaults;
    o.evaluations = budget;
    auto_search *s = search_of("two_level", &problem, &o);
    CU_ASSERT_EQUAL_FATAL(th_variation_init(&b, s, "members", &e), 0);
    b.cursor.stage = TH_STAGE_END;
    int filled = th_variation_next_batch(&b, &(th_offspring){nothing, &n, 1}, out, size, &e);
    th_variation_clear(&b);
    return filled;
}

/* A smaller budget has the first of the same members, not members of a smaller batch. */
TEST(a_budget_cuts_a_whole_batch)
{
    enum { SIZE = 16, MADE = SIZE / 2 };
    th_mapping *all[SIZE], *some[SIZE];
    CU_ASSERT_EQUAL_FATAL(fill_within(100, all, SIZE), MADE);
    for (int budget = 1; budget <= MADE + 1; budget++) {
        int n = fill_within(budget, some, SIZE);
        CU_ASSERT_EQUAL(n, budget < MADE ? budget : MADE);
        for (int i = 0; i < n; i++) {
            CU_ASSERT_TRUE(th_mapping_equal(some[i], all[i]));
            th_mapping_free(some[i]);
        }
    }
    for (int i = 0; i < MADE; i++)
        th_mapping_free(all[i]);
}

static void make_all(void)
{
    sys = system_of("name = \"t\"; " MAP_HELP_ACCEL(
        "1GiB") "topology = { type = \"ring\"; dims = "
                "[4]; bandwidth = \"8Gbps\"; latency = \"100ns\"; };");
    net = branching_workload();
    problem = problem_of(sys, net);
}

TAP_MAIN_WITH("offspring", make_all)
