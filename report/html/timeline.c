/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.c - the spans of a run as one block of JSON, for timeline.js.
 *
 *   collect rows and encode them (with fewer spans, until they are small enough) -> write the block
 * Tasks are listed once, by start; rows refer to them by their index in that list. The data are one
 * stream of numbers (encode.c), the tasks first, then row after row. Fields of a task, in this
 * order: kind, start since the previous task, duration, number (signed difference), layer (signed
 * difference), input; of a compute task also its accelerator's node (signed difference) and its
 * cost; of a transfer sender, receiver, bytes; of a collective its number among them, bytes. Fields
 * of a span in a row: four times the distance of its task from that of the previous span, plus two
 * if it is negative, plus one if the span merges several tasks; for a merged span also the start
 * since the start of the previous span, length, number of tasks, sum of their durations. */
#include <config.h>
#include <inttypes.h>
#include "base/alloc.h"
#include "report/html/parts.h"
#include "report/html/tracks.h"
#include "report/session/fault_intervals.h"

typedef struct th_spans_page {
    th_session *session;
    const th_result *result;
    th_strbuf *out;
    th_error *err;
    th_html_tracks tracks;
    const th_program *program;
    int32_t *place;      /* place of each task in the list; -1: in no span */
    int32_t *cost_index; /* cost_of a task -> index in costs; -1: none yet */
    int32_t *costs;      /* the first task of each compute cost */
    int32_t n_costs, n_tasks;
    th_strbuf packed; /* the stream of numbers */
    th_fault_intervals faults;
} th_spans_page;

/* ---- tasks ---- */

static void mark_tasks(th_spans_page *g)
{
    for (int32_t t = 0; t < g->program->n_tasks; t++)
        g->place[t] = -1;
    for (int i = 0; i < g->tracks.n; i++)
        for (size_t s = 0; s < g->tracks.tracks[i].n; s++)
            g->place[g->tracks.tracks[i].spans[s].task] = 0;
    for (int32_t i = 0; i < g->tracks.n_started; i++)
        if (g->place[g->tracks.order[i]] == 0)
            g->place[g->tracks.order[i]] = g->n_tasks++;
}

/* The step of training that is simulated; NULL: none is. */
static const th_training_step *step_of(const th_spans_page *g)
{
    return g->session->hand_built ? g->session->hand_built->step : NULL;
}

/* A number of what a compute task costs: of a step of training, of its parts. */
static int32_t cost_of(const th_spans_page *g, int32_t task)
{
    return step_of(g) ? step_of(g)->work_of[task] : g->program->tasks[task].compute_cost;
}

static int32_t cost_index_of(th_spans_page *g, int32_t task)
{
    int32_t cost = cost_of(g, task);
    if (g->cost_index[cost] < 0) {
        g->costs[g->n_costs] = task;
        g->cost_index[cost] = g->n_costs++;
    }
    return g->cost_index[cost];
}

static void add_kind(th_spans_page *g, const th_task *t, int32_t *node, th_strbuf *bytes)
{
    switch ((th_task_kind)t->kind) {
    case TH_TASK_COMPUTE:
        th_encode_signed(bytes, t->node - *node);
        th_encode_number(bytes, (uint64_t)cost_index_of(g, (int32_t)(t - g->program->tasks)));
        *node = t->node;
        break;
    case TH_TASK_TRANSFER:
        th_encode_number(bytes, (uint64_t)t->node);
        th_encode_number(bytes, (uint64_t)t->peer);
        th_encode_number(bytes, (uint64_t)t->bytes);
        break;
    case TH_TASK_COLLECTIVE:
        th_encode_number(bytes, (uint64_t)t->compute_cost);
        th_encode_number(bytes, (uint64_t)t->bytes);
        break;
    case TH_TASK_HOST:
        break;
    }
}

/* What the step of training that is simulated has its tasks for; NULL: none is. */
static const uint8_t *purposes_of(const th_spans_page *g)
{
    return step_of(g) ? step_of(g)->task : NULL;
}

/* What gives a task its colour and name, by its number: job, purpose or layer. */
static int32_t group_of(const th_spans_page *g, int32_t task)
{
    if (g->program->n_jobs > 0)
        return th_program_job_of(g->program, task);
    return purposes_of(g) ? purposes_of(g)[task] : g->program->tasks[task].layer;
}

static void encode_tasks(th_spans_page *g, th_strbuf *bytes)
{
    th_time before = 0;
    int32_t number = 0, layer = 0, node = 0;
    for (int32_t i = 0; i < g->tracks.n_started; i++) {
        int32_t task = g->tracks.order[i];
        const th_task *t = &g->program->tasks[task];
        th_time start = g->result->tasks[task].start_ps;
        if (g->place[task] < 0)
            continue;
        th_encode_number(bytes, (uint64_t)t->kind);
        th_encode_number(bytes, (uint64_t)(start - before));
        th_encode_number(bytes, (uint64_t)(th_html_tracks_end(&g->tracks, task) - start));
        th_encode_signed(bytes, task - number);
        int32_t own = group_of(g, task);
        th_encode_signed(bytes, own - layer);
        th_encode_number(bytes, (uint64_t)t->input);
        add_kind(g, t, &node, bytes);
        before = start;
        number = task;
        layer = own;
    }
}

/* ---- rows ---- */

static void encode_spans(const th_spans_page *g, const th_html_track *t, th_strbuf *bytes)
{
    int32_t before = 0;
    th_time start = 0;
    for (size_t i = 0; i < t->n; i++) {
        const th_html_span *s = &t->spans[i];
        int64_t step = g->place[s->task] - before;
        bool is_one = s->count == 1;
        th_encode_number(bytes, (uint64_t)(step < 0 ? -step : step) << 2 |
                                    (uint64_t)(step < 0) << 1 | !is_one);
        if (!is_one) {
            th_encode_number(bytes, (uint64_t)(s->start - start));
            th_encode_number(bytes, (uint64_t)(s->end - s->start));
            th_encode_number(bytes, (uint64_t)s->count);
            th_encode_number(bytes, (uint64_t)s->busy);
        }
        before = g->place[s->task];
        start = s->start;
    }
}

static const char *object_name(const th_spans_page *g, const th_html_track *t)
{
    const th_system *s = g->session->system;
    switch ((th_html_track_kind)t->kind) {
    case TH_HTML_TRACK_ACCEL:
        return s->nodes[s->accel_node[t->object]].name;
    case TH_HTML_TRACK_LINK:
        return s->links[t->object].name;
    case TH_HTML_TRACK_PATH:
    case TH_HTML_TRACK_COLLECTIVE:
    case TH_N_HTML_TRACK_KINDS:
        break;
    }
    return "";
}

/* "stage 2.16": accelerator 16 of stage 2. */
static void add_track_name(const th_spans_page *g, const th_html_track *t)
{
    th_strbuf name = TH_STRBUF_INIT;
    if (t->stage >= 0)
        th_strbuf_printf(&name, "stage %d.", (int)t->stage);
    th_strbuf_add(&name, object_name(g, t));
    th_strbuf_add_json(g->out, name.text ? name.text : "");
    th_strbuf_clear(&name);
}

/* Of the index of faults; -1: the row is of neither. */
static int32_t faulty_object(const th_system *s, const th_html_track *t)
{
    if (t->kind == TH_HTML_TRACK_LINK)
        return s->links[t->object].medium;
    return t->kind == TH_HTML_TRACK_ACCEL ? s->n_media + t->object : -1;
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
    int32_t object = faulty_object(g->session->system, t), n = 0;
    th_time to = 0;
    for (int32_t k = object < 0 ? 0 : all->first[object]; object >= 0 && k < all->first[object + 1];
         k++) {
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

static void add_tracks(th_spans_page *g)
{
    static const char *const kinds[TH_N_HTML_TRACK_KINDS] = {"path", "accel", "link", "collective"};
    th_strbuf *out = g->out;
    th_strbuf_printf(out, ",\n\"tasks\":%d,\n\"tracks\":[", (int)g->n_tasks);
    for (int i = 0; i < g->tracks.n; i++) {
        const th_html_track *t = &g->tracks.tracks[i];
        th_strbuf_printf(out, "%s\n{\"kind\":\"%s\",\"name\":", i > 0 ? "," : "", kinds[t->kind]);
        add_track_name(g, t);
        th_strbuf_printf(out, ",\"n\":%zu", t->n);
        if (g->faults.n > 0) {
            th_strbuf_add(out, ",\"faults\":[");
            add_marks(g, t);
            th_strbuf_add(out, "]");
        }
        th_strbuf_add(out, "}");
    }
    th_strbuf_add(out, "]");
}

/* ---- layers, nodes, collectives, compute costs ---- */

/* Groups of layers that have one colour: multiply-accumulates; attention and the like; the rest. */
static int class_of(const th_layer *l)
{
    switch (l->kind) {
    case TH_LAYER_CONV:
        return 0;
    case TH_LAYER_FC:
    case TH_LAYER_MATMUL:
    case TH_LAYER_ATTENTION:
    case TH_LAYER_LSTM:
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
        return 1;
    case TH_LAYER_EMBEDDING:
    case TH_LAYER_POOL:
    case TH_LAYER_ELEMENTWISE:
    case TH_LAYER_NORM:
    case TH_LAYER_SOFTMAX:
    case TH_LAYER_CONCAT:
    case TH_LAYER_SLICE:
        break;
    }
    return 2;
}

static const char *group_name(const th_spans_page *g, int32_t i)
{
    return g->program->n_jobs > 0 ? g->program->jobs[i].name : th_step_task_names[i];
}

/* Jobs, or purposes of a step of training, are models of one layer each. */
static void add_groups(th_spans_page *g)
{
    th_strbuf *out = g->out;
    bool are_jobs = g->program->n_jobs > 0;
    int32_t n = are_jobs ? g->program->n_jobs : TH_N_STEP_TASKS;
    if (!are_jobs && g->session->hand_built->step->is_merged)
        th_strbuf_add(out, ",\n\"collectiveRow\":\"messages\"");
    th_strbuf_printf(out, ",\n\"groups\":\"%s\",\"layers\":[", are_jobs ? "job" : "purpose");
    for (int32_t i = 0; i < n; i++) {
        th_strbuf_add(out, i > 0 ? ",[" : "[");
        th_strbuf_add_json(out, group_name(g, i));
        th_strbuf_printf(out, ",2,%d,0]", (int)i);
    }
    th_strbuf_add(out, "],\n\"models\":[");
    for (int32_t i = 0; i < n; i++) {
        th_strbuf_add(out, i > 0 ? "," : "");
        th_strbuf_add_json(out, group_name(g, i));
    }
    th_strbuf_add(out, "],\n\"sets\":0");
}

/* Of each layer: name, group, model, set. */
static void add_layers(th_strbuf *out, const th_session *s)
{
    const th_workload *w = s->workload;
    int part = 0;
    th_strbuf_add(out, ",\n\"layers\":[");
    for (int l = 0; w && l < w->n_layers; l++) {
        part = th_workload_part_of(w, l, part);
        th_strbuf_add(out, l > 0 ? ",[" : "[");
        th_strbuf_add_json(out, w->layers[l].name);
        th_strbuf_printf(out, ",%d,%d,%d]", class_of(&w->layers[l]), part,
                         s->mapping ? (int)s->mapping->set_of[l] : 0);
    }
    th_strbuf_add(out, "],\n\"models\":[");
    for (int i = 0; w && i < th_workload_parts(w); i++) {
        th_strbuf_add(out, i > 0 ? "," : "");
        th_strbuf_add_json(out, th_workload_part(w, i).name);
    }
    th_strbuf_printf(out, "],\n\"sets\":%d", s->mapping ? (int)s->mapping->n_sets : 0);
}

static void add_names(th_spans_page *g)
{
    th_strbuf *out = g->out;
    const th_session *s = g->session;
    if (g->program->n_jobs > 0 || purposes_of(g))
        add_groups(g);
    else
        add_layers(out, s);
    th_strbuf_add(out, ",\n\"nodes\":[");
    for (int n = 0; n < s->system->n_nodes; n++) {
        th_strbuf_add(out, n > 0 ? "," : "");
        th_strbuf_add_json(out, s->system->nodes[n].name);
    }
    th_strbuf_add(out, "],\n\"collectives\":[");
    for (int c = 0; c < g->program->n_collectives; c++) {
        const th_collective *x = th_simulation_collective(s->simulation, c);
        th_strbuf_printf(out, "%s[\"%s\",%d,\"%s\"]", c > 0 ? "," : "",
                         th_collective_names[x->kind], (int)x->n_ranks,
                         x->algorithm ? x->algorithm->name : "");
    }
    th_strbuf_add(out, "]");
}

/* What a computation of a step of training consists of. */
static void add_parts(const th_spans_page *g, int32_t task)
{
    th_strbuf parts = TH_STRBUF_INIT;
    th_step_work_describe(&step_of(g)->work[cost_of(g, task)], &parts);
    th_strbuf_add(g->out, ",");
    th_strbuf_add_json(g->out, parts.text ? parts.text : "");
    g->out->failed |= parts.failed;
    th_strbuf_clear(&parts);
}

/* Per compute cost: time computing, bytes that each engine moves, bits per second of the DRAM (0:
 * no limit); of a step of training also its parts. */
static void add_costs(th_spans_page *g)
{
    th_strbuf *out = g->out;
    th_strbuf_add(out, ",\n\"costs\":[");
    for (int32_t i = 0; i < g->n_costs; i++) {
        const th_compute_cost *w = th_compute_cost_get(th_simulation_costs(g->session->simulation),
                                                       g->program->tasks[g->costs[i]].compute_cost);
        const int64_t *moved = w->collapsed.moved_bytes;
        int64_t dram = w->port.bits_per_s < TH_UNLIMITED ? w->port.bits_per_s : 0;
        th_strbuf_printf(
            out, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
            i > 0 ? "," : "", w->collapsed.busy_ps, moved[TH_ENGINE_INPUT], moved[TH_ENGINE_WEIGHT],
            moved[TH_ENGINE_PARTIAL], moved[TH_ENGINE_OUTPUT], dram);
        if (step_of(g))
            add_parts(g, g->costs[i]);
        th_strbuf_add(out, "]");
    }
    th_strbuf_add(out, "]");
}

/* ---- the block ---- */

/* The greatest cost of a compute task, plus one. */
static int32_t count_costs(const th_spans_page *g)
{
    int32_t n = 0;
    for (int32_t t = 0; t < g->program->n_tasks; t++)
        if (g->program->tasks[t].kind == TH_TASK_COMPUTE && cost_of(g, t) >= n)
            n = cost_of(g, t) + 1;
    return n;
}

static int make_places(th_spans_page *g)
{
    int32_t costs = count_costs(g);
    g->place = th_alloc_array((size_t)g->program->n_tasks + 1, sizeof *g->place);
    g->cost_index = th_alloc_array((size_t)costs + 1, sizeof *g->cost_index);
    g->costs = th_alloc_array((size_t)costs + 1, sizeof *g->costs);
    if (!g->place || !g->cost_index || !g->costs)
        return -1;
    for (int32_t w = 0; w < costs; w++)
        g->cost_index[w] = -1;
    mark_tasks(g);
    return 0;
}

static void forget(th_spans_page *g)
{
    th_html_tracks_clear(&g->tracks);
    th_free(g->place);
    th_free(g->cost_index);
    th_free(g->costs);
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
    int failed = make_places(g);
    if (!failed) {
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
                     "{\"end\":%" PRId64 ",\"resolution\":%" PRId64 ",\"spans\":%" PRId64
                     ",\"drawn\":%" PRId64 ",\"hidden\":%d",
                     g->result->elapsed_ps, k->resolution, k->n_spans, k->n_drawn,
                     k->n_links_hidden);
    add_names(g);
    add_costs(g);
    add_tracks(g);
    th_strbuf_printf(out, ",\n\"stream\":\"%s\"}", g->packed.text);
}

enum { PACKED_BYTES_MAX = 1500000 }; /* on one page; what else it has is up to a megabyte */

int th_html_spans(th_session *s, const th_result *r, int64_t most, th_strbuf *out, th_error *err)
{
    th_spans_page g = {.session = s, .result = r, .out = out, .err = err};
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

void th_html_spans_block(th_strbuf *out, const char *const *names, const char *const *spans, int n)
{
    th_strbuf_add(out, "<script type=\"application/json\" id=\"spans\">\n[");
    for (int i = 0; i < n; i++) {
        th_strbuf_add(out, i > 0 ? ",\n{\"name\":" : "{\"name\":");
        th_strbuf_add_json(out, names[i]);
        th_strbuf_add(out, ",\"run\":");
        th_strbuf_add(out, spans[i]);
        th_strbuf_add(out, "}");
    }
    th_strbuf_add(out, "]\n</script>\n");
}

int th_html_timeline(th_html *p)
{
    enum { SPANS_MAX = 100000 }; /* on one page */
    th_strbuf spans = TH_STRBUF_INIT;
    int failed = th_html_spans(p->session, p->result, SPANS_MAX, &spans, p->err);
    if (!failed && !spans.failed)
        th_html_spans_block(p->out, (const char *const[]){""}, (const char *const[]){spans.text},
                            1);
    p->out->failed |= spans.failed;
    th_strbuf_clear(&spans);
    return failed;
}
