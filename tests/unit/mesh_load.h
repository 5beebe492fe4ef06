/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh_load.h - mean latency of packets on the 8 x 8 mesh of docs/models/packet.md under a load:
 * what the test of its shape and the benchmark share.
 *
 * A flit is one packet; a link carries one in a cycle. A hop takes 4 cycles: 3 in BookSim2's router
 * (virtual channel allocation, switch allocation, switch) and 1 on the link. What its terminals add
 * (channels and the first router) is one constant, so that latency at no load is the same. */
#ifndef TH_TESTS_UNIT_MESH_LOAD_H
#define TH_TESTS_UNIT_MESH_LOAD_H
#include "sim/machine.h"
#include "sim/traffic.h"
#include "topology/generate.h"

enum {
    MESH_CYCLE_PS = 1000,
    MESH_FLIT_BYTES = 16,
    MESH_LINK_CYCLES = 1,
    MESH_ROUTER_CYCLES = 3,
    MESH_CREDIT_CYCLES = 2,
    MESH_CHANNELS = 8,
    MESH_BUFFER_FLITS = 8
};
/* Mean distance of uniform traffic: 16/3 links. 26.8 = 1 + 4 x 16/3 + this. */
#define MESH_TERMINAL_CYCLES 4.45

/* BookSim2: load in flits per node and cycle, mean packet latency in cycles. */
static const struct {
    double load, latency;
} mesh_booksim[] = {{0.01, 26.85}, {0.1, 27.19}, {0.2, 27.72},
                    {0.3, 28.73},  {0.4, 32.25}, {0.45, 44.74}};
enum { MESH_N_LOADS = sizeof mesh_booksim / sizeof *mesh_booksim };

static inline th_system *mesh_system(const th_system *prototype, th_error *err)
{
    const th_topology_options o = {
        .dims = {8, 8},
        .n_dims = 2,
        .bits_per_s = {TH_PS_PER_S / MESH_CYCLE_PS * MESH_FLIT_BYTES * 8},
        .latency_ps = {MESH_LINK_CYCLES * MESH_CYCLE_PS},
        .n_bandwidths = 1,
        .n_latencies = 1,
        .host_latency_ps = -1,
    };
    return th_topology_create("mesh", th_topology_find("mesh"), &o, prototype, err);
}

/* Latencies of the messages that are released in the measured cycles; those before warm the network
 * up, as many after keep it loaded. */
typedef struct {
    double load;
    int warm_cycles, measured_cycles;
    uint64_t seed;
    double latency_cycles; /* out: the mean */
    int64_t n_packets;     /* out: all */
} mesh_run;

static inline int mesh_fill(mesh_run *run, const th_system *s, th_program *p, th_error *err)
{
    const th_traffic_options o = {
        .bytes_per_s = run->load * MESH_FLIT_BYTES * (double)TH_PS_PER_S / MESH_CYCLE_PS,
        .message_bytes = MESH_FLIT_BYTES,
        .cycle_ps = MESH_CYCLE_PS,
        .duration_ps = (th_time)(2 * run->warm_cycles + run->measured_cycles) * MESH_CYCLE_PS,
        .delay_ps = (th_time)(MESH_TERMINAL_CYCLES * MESH_CYCLE_PS),
        .seed = run->seed};
    run->n_packets = th_traffic_add(p, s, &o, err);
    return run->n_packets < 0 ? -1 : th_program_finish(p, err);
}

static inline th_machine_options mesh_machine(void)
{
    return (th_machine_options){
        .network = th_network_find("packet"),
        .network_options = {.packet_bytes = MESH_FLIT_BYTES,
                            .buffer_bytes = MESH_BUFFER_FLITS * MESH_FLIT_BYTES,
                            .n_virtual_channels = MESH_CHANNELS,
                            .credit_delay_ps = MESH_CREDIT_CYCLES * MESH_CYCLE_PS,
                            .router_delay_ps = MESH_ROUTER_CYCLES * MESH_CYCLE_PS}};
}

static inline void mesh_measure(mesh_run *run, const th_program *p, const th_result *r)
{
    th_time first = (th_time)run->warm_cycles * MESH_CYCLE_PS;
    th_time end = first + (th_time)run->measured_cycles * MESH_CYCLE_PS;
    double sum = 0;
    int64_t n = 0;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        th_time release = p->tasks[t].release_ps;
        if (release < first || release >= end)
            continue;
        sum += (double)(r->tasks[t].end_ps - release);
        n++;
    }
    run->latency_cycles = n > 0 ? sum / (double)n / MESH_CYCLE_PS : 0;
}

#endif
