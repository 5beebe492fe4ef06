/* SPDX-License-Identifier: GPL-3.0-or-later */
/* members.h - changes of the members of a mapping's sets. Accelerators in no set are idle.
 *   (move | exchange)* -> settle */
#ifndef TH_MAPPER_SEARCH_VARIATION_MEMBERS_H
#define TH_MAPPER_SEARCH_VARIATION_MEMBERS_H
#include "mapper/search/variation/variation.h"

/* Accelerators a and b, at most one of them idle, change places in all sets. 0; 1: both
 * are idle. */
int th_member_exchange(th_mapping *m, int32_t a, int32_t b);
/* The accelerator leaves its first set for this position of another one, or (-1) for none. 0; 1: it
 * is the last of its set, or is there already; -1: error. */
int th_member_move(th_mapping *m, int32_t accel, int32_t set, int32_t at, th_error *err);
bool th_set_spans_groups(const th_system *s, const th_set *set);
typedef struct th_members_settling {
    bool keeps_strategies; /* sets are as large as they were */
    double jitter;         /* else: of dynamic programming */
} th_members_settling;
/* Designs, shares and strategies for the sets of m that have other members than in before. 0; 1:
 * some layer cannot run there, or the sets may not be so; -1: error. */
int th_members_settle(th_variation *v, th_mapping *m, const th_mapping *before,
                      const th_members_settling *how, th_error *err);
#endif
