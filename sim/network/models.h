/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.h - the rows of the network table, one per file, and the functions that they share. */
#ifndef TH_SIM_NETWORK_MODELS_H
#define TH_SIM_NETWORK_MODELS_H
#include "sim/network/network.h"

extern const th_network_type th_network_fluid;
extern const th_network_type th_network_ideal;
extern const th_network_type th_network_astra_aware, th_network_astra_unaware;
extern const th_network_type th_network_packet;

/* The kind of an event of a network: the low bit of th_event.argument; the other bits are the slot
 * of the flow, the model's own number for it. The object is the number that the machine uses. */
enum { TH_FLOW_ENTERS, TH_FLOW_ENDS };
enum { TH_FLOWS_MAX = INT32_MAX / 2 }; /* slots that fit into an argument */

static inline uint32_t th_flow_argument(int32_t slot, uint32_t kind)
{
    return (uint32_t)slot << 1 | kind;
}
static inline int32_t th_flow_slot(const th_event *e)
{
    return (int32_t)(e->argument >> 1);
}

/* Initialises the common head: arrays by link and accelerator, no flows. 0 or -1 (call clear in
 * both cases). */
int th_network_head_init(th_network *n, const th_network_type *type, const th_system *s);
void th_network_head_reset(th_network *n);
void th_network_head_clear(th_network *n);
/* A row's settle where rates never change. */
int th_network_settle_nothing(th_network *n, th_events *q, th_time now);

/* Slots of an array of structs that start with an int32_t, which in a free slot is the next free
 * one, or -1. */
typedef struct th_slots {
    size_t n, room;  /* slots taken since the reset; elements of the array */
    int32_t is_free; /* the first free one, -1: none */
} th_slots;
void th_slots_reset(th_slots *x); /* all are free, memory is kept */
/* A slot, whose content is undefined. flows points to the array, whose elements have that size. -1:
 * memory is out. */
int32_t th_slots_take(th_slots *x, void *flows, size_t size);
void th_slots_give(th_slots *x, void *flow, int32_t slot); /* flow: its element */

/* The end of message m, which started at now and takes duration_ps after its delay; -1 beyond
 * simulated time (n->why has the error). */
th_time th_network_end(th_network *n, const th_message *m, th_time now, th_time duration_ps);

/* Bits/s of all links into and out of a node, and of the fastest. */
typedef struct th_node_rates {
    int64_t all, fastest;
} th_node_rates;
th_node_rates th_network_node_rates(const th_system *s, int node);
/* The bandwidth of the narrower DRAM at the two ends, bits/s; TH_UNLIMITED: neither has one. */
int64_t th_network_dram_bits(const th_system *s, int src, int dst);

/* A flow enters a link, and leaves it when the link has carried all its bytes. */
void th_network_link_enter(th_network *n, int link, th_time now);
void th_network_link_leave(th_network *n, int link, th_time now, int64_t bytes);

#endif
