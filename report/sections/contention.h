/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention.h - who held up a task of a run, and where.
 *   new -> find* -> free */
#ifndef TH_REPORT_SECTIONS_CONTENTION_H
#define TH_REPORT_SECTIONS_CONTENTION_H
#include "report/table/quantity.h"
#include "report/session/session.h"

typedef struct th_contention th_contention;

typedef struct th_contender {
    int32_t task;        /* that kept the place longest; -1: nobody was there */
    int32_t dram, link;  /* the place: an accelerator's DRAM, or a link; the other is -1 */
    th_time together_ps; /* under way together with that task */
    int32_t n_others;    /* that kept the place, this one among them */
} th_contender;

/* Of the session's run and its result, both of which must outlive it. NULL: memory is out. */
th_contention *th_contention_new(th_session *s, const th_result *r, th_error *err);
/* task must have ended. 0 or -1. */
int th_contention_find(th_contention *f, int32_t task, th_contender *out, th_error *err);
void th_contention_free(th_contention *f); /* accepts NULL */

/* Of a row: the place ("link/0_1", "DRAM of 3"), the task and what it is, the time together, how
 * many more others there were; absent where nobody was there. The texts live in at and by. */
enum { TH_CONTENDER_CELLS = 5 };
void th_contender_cells(const th_session *s, const th_contender *h, th_strbuf *at, th_strbuf *by,
                        th_quantity *cells);

#endif
