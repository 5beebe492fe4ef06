/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_read.c - a predictor from its text.
 *   th_predictor_read: unpack -> check_head (version, digest) -> { read_layer: devices, ranges,
 *   weights, { read_side: scores, quantiles, ensemble } }
 * The digest detects accidental changes; the reader also checks every number that becomes an index.
 */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "predictor/model/predictor.h"
#include "predictor/regress/predictor_text.h"
#include "predictor/data/decompress.h"

enum { FILE_MAX = 64 << 20, DEVICES_MAX = 1000 };

static int read_device(th_text_reader *r, th_gpu *gpu)
{
    char *at = th_text_skip(r, "device");
    size_t n = at ? strcspn(at, " ") : 0;
    if (n == 0 || n >= sizeof gpu->name)
        return th_text_fail(r);
    memcpy(gpu->name, at, n);
    gpu->name[n] = '\0';
    at += n;
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        if (th_text_number(&at, &gpu->x[i]) || gpu->x[i] <= 0)
            return th_text_fail(r);
    for (int i = 0; i < TH_N_GPU_EXTRAS; i++)
        if (th_text_number(&at, &gpu->extra[i]) || gpu->extra[i] < 0)
            return th_text_fail(r);
    return 0;
}

static int read_devices(th_text_reader *r, th_layer_model *m)
{
    int n;
    if (th_text_scan(r, 1, "devices %d", &n))
        return -1;
    if (n < 1 || n > DEVICES_MAX)
        return th_text_fail(r);
    m->device = th_alloc_zero((size_t)n, sizeof *m->device);
    if (!m->device)
        return th_error_no_memory(r->err);
    for (; m->n_devices < n; m->n_devices++)
        if (read_device(r, &m->device[m->n_devices]))
            return -1;
    return 0;
}

static int read_ranges(th_text_reader *r, th_layer_model *m)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++) {
        char name[TH_TERM_NAME_MAX];
        if (th_text_scan(r, 3, "range %31s %" SCNd32 " %" SCNd32, name, &m->field_min[f],
                         &m->field_max[f]))
            return -1;
        if (strcmp(name, th_op_field_name((th_op_field)f)) != 0)
            return th_text_fail(r);
    }
    return 0;
}

static int read_weights(th_text_reader *r, th_layer_model *m)
{
    int n;
    if (th_text_scan(r, 1, "terms %d", &n))
        return -1;
    if (n != m->n_terms)
        return th_text_fail(r);
    m->weight = th_alloc_zero((size_t)(m->n_devices + 1) * (size_t)n + 1, sizeof *m->weight);
    if (!m->weight)
        return th_error_no_memory(r->err);
    for (int i = 0; i < n; i++) {
        char *at = th_text_skip(r, "term");
        for (int d = 0; d <= m->n_devices; d++)
            if (!at || th_text_number(&at, &m->weight[(size_t)d * (size_t)n + (size_t)i]))
                return th_text_fail(r);
    }
    for (int d = 0; d <= m->n_devices; d++)
        th_layer_model_complete(m, m->weight + (size_t)d * (size_t)n);
    return 0;
}

/* --- sides ------------------------------------------------------------------------------------ */

/* "-" was not tried. */
static int read_error(char **at, double *out)
{
    *at += strspn(*at, " ");
    if (**at != '-')
        return th_text_number(at, out);
    *out = INFINITY;
    ++*at;
    return 0;
}

static int read_scores(th_text_reader *r, const char *name, th_scores *out)
{
    char word[TH_TERM_NAME_MAX];
    char *at = th_text_skip(r, "scores");
    int length = 0;
    if (!at || sscanf(at, "%31s rows %zu chosen%n", word, &out->n, &length) != 2 || length == 0 ||
        strcmp(word, name) != 0)
        return th_text_fail(r);
    at += length;
    int failed = read_error(&at, &out->chosen);
    for (int l = 0; !failed && l < TH_N_LEARNERS; l++)
        failed = read_error(&at, &out->error[l]);
    return failed ? th_text_fail(r) : 0;
}

static int read_quantiles(th_text_reader *r, th_residual_quantiles *out)
{
    if (th_text_scan(r, 1, "quantiles %d", &out->n_bins))
        return -1;
    if (out->n_bins < 0 || out->n_bins > TH_RESIDUAL_BINS)
        return th_text_fail(r);
    for (int b = 0; b < out->n_bins; b++) {
        double x[3];
        if (th_text_doubles(r, "bin", x, 3))
            return -1;
        /* The prediction lies between them. */
        if (x[1] > 0 || x[2] < 0)
            return th_text_fail(r);
        out->bin[b] = (struct th_residual_bin){x[0], x[1], x[2]};
    }
    return 0;
}

static int read_side(th_text_reader *r, const char *name, const th_layer_model *m,
                     th_validated_ensemble *out)
{
    return read_scores(r, name, &out->scores) || read_quantiles(r, &out->quantiles) ||
                   th_ensemble_read(r, name, m->n_features, &out->ensemble)
               ? -1
               : 0;
}

static int read_families(th_text_reader *r, th_layer_model *m)
{
    int n;
    if (th_text_scan(r, 1, "families %d", &n))
        return -1;
    if (n < 0 || n > TH_FAMILIES_MAX)
        return th_text_fail(r);
    for (int i = 0; i < n; i++) {
        uint64_t family;
        if (th_text_scan(r, 1, "family %" SCNx64, &family))
            return -1;
        if (th_families_add(&m->families, family))
            return th_error_no_memory(r->err);
    }
    return read_quantiles(r, &m->other_families);
}

static int read_scaling(th_text_reader *r, th_scaling *out)
{
    if (th_text_scan(r, 3, "scaled host %lf scale %lf share %lf", &out->host_ms, &out->scale,
                     &out->share))
        return -1;
    return isfinite(out->host_ms) && isfinite(out->scale) && isfinite(out->share) ? 0
                                                                                  : th_text_fail(r);
}

static int read_addend(th_text_reader *r, const th_layer_model *m, th_regressor *out)
{
    int is_law;
    if (th_text_scan(r, 4, "regressor %d %d part %d weight %lf", &out->device, &is_law, &out->part,
                     &out->weight))
        return -1;
    out->is_law = is_law != 0;
    return out->device >= 0 && out->device <= m->n_devices && out->part >= -1 &&
                   out->part < TH_N_TERM_CLASSES && isfinite(out->weight) && out->weight >= 0
               ? 0
               : th_text_fail(r);
}

static int read_sum(th_text_reader *r, const th_layer_model *m, th_calibration_sum *out)
{
    if (th_text_scan(r, 3, "sum host %lf share %lf regressors %d", &out->host_ms, &out->share,
                     &out->n))
        return -1;
    if (!isfinite(out->host_ms) || !isfinite(out->share) || out->n < 0 ||
        out->n > TH_REGRESSORS_MAX)
        return th_text_fail(r);
    for (int i = 0; i < out->n; i++)
        if (read_addend(r, m, &out->regressor[i]))
            return -1;
    return 0;
}

static int read_calibration(th_text_reader *r, const th_layer_model *m, th_calibration *out)
{
    if (th_text_scan(r, 3, "calibration rows %zu gain %lf uncalibrated %lf", &out->n_rows,
                     &out->gain, &out->uncalibrated_share))
        return -1;
    if (!isfinite(out->gain) || out->gain < 0 || !isfinite(out->uncalibrated_share))
        return th_text_fail(r);
    return read_device(r, &out->gpu) || read_scaling(r, &out->scaling) || read_sum(r, m, &out->sum)
               ? -1
               : 0;
}

static int read_calibrations(th_text_reader *r, th_layer_model *m)
{
    int n;
    if (th_text_scan(r, 1, "calibrations %d", &n))
        return -1;
    if (n < 0 || n > DEVICES_MAX)
        return th_text_fail(r);
    m->calibration = th_alloc_zero((size_t)n + 1, sizeof *m->calibration);
    if (!m->calibration)
        return th_error_no_memory(r->err);
    for (; m->n_calibrations < n; m->n_calibrations++)
        if (read_calibration(r, m, &m->calibration[m->n_calibrations]))
            return -1;
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int read_layer(th_text_reader *r, th_layer_model *m)
{
    char kind[TH_TERM_NAME_MAX], phase[TH_TERM_NAME_MAX], width[TH_TERM_NAME_MAX];
    int n_features;
    if (th_text_scan(r, 4, "layer %31s %31s %31s features %d", kind, phase, width, &n_features))
        return -1;
    int k = th_op_kind_find(kind), p = th_phase_find(phase);
    m->is_narrow = strcmp(width, "narrow") == 0;
    if (k < 0 || p < 0 || (!m->is_narrow && strcmp(width, "single") != 0))
        return th_text_fail(r);
    m->kind = (th_op_kind)k;
    m->phase = (th_phase)p;
    th_layer_model_count(m);
    if (n_features != m->n_features)
        return th_text_fail(r);
    return read_devices(r, m) || read_ranges(r, m) || read_weights(r, m) ||
                   read_side(r, "known", m, &m->seen) || read_side(r, "other", m, &m->unseen) ||
                   read_families(r, m) || read_calibrations(r, m)
               ? -1
               : 0;
}

static int check_head(th_text_reader *r)
{
    int version;
    uint64_t digest;
    const char *line = th_text_line(r);
    if (!line || sscanf(line, PREDICTOR_MAGIC " %d", &version) != 1)
        return th_error_set(r->err, "PRED-0081", "%s: must begin with \"%s VERSION\"", r->path,
                            PREDICTOR_MAGIC);
    if (version != PREDICTOR_VERSION)
        return th_error_set(r->err, "PRED-0082", "%s: has version %d: must have %d; train it again",
                            r->path, version, PREDICTOR_VERSION);
    if (sscanf(line, PREDICTOR_MAGIC " %*d digest %" SCNx64, &digest) != 1 || !r->rest ||
        th_hash(r->rest, strlen(r->rest), 0) != digest)
        return th_error_set(
            r->err, "PRED-0083",
            "%s: its digest is not that of its text: was cut short or changed by hand", r->path);
    return 0;
}

static int read_all(th_text_reader *r, th_predictor *p)
{
    int n;
    if (check_head(r) ||
        th_text_scan(r, 3, "trained %" SCNx64 " rows %zu layers %d", &p->digest, &p->n_rows, &n))
        return -1;
    if (n < 1 || n > 2 * TH_N_OP_KINDS * TH_N_PHASES)
        return th_text_fail(r);
    p->model = th_alloc_zero((size_t)n, sizeof *p->model);
    if (!p->model)
        return th_error_no_memory(r->err);
    for (int i = 0; i < n; i++) {
        p->n_models++;
        if (read_layer(r, &p->model[i]))
            return -1;
    }
    return th_text_line(r) ? th_text_fail(r) : 0;
}

th_predictor *th_predictor_read(const char *path, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_predictor *p = th_alloc_zero(1, sizeof *p);
    int failed = p ? th_decompress_file(path, FILE_MAX, &text, err) : th_error_no_memory(err);
    th_text_reader r = {path, text.text, 0, err};
    if (!failed)
        failed = read_all(&r, p);
    th_strbuf_clear(&text);
    if (!failed)
        return p;
    th_predictor_free(p);
    return NULL;
}
