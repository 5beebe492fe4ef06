/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network.h - the table of network models: how transfers share links, and DRAM where flows can
 * saturate it.
 *
 *   create -> reset -> (start | event | demand | settle)* -> destroy
 * A model keeps its state as plain data and reaches the machine only through its event queue:
 * events of priority TRANSFER_END, and START for a flow that enters the sharing after its latency,
 * whose object is the flow's number. The machine gives the numbers, in any order, and reuses that
 * of a flow that has ended; a model's memory follows the flows in the network, not the numbers. */
#ifndef TH_SIM_NETWORK_H
#define TH_SIM_NETWORK_H
#include <stdbool.h>
#include "base/error.h"
#include "base/memory.h"
#include "sim/collective/collective.h"
#include "sim/kernel/event.h"
#include "sim/network/detour.h"
#include "sim/program/observer.h"
#include "topology/system.h"

typedef struct th_network th_network;
struct th_astra_replay;
struct th_astra_replay_options;

/* Options of models. Zero means the default of the model. */
typedef struct th_network_options {
    /* fluid: the weight of a flow is the latency of its route, as in SimGrid */
    bool weigh_by_latency;
    bool ignores_drams;      /* ideal: those at both ends of a transfer never limit it */
    bool solves_uncontended; /* fluid: also solves uncontended flows (slower, same times) */
    /* packet; see sim/network/packet/packet.h for the defaults */
    int64_t packet_bytes;
    int64_t buffer_bytes;       /* of each virtual channel at the end of a link */
    int32_t n_virtual_channels; /* of each link */
    /* from the release of space in a buffer to the sender's knowledge of it */
    th_time credit_delay_ps;
    th_time router_delay_ps; /* on top of each link's latency */
    /* of the links between a node and its router, one each way; 0: a node injects into all its
     * links at once, and receives from all */
    int64_t terminal_bits_per_s;
    /* packets that the buffers of a link forward at once; 0: any number */
    int32_t n_crossbar_inputs;
    th_time allocation_cycle_ps; /* of a router that allocates in one pass per cycle, see
                                  * packet_step.c; 0: without loss, at once */
    bool may_deadlock;           /* also runs routes that can deadlock */
} th_network_options;

typedef struct th_network_type {
    const char *name;
    const char *synopsis;
    th_network *(*create)(const th_system *s, const th_network_options *o, th_error *err);
    void (*destroy)(th_network *n);
    void (*reset)(th_network *n);
    /* A flow begins at now; its number is flow. 0, or -1: th_network_failed gives the error. */
    int (*start)(th_network *n, th_events *q, th_time now, int32_t flow, const th_message *m);
    /* Handles an event of this network. True when the flow's last byte has arrived. If memory runs
     * out, the next settle fails. */
    bool (*event)(th_network *n, th_events *q, th_time now, const th_event *e);
    /* At the end of a time step: computes rates from all events at now. 0, or -1: th_network_failed
     * gives the error. */
    int (*settle)(th_network *n, th_events *q, th_time now);
    /* Accelerator accel is_contended: its engines in mask demand DRAM bandwidth, each up to the
     * rate of its port. Their rates are in engine_rate after the next settle. NULL: this model
     * never shares a DRAM. 0 or -1. */
    int (*demand)(th_network *n, int accel, unsigned mask, const double *port_bytes_per_s);
    /* The demand of flows on accelerator accel's DRAM, bytes/s. NULL: accel_dram_demand has it. */
    double (*dram_demand)(th_network *n, int accel);
    /* A collective starts at now. 1: this network runs it as a whole, and it ends at *end; 0: it is
     * replayed message by message; -1. NULL: all are replayed message by message. */
    int (*collective)(th_network *n, const th_collective *c, th_time now, th_time *end,
                      th_error *err);
    /* All these messages start at 0 on the network as it is after reset, and nothing else happens
     * until they have ended. 1: the last ends at *end, and unless that is after limit, the
     * statistics of links are those of then; 0: they have to be started one by one; -1: memory is
     * out. NULL: they always have to. */
    int (*together)(th_network *n, const th_message *m, int32_t count, th_time limit, th_time *end);
    /* How long each node of an execution trace takes, where the model knows it as a whole (see
     * astra/trace_replay.h). NULL: traces run as traffic. 0 or -1. */
    int (*replay_trace)(const struct th_astra_replay_options *o, struct th_astra_replay *out,
                        th_error *err);
    /* Before settle: decides, by the flows on them, which of the DRAMs that are is_shared are
     * contended until the next call, and lists those that changed in toggled. The caller then
     * starts or stops to demand rates for their engines. 0 or -1. NULL: all of them are always
     * contended. */
    int (*update_contention)(th_network *n, th_time now);
    /* Changes the bandwidth of a medium from the next settle on. NULL: not supported. */
    void (*set_bandwidth)(th_network *n, int32_t medium, double bytes_per_s, th_time now);
    /* From now on no route takes the medium (or some may again): every transfer, those in flight
     * included, takes the route that a new one would take; without another route it keeps its own.
     * Bytes that have been carried stay carried. NULL: not supported. 0 or -1. */
    int (*avoid)(th_network *n, th_events *q, int32_t medium, bool is_avoided, th_time now);
    /* Fills the nodes of a transfer that is in flight over a link, of those with the lowest
     * numbers; false: there is none. NULL where avoid is NULL. */
    bool (*transfer_on)(th_network *n, int link, int *src, int *dst);
    bool is_memoryless; /* without flows, and settled, its state equals that after a reset */
} th_network_type;

/* The state that every model keeps, at the head of its own struct. */
struct th_network {
    const th_network_type *type;
    const th_system *system;
    int64_t *link_bytes;    /* per link, carried since reset, of flows that have ended */
    th_time *link_busy_ps;  /* per link, past time with at least one flow on it */
    th_time *link_since;    /* per link, since when it has flows; meaningful when link_flows > 0 */
    int32_t *link_flows;    /* per link, flows on it now */
    uint64_t *link_flow_ps; /* per link: sum of the times at which flows left it minus that of
                             * the times at which they entered, modulo 2^64 */
    int32_t *link_peak_flows;  /* per link: maximum at one time */
    th_observer *observers;    /* of the machine; NULL: none */
    double *accel_dram_demand; /* per accelerator, bytes/s of flows on its DRAM, see
                                  th_network_dram_demand */
    double *engine_rate;       /* per accelerator and engine, where the DRAM is shared */
    bool *is_shared;           /* per accelerator: flows could saturate its DRAM, see models.h */
    bool *is_contended; /* per accelerator: is_shared, and its engines are in the solver with the
                           flows */
    int32_t *toggled;   /* accelerators whose is_contended the last update_contention changed */
    int32_t n_toggled;
    int32_t
        *touched; /* accelerators whose DRAM demand or engine rates changed at the last settle */
    int32_t n_touched;
    th_detours detours;
    uint8_t *stripes_left; /* by number of a message: those under way; 0: it goes whole */
    size_t n_stripes_left;
    th_memory memory; /* of these arrays, and of those that a model makes with itself */
    th_time fault_ps; /* what faults of links have cost the flow that the last event ended, where
                       * set_bandwidth is there */
    bool has_failed;  /* an event: the next settle fails */
    th_error why;     /* start, settle or demand failed; no id: memory is out */
};

/* models.c: the error of a failed start, settle or demand. Returns -1. */
int th_network_failed(const th_network *n, th_error *err);
/* Is it that a transfer would take longer than any run? */
bool th_network_is_too_slow(const th_error *err);

/* models.c: the table, which ends in NULL; the first model is the default. */
extern const th_network_type *const th_network_types[];
const th_network_type *th_network_find(const char *name);
/* models.c: changes the network that was asked for where the transfers of mappings are serial: they
 * take the time of their bytes on their route, whatever else links and DRAMs do. */
void th_network_of_mappings(const th_system *s, const th_network_type **type,
                            th_network_options *o);

/* models.c: could flows saturate the DRAM of this node? */
bool th_network_dram_is_shared(const th_system *s, int node);

/* The demand of flows on accelerator accel's DRAM, bytes/s. */
static inline double th_network_dram_demand(th_network *n, int accel)
{
    return n->type->dram_demand ? n->type->dram_demand(n, accel) : n->accel_dram_demand[accel];
}

#endif
