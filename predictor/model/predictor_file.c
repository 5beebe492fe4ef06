/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_file.c - a predictor as text, and from it. docs/formats.md has the format.
 *   th_predictor_write: body -> digest in front
 *   th_predictor_read: unpack -> check_head (version, digest) -> body
 *   body: { layer: devices, ranges, weights, sides: scores, quantiles, ensemble; families,
 *   calibrations }, each of which writes or reads (regress/predictor_text.h)
 * The digest detects accidental changes; what is read becomes an index only after a check. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "predictor/model/predictor.h"
#include "predictor/regress/predictor_text.h"
#include "predictor/data/decompress.h"

enum { FILE_MAX = 64 << 20, DEVICES_MAX = 1000 };

static int device(th_text_io *io, th_gpu *gpu)
{
    _Static_assert((int)TH_GPU_NAME_MAX == (int)TH_TEXT_WORD_MAX, "a name is a word");
    int failed = th_text_open(io, "device %s", gpu->name);
    for (int i = 0; !failed && i < TH_N_GPU_NUMBERS; i++)
        failed = th_text_more(io, " %f", &gpu->x[i]) || th_text_check(io, gpu->x[i] > 0);
    for (int i = 0; !failed && i < TH_N_GPU_EXTRAS; i++)
        failed = th_text_more(io, " %f", &gpu->extra[i]) || th_text_check(io, gpu->extra[i] >= 0);
    return failed || th_text_close(io, NULL) ? -1 : 0;
}

static int devices(th_text_io *io, th_layer_model *m)
{
    th_strbuf columns = TH_STRBUF_INIT;
    th_strbuf_add(&columns, "name");
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        th_strbuf_printf(&columns, " %s", th_gpu_number_column((th_gpu_number)i));
    for (int i = 0; i < TH_N_GPU_EXTRAS; i++)
        th_strbuf_printf(&columns, " %s", th_gpu_extra_column((th_gpu_extra)i));
    int n = m->n_devices;
    int failed = th_text_open(io, "devices %d", &n) || th_text_close(io, columns.text) ||
                 th_text_check(io, n >= 1 && n <= DEVICES_MAX);
    th_strbuf_clear(&columns);
    if (failed)
        return -1;
    if (!io->out && !(m->device = th_alloc_zero((size_t)n, sizeof *m->device)))
        return th_error_no_memory(io->err);
    m->n_devices = n;
    for (int d = 0; d < n; d++)
        if (device(io, &m->device[d]))
            return -1;
    return 0;
}

/* Of the numbers that the kind has. */
static int ranges(th_text_io *io, th_layer_model *m)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        if (th_op_has(m->kind, (th_op_field)f) &&
            (th_text_open(io, "range ") || th_text_more(io, th_op_field_name((th_op_field)f)) ||
             th_text_more(io, " %d %d", &m->field_min[f], &m->field_max[f]) ||
             th_text_close(io, NULL)))
            return -1;
    return 0;
}

/* The names of the law's terms, in their order. */
static void name_terms(const th_layer_model *m, char (*names)[TH_TERM_NAME_MAX])
{
    th_op op = {.kind = m->kind};
    th_terms terms;
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        op.x[f] = 1;
    op.x[TH_OP_PRECISION] = m->is_narrow ? TH_PRECISION_FP16 : TH_PRECISION_FP32;
    th_law_terms(&op, m->phase, &m->device[0], names, &terms);
}

static int weights(th_text_io *io, th_layer_model *m)
{
    static const char remark[] = "weights by device, then of any: 1 / efficiency; calls in ms";
    char names[TH_TERMS_MAX][TH_TERM_NAME_MAX];
    int n = m->n_terms;
    if (th_text_open(io, "terms %d", &n) || th_text_close(io, remark) ||
        th_text_check(io, n == m->n_terms))
        return -1;
    size_t all = (size_t)(m->n_devices + 1) * (size_t)n;
    if (!io->out && !(m->weight = th_alloc_zero(all + 1, sizeof *m->weight)))
        return th_error_no_memory(io->err);
    name_terms(m, names);
    for (int i = 0; i < n; i++) {
        int failed = th_text_open(io, "term");
        for (size_t k = (size_t)i; !failed && k < all; k += (size_t)n)
            failed = th_text_more(io, " %f", &m->weight[k]);
        if (failed || th_text_close(io, names[i]))
            return -1;
    }
    for (int d = 0; !io->out && d <= m->n_devices; d++)
        th_layer_model_complete(m, m->weight + (size_t)d * (size_t)n);
    return 0;
}

/* --- sides ------------------------------------------------------------------------------------ */

/* Errors of learners where they were held out; "-" was not tried. */
static int scores(th_text_io *io, const char *name, th_scores *s)
{
    int failed = th_text_open(io, "scores ") || th_text_more(io, name) ||
                 th_text_more(io, " rows %z chosen %e", &s->n, &s->chosen);
    for (int l = 0; !failed && l < TH_N_LEARNERS; l++)
        failed = th_text_more(io, " %e", &s->error[l]);
    return failed || th_text_close(io, NULL) ? -1 : 0;
}

/* Of predictions in ln(ms) up to the first number: a tenth and nine tenths of ln(measured /
 * predicted), between which the prediction lies. */
static int quantiles(th_text_io *io, th_residual_quantiles *q)
{
    if (th_text_line(io, "quantiles %d", &q->n_bins) ||
        th_text_check(io, q->n_bins >= 0 && q->n_bins <= TH_RESIDUAL_BINS))
        return -1;
    for (int b = 0; b < q->n_bins; b++) {
        struct th_residual_bin *bin = &q->bin[b];
        if (th_text_line(io, "bin %f %f %f", &bin->ln_ms, &bin->low, &bin->high) ||
            th_text_check(io, bin->low <= 0 && bin->high >= 0))
            return -1;
    }
    return 0;
}

static int side(th_text_io *io, const char *name, const th_layer_model *m, th_validated_ensemble *s)
{
    return scores(io, name, &s->scores) || quantiles(io, &s->quantiles) ||
                   th_ensemble_text(io, name, m->n_features, &s->ensemble)
               ? -1
               : 0;
}

/* Of the training data, and what was off on others. */
static int families(th_text_io *io, th_layer_model *m)
{
    int n = m->families.n;
    if (th_text_line(io, "families %d", &n) || th_text_check(io, n >= 0 && n <= TH_FAMILIES_MAX))
        return -1;
    for (int i = 0; i < n; i++) {
        uint64_t family = io->out ? m->families.of[i] : 0;
        if (th_text_line(io, "family %x", &family))
            return -1;
        if (!io->out && th_families_add(&m->families, family))
            return th_error_no_memory(io->err);
    }
    return quantiles(io, &m->other_families);
}

/* --- calibrations ----------------------------------------------------------------------------- */

static int regressor(th_text_io *io, const th_layer_model *m, th_regressor *r)
{
    int is_law = r->is_law;
    if (th_text_line(io, "regressor %d %d part %d weight %f", &r->device, &is_law, &r->part,
                     &r->weight))
        return -1;
    r->is_law = is_law != 0;
    return th_text_check(io, r->device >= 0 && r->device <= m->n_devices && r->part >= -1 &&
                                 r->part < TH_N_TERM_CLASSES && r->weight >= 0);
}

static int calibration(th_text_io *io, const th_layer_model *m, th_calibration *c)
{
    th_scaling *x = &c->scaling;
    th_calibration_sum *s = &c->sum;
    if (th_text_line(io, "calibration rows %z gain %f uncalibrated %f", &c->n_rows, &c->gain,
                     &c->uncalibrated_share) ||
        th_text_check(io, c->gain >= 0) || device(io, &c->gpu) ||
        th_text_line(io, "scaled host %f scale %f share %f", &x->host_ms, &x->scale, &x->share) ||
        th_text_line(io, "sum host %f share %f regressors %d", &s->host_ms, &s->share, &s->n) ||
        th_text_check(io, s->n >= 0 && s->n <= TH_REGRESSORS_MAX))
        return -1;
    for (int i = 0; i < s->n; i++)
        if (regressor(io, m, &s->regressor[i]))
            return -1;
    return 0;
}

static int calibrations(th_text_io *io, th_layer_model *m)
{
    int n = m->n_calibrations;
    if (th_text_line(io, "calibrations %d", &n) || th_text_check(io, n >= 0 && n <= DEVICES_MAX))
        return -1;
    if (!io->out && !(m->calibration = th_alloc_zero((size_t)n + 1, sizeof *m->calibration)))
        return th_error_no_memory(io->err);
    m->n_calibrations = n;
    for (int i = 0; i < n; i++)
        if (calibration(io, m, &m->calibration[i]))
            return -1;
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int layer_head(th_text_io *io, th_layer_model *m)
{
    char kind[TH_TEXT_WORD_MAX], phase[TH_TEXT_WORD_MAX], width[TH_TEXT_WORD_MAX];
    int n_features = m->n_features;
    snprintf(kind, sizeof kind, "%s", th_op_kind_name(m->kind));
    snprintf(phase, sizeof phase, "%s", th_phase_name(m->phase));
    snprintf(width, sizeof width, "%s", m->is_narrow ? "narrow" : "single");
    if (th_text_line(io, "layer %s %s %s features %d", kind, phase, width, &n_features))
        return -1;
    int k = th_op_kind_find(kind), p = th_phase_find(phase);
    bool is_narrow = strcmp(width, "narrow") == 0;
    if (k < 0 || p < 0 || (!is_narrow && strcmp(width, "single") != 0))
        return th_text_fail(io);
    if (!io->out) {
        *m = (th_layer_model){.kind = (th_op_kind)k, .phase = (th_phase)p, .is_narrow = is_narrow};
        th_layer_model_count(m);
    }
    return th_text_check(io, n_features == m->n_features);
}

static int layer(th_text_io *io, th_layer_model *m)
{
    return layer_head(io, m) || devices(io, m) || ranges(io, m) || weights(io, m) ||
                   side(io, "known", m, &m->seen) || side(io, "other", m, &m->unseen) ||
                   families(io, m) || calibrations(io, m)
               ? -1
               : 0;
}

static int body(th_text_io *io, th_predictor *p)
{
    int n = p->n_models;
    if (th_text_open(io, "trained %x rows %z layers %d", &p->digest, &p->n_rows, &n) ||
        th_text_close(io, "times in ms") ||
        th_text_check(io, n >= 1 && n <= 2 * TH_N_OP_KINDS * TH_N_PHASES))
        return -1;
    if (!io->out && !(p->model = th_alloc_zero((size_t)n, sizeof *p->model)))
        return th_error_no_memory(io->err);
    p->n_models = n;
    for (int i = 0; i < n; i++)
        if (layer(io, &p->model[i]))
            return -1;
    return 0;
}

void th_predictor_write(const th_predictor *p, th_strbuf *out)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_text_io io = {.path = "", .out = &text};
    if (body(&io, (th_predictor *)p) || text.failed) { /* which writing does not change */
        out->failed = true;
    } else {
        th_strbuf_printf(out, PREDICTOR_MAGIC " %d digest %016" PRIx64 "\n", PREDICTOR_VERSION,
                         th_hash(text.text, text.length, 0));
        th_strbuf_add(out, text.text);
    }
    th_strbuf_clear(&text);
}

static int check_head(th_text_io *io)
{
    int version;
    uint64_t digest;
    const char *line = th_text_next(io);
    if (!line || sscanf(line, PREDICTOR_MAGIC " %d", &version) != 1)
        return th_error_set(io->err, "PRED-0081", "%s: must begin with \"%s VERSION\"", io->path,
                            PREDICTOR_MAGIC);
    if (version != PREDICTOR_VERSION)
        return th_error_set(io->err, "PRED-0082",
                            "%s: has version %d: must have %d; train it again", io->path, version,
                            PREDICTOR_VERSION);
    if (sscanf(line, PREDICTOR_MAGIC " %*d digest %" SCNx64, &digest) != 1 || !io->rest ||
        th_hash(io->rest, strlen(io->rest), 0) != digest)
        return th_error_set(
            io->err, "PRED-0083",
            "%s: its digest is not that of its text: was cut short or changed by hand", io->path);
    return 0;
}

th_predictor *th_predictor_read(const char *path, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_predictor *p = th_alloc_zero(1, sizeof *p);
    int failed = p ? th_decompress_file(path, FILE_MAX, &text, err) : th_error_no_memory(err);
    th_text_io io = {.path = path, .rest = text.text, .err = err};
    if (!failed)
        failed = check_head(&io) || body(&io, p) || (th_text_next(&io) && th_text_fail(&io));
    th_strbuf_clear(&text);
    if (!failed)
        return p;
    th_predictor_free(p);
    return NULL;
}
