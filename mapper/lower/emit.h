/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit.h - private to lowering: the tasks of one pass. */
#ifndef TH_MAPPER_EMIT_H
#define TH_MAPPER_EMIT_H
#include "mapper/lower/lower_state.h"

/* Adds the tasks of a pass to l->program. The plans of its batch are in l; passes come in order. 0
 * or -1. */
int th_emit_pass(th_lower *l, const th_stream *stream, int32_t pass, th_error *err);

/* The release of a part of the workload, l->emission.release: its input has arrived, and no more
 * than in_flight passes of the part are in the system. 0 or -1. */
int th_emit_release(th_lower *l, const th_stream *stream, int number, th_error *err);
/* A compute of a position, and a transfer between two nodes. The task, or -1. */
int32_t th_emit_compute(th_lower *l, int layer, int r, int32_t cost, th_error *err);
int32_t th_emit_transfer(th_lower *l, int layer, int32_t from, int32_t to, int64_t bytes,
                         th_error *err);
/* The part ends after this task, too. 0, or -1: memory is out. */
int th_emit_end(th_lower *l, int32_t task);

/* A task that has not ended: a transfer, or a compute (peer -1). Without padding, as keys contain
 * it. */
typedef struct th_pending_task {
    int32_t node, peer, compute_cost;
    int32_t n_demands;  /* if it is running: how often the DRAM demand of flows has changed */
    th_time started_ps; /* <= 0: running since then; 1: it has not started */
    int64_t bytes;
} th_pending_task;

typedef struct th_pending_dependency {
    int32_t after, before; /* tasks */
} th_pending_dependency;

/* The pending tasks of the layers up to one, in program order, running ones first. */
typedef struct th_pending_tasks {
    const th_pending_task *task;
    const th_pending_dependency *wait;
    const int32_t *final; /* by position of that layer: its last task */
    int32_t n_tasks, n_waits;
} th_pending_tasks;

/* Adds the tasks of layers first .. last of a single pass, planned by th_lower_plan, to l->program,
 * which is empty: behind the release of its input or, where first > 0, behind what remains of the
 * layers before; with the last layer, the transfers of the outputs too. 0, with
 * l->starts_unreleased if a task waits for the release alone though first > 0, or -1. */
int th_emit_segment(th_lower *l, int first, int last, const th_pending_tasks *before,
                    th_error *err);

#endif
