/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_run_figures.c - classes of figures of saved runs: the runs, their property events, and
 * their layers, accelerators and links. */
#include <config.h>
#include <string.h>
#include "report/objects/figures.h"
#include "report/session/property_event_list.h"
#include "report/session/saved_figures.h"

static int need_nothing(th_session *s, th_error *err)
{
    (void)s;
    (void)err;
    return 0;
}

/* ---- runs ---- */

static const th_attribute run_attributes[] = {
    {"name", TH_KIND_TEXT, "name of the saved run", .heading = "run"},
    {"system", TH_KIND_TEXT, "name of the system"},
    {"system_digest", TH_KIND_TEXT, "of the content of the system"},
    {"workload", TH_KIND_TEXT, "name of the workload"},
    {"workload_digest", TH_KIND_TEXT, "of the content of the workload"},
    {"program", TH_KIND_TEXT, "name of the hand-built program"},
    {"batch", TH_KIND_COUNT, "of the workload"},
    {"mapping", TH_KIND_TEXT, "digest of the mapping, or of the program"},
    {"algorithm", TH_KIND_TEXT, "search that found the mapping"},
    {"seed", TH_KIND_COUNT, "of that search"},
    {"network", TH_KIND_TEXT, "model of the network"},
    {"inputs", TH_KIND_COUNT, "inputs of the stream"},
    {"stream", TH_KIND_TEXT, "its inputs, their interval in ps, micro-batches, and inputs at once"},
    {"latency", TH_KIND_TIME, "mean time from the arrival of an input to its end"},
    {"makespan", TH_KIND_TIME, "time from the start to the end of the run"},
    {"throughput", TH_KIND_RATE, "samples per second in the steady state"},
    {"batch_throughput", TH_KIND_RATE, "batches per second in the steady state"},
    {"link_utilization", TH_KIND_SHARE, "busy / elapsed, mean over links that carried something"},
    {"accel_utilization", TH_KIND_SHARE, "busy / elapsed, mean over all accelerators"},
    {"moved", TH_KIND_BYTES, "moved over the network"},
    {"energy", TH_KIND_ENERGY, "energy of the run"},
    {"samples", TH_KIND_COUNT, "of an input"},
    {.name = NULL},
};

static int32_t count_runs(const th_session *s)
{
    return (int32_t)s->saved.n;
}

static void run_row(th_session *s, int32_t row, th_quantity *cells)
{
    const th_saved_run *x = s->saved.all[row];
    bool is_mapped = !x->program;
    const th_stream *stream = &x->stream;
    th_strbuf_clear(&s->text.scratch);
    th_strbuf_printf(&s->text.scratch, "%d %lld %d %d", (int)stream->n_inputs,
                     (long long)stream->interval_ps, (int)stream->micro_batches,
                     (int)stream->in_flight);
    const th_quantity all[] = {
        th_text(x->name),
        th_text(x->system),
        th_text(x->figures->system),
        th_text(x->workload),
        th_text(x->figures->workload),
        th_text(x->program),
        x->workload ? th_count(x->batch) : th_absent(TH_KIND_COUNT),
        th_text(x->mapping),
        th_text(x->algorithm),
        x->has_seed ? th_count((int64_t)x->seed) : th_absent(TH_KIND_COUNT),
        th_text(x->network),
        th_count(x->n_inputs),
        th_text(s->text.scratch.text),
        th_ps(x->latency_ps),
        th_ps(x->makespan_ps),
        is_mapped ? th_rate(x->throughput_per_s) : th_absent(TH_KIND_RATE),
        is_mapped ? th_rate(x->batch_throughput_per_s) : th_absent(TH_KIND_RATE),
        th_share(x->link_utilization),
        th_share(x->accel_utilization),
        th_bytes(x->network_bytes),
        x->has_energy ? th_joules(x->energy_j) : th_absent(TH_KIND_ENERGY),
        th_count(x->samples),
    };
    memcpy(cells, all, sizeof all);
}

const th_figures th_figures_of_saved_runs = {"saved_runs", need_nothing, count_runs, run_attributes,
                                             .row = run_row};

/* ---- their property events ---- */

static const th_attribute change_attributes[] = {
    {"run_id", TH_KIND_COUNT, "the saved run"},
    {"run", TH_KIND_TEXT, "its name"},
    {"text", TH_KIND_TEXT, "all of the event"},
    {"object", TH_KIND_TEXT, "what was changed"},
    {"property", TH_KIND_TEXT, "its property"},
    {"value", TH_KIND_TEXT, "the value from then on"},
    {"factor", TH_KIND_NUMBER, "relative to the system; 0: down, dead"},
    {"at", TH_KIND_TIME, "when it takes effect"},
    {"after_event", TH_KIND_COUNT, "events of the program before it at that time"},
    {"by", TH_KIND_TEXT, "set_property or inject_fault"},
    {.name = NULL},
};

static int32_t count_changes(const th_session *s)
{
    int32_t n = 0;
    for (size_t i = 0; i < s->saved.n; i++)
        n += s->saved.all[i]->events->n;
    return n;
}

static void change_row(th_session *s, int32_t row, th_quantity *cells)
{
    size_t run = 0;
    while (row >= s->saved.all[run]->events->n)
        row -= s->saved.all[run++]->events->n;
    const th_listed_event *c = &s->saved.all[run]->events->all[row];
    cells[0] = th_count((int64_t)run);
    cells[1] = th_text(s->saved.all[run]->name);
    cells[2] = th_text(c->text);
    th_property_event_list_cells(c, &cells[3]);
}

const th_figures th_figures_of_saved_changes = {"saved_changes", need_nothing, count_changes,
                                                change_attributes, .row = change_row};

/* ---- their objects ---- */

static int32_t count_objects(const th_session *s, th_saved_class class)
{
    int32_t n = 0;
    for (size_t i = 0; i < s->saved.n; i++)
        n += s->saved.all[i]->figures->n[class];
    return n;
}

static void object_row(th_session *s, int32_t row, th_quantity *cells, th_saved_class class)
{
    size_t run = 0;
    while (row >= s->saved.all[run]->figures->n[class])
        row -= s->saved.all[run++]->figures->n[class];
    const th_saved_object *o = &s->saved.all[run]->figures->objects[class][row];
    cells[0] = th_count((int64_t)run);
    cells[1] = th_text(o->name);
    for (int f = 0; th_saved_figure_names[class][f]; f++)
        cells[2 + f] = o->figure[f];
}

#define RUN_AND_NAME                                                                               \
    {"run_id", TH_KIND_COUNT, "the saved run"},                                                    \
    {                                                                                              \
        "name", TH_KIND_TEXT, "its name"                                                           \
    }

static const th_attribute layer_attributes[] = {
    RUN_AND_NAME,
    {"active", TH_KIND_TIME, "time with a task of the layer under way"},
    {"energy", TH_KIND_ENERGY, "of its tasks"},
    {.name = NULL},
};
static const th_attribute accel_attributes[] = {
    RUN_AND_NAME,
    {"busy", TH_KIND_TIME, "time computing"},
    {"stalled", TH_KIND_TIME, "waiting for operands, or for room for outputs"},
    {"idle", TH_KIND_TIME, "time without a task"},
    {"sent", TH_KIND_BYTES, "sent over the network"},
    {"energy", TH_KIND_ENERGY, "taken"},
    {.name = NULL},
};
static const th_attribute link_attributes[] = {
    RUN_AND_NAME,
    {"busy", TH_KIND_TIME, "time with a transfer on it"},
    {"carried", TH_KIND_BYTES, "bytes carried"},
    {.name = NULL},
};

#define OBJECTS(class, object)                                                                     \
    static int32_t count_##object##s(const th_session *s)                                          \
    {                                                                                              \
        return count_objects(s, class);                                                            \
    }                                                                                              \
    static void object##_row(th_session *s, int32_t row, th_quantity *cells)                       \
    {                                                                                              \
        object_row(s, row, cells, class);                                                          \
    }                                                                                              \
    const th_figures th_figures_of_saved_##object##s = {"saved_" #object "s", need_nothing,        \
                                                        count_##object##s, object##_attributes,    \
                                                        .row = object##_row};
OBJECTS(TH_SAVED_LAYERS, layer)
OBJECTS(TH_SAVED_ACCELS, accel)
OBJECTS(TH_SAVED_LINKS, link)
