/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_chain.h - private to the bounds: what layers that read each other take one after the
 * other. */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_CHAIN_H
#define TH_MAPPER_EVALUATE_BOUNDS_CHAIN_H
#include "mapper/evaluate/bounds_state.h"

/* Sets head and end of all layers, and the bound of the critical path, of a finder whose floors
 * are known. 0 or -1. */
int th_bound_find_chain(th_bound_finder *f, th_error *err);

#endif
