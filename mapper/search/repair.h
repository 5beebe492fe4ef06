/* SPDX-License-Identifier: GPL-3.0-or-later */
/* repair.h - mappings without one accelerator, made from a mapping with it.
 *   start -> next until NULL -> clear
 * Candidates, in this order: spare accelerators in its place, at most TH_REPAIR_SPARES, those of
 * its own group first; its set with all but it, or with fewer where a layer cannot be cut so often,
 * and with half of the members; each of the other sets with the layers of its set. Of several sets
 * of the dead one that is the largest; it leaves the others, and layers of those that were it alone
 * go with the largest set's. Sets that change
 * get strategies in three ways: those nearest to the present ones; those of the least estimated
 * time by dynamic programming (initial_mapping.h); and these with the present chunks. */
#ifndef TH_MAPPER_SEARCH_REPAIR_H
#define TH_MAPPER_SEARCH_REPAIR_H
#include "mapper/search/initial/initial_mapping.h"

typedef enum {
    TH_REPAIR_UNUSED, /* nothing used it */
    TH_REPAIR_SPARE,
    TH_REPAIR_RESHARD,
    TH_REPAIR_MOVE,
    TH_REPAIR_DETOUR,
    TH_REPAIR_NONE /* not survived */
} th_repair_kind;
extern const char *const th_repair_kind_names[];

enum { TH_REPAIR_SPARES = 4 };
enum { TH_REPAIR_NEAREST, TH_REPAIR_BEST, TH_REPAIR_CHUNKED, TH_REPAIR_WAYS };

typedef struct th_repairs {
    th_evaluator *evaluator;
    th_initial_generator *generator; /* of the same plans */
    const th_mapping *mapping;
    int32_t accel, set; /* the dead one, its largest set */
    int stage;          /* th_repair_kind of the next candidate */
    int32_t next;       /* spare: accelerators looked at; move: the set */
    int32_t n_left;     /* reshard: members of the next candidate; 0: none is left */
    int n_spares;
    int way;      /* of the next candidate */
    bool was_cut; /* reshard: there has been a candidate */
} th_repairs;

/* False: the accelerator is in no set. */
bool th_repairs_start(th_repairs *r, th_evaluator *e, th_initial_generator *g, const th_mapping *m,
                      int32_t accel);
/* The next candidate, the caller's, with its kind and th_failure_case.to. It satisfies the
 * constraints that allow and forbid accelerators. NULL: there are no more, or *failed. */
th_mapping *th_repairs_next(th_repairs *r, th_repair_kind *kind, int32_t *to, bool *failed,
                            th_error *err);

#endif
