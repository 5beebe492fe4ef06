/* SPDX-License-Identifier: GPL-3.0-or-later */
/* port.h - the local memory (DRAM) of an accelerator. */
#ifndef TH_SIM_PIPELINE_PORT_H
#define TH_SIM_PIPELINE_PORT_H
#include "topology/system.h"

typedef struct th_port {
    int64_t bits_per_s; /* TH_UNLIMITED: only ports of engines limit requests */
    th_time latency_ps;
    int64_t burst_bytes;      /* every contiguous run is rounded up to it */
    int32_t channels;         /* that share the bandwidth evenly; 0 and 1: one */
    int64_t interleave_bytes; /* consecutive pieces of this size are on consecutive channels */
    th_dram_efficiency efficiency;
} th_port;

th_port th_port_of(const th_accel *a);
/* The share of the bandwidth that a run of contiguous bytes reaches, 0 .. 1. */
double th_port_efficiency(const th_port *port, int64_t run_bytes);
/* Maximum bytes per second of a request, which is on ceil(bytes / interleave) channels. */
double th_port_channel_rate(const th_port *port, int64_t bytes);

#endif
