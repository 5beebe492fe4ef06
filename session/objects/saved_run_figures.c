/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_run_figures.c - saved runs, as classes of figures: the runs, their layers, accelerators and
 * links, and their property events. What they keep are the attributes of runs, layers, accelerators
 * and links that are of the run (TH_OF_RUN), whatever these are; of a run, what was run as well. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "session/objects/class_attributes.h"
#include "session/objects/figures.h"
#include "session/model_error.h"
#include "session/property_event_list.h"
#include "session/saved_run.h"

static int need_nothing(th_session *s, th_error *err)
{
    (void)s;
    (void)err;
    return 0;
}

/* ---- classes ---- */

#define INPUT(name, kind, help)                                                                    \
    {                                                                                              \
        name, kind, help, .of = TH_OF_INPUT                                                        \
    }
static const th_attribute run_attributes[] = {
    {"name", TH_KIND_TEXT, "name of the saved run", .heading = "run", .of = TH_OF_INPUT},
    INPUT("system", TH_KIND_TEXT, "name of the system"),
    INPUT("system_digest", TH_KIND_TEXT, "of the content of the system"),
    INPUT("workload", TH_KIND_TEXT, "name of the workload"),
    INPUT("workload_digest", TH_KIND_TEXT, "of the content of the workload"),
    INPUT("program", TH_KIND_TEXT, "name of the hand-built program"),
    INPUT("batch", TH_KIND_COUNT, "of the workload"),
    INPUT("precision", TH_KIND_TEXT, "of the workload's tensors, or of the step of training"),
    INPUT("mapping", TH_KIND_TEXT, "digest of the mapping, or of the program"),
    INPUT("algorithm", TH_KIND_TEXT, "search that found the mapping"),
    INPUT("seed", TH_KIND_COUNT, "of that search"),
    INPUT("network", TH_KIND_TEXT, "model of the network"),
    INPUT("inputs", TH_KIND_COUNT, "inputs of the stream"),
    INPUT("stream", TH_KIND_TEXT,
          "its inputs, their interval in ps, micro-batches, and inputs at once"),
    INPUT("samples", TH_KIND_COUNT, "of an input"),
    INPUT("plan", TH_KIND_TEXT, "of a step of training, with the keys of its file"),
    INPUT("unmeasured", TH_KIND_TEXT, "of a step like which none was measured: what there is"),
    {.name = NULL},
};
static const th_attribute object_attributes[] = {
    INPUT("run_id", TH_KIND_COUNT, "the saved run"),
    {.name = NULL},
};

static int columns_of(th_saved_class class)
{
    int n = 0;
    while (th_figures_column(&th_figures_of_saved[class], 1 + n).name)
        n++;
    return n;
}

static int32_t count(const th_session *s, th_saved_class class)
{
    int32_t n = 0;
    for (size_t i = 0; i < s->saved.n; i++)
        n += s->saved.all[i]->n[class];
    return n;
}

static void put_row(th_session *s, int32_t row, th_quantity *cells, th_saved_class class)
{
    size_t run = 0;
    while (row >= s->saved.all[run]->n[class])
        row -= s->saved.all[run++]->n[class];
    const th_saved_run *x = s->saved.all[run];
    size_t n = (size_t)x->n_columns[class];
    memcpy(cells, &x->cells[class][(size_t)row * n], n * sizeof *cells);
    if (class != TH_SAVED_RUNS)
        cells[0] = th_count((int64_t)run);
}

#define SAVED(class, name)                                                                         \
    static int32_t count_##name(const th_session *s)                                               \
    {                                                                                              \
        return count(s, class);                                                                    \
    }                                                                                              \
    static void name##_row(th_session *s, int32_t row, th_quantity *cells)                         \
    {                                                                                              \
        put_row(s, row, cells, class);                                                             \
    }
SAVED(TH_SAVED_RUNS, run)
SAVED(TH_SAVED_LAYERS, layer)
SAVED(TH_SAVED_ACCELS, accel)
SAVED(TH_SAVED_LINKS, link)

#define OBJECTS(object)                                                                            \
    {                                                                                              \
        "saved_" #object "s", need_nothing, count_##object, object_attributes,                     \
            .saves = th_##object##_attributes, .row = object##_row                                 \
    }
const th_figures th_figures_of_saved[TH_N_SAVED] = {
    [TH_SAVED_RUNS] = {"saved_runs", need_nothing, count_run, run_attributes,
                       .saves = th_run_attributes, .row = run_row},
    [TH_SAVED_LAYERS] = OBJECTS(layer),
    [TH_SAVED_ACCELS] = OBJECTS(accel),
    [TH_SAVED_LINKS] = OBJECTS(link),
};

th_quantity th_saved_run_figure(const th_saved_run *run, const char *name)
{
    th_attribute a;
    for (int c = 0; (a = th_figures_column(&th_figures_of_saved[TH_SAVED_RUNS], 1 + c)).name; c++)
        if (strcmp(a.name, name) == 0)
            return run->cells[TH_SAVED_RUNS][c];
    return th_absent(TH_KIND_TEXT);
}

/* ---- saving a run ---- */

/* A run that is being saved; at: where its next cell goes. */
typedef struct th_saving {
    th_session *session;
    th_saved_run *run;
    th_quantity *at;
    bool failed; /* memory is out */
} th_saving;

static void keep(th_saving *x, th_quantity q)
{
    if (q.kind == TH_KIND_TEXT && !q.is_absent) {
        q.text = th_arena_string(x->run->arena, q.text);
        x->failed |= !q.text;
    }
    *x->at++ = q;
}

/* Room for n rows of the class. */
static bool begin(th_saving *x, th_saved_class class, int32_t n)
{
    int n_columns = columns_of(class);
    x->at = th_alloc_zero((size_t)n * (size_t)n_columns + 1, sizeof *x->at);
    x->run->cells[class] = x->at;
    x->run->n[class] = n;
    x->run->n_columns[class] = n_columns;
    x->failed |= !x->at;
    return !x->failed;
}

static void keep_objects(th_saving *x, th_saved_class class, th_class of, int32_t n)
{
    const th_attribute *all = th_attributes_of(of);
    th_error err;
    th_quantity q;
    if (!begin(x, class, n))
        return;
    for (int32_t i = 0; i < n; i++) {
        keep(x, th_count(0));
        for (int a = 0; all[a].name; a++)
            if (all[a].of == TH_OF_RUN) {
                x->failed |= th_attribute_get(x->session, (th_object){of, i}, a, &q, &err) != 0;
                keep(x, q);
            }
    }
}

/* What was run, in the order of the attributes. */
static void keep_inputs(th_saving *x)
{
    const th_session *s = x->session;
    const th_simulation *sim = s->simulation;
    const th_stream *stream = &sim->options.stream;
    char system[20], workload[20], digest[20], network[TH_NETWORK_TEXT_MAX], text[80];
    char precision[60];
    x->failed |= th_session_input_digests(s, system, workload, sizeof system) != 0;
    snprintf(text, sizeof text, "%d %lld %d %d", (int)stream->n_inputs,
             (long long)stream->interval_ps, (int)stream->micro_batches, (int)stream->in_flight);
    const th_run_options ran = th_simulation_ran(sim);
    bool is_searched = s->search.type && !s->search.type->is_baseline;
    th_strbuf plan = TH_STRBUF_INIT, unmeasured = TH_STRBUF_INIT;
    th_hand_built_describe_unmeasured(s->hand_built, &unmeasured);
    if (s->hand_built && s->hand_built->plan)
        th_fields_write(th_plan_fields, s->hand_built->plan, (th_fields_form){"", "; ", false},
                        &plan);
    const th_quantity all[] = {
        th_text(x->run->name),
        th_text(s->system->name),
        th_text(system),
        th_text(s->workload ? s->workload->name : NULL),
        th_text(workload),
        th_text(s->hand_built ? s->hand_built->name : NULL),
        s->workload ? th_count(s->workload->batch) : th_absent(TH_KIND_COUNT),
        th_text(*th_session_precision(s, precision, sizeof precision) ? precision : NULL),
        th_text(th_session_digest(s, digest, sizeof digest)),
        th_text(s->hand_built    ? "hand"
                : s->search.type ? s->search.type->name
                                 : "file"),
        is_searched ? th_count((int64_t)s->search.seed) : th_absent(TH_KIND_COUNT),
        th_text(th_network_describe(&ran, network, sizeof network)),
        th_count(stream->n_inputs),
        th_text(text),
        th_count(s->workload ? th_workload_samples(s->workload) : 0),
        th_text(s->hand_built && s->hand_built->plan ? plan.text : NULL),
        th_text(unmeasured.text),
    };
    for (size_t i = 0; !x->failed && i < sizeof all / sizeof *all; i++)
        keep(x, all[i]);
    x->failed |= plan.failed || unmeasured.failed;
    th_strbuf_clear(&plan);
    th_strbuf_clear(&unmeasured);
}

static void keep_run(th_saving *x)
{
    th_quantity cells[TH_FIGURES_MAX];
    if (!begin(x, TH_SAVED_RUNS, 1))
        return;
    keep_inputs(x);
    th_figures_of_run.row(x->session, 0, cells);
    for (int a = 0; !x->failed && th_run_attributes[a].name; a++)
        if (th_run_attributes[a].of == TH_OF_RUN)
            keep(x, cells[a]);
}

th_saved_run *th_saved_run_of(th_session *s, const char *name)
{
    th_error ignored;
    const th_result *result = th_run_result(s);
    th_saving x = {s, th_alloc_zero(1, sizeof *x.run), NULL, false};
    if (!result || !x.run) {
        th_free(x.run);
        return NULL;
    }
    x.run->name = th_alloc_string(name);
    x.run->arena = th_arena_new();
    x.run->events = th_property_event_list_of(s);
    x.run->models = th_models_of(s, result);
    x.failed = !x.run->name || !x.run->arena || !x.run->events;
    keep_run(&x);
    keep_objects(&x, TH_SAVED_LAYERS, TH_CLASS_LAYER, s->workload ? s->workload->n_layers : 0);
    const bool has_all = th_session_need_every_rank(s, &ignored) == 0; /* else most would idle */
    keep_objects(&x, TH_SAVED_ACCELS, TH_CLASS_ACCEL, has_all ? s->system->n_accels : 0);
    keep_objects(&x, TH_SAVED_LINKS, TH_CLASS_LINK, has_all ? s->system->n_links : 0);
    if (!x.failed)
        return x.run;
    th_saved_run_free(x.run);
    return NULL;
}

/* ---- property events ---- */

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
