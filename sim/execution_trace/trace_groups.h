/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_groups.h - what the ranks of a trace do together: which send a receive meets, and
 * which collectives of a group's ranks are one. The k-th send of a key (ends, tag, size) meets
 * the k-th receive of it, and the k-th collective of a group on each rank is one with the k-th
 * on the others, by id. */
#ifndef TH_SIM_EXECUTION_TRACE_TRACE_GROUPS_H
#define TH_SIM_EXECUTION_TRACE_TRACE_GROUPS_H
#include "topology/system.h"
#include "workloads/trace/trace.h"

/* A collective of a group. */
typedef struct th_trace_meeting {
    const int32_t *members; /* ranks */
    int32_t *nodes;         /* by member: its node, -1: it does not come */
    int32_t n_members;
    bool is_complete; /* all come, to the same collective of the same size */
} th_trace_meeting;

typedef struct th_trace_meetings {
    th_trace_meeting *all;
    int32_t n;
    int32_t *partner;    /* by node of all ranks: of a receive its send, of a send its receive, as a
                          * node of the other rank; -1: none */
    int32_t *meeting_of; /* by node of all ranks: of a collective; -1: none */
    /* private */
    size_t capacity;
    int32_t **member_lists;
    size_t n_lists, list_capacity;
} th_trace_meetings;

/* 0, or -1 with *out to be cleared all the same. */
int th_trace_meet(const th_trace *t, const th_system *s, th_trace_meetings *out, th_error *err);
void th_trace_meetings_clear(th_trace_meetings *m);

#endif
