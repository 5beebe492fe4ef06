/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention.h - who held up a task of a run, and where.
 *   new -> find* -> free */
#ifndef TH_REPORT_SECTIONS_CONTENTION_H
#define TH_REPORT_SECTIONS_CONTENTION_H
#include "report/table/quantity.h"
#include "report/session/session.h"

typedef struct th_held_up th_held_up;

typedef struct th_holder {
    int32_t task;        /* that kept the place longest; -1: nobody was there */
    int32_t dram, link;  /* the place: an accelerator's DRAM, or a link; the other is -1 */
    th_time together_ps; /* under way together with that task */
    int32_t n_others;    /* that kept the place, this one among them */
} th_holder;

/* Of the session's run and its result, both of which must outlive it. NULL: memory is out. */
th_held_up *th_held_up_new(th_session *s, const th_result *r, th_error *err);
/* task must have ended. 0 or -1. */
int th_held_up_find(th_held_up *f, int32_t task, th_holder *out, th_error *err);
void th_held_up_free(th_held_up *f); /* accepts NULL */

/* Of a row: the place ("link/0_1", "DRAM of 3"), the task and what it is, the time together, how
 * many more others there were; absent where nobody was there. The texts live in at and by. */
enum { TH_HOLDER_CELLS = 5 };
void th_holder_cells(const th_session *s, const th_holder *h, th_strbuf *at, th_strbuf *by,
                     th_quantity *cells);

#endif
