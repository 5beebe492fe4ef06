/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fluid.h - private to the fluid network: its state, and the functions its files share. */
#ifndef TH_SIM_NETWORK_FLUID_FLUID_H
#define TH_SIM_NETWORK_FLUID_FLUID_H
#include "base/alloc.h"
#include "sim/kernel/double_double.h"
#include "sim/network/fluid/maxmin.h"
#include "sim/network/models.h"
#include "sim/network/routes.h"

/* The state of a flow: before its latency has passed; sharing media since this time step, not
 * settled yet; alone on all media of its route, not in the solver; in the solver. */
typedef enum {
    TH_FLUID_OUTSIDE,
    TH_FLUID_ENTERED,
    TH_FLUID_UNCONTENDED,
    TH_FLUID_IN_SOLVER
} th_fluid_state;

typedef struct th_fluid_flow {
    int32_t number;  /* the machine's; th_slots has it while the slot is free */
    uint8_t sharing; /* th_fluid_state */
    th_flow_route route;
    int64_t bytes;
    double weight;
    th_double_double left;   /* bytes left * weight, while it has no bottleneck */
    th_double_double finish; /* the virtual time of its bottleneck at which it ends */
    int32_t accel[2];        /* at its ends, -1: none */
    int32_t at[2];           /* its place in at_accel of those */
    int32_t bottleneck;      /* medium, -1: none */
    int32_t place;           /* in the heap of its bottleneck */
    /* While it is uncontended: */
    int32_t narrowest; /* medium whose whole capacity it has: rate */
    double rate;
    th_time since;
    th_event_handle end; /* its event, at end_time */
    th_time end_time;
} th_fluid_flow;

/* The virtual time of a medium: what a flow of weight 1 that it limits has carried, in bytes /
 * TH_PS_PER_S. A flow of weight w ends when the count has grown by bytes * w since it was added. */
typedef struct th_virtual_time {
    th_double_double count; /* at since */
    double level;           /* bytes/s: its rate_change per picosecond from since on */
    th_time since;
    int32_t *flow; /* that it limits, a heap by finish, then number */
    size_t n, room;
    th_event_handle end; /* event of its first end, or TH_NO_EVENT */
    th_time end_time;
    int32_t end_slot; /* flow of that event */
    bool is_stale;    /* its first end must be computed again */
} th_virtual_time;

typedef struct th_fluid_list {
    int32_t *item;
    size_t n, room;
} th_fluid_list;

typedef struct th_virtual_times {
    th_virtual_time *of_medium;
    int32_t *stale; /* media */
    int32_t n_stale;
} th_virtual_times;

/* uncontended.c; n_on and slot per medium of the system. */
typedef struct th_uncontended {
    bool is_disabled;      /* every flow goes to the solver */
    th_fluid_list entered; /* flows to be settled */
    int32_t *n_on;         /* flows in the sharing, an entry per hop */
    int32_t *slot;         /* of the uncontended flow on it, -1: none */
} th_uncontended;

/* What flows draw from each accelerator's DRAM. */
typedef struct th_fluid_demand {
    th_fluid_list *at_accel; /* per accelerator, slot << 1 | end of its transfers */
    bool *is_stale;          /* per accelerator: the sum of the rates has changed */
    int32_t *pending;        /* accelerators that the next settle lists in touched */
    int32_t n_pending;
    bool *is_pending; /* per accelerator */
} th_fluid_demand;

/* dram_contention.c */
typedef struct th_dram_contention {
    bool any_shared;              /* else nothing below is kept */
    int64_t *used_bits;           /* per accelerator, bits/s of its links that flows use */
    int64_t *contended_from_bits; /* of used_bits; TH_NEVER_CONTENDED */
    int32_t *flows_first;         /* per link, flows in the sharing that begin with it */
    int32_t *flows_last;          /* per link, flows in the sharing that end with it */
    int32_t *changed;             /* accelerators whose used_bits have changed */
    int32_t n_changed;
    bool *is_changed; /* per accelerator */
} th_dram_contention;

typedef struct th_fluid {
    th_network head;
    th_routes routes;
    th_maxmin *shares;
    int32_t n_media, n_engines;
    bool weigh_by_latency;
    th_fluid_flow *flows; /* by slot */
    th_slots slots;
    th_fluid_list media; /* scratch: of one flow */
    th_virtual_times time;
    th_uncontended uncontended;
    th_fluid_demand demand;
    th_dram_contention dram;
    bool out_of_memory;
} th_fluid;

/* 0 or -1. */
static inline int th_fluid_add(th_fluid_list *l, int32_t item)
{
    if (th_grow(&l->item, &l->room, l->n + 1, sizeof *l->item))
        return -1;
    l->item[l->n++] = item;
    return 0;
}

/* virtual_time.c; now never goes back. */
int th_virtual_times_init(th_fluid *f); /* 0 or -1; clear all the same */
void th_virtual_times_reset(th_fluid *f);
void th_virtual_times_clear(th_fluid *f);
void th_virtual_time_update(th_fluid *f, int32_t medium, th_time now, double level);
int th_virtual_time_add(th_fluid *f, int32_t slot, int32_t medium,
                        th_time now); /* -1: memory is out */
/* Adds slot, which was uncontended, to the medium with its pending event, as if it had been added
 * when its sharing began, at this level. -1: memory is out. */
int th_virtual_time_add_since(th_fluid *f, int32_t slot, int32_t medium, double level);
void th_virtual_time_remove(th_fluid *f, int32_t slot, th_time now); /* sets left */
/* Removes flow slot, which ends first on its bottleneck and ends now; posts the event of the next
 * flow there that ends now, too. 0 or -1. */
int th_virtual_time_end_first(th_fluid *f, th_events *q, int32_t slot, th_time now);
int th_virtual_times_post_ends(th_fluid *f, th_events *q,
                               th_time now); /* of stale media; 0 or -1 */
/* dram_contention.c: which DRAMs the solver shares between flows and engines. init: 0 or -1; clear
 * accepts what a failed init has left. add_flow, remove_flow: a flow starts or stops sharing. */
#define TH_NEVER_CONTENDED INT64_MAX
int th_dram_contention_init(th_fluid *f, const th_system *s);
void th_dram_contention_clear(th_fluid *f);
void th_dram_contention_reset(th_fluid *f);
void th_dram_contention_add_flow(th_fluid *f, const th_fluid_flow *w);
void th_dram_contention_remove_flow(th_fluid *f, const th_fluid_flow *w);
int th_dram_contention_update(th_network *n, th_time now);

/* uncontended.c. enter: the flow shares its media from the next settle_entered on; enter_solver:
 * inserts the uncontended flow into the solver; leave: the flow, of any state, leaves the media of
 * its route. init, enter, settle_entered, enter_solver: 0 or -1. */
int th_uncontended_init(th_fluid *f, const th_system *s);
void th_uncontended_clear(th_fluid *f);
void th_uncontended_reset(th_fluid *f);
int th_fluid_enter(th_fluid *f, int32_t slot);
int th_fluid_settle_entered(th_fluid *f, th_events *q, th_time now);
int th_fluid_enter_solver(th_fluid *f, int32_t slot);
void th_fluid_leave(th_fluid *f, int32_t slot);

/* fluid.c: adds flow slot to the solver, on the media of its route and the contended DRAMs. 0 or
 * -1. */
int th_fluid_share(th_fluid *f, int32_t slot);
/* Its media, with the contended DRAMs at its ends; *n of them, valid until the next call. NULL:
 * memory is out. */
const int32_t *th_fluid_media_of(th_fluid *f, const th_fluid_flow *w, int32_t *n);
bool th_fluid_uses_contended_dram(const th_fluid *f, const th_fluid_flow *w, int end);
/* The rate of slot has changed. */
void th_fluid_mark_rate_changed(th_fluid *f, int32_t slot);

/* The event of the end of a flow. */
th_event_handle th_fluid_post_end(const th_fluid *f, th_events *q, int32_t slot, th_time at);

#endif
