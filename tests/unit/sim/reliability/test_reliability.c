/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/reliability/training_run.h"
#include "tests/unit/tap.h"
#include "base/elementary.h"

/* --- by hand ---------------------------------------------------------------------------------- */

/* Failures at these times, of one kind. */
static th_failure_kind at_times(const double *times, int n)
{
    return (th_failure_kind){
        .name = "k", .n_units = 1, .shape = 1, .times_s = times, .n_times = n, .takes_spare = true};
}

/* 500 s, checkpoints of 10 s every 100 s: 0-100 trains, -110, -210, -220, then 30 s are lost at
 * 250. Detection to 255, restart to 275; -375, -385, -485, -495, and 5 s more. */
TEST(a_failure_by_hand)
{
    static const double times[] = {250};
    th_failure_kind k = at_times(times, 1);
    th_training_run r = {.duration_s = 500,
                         .interval_s = 100,
                         .stall_s = 10,
                         .write_s = 10,
                         .detection_s = 5,
                         .restart_s = 20,
                         .repair_s = INFINITY,
                         .n_spares = -1,
                         .kinds = &k,
                         .n_kinds = 1};
    th_training_outcome o;
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 0, &o, NULL), 0);
    CU_ASSERT_DOUBLE_EQUAL(o.trained_s, 405, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.stalled_s, 40, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.lost_s, 30, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.detection_s, 5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.restart_s, 20, 1e-9);
    CU_ASSERT_EQUAL(o.n_checkpoints, 4);
    CU_ASSERT_EQUAL(o.n_failures, 1);
    CU_ASSERT_DOUBLE_EQUAL(o.lost_of[0], 55, 1e-9);
}

/* Training stops for 10 s, but a checkpoint takes 60 s: the one that began at 210 is complete at
 * 270, so that a failure at 250 loses 130 s, and one at 270 loses 50. */
TEST(a_checkpoint_counts_once_it_is_complete)
{
    static const double early[] = {250}, late[] = {270};
    th_failure_kind k = at_times(early, 1);
    th_training_run r = {.duration_s = 280,
                         .interval_s = 100,
                         .stall_s = 10,
                         .write_s = 60,
                         .restart_s = 30,
                         .n_spares = -1,
                         .kinds = &k,
                         .n_kinds = 1};
    th_training_outcome o;
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 0, &o, NULL), 0);
    CU_ASSERT_DOUBLE_EQUAL(o.lost_s, 130, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.trained_s, 100, 1e-9);
    k.times_s = late;
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 0, &o, NULL), 0);
    CU_ASSERT_DOUBLE_EQUAL(o.lost_s, 50, 1e-9);
}

/* One spare, repaired in 100 s. The failure at 50 takes it; the one at 80 waits until 150, when the
 * first unit is back; that at 120 falls into the wait, and nothing fails then; at 140 likewise. A
 * failure at 155 begins the restart of 10 s again and waits for the second unit, back at 180. */
TEST(a_run_waits_for_spares)
{
    static const double times[] = {50, 80, 120, 140, 155};
    th_failure_kind k = at_times(times, 5);
    th_training_run r = {.duration_s = 300,
                         .interval_s = 1000,
                         .restart_s = 10,
                         .repair_s = 100,
                         .n_spares = 1,
                         .kinds = &k,
                         .n_kinds = 1};
    th_training_outcome o;
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 0, &o, NULL), 0);
    CU_ASSERT_EQUAL(o.n_failures, 3);
    CU_ASSERT_DOUBLE_EQUAL(o.waiting_s, 70 + 25, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.restart_s, 10 + 5 + 10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.lost_s, 50 + 20, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(o.trained_s, 110, 1e-9);
    r.repair_s = INFINITY;
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 0, &o, NULL), 0);
    CU_ASSERT_DOUBLE_EQUAL(o.waiting_s, 220, 1e-9);
    k.takes_spare = false;
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 0, &o, NULL), 0);
    CU_ASSERT_EQUAL(o.waiting_s, 0);
}

/* --- in the limit ----------------------------------------------------------------------------- */

/* Mean and standard error of the share over runs of 10,000 failures. */
static double mean_share(const th_training_run *r, int n, double *error)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        th_training_outcome o;
        CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(r, 7, (uint64_t)i, &o, NULL), 0);
        double all =
            o.trained_s + o.stalled_s + o.lost_s + o.detection_s + o.restart_s + o.waiting_s;
        CU_ASSERT_DOUBLE_EQUAL(all / r->duration_s, 1, 1e-9);
        sum += o.trained_s / r->duration_s;
        squares += (o.trained_s / r->duration_s) * (o.trained_s / r->duration_s);
    }
    *error = sqrt((squares - sum * sum / n) / (n - 1) / n);
    return sum / n;
}

/* Daly's closed form holds for short and long intervals, and for a sum of kinds. */
TEST(the_share_is_that_of_dalys_closed_form)
{
    static const double intervals[] = {30, 300, 1000, 4000}, restarts[] = {0, 50, 900};
    const th_failure_kind kinds[] = {
        {.name = "a", .n_units = 500, .mtbf_s = 1e6, .shape = 1},
        {.name = "b", .n_units = 1, .mtbf_s = 2000, .shape = 1}}; /* together every 1,000 s */
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            th_training_run r = {.duration_s = 1e7,
                                 .interval_s = intervals[i],
                                 .stall_s = 20,
                                 .write_s = 20,
                                 .detection_s = restarts[j] / 3,
                                 .restart_s = restarts[j] * 2 / 3,
                                 .n_spares = -1,
                                 .kinds = kinds,
                                 .n_kinds = 2};
            double error, got = mean_share(&r, 10, &error);
            CU_ASSERT_DOUBLE_EQUAL(th_training_run_mtbf(&r), 1000, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(got,
                                   th_expected_training_share(intervals[i], 20, restarts[j], 1000),
                                   5 * error + 1e-4);
        }
}

/* The closed form's maximum: no interval near it is better; Young's and Daly's come near where
 * checkpoints are short. */
TEST(the_best_interval_is_the_maximum)
{
    for (double d = 1e-3; d < 2000; d *= 3) {
        double best = th_best_interval(d, 1000);
        double share = th_expected_training_share(best, d, 7, 1000);
        CU_ASSERT(share >= th_expected_training_share(best * 1.001, d, 7, 1000));
        CU_ASSERT(share >= th_expected_training_share(best * 0.999, d, 7, 1000));
        if (d < 20)
            CU_ASSERT_DOUBLE_EQUAL(th_daly_interval(d, 1000) / best, 1, 1e-3);
        if (d < 0.1)
            CU_ASSERT_DOUBLE_EQUAL(th_young_interval(d, 1000) / best, 1, 0.01);
    }
    CU_ASSERT_DOUBLE_EQUAL(th_young_interval(20, 1000), 200, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(th_daly_interval(20, 1000), 200 * (1 + 0.1 / 3 + 0.01 / 9) - 20, 1e-9);
    CU_ASSERT_EQUAL(th_daly_interval(3000, 1000), 1000);
}

static int64_t failures_before(const th_failure_kind *k, double end_s, int runs)
{
    int64_t n = 0;
    for (int i = 0; i < runs; i++) {
        th_failure_stream *f = th_failure_stream_new(k, 3, (uint64_t)i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        while (th_failure_stream_at(f) < end_s) {
            CU_ASSERT(th_failure_stream_unit(f) < k->n_units);
            n++;
            th_failure_stream_renew(f, th_failure_stream_at(f));
        }
        th_failure_stream_free(f);
    }
    return n;
}

/* New units: n (1 - exp(-(t / s)^k)) have failed once at t, few of them twice; old ones fail every
 * MTBF in the mean, whatever the law. */
TEST(new_and_old_units_fail_as_weibull_says)
{
    static const double shapes[] = {0.7, 1, 1.5, 3};
    static const double gammas[] = {1.2658, 1, 0.9027, 0.8930}; /* Gamma(1 + 1/k), tables */
    for (int i = 0; i < 4; i++) {
        th_failure_kind k = {.name = "w", .n_units = 10000, .mtbf_s = 1000, .shape = shapes[i]};
        double t = 5, expected = 0;
        expected = 1e4 * (1 - th_exp(-th_pow(t / (1000 / gammas[i]), shapes[i])));
        double got = (double)failures_before(&k, t, 20) / 20;
        CU_ASSERT_DOUBLE_EQUAL(got, expected, 5 * sqrt(expected / 20) + 0.03 * expected);
        k.n_units = 50;
        got = (double)failures_before(&k, 1e6, 1);
        CU_ASSERT_DOUBLE_EQUAL(got / 50e3, 1, 0.03);
    }
}

TEST(a_run_depends_on_seed_and_number_alone)
{
    th_failure_kind k = {.name = "w", .n_units = 100, .mtbf_s = 1e5, .shape = 0.8};
    th_training_run r = {.duration_s = 1e6,
                         .interval_s = 300,
                         .stall_s = 20,
                         .write_s = 20,
                         .restart_s = 60,
                         .n_spares = -1,
                         .kinds = &k,
                         .n_kinds = 1};
    th_training_outcome a, b;
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 5, &a, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 6, &b, NULL), 0);
    CU_ASSERT_NOT_EQUAL(a.lost_s, b.lost_s);
    CU_ASSERT_EQUAL_FATAL(th_training_run_simulate(&r, 1, 5, &b, NULL), 0);
    CU_ASSERT_EQUAL(a.lost_s, b.lost_s);
    CU_ASSERT_EQUAL(a.n_failures, b.n_failures);
}

static int n_polls;

static bool is_third_poll(void)
{
    return ++n_polls == 3;
}

/* 10,000 failures: polled at the start and at each 4096th of them. */
TEST(a_run_stops_in_the_middle)
{
    th_failure_kind k = {.name = "k", .n_units = 10, .mtbf_s = 10, .shape = 1};
    th_training_run r = {.duration_s = 1e4,
                         .interval_s = 3,
                         .stall_s = 1,
                         .write_s = 1,
                         .n_spares = -1,
                         .kinds = &k,
                         .n_kinds = 1,
                         .is_interrupted = is_third_poll};
    th_training_outcome o;
    th_error err = {.id = ""};
    CU_ASSERT_EQUAL(th_training_run_simulate(&r, 1, 0, &o, &err), -1);
    CU_ASSERT_TRUE(th_error_is_interrupted(&err));
    CU_ASSERT_EQUAL(o.n_failures, 8192);
    CU_ASSERT_EQUAL(th_training_run_draws(&r), 1e4);
    k.shape = 2; /* each of the units draws its first failure, too */
    CU_ASSERT_EQUAL(th_training_run_draws(&r), 1e4 + 10);
}

TAP_MAIN("reliability")
