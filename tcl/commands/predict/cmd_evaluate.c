/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_evaluate.c - evaluate_predictor: errors of predicted times against measured ones.
 *   run_evaluate -> (report_learners | rows -> draw_parity -> report_accuracy | report_groups) */
#include <config.h>
#include <math.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "predictor/model/predictor.h"
#include "session/gpu_models.h"
#include "render/plot/plots.h"
#include "tcl/report_call.h"
#include "session/sections/sections.h"

enum {
    EVALUATE_ON = REPORT_N_OPTIONS,
    EVALUATE_HELD_OUT,
    EVALUATE_PLOT,
    EVALUATE_GROUPS,
    EVALUATE_LEARNERS
};

static const th_option evaluate_options[] = {
    TABLE_OPTIONS,
    [EVALUATE_ON] = {"-on", TH_OPTION_TEXT, "NAME", "Set of measurements (measurements)."},
    [EVALUATE_HELD_OUT] =
        {"-held_out", TH_OPTION_FLAG, NULL,
         "Only rows and devices held out of training (on the same measurements)."},
    [EVALUATE_PLOT] = {"-plot", TH_OPTION_TEXT, "FILE",
                       "Also draws predicted against measured times, a colour per device, with a "
                       "band of 10 %; FILE as for write_plot."},
    [EVALUATE_GROUPS] =
        {"-groups", TH_OPTION_FLAG, NULL,
         "Instead, sums over the rows of each group (a network and its batch) and device."},
    [EVALUATE_LEARNERS] = {"-learners", TH_OPTION_FLAG, NULL,
                           "Instead, the error of each learner in cross-validation, and its "
                           "weight; needs no measurements."},
    {.name = NULL},
};

static const th_column accuracy_columns[] = {
    {"kind", "kind", TH_KIND_TEXT},
    {"phase", "phase", TH_KIND_TEXT},
    {"device", "device", TH_KIND_TEXT},
    {"seen", "seen in training", TH_KIND_TEXT},
    {"rows", "rows", TH_KIND_COUNT},
    {"mean_error", "mean error", TH_KIND_SHARE},
    {"median_error", "median", TH_KIND_SHARE},
    {"p95_error", "95th percentile", TH_KIND_SHARE},
    {"rmse", "root mean square", TH_KIND_TIME},
    {"r2", "R2", TH_KIND_NUMBER},
    {"inside", "in interval", TH_KIND_SHARE},
    {NULL, NULL, TH_KIND_TEXT},
};

static void add_accuracy(th_table *t, const th_predictor *p, const th_measurements *m,
                         const th_accuracy *a)
{
    static const double PS_PER_MS = 1e9;
    const th_op of = {.kind = a->kind,
                      .x[TH_OP_PRECISION] = a->is_narrow ? TH_PRECISION_FP16 : TH_PRECISION_FP32};
    const th_layer_model *model = th_predictor_find_op(p, &of, a->phase);
    const th_gpu *gpu = a->device >= 0 ? &m->device[a->device] : NULL;
    th_table_row(t, (th_quantity[]){
                        th_text(th_op_kind_title(a->kind, a->is_narrow)),
                        th_text(th_phase_name(a->phase)),
                        th_text(gpu ? gpu->name : "mean"),
                        th_text(!gpu                                  ? NULL
                                : th_layer_model_has_seen(model, gpu) ? "yes"
                                                                      : "no"),
                        th_count((int64_t)a->n),
                        th_share(a->mape),
                        th_share(a->median),
                        th_share(a->p95),
                        th_ps((th_time)llround(a->rmse_ms * PS_PER_MS)),
                        isnan(a->r2) ? th_absent(TH_KIND_NUMBER) : th_number(a->r2),
                        th_share(a->inside),
                    });
}

static int report_accuracy(th_call *c, const th_predictor *p, const th_measurements *m,
                           const size_t *rows, size_t n)
{
    th_accuracy *lines = NULL;
    int n_lines = th_predictor_evaluate(p, m, rows, n, &lines, &c->err);
    if (n_lines < 0)
        return -1;
    th_report *r = n_lines > 0 ? th_report_new("accuracy", "Accuracy of predictions") : NULL;
    if (n_lines == 0)
        th_error_set(&c->err, "TCL-0322",
                     "measurements: must have rows of a kind and phase of the predictor");
    else if (!r)
        th_error_no_memory(&c->err);
    if (r) {
        th_table *t = th_report_table(r, "accuracy", "By device", accuracy_columns);
        th_table_note(t, "seen", "in training: were rows of this device trained on?");
        th_table_note(t, "mean_error median_error p95_error",
                      "mean error, median, 95th percentile: of |predicted / measured - 1|");
        th_table_note(t, "inside",
                      "in interval: share of rows between the 10th and the 90th percentile that "
                      "predict_layer -interval tells (80 % are expected)");
        for (int i = 0; i < n_lines; i++)
            add_accuracy(t, p, m, &lines[i]);
    }
    th_free(lines);
    return r ? th_report_finish(c, r, 0, r->first) : -1;
}

/* ---- groups ---- */

typedef struct {
    double measured_ms, predicted_ms;
    int64_t n;
} group_sum;

/* Rows that p has a model for, by group and device. */
static void sum_groups(const th_predictor *p, const th_measurements *m, const size_t *rows,
                       size_t n, group_sum *sums)
{
    for (size_t i = 0; i < n; i++) {
        const th_measurement *r = &m->row[rows[i]];
        const th_layer_model *model = th_predictor_find_op(p, &r->op, r->phase);
        if (r->group < 0 || !model)
            continue;
        group_sum *sum = &sums[r->group * m->n_devices + r->device];
        sum->measured_ms += r->ms;
        sum->predicted_ms += th_layer_model_estimate_row(model, m, r).ms;
        sum->n++;
    }
}

static void add_groups(th_table *t, const th_measurements *m, const group_sum *sums)
{
    static const double PS_PER_MS = 1e9;
    for (int32_t g = 0; g < m->n_groups; g++)
        for (int32_t d = 0; d < m->n_devices; d++) {
            const group_sum *sum = &sums[g * m->n_devices + d];
            if (sum->n > 0)
                th_table_row(t, (th_quantity[]){
                                    th_text(m->group[g]), th_text(m->device[d].name),
                                    th_count(sum->n), th_ps(llround(sum->measured_ms * PS_PER_MS)),
                                    th_ps(llround(sum->predicted_ms * PS_PER_MS)),
                                    th_change(sum->predicted_ms / sum->measured_ms - 1)});
        }
}

static int report_groups(th_call *c, const th_predictor *p, const th_measurements *m,
                         const size_t *rows, size_t n)
{
    static const th_column columns[] = {
        {"group", "group", TH_KIND_TEXT},
        {"device", "device", TH_KIND_TEXT},
        {"rows", "rows", TH_KIND_COUNT},
        {"measured", "measured", TH_KIND_TIME},
        {"predicted", "predicted", TH_KIND_TIME},
        {"error", "error", TH_KIND_CHANGE},
        {NULL, NULL, TH_KIND_TEXT},
    };
    if (m->n_groups == 0)
        return th_error_set(&c->err, "TCL-0386",
                            "-groups: measurements: must have a column of groups");
    group_sum *sums = th_alloc_zero((size_t)m->n_groups * (size_t)m->n_devices, sizeof *sums);
    th_report *r = sums ? th_report_new("groups", "Predicted sums of layers") : NULL;
    if (!r) {
        th_free(sums);
        return th_error_no_memory(&c->err);
    }
    sum_groups(p, m, rows, n, sums);
    th_table *t = th_report_table(r, "groups", "By group and device", columns);
    add_groups(t, m, sums);
    th_free(sums);
    return th_report_finish(c, r, 0, t);
}

/* ---- the command ---- */

static int report_learners(th_call *c)
{
    th_report *r = th_report_new("learners", "Learners of the predictor");
    if (!r)
        return th_error_no_memory(&c->err);
    int failed = th_section_learners(c->session, r, &c->err);
    return th_report_finish(c, r, failed, r->first);
}

static int draw_parity(th_call *c, const th_predictor *p, const th_measurements *m,
                       const size_t *rows, size_t n)
{
    const char *path = th_call_text(c, EVALUATE_PLOT, NULL);
    if (!path)
        return 0;
    if (th_picture_find(path, &c->err) < 0)
        return th_call_prefix_error(c, "-plot", &c->err);
    return th_write_plot(c->session, th_plot_of_predictor(p, m, rows, n, &c->err), path, &c->err);
}

static int run_evaluate(th_call *c)
{
    const th_gpu_models *l = c->session->gpu_models;
    const th_predictor *p = th_gpu_models_predictor(l, &c->err);
    if (p && th_call_has(c, EVALUATE_LEARNERS))
        return report_learners(c);
    const th_measurements *m =
        p ? th_gpu_models_measurements(c->session->gpu_models,
                                       th_call_text(c, EVALUATE_ON, "measurements"), false, &c->err)
          : NULL;
    bool held_out = th_call_has(c, EVALUATE_HELD_OUT);
    size_t n;
    if (!m)
        return -1;
    if (held_out && l->held_out.percent == 0 && !l->held_out.devices)
        return th_error_set(&c->err, "TCL-0323",
                            "-held_out: train_predictor must have held out rows");
    static const th_held_out nothing = {.percent = 0};
    size_t *rows = th_held_out_rows(held_out ? &l->held_out : &nothing, m, held_out, &n);
    if (!rows)
        return th_error_no_memory(&c->err);
    int failed = draw_parity(c, p, m, rows, n);
    if (!failed)
        failed = th_call_has(c, EVALUATE_GROUPS) ? report_groups(c, p, m, rows, n)
                                                 : report_accuracy(c, p, m, rows, n);
    th_free(rows);
    return failed;
}

const th_command th_evaluate_commands[] = {
    {"evaluate_predictor", "predict", "", 0, 0, evaluate_options,
     "print the errors of predictions against measurements",
     "Errors are |predicted / measured - 1|, by kind, phase and device.", .run = run_evaluate,
     .is_report = true},
    {.name = NULL},
};
