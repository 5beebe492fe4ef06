/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.c - the spans of a run as JSON, for page/spans.js.
 *
 *   collect rows and encode them (with fewer spans, until they are few enough) -> write the object
 * Tasks are listed once, by start; rows refer to them by their place in that list. The numbers are
 * one stream (encode.c) of columns, each number as the difference from the one before: the fields
 * of tasks, field by field (task_field), then row by row those of spans (span_field). */
#include <config.h>
#include <inttypes.h>
#include <string.h>
#include "base/alloc.h"
#include "render/html/parts.h"
#include "render/html/tracks.h"
#include "session/fault_intervals.h"

typedef struct th_spans_page {
    th_session *session;
    const th_result *result;
    th_strbuf *out;
    th_error *err;
    th_html_tracks tracks;
    const th_program *program;
    const th_training_step *step; /* that is simulated; NULL: none is */
    int32_t *place;               /* place of each task in the list; -1: in no span */
    int32_t n_tasks;
    th_strbuf packed; /* the stream of numbers */
    th_fault_intervals faults;
} th_spans_page;

/* ---- tasks ---- */

/* Gives the tasks of spans their places, and leaves no others in the order. */
static void mark_tasks(th_spans_page *g)
{
    int32_t *order = g->tracks.order;
    g->n_tasks = 0;
    for (int32_t t = 0; t < g->program->n_tasks; t++)
        g->place[t] = -1;
    for (int i = 0; i < g->tracks.n; i++)
        for (size_t s = 0; s < g->tracks.tracks[i].n; s++)
            g->place[g->tracks.tracks[i].spans[s].task] = 0;
    for (int32_t i = 0; i < g->tracks.n_started; i++)
        if (g->place[order[i]] == 0) {
            g->place[order[i]] = g->n_tasks;
            order[g->n_tasks++] = order[i];
        }
}

/* What gives a task its colour and name, by its number: job, purpose or layer. */
static int32_t group_of(const th_spans_page *g, int32_t task)
{
    if (g->program->n_jobs > 0)
        return th_program_job_of(g->program, task);
    return g->step ? g->step->task[task] : g->program->tasks[task].layer;
}

/* How long an engine of its accelerator works in a computation: the array computes, the others move
 * their bytes at the bandwidth of the DRAM, 0 where that has no limit. */
enum { N_ENGINES = 5 };
static th_time engine_time(const th_spans_page *g, const th_task *t, int engine)
{
    static const int movers[N_ENGINES] = {-1, TH_ENGINE_INPUT, TH_ENGINE_WEIGHT, TH_ENGINE_PARTIAL,
                                          TH_ENGINE_OUTPUT};
    const th_compute_cost *w =
        th_compute_cost_get(th_simulation_costs(g->session->simulation), t->compute_cost);
    if (engine == 0)
        return w->collapsed.busy_ps;
    return w->port.bits_per_s < TH_UNLIMITED
               ? th_duration_ps(w->collapsed.moved_bytes[movers[engine]], w->port.bits_per_s)
               : 0;
}

/* The pass and the layer of a task of a step, as one number. */
static int64_t place_of(const th_step_place *at)
{
    enum { N_PASSES = 4 };
    return at->micro_batch < 0 ? 0
                               : (int64_t)(at->layer - TH_LAYER_HEAD_STEP) * N_PASSES + at->pass;
}

enum { N_OF_ALL = 12, N_TASK_FIELDS = N_OF_ALL + N_ENGINES };

/* Kind, start, length, number, group, input; the node of a computation or the sender, the receiver;
 * the work of a step that a computation is, or which collective; bytes; of a step micro-batch and
 * place; times of engines. */
static int64_t task_field(const th_spans_page *g, int32_t number, int field)
{
    const th_task *t = &g->program->tasks[number];
    bool computes = t->kind == TH_TASK_COMPUTE, moves = t->kind == TH_TASK_TRANSFER,
         joins = t->kind == TH_TASK_COLLECTIVE;
    th_time start = g->result->tasks[number].start_ps;
    if (field >= N_OF_ALL)
        return computes ? engine_time(g, t, field - N_OF_ALL) : 0;
    const int64_t fields[N_OF_ALL] = {t->kind,
                                      start,
                                      th_html_tracks_end(&g->tracks, number) - start,
                                      number,
                                      group_of(g, number),
                                      t->input,
                                      computes || moves ? t->node : 0,
                                      moves ? t->peer : 0,
                                      joins                 ? t->compute_cost
                                      : computes && g->step ? g->step->work_of[number]
                                                            : 0,
                                      moves || joins ? t->bytes : 0,
                                      g->step ? g->step->place_of[number].micro_batch : 0,
                                      g->step ? place_of(&g->step->place_of[number]) : 0};
    return fields[field];
}

static void encode_tasks(th_spans_page *g, th_strbuf *bytes)
{
    for (int field = 0; field < N_TASK_FIELDS; field++) {
        int64_t before = 0;
        for (int32_t i = 0; i < g->n_tasks; i++) {
            int64_t value = task_field(g, g->tracks.order[i], field);
            th_encode_number(bytes, value - before);
            before = value;
        }
    }
}

/* ---- rows ---- */

enum { N_SPAN_FIELDS = 5 };

/* Its task; as 0 where it is of that task alone: how many more it has, what it starts and ends
 * later, and how long none of them is under way. */
static int64_t span_field(const th_spans_page *g, const th_html_span *s, int field)
{
    const int64_t fields[N_SPAN_FIELDS] = {
        g->place[s->task], s->count - 1, s->start - g->result->tasks[s->task].start_ps,
        s->end - th_html_tracks_end(&g->tracks, s->task), s->end - s->start - s->busy};
    return fields[field];
}

static void encode_spans(const th_spans_page *g, const th_html_track *t, th_strbuf *bytes)
{
    for (int field = 0; field < N_SPAN_FIELDS; field++) {
        int64_t before = 0;
        for (size_t i = 0; i < t->n; i++) {
            int64_t value = span_field(g, &t->spans[i], field);
            th_encode_number(bytes, value - before);
            before = value;
        }
    }
}

static void add_mark(const th_spans_page *g, const th_fault_interval *f, th_time to, int n_before)
{
    th_strbuf_printf(g->out, "%s[\"%s\",%" PRId64 ",%" PRId64 "]", n_before > 0 ? "," : "",
                     th_fault_name(&f->event), f->from, to);
}

/* The faults of its object: name, from, to; those that are shorter than a pixel together are one,
 * with the name of the first. */
static void add_marks(const th_spans_page *g, const th_html_track *t)
{
    enum { PIXELS = 4096 };
    const th_fault_intervals *all = &g->faults;
    const th_fault_interval *open = NULL;
    th_time to = 0;
    int n = 0;
    for (int32_t k = all->first[t->faults]; k < all->first[t->faults + 1]; k++) {
        const th_fault_interval *f = &all->all[all->by_object[k]];
        if (open && f->to - open->from < g->result->elapsed_ps / PIXELS) {
            to = f->to > to ? f->to : to;
            continue;
        }
        if (open)
            add_mark(g, open, to, n++);
        open = f;
        to = f->to;
    }
    if (open)
        add_mark(g, open, to, n);
}

/* The links that are shown as one row belong to one host or switch (of two switches the higher
 * one), or connect the accelerators of one island. */
static void add_link_group(const th_spans_page *g, const th_link *l)
{
    const th_system *s = g->session->system;
    if (l->from < 0)
        return;
    const th_node *a = &s->nodes[l->from], *b = &s->nodes[l->to];
    const th_node *hub =
        a->kind == TH_NODE_ACCEL || (b->kind != TH_NODE_ACCEL && b->level > a->level) ? b : a;
    if (hub->kind != TH_NODE_ACCEL)
        th_html_field(g->out, "group",
                      a->level == b->level && a->kind == b->kind ? "between switches" : hub->name);
    else if (a->group != b->group)
        th_html_field(g->out, "group", "between islands");
    else
        th_strbuf_printf(g->out, ",\"group\":\"island %d\"", a->group);
}

static void add_tracks(th_spans_page *g)
{
    static const char *const kinds[TH_N_HTML_TRACK_KINDS] = {"path", "accel", "link", "collective"};
    th_strbuf *out = g->out;
    th_strbuf_printf(out, ",\n\"tasks\":%d,\n\"tracks\":[", (int)g->n_tasks);
    for (int i = 0; i < g->tracks.n; i++) {
        const th_html_track *t = &g->tracks.tracks[i];
        th_strbuf_printf(out, "%s\n{\"kind\":\"%s\",\"n\":%zu,\"stage\":%d", i > 0 ? "," : "",
                         kinds[t->kind], t->n, (int)t->stage);
        th_html_field(out, "name", t->name);
        if (t->link >= 0)
            add_link_group(g, &g->session->system->links[t->link]);
        if (g->faults.n > 0 && t->faults >= 0) {
            th_strbuf_add(out, ",\"faults\":[");
            add_marks(g, t);
            th_strbuf_add(out, "]");
        }
        th_strbuf_add(out, "}");
    }
    th_strbuf_add(out, "]");
}

/* ---- layers, nodes, collectives ---- */

/* A list of the names that stand `stride` bytes apart. */
static void add_names(const th_spans_page *g, const char *key, int n, const void *first,
                      size_t stride)
{
    th_strbuf_printf(g->out, ",\n\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        const char *name;
        memcpy(&name, (const char *)first + (size_t)i * stride, sizeof name);
        th_strbuf_add(g->out, i > 0 ? "," : "");
        th_strbuf_add_json(g->out, name);
    }
    th_strbuf_add(g->out, "]");
}

/* Of each layer: name, type, model, set. */
static void add_layers(th_strbuf *out, const th_session *s)
{
    const th_workload *w = s->workload;
    int part = 0;
    th_strbuf_add(out, ",\n\"layers\":[");
    for (int l = 0; w && l < w->n_layers; l++) {
        part = th_workload_part_of(w, l, part);
        th_strbuf_add(out, l > 0 ? ",[" : "[");
        th_strbuf_add_json(out, w->layers[l].name);
        th_strbuf_printf(out, ",\"%s\",%d,%d]", th_layer_type_name(&w->layers[l]), part,
                         s->mapping ? (int)s->mapping->set_of[l] : 0);
    }
    th_strbuf_add(out, "]");
}

/* What tasks belong to: jobs, purposes of a step, or layers. */
static void add_groups(const th_spans_page *g)
{
    const th_workload *w = g->session->workload;
    if (g->program->n_jobs > 0) {
        add_names(g, "jobs", g->program->n_jobs, &g->program->jobs->name, sizeof *g->program->jobs);
    } else if (g->step) {
        add_names(g, "purposes", TH_N_STEP_TASKS, th_step_task_names, sizeof *th_step_task_names);
    } else {
        add_layers(g->out, g->session);
        if (w && w->n_models > 0)
            add_names(g, "models", w->n_models, &w->models->name, sizeof *w->models);
        else
            add_names(g, "models", w ? 1 : 0, w ? &w->name : NULL, 0);
    }
}

/* Name, ranks, algorithm. */
static void add_collectives(const th_spans_page *g)
{
    th_strbuf_add(g->out, ",\n\"collectives\":[");
    for (int c = 0; c < g->program->n_collectives; c++) {
        const th_collective *x = th_simulation_collective(g->session->simulation, c);
        th_strbuf_printf(g->out, "%s[\"%s\",%d,\"%s\"]", c > 0 ? "," : "",
                         th_collective_names[x->kind], (int)x->n_ranks,
                         x->algorithm ? x->algorithm->name : "");
    }
    th_strbuf_add(g->out, "]");
}

/* What the computations of a step of training consist of. */
static void add_works(const th_spans_page *g)
{
    int32_t n = 0;
    for (int32_t t = 0; t < g->program->n_tasks; t++)
        n = g->step->work_of[t] >= n ? g->step->work_of[t] + 1 : n;
    th_strbuf_printf(g->out, ",\n\"isMerged\":%s,\"works\":[",
                     g->step->is_merged ? "true" : "false");
    for (int32_t i = 0; i < n; i++) {
        th_strbuf parts = TH_STRBUF_INIT;
        th_step_work_describe(&g->step->work[i], &parts);
        th_strbuf_add(g->out, i > 0 ? ",\n" : "");
        th_strbuf_add_json(g->out, parts.text ? parts.text : "");
        g->out->failed |= parts.failed;
        th_strbuf_clear(&parts);
    }
    th_strbuf_add(g->out, "]");
}

/* ---- the block ---- */

static void forget(th_spans_page *g)
{
    th_html_tracks_clear(&g->tracks);
    th_free(g->place);
    th_strbuf_clear(&g->packed);
}

/* At most `most` spans. 0, or -1 with nothing to forget. */
static int pack(th_spans_page *g, int64_t most)
{
    th_strbuf bytes = TH_STRBUF_INIT;
    g->program = g->session->simulation->program;
    g->packed = (th_strbuf)TH_STRBUF_INIT;
    if (th_html_tracks_collect(&g->tracks, g->session, g->result, most, g->err) != 0)
        return -1;
    g->place = th_alloc_array((size_t)g->program->n_tasks + 1, sizeof *g->place);
    int failed = g->place ? 0 : -1;
    if (!failed) {
        mark_tasks(g);
        encode_tasks(g, &bytes);
        for (int i = 0; i < g->tracks.n; i++)
            encode_spans(g, &g->tracks.tracks[i], &bytes);
        failed = th_encode_packed(&g->packed, &bytes);
    }
    th_strbuf_clear(&bytes);
    if (failed)
        forget(g);
    return failed ? th_error_no_memory(g->err) : 0;
}

static void add_object(th_spans_page *g)
{
    const th_html_tracks *k = &g->tracks;
    th_strbuf *out = g->out;
    th_strbuf_printf(out,
                     ",\n\"timeline\":{\"end\":%" PRId64 ",\"resolution\":%" PRId64
                     ",\"spans\":%" PRId64 ",\"drawn\":%" PRId64 ",\"hidden\":%d",
                     g->result->elapsed_ps, k->resolution, k->n_spans, k->n_drawn,
                     k->n_links_hidden);
    add_groups(g);
    add_names(g, "nodes", g->session->system->n_nodes, &g->session->system->nodes->name,
              sizeof *g->session->system->nodes);
    add_collectives(g);
    if (g->step)
        add_works(g);
    add_tracks(g);
    th_strbuf_printf(out, ",\n\"stream\":\"%s\"}", g->packed.text);
}

enum { PACKED_BYTES_MAX = 1500000 }; /* on one page; what else it has is up to a megabyte */

int th_html_spans(th_session *s, const th_result *r, int64_t most, th_strbuf *out, th_error *err)
{
    th_spans_page g = {.session = s,
                       .result = r,
                       .out = out,
                       .err = err,
                       .step = s->hand_built ? s->hand_built->step : NULL};
    int failed = pack(&g, most);
    while (!failed && g.packed.length > PACKED_BYTES_MAX && g.tracks.n_drawn > 1) {
        int64_t fewer = g.tracks.n_drawn / 2;
        forget(&g);
        failed = pack(&g, fewer);
    }
    if (failed)
        return -1;
    failed = th_fault_intervals_find(s, r->elapsed_ps, &g.faults);
    if (!failed) {
        add_object(&g);
        th_fault_intervals_clear(&g.faults);
    }
    forget(&g);
    return failed ? th_error_no_memory(err) : 0;
}
