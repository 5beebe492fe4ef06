/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_search_call.h - parts of one call of search_plan. */
#ifndef TH_TCL_COMMANDS_PLAN_SEARCH_CALL_H
#define TH_TCL_COMMANDS_PLAN_SEARCH_CALL_H
#include "tcl/commands/training/plan_options.h"
#include "training/plan_memory.h"
#include "training/search/plan_search.h"

/* The options of search_plan behind those that are shared. */
enum {
    SEARCH_ZERO_GROUP = PLAN_N_SHARED,
    SEARCH_OBJECTIVE,
    SEARCH_TOP,
    SEARCH_MEMORY,
    SEARCH_EVALUATIONS,
    SEARCH_SECONDS,
    SEARCH_THREADS,
    SEARCH_UNEQUAL,
    SEARCH_CHECKPOINT
};

/* plan_checkpoint.c: can the file be written, and is it, if it is there, of this search? The steps
 * in it are then known to the search. 0 or -1. */
int th_plan_checkpoint_read(th_call *c, th_plan_search *x);
/* Replaces the file by what was found. 0 or -1. */
int th_plan_checkpoint_write(th_call *c, const th_plan_findings *f);

#endif
