/* SPDX-License-Identifier: GPL-3.0-or-later */
/* energy_keys.c - the keys for the energies of a design; every design has them.
 *   th_energy_keys (read by design.c) -> th_energy_configure
 * None is required: energy is off by default. A block with any of these keys must name the source
 * of its numbers. See docs/models/energy.md. */
#include <config.h>

#include "sim/design/design.h"

enum { MAC, MAC_FIRST, VECTOR = MAC_FIRST + TH_N_PRECISIONS, BUFFER, DRAM, STATIC, SOURCE };

#define ENERGY(name, meaning)                                                                      \
    {                                                                                              \
        name, TH_KEY_ENERGY, false, 0, 1, ABSENT, meaning, NULL                                    \
    }
#define ABSENT (-1)

const th_design_key th_energy_keys[] = {
    [MAC] = ENERGY("mac_energy", "energy of a multiply-accumulate"),
    [MAC_FIRST + TH_FP32] = ENERGY("mac_energy_fp32", "of one of this precision"),
    [MAC_FIRST + TH_FP16] = ENERGY("mac_energy_fp16", "of one of this precision"),
    [MAC_FIRST + TH_BF16] = ENERGY("mac_energy_bf16", "of one of this precision"),
    [MAC_FIRST + TH_INT16] = ENERGY("mac_energy_int16", "of one of this precision"),
    [MAC_FIRST + TH_INT8] = ENERGY("mac_energy_int8", "of one of this precision"),
    [MAC_FIRST + TH_INT4] = ENERGY("mac_energy_int4", "of one of this precision"),
    [MAC_FIRST + TH_TF32] = ENERGY("mac_energy_tf32", "of one of this precision"),
    [MAC_FIRST + TH_FP8] = ENERGY("mac_energy_fp8", "of one of this precision"),
    [MAC_FIRST + TH_FP4] = ENERGY("mac_energy_fp4", "of one of this precision"),
    [VECTOR] = ENERGY("vector_energy", "energy of an operation of the vector unit"),
    [BUFFER] = ENERGY("buffer_energy", "energy of a byte read from or written to a buffer on chip"),
    [DRAM] = ENERGY("dram_energy", "energy of a byte read from or written to DRAM"),
    [STATIC] = {"static_power", TH_KEY_POWER, false, 0, 1e6, ABSENT, "power whatever it does",
                NULL},
    [SOURCE] = {"energy_source", TH_KEY_TEXT, false, 0, 0, 0, "where these numbers come from",
                NULL},
    {.name = NULL},
};

static double or_none(double value)
{
    return value >= 0 ? value : 0;
}

int th_energy_configure(const th_design_block *b, const double *value, const char *const *text,
                        th_design_energy *out, th_error *err)
{
    *out = (th_design_energy){.source = text[SOURCE]};
    for (int k = MAC; k < SOURCE; k++)
        out->is_known |= value[k] >= 0;
    if (out->is_known && (!text[SOURCE] || !text[SOURCE][0]))
        return th_error_set(err, "SIM-0100",
                            "%s:%d: design \"%s\": energies without energy_source: must say where "
                            "the numbers come from",
                            b->file, b->line, b->name);
    for (int p = 0; p < TH_N_PRECISIONS; p++) {
        double own = value[MAC_FIRST + p];
        if (own >= 0 && value[MAC] < 0)
            return th_error_set(
                err, "SIM-0101",
                "%s:%d: design \"%s\": %s without mac_energy: must be there for the "
                "other precisions",
                b->file, b->line, b->name, th_energy_keys[MAC_FIRST + p].name);
        out->mac_j[p] = or_none(own >= 0 ? own : value[MAC]);
    }
    out->vector_j = or_none(value[VECTOR]);
    out->buffer_j_per_byte = or_none(value[BUFFER]);
    out->dram_j_per_byte = or_none(value[DRAM]);
    out->static_w = or_none(value[STATIC]);
    return 0;
}
