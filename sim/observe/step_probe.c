/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_probe.c - see step_probe.h. */
#include <config.h>

#include "sim/observe/step_probe.h"

#include "base/alloc.h"

static void count(th_step_probe *p, int64_t n, const th_happened *h)
{
    p->last = *h;
    p->left -= n;
    p->observer.stops_run = p->left <= 0;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static size_t n_layers(const th_program *program)
{
    int32_t most = -1;
    for (int32_t t = 0; t < program->n_tasks; t++)
        if (program->tasks[t].layer > most)
            most = program->tasks[t].layer;
    return (size_t)(most + 1);
}

/* NULL: the task begins no layer. */
static bool *layer_of(th_step_probe *p, int32_t task)
{
    const th_task *t = &p->program->tasks[task];
    bool counts = !p->choice.tasks || p->choice.tasks[task];
    if (t->kind != TH_TASK_COMPUTE || t->layer < 0 || !counts)
        return NULL;
    return &p->has_begun[(size_t)t->layer * (size_t)p->program->n_inputs + (size_t)t->input];
}

static int prepare_layers(th_step_probe *p, const th_machine *m, th_error *err)
{
    size_t n = n_layers(p->program), n_inputs = (size_t)p->program->n_inputs;
    const th_task_result *times = th_machine_times(m);
    p->has_begun = th_alloc_zero(n * n_inputs + 1, sizeof *p->has_begun);
    if (!p->has_begun)
        return th_error_no_memory(err);
    for (int32_t t = 0; t < p->program->n_tasks; t++) {
        bool *has_begun = layer_of(p, t);
        if (has_begun && times[t].start_ps >= 0)
            *has_begun = true;
    }
    return 0;
}

static void layer_may_begin(th_step_probe *p, th_time now, int32_t task)
{
    bool *has_begun = layer_of(p, task);
    if (!has_begun || *has_begun)
        return;
    *has_begun = true;
    count(p, 1, &(th_happened){.at = now, .kind = TH_HAPPENED_TASK_START, .object = task});
}

/* ---- notify functions ------------------------------------------------------------------------ */

static void task_event(th_step_probe *p, th_time now, th_happened_kind kind, int32_t task)
{
    if (p->choice.unit == TH_STEP_EVENT && (!p->choice.tasks || p->choice.tasks[task]))
        count(p, 1, &(th_happened){.at = now, .kind = (int32_t)kind, .object = task});
}

static void task_start(th_observer *o, th_time now, int32_t task)
{
    th_step_probe *p = (th_step_probe *)o;
    task_event(p, now, TH_HAPPENED_TASK_START, task);
    if (p->choice.unit == TH_STEP_LAYER)
        layer_may_begin(p, now, task);
}

static void task_end(th_observer *o, th_time now, int32_t task)
{
    task_event((th_step_probe *)o, now, TH_HAPPENED_TASK_END, task);
}

static void message_event(th_step_probe *p, th_time now, th_happened_kind kind,
                          const th_message *message)
{
    if (p->choice.unit == TH_STEP_EVENT && !p->choice.tasks)
        count(p, 1, &(th_happened){.at = now, .kind = (int32_t)kind, .message = *message});
}

static void message_start(th_observer *o, th_time now, int32_t task, int32_t flow,
                          const th_message *message)
{
    (void)task;
    (void)flow;
    message_event((th_step_probe *)o, now, TH_HAPPENED_MESSAGE_START, message);
}

static void message_end(th_observer *o, th_time now, int32_t flow, const th_message *message)
{
    (void)flow;
    message_event((th_step_probe *)o, now, TH_HAPPENED_MESSAGE_END, message);
}

static bool counts_tiles(const th_step_choice *c, int accel)
{
    return c->unit == TH_STEP_TILE && (!c->accels || c->accels[accel]);
}

static th_tile_window tile_window(const th_observer *o, int accel)
{
    bool is_counted = counts_tiles(&((const th_step_probe *)o)->choice, accel);
    return (th_tile_window){.until = is_counted ? TH_TIME_MAX : -1};
}

static bool counts_running(const th_step_probe *p, int accel)
{
    int32_t task = p->choice.tasks ? th_machine_running(p->machine, accel) : -1;
    return !p->choice.tasks || (task >= 0 && p->choice.tasks[task]);
}

/* A count that falls is that of another task. */
static void tiles_change(th_observer *o, th_time now, int accel, const th_tiles *tiles)
{
    th_step_probe *p = (th_step_probe *)o;
    if (!counts_tiles(&p->choice, accel))
        return;
    int64_t before = p->tiles_done[accel], done = tiles->done;
    p->tiles_done[accel] = done;
    if (done < before)
        before = 0;
    if (done > before && counts_running(p, accel))
        count(p, done - before,
              &(th_happened){.at = now, .kind = TH_HAPPENED_TILE, .object = accel, .tile = done});
}

/* ---- life ------------------------------------------------------------------------------------ */

int th_step_probe_init(th_step_probe *p, const th_step_choice *choice, int64_t n,
                       const th_machine *m, const th_program *program, int n_accels, th_error *err)
{
    static const th_observer_type type = {.tile_window = tile_window,
                                          .task_start = task_start,
                                          .task_end = task_end,
                                          .message_start = message_start,
                                          .message_end = message_end,
                                          .tiles = tiles_change};
    *p = (th_step_probe){
        .observer.type = &type, .choice = *choice, .left = n, .machine = m, .program = program};
    p->tiles_done = th_alloc_zero((size_t)n_accels + 1, sizeof *p->tiles_done);
    if (!p->tiles_done)
        return th_error_no_memory(err);
    for (int a = 0; choice->unit == TH_STEP_TILE && a < n_accels; a++)
        p->tiles_done[a] = th_machine_tiles(m, a).done;
    if (choice->unit != TH_STEP_LAYER || prepare_layers(p, m, err) == 0)
        return 0;
    th_step_probe_clear(p);
    return -1;
}

void th_step_probe_clear(th_step_probe *p)
{
    th_free(p->tiles_done);
    th_free(p->has_begun);
    p->tiles_done = NULL;
    p->has_begun = NULL;
}
