/* SPDX-License-Identifier: GPL-3.0-or-later */
/* port.c - the DRAM bandwidth of a request: channels, and the efficiency of short runs.
 *
 * Channels: bytes are interleaved over the channels in pieces of interleave_bytes, so a request of
 * fewer pieces than channels gets only its share of the bandwidth. Efficiency: points (run length,
 * share of the bandwidth) as measured, linear in the logarithm of the run length between them,
 * constant beyond the first and last. Not modelled: two requests on one channel while others idle.
 */
#include <config.h>

#include "sim/pipeline/port.h"

#include <math.h>

#include "base/elementary.h"
#include "base/integer.h"

th_port th_port_of(const th_accel *a)
{
    return (th_port){a->dram_bits_per_s, a->dram_latency_ps,       a->dram_burst_bytes,
                     a->dram_channels,   a->dram_interleave_bytes, a->dram_efficiency};
}

double th_port_efficiency(const th_port *port, int64_t run_bytes)
{
    const th_dram_efficiency *e = &port->efficiency;
    if (e->n == 0)
        return 1;
    if (run_bytes <= e->run_bytes[0])
        return e->share[0];
    for (int i = 1; i < e->n; i++) {
        if (run_bytes > e->run_bytes[i])
            continue;
        double from = th_log((double)e->run_bytes[i - 1]), to = th_log((double)e->run_bytes[i]);
        double part = (th_log((double)run_bytes) - from) / (to - from);
        return e->share[i - 1] + part * (e->share[i] - e->share[i - 1]);
    }
    return e->share[e->n - 1];
}

double th_port_channel_rate(const th_port *port, int64_t bytes)
{
    double all = (double)port->bits_per_s / 8.0;
    if (port->bits_per_s == TH_UNLIMITED)
        return INFINITY;
    if (port->channels <= 1)
        return all;
    int64_t pieces = th_ceil_div(bytes, port->interleave_bytes);
    return pieces < port->channels ? all * (double)pieces / port->channels : all;
}
