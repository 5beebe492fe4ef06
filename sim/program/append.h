/* SPDX-License-Identifier: GPL-3.0-or-later */
/* append.h - the tasks of one program as tasks of another, on other accelerators and later. */
#ifndef TH_SIM_PROGRAM_APPEND_H
#define TH_SIM_PROGRAM_APPEND_H
#include "sim/program/program.h"
#include "topology/system.h"

/* Tasks [first, first + n) of a program. Dependencies between them are kept, others dropped; they
 * belong to no layer, and to input 0. */
typedef struct th_program_part {
    const th_system *system;
    const th_program *from;
    int32_t first, n;
    /* of a program that was lowered from a mapping: its compute costs; NULL: it has works */
    const th_compute_cost_cache *costs;
    const int32_t *node_of; /* by node: the node in its place; NULL: itself */
    th_time shift_ps;       /* no task starts earlier */
} th_program_part;

/* Which accelerators the tasks use: is_used[n_accels]. Returns how many. */
int32_t th_program_accels(const th_system *s, const th_program *p, bool *is_used);

/* User schedules of collectives are shared, not copied. 0, or -1 and p is as it was: an accelerator
 * in the place of another lacks its design, a collective does not fit its nodes, or memory is
 * out. */
int th_program_append(th_program *p, const th_program_part *x, th_error *err);

#endif
