/* SPDX-License-Identifier: GPL-3.0-or-later */
/* survival.h - what a mapping loses when one accelerator or one link fails for good.
 *   new -> (find -> read only -> clear | check)* -> free
 * Each failure is there from the start of the run. The mapping without an accelerator is repaired,
 * and the best repair that fits in memory counts (repair.h):
 *   spare    an accelerator of no set takes its place
 *   reshard  the others of its set take its part
 *   move     another set takes the layers of its set
 * Without a link (its medium) the mapping stays, and transfers take detours
 * (sim/network/detour.h): on networks that can change links, and for the links that a run without
 * failure uses. Others lose nothing, nor do accelerators of no set. A dead accelerator still
 * forwards what passes through it. loss = value after the failure / value before - 1, of the
 * objective without deadlines, which bind the run without failure alone. */
#ifndef TH_MAPPER_SEARCH_SURVIVAL_H
#define TH_MAPPER_SEARCH_SURVIVAL_H
#include "mapper/search/repair.h"

typedef struct th_failure_case {
    bool is_link;
    int32_t object;     /* accelerator, or link: the first of its medium */
    int32_t repair;     /* th_repair_kind */
    int32_t to;         /* spare: the accelerator; reshard: members left; move: the set; else -1 */
    th_metrics metrics; /* of the repair; of the mapping where nothing used it */
    double loss;        /* INFINITY: not survived */
} th_failure_case;

typedef struct th_survival {
    th_fitness before;
    th_failure_case *all; /* accelerators, then the media of links */
    int n;
    int n_lost;            /* not survived */
    int worst;             /* of the greatest loss, the first; -1: there is no case */
    double mean_loss;      /* of those that are survived */
    bool has_links;        /* the network can change links */
    int64_t n_evaluations; /* simulated runs */
} th_survival;

/* Runs failures of mappings of one problem, whose objective is a single one. NULL on failure. */
typedef struct th_survivor th_survivor;
th_survivor *th_survivor_new(const th_problem *p, th_error *err);
void th_survivor_free(th_survivor *s); /* accepts NULL */

/* 0, or -1: memory is out, or the mapping itself does not run (MAP-0131). */
int th_survival_find(th_survivor *s, const th_mapping *m, th_survival *out, th_error *err);
void th_survival_clear(th_survival *x);

/* Does the mapping survive every failure with at most this loss (INFINITY: any)? The failure that a
 * mapping did not survive is tried first on the next. *reason says which it is. 1, 0 or -1. */
int th_survival_check(th_survivor *s, const th_mapping *m, double most_loss, th_error *reason,
                      th_error *err);

#endif
