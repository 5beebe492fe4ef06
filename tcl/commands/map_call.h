/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_call.h - parts of one call of map_workload.
 *   options -> what mappings must be like (map_given.c) -> search -> its result (map_result.c) */
#ifndef TH_TCL_COMMANDS_MAP_CALL_H
#define TH_TCL_COMMANDS_MAP_CALL_H
#include "mapper/search/search.h"
#include "session/progress.h"
#include "tcl/command.h"
#include "tcl/options.h"
#include "tcl/tcl_session.h"

/* The options of map_workload. */
enum {
    MAP_ALGORITHM,
    MAP_OBJECTIVE,
    MAP_SEED,
    MAP_EVALUATIONS,
    MAP_SECONDS,
    MAP_SPACE,
    MAP_SETS,
    MAP_INITIAL,
    MAP_STEPS,
    MAP_THREADS,
    MAP_DEADLINE,
    MAP_KEEP_LATE,
    MAP_START,
    MAP_CHECKPOINT,
    MAP_ALLOW,
    MAP_FORBID,
    MAP_COMPLETE,
    MAP_STOP_GAP,
    MAP_CHUNKS,
    MAP_SURVIVE,
    MAP_SURVIVE_LOSS,
    MAP_DESIGNS,
    MAP_NETWORK,
    MAP_STREAM
};

extern const th_option th_map_options[];

/* What is known of mappings that a search may meet: those that are given may have shares. */
th_cuts th_map_cuts(const th_problem *p, const th_search_options *o);
/* Likewise the most chunks. */
int th_map_chunks(const th_problem *p, const th_search_options *o);

/* What mappings must be like. */
typedef struct th_map_given {
    th_mapping *start;           /* NULL: none */
    th_constraints *constraints; /* NULL: none */
    th_system system; /* the session's; with -designs, whose nodes it has, all else is shared */
    int *designs;     /* of those nodes; NULL: they are the session's */
} th_map_given;

/* map_given.c: 0, or -1 (clear all the same). */
int th_map_given_read(th_call *c, th_map_given *out);
void th_map_given_clear(th_map_given *g);

/* What a checkpoint holds. */
typedef struct th_map_checkpoint {
    size_t n_improvements; /* of the search, when it was written */
    double written_s;      /* th_search_elapsed_s; 0 and 0: not yet */
} th_map_checkpoint;

/* map_checkpoint.c: *out is the mapping of the file of -checkpoint; NULL: there is no file, or no
 * such option. 0 or -1. */
int th_map_checkpoint_read(th_call *c, const th_system *system, th_mapping **out);
/* Between two batches: replaces the file where the best mapping is a new one, the search is done,
 * or 10 s have passed. 0 or -1. */
int th_map_checkpoint_write(th_call *c, const th_search *s, th_map_checkpoint *last);

/* map_result.c: the best mapping so far, with bound (0: unknown), on the progress line. */
void th_map_show_progress(th_progress *p, const th_search *s, double bound);
/* At the prompt: how many mappings exhaustive tries, and about how long that takes, after its first
 * evaluations. 0 or -1. */
int th_map_tell_candidates(th_call *c, const th_search *s);
/* Warns of a design that -design gave to the system and no set of the mapping has. */
void th_map_warn_of_design(const th_call *c, const th_mapping *m);
/* Warns of options that have no effect, and of a baseline that did not finish. */
void th_map_warn_of_baseline(const th_call *c, const th_search *search);
/* Hands the best mapping and the record of the search to the session. An interrupted search counts
 * as if -evaluations had ended it there. 0 or -1. */
int th_map_keep_best(th_call *c, const th_search *search, const th_run_options *run,
                     bool is_interrupted);
/* After Ctrl-C; search: NULL if it was not created. Returns -1. */
int th_map_end_early(th_call *c, const th_search *search, const th_run_options *run);

#endif
