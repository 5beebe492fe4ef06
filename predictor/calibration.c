/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.c - a few measured rows of a device.
 *   calibrate: { rows of a device -> listen to all voices -> { settle without some rows -> answer these }
 *              -> trust -> settle with all rows }        settle: { tune one } -> vote
 * tune: host and scale of a voice by least squares on the relative error, reweighted towards absolute
 * deviations, with a ridge towards 0 and 1: twenty rows must not undo what thousands have taught.
 * vote: as learners are blended (learners/panel.c): greedy, with replacement.
 * trust: three answers, what the model says anyway, the same tuned, and what was voted for, share the rest
 * as rows favour that they have not seen; so that a few rows which mislead change nothing. */
#include <config.h>

#include "predictor/calibration.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { PASSES = 5, VOTES = 8, FOLDS_MAX = 40 };
static const double RIDGE_HOST = 1, RIDGE_SCALE = 0.3, DEVIATION_MIN = 0.02;
static const double SCALE_LEAST = 0.2; /* of an answer stays at least */
static const double OPTIMISM = 1.1;    /* error on other rows / where it was least, about */

static double tuned(const th_voice *v, double ms)
{
    return fmax(v->host_ms + v->scale * ms, SCALE_LEAST * ms);
}

void th_calibration_run(const th_layer_model *m, const th_calibration *c, const th_op *op, size_t n,
                        double *ms)
{
    enum { BLOCK = 64 };
    for (size_t from = 0; from < n; from += BLOCK) {
        double said[BLOCK], ln_ms[BLOCK] = {0};
        size_t size = n - from < BLOCK ? n - from : BLOCK;
        for (int i = 0; i < c->n_voices; i++) {
            const th_voice *v = &c->voice[i];
            th_layer_model_predict_as(m, op + from, size, &c->gpu, v->device, v->is_law, said);
            for (size_t r = 0; r < size; r++)
                ln_ms[r] += v->share * log(tuned(v, said[r]));
        }
        for (size_t r = 0; r < size; r++)
            ms[from + r] = exp(ln_ms[r]);
    }
}

/* --- tuning ----------------------------------------------------------------------------------- */

/* Rows of one device. */
typedef struct {
    th_op *op;
    double *ms;
    size_t n;
    double unit; /* the least time, ms: in which a host's cost is counted */
} sample;

/* Solves the two normal equations of host / unit and scale. */
static void tune_once(th_voice *v, const sample *s, const double *said, const double *weight)
{
    double hh = RIDGE_HOST, hs = 0, ss = RIDGE_SCALE, h = 0, k = RIDGE_SCALE;
    for (size_t i = 0; i < s->n; i++) {
        double a = s->unit / s->ms[i], b = said[i] / s->ms[i], w = weight[i];
        hh += w * a * a;
        hs += w * a * b;
        ss += w * b * b;
        h += w * a;
        k += w * b;
    }
    double determinant = hh * ss - hs * hs;
    v->host_ms = s->unit * (h * ss - k * hs) / determinant;
    v->scale = (k * hh - h * hs) / determinant;
}

static void tune(th_voice *v, const sample *s, const double *said, double *weight)
{
    *v = (th_voice){.device = v->device, .is_law = v->is_law};
    for (size_t i = 0; i < s->n; i++)
        weight[i] = 1;
    for (int pass = 0; pass < PASSES; pass++) {
        double sum = 0;
        tune_once(v, s, said, weight);
        for (size_t i = 0; i < s->n; i++) {
            weight[i] = 1 / fmax(fabs(tuned(v, said[i]) / s->ms[i] - 1), DEVIATION_MIN);
            sum += weight[i];
        }
        for (size_t i = 0; i < s->n; i++) /* so that ridges keep their strength */
            weight[i] *= (double)s->n / sum;
    }
}

/* --- votes ------------------------------------------------------------------------------------ */

/* All that may be listened to, and what each says of the rows of a sample. The first is what the model says
 * of the device without any calibration. */
typedef struct {
    th_voice *voice;
    double *said; /* by voice and row, not tuned */
    int n;
} choir;

/* Which of them share an answer; their sum of shares is 1. */
typedef struct {
    th_voice voice[VOTES];
    int of[VOTES]; /* of the choir */
    int n;
} settlement;

static double error_with(const sample *s, const double *sum, const double *ln_said, int votes)
{
    double error = 0;
    for (size_t i = 0; i < s->n; i++)
        error += fabs(exp((sum[i] + ln_said[i]) / (votes + 1)) / s->ms[i] - 1);
    return error / (double)s->n;
}

/* Votes for n answers, ln_said by answer and row: into vote[n]; sum[] is scratch. The error of the blend. */
static double vote(const sample *s, const double *ln_said, int n, double *sum, int *votes)
{
    double least = INFINITY;
    memset(votes, 0, (size_t)n * sizeof *votes);
    for (size_t i = 0; i < s->n; i++)
        sum[i] = 0;
    for (int given = 0; given < VOTES; given++) {
        int best = 0;
        least = INFINITY;
        for (int v = 0; v < n; v++) {
            double error = error_with(s, sum, ln_said + (size_t)v * s->n, given);
            if (error < least) {
                least = error;
                best = v;
            }
        }
        for (size_t i = 0; i < s->n; i++)
            sum[i] += ln_said[(size_t)best * s->n + i];
        votes[best]++;
    }
    return least;
}

typedef struct {
    double *ln_said, *row; /* by voice and row; by row, twice */
    int *votes;            /* by voice */
} scratch;

/* Tunes all voices to the sample, and votes. */
static void settle(const choir *c, const sample *s, const scratch *w, settlement *out)
{
    for (int v = 0; v < c->n; v++) {
        const double *said = c->said + (size_t)v * s->n;
        tune(&c->voice[v], s, said, w->row);
        for (size_t i = 0; i < s->n; i++)
            w->ln_said[(size_t)v * s->n + i] = log(tuned(&c->voice[v], said[i]));
    }
    vote(s, w->ln_said, c->n, w->row, w->votes);
    out->n = 0;
    for (int v = 0; v < c->n; v++)
        if (w->votes[v] > 0) {
            out->of[out->n] = v;
            out->voice[out->n] = c->voice[v];
            out->voice[out->n++].share = (double)w->votes[v] / VOTES;
        }
}

/* ln(ms) of row i of the choir, which has n_rows. */
static double answer(const settlement *a, const choir *c, size_t n_rows, size_t i)
{
    double ln_ms = 0;
    for (int v = 0; v < a->n; v++)
        ln_ms += a->voice[v].share *
                 log(tuned(&a->voice[v], c->said[(size_t)a->of[v] * n_rows + i]));
    return ln_ms;
}

/* --- trust ------------------------------------------------------------------------------------ */

enum { AS_IT_WAS, TUNED, VOTED, N_ANSWERS };

/* The choir and sample without the rows of a fold. */
static void leave_out(const choir *c, const sample *s, size_t fold, size_t folds, choir *some,
                      sample *rest)
{
    rest->n = 0;
    rest->unit = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        if (i % folds != fold) {
            rest->unit = fmin(rest->unit, s->ms[i]);
            rest->ms[rest->n++] = s->ms[i];
        }
    for (int v = 0; v < c->n; v++)
        for (size_t i = 0, to = 0; i < s->n; i++)
            if (i % folds != fold)
                some->said[(size_t)v * rest->n + to++] = c->said[(size_t)v * s->n + i];
}

/* ln_ms[N_ANSWERS][n]: what is said of each row by those that have not seen it. */
static void answer_unseen(const choir *c, const sample *s, choir *some, sample *rest,
                          const scratch *w, double *ln_ms)
{
    size_t n = s->n, folds = n < FOLDS_MAX ? n : FOLDS_MAX;
    for (size_t fold = 0; fold < folds; fold++) {
        settlement a;
        leave_out(c, s, fold, folds, some, rest);
        settle(some, rest, w, &a);
        for (size_t i = fold; i < n; i += folds) {
            ln_ms[AS_IT_WAS * n + i] = log(c->said[i]);
            ln_ms[TUNED * n + i] = log(tuned(&some->voice[0], c->said[i]));
            ln_ms[VOTED * n + i] = answer(&a, c, n, i);
        }
    }
}

static void add_voice(th_calibration *c, th_voice v, double share)
{
    v.share = share;
    if (share > 0)
        c->voice[c->n_voices++] = v;
}

static void keep_voices(const choir *c, const settlement *a, const int *votes, th_calibration *out)
{
    th_voice plain = c->voice[0];
    plain.host_ms = 0;
    plain.scale = 1;
    add_voice(out, plain, (double)votes[AS_IT_WAS] / VOTES);
    add_voice(out, c->voice[0], (double)votes[TUNED] / VOTES);
    for (int v = 0; v < a->n; v++)
        add_voice(out, a->voice[v], a->voice[v].share * votes[VOTED] / VOTES);
}

/* --- a device --------------------------------------------------------------------------------- */

static void listen(const th_layer_model *m, const sample *s, const th_gpu *gpu, choir *out)
{
    int itself = th_layer_model_device(m, gpu->name);
    out->n = 0;
    for (int i = -1; i <= m->n_devices; i++)
        for (int is_law = 0; is_law < 2; is_law++) {
            int device = i < 0 ? itself : i;
            bool is_twice = i == itself && !is_law, is_of_any = device == m->n_devices;
            if (is_twice || (is_law && (i < 0 || is_of_any)))
                continue;
            out->voice[out->n] = (th_voice){.device = device, .is_law = is_law};
            th_layer_model_predict_as(m, s->op, s->n, gpu, device, is_law,
                                      out->said + (size_t)out->n * s->n);
            out->n++;
        }
}

/* Rooms: said, some, ln_said [voices][n], unseen [N_ANSWERS][n], row [2 n]. */
static void calibrate(const th_layer_model *m, const sample *s, choir *all, choir *some,
                      sample *rest, const scratch *w, double *unseen, th_calibration *c)
{
    const th_scores *others = &m->other.scores;
    int votes[N_ANSWERS];
    settlement a;
    listen(m, s, &c->gpu, all);
    memcpy(some->voice, all->voice, (size_t)all->n * sizeof *all->voice);
    some->n = all->n;
    answer_unseen(all, s, some, rest, w, unseen);
    double error = vote(s, unseen, N_ANSWERS, w->row, votes);
    settle(all, s, w, &a);
    keep_voices(all, &a, votes, c);
    c->gain = others->n > 0 && others->chosen > 0 ? OPTIMISM * error / others->chosen : 1;
}

/* --- rows ------------------------------------------------------------------------------------- */

static size_t rows_of(const th_layer_model *m, const th_measurements *rows, int32_t device,
                      sample *out)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const th_measurement *r = &rows->row[i];
        if (r->device != device || r->op.kind != m->kind || r->phase != m->phase)
            continue;
        if (out) {
            out->op[n] = r->op;
            out->ms[n] = r->ms;
            out->unit = n == 0 ? r->ms : fmin(out->unit, r->ms);
        }
        n++;
    }
    return n;
}

static int calibrate_device(const th_layer_model *m, const th_measurements *rows, int32_t device,
                            th_calibration *out)
{
    size_t n = rows_of(m, rows, device, NULL), voices = 2 * (size_t)m->n_devices + 1;
    sample s = {.n = n}, rest = {.n = 0};
    s.op = th_alloc_array(n, sizeof *s.op);
    th_voice *voice = th_alloc_zero(2 * voices, sizeof *voice);
    int *votes = th_alloc_array(voices, sizeof *votes);
    double *room = th_alloc_array((3 * voices + N_ANSWERS + 4) * n, sizeof *room);
    int failed = s.op && voice && votes && room ? 0 : -1;
    *out = (th_calibration){.gpu = rows->device[device], .n_rows = n};
    if (!failed) {
        size_t all_voices = voices * n;
        choir all = {voice, room, 0}, some = {voice + voices, room + all_voices, 0};
        double *behind = room + 3 * all_voices;
        const scratch w = {room + 2 * all_voices, behind, votes};
        s.ms = behind + 2 * n;
        rest.ms = behind + 3 * n;
        rows_of(m, rows, device, &s);
        calibrate(m, &s, &all, &some, &rest, &w, behind + 4 * n, out);
    }
    th_free(s.op);
    th_free(voice);
    th_free(votes);
    th_free(room);
    return failed;
}

/* Replaces that of the same name. Memory is there. */
static void keep(th_calibration *all, int *n, const th_calibration *c)
{
    int i = 0;
    while (i < *n && strcmp(all[i].gpu.name, c->gpu.name) != 0)
        i++;
    all[i] = *c;
    *n += i == *n;
}

int th_layer_model_calibrate(th_layer_model *m, const th_measurements *rows, th_error *err)
{
    size_t most = (size_t)m->n_calibrations + (size_t)rows->n_devices;
    th_calibration *all = th_alloc_array(most + 1, sizeof *all);
    int n = m->n_calibrations, failed = all ? 0 : th_error_no_memory(err), added = 0;
    if (!failed && n > 0)
        memcpy(all, m->calibration, (size_t)n * sizeof *all);
    for (int32_t d = 0; !failed && d < rows->n_devices; d++) {
        size_t there = rows_of(m, rows, d, NULL);
        th_calibration c;
        if (there == 0)
            continue;
        if (there < TH_CALIBRATION_ROWS_MIN)
            failed = th_error_set(err, "PRED-0090",
                                  "calibration, %s, %s on %s: must have %d rows or more, has %zu",
                                  th_op_kind_name(m->kind), th_phase_name(m->phase),
                                  rows->device[d].name, TH_CALIBRATION_ROWS_MIN, there);
        else if (calibrate_device(m, rows, d, &c))
            failed = th_error_no_memory(err);
        if (!failed) {
            keep(all, &n, &c);
            added++;
        }
    }
    if (failed) {
        th_free(all);
        return -1;
    }
    th_free(m->calibration);
    m->calibration = all;
    m->n_calibrations = n;
    return added;
}
