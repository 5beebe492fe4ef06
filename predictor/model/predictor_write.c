/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_write.c - a predictor as text.
 *   th_predictor_write: head -> { layer: devices, ranges, weights, trees } -> digest in front
 * A line is a word and what follows. Numbers have as many digits as bring them back exactly.
 * docs/formats.md has the format. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "predictor/model/predictor.h"
#include "predictor/regress/predictor_text.h"

static void write_error(double x, th_strbuf *out)
{
    if (isfinite(x))
        th_strbuf_printf(out, " %.6g", x);
    else
        th_strbuf_add(out, " -");
}

/* Errors of learners where they were held out: "-" was not tried. */
static void write_scores(const th_scores *s, const char *name, th_strbuf *out)
{
    th_strbuf_printf(out, "scores %s rows %zu chosen", name, s->n);
    write_error(s->chosen, out);
    for (int l = 0; l < TH_N_LEARNERS; l++)
        write_error(s->error[l], out);
    th_strbuf_add(out, "\n");
}

/* Of predictions in ln(ms) up to the first number: a tenth and nine tenths of ln(measured /
 * predicted). */
static void write_quantiles(const th_residual_quantiles *s, th_strbuf *out)
{
    th_strbuf_printf(out, "quantiles %d\n", s->n_bins);
    for (int b = 0; b < s->n_bins; b++)
        th_text_add_doubles("bin", (const double[]){s->bin[b].ln_ms, s->bin[b].low, s->bin[b].high},
                            3, out);
}

static void write_side(const th_validated_ensemble *s, const char *name, th_strbuf *out)
{
    write_scores(&s->scores, name, out);
    write_quantiles(&s->quantiles, out);
    th_ensemble_write(&s->ensemble, name, out);
}

static void write_gpu(const th_gpu *gpu, th_strbuf *out)
{
    th_strbuf_printf(out, "device %s", gpu->name);
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        th_strbuf_printf(out, " %.17g", gpu->x[i]);
    for (int i = 0; i < TH_N_GPU_EXTRAS; i++)
        th_strbuf_printf(out, " %.17g", gpu->extra[i]);
    th_strbuf_add(out, "\n");
}

static void write_calibration(const th_calibration *c, th_strbuf *out)
{
    th_strbuf_printf(out, "calibration rows %zu gain %.17g uncalibrated %.17g\n", c->n_rows,
                     c->gain, c->uncalibrated_share);
    write_gpu(&c->gpu, out);
    th_strbuf_printf(out, "scaled host %.17g scale %.17g share %.17g\n", c->scaling.host_ms,
                     c->scaling.scale, c->scaling.share);
    th_strbuf_printf(out, "sum host %.17g share %.17g regressors %d\n", c->sum.host_ms,
                     c->sum.share, c->sum.n);
    for (int i = 0; i < c->sum.n; i++) {
        const th_regressor *a = &c->sum.regressor[i];
        th_strbuf_printf(out, "regressor %d %d part %d weight %.17g\n", a->device, a->is_law,
                         a->part, a->weight);
    }
}

static void write_devices(const th_layer_model *m, th_strbuf *out)
{
    th_strbuf_printf(out, "devices %d # name", m->n_devices);
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        th_strbuf_printf(out, " %s", th_gpu_number_column((th_gpu_number)i));
    for (int i = 0; i < TH_N_GPU_EXTRAS; i++)
        th_strbuf_printf(out, " %s", th_gpu_extra_column((th_gpu_extra)i));
    th_strbuf_add(out, "\n");
    for (int d = 0; d < m->n_devices; d++)
        write_gpu(&m->device[d], out);
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

static void write_weights(const th_layer_model *m, th_strbuf *out)
{
    char names[TH_TERMS_MAX][TH_TERM_NAME_MAX];
    name_terms(m, names);
    th_strbuf_printf(out,
                     "terms %d # weights by device, then of any: 1 / efficiency; calls in ms\n",
                     m->n_terms);
    for (int i = 0; i < m->n_terms; i++) {
        th_strbuf_add(out, "term");
        for (int d = 0; d <= m->n_devices; d++)
            th_strbuf_printf(out, " %.17g", m->weight[(size_t)d * (size_t)m->n_terms + (size_t)i]);
        th_strbuf_printf(out, " # %s\n", names[i]);
    }
}

/* Of the training data, and what was off on others. */
static void write_families(const th_layer_model *m, th_strbuf *out)
{
    th_strbuf_printf(out, "families %d\n", m->families.n);
    for (int i = 0; i < m->families.n; i++)
        th_strbuf_printf(out, "family %016" PRIx64 "\n", m->families.of[i]);
    write_quantiles(&m->other_families, out);
}

static void write_layer(const th_layer_model *m, th_strbuf *out)
{
    th_strbuf_printf(out, "layer %s %s %s features %d\n", th_op_kind_name(m->kind),
                     th_phase_name(m->phase), m->is_narrow ? "narrow" : "single", m->n_features);
    write_devices(m, out);
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        th_strbuf_printf(out, "range %s %d %d\n", th_op_field_name((th_op_field)f), m->field_min[f],
                         m->field_max[f]);
    write_weights(m, out);
    write_side(&m->seen, "known", out);
    write_side(&m->unseen, "other", out);
    write_families(m, out);
    th_strbuf_printf(out, "calibrations %d\n", m->n_calibrations);
    for (int i = 0; i < m->n_calibrations; i++)
        write_calibration(&m->calibration[i], out);
}

void th_predictor_write(const th_predictor *p, th_strbuf *out)
{
    th_strbuf body = TH_STRBUF_INIT;
    th_strbuf_printf(&body, "trained %016" PRIx64 " rows %zu layers %d # times in ms\n", p->digest,
                     p->n_rows, p->n_models);
    for (int i = 0; i < p->n_models; i++)
        write_layer(&p->model[i], &body);
    if (body.failed) {
        out->failed = true;
    } else {
        th_strbuf_printf(out, PREDICTOR_MAGIC " %d digest %016" PRIx64 "\n", PREDICTOR_VERSION,
                         th_hash(body.text, body.length, 0));
        th_strbuf_add(out, body.text);
    }
    th_strbuf_clear(&body);
}
