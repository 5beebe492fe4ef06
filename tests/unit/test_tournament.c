/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/trace/tournament.h"
#include "base/alloc.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

enum { MOST_PLAYERS = 40, STEPS = 5000 };

static bool is_first(const th_tournament *t, int32_t player, th_time at)
{
    th_tournament_place first = th_tournament_first(t);
    return first.player == player && first.at == at;
}

/* The one that a scan from the left finds, of those that were set. */
static int32_t soonest_of(const th_time *at, const bool *is_set, int32_t n)
{
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++)
        if (is_set[i] && (best < 0 || at[i] < at[best]))
            best = i;
    return best;
}

static void nobody_is_first_before_a_time_is_set(void)
{
    for (int32_t n = 0; n < 6; n++) {
        th_tournament t = {0};
        CU_ASSERT_EQUAL(th_tournament_init(&t, n), 0);
        CU_ASSERT_TRUE(is_first(&t, -1, TH_TIME_MAX));
        for (int32_t i = 0; i < n; i++)
            CU_ASSERT_EQUAL(th_tournament_at(&t, i), TH_TIME_MAX);
        th_tournament_clear(&t);
    }
}

/* Five of eight leaves. Whichever of them is set last, the left one of equals is first; it gives
 * way where it becomes later, and to nobody where the others do. */
static void of_equals_the_left_one_is_first(void)
{
    th_tournament t = {0};
    CU_ASSERT_EQUAL(th_tournament_init(&t, 5), 0);
    for (int32_t i = 4; i >= 0; i--) {
        th_tournament_set(&t, i, 70);
        CU_ASSERT_TRUE(is_first(&t, i, 70));
    }
    for (int32_t i = 0; i < 5; i++) {
        th_tournament_set(&t, i, 70);
        CU_ASSERT_TRUE(is_first(&t, 0, 70));
    }
    for (int32_t i = 0; i < 4; i++) {
        th_tournament_set(&t, i, 71);
        CU_ASSERT_TRUE(is_first(&t, i + 1, 70));
    }
    th_tournament_set(&t, 4, 71);
    CU_ASSERT_TRUE(is_first(&t, 0, 71));
    th_tournament_set(&t, 2, 69);
    CU_ASSERT_TRUE(is_first(&t, 2, 69));
    th_tournament_set(&t, 2, TH_TIME_MAX);
    CU_ASSERT_TRUE(is_first(&t, 0, 71));
    th_tournament_clear(&t);
}

/* Against a scan, for every number of players: few values, so that many are equal, and now and then
 * never. */
static void random_programs_agree_with_a_scan(void)
{
    gsl_rng *r = th_random_stream(5, "tournament", 0);
    for (int32_t n = 1; n <= MOST_PLAYERS; n++) {
        th_time at[MOST_PLAYERS];
        bool is_set[MOST_PLAYERS] = {false};
        int wrong = 0;
        th_tournament t = {0};
        CU_ASSERT_EQUAL(th_tournament_init(&t, n), 0);
        for (int step = 0; step < STEPS; step++) {
            int32_t player = (int32_t)pick(r, 0, n - 1);
            at[player] = pick(r, 0, 9) == 0 ? TH_TIME_MAX : pick(r, 0, 30);
            is_set[player] = true;
            th_tournament_set(&t, player, at[player]);
            int32_t first = soonest_of(at, is_set, n);
            wrong += th_tournament_at(&t, player) != at[player] ||
                     th_tournament_first(&t).at != at[first];
            wrong += at[first] < TH_TIME_MAX && th_tournament_first(&t).player != first;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        th_tournament_reset(&t);
        CU_ASSERT_TRUE(is_first(&t, -1, TH_TIME_MAX));
        CU_ASSERT_EQUAL(th_tournament_at(&t, n - 1), TH_TIME_MAX);
        th_tournament_clear(&t);
    }
    gsl_rng_free(r);
}

static void memory_may_run_out(void)
{
    int64_t live = th_alloc_live();
    th_tournament t = {0};
    th_alloc_fail_at(1);
    CU_ASSERT_EQUAL(th_tournament_init(&t, 8), -1);
    th_tournament_clear(&t);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(nobody_is_first_before_a_time_is_set),
        TAP(of_equals_the_left_one_is_first),
        TAP(random_programs_agree_with_a_scan),
        TAP(memory_may_run_out),
        TAP_END,
    };
    return tap_main("tournament", tests, argc, argv);
}
