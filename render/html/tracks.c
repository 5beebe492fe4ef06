/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tracks.c - rows of spans; spans that are too short to be seen are merged.
 *   order -> make rows -> count (coarser and coarser, until there are few enough) -> store
 * Tasks come in the order of their starts, so each row needs its last span only. A short task is
 * merged with the short ones that began less than a resolution earlier: a row of n resolutions has
 * at most n such spans. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "sim/analysis/critical_path.h"
#include "render/html/tracks.h"
#include "base/interrupt.h"
#include "topology/routing/route.h"

th_time th_html_tracks_end(const th_html_tracks *k, int32_t task)
{
    th_time end = k->result->tasks[task].end_ps;
    return end >= 0 ? end : k->result->elapsed_ps;
}

/* ---- rows ---- */

static int add_track(th_html_tracks *k, th_html_track_kind kind)
{
    k->tracks[k->n] = (th_html_track){
        .kind = kind, .name = "", .faults = -1, .link = -1, .stage = -1, .open = -1};
    return k->n++;
}

static void add_accel_track(th_html_tracks *k, int accel, int32_t stage)
{
    const th_system *s = k->session->system;
    int track = k->track_of_accel[accel] = add_track(k, TH_HTML_TRACK_ACCEL);
    k->tracks[track].name = s->nodes[s->accel_node[accel]].name;
    k->tracks[track].faults = s->n_media + accel;
    k->tracks[track].stage = stage;
}

static int by_time(const void *a, const void *b)
{
    th_time x = *(const th_time *)a, y = *(const th_time *)b;
    return (x < y) - (x > y);
}

/* The busy time that earns a link a row; 1: any. -1: memory is out. */
static th_time least_busy(const th_result *r)
{
    th_time *busy = th_alloc_array((size_t)r->n_links + 1, sizeof *busy);
    if (!busy)
        return -1;
    for (int l = 0; l < r->n_links; l++)
        busy[l] = r->links[l].busy_ps;
    qsort(busy, (size_t)r->n_links, sizeof *busy, by_time);
    th_time least = r->n_links > TH_HTML_LINK_TRACKS_MAX ? busy[TH_HTML_LINK_TRACKS_MAX - 1] : 1;
    th_free(busy);
    return least > 0 ? least : 1;
}

static void add_link_track(th_html_tracks *k, int link)
{
    const th_link *l = &k->session->system->links[link];
    int track = k->track_of_link[link] = add_track(k, TH_HTML_TRACK_LINK);
    k->tracks[track].name = l->name;
    k->tracks[track].faults = l->medium;
    k->tracks[track].link = link;
}

static void add_link_tracks(th_html_tracks *k, th_time least)
{
    const th_result *r = k->result;
    int n = 0;
    for (int l = 0; l < r->n_links; l++) {
        k->track_of_link[l] = -1;
        if (r->links[l].busy_ps == 0)
            continue;
        if (r->links[l].busy_ps >= least && n++ < TH_HTML_LINK_TRACKS_MAX)
            add_link_track(k, l);
        else
            k->n_links_hidden++;
    }
}

/* The step of training that is simulated; NULL: none is. */
static const th_training_step *step_of(const th_html_tracks *k)
{
    return k->session->hand_built ? k->session->hand_built->step : NULL;
}

/* Are the messages of a step delays? */
static bool has_delays(const th_html_tracks *k)
{
    return step_of(k) && step_of(k)->is_merged;
}

/* The accelerators of a step, stage by stage: those of all ranks, or of the one that stands for
 * its stage. */
static void add_stage_tracks(th_html_tracks *k, const th_training_step *x)
{
    int32_t ranks = x->is_merged ? 1 : th_plan_stage_ranks(&x->plan);
    for (int32_t stage = 0; stage < x->plan.n.pipeline; stage++)
        for (int32_t rank = 0; rank < ranks; rank++)
            add_accel_track(k, th_plan_accel(&x->plan, stage, rank), stage);
}

static int make_tracks(th_html_tracks *k)
{
    const th_result *r = k->result;
    const th_program *p = k->session->simulation->program;
    th_time least = least_busy(r);
    k->tracks = th_alloc_array((size_t)r->n_accels + (size_t)r->n_links + 2, sizeof *k->tracks);
    k->track_of_accel = th_alloc_array((size_t)r->n_accels + 1, sizeof *k->track_of_accel);
    k->track_of_link = th_alloc_array((size_t)r->n_links + 1, sizeof *k->track_of_link);
    if (least < 0 || !k->tracks || !k->track_of_accel || !k->track_of_link)
        return -1;
    add_track(k, TH_HTML_TRACK_PATH);
    bool has_messages = p->n_collectives > 0 || has_delays(k);
    k->track_of_collectives = has_messages ? add_track(k, TH_HTML_TRACK_COLLECTIVE) : -1;
    if (step_of(k))
        add_stage_tracks(k, step_of(k));
    else
        for (int a = 0; a < r->n_accels; a++)
            add_accel_track(k, a, -1);
    add_link_tracks(k, least);
    return 0;
}

/* ---- spans ---- */

/* A short span joins the open span, if that began less than one resolution ago. */
static bool is_joined(const th_html_tracks *k, const th_html_track *t, th_time start)
{
    return t->open >= 0 && start - t->open_start < k->resolution;
}

static void join(th_html_track *t, int32_t task, th_time start, th_time end)
{
    th_html_span *s = &t->spans[t->open];
    if (end - start > s->longest) {
        s->task = task;
        s->longest = end - start;
    }
    s->count++;
    s->busy += end - start;
    s->end = end > s->end ? end : s->end;
}

static int add_span(th_html_tracks *k, int track, int32_t task, th_time start, th_time end)
{
    th_html_track *t = &k->tracks[track];
    bool is_short = end - start < k->resolution;
    if (is_short && is_joined(k, t, start)) {
        if (k->stores)
            join(t, task, start, end);
        return 0;
    }
    if (is_short) {
        t->open = (int64_t)t->n;
        t->open_start = start;
    }
    k->n_drawn++;
    if (k->stores && th_grow(&t->spans, &t->capacity, t->n + 1, sizeof *t->spans) != 0)
        return -1;
    if (k->stores)
        t->spans[t->n] = (th_html_span){task, 1, start, end, end - start, end - start};
    t->n++;
    return 0;
}

/* A transfer is on every link of its route from its start to its end. */
static int add_transfer(th_html_tracks *k, int32_t number, const th_task *t, th_time end)
{
    int links[TH_ROUTE_MAX];
    int n = th_route(k->session->system, t->node, t->peer, links);
    if (n == TH_NO_MEMORY)
        return -1;
    for (int i = 0; i < n; i++) {
        int track = k->track_of_link[links[i]];
        if (track >= 0 && add_span(k, track, number, k->result->tasks[number].start_ps, end) != 0)
            return -1;
    }
    return 0;
}

static int add_task(th_html_tracks *k, int32_t number)
{
    const th_task *t = &k->session->simulation->program->tasks[number];
    th_time start = k->result->tasks[number].start_ps, end = th_html_tracks_end(k, number);
    switch ((th_task_kind)t->kind) {
    case TH_TASK_COMPUTE:
        return add_span(k, k->track_of_accel[k->session->system->nodes[t->node].accel], number,
                        start, end);
    case TH_TASK_TRANSFER:
        return add_transfer(k, number, t, end);
    case TH_TASK_COLLECTIVE:
        return add_span(k, k->track_of_collectives, number, start, end);
    case TH_TASK_HOST:
        return has_delays(k) ? add_span(k, k->track_of_collectives, number, start, end) : 0;
    }
    return 0;
}

static bool is_interrupted_at(th_html_tracks *k, int32_t i)
{
    enum { TASKS_BETWEEN = 1 << 16 }; /* polls of Ctrl-C */
    k->was_interrupted |= i % TASKS_BETWEEN == 0 && th_interrupt_is_pending();
    return k->was_interrupted;
}

/* All spans at this resolution, stored or only counted. */
static int walk(th_html_tracks *k, const th_path_entry *path, int n_path)
{
    k->n_drawn = 0;
    for (int i = 0; i < k->n; i++) {
        k->tracks[i].n = 0;
        k->tracks[i].open = -1;
    }
    for (int i = 0; i < n_path; i++)
        if (add_span(k, 0, path[i].task, path[i].start_ps, path[i].end_ps) != 0)
            return -1;
    for (int32_t i = 0; i < k->n_started; i++)
        if (is_interrupted_at(k, i) || add_task(k, k->order[i]) != 0)
            return -1;
    return 0;
}

enum { FINEST = 16 }; /* the first resolution that is tried: makespan / 2^16 */

static int merge_short_spans(th_html_tracks *k, const th_path_entry *path, int n_path, int64_t most)
{
    if (walk(k, path, n_path) != 0)
        return -1;
    k->n_spans = k->n_drawn;
    for (int halvings = FINEST; k->n_drawn > most && halvings >= 0; halvings--) {
        k->resolution = (k->result->elapsed_ps >> halvings) + 1;
        if (walk(k, path, n_path) != 0)
            return -1;
    }
    k->stores = true;
    return walk(k, path, n_path);
}

int th_html_tracks_collect(th_html_tracks *k, const th_session *s, const th_result *r, int64_t most,
                           th_error *err)
{
    th_path_entry *path = NULL;
    *k = (th_html_tracks){.session = s, .result = r};
    int n_path = th_critical_path(r, &path, err);
    if (n_path >= 0 && th_tasks_by_start(k->result, &k->order, &k->n_started) == 0 &&
        make_tracks(k) == 0 && merge_short_spans(k, path, n_path, most) == 0) {
        th_free(path);
        return 0;
    }
    th_free(path);
    bool was_interrupted = k->was_interrupted;
    th_html_tracks_clear(k);
    return was_interrupted ? th_error_interrupted(err, "no track was drawn")
                           : th_error_no_memory(err);
}

void th_html_tracks_clear(th_html_tracks *k)
{
    for (int i = 0; i < k->n; i++)
        th_free(k->tracks[i].spans);
    th_free(k->tracks);
    th_free(k->order);
    th_free(k->track_of_accel);
    th_free(k->track_of_link);
    *k = (th_html_tracks){.n = 0};
}
