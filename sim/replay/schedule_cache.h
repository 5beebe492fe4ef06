/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_cache.h - expansions that are kept: equal collectives of one program or of several share
 * one. new -> (get* | forget)* -> free */
#ifndef TH_SIM_REPLAY_SCHEDULE_CACHE_H
#define TH_SIM_REPLAY_SCHEDULE_CACHE_H
#include "sim/replay/tuner.h"

typedef struct th_prepared th_prepared;

th_prepared *th_prepared_new(const th_tuner_context *w); /* NULL: memory is out */
void th_prepared_free(th_prepared *p);                   /* accepts NULL */
/* The expansion of a collective like *c, whose algorithm and chunks are chosen where it leaves them
 * open (expansion->collective tells them); it holds a copy of *c and lives until forget or free.
 * NULL on failure. */
const th_expansion *th_prepared_get(th_prepared *p, const th_collective *c, th_error *err);
/* Nobody uses an expansion any more: drops those that must not or need not be kept. */
void th_prepared_forget(th_prepared *p);

#endif
