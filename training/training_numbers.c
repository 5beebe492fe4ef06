/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_numbers.c - see training_numbers.h. scripts/fit_training.tcl fits the numbers. */
#include <config.h>
#include <stddef.h>
#include "base/names.h"
#include "training/training_numbers.h"

const th_number_meaning th_number_meanings[] = {
    [TH_NUMBER_CLOCK] = {"clock", 0.8413, "share that a step keeps of a single operation's rate"},
    [TH_NUMBER_ATTENTION] = {"attention", 0.6532, "fused attention, as a share of that"},
    [TH_NUMBER_PASSES_EAGER] = {"passes_eager", 1.579, "passes over memory of eager kernels"},
    [TH_NUMBER_OVERLAP_COST] = {"overlap_cost", 0.3199,
                                "share of its rate that computation loses to a message beside it"},
    [TH_NUMBER_OVERLAP_TENSOR] = {"overlap_tensor", 0.2796, "the same of messages of tensor ranks"},
    [TH_NUMBER_HOST_KERNEL] = {"host_kernel", 6e-6, "s of the host per kernel"},
    [TH_NUMBER_HOST_PYTHON] = {"host_python", 4e-5, "the same, launched one by one from Python"},
    [TH_NUMBER_HOST_GRAPH] = {"host_graph", 1.5e-6, "the same, of a graph launched as a whole"},
    [TH_NUMBER_HOST_EXPERTS] = {"host_experts", 2.133e-05,
                                "s of the host per kernel of a layer of experts"},
    [TH_N_NUMBERS] = {NULL, 0, NULL},
};

th_training_numbers th_training_numbers_shipped(void)
{
    th_training_numbers n;
    for (int i = 0; i < TH_N_NUMBERS; i++)
        n.of[i] = th_number_meanings[i].shipped;
    return n;
}

/* docs/models/training.md has the rows of each source. vTrain judges by the half of its groups that
 * no number was fitted to. */
const th_generation th_generations[] = {
    {"A100", "a100_40;a100_80;a100_80_sxm", 110, "vTrain", "bf16;fp16"},
    {"Hopper", "h100;h100_pcie;h200", 103, "Sailor", "bf16;fp16;fp8;fp8_rows;tf32"},
    {"TPU v5e", "tpu_v5e", 12, "", "bf16"},
    {"Blackwell", "b200;b300;gb200;gb300;rtxpro6000", 0, "", ""},
    {.name = NULL},
};

const th_generation *th_generation_of(const char *device)
{
    const th_generation *g = th_generations;
    while (g->name && !th_name_is_among(g->devices, device))
        g++;
    return g->name ? g : NULL;
}

bool th_generation_has_steps(const th_generation *g, const char *precision)
{
    return g && th_name_is_among(g->precisions, precision);
}

void th_generation_describe(const th_generation *g, const char *precision, th_strbuf *out)
{
    if (th_generation_has_steps(g, precision)) {
        th_strbuf_printf(out,
                         "measured steps of this generation (%s): %d that numbers were fitted to",
                         g->name, (int)g->fitted);
        if (g->judged[0] != '\0')
            th_strbuf_printf(out, ", and those of %s", g->judged);
        return;
    }
    th_strbuf_add(out, "no published step measured ");
    if (g && g->precisions[0] != '\0')
        th_strbuf_printf(out, "in %s ", precision);
    if (g)
        th_strbuf_printf(out, "on this generation (%s)", g->name);
    else
        th_strbuf_add(out, "on this accelerator");
}
