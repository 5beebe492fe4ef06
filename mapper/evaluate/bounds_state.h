/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_state.h - private to the bounds: what their files share. */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_STATE_H
#define TH_MAPPER_EVALUATE_BOUNDS_STATE_H
#include "mapper/evaluate/bounds.h"
#include "mapper/evaluate/bounds_layer.h"

typedef struct {
    const th_problem *problem;
    const th_workload *workload;
    const th_system *system;
    th_floors floors;
    double in_ps_per_byte; /* of the fastest route from a host, also where it bounds no position */
    th_layer_floor *floor; /* by layer: the lesser of those of both sizes of micro-batch */
    double *work, *bytes;  /* by layer, of all passes */
    double *whole; /* by layer and class: what all passes of it take there (bounds_layer.h) */
    double *head, *end, *tail;
    int32_t *same;  /* by layer: the first one with equal bounds */
    int32_t *order; /* layers by descending tail */
    th_bounds *out;
} th_bound_finder;

/* Network models by what the bounds on transfers assume; those of ASTRA-sim have no links. */
typedef enum {
    TH_BOUND_SERIAL, /* accelerators move data themselves */
    TH_BOUND_NO_LINKS,
    TH_BOUND_FREE_LINKS,
    TH_BOUND_SHARED_MEDIA,
    TH_BOUND_SHARED_LINKS
} th_bound_physics;

/* --- bounds_state.c --- */

th_bound_physics th_bound_physics_of(const th_problem *p);
/* Times are whole picoseconds; sums of doubles are exact but for their rounding. */
th_time th_bound_round_up_ps(double ps);
/* Of a position of layer l, from its start to the end of its pass. */
double th_bound_remaining_ps(const th_bound_finder *f, int l);
/* Elements of input i that layer l reads, of one image of all. -1: memory is out. */
int64_t th_bound_elements_read(const th_layer *l, int i);

/* --- bounds_unknown.c --- */

/* Lists in out which bounds do not cover which layers or mappings. 0 or -1: memory is out. */
int th_bound_list_unknown(th_bound_finder *f);

/* --- bounds_price.c --- */

/* Prices of classes, for which all layers together cost most (bounds_price.c). 0 or -1: memory
 * is out. */
int th_bound_find_prices(const th_bound_finder *f, double *price);
/* What layer l costs at least: its part of the time of all accelerators together. */
double th_bound_priced(const th_bound_finder *f, const double *price, int l);
/* What layer l takes where all accelerators share it and do nothing else. */
double th_bound_shared(const th_bound_finder *f, int l);

/* --- bounds_cut.c --- */

/* What must cross links between hosts and accelerators, into out. 0 or -1. */
int th_bound_find_cut(th_bound_finder *f, th_error *err);

#endif
