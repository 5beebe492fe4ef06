/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.h - who looks on while a machine runs: a trace, a watched link, and those who wait for
 * something.
 *
 *   {0} -> (fill in) -> th_machine_watch -> the run, which stops where something was noted ->
 * forget
 *   -> th_machine_watch(m, NULL) -> clear
 * A machine that nobody watches asks one pointer where a task starts or ends, or a flow comes or
 * goes. Nothing here changes a run. */
#ifndef TH_SIM_OBSERVE_WATCH_H
#define TH_SIM_OBSERVE_WATCH_H
#include "sim/observe/link_probe.h"
#include "sim/trace/trace.h"

/* What can be waited for. */
typedef enum {
    TH_SEEN_TASK_STARTS, /* object: the task */
    TH_SEEN_TASK_ENDS,
    TH_SEEN_WAITS,       /* object: the accelerator that one more task waits for */
    TH_SEEN_LINK,        /* object: the link, on which there are more or fewer flows */
    TH_SEEN_TILES,       /* object: the accelerator in whose pipeline something happened */
    TH_SEEN_STALL,       /* object: the accelerator whose array begins to wait */
    TH_SEEN_BUFFER_FULL, /* object: the accelerator whose buffers have become full */
    TH_N_SEEN_KINDS
} th_seen_kind;

typedef struct th_seen {
    int32_t kind, object;
} th_seen;

typedef struct th_watch {
    th_trace *trace;     /* NULL: none */
    th_link_watch *link; /* NULL: no link is watched */
    unsigned kinds;      /* bit k: note what is of th_seen_kind k */
    bool *links;         /* of TH_SEEN_LINK, those that matter; NULL: all. Not owned. */
    /* private */
    th_seen *seen;
    size_t n_seen, room;
    th_tiles *tiles; /* by accelerator, as they were seen last; made when the first is seen */
    bool is_out_of_memory;
} th_watch;

void th_watch_clear(th_watch *w); /* frees what it has noted; trace, link and links stay */
/* Is somebody waiting for what happens inside tasks, so that the run must stop there? Does the
 * trace want to see into those of an accelerator? */
bool th_watch_stops_at_tiles(const th_watch *w);
bool th_watch_traces_tiles(const th_watch *w, int accel);
static inline bool th_watch_has_seen(const th_watch *w)
{
    return w->n_seen > 0;
}
/* What was noted is done with. 0, or -1: memory was out, so some of it is missing. */
int th_watch_forget(th_watch *w, th_error *err);

/* --- for the machine ----------------------------------------------------------------------------
 */

void th_watch_restart(th_watch *w, const th_program *p,
                      int32_t n_accels); /* a run of p at time 0 */
void th_watch_task_starts(th_watch *w, th_time now, int32_t task);
void th_watch_task_ends(th_watch *w, th_time now, int32_t task);
void th_watch_waits(th_watch *w, th_time now, int accel);
/* There are `flows` on the link now, `change` more than before. */
void th_watch_link(th_watch *w, th_time now, int link, int32_t flows, int32_t change);
void th_watch_message(th_watch *w, th_time now, int32_t flow, const th_message *m, bool starts);
void th_watch_tiles(th_watch *w, th_time now, int accel, int32_t n_accels, const th_tiles *tiles);

#endif
