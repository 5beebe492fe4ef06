/* SPDX-License-Identifier: GPL-3.0-or-later */
/* of_predictor.c - the parity plot of predictions: a point per measurement, a colour per device. */
#include <config.h>
#include "base/alloc.h"
#include "render/plot/plots.h"

enum { POINTS_MAX = 800 }; /* points of a device; more are thinned out evenly */
static const double BAND = 0.1;

static bool is_of(const th_measurement *r, int32_t device, const th_predictor *p)
{
    return r->device == device && th_predictor_find_op(p, &r->op, r->phase);
}

/* The rows that are plotted, and the predictor. */
typedef struct rows_of {
    const th_predictor *predictor;
    const th_measurements *measurements;
    const size_t *rows;
    size_t n;
} rows_of;

/* The number of rows of a device that have a model. */
static size_t count(const rows_of *x, int32_t device)
{
    size_t found = 0;
    for (size_t i = 0; i < x->n; i++)
        found += is_of(&x->measurements->row[x->rows[i]], device, x->predictor);
    return found;
}

/* Every step-th of the rows of a device that have a model, as a series. */
static void add_device(th_plot *plot, const rows_of *x, int32_t device, size_t step)
{
    const th_gpu *gpu = &x->measurements->device[device];
    size_t seen = 0;
    th_plot_series_begin(plot, gpu->name, TH_JOIN_NONE);
    for (size_t i = 0; i < x->n; i++) {
        const th_measurement *r = &x->measurements->row[x->rows[i]];
        if (!is_of(r, device, x->predictor) || seen++ % step != 0)
            continue;
        const th_layer_model *model = th_predictor_find_op(x->predictor, &r->op, r->phase);
        th_plot_point_add(plot, r->ms, th_layer_model_estimate_row(model, x->measurements, r).ms,
                          NULL);
    }
}

th_plot *th_plot_of_predictor(const th_predictor *p, const th_measurements *m, const size_t *rows,
                              size_t n, th_error *err)
{
    th_plot *plot = th_plot_new(TH_PLOT_PARITY);
    const rows_of x = {p, m, rows, n};
    size_t largest = 0;
    if (!plot) {
        th_error_no_memory(err);
        return NULL;
    }
    for (int32_t d = 0; d < m->n_devices; d++) {
        size_t found = count(&x, d);
        largest = found > largest ? found : largest;
    }
    size_t step = largest > 0 ? (largest + POINTS_MAX - 1) / POINTS_MAX : 1;
    for (int32_t d = 0; d < m->n_devices; d++)
        if (count(&x, d) > 0)
            add_device(plot, &x, d, step);
    if (largest == 0 && !plot->failed) {
        th_error_set(err, "TCL-0385",
                     "there is nothing to draw: no row is of a kind and phase of the predictor");
        th_plot_free(plot);
        return NULL;
    }
    plot->x = (th_plot_axis){"measured [ms]", true};
    plot->y = (th_plot_axis){"predicted [ms]", true};
    plot->band = BAND;
    plot->title = "Predicted over measured times of layers [ms]";
    if (step > 1)
        plot->title = th_plot_text(plot, "%s, one of %zu shown", plot->title, step);
    return plot;
}
