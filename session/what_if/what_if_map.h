/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_map.h - maps the workload of the session on a changed system. */
#ifndef TH_SESSION_WHAT_IF_WHAT_IF_MAP_H
#define TH_SESSION_WHAT_IF_WHAT_IF_MAP_H
#include "session/session.h"

typedef struct th_remap {
    int64_t evaluations; /* budget */
    bool has_seed;       /* false: the seed of the search that found the session's mapping */
    uint64_t seed;
} th_remap;

/* The best mapping that a search with this budget of evaluations finds on this system, which has
 * the session's accelerators, and perhaps more, and its designs. It starts from the session's
 * mapping, by the algorithm, objective and seed that found that (the default search, for latency,
 * where a baseline, nsga2 or nobody did), on one thread: safe to call from several. *metrics,
 * unless NULL: its figures. Owned by the caller. NULL: nothing fits, memory is out, or Ctrl-C
 * (BASE-0008). */
th_mapping *th_what_if_map(const th_session *s, const th_system *system, const th_run_options *o,
                           th_remap how, th_metrics *metrics, th_error *err);
/* The objective of such a search. */
th_goal th_what_if_goal(const th_session *s);

#endif
