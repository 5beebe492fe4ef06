/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups.h - the data of the groups of long flows of the packet network: flow_groups.c forms them,
 * periods.c skips their periods.
 * A group is a set of flows such that no other flow in the network takes a medium of its routes:
 * what happens inside does not depend on anything outside. Flows that have joined, and those of a
 * group that another flow touches, are loose until groups are formed again. */
#ifndef TH_SIM_NETWORK_PACKET_GROUPS_H
#define TH_SIM_NETWORK_PACKET_GROUPS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sim/network/packet/packet_events.h"

enum {
    TH_GROUP_NONE = -1,      /* a flow that is too short to be in a group */
    TH_GROUP_LOOSE = -2,     /* a long one without a group */
    TH_LONG_FLOW = 64,       /* packets: the shortest long flow */
    TH_PERIOD_INTERVALS = 64 /* the longest period that is found, a power of two */
};

/* A growing array of integers. Once memory is out, it stays failed. */
typedef struct th_words {
    int64_t *item;
    size_t n, room;
    bool has_failed;
} th_words;

/* The state of a group at the end of a time step. */
typedef struct th_group_state {
    th_time at;
    th_words state;  /* all that the future depends on, with times relative to at */
    th_words totals; /* what grows from period to period, see periods.c */
} th_group_state;

/* A pending event of a group. */
typedef struct th_group_event {
    th_time in; /* from the state's time on */
    int32_t kind, place, bytes;
    int32_t object; /* of the event; place is the same for packets in the same place of a period */
} th_group_event;

/* The intervals between two packets of the marker flow, as hashes of all that is sent in them. */
typedef struct th_interval_history {
    uint64_t hash; /* of the open interval */
    th_time since;
    int64_t n;
    uint64_t past[TH_PERIOD_INTERVALS]; /* the last ones, interval i at i % TH_PERIOD_INTERVALS */
    /* by m: the last repeats[m] intervals are each equal to the one m before it */
    int32_t repeats[TH_PERIOD_INTERVALS + 1];
} th_interval_history;

typedef struct th_flow_group {
    int32_t number; /* in groups */
    bool is_formed; /* else it waits for reuse */
    int32_t next_unused;
    bool is_suspended;
    bool has_run_out; /* of periods: one of its flows is about to send its last packets */
    int32_t *flows, *media;
    size_t n_flows, flow_room, n_media, media_room;

    int32_t marker; /* flow: intervals begin when its packets leave */
    th_interval_history history;
    int32_t period;            /* intervals; 0: none is presumed */
    int32_t left;              /* intervals until the end of the presumed period */
    int32_t caution;           /* repeated intervals that are required beyond one period */
    th_group_state begin, end; /* of the presumed period */

    int32_t n_skips;        /* times that it was suspended */
    int64_t most;           /* periods that can be skipped */
    th_group_event *events; /* while it is suspended; else scratch */
    size_t n_events, event_room;
} th_flow_group;

typedef struct th_flow_groups {
    bool is_off;
    int32_t *group_of;  /* by medium, -1: none */
    int32_t *n_outside; /* by medium: flows over it that are short, or have not joined yet */
    int32_t *owner;     /* by medium: scratch of form */
    th_flow_group **groups;
    size_t n_groups, room;
    int32_t first_unused;
    int32_t *loose;  /* flows */
    int32_t *parent; /* by loose flow: scratch of form */
    size_t n_loose, n_long, loose_room, parent_room;
    int64_t loose_hops; /* of their routes */
    int64_t n_sent;     /* packets over links, since groups were formed last */
    int64_t scans;      /* pending events that may be looked at to find periods */
    int32_t n_suspended;
    int32_t *marked; /* groups whose marker has sent a packet in this time step */
    size_t n_marked, marked_room;
} th_flow_groups;

#endif
