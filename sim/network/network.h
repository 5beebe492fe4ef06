/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network.h - the table of network models: how transfers share links.
 *
 *   new -> reset -> (start | event | settle)* -> free
 * A model keeps its state as plain data and speaks to the machine through its event queue alone: events of
 * priority TRANSFER_END whose object is the flow's number. Flows are numbered 0 .. by the machine. */
#ifndef TH_SIM_NETWORK_H
#define TH_SIM_NETWORK_H
#include "base/error.h"
#include "sim/event.h"
#include "topology/system.h"

typedef struct th_network th_network;

typedef struct th_network_type {
    const char *name;
    const char *synopsis;
    th_network *(*create)(const th_system *s, th_error *err);
    void (*destroy)(th_network *n);
    void (*reset)(th_network *n);
    /* A transfer of bytes > 0 from node src to node dst begins at now; its number is flow. 0 or -1. */
    int (*start)(th_network *n, th_events *q, th_time now, int32_t flow, int src, int dst, int64_t bytes);
    /* An event of this network has come up. True when the flow's last byte has arrived. */
    bool (*event)(th_network *n, th_events *q, th_time now, const th_event *e);
    /* Before time goes on: rates follow from all that happened at now. */
    int (*settle)(th_network *n, th_events *q, th_time now);
} th_network_type;

/* What every model keeps, at the head of its own struct. */
struct th_network {
    const th_network_type *type;
    const th_system *system;
    int64_t *link_bytes;            /* per link, carried since reset, of flows that have ended */
    th_time *link_busy_ps;          /* per link, time with at least one flow on it */
    double *accel_draw;             /* per accelerator, bytes/s that flows draw from its DRAM now */
    int32_t *touched;               /* accelerators whose draw changed at the last settle */
    int32_t n_touched;
};

extern const th_network_type *const th_network_types[];    /* ends in NULL; the first is the default */
const th_network_type *th_network_find(const char *name);
const char *th_network_names(void);                        /* "fluid, ideal" for messages */

#endif
