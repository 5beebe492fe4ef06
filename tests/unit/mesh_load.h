/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh_load.h - mean latency of packets on the 8 x 8 meshes and tori of docs/models/packet.md under
 * a load, and what BookSim2 says: what the tests and the benchmark share.
 *
 * BookSim2's router: input-queued, 8 virtual channels of 8 flits, allocation of virtual channels
 * and of the switch and the switch itself a cycle each, separable allocation in one pass (iSLIP,
 * one iteration), two crossbar inputs for each input, credits processed in 2 cycles; a link of 1
 * cycle on the mesh, of 2 on the torus; channels of 1 cycle and a flit per cycle into and out of
 * each node. All constants below are those; none is fitted. A flit is 16 bytes and a cycle 1 ns
 * here.
 *
 * Uniform traffic of BookSim2 goes to the sender itself as often as to any other node, ours never:
 * its load counts 63/64, and its mean latency is that of the others where messages to oneself (one
 * router, two channels and the flit itself: 6 cycles) are taken out. */
#ifndef TH_TESTS_UNIT_MESH_LOAD_H
#define TH_TESTS_UNIT_MESH_LOAD_H
#include "sim/machine/machine.h"
#include "sim/program/traffic.h"
#include "topology/generate/generate.h"

enum {
    MESH_CYCLE_PS = 1000,
    MESH_FLIT_BYTES = 16,
    MESH_SIDE = 8,
    MESH_NODES = MESH_SIDE * MESH_SIDE,
    MESH_ROUTER_CYCLES = 3,
    MESH_CREDIT_CYCLES = 2,
    MESH_TERMINAL_CYCLES = 2, /* the channels into and out of a node */
    MESH_CHANNELS = 8,
    MESH_BUFFER_FLITS = 8,
    MESH_CROSSBAR_INPUTS = 2
};

static const int64_t mesh_bits_per_s =
    TH_PS_PER_S / MESH_CYCLE_PS * MESH_FLIT_BYTES * 8; /* a flit per cycle */

/* The mesh, uniform, packets of one flit: load in flits per node and cycle, mean packet latency in
 * cycles. */
static const struct {
    double load, latency;
} mesh_booksim[] = {{0.01, 26.85}, {0.1, 27.19}, {0.2, 27.72},
                    {0.3, 28.73},  {0.4, 32.25}, {0.45, 44.74}};
enum { MESH_N_LOADS = sizeof mesh_booksim / sizeof *mesh_booksim };

static inline double mesh_load_to_others(double load)
{
    return load * (MESH_NODES - 1) / MESH_NODES;
}

static inline double mesh_latency_to_others(double latency)
{
    const double to_oneself = MESH_ROUTER_CYCLES + MESH_TERMINAL_CYCLES + 1;
    return (latency * MESH_NODES - to_oneself) / (MESH_NODES - 1);
}

/* BookSim2's load, without messages to oneself, at which the mean latency is three times that at no
 * load. known_miss: percent by which ours is known to be below that, where it is beyond the bar of
 * 6 percent. BookSim2 draws for each packet which way it goes half way round a ring; ours takes one
 * way for a pair, so that the last link of a row or column of the transposed torus carries 4 pairs
 * instead of 3 and half of one. */
typedef struct {
    const char *topology, *pattern;
    int link_cycles, flits;
    double saturation, known_miss;
} mesh_case;
static const mesh_case mesh_cases[] = {
    {"mesh", "uniform", 1, 1, 0.466, 0},       {"mesh", "uniform", 1, 8, 0.431, 0},
    {"torus", "uniform", 2, 1, 0.806, 0},      {"torus", "uniform", 2, 8, 0.695, 0},
    {"mesh", "transpose", 1, 1, 0.152, 0},     {"mesh", "transpose", 1, 8, 0.153, 0},
    {"torus", "transpose", 2, 1, 0.280, 11.1}, {"torus", "transpose", 2, 8, 0.259, 9.0}};
enum { MESH_N_CASES = sizeof mesh_cases / sizeof *mesh_cases };

static inline th_system *mesh_system(const th_system *prototype, const mesh_case *k, th_error *err)
{
    const th_topology_options o = {
        .dims = {MESH_SIDE, MESH_SIDE},
        .n_dims = 2,
        .bits_per_s = {mesh_bits_per_s},
        .latency_ps = {k->link_cycles * MESH_CYCLE_PS},
        .n_bandwidths = 1,
        .n_latencies = 1,
        .host_latency_ps = -1,
    };
    return th_topology_create("mesh", th_topology_find(k->topology), &o, prototype, err);
}

/* Latencies of the messages that are released in the measured cycles; those before warm the network
 * up, as many after keep it loaded. */
typedef struct {
    const mesh_case *is;
    double load;
    int warm_cycles, measured_cycles;
    uint64_t seed;
    double latency_cycles; /* out: the mean */
    int64_t n_packets;     /* out: all */
} mesh_run;

static inline int mesh_fill(mesh_run *run, const th_system *s, th_program *p, th_error *err)
{
    const th_traffic_options o = {
        .pattern = th_traffic_find_pattern(run->is->pattern),
        .bytes_per_s = run->load * MESH_FLIT_BYTES * (double)TH_PS_PER_S / MESH_CYCLE_PS,
        .message_bytes = run->is->flits * MESH_FLIT_BYTES,
        .cycle_ps = MESH_CYCLE_PS,
        .duration_ps = (th_time)(2 * run->warm_cycles + run->measured_cycles) * MESH_CYCLE_PS,
        .delay_ps = MESH_TERMINAL_CYCLES * MESH_CYCLE_PS,
        .seed = run->seed};
    run->n_packets = th_traffic_add(p, s, &o, err);
    return run->n_packets < 0 ? -1 : th_program_finish(p, err);
}

static inline th_machine_options mesh_machine(const mesh_case *k)
{
    return (th_machine_options){
        .network = th_network_find("packet"),
        .network_options = {.packet_bytes = k->flits * MESH_FLIT_BYTES,
                            .buffer_bytes = MESH_BUFFER_FLITS * MESH_FLIT_BYTES,
                            .n_virtual_channels = MESH_CHANNELS,
                            .credit_delay_ps = MESH_CREDIT_CYCLES * MESH_CYCLE_PS,
                            .router_delay_ps = MESH_ROUTER_CYCLES * MESH_CYCLE_PS,
                            .terminal_bits_per_s = mesh_bits_per_s,
                            .n_crossbar_inputs = MESH_CROSSBAR_INPUTS,
                            .allocation_cycle_ps = MESH_CYCLE_PS}};
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

/* Fills run and a program, replays it from an empty network, and measures. seconds: if not NULL,
 * CPU seconds of the replay by clock. 0 or -1. */
static inline int mesh_replay(mesh_run *run, const th_system *s, const th_compute_cost_cache *w,
                              double (*clock)(void), double *seconds, th_error *err)
{
    th_program *p = th_program_new(err);
    th_machine_options o = mesh_machine(run->is);
    th_machine *m = p ? th_machine_new(s, w, &o, err) : NULL;
    th_result r;
    int failed = !m || mesh_fill(run, s, p, err) || th_machine_load(m, p, err);
    double start = clock ? clock() : 0;
    failed = failed || th_machine_run_until(m, TH_TIME_MAX, err) != TH_STOP_DONE;
    if (seconds && clock)
        *seconds = clock() - start;
    failed = failed || th_machine_result(m, &r, err);
    if (!failed) {
        mesh_measure(run, p, &r);
        th_result_clear(&r);
    }
    th_machine_free(m);
    th_program_free(p);
    return failed ? -1 : 0;
}

#endif
