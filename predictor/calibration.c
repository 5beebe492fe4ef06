/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.c - a few measured rows of a device.
 *   calibrate: { rows of a device -> listen to all voices -> { tune one } -> vote }
 * tune: host and scale of a voice by least squares on the relative error, reweighted towards absolute
 * deviations, with a ridge towards 0 and 1: twenty rows must not undo what thousands have taught.
 * vote: as learners are blended (learners/panel.c): greedy, with replacement. */
#include <config.h>

#include "predictor/calibration.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { PASSES = 5, VOTES = TH_VOICES_MAX };
static const double RIDGE_HOST = 1, RIDGE_SCALE = 0.3, DEVIATION_MIN = 0.02;
static const double SCALE_LEAST = 0.2; /* of an answer stays at least */
static const double OPTIMISM = 1.4;    /* error on other rows / on those that it was fitted to, about */

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

static double error_with(const sample *s, const double *sum, const double *said, int votes)
{
    double error = 0;
    for (size_t i = 0; i < s->n; i++)
        error += fabs(exp((sum[i] + log(said[i])) / (votes + 1)) / s->ms[i] - 1);
    return error / (double)s->n;
}

/* Of n voices; said by voice and row, tuned. */
static void vote(th_calibration *c, const th_voice *voice, int n, const sample *s,
                 const double *said, double *sum)
{
    for (size_t i = 0; i < s->n; i++)
        sum[i] = 0;
    for (int given = 0; given < VOTES; given++) {
        int best = 0, place = 0;
        double least = INFINITY;
        for (int v = 0; v < n; v++) {
            double error = error_with(s, sum, said + (size_t)v * s->n, given);
            if (error < least) {
                least = error;
                best = v;
            }
        }
        for (size_t i = 0; i < s->n; i++)
            sum[i] += log(said[(size_t)best * s->n + i]);
        while (place < c->n_voices && (c->voice[place].device != voice[best].device ||
                                       c->voice[place].is_law != voice[best].is_law))
            place++;
        if (place == c->n_voices)
            c->voice[c->n_voices++] = voice[best];
        c->voice[place].share += 1.0 / VOTES;
        c->gain = least;
    }
}

/* voice[2 n_devices + 1], said[that][n], scratch[2 n]. */
static void calibrate(const th_layer_model *m, const sample *s, th_calibration *c, th_voice *voice,
                      double *said, double *scratch)
{
    const th_scores *others = &m->other.scores;
    int n = 0;
    for (int d = m->n_devices; d >= 0; d--)
        for (int is_law = 0; is_law < (d < m->n_devices ? 2 : 1); is_law++) {
            double *mine = said + (size_t)n * s->n;
            voice[n] = (th_voice){.device = d, .is_law = is_law};
            th_layer_model_predict_as(m, s->op, s->n, &c->gpu, d, is_law, mine);
            tune(&voice[n], s, mine, scratch);
            for (size_t i = 0; i < s->n; i++)
                mine[i] = tuned(&voice[n], mine[i]);
            n++;
        }
    vote(c, voice, n, s, said, scratch);
    c->gain = others->n > 0 && others->chosen > 0 ? OPTIMISM * c->gain / others->chosen : 1;
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
    sample s = {.n = rows_of(m, rows, device, NULL)};
    size_t voices = 2 * (size_t)m->n_devices + 1;
    s.op = th_alloc_array(s.n, sizeof *s.op);
    s.ms = th_alloc_array(s.n, sizeof *s.ms);
    th_voice *voice = th_alloc_array(voices, sizeof *voice);
    double *said = th_alloc_array(voices * s.n, sizeof *said),
           *scratch = th_alloc_array(s.n, sizeof *scratch);
    int failed = s.op && s.ms && voice && said && scratch ? 0 : -1;
    *out = (th_calibration){.gpu = rows->device[device], .n_rows = s.n};
    if (!failed) {
        rows_of(m, rows, device, &s);
        calibrate(m, &s, out, voice, said, scratch);
    }
    th_free(s.op);
    th_free(s.ms);
    th_free(voice);
    th_free(said);
    th_free(scratch);
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
