/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine_inspect.c - the state of a machine and its results so far. Changes nothing.
 *
 * Results of links and accelerators include transfers and running tasks up to the current time;
 * on-chip accesses include tasks that have ended only. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "sim/machine/machine_state.h"

th_time th_machine_now(const th_machine *m)
{
    return m->now;
}

bool th_machine_is_done(const th_machine *m)
{
    return m->program && m->counts.tasks_done == m->program->n_tasks;
}

int64_t th_machine_events(const th_machine *m)
{
    return m->counts.events;
}

int64_t th_machine_tasks_done(const th_machine *m)
{
    return m->counts.tasks_done;
}

th_time th_machine_input_end(const th_machine *m, int32_t input)
{
    return m->tasks.input_end[input];
}

const th_task_result *th_machine_times(const th_machine *m)
{
    return m->tasks.times;
}

th_task_state th_machine_task_state(const th_machine *m, int32_t task)
{
    const th_task_result *t = &m->tasks.times[task];
    if (t->end_ps >= 0)
        return TH_TASK_DONE;
    if (t->start_ps >= 0)
        return TH_TASK_RUNNING;
    return t->ready_ps >= 0 ? TH_TASK_READY : TH_TASK_WAITING;
}

int32_t th_machine_running(const th_machine *m, int accel)
{
    return m->accels[accel].task;
}

bool th_machine_is_dead(const th_machine *m, int accel)
{
    return m->accels[accel].mode == TH_ACCEL_FAILED;
}

const th_collective *th_machine_collective(const th_machine *m, int32_t number)
{
    return th_replay_collective(m->replay, number);
}

int32_t th_machine_link_flows(const th_machine *m, int link)
{
    return m->network->link_flows[link];
}

/* Is the task one of an accelerator that has failed in its midst? */
static bool is_stopped(const th_machine *m, int32_t task)
{
    const th_task *t = &m->program->tasks[task];
    const th_accel_state *a =
        &m->accels[t->kind == TH_TASK_COMPUTE ? m->system->nodes[t->node].accel : 0];
    return t->kind == TH_TASK_COMPUTE && a->task == task && a->mode == TH_ACCEL_FAILED;
}

/* Reports the state of a run to an observer that joins it, without the messages of collectives in
 * flight, whose numbers are private to the replay. */
static void report_state(const th_machine *m, th_observer *o)
{
    for (int32_t i = 0; i < m->program->n_tasks; i++) {
        const th_task *task = &m->program->tasks[i];
        th_task_state state = th_machine_task_state(m, i);
        if (is_stopped(m, i))
            continue;
        if (task->kind == TH_TASK_COMPUTE && state >= TH_TASK_READY && state < TH_TASK_DONE)
            o->type->queued(o, m->now, m->system->nodes[task->node].accel);
        if (state == TH_TASK_RUNNING)
            o->type->task_start(o, m->now, i);
    }
    for (int l = 0; l < m->system->n_links; l++)
        if (m->network->link_flows[l] > 0)
            o->type->link(o, m->now, l, m->network->link_flows[l], 0);
}

static void join_run(const th_machine *m, th_observer *o)
{
    if (!o->type->follows || (m->counts.events > 0 && o->type->follows(o, m->program)))
        return;
    o->type->restart(o, m->program);
    th_health_report(m, o);
    if (m->counts.events > 0)
        report_state(m, o);
}

/* Does any observer in the list want the tiles of an accelerator at a time? *change falls to the
 * next time at which one begins or ceases to. */
static bool is_wanted(const th_observer *o, int accel, th_time at, th_time *change)
{
    bool is_wanted = false;
    for (; o; o = o->next) {
        if (!o->type->tile_window)
            continue;
        th_tile_window w = o->type->tile_window(o, accel);
        if (w.until < w.since || at > w.until)
            continue;
        th_time next = at < w.since ? w.since : th_time_add(w.until, 1);
        is_wanted |= at >= w.since;
        *change = next < *change ? next : *change;
    }
    return is_wanted;
}

/* Steps the tasks of all accelerators whose tiles an observer wants at a time. 0 or -1. */
static int watch(th_machine *m, const th_observer *first, th_time at, th_error *err)
{
    th_time change = TH_TIME_MAX;
    for (int a = 0; a < m->system->n_accels; a++)
        if (th_accelerator_watch(m, a, is_wanted(first, a, at, &change), err))
            return -1;
    m->watches_change = change;
    return 0;
}

int th_machine_watch(th_machine *m, th_time at, th_error *err)
{
    if (watch(m, m->observers, at, err))
        return -1;
    for (int a = 0; a < m->system->n_accels; a++)
        th_accelerator_report_state(m, a);
    return 0;
}

int th_machine_observe(th_machine *m, th_observer *first, th_error *err)
{
    if (watch(m, first, m->now, err))
        return -1;
    m->observers = m->network->observers = first;
    for (th_observer *o = first; o && m->program; o = o->next)
        join_run(m, o);
    for (int a = 0; a < m->system->n_accels; a++)
        th_accelerator_report_state(m, a);
    return 0;
}

static th_link_result link_result(const th_network *n, int link, th_time now)
{
    int32_t flows = n->link_flows[link];
    th_time open = flows > 0 ? now - n->link_since[link] : 0;
    uint64_t flow_ps = n->link_flow_ps[link] + (uint64_t)flows * (uint64_t)now;
    return (th_link_result){n->link_bytes[link], n->link_busy_ps[link] + open, (th_time)flow_ps,
                            n->link_peak_flows[link]};
}

th_link_result th_machine_link(const th_machine *m, int link)
{
    return link_result(m->network, link, m->now);
}

th_time th_machine_elapsed(const th_machine *m)
{
    return th_machine_is_done(m) ? m->last_end : m->now;
}

th_accel_result th_machine_accel(const th_machine *m, int accel)
{
    th_accel_result a = m->accels[accel].sum;
    th_pipeline_stats running = th_accelerator_running(m, accel);
    th_stats_add(&a.stats, &running);
    a.idle_ps = th_machine_elapsed(m) - th_stats_occupied(&a.stats);
    return a;
}

int32_t th_machine_waiting(const th_machine *m, int accel)
{
    return (int32_t)m->accels[accel].ready.n;
}

th_tiles th_machine_tiles(const th_machine *m, int accel)
{
    return th_accelerator_tiles(m, accel);
}

static int allocate_result(const th_machine *m, th_result *r)
{
    *r = (th_result){.n_accels = m->system->n_accels,
                     .n_links = m->system->n_links,
                     .n_tasks = m->program->n_tasks,
                     .n_layers = m->layers.n,
                     .n_inputs = m->program->n_inputs,
                     .wave = m->program->wave};
    r->accels = th_alloc_zero((size_t)r->n_accels + 1, sizeof *r->accels);
    r->links = th_alloc_zero((size_t)r->n_links + 1, sizeof *r->links);
    r->tasks = th_alloc_zero((size_t)r->n_tasks + 1, sizeof *r->tasks);
    if (m->tasks.has_fault_times)
        r->fault_ps = th_alloc_zero((size_t)r->n_tasks + 1, sizeof *r->fault_ps);
    r->layers = th_alloc_zero((size_t)r->n_layers + 1, sizeof *r->layers);
    r->input_end_ps = th_alloc_zero((size_t)r->n_inputs + 1, sizeof *r->input_end_ps);
    return r->accels && r->links && r->tasks && r->layers && r->input_end_ps &&
                   (r->fault_ps || !m->tasks.has_fault_times)
               ? 0
               : -1;
}

/* An input has ended when all of its tasks have. */
static void copy_input_ends(const th_machine *m, th_time *out)
{
    memcpy(out, m->tasks.input_end, (size_t)m->program->n_inputs * sizeof *out);
    for (int32_t t = 0; t < m->program->n_tasks; t++)
        if (m->tasks.times[t].end_ps < 0)
            out[m->program->tasks[t].input] = -1;
}

int th_machine_result(const th_machine *m, th_result *out, th_error *err)
{
    th_result r;
    if (allocate_result(m, &r)) {
        th_result_clear(&r);
        return th_error_no_memory(err);
    }
    r.is_done = th_machine_is_done(m);
    r.elapsed_ps = r.is_done ? m->last_end : m->now;
    th_layers_copy(m, r.layers);
    for (int a = 0; a < r.n_accels; a++) {
        th_pipeline_stats stats = th_accelerator_running(m, a);
        r.accels[a] = m->accels[a].sum;
        th_stats_add(&r.accels[a].stats, &stats);
        r.accels[a].idle_ps = r.elapsed_ps - th_stats_occupied(&r.accels[a].stats);
        th_layers_add_running(m, m->accels[a].task, &stats, r.layers);
    }
    th_layers_finish(r.layers, r.n_layers);
    for (int l = 0; l < r.n_links; l++)
        r.links[l] = link_result(m->network, l, m->now);
    memcpy(r.tasks, m->tasks.times, (size_t)r.n_tasks * sizeof *r.tasks);
    if (r.fault_ps)
        memcpy(r.fault_ps, m->tasks.fault_times, (size_t)r.n_tasks * sizeof *r.fault_ps);
    copy_input_ends(m, r.input_end_ps);
    r.moved_bytes = m->counts.moved_bytes;
    r.n_events = m->counts.events;
    r.n_expanded = m->counts.expansions;
    *out = r;
    return 0;
}
