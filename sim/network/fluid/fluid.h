/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fluid.h - private to the fluid network: its state, and the clocks of its media
 * (virtual_time.c). */
#ifndef TH_SIM_NETWORK_FLUID_FLUID_H
#define TH_SIM_NETWORK_FLUID_FLUID_H
#include "base/alloc.h"
#include "base/double_double.h"
#include "sim/network/fluid/maxmin.h"
#include "sim/network/models.h"
#include "sim/network/routes.h"

/* Where a flow stands: on its way; in the sharing since this instant, and not settled yet; on media
 * that nobody else is on, unknown to the solver; known to it. */
typedef enum {
    TH_FLUID_OUTSIDE,
    TH_FLUID_ENTERED,
    TH_FLUID_ALONE,
    TH_FLUID_AMONG
} th_fluid_sharing;

typedef struct th_fluid_flow {
    th_flow_route route;
    int64_t bytes;
    double weight;
    th_double_double left;   /* to go, in units of a count, while it stands on no clock */
    th_double_double finish; /* the count of its clock at which it ends */
    int32_t number;          /* the machine's; while the slot is free: the next free one */
    int32_t accel[2];        /* at its ends, -1: none */
    int32_t at[2];           /* its place in at_accel of those */
    int32_t clock;           /* the medium that is its bottleneck, -1: none */
    int32_t place;           /* in the heap of that clock */
    /* While it is alone: */
    int32_t narrowest; /* its bottleneck, all of which it has: rate */
    double rate;
    th_time since;
    th_event_handle end; /* its event, at end_time */
    th_time end_time;
    uint8_t sharing; /* th_fluid_sharing */
} th_fluid_flow;

/* A medium counts what a flow of weight 1 whose bottleneck it is has got since the clock stood at
 * 0, in bytes / TH_PS_PER_S: such a flow, of weight w, ends when the count is ahead by its bytes *
 * w of what it was when the flow joined. So flows that rise and fall together need no looking at
 * when their rate changes. */
typedef struct th_fluid_clock {
    th_double_double count; /* at since */
    double level;           /* bytes/s, by which it grows in a picosecond, from since on */
    th_time since;
    int32_t *flow; /* on it, a heap by finish, then number */
    size_t n, room;
    th_event_handle end; /* the event of its first end; TH_NO_EVENT: there is none */
    th_time end_time;
    int32_t end_slot; /* whose end that is */
    bool is_stale;    /* its end is to be found anew */
} th_fluid_clock;

typedef struct th_fluid_list {
    int32_t *item;
    size_t n, room;
} th_fluid_list;

typedef struct th_fluid_entry {
    th_time time;
    int32_t slot;
} th_fluid_entry;

typedef struct th_fluid {
    th_network head;
    th_routes routes;
    th_maxmin *shares;
    int32_t n_media, n_engines;
    bool weigh_by_latency, solves_alone;
    th_fluid_flow *flows; /* by slot */
    size_t n_flows, flow_room;
    int32_t free_flow;      /* -1: none */
    th_fluid_clock *clocks; /* by medium */
    int32_t *stale;         /* clocks */
    int32_t n_stale;
    th_fluid_entry
        *entering; /* flows that will enter the sharing, by time, from next_entering on */
    size_t n_entering, next_entering, entering_room;
    th_fluid_list media;     /* of the flow at hand */
    th_fluid_list entered;   /* flows to be settled: uncontended.c */
    int32_t *n_on;           /* per medium of the system: flows in the sharing, an entry per hop */
    int32_t *alone;          /* the one flow on it that is alone, -1: there is none */
    th_fluid_list *at_accel; /* per accelerator, slot << 1 | end of its transfers */
    bool *draw_is_old;       /* per accelerator */
    int32_t *pending;        /* accelerators that the next settle will tell of */
    int32_t n_pending;
    bool *is_touched; /* those in pending */
    /* dram_contention.c */
    bool any_shared; /* else nothing below is kept */
    int64_t
        *used_bits; /* per accelerator, of its links that flows in the sharing are on; in bits/s */
    int64_t *most_bits; /* ... from which on its DRAM is coupled; TH_NEVER_COUPLED */
    int32_t *flows_first,
        *flows_last;    /* per link, flows in the sharing that begin, or end, with it */
    int32_t *used_anew; /* accelerators whose used_bits have changed */
    int32_t n_used_anew;
    bool *is_used_anew; /* those */
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
void th_fluid_clocks_reset(th_fluid *f);
void th_fluid_clocks_clear(th_fluid *f);
void th_fluid_turn(th_fluid *f, int32_t clock, th_time now, double level);
int th_fluid_join(th_fluid *f, int32_t slot, int32_t clock, th_time now); /* -1: memory is out */
/* Slot, which was alone, goes on with its event on the clock of its bottleneck, as if it had joined
 * since then, at this level. -1: memory is out. */
int th_fluid_join_since(th_fluid *f, int32_t slot, int32_t clock, double level);
void th_fluid_quit(th_fluid *f, int32_t slot, th_time now); /* what is left of it follows */
/* Flow slot, the first of its clock, ends now: it leaves the clock, and what ends there at once
 * behind it is posted. 0 or -1. */
int th_fluid_end(th_fluid *f, th_events *q, int32_t slot, th_time now);
int th_fluid_find_ends(th_fluid *f, th_events *q, th_time now); /* of stale clocks; 0 or -1 */
/* dram_contention.c: where flows and engines are to be solved together. init: 0 or -1; clear
 * accepts what init has left. arrives and departs: slot enters the sharing, or leaves it. */
#define TH_NEVER_COUPLED INT64_MAX
int th_fluid_couple_init(th_fluid *f, const th_system *s);
void th_fluid_couple_clear(th_fluid *f);
void th_fluid_couple_reset(th_fluid *f);
void th_fluid_arrives(th_fluid *f, const th_fluid_flow *w);
void th_fluid_departs(th_fluid *f, const th_fluid_flow *w);
int th_fluid_couple(th_network *n, th_time now);

/* uncontended.c: enter: into the sharing, from the next settle_entered on; mingle: flow slot, which
 * is alone, is so no longer; leave: the media of its route, whatever it was. init, enter,
 * settle_entered, mingle: 0 or -1. */
int th_fluid_alone_init(th_fluid *f, const th_system *s);
void th_fluid_alone_clear(th_fluid *f);
void th_fluid_alone_reset(th_fluid *f);
int th_fluid_enter(th_fluid *f, int32_t slot);
int th_fluid_settle_entered(th_fluid *f, th_events *q, th_time now);
int th_fluid_mingle(th_fluid *f, int32_t slot);
void th_fluid_leave(th_fluid *f, int32_t slot);

/* fluid.c: flow slot shares the media of its route, and of the DRAMs that are coupled now. 0 or -1.
 */
int th_fluid_share(th_fluid *f, int32_t slot);
/* Its media, those of coupled DRAMs at its ends included; *n of them, valid until the next flow.
 * NULL: memory is out. */
const int32_t *th_fluid_media_of(th_fluid *f, const th_fluid_flow *w, int32_t *n);
bool th_fluid_draws_on_coupled(const th_fluid *f, const th_fluid_flow *w, int end);
/* The rate of slot has changed. */
void th_fluid_tell_rate(th_fluid *f, int32_t slot);

/* The event of the end of a flow. */
th_event_handle th_fluid_post_end(const th_fluid *f, th_events *q, int32_t slot, th_time at);

#endif
