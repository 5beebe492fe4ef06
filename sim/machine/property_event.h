/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_event.h - what is changed in a machine while it runs: the bandwidth of a link, the clock
 * of an accelerator.
 *
 *   load -> (th_machine_add_property_event | run)*; load again drops all changes
 * A change holds from its instant on, before anything else that happens at it. A link's bandwidth
 * is that of its medium, so both ways of a half-duplex link change; transfers under way go on at
 * the new rates, and stand still at 0. A clock is that of the whole accelerator, array and vector
 * unit; tasks that start later have it, one that runs keeps its own. At 0 an accelerator is dead:
 * the task that it runs never ends, and none starts; its memory still serves transfers. */
#ifndef TH_SIM_MACHINE_PROPERTY_EVENT_H
#define TH_SIM_MACHINE_PROPERTY_EVENT_H
#include "base/error.h"
#include "base/units.h"

struct th_machine;

typedef enum { TH_PROPERTY_BANDWIDTH, TH_PROPERTY_FREQUENCY } th_property_kind;

typedef struct th_property_event {
    th_time at;     /* not before now */
    int32_t kind;   /* th_property_kind */
    int32_t object; /* link, or accelerator */
    double factor;  /* of what the system says; 0: down, dead */
} th_property_event;

enum { TH_FACTOR_MAX = 1000 };

/* Can the machine and its network do this? 0 or -1. */
int th_machine_check_property_event(const struct th_machine *m, const th_property_event *c,
                                    th_error *err);
/* 0, or -1: it may not, or memory is out; then nothing has changed. */
int th_machine_add_property_event(struct th_machine *m, const th_property_event *c, th_error *err);
/* A clock of so many Hz times factor, in whole Hz, at least 1. */
int64_t th_scaled_hz(int64_t hz, double factor);
/* What holds now. */
double th_machine_property_factor(const struct th_machine *m, th_property_kind kind, int object);

#endif
