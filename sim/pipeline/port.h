/* SPDX-License-Identifier: GPL-3.0-or-later */
/* port.h - the local memory of an accelerator, as its engines see it. */
#ifndef TH_SIM_PIPELINE_PORT_H
#define TH_SIM_PIPELINE_PORT_H
#include "topology/system.h"

typedef struct th_port {
    int64_t bits_per_s; /* TH_UNLIMITED: requests behind no port of their own take no time */
    th_time latency_ps;
    int64_t burst_bytes;      /* every contiguous run is rounded up to it */
    int32_t channels;         /* that share the bandwidth evenly; 0 and 1: one */
    int64_t interleave_bytes; /* neighbours of so many bytes lie on neighbouring channels */
    th_dram_efficiency efficiency;
} th_port;

th_port th_port_of(const th_accel *a);
/* What a run of contiguous bytes reaches of the bandwidth, 0 .. 1. */
double th_port_efficiency(const th_port *port, int64_t run_bytes);
/* Bytes per second at most for a request: it lies on ceil(bytes / interleave) channels. */
double th_port_channel_rate(const th_port *port, int64_t bytes);

#endif
