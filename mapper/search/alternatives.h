/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alternatives.h - the other designs and strategies of each layer of a mapping, and what they
 * would cost. */
#ifndef TH_MAPPER_ALTERNATIVES_H
#define TH_MAPPER_ALTERNATIVES_H
#include "mapper/evaluate/evaluate.h"

/* Of a layer that runs on the array. Times alone are those of the layer by itself on its set,
 * compute and traffic inside the set, as initial mappings use them (th_plans_layer_time). */
typedef struct th_alternative {
    int32_t layer;
    th_time alone_ps;   /* as it is */
    th_time *by_design; /* alone, by its fastest strategy under every design of the system; -1: the
                         * set cannot have it, or it cannot run the layer. Of the list. */
    bool has_exclusive; /* can it run without rotation? */
    th_strategy exclusive; /* see below */
    th_time exclusive_ps;  /* alone */
    th_operand rotating;   /* TH_OPERAND_NONE: it does not rotate */
    int64_t phase_bytes;   /* the largest piece that travels in a phase */
    bool is_simulated;     /* the two fields below are set: it rotates, and has_exclusive */
    th_fitness instead;    /* of the whole mapping with exclusive in this layer */
    th_error why;          /* instead is infeasible: why */
} th_alternative;

/* exclusive is the fastest alone; of a layer that rotates, that with which the whole run has the
 * least fitness, or where none fits, the fastest alone. */

typedef struct th_alternatives {
    int32_t n;
    th_alternative *at; /* by layer */
    th_time *times;     /* what by_design points into */
    th_fitness whole;   /* of the mapping as it is */
} th_alternatives;

/* Of all layers on the array. 0 or -1; clear all the same. */
int th_alternatives_find(th_alternatives *a, const th_problem *p, const th_mapping *m,
                         th_error *err);
void th_alternatives_clear(th_alternatives *a);

#endif
