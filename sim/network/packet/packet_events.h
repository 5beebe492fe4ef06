/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet_events.h - the pending events inside the packet network, grouped by time step.
 *   init -> (post | next | take)* -> reset -> ... -> clear
 * The events of one time step are taken together and in no order, so their effects must commute. */
#ifndef TH_SIM_NETWORK_PACKET_PACKET_EVENTS_H
#define TH_SIM_NETWORK_PACKET_PACKET_EVENTS_H
#include <stddef.h>
#include <stdint.h>
#include "base/units.h"
#include "sim/network/models.h"

typedef struct th_packet_event {
    int32_t next; /* of the same time step, -1: none; of the free ones */
    int32_t kind; /* the caller's, like object and bytes */
    int32_t object;
    int32_t bytes;
} th_packet_event;

typedef struct th_time_step {
    int32_t first; /* event */
    th_time time;  /* -1: the slot is free */
} th_time_step;

typedef struct th_time_step_key {
    th_time time;
    int32_t step;
} th_time_step_key;

enum { TH_RECENT_STEPS = 256 }; /* a power of two */

typedef struct th_packet_events {
    th_packet_event *events; /* by slot */
    th_slots event_slots;
    th_time_step *steps; /* by slot; several may have one time */
    th_slots step_slots;
    th_time_step_key *heap; /* of steps, by time */
    size_t n_heap, heap_room;
    int32_t recent[TH_RECENT_STEPS]; /* step of a time, by hash of the time; may be out of date */
} th_packet_events;

void th_packet_events_init(th_packet_events *q);
void th_packet_events_reset(th_packet_events *q); /* empty again, memory kept */
void th_packet_events_clear(th_packet_events *q);
/* 0, or -1: memory is out, nothing has changed. */
int th_packet_events_post(th_packet_events *q, th_time time, const th_packet_event *event);
/* The time of the first step; TH_TIME_MAX: there is none. */
th_time th_packet_events_next(const th_packet_events *q);
/* Removes the events of the first time and returns the first of their list (events[].next), each of
 * which the caller gives back; -1: there is none. */
int32_t th_packet_events_take(th_packet_events *q);
void th_packet_events_give_back(th_packet_events *q, int32_t event);

#endif
