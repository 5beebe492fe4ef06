/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment_cut.c - the state at a cut, read off a finished replay: the tasks that remain at the
 * latest time without transfers before anything behind the cut can begin, and the progress of
 * running ones.
 *   cut: the time -> tasks, dependencies and finals into scratch -> the kept state with
 * these bytes, or a new one */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/evaluate/segment_state.h"

/* The earliest end of a last task of the layer. */
static th_time first_end(const th_segments *s, int layer)
{
    const th_lower *l = s->lower;
    const th_task_result *times = th_machine_times(s->machine);
    th_time first = TH_TIME_MAX;
    for (int r = 0; r < l->planned.layer_plan[layer]->n; r++) {
        th_time end = times[l->emission.final[l->emission.first_final[layer] + r]].end_ps;
        first = end < first ? end : first;
    }
    return first;
}

static bool is_under_way(const th_task_result *t, th_time at)
{
    return t->start_ps < at && t->end_ps >= at;
}

/* The latest time up to t before whose events no transfer is in flight; 0: none but the
 * start. */
static th_time last_quiet(const th_segments *s, th_time t)
{
    const th_program *p = s->program;
    const th_task_result *times = th_machine_times(s->machine);
    for (th_time before = t;; t = before) {
        for (int32_t i = 0; i < p->n_tasks; i++)
            if (p->tasks[i].kind == TH_TASK_TRANSFER && is_under_way(&times[i], t) &&
                times[i].start_ps < before)
                before = times[i].start_ps;
        if (before == t)
            return t;
    }
}

/* --- into scratch --- */

/* Appends task, which has not ended at t, to the pending tasks. -1: memory is out. */
static int add_task(th_segments *s, th_segment_state *x, int32_t task, th_time t)
{
    const th_compute_cost_cache *costs = th_lower_costs(s->lower);
    const th_task *from = &s->program->tasks[task];
    const th_task_result *times = &th_machine_times(s->machine)[task];
    th_pending_task to = {from->node, from->peer, from->compute_cost, 0, 1, from->bytes};
    if (is_under_way(times, t)) {
        th_in_flight u = th_machine_in_flight_at(s->machine, task, t);
        if (times->end_ps == t) /* that is all that counts, however it came about */
            u = (th_in_flight){-th_compute_cost_get(costs, from->compute_cost)->collapsed_ps, NULL,
                               0};
        size_t before = (size_t)x->n_demands;
        if (th_grow(&s->scratch.demand, &s->scratch.demand_capacity, before + u.n_demands,
                    sizeof *s->scratch.demand))
            return -1;
        if (u.n_demands > 0)
            memcpy(&s->scratch.demand[before], u.demands, u.n_demands * sizeof *u.demands);
        x->n_demands += (int32_t)u.n_demands;
        to.n_demands = (int32_t)u.n_demands;
        to.started_ps = u.started_ps;
    }
    if (th_grow(&s->scratch.task, &s->scratch.task_capacity, (size_t)x->n_tasks + 1,
                sizeof *s->scratch.task))
        return -1;
    s->scratch.task[x->n_tasks] = to;
    s->scratch.number[task] = x->n_tasks++;
    return 0;
}

/* Running tasks, or waiting ones, in program order. */
static int add_tasks(th_segments *s, th_segment_state *x, th_time t, bool under_way)
{
    const th_task_result *times = th_machine_times(s->machine);
    for (int32_t i = 0; i < s->program->n_tasks; i++)
        if (times[i].end_ps >= t && is_under_way(&times[i], t) == under_way && add_task(s, x, i, t))
            return -1;
    return 0;
}

static int add_waits(th_segments *s, th_segment_state *x, th_time t)
{
    const th_program *p = s->program;
    const th_task_result *times = th_machine_times(s->machine);
    for (int32_t i = 0; i < p->n_tasks; i++) {
        if (times[i].end_ps < t)
            continue;
        int32_t first = p->successor_start[i], n = p->successor_start[i + 1] - first;
        if (th_grow(&s->scratch.wait, &s->scratch.wait_capacity, (size_t)x->n_waits + (size_t)n,
                    sizeof *s->scratch.wait))
            return -1;
        for (int32_t k = 0; k < n; k++)
            s->scratch.wait[x->n_waits++] = (th_pending_dependency){
                s->scratch.number[p->successors[first + k]], s->scratch.number[i]};
    }
    return 0;
}

static int add_finals(th_segments *s, th_segment_state *x, int layer)
{
    const th_lower *l = s->lower;
    x->n_finals = l->planned.layer_plan[layer]->n;
    if (th_grow(&s->scratch.final, &s->scratch.final_capacity, (size_t)x->n_finals,
                sizeof *s->scratch.final))
        return -1;
    for (int r = 0; r < x->n_finals; r++)
        s->scratch.final[r] =
            s->scratch.number[l->emission.final[l->emission.first_final[layer] + r]];
    return 0;
}

/* --- out of scratch --- */

static size_t add_to_key(char *key, size_t at, const void *bytes, size_t n)
{
    if (n > 0)
        memcpy(key + at, bytes, n);
    return at + n;
}

/* The bytes of the state in scratch, in s->scratch.state_key. 0: memory is out. */
static size_t key_of_state(th_segments *s, const th_segment_state *x)
{
    const int32_t sizes[] = {x->n_tasks, x->n_waits, x->n_finals, x->n_demands};
    size_t tasks = (size_t)x->n_tasks * sizeof *s->scratch.task,
           waits = (size_t)x->n_waits * sizeof *s->scratch.wait,
           finals = (size_t)x->n_finals * sizeof *s->scratch.final,
           demands = (size_t)x->n_demands * sizeof *s->scratch.demand;
    if (th_grow(&s->scratch.state_key, &s->scratch.state_key_capacity,
                sizeof sizes + tasks + waits + finals + demands, 1))
        return 0;
    size_t n = add_to_key(s->scratch.state_key, 0, sizes, sizeof sizes);
    n = add_to_key(s->scratch.state_key, n, s->scratch.task, tasks);
    n = add_to_key(s->scratch.state_key, n, s->scratch.wait, waits);
    n = add_to_key(s->scratch.state_key, n, s->scratch.final, finals);
    return add_to_key(s->scratch.state_key, n, s->scratch.demand, demands);
}

/* A copy that stays. NULL: memory is out. */
static const void *keep(th_segments *s, const void *from, int32_t n, size_t size)
{
    void *to = th_arena_alloc(s->arena, (size_t)n * size);
    if (to && n > 0)
        memcpy(to, from, (size_t)n * size);
    return to;
}

static th_segment_state *keep_state(th_segments *s, const th_segment_state *x)
{
    th_segment_state *kept = th_arena_alloc(s->arena, sizeof *kept);
    if (!kept)
        return NULL;
    *kept = *x;
    kept->number = (int32_t)atomic_fetch_add(&s->memo->n_states, 1) + 1;
    kept->task = keep(s, s->scratch.task, x->n_tasks, sizeof *s->scratch.task);
    kept->wait = keep(s, s->scratch.wait, x->n_waits, sizeof *s->scratch.wait);
    kept->final = keep(s, s->scratch.final, x->n_finals, sizeof *s->scratch.final);
    kept->demand = keep(s, s->scratch.demand, x->n_demands, sizeof *s->scratch.demand);
    return kept->task && kept->wait && kept->final && kept->demand ? kept : NULL;
}

/* The published state with the bytes in scratch. NULL: memory is out. */
static const th_segment_state *known_state(th_segments *s, const th_segment_state *x)
{
    size_t bytes = key_of_state(s, x);
    if (bytes == 0)
        return NULL;
    const th_segment_state *known =
        th_shared_map_find(s->memo->states, s->scratch.state_key, bytes);
    if (known)
        return known;
    const th_segment_state *kept = keep_state(s, x);
    if (!kept)
        return NULL;
    known = th_shared_map_add(s->memo->states, s->scratch.state_key, bytes, kept);
    if (known == kept)
        atomic_fetch_add(&s->memo->held_bytes, 2 * bytes + TH_SEGMENT_ENTRY_BYTES);
    return known;
}

int th_segment_cut(th_segments *s, int layer, th_segment_step *out)
{
    th_segment_state x = {0};
    th_time t = last_quiet(s, first_end(s, layer));
    out->elapsed_ps = t;
    out->end = TH_STEP_NO_CUT;
    if (t <= 0)
        return 0;
    if (th_grow(&s->scratch.number, &s->scratch.number_capacity, (size_t)s->program->n_tasks,
                sizeof *s->scratch.number))
        return -1;
    if (add_tasks(s, &x, t, true) || add_tasks(s, &x, t, false) || add_waits(s, &x, t) ||
        add_finals(s, &x, layer))
        return -1;
    out->end = TH_STEP_TO_STATE;
    out->to = known_state(s, &x);
    return out->to ? 0 : -1;
}
