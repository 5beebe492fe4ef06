/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.c - a few measured rows of a device.
 *   calibrate: { rows of a device -> listen to all voices -> { settle without some rows -> answer
 * these }
 *              -> trust -> settle with all rows }        settle: { tune one } -> vote; sum
 * (calibration_sum.c) tune: host and scale of a voice by least squares on the relative error,
 * reweighted towards absolute deviations, with a ridge towards 0 and 1: twenty rows must not undo
 * what thousands have taught. vote: as learners are blended (learners/panel.c): greedy, with
 * replacement. trust: four answers, what the model says anyway, the same tuned, what was voted for,
 * and the sum, share the rest as rows favour that they have not seen; so that a few rows which
 * mislead change nothing. */
#include <config.h>

#include "predictor/model/calibration.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/model/calibration_sum.h"

enum { PASSES = 5, VOTES = 8, FOLDS_MAX = 40 };
static const double RIDGE_HOST = 1, RIDGE_SCALE = 0.3, DEVIATION_MIN = 0.02;
static const double SCALE_LEAST = 0.2; /* of an answer stays at least */
static const double OPTIMISM = 1.1;    /* error on other rows / where it was least, about */
static const double SHARPNESS = 8, ERROR_MIN = 0.03; /* of errors below all count about alike */

static double tuned(const th_base_model *v, double ms)
{
    return fmax(v->host_ms + v->scale * ms, SCALE_LEAST * ms);
}

/* What voices say of a block of rows, each asked once. */
enum { BLOCK = 64, HEARD_MAX = TH_ADDENDS_MAX + TH_BASE_MODELS_MAX + 1 };

typedef struct {
    const th_layer_model *m;
    const th_gpu *gpu;
    const th_op *op;
    size_t size;
    int n, device[HEARD_MAX];
    bool is_law[HEARD_MAX];
    double said[HEARD_MAX][BLOCK];
} heard;

static const double *hear(heard *h, int device, bool is_law)
{
    int i = 0;
    while (i < h->n && (h->device[i] != device || h->is_law[i] != is_law))
        i++;
    if (i == h->n) {
        h->device[i] = device;
        h->is_law[i] = is_law;
        th_layer_model_predict_as(h->m, h->op, h->size, (th_device_view){h->gpu, device, is_law},
                                  h->said[i]);
        h->n++;
    }
    return h->said[i];
}

static void add_sum(heard *h, const th_calibration_sum *s, double *ln_ms)
{
    int itself = th_layer_model_device(h->m, h->gpu->name);
    double ms[BLOCK];
    for (size_t r = 0; r < h->size; r++)
        ms[r] = s->host_ms +
                hear(h, itself, false)[r] * th_sum_by_parts(h->m, s, &h->op[r], h->gpu, itself);
    for (int k = 0; k < s->n; k++) {
        const th_addend *a = &s->addend[k];
        const double *said = a->part < 0 ? hear(h, a->device, a->is_law) : NULL;
        for (size_t r = 0; said && r < h->size; r++)
            ms[r] += a->weight * said[r];
    }
    for (size_t r = 0; r < h->size; r++)
        ln_ms[r] += s->share * log(fmax(ms[r], TH_SUM_LEAST_MS));
}

void th_calibration_run(const th_layer_model *m, const th_calibration *c, const th_op *op, size_t n,
                        double *ms)
{
    for (size_t from = 0; from < n; from += BLOCK) {
        heard h;
        h.m = m, h.gpu = &c->gpu, h.op = op + from, h.n = 0;
        h.size = n - from < BLOCK ? n - from : BLOCK;
        double ln_ms[BLOCK] = {0};
        for (int i = 0; i < c->n_base_models; i++) {
            const th_base_model *v = &c->voice[i];
            const double *said = hear(&h, v->device, v->is_law);
            for (size_t r = 0; r < h.size; r++)
                ln_ms[r] += v->share * log(tuned(v, said[r]));
        }
        if (c->sum.share > 0)
            add_sum(&h, &c->sum, ln_ms);
        for (size_t r = 0; r < h.size; r++)
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
static void tune_once(th_base_model *v, const sample *s, const double *said, const double *weight)
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

static void tune(th_base_model *v, const sample *s, const double *said, double *weight)
{
    *v = (th_base_model){.device = v->device, .is_law = v->is_law};
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

/* All that may be listened to, and what each says of the rows of a sample. The first is what the
 * model says of the device without any calibration. Behind the voices, of the sum alone, are parts
 * of what that says. */
typedef struct {
    th_base_model *voice;
    th_addend *addend;
    double *said;     /* by voice or part, and row, not tuned */
    int n, n_addends; /* voices; they and parts, or 0: too many for a sum */
} choir;

/* Which of them share an answer; their sum of shares is 1. And all of them summed up. */
typedef struct {
    th_base_model voice[VOTES];
    int of[VOTES]; /* of the choir */
    int n;
    th_calibration_sum sum;
} settlement;

static double error_with(const sample *s, const double *sum, const double *ln_said, int votes)
{
    double error = 0;
    for (size_t i = 0; i < s->n; i++)
        error += fabs(exp((sum[i] + ln_said[i]) / (votes + 1)) / s->ms[i] - 1);
    return error / (double)s->n;
}

/* Votes for n answers, ln_said by answer and row: into vote[n]; sum[] is scratch. The error of the
 * blend. */
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

/* Tunes all voices to the sample, and votes; and sums them up. */
static int settle(const choir *c, const sample *s, const scratch *w, settlement *out)
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
    const th_addends all = {c->said, c->addend, c->n_addends, c->n};
    out->sum = (th_calibration_sum){.n = 0};
    return c->n_addends > 0 ? th_sum_fit(&all, s->ms, s->n, &out->sum) : 0;
}

/* ln(ms) of row i of the choir, which has n_rows. */
static double answer(const settlement *a, const choir *c, size_t n_rows, size_t i)
{
    double ln_ms = 0;
    for (int v = 0; v < a->n; v++)
        ln_ms +=
            a->voice[v].share * log(tuned(&a->voice[v], c->said[(size_t)a->of[v] * n_rows + i]));
    return ln_ms;
}

/* --- trust ------------------------------------------------------------------------------------ */

enum { AS_IT_WAS, TUNED, VOTED, SUMMED, N_ANSWERS };

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
    for (int v = 0; v < c->n || v < c->n_addends; v++)
        for (size_t i = 0, to = 0; i < s->n; i++)
            if (i % folds != fold)
                some->said[(size_t)v * rest->n + to++] = c->said[(size_t)v * s->n + i];
}

/* ln_ms[N_ANSWERS][n]: what is said of each row by those that have not seen it. */
static int answer_unseen(const choir *c, const sample *s, choir *some, sample *rest,
                         const scratch *w, double *ln_ms)
{
    size_t n = s->n, folds = n < FOLDS_MAX ? n : FOLDS_MAX;
    for (size_t fold = 0; fold < folds; fold++) {
        settlement a;
        leave_out(c, s, fold, folds, some, rest);
        if (settle(some, rest, w, &a))
            return -1;
        for (size_t i = fold; i < n; i += folds) {
            ln_ms[AS_IT_WAS * n + i] = log(c->said[i]);
            ln_ms[TUNED * n + i] = log(tuned(&some->voice[0], c->said[i]));
            ln_ms[VOTED * n + i] = answer(&a, c, n, i);
            ln_ms[SUMMED * n + i] =
                c->n_addends > 0 ? log(th_sum_at(&a.sum, c->said, n, i)) : log(c->said[i]);
        }
    }
    return 0;
}

/* Shares by the errors on rows that were not seen, in the geometric mean, so that rows that mislead
 * count little; no answer has all, for so few rows do not tell well which is best. The error of the
 * blend. */
static double trust(const sample *s, const double *ln_ms, double *share)
{
    double sum = 0, error = 0;
    for (int a = 0; a < N_ANSWERS; a++) {
        double ln_error = 0;
        for (size_t i = 0; i < s->n; i++)
            ln_error += log(fabs(exp(ln_ms[(size_t)a * s->n + i]) / s->ms[i] - 1) + ERROR_MIN);
        share[a] = exp(-SHARPNESS * ln_error / (double)s->n);
        sum += share[a];
    }
    for (int a = 0; a < N_ANSWERS; a++)
        share[a] /= sum;
    for (size_t i = 0; i < s->n; i++) {
        double ln = 0;
        for (int a = 0; a < N_ANSWERS; a++)
            ln += share[a] * ln_ms[(size_t)a * s->n + i];
        error += fabs(exp(ln) / s->ms[i] - 1);
    }
    return error / (double)s->n;
}

static void add_voice(th_calibration *c, th_base_model v, double share)
{
    v.share = share;
    if (share > 0)
        c->voice[c->n_base_models++] = v;
}

static void keep_voices(const choir *c, const settlement *a, const double *share,
                        th_calibration *out)
{
    th_base_model plain = c->voice[0];
    plain.host_ms = 0;
    plain.scale = 1;
    add_voice(out, plain, share[AS_IT_WAS]);
    add_voice(out, c->voice[0], share[TUNED]);
    for (int v = 0; v < a->n; v++)
        add_voice(out, a->voice[v], a->voice[v].share * share[VOTED]);
    if (c->n_addends == 0) /* then it stands for what the model says anyway */
        add_voice(out, plain, share[SUMMED]);
    else {
        out->sum = (th_calibration_sum){.host_ms = a->sum.host_ms, .share = share[SUMMED]};
        for (int k = 0; k < a->sum.n; k++)
            if (a->sum.addend[k].weight > 0)
                out->sum.addend[out->sum.n++] = a->sum.addend[k];
    }
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
            out->voice[out->n] = (th_base_model){.device = device, .is_law = is_law};
            th_layer_model_predict_as(m, s->op, s->n, (th_device_view){gpu, device, is_law},
                                      out->said + (size_t)out->n * s->n);
            out->addend[out->n] = (th_addend){.device = device, .is_law = is_law, .part = -1};
            out->n++;
        }
    out->n_addends = 0;
    if (out->n + TH_N_TERM_CLASSES <= TH_ADDENDS_MAX)
        out->n_addends =
            out->n + th_sum_parts(m, s->op, s->n, gpu, itself, out->said, out->addend + out->n,
                                  out->said + (size_t)out->n * s->n);
}

/* Rooms: said, some [voices and parts][n], ln_said [voices][n], unseen [N_ANSWERS][n], row [2 n].
 */
static int calibrate(const th_layer_model *m, const sample *s, choir *all, choir *some,
                     sample *rest, const scratch *w, double *unseen, th_calibration *c)
{
    const th_scores *others = &m->other.scores;
    double share[N_ANSWERS];
    settlement a;
    listen(m, s, &c->gpu, all);
    memcpy(some->voice, all->voice, (size_t)all->n * sizeof *all->voice);
    some->n = all->n;
    some->n_addends = all->n_addends;
    if (answer_unseen(all, s, some, rest, w, unseen))
        return -1;
    double error = trust(s, unseen, share);
    if (settle(all, s, w, &a))
        return -1;
    keep_voices(all, &a, share, c);
    c->gain = others->n > 0 && others->chosen > 0 ? OPTIMISM * error / others->chosen : 1;
    return 0;
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
    size_t n = rows_of(m, rows, device, NULL), voices = 2 * (size_t)m->n_devices + 1,
           addends = voices + TH_N_TERM_CLASSES;
    sample s = {.n = n}, rest = {.n = 0};
    s.op = th_alloc_array(n, sizeof *s.op);
    th_base_model *voice = th_alloc_zero(2 * voices, sizeof *voice);
    int *votes = th_alloc_array(voices, sizeof *votes);
    th_addend *addend = th_alloc_array(addends, sizeof *addend);
    double *room = th_alloc_array((2 * addends + voices + N_ANSWERS + 4) * n, sizeof *room);
    int failed = s.op && voice && votes && addend && room ? 0 : -1;
    *out = (th_calibration){.gpu = rows->device[device], .n_rows = n};
    if (!failed) {
        choir all = {voice, addend, room, 0, 0},
              some = {voice + voices, addend, room + addends * n, 0, 0};
        double *behind = room + (2 * addends + voices) * n;
        const scratch w = {room + 2 * addends * n, behind, votes};
        s.ms = behind + 2 * n;
        rest.ms = behind + 3 * n;
        rows_of(m, rows, device, &s);
        failed = calibrate(m, &s, &all, &some, &rest, &w, behind + 4 * n, out);
    }
    th_free(addend);
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
