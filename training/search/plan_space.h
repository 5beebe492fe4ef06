/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_space.h - all plans that a search can choose from: what divides the model, the batch and the
 * accelerators. In two steps: degrees and micro-batch (a group), then all else. */
#ifndef TH_TRAINING_SEARCH_PLAN_SPACE_H
#define TH_TRAINING_SEARCH_PLAN_SPACE_H
#include "training/parallel_plan.h"

typedef enum {
    TH_CHOICE_TENSOR,
    TH_CHOICE_PIPELINE,
    TH_CHOICE_CONTEXT,
    TH_CHOICE_DATA,
    TH_CHOICE_EXPERT,
    TH_CHOICE_EXPERT_TENSOR,
    TH_CHOICE_MICRO_BATCH,
    TH_CHOICE_VIRTUAL,
    TH_CHOICE_ZERO,
    TH_CHOICE_ZERO_GROUP, /* n 0: of all ranks that have the same weights */
    TH_CHOICE_SCHEDULE,   /* index in th_pipeline_types */
    TH_CHOICE_RECOMPUTE,
    TH_CHOICE_SEQUENCE_PARALLEL,
    TH_N_CHOICES
} th_plan_choice;

typedef struct th_plan_space {
    const th_transformer *t;
    int32_t n_accels;      /* a plan may leave some idle */
    th_parallel_plan base; /* what is not chosen, and the global batch */
    bool keeps_order;      /* of base, also where replicas take shares */
    struct {
        const int64_t *of;
        int n; /* 0: all */
    } only[TH_N_CHOICES];
} th_plan_space;

/* 0, or what is not 0 ends the enumeration, which returns it. */
typedef int (*th_plan_visit)(void *own, const th_parallel_plan *p);
/* One plan of each group: one chunk, 1F1B, nothing shared, as little computed again as allowed. */
int th_plan_space_groups(const th_plan_space *x, th_plan_visit visit, void *own);
/* All plans of a group. */
int th_plan_space_members(const th_plan_space *x, const th_parallel_plan *group,
                          th_plan_visit visit, void *own);
bool th_plan_space_allows(const th_plan_space *x, th_plan_choice choice, int64_t value);

#endif
