/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_numbers.c - see training_numbers.h. scripts/fit_training.tcl fits the numbers. */
#include <config.h>
#include <stddef.h>
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
