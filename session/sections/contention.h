/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention.h - which other task delayed a task of a run, and at which resource.
 *   new -> find* -> free */
#ifndef TH_SESSION_SECTIONS_CONTENTION_H
#define TH_SESSION_SECTIONS_CONTENTION_H
#include "session/table/quantity.h"
#include "session/session.h"

typedef struct th_contention th_contention;

typedef struct th_contender {
    int32_t task;         /* that occupied the resource longest; -1: none */
    int32_t dram, link;   /* the resource: the DRAM of an accelerator, or a link; the other is -1 */
    th_time overlap_ps;   /* overlap with that task */
    int32_t n_contenders; /* that occupied the resource, this one included */
} th_contender;

/* For the run of the session and its result, which must both outlive it. NULL: memory is out. */
th_contention *th_contention_new(th_session *s, const th_result *r, th_error *err);
/* task must have ended. 0 or -1. */
int th_contention_find(th_contention *f, int32_t task, th_contender *out, th_error *err);
void th_contention_free(th_contention *f); /* accepts NULL */

/* Cells of a row: the resource ("link/0_1", "DRAM of 3"), the task and its description, the
 * overlap, the number of further tasks; absent without contention. The texts are stored in at and
 * by. */
enum { TH_CONTENDER_CELLS = 5 };
void th_contender_cells(const th_session *s, const th_contender *h, th_strbuf *at, th_strbuf *by,
                        th_quantity *cells);

#endif
