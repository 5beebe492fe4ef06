/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_cache.h - caches the schedules of collectives, so that equal collectives share one.
 *   new -> (get* | trim)* -> free */
#ifndef TH_SIM_REPLAY_SCHEDULE_CACHE_H
#define TH_SIM_REPLAY_SCHEDULE_CACHE_H
#include "sim/replay/tuner.h"

typedef struct th_collective_schedule_cache th_collective_schedule_cache;

th_collective_schedule_cache *
th_collective_schedule_cache_new(const th_tuner_context *t);             /* NULL: memory is out */
void th_collective_schedule_cache_free(th_collective_schedule_cache *k); /* accepts NULL */
/* The schedule of a collective equal to *c. The tuner chooses algorithm and chunks where *c leaves
 * them open (schedule->collective has the choice). Valid until trim or free. NULL on failure. */
const th_collective_schedule *th_collective_schedule_cache_get(th_collective_schedule_cache *k,
                                                               const th_collective *c,
                                                               th_error *err);
/* No schedule is in use: drops all if any must not be kept, or they are too many. */
void th_collective_schedule_cache_trim(th_collective_schedule_cache *k);

#endif
