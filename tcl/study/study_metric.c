/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_metric.c - see study_metric.h. */
#include <config.h>
#include "tcl/study/study_metric.h"
#include "base/names.h"
#include <stdio.h>
#include <string.h>
#include "report/table/report.h"
#include "report/session/model_error.h"
#include "report/session/saved_run.h"

typedef enum {
    LATENCY,
    MAKESPAN,
    THROUGHPUT,
    BATCH_THROUGHPUT,
    LINK_UTILIZATION,
    ACCEL_UTILIZATION,
    MOVED,
    ENERGY,
    MODEL_ERROR, /* of its models, the largest that is known */
    N_METRICS
} run_metric;

static const struct {
    const char *name;
    th_kind kind;
} metrics[N_METRICS] = {
    [LATENCY] = {"latency", TH_KIND_TIME},
    [MAKESPAN] = {"makespan", TH_KIND_TIME},
    [THROUGHPUT] = {"throughput", TH_KIND_RATE},
    [BATCH_THROUGHPUT] = {"batch_throughput", TH_KIND_RATE},
    [LINK_UTILIZATION] = {"link_utilization", TH_KIND_SHARE},
    [ACCEL_UTILIZATION] = {"accel_utilization", TH_KIND_SHARE},
    [MOVED] = {"moved", TH_KIND_BYTES},
    [ENERGY] = {"energy", TH_KIND_ENERGY},
    [MODEL_ERROR] = {"model_error", TH_KIND_SHARE},
};

static const char *const kinds[] = {
    [TH_KIND_TEXT] = "text",     [TH_KIND_COUNT] = "count",         [TH_KIND_TIME] = "time",
    [TH_KIND_BYTES] = "bytes",   [TH_KIND_BANDWIDTH] = "bandwidth", [TH_KIND_SHARE] = "share",
    [TH_KIND_CHANGE] = "change", [TH_KIND_RATE] = "rate",           [TH_KIND_MEAN] = "mean",
    [TH_KIND_NUMBER] = "number", [TH_KIND_ENERGY] = "energy",       NULL,
};

/* ---- definitions ---- */

static int metric_number(const char *name)
{
    for (int i = 0; i < N_METRICS; i++)
        if (strcmp(metrics[i].name, name) == 0)
            return i;
    return -1;
}

const char *th_study_metric_name(int i)
{
    return i < N_METRICS ? metrics[i].name : NULL;
}

static int unknown_metric(const char *name, th_error *err)
{
    const char *names[N_METRICS + 1] = {NULL};
    th_error e;
    for (int i = 0; i < N_METRICS; i++)
        names[i] = metrics[i].name;
    th_error_unknown(&e, "STUDY-0040", "-metrics", name, names);
    return th_error_set(err, e.id, "%s; or {NAME KIND}, which the script returns", e.text);
}

th_kind th_study_kind(const char *name)
{
    for (int k = 0; kinds[k]; k++)
        if (strcmp(kinds[k], name) == 0)
            return (th_kind)k;
    return TH_KIND_TEXT;
}

static int find_kind(const char *name, th_kind *out, th_error *err)
{
    *out = th_study_kind(name);
    if (strcmp(kinds[*out], name) == 0)
        return 0;
    return th_error_unknown(err, "STUDY-0041", "-metrics: kind", name, kinds);
}

int th_study_metric_add(th_study *s, const char *name, const char *own_kind, th_error *err)
{
    char column[160];
    int number = metric_number(name);
    th_kind kind = number >= 0 ? metrics[number].kind : TH_KIND_TEXT;
    if (!own_kind && number < 0)
        return unknown_metric(name, err);
    if (own_kind && number >= 0)
        return th_error_set(err, "STUDY-0042",
                            "-metrics: \"%s\" is a figure of the run: what the script returns must "
                            "have another name",
                            name);
    if (own_kind && find_kind(own_kind, &kind, err) != 0)
        return -1;
    snprintf(column, sizeof column, "%.120s%s", name, th_kind_suffix(kind, name));
    th_study_metric m = {.name = name, .kind = kinds[kind], .column = column, .is_own = own_kind};
    m.type = kind == TH_KIND_TEXT    ? TH_FIGURE_TEXT
             : th_kind_is_real(kind) ? TH_FIGURE_REAL
                                     : TH_FIGURE_INTEGER;
    return th_study_add_metric(s, &m, err);
}

/* ---- figures ---- */

/* As CSV and JSON have it: shares are percent. */
static double factor_of(th_kind kind)
{
    return kind == TH_KIND_SHARE || kind == TH_KIND_CHANGE ? 100 : 1;
}

th_figure th_study_figure(const th_quantity *q)
{
    return (th_figure){.is_absent = q->is_absent,
                       .whole = q->whole,
                       .real = q->real * factor_of(q->kind),
                       .text = q->text};
}

th_quantity th_study_quantity(const th_study_metric *m, const th_figure *f)
{
    th_kind kind = th_study_kind(m->kind);
    return (th_quantity){.kind = kind,
                         .is_absent = f->is_absent,
                         .whole = f->whole,
                         .real = f->real / factor_of(kind),
                         .text = f->text};
}

int th_study_metric_ask(th_session *s, const th_study_metric *m, th_quantity *out, th_error *err)
{
    static const char name[] = "point of a study";
    if (th_session_need_run(s, err) != 0)
        return -1;
    if (!th_machine_is_done(s->simulation->machine))
        return th_error_set(err, "STUDY-0043", "the run is not done: run first");
    const th_saved_run *r =
        th_saved_run_add(s, name, err) == 0 ? th_saved_run_find(s, name, err) : NULL;
    if (!r)
        return -1;
    bool computes = !r->program; /* a hand-built program does not */
    switch ((run_metric)metric_number(m->name)) {
    case LATENCY:
        *out = th_ps(r->latency_ps);
        break;
    case MAKESPAN:
        *out = th_ps(r->makespan_ps);
        break;
    case THROUGHPUT:
        *out = computes ? th_rate(r->throughput_per_s) : th_absent(TH_KIND_RATE);
        break;
    case BATCH_THROUGHPUT:
        *out = computes ? th_rate(r->batch_throughput_per_s) : th_absent(TH_KIND_RATE);
        break;
    case LINK_UTILIZATION:
        *out = th_share(r->link_utilization);
        break;
    case ACCEL_UTILIZATION:
        *out = computes ? th_share(r->accel_utilization) : th_absent(TH_KIND_SHARE);
        break;
    case MOVED:
        *out = th_bytes(r->network_bytes);
        break;
    case ENERGY:
        *out = r->has_energy ? th_joules(r->energy_j) : th_absent(TH_KIND_ENERGY);
        break;
    case MODEL_ERROR:
        *out = th_models_error(r->models) > 0 ? th_share(th_models_error(r->models) / 100)
                                              : th_absent(TH_KIND_SHARE);
        break;
    case N_METRICS:
        break;
    }
    return 0;
}
