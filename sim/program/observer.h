/* SPDX-License-Identifier: GPL-3.0-or-later */
/* observer.h - the interface through which a machine and its network report what happens in a run:
 * to a trace (sim/trace), a link probe or an event recorder (sim/observe).
 *
 *   th_machine_observe -> restart -> (any other notify function)*
 * Observers form a list. Each is a structure that begins with th_observer; its type is a constant
 * table of notify functions, of which any may be NULL. A machine without observers checks one
 * pointer per event. Invariant: a notify function never changes the run. */
#ifndef TH_SIM_PROGRAM_OBSERVER_H
#define TH_SIM_PROGRAM_OBSERVER_H
#include <stdbool.h>
#include "sim/pipeline/pipeline.h"
#include "sim/program/message.h"
#include "sim/program/program.h"

typedef struct th_observer th_observer;

/* The part of a run in which an observer wants the tiles of the tasks of an accelerator: the
 * machine runs them tile by tile then, and calls `tiles` each time. */
typedef struct th_tile_window {
    th_time since, until; /* both included; until < since: never */
} th_tile_window;

/* What faults and set_property have made of a link or an accelerator. */
typedef enum {
    TH_HEALTH_UP,       /* as in the system */
    TH_HEALTH_DEGRADED, /* link: a part of its bandwidth */
    TH_HEALTH_DOWN,     /* link */
    TH_HEALTH_AVOIDED,  /* link: down, and routes go round it */
    TH_HEALTH_SLOW,     /* accelerator: a lower clock, or jitter */
    TH_HEALTH_FAST,     /* accelerator: a higher clock */
    TH_HEALTH_DEAD,     /* accelerator */
    TH_N_HEALTHS
} th_health;

typedef struct th_observer_type {
    /* A run of p starts at time 0, or the observer joins a run; in that case the calls that follow
     * report its queued and running tasks, busy links and tiles. */
    void (*restart)(th_observer *o, const th_program *p);
    /* True if the observer has followed the current run of p. A type with this function also has
     * restart, queued, task_start and link. NULL: it never needs the state of a run that it joins.
     */
    bool (*follows)(const th_observer *o, const th_program *p);
    th_tile_window (*tile_window)(const th_observer *o, int accel); /* NULL: never */

    void (*task_start)(th_observer *o, th_time now, int32_t task);
    void (*task_end)(th_observer *o, th_time now, int32_t task);
    /* One more compute task waits for the accelerator, until its task_start. */
    void (*queued)(th_observer *o, th_time now, int accel);
    /* There are `flows` on the link now, `change` more than before. */
    void (*link)(th_observer *o, th_time now, int link, int32_t flows, int32_t change);
    /* A message of the collective `task`; its flow number is not that of any task. */
    void (*message_start)(th_observer *o, th_time now, int32_t task, int32_t flow,
                          const th_message *m);
    void (*message_end)(th_observer *o, th_time now, int32_t flow, const th_message *m);

    void (*tiles)(th_observer *o, th_time now, int accel, const th_tiles *tiles);
    /* There will be changes of health in this run. */
    void (*may_fail)(th_observer *o, th_time now);
    /* The health of a link, or of an accelerator, from this time on. */
    void (*health)(th_observer *o, th_time now, bool is_link, int index, th_health health);
    /* The accelerator of a running compute task fails, or is repaired and begins the task again. */
    void (*task_stops)(th_observer *o, th_time now, int32_t task);
    void (*task_again)(th_observer *o, th_time now, int32_t task);
} th_observer_type;

struct th_observer {
    const th_observer_type *type;
    th_observer *next; /* of the same machine; NULL: the last */
    bool stops_run;    /* the run stops after the current event */
};

/* Calls one notify function of all observers in a list that have it. */
#define TH_NOTIFY(observers, function, ...)                                                        \
    do {                                                                                           \
        for (th_observer *o_ = (observers); o_; o_ = o_->next)                                     \
            if (o_->type->function)                                                                \
                o_->type->function(o_, __VA_ARGS__);                                               \
    } while (0)

static inline bool th_observers_stop_run(const th_observer *first)
{
    for (; first; first = first->next)
        if (first->stops_run)
            return true;
    return false;
}

#endif
