/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_shard.c - lower bounds on the tasks of single shards, each found once and numbered.
 *   number*
 * Class by class and design by design, by bounds_task.c. Invariant: tasks[i] is the bound of shard
 * number i on the fastest class, task_ps[i n_classes + c] on class c. */
#include <config.h>

#include "mapper/evaluate/bounds_layer.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/evaluate/bounds_task.h"
#include "sim/design/script_memo.h"

enum { SCRIPT_CALLS_MAX = 10000 }; /* shards for which procedures of scripts are called */

/* Does a script make the schedule, and may it not be called? */
static bool is_unavailable_script(th_floors *f, int design, const th_shard *shard)
{
    if (strcmp(f->system->designs[design].type, "script") != 0 || !th_shard_is_for_arrays(shard))
        return false;
    return !f->calls_scripts || f->n_script_calls++ >= SCRIPT_CALLS_MAX;
}

static struct th_task_floor script_unknown(const th_floors *f, int design)
{
    th_unknown_reason why =
        f->calls_scripts ? TH_UNKNOWN_SCRIPT_FAILED : TH_UNKNOWN_SCRIPT_NOT_CALLABLE;
    return (struct th_task_floor){.unknown = why, .unknown_design = design};
}

/* On an accelerator of a class with one of its designs; INFINITY: the design cannot run it. */
static struct th_task_floor floor_with(th_floors *f, int class, int design, const th_shard *shard)
{
    static const struct th_task_floor impossible = {INFINITY, INFINITY, 0, TH_UNKNOWN_NONE, -1};
    th_schedule s;
    th_port port;
    th_error reason;
    double clock = th_floors_clock(f, class);
    if (clock == 0)
        return impossible;
    if (is_unavailable_script(f, design, shard))
        return script_unknown(f, design);
    const th_compute_unit unit = {f->first_of[class], design, clock};
    if (th_compute_cost_schedule_at(f->costs, unit, shard, &s, &reason)) {
        f->was_interrupted |= th_error_is_interrupted(&reason);
        return th_script_is_cause(&reason) ? script_unknown(f, design) : impossible;
    }
    port = th_compute_cost_port(f->costs, f->first_of[class]);
    return (struct th_task_floor){th_task_least_ps(&s, &port), th_task_least_bytes(&s, &port),
                                  (double)th_cycles_ps(th_schedule_sum(&s).cycles, s.hz),
                                  TH_UNKNOWN_NONE, -1};
}

/* The lesser of each bound; the first unknown stays. */
static void take_less(struct th_task_floor *a, const struct th_task_floor *b)
{
    if (b->occupied < a->occupied) {
        a->occupied = b->occupied;
        a->computing = b->computing;
    }
    a->dram_bytes = fmin(a->dram_bytes, b->dram_bytes);
    if (a->unknown == TH_UNKNOWN_NONE) {
        a->unknown = b->unknown;
        a->unknown_design = b->unknown_design;
    }
}

static struct th_task_floor floor_on(th_floors *f, int class, const th_shard *shard)
{
    struct th_task_floor least = {INFINITY, INFINITY, 0, TH_UNKNOWN_NONE, -1};
    const th_accel *a = th_floors_accel(f, class);
    for (int i = 0; i < a->n_designs; i++) {
        struct th_task_floor with = floor_with(f, class, a->designs[i], shard);
        take_less(&least, &with);
    }
    return least;
}

/* Room for one more shard. 0 or -1. */
static int grow_tasks(th_floors *f)
{
    size_t n = f->n_tasks + 1;
    return th_grow(&f->tasks, &f->task_capacity, n, sizeof *f->tasks) ||
                   th_grow(&f->task_ps, &f->task_ps_capacity, n * (size_t)f->n_classes,
                           sizeof *f->task_ps)
               ? -1
               : 0;
}

int64_t th_floors_number(th_floors *f, const th_shard *shard)
{
    int64_t number;
    if (th_map_get(f->numbers, shard, sizeof *shard, &number))
        return number;
    if (grow_tasks(f))
        return -1;
    struct th_task_floor best = {INFINITY, INFINITY, 0, TH_UNKNOWN_NONE, -1};
    double *ps = &f->task_ps[f->n_tasks * (size_t)f->n_classes];
    for (int c = 0; c < f->n_classes; c++) {
        struct th_task_floor on = floor_on(f, c, shard);
        ps[c] = on.occupied;
        take_less(&best, &on);
    }
    if (!f->any_cuts) /* else by rates: bounds_rate.c */
        th_floors_update_speed(f, ps, best.occupied);
    if (th_map_put(f->numbers, shard, sizeof *shard, (int64_t)f->n_tasks))
        return -1;
    f->tasks[f->n_tasks] = best;
    return (int64_t)f->n_tasks++;
}
