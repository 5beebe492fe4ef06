/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.c - designs and times at another clock.
 *
 * A design whose file states a clock is what it would be with that clock in its file: cycles, ports
 * in elements per cycle, and tiles, which some designs choose by the clock. A time that is given or
 * measured follows its roofline (S. Williams et al., CACM 2009): with C seconds of operations at
 * the peak and M seconds of bytes through the DRAM,
 *     t(clock) = t max(C / clock, M) / max(C, M),    t / clock where neither is known
 * Not modelled: caches and links on the chip whose clock is another one. */
#include <config.h>

#include "sim/design/clock.h"

#include <math.h>

#include "base/units.h"
#include "sim/design/script_memo.h"

th_design_config th_design_at_clock(const th_design_type *type, const th_design_config *c,
                                    double clock)
{
    th_design_config scaled = *c;
    for (int i = 0; clock != 1 && type->keys[i].name; i++)
        if (type->keys[i].kind == TH_KEY_FREQUENCY && c->value[i] > 0)
            scaled.value[i] = (double)th_scaled_hz((int64_t)c->value[i], clock);
    return scaled;
}

th_accel th_accel_at_clock(const th_accel *a, double clock)
{
    th_accel scaled = *a;
    if (clock != 1)
        scaled.vector_hz = th_scaled_hz(a->vector_hz, clock);
    return scaled;
}

double th_dram_seconds(const th_accel *a, double bytes)
{
    enum { BITS_PER_BYTE = 8 };
    return a->dram_bits_per_s == TH_UNLIMITED ? 0
                                              : BITS_PER_BYTE * bytes / (double)a->dram_bits_per_s;
}

th_time th_ps_at_clock(th_time ps, double compute_s, double memory_s, double clock)
{
    static const double longest = 0x1p62;
    double whole = fmax(compute_s, memory_s);
    double scale = whole > 0 ? fmax(compute_s / clock, memory_s) / whole : 1 / clock;
    double scaled = ceil((double)ps * scale);
    return (th_time)(scaled < longest ? scaled : longest);
}

/* The seconds of the operations of a shard at the peak; 0: unknown. */
static double compute_seconds(const th_design_type *type, const th_design_config *c,
                              const th_shard *s)
{
    enum { OPERATIONS_PER_MAC = 2 };
    th_design_peak peak;
    double macs = (double)th_shard_macs(s);
    if (type->sheet_peak)
        return OPERATIONS_PER_MAC * macs / type->sheet_peak(c, th_shard_mac_precision(s));
    return th_design_peak_of(type, c, s, &peak) && peak.macs_per_cycle > 0
               ? macs / peak.macs_per_cycle / (double)peak.hz
               : 0;
}

void th_measured_at_clock(const th_design_type *type, const th_design_config *c, const th_accel *a,
                          const th_shard *s, double clock, th_schedule *out)
{
    int64_t *ps = &out->step[TH_N_STEP_KINDS - 1].cycles;
    double bytes = 0;
    for (int t = 0; t < TH_N_TENSORS; t++)
        bytes += (double)th_script_tensor_bytes(s, (th_tensor)t);
    *ps = th_ps_at_clock(*ps, compute_seconds(type, c, s), th_dram_seconds(a, bytes), clock);
}
