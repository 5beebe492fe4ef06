/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h - a program: tasks with dependencies, the only input that a machine simulates.
 *
 * Everything else (mappings, schedules, traces) is lowered to it. Tasks are numbered in program
 * order; among the tasks that wait for one accelerator, the lowest number runs first.
 *   new -> (add | depend)* -> finish -> read only -> (clear ->)* free */
#ifndef TH_SIM_PROGRAM_PROGRAM_H
#define TH_SIM_PROGRAM_PROGRAM_H
#include <assert.h>
#include <stdbool.h>
#include "base/error.h"
#include "base/units.h"
#include "base/map.h"
#include "sim/collective/collective.h"
#include "sim/design/compute_cost.h"

typedef enum {
    /* A shard, or work of a fixed duration, on an accelerator; has node, compute_cost. */
    TH_TASK_COMPUTE,
    TH_TASK_TRANSFER, /* bytes from node to peer over the network */
    /* node -1: a delay on no resource, for delay_ps, such as the arrival of an input at release.
     * Otherwise work of a host, for delay_ps; a host runs one task at a time, the ready tasks in
     * program order. */
    TH_TASK_HOST,
    TH_TASK_COLLECTIVE /* a collective of a group of nodes, replayed message by message */
} th_task_kind;

const char *th_task_kind_name(int32_t kind); /* "compute"; NULL after the last */

typedef struct th_task {
    int32_t kind; /* th_task_kind */
    int32_t node; /* where the task runs, or the sender */
    int32_t peer; /* the receiver */
    union {
        /* compute: the number of its cost (sim/design/compute_cost.h); in a program that is not
         * lowered from a mapping, the index of its fixed work, which is the same */
        int32_t compute_cost;
        int32_t collective; /* collective: index in the program's collectives */
        /* host without a node: the share of its rate that the accelerator of peer loses
         * meanwhile, as to a message of which the time is known; 0: none */
        float slowdown;
    };
    int64_t bytes;      /* transfer, >= 0 */
    th_time release_ps; /* earliest start */
    th_time delay_ps;   /* transfer: overhead before its first byte; host: duration */
    int32_t layer;      /* of the workload; -1: none */
    int32_t input;      /* of the stream, 0 based */
} th_task;

/* A computation whose cost depends on where it runs: a shard on a design of an accelerator. A key:
 * plain, without padding, compared by bytes. */
typedef struct th_placed_work {
    int32_t accel, design; /* design -1: the vector unit */
    th_shard shard;
} th_placed_work;

/* Tasks [first_task, first_task + n_tasks) that were added as a unit and have a name. */
typedef struct th_program_job {
    char *name;
    char *program; /* the program that it is a copy of */
    th_time start_ps;
    int32_t first_task, n_tasks;
    int32_t n_accels; /* that it uses */
} th_program_job;

typedef struct th_program {
    th_task *tasks;
    int32_t n_tasks;
    th_collective *collectives;
    int32_t n_collectives;
    /* all different; one without duration is the placed work that `operations` numbers */
    th_fixed_work *works;
    int32_t n_works;
    th_placed_work *placed;
    int32_t n_placed;
    th_program_job *jobs; /* in the order of their tasks */
    int32_t n_jobs;
    /* successors of task t: successors[successor_start[t] .. successor_start[t + 1]) */
    int32_t *successor_start, *successors;
    int32_t *n_predecessors;
    int32_t n_inputs; /* of the stream */
    int32_t wave;     /* inputs that may be in flight together; 1: one after another */
    int64_t n_dependencies;
    /* private */
    bool (*is_interrupted)(void);
    int32_t *edge_from, *edge_to;
    th_map *work_numbers;
    int32_t *blocked;
    size_t n_blocked, blocked_capacity, work_capacity, placed_capacity, job_capacity;
    size_t collective_capacity, task_capacity, edge_capacity, start_capacity, successor_capacity,
        predecessor_capacity;
} th_program;

th_program *th_program_new(th_error *err);
void th_program_clear(th_program *p); /* no tasks, memory kept */
void th_program_free(th_program *p);
/* Room for another task, of which there are INT32_MAX at most. 0 or -1. */
int th_program_grow_tasks(th_program *p, th_error *err);
/* Its number, or -1. */
static inline int32_t th_program_add(th_program *p, const th_task *t, th_error *err)
{
    if (((size_t)p->n_tasks == p->task_capacity || p->n_tasks == INT32_MAX) &&
        th_program_grow_tasks(p, err))
        return -1;
    p->tasks[p->n_tasks] = *t;
    if (t->input >= p->n_inputs)
        p->n_inputs = t->input + 1;
    return p->n_tasks++;
}
/* Adds a collective, which task.collective refers to; *c is copied. Its number, or -1. */
int32_t th_program_add_collective(th_program *p, const th_collective *c, th_error *err);
/* The number of a work, which is added if it is new; or -1. th_program_look_up_works finds it under
 * the same number in a new cache of compute costs. */
int32_t th_program_add_work(th_program *p, const th_fixed_work *w, th_error *err);
int32_t th_program_add_placed_work(th_program *p, const th_placed_work *w, th_error *err);
/* The placed work behind work number i; NULL: it has a fixed duration. */
static inline const th_placed_work *th_program_placed(const th_program *p, int32_t i)
{
    return p->works[i].duration_ps > 0 ? NULL : &p->placed[p->works[i].operations];
}
int th_program_look_up_works(const th_program *p, th_compute_cost_cache *costs, th_error *err);
/* Names the tasks from j->first_task on; both texts are copied. 0 or -1. */
int th_program_add_job(th_program *p, const th_program_job *j, th_error *err);
/* The job of a task; -1: none. */
int32_t th_program_job_of(const th_program *p, int32_t task);
/* The task waits for something that never comes: a message that nobody sends. 0 or -1. */
int th_program_block(th_program *p, int32_t task, th_error *err);
/* Reserves room for more dependencies. 0 or -1. */
int th_program_grow(th_program *p, th_error *err);
/* Task "after" starts when "before" has ended. 0 or -1. */
static inline int th_program_depend(th_program *p, int32_t after, int32_t before, th_error *err)
{
    assert(after >= 0 && before >= 0 && after < p->n_tasks && before < p->n_tasks &&
           after != before);
    if ((size_t)p->n_dependencies == p->edge_capacity && th_program_grow(p, err))
        return -1;
    p->edge_from[p->n_dependencies] = before;
    p->edge_to[p->n_dependencies++] = after;
    return 0;
}
/* A state of a program, and the return to it, which drops all that was added since: for callers
 * that add several things as a unit. */
typedef struct th_program_mark {
    int32_t n_tasks, n_collectives, n_inputs, n_works, n_placed, n_jobs;
    int64_t n_dependencies;
    size_t n_blocked;
} th_program_mark;
th_program_mark th_program_mark_of(const th_program *p);
void th_program_cut(th_program *p, th_program_mark mark);
/* finish polls is_interrupted; true: it fails with BASE-0008. NULL: never. */
void th_program_ask(th_program *p, bool (*is_interrupted)(void));
/* Builds the successor lists, of at most INT32_MAX dependencies. It does not look for cycles: the
 * replay of a cycle fails with SIM-0006. 0 or -1. */
int th_program_finish(th_program *p, th_error *err);

#endif
