/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reliability.c - see reliability.h.
 *   choose the interval -> simulate the runs -> tables: figures, time by cause, failures by kind,
 *   intervals
 * All intervals are simulated with the same failures, so that their shares can be compared. */
#include <config.h>
#include "report/sections/reliability.h"
#include <inttypes.h>
#include <math.h>
#include "base/alloc.h"
#include "base/elementary.h"
#include "report/interrupt.h"

typedef struct spread {
    double mean, deviation, least, most; /* of the share that trains */
} spread;

/* Whole steps, at least one. */
static double whole_steps(const th_reliability *x, double interval_s)
{
    double steps = x->step_s > 0 ? floor(interval_s / x->step_s + 0.5) : 0;
    return x->step_s > 0 ? fmax(steps, 1) * x->step_s : interval_s;
}

static int check_interval(const th_training_run *r, th_error *err)
{
    if (r->write_s <= r->interval_s + r->stall_s)
        return 0;
    return th_error_set(err, "TCL-1100",
                        "-checkpoint_interval %.6gs: a checkpoint of %.6gs must be complete before "
                        "the next one",
                        r->interval_s, r->write_s);
}

static int choose_interval(th_reliability *x, th_error *err)
{
    th_training_run *r = &x->run;
    double m = th_training_run_mtbf(r), d = r->stall_s > 0 ? r->stall_s : r->write_s;
    if (x->rule != TH_INTERVAL_GIVEN && (isinf(m) || d <= 0))
        return th_error_set(err, "TCL-1101",
                            "-checkpoint_interval: must be a time where nothing fails, or where a "
                            "checkpoint takes no time");
    if (x->rule == TH_INTERVAL_YOUNG)
        r->interval_s = th_young_interval(d, m);
    else if (x->rule == TH_INTERVAL_DALY)
        r->interval_s = th_daly_interval(d, m);
    else if (x->rule == TH_INTERVAL_BEST)
        r->interval_s = th_best_interval(d, m);
    r->interval_s = whole_steps(x, r->interval_s);
    return check_interval(r, err);
}

/* Of -runs and -duration, the one that has to be less. 0 or -1. */
static int check_draws(const th_reliability *x, th_error *err)
{
    double draws = th_training_run_draws(&x->run),
           most_runs = floor(TH_RELIABILITY_DRAWS_MAX / draws);
    if ((double)x->n_runs <= most_runs)
        return 0;
    if (most_runs >= 1)
        return th_error_set(err, "TCL-1118",
                            "-runs %" PRId64
                            ": must be at most %.0f: one run draws some %.3g times of "
                            "failures, and all together may draw %.0e",
                            x->n_runs, most_runs, draws, TH_RELIABILITY_DRAWS_MAX);
    return th_error_set(err, "TCL-1119",
                        "-duration, -failures: must be a shorter time or fewer units: one run "
                        "draws some %.3g times of failures, at most %.0e",
                        draws, TH_RELIABILITY_DRAWS_MAX);
}

/* ---- simulation ---- */

static void add_outcome(th_training_outcome *sum, const th_training_outcome *o, int n_kinds)
{
    sum->trained_s += o->trained_s;
    sum->stalled_s += o->stalled_s;
    sum->lost_s += o->lost_s;
    sum->detection_s += o->detection_s;
    sum->restart_s += o->restart_s;
    sum->waiting_s += o->waiting_s;
    sum->n_checkpoints += o->n_checkpoints;
    sum->n_failures += o->n_failures;
    for (int k = 0; k < n_kinds; k++) {
        sum->n_failures_of[k] += o->n_failures_of[k];
        sum->lost_of[k] += o->lost_of[k];
    }
}

/* The mean and the standard deviation of a number of runs from sums of values and squares. */
static double deviation_of(double sum, double squares, double n)
{
    return n > 1 ? sqrt(fmax((squares - sum * sum / n) / (n - 1), 0)) : 0;
}

/* All runs with this interval; squares: of the failures by kind and, in the last place, of all. 0,
 * or -1: memory is out, or Ctrl-C. */
static int simulate(const th_reliability *x, double interval_s, th_training_outcome *sum,
                    double *squares, spread *share, th_error *err)
{
    th_training_run run = x->run;
    double shares = 0, share_squares = 0, n = (double)x->n_runs;
    run.interval_s = interval_s;
    run.is_interrupted = th_interrupt_is_pending;
    *sum = (th_training_outcome){0};
    *share = (spread){.least = 1, .most = 0};
    for (int64_t i = 0; i < x->n_runs; i++) {
        th_training_outcome o;
        if (th_training_run_simulate(&run, x->seed, (uint64_t)i, &o, err) != 0)
            return -1;
        add_outcome(sum, &o, run.n_kinds);
        double s = o.trained_s / run.duration_s;
        shares += s;
        share_squares += s * s;
        share->least = fmin(share->least, s);
        share->most = fmax(share->most, s);
        for (int k = 0; squares && k < run.n_kinds; k++)
            squares[k] += (double)o.n_failures_of[k] * (double)o.n_failures_of[k];
        if (squares)
            squares[run.n_kinds] += (double)o.n_failures * (double)o.n_failures;
    }
    share->mean = shares / n;
    share->deviation = deviation_of(shares, share_squares, n);
    return 0;
}

/* ---- tables ---- */

static double recovery_s(const th_training_run *r)
{
    return r->detection_s + r->restart_s;
}

static th_quantity number_or_absent(double value)
{
    return isfinite(value) ? th_number(value) : th_absent(TH_KIND_NUMBER);
}

static void add_figures(const th_reliability *x, th_report *r, const spread *share,
                        const th_training_outcome *sum, double all_squares)
{
    static const th_column columns[] = {
        {"training", "effective training time", TH_KIND_SHARE},
        {"deviation", "standard deviation", TH_KIND_SHARE},
        {"least", "least of a run", TH_KIND_SHARE},
        {"most", "most of a run", TH_KIND_SHARE},
        {"expected", "closed form", TH_KIND_SHARE},
        {"interruptions", "interruptions", TH_KIND_MEAN},
        {"interruptions_deviation", "their deviation", TH_KIND_MEAN},
        {"mtbf_s", "time between failures (s)", TH_KIND_NUMBER},
        {"interval_s", "checkpoint interval (s)", TH_KIND_NUMBER},
        {"write_s", "checkpoint (s)", TH_KIND_NUMBER},
        {"stall_s", "training stops for (s)", TH_KIND_NUMBER},
        {"restart_s", "restart (s)", TH_KIND_NUMBER},
        {"runs", "runs", TH_KIND_COUNT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_training_run *run = &x->run;
    double m = th_training_run_mtbf(run), n = (double)x->n_runs;
    const th_quantity cells[] = {
        th_share(share->mean),
        th_share(share->deviation),
        th_share(share->least),
        th_share(share->most),
        th_share(th_expected_training_share(run->interval_s, run->stall_s, recovery_s(run), m)),
        th_mean((double)sum->n_failures / n),
        th_mean(deviation_of((double)sum->n_failures, all_squares, n)),
        number_or_absent(m),
        th_number(run->interval_s),
        th_number(run->write_s),
        th_number(run->stall_s),
        th_number(run->restart_s),
        th_count(x->n_runs),
    };
    th_table_row(th_report_record(r, "reliability", NULL, columns), cells);
}

static void add_times(const th_reliability *x, th_report *r, const th_training_outcome *sum)
{
    static const th_column columns[] = {
        {"part", "time of a run", TH_KIND_TEXT},
        {"hours", "hours", TH_KIND_NUMBER},
        {"share", "share", TH_KIND_SHARE},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"training", sum->trained_s}, {"checkpoints", sum->stalled_s},
                 {"lost work", sum->lost_s},   {"detection", sum->detection_s},
                 {"restart", sum->restart_s},  {"waiting for spares", sum->waiting_s}};
    double n = (double)x->n_runs;
    th_table *t = th_report_table(r, "times", NULL, columns);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        th_table_row(t,
                     (th_quantity[]){th_text(parts[i].name), th_number(parts[i].seconds / n / 3600),
                                     th_share(parts[i].seconds / n / x->run.duration_s)});
}

static void add_kinds(const th_reliability *x, th_report *r, const th_training_outcome *sum,
                      const double *squares)
{
    static const th_column columns[] = {
        {"kind", "failure", TH_KIND_TEXT},
        {"units", "units", TH_KIND_COUNT},
        {"unit_mtbf_h", "h between, of one", TH_KIND_NUMBER},
        {"interruptions", "interruptions", TH_KIND_MEAN},
        {"interruptions_deviation", "deviation", TH_KIND_MEAN},
        {"lost", "time lost", TH_KIND_SHARE},
        {NULL, NULL, TH_KIND_TEXT},
    };
    double n = (double)x->n_runs;
    th_table *t = th_report_table(r, "failures", NULL, columns);
    for (int k = 0; k < x->run.n_kinds; k++) {
        const th_failure_kind *kind = &x->run.kinds[k];
        th_table_row(t,
                     (th_quantity[]){
                         th_text(th_report_keep(r, kind->name)),
                         kind->times_s ? th_absent(TH_KIND_COUNT) : th_count(kind->n_units),
                         kind->times_s ? th_absent(TH_KIND_NUMBER) : th_number(kind->mtbf_s / 3600),
                         th_mean((double)sum->n_failures_of[k] / n),
                         th_mean(deviation_of((double)sum->n_failures_of[k], squares[k], n)),
                         th_share(sum->lost_of[k] / n / x->run.duration_s)});
    }
}

static int add_interval(const th_reliability *x, th_table *t, const char *name, double interval_s,
                        spread *share, th_error *err)
{
    th_training_outcome sum;
    const th_training_run *run = &x->run;
    double interval = whole_steps(x, interval_s), m = th_training_run_mtbf(run);
    if (simulate(x, interval, &sum, NULL, share, err) != 0)
        return -1;
    if (name)
        th_table_row(t, (th_quantity[]){th_text(name), th_number(interval),
                                        th_share(th_expected_training_share(interval, run->stall_s,
                                                                            recovery_s(run), m)),
                                        th_share(share->mean), th_share(share->deviation)});
    return 0;
}

/* The best of intervals round the closed form's, each 2^(1/4) times the one before. 0 or -1. */
static int search_interval(const th_reliability *x, th_table *t, double centre, th_error *err)
{
    enum { STEPS = 8 };
    double best = centre, most = -1;
    spread share;
    for (int i = -STEPS; i <= STEPS; i++) {
        double interval = whole_steps(x, centre * th_exp(i * th_log(2) / 4));
        if (x->run.write_s > interval + x->run.stall_s)
            continue;
        if (add_interval(x, t, NULL, interval, &share, err) != 0)
            return -1;
        if (share.mean > most) {
            most = share.mean;
            best = interval;
        }
    }
    return add_interval(x, t, "best simulated", best, &share, err);
}

static int add_intervals(const th_reliability *x, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"interval", "checkpoint interval", TH_KIND_TEXT}, {"interval_s", "s", TH_KIND_NUMBER},
        {"expected", "closed form", TH_KIND_SHARE},        {"training", "simulated", TH_KIND_SHARE},
        {"deviation", "deviation", TH_KIND_SHARE},         {NULL, NULL, TH_KIND_TEXT},
    };
    double m = th_training_run_mtbf(&x->run), d = x->run.stall_s;
    spread share;
    th_table *t = th_report_table(r, "intervals", NULL, columns);
    if (add_interval(x, t, "used", x->run.interval_s, &share, err) != 0)
        return -1;
    if (isinf(m) || d <= 0)
        return 0;
    const struct {
        const char *name;
        double interval_s;
    } known[] = {{"Young", th_young_interval(d, m)},
                 {"Daly", th_daly_interval(d, m)},
                 {"closed form", th_best_interval(d, m)}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (x->run.write_s <= whole_steps(x, known[i].interval_s) + d &&
            add_interval(x, t, known[i].name, known[i].interval_s, &share, err) != 0)
            return -1;
    return search_interval(x, t, known[2].interval_s, err);
}

int th_section_reliability(th_reliability *x, th_report *r, th_error *err)
{
    th_training_outcome sum;
    spread share;
    double squares[TH_FAILURE_KINDS_MAX + 1] = {0};
    if (choose_interval(x, err) != 0 || check_draws(x, err) != 0 ||
        simulate(x, x->run.interval_s, &sum, squares, &share, err) != 0)
        return -1;
    add_figures(x, r, &share, &sum, squares[x->run.n_kinds]);
    add_times(x, r, &sum);
    add_kinds(x, r, &sum, squares);
    return add_intervals(x, r, err);
}
