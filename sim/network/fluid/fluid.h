/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fluid.h - private to the fluid network: its state, and the functions its files share. */
#ifndef TH_SIM_NETWORK_FLUID_FLUID_H
#define TH_SIM_NETWORK_FLUID_FLUID_H
#include "base/alloc.h"
#include "sim/kernel/double_double.h"
#include "sim/network/fluid/maxmin.h"
#include "sim/network/models.h"
#include "sim/network/routes.h"

typedef struct th_fluid_transfer {
    int32_t number; /* the machine's; th_slots has it while the slot is free */
    int32_t flow;
    int64_t bytes, padded;   /* as in its message; of padded follow the times */
    th_double_double finish; /* its flow's virtual time at which it ends; before it shares: padded *
                                weight */
    th_time earliest;        /* end if it is alone on its route; while it shares */
    double lost;             /* what of the flow's it does not count; fault_loss.c */
    int32_t child, sibling;  /* in the pairing heap of its flow, -1: none */
} th_fluid_transfer;

/* The state of a flow: none of its transfers shares media yet; it has one, alone on all media of
 * its route, and is not in the solver; in the solver. */
typedef enum { TH_FLUID_OUTSIDE, TH_FLUID_UNCONTENDED, TH_FLUID_IN_SOLVER } th_fluid_state;

/* All transfers from one node to another, or the same stripes of them, which have one route and one
 * weight, are one flow; so is an engine, without transfers. */
typedef struct th_fluid_flow {
    int32_t src; /* node; th_slots has it while the slot is free */
    int32_t dst;
    uint32_t stripe;     /* th_message */
    int32_t next;        /* of the same hash, -1: none */
    int32_t n_transfers; /* that have started and not ended */
    int32_t n_sharing;   /* of those that share media */
    int32_t first;       /* of these, the transfer that ends first, -1: none */
    th_flow_route route;
    double weight;
    double lost;        /* to faults, less what its bottleneck has lost, in ps; fault_loss.c */
    double detour_loss; /* the part of the time that it loses on its route, a detour; 0: none */
    /* Of its bottleneck: the virtual time, 0 while it has none, less its own, which is what one of
     * its transfers has carried, times weight; and that at which its first transfer ends. */
    th_double_double offset, finish;
    int32_t number;     /* of that transfer */
    int32_t accel[2];   /* at its ends, -1: none */
    int32_t at[2];      /* its place in at_accel of those */
    int32_t bottleneck; /* medium, -1: none */
    int32_t place;      /* in the heap of its bottleneck */
    uint8_t sharing;    /* th_fluid_state */
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
    int32_t *flow; /* that it limits, a heap by finish, then number of the first transfer */
    size_t n, room;
    th_event_handle end; /* event of its first end, or TH_NO_EVENT */
    th_time end_time;
    int32_t end_slot; /* transfer of that event */
    bool is_stale;    /* its first end must be computed again */
    bool is_used;     /* since the reset; else all but flow and room is 0 */
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
    th_fluid_list entered; /* transfers to be settled */
    int32_t *n_on;         /* transfers in the sharing, an entry per hop */
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
    int32_t *flows_first;         /* per link, transfers in the sharing that begin with it */
    int32_t *flows_last;          /* per link, transfers in the sharing that end with it */
    int32_t *changed;             /* accelerators whose used_bits have changed */
    int32_t n_changed;
    bool *is_changed; /* per accelerator */
} th_dram_contention;

typedef struct th_fluid {
    th_network head;
    th_routes routes;
    th_maxmin *shares;
    int32_t n_media, n_engines;
    bool weigh_by_latency, has_weights; /* by latency, or of stripes */
    th_fluid_transfer *transfers;       /* by slot */
    th_slots transfer_slots;
    th_fluid_flow *flows; /* by slot: engines, then flows of transfers */
    th_slots slots;
    int32_t *by_nodes;   /* hash table: the first flow of a pair of nodes */
    size_t n_by_nodes;   /* a power of 2 */
    int32_t n_flows;     /* of transfers */
    th_fluid_list media; /* scratch: of one flow */
    th_virtual_times time;
    th_uncontended uncontended;
    th_fluid_demand demand;
    th_dram_contention dram;
    struct th_medium_loss *loss; /* by medium; NULL: no fault yet */
} th_fluid;

/* 0 or -1. */
static inline int th_fluid_add(th_fluid_list *l, int32_t item)
{
    if (th_grow(&l->item, &l->room, l->n + 1, sizeof *l->item))
        return -1;
    l->item[l->n++] = item;
    return 0;
}

/* flows.c. take: the flow of the message or stripe, with one transfer more; -1: memory is out, or
 * there is no route. give: one transfer less, and without any the flow is gone. push, pop_first: a
 * transfer of the flow begins to share, or ends. */
int th_fluid_flows_init(th_fluid *f); /* 0 or -1 */
void th_fluid_flows_reset(th_fluid *f);
int32_t th_fluid_flow_take(th_fluid *f, const th_message *m);
void th_fluid_flow_give(th_fluid *f, int32_t slot);
void th_fluid_push(th_fluid *f, th_fluid_flow *w, int32_t transfer);
void th_fluid_pop_first(th_fluid *f, th_fluid_flow *w);

/* virtual_time.c; now never goes back. */
int th_virtual_times_init(th_fluid *f); /* 0 or -1; clear all the same */
void th_virtual_times_reset(th_fluid *f);
void th_virtual_times_clear(th_fluid *f);
void th_virtual_time_update(th_fluid *f, int32_t medium, th_time now, double level);
int th_virtual_time_add(th_fluid *f, int32_t slot, int32_t medium,
                        th_time now); /* -1: memory is out */
/* Transfer, whose finish is its bytes * weight, joins those of flow slot. */
void th_virtual_time_join(th_fluid *f, int32_t slot, int32_t transfer, th_time now);
/* Adds slot, which was uncontended, to the medium with its pending event, as if it had been added
 * when its sharing began, at this level. -1: memory is out. */
int th_virtual_time_add_since(th_fluid *f, int32_t slot, int32_t medium, double level);
void th_virtual_time_remove(th_fluid *f, int32_t slot, th_time now);
/* The same before the network settles, when the flow may have a transfer that ends now. */
void th_virtual_time_withdraw(th_fluid *f, th_events *q, int32_t slot, th_time now);
/* Removes the first transfer of flow slot, which ends first on its bottleneck and ends now; posts
 * the event of the next transfer there that ends now, too. 0 or -1. */
int th_virtual_time_end_first(th_fluid *f, th_events *q, int32_t slot, th_time now);
int th_virtual_times_post_ends(th_fluid *f, th_events *q,
                               th_time now); /* of stale media; 0 or -1 */
/* dram_contention.c: which DRAMs the solver shares between flows and engines. init: 0 or -1. use:
 * by more transfers of the flow share. */
#define TH_NEVER_CONTENDED INT64_MAX
int th_dram_contention_init(th_fluid *f, const th_system *s);
void th_dram_contention_reset(th_fluid *f);
void th_dram_contention_use(th_fluid *f, const th_fluid_flow *w, int by);
int th_dram_contention_update(th_network *n, th_time now);

/* uncontended.c. enter: the transfer shares its media from the next settle_entered on;
 * enter_solver: inserts the uncontended flow into the solver; leave: a transfer of the flow leaves
 * the media of its route. init, enter, settle_entered, enter_solver: 0 or -1. */
int th_uncontended_init(th_fluid *f, const th_system *s);
void th_uncontended_reset(th_fluid *f);
int th_fluid_enter(th_fluid *f, int32_t transfer);
int th_fluid_settle_entered(th_fluid *f, th_events *q, th_time now);
int th_fluid_enter_solver(th_fluid *f, int32_t slot);
/* Adds flow slot to the solver, after the uncontended flows on its media. 0 or -1. */
int th_fluid_share_media(th_fluid *f, int32_t slot);
void th_fluid_leave(th_fluid *f, const th_fluid_flow *w);

/* fault_loss.c; at, begin and end only where f->loss is there. set: the bandwidth of a medium
 * changes; detour: the flow has a route that may be a detour; 0, or -1: memory is out. at: what the
 * flow has lost while the medium limits it; begin: a transfer of the flow starts; end: what all
 * faults have cost a transfer that ends, in ps. */
int th_fault_loss_set(th_fluid *f, int32_t medium, double bytes_per_s, th_time now);
int th_fault_loss_detour(th_fluid *f, th_fluid_flow *w);
double th_fault_loss_at(const th_fluid *f, const th_fluid_flow *w, int32_t medium, th_time now);
void th_fault_loss_begin(const th_fluid *f, const th_fluid_flow *w, th_fluid_transfer *t);
th_time th_fault_loss_end(const th_fluid *f, const th_fluid_flow *w, const th_fluid_transfer *t,
                          th_time now);
void th_fault_loss_clear(th_fluid *f);

/* together.c, reroute.c: the rows of th_network_type. */
int th_fluid_together(th_network *n, const th_message *m, int32_t count, th_time limit,
                      th_time *end);
int th_fluid_avoid(th_network *n, th_events *q, int32_t medium, bool is_avoided, th_time now);
bool th_fluid_transfer_on(th_network *n, int link, int *src, int *dst);

/* fluid.c: adds flow slot to the solver, on the media of its route and the contended DRAMs. 0 or
 * -1. arrive: to the flows of the DRAMs at its ends. */
int th_fluid_share(th_fluid *f, int32_t slot);
int th_fluid_arrive(th_fluid *f, int32_t slot);
/* Its media, with the contended DRAMs at its ends; *n of them, valid until the next call. NULL:
 * memory is out. */
const int32_t *th_fluid_media_of(th_fluid *f, const th_fluid_flow *w, int32_t *n);
bool th_fluid_uses_contended_dram(const th_fluid *f, const th_fluid_flow *w, int end);
/* The rate of slot has changed. */
void th_fluid_mark_rate_changed(th_fluid *f, int32_t slot);

/* The event of the end of a transfer. */
th_event_handle th_fluid_post_end(const th_fluid *f, th_events *q, int32_t transfer, th_time at);

#endif
