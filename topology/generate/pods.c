/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pods.c - see pods.h. */
#include <config.h>
#include "topology/generate/pods.h"

#define GB(x) ((int64_t)((x)*8e9)) /* GB/s in bits/s */

/* Shares of the rates that messages reach. 0.78 of 300 GB/s: all_reduce of eight A100 in nccl-
 * tests (superbenchmark, 235 GB/s bus bandwidth). NCCL's topo.h counts 20.6 of 25 GB/s of a
 * Hopper link and 40.1 of 50 of a Blackwell one where it counts 20 of an A100's 25: 0.80. Sums:
 * all_reduce of eight H100 has 480 GB/s of bus bandwidth with NVLS, of eight B200 704
 * (aiconfigurator), which is
 * 2 x 7/8 of what each accelerator sends; larger switches are assumed to be as fast for each.
 * 0.75: 48 of the 64 GB/s between two MI300X (AMD's blog on RCCL and xGMI, 2025); MI355X alike:
 * assumed. 0.7345: fitted to measured steps of training (docs/models/training.md), and of every
 * fabric. */
/* An all_reduce of 8 KiB as ai-dynamo/aiconfigurator measured it with NCCL: eight A100 21 us, eight
 * H100 16 us, less the hops. Of eight B200 it has 26 us; that of H100 is taken, which a group of 64
 * fits better (12 to 20 us). Others have 0, which is too little: not known. */
#define A100_START_PS   17000000
#define HOPPER_START_PS 13000000
#define A100_SHARE      0.78
#define HOPPER_SHARE    0.80
#define AMD_SHARE       0.75
#define FITTED_SHARE    0.7345
/* A channel of NCCL, which RCCL has from it, carries at least an eighth of a step of 512 KiB
 * (enqueue.cc): larger messages are divided over all links to the peer. TPUs: not known. */
#define NCCL_STRIPE 65536
/* Nodes of eight on rails, in units; racks of 72 on one fabric; eight that are fully connected. One
 * network card per accelerator: 25 GB/s is 200 Gbit/s, 50 is 400, 100 is 800. sums: GB/s. */
#define NODES(name, unit, accel, inside, card, share, sums, start, source)                         \
    {                                                                                              \
        name, "NODES", 1, "rails", {8, unit}, accel, false, {GB(inside), GB(card), GB(card)},      \
            share, GB(sums), start, NCCL_STRIPE, source                                            \
    }
#define RACKS(name, accel, card, source)                                                           \
    {                                                                                              \
        name, "RACKS", 1, "islands", {72, 0}, accel, false, {GB(900), GB(card)}, HOPPER_SHARE,     \
            GB(402), HOPPER_START_PS, NCCL_STRIPE, source                                          \
    }
#define FULL_NODES(name, peer, source)                                                             \
    {                                                                                              \
        name, "NODES", 1, "islands", {8, 0}, name, true, {GB(peer), GB(50)}, AMD_SHARE, 0, 0,      \
            NCCL_STRIPE, source                                                                    \
    }
#define TORUS(name, size, n, link, source)                                                         \
    {                                                                                              \
        name, size, n, "torus", {0, 0}, name, false, {GB(link)}, FITTED_SHARE, 0, 0, 0, source     \
    }
const th_pod th_pods[] = {
    NODES(
        "dgx_a100", 20, "a100_80", 300, 25, A100_SHARE, 0, A100_START_PS,
        "NVIDIA DGX A100 data sheet 2020; DGX SuperPOD reference architecture for DGX A100, 2021: "
        "units of 20 nodes"),
    NODES(
        "dgx_h100", 32, "h100_sxm", 450, 50, HOPPER_SHARE, 274, HOPPER_START_PS,
        "NVIDIA DGX H100 data sheet 2022; DGX SuperPOD reference architecture for DGX H100, 2023: "
        "units of 32 nodes"),
    NODES("dgx_h200", 32, "h200_sxm", 450, 50, HOPPER_SHARE, 274, HOPPER_START_PS,
          "NVIDIA DGX H200 data sheet 2023; units as of DGX H100"),
    NODES(
        "dgx_b200", 32, "b200_sxm", 900, 50, HOPPER_SHARE, 402, HOPPER_START_PS,
        "NVIDIA DGX B200 data sheet 2024; DGX SuperPOD reference architecture for DGX B200, 2024: "
        "units of 32 nodes"),
    NODES("dgx_b300", 72, "b300_sxm", 900, 100, HOPPER_SHARE, 402, HOPPER_START_PS,
          "NVIDIA DGX B300 data sheet 2025; units of 72 nodes: assumed"),
    RACKS("gb200_nvl72", "gb200", 50,
          "NVIDIA GB200 NVL72 data sheet 2024; one fabric without oversubscription between racks: "
          "assumed"),
    RACKS("gb300_nvl72", "gb300", 100,
          "NVIDIA GB300 NVL72 data sheet 2025; one fabric without oversubscription between racks: "
          "assumed"),
    FULL_NODES("mi300x", 64,
               "AMD Instinct MI300X data sheet 2023: 64 GB/s to each of seven peers; a card of 400 "
               "Gbit/s per accelerator: assumed"),
    FULL_NODES(
        "mi355x", 76.8,
        "AMD Instinct MI355X data sheet 2025: 76.8 GB/s to each of seven peers; a card of 400 "
        "Gbit/s per accelerator: assumed"),
    TORUS(
        "tpu_v5e", "X Y", 2, 50,
        "Google Cloud TPU v5e documentation: 4 links, 1600 Gbit/s per chip, taken as their sum in "
        "one direction"),
    TORUS(
        "tpu_v5p", "X Y Z", 3, 100,
        "Google Cloud TPU v5p documentation: 6 links, 4800 Gbit/s per chip, taken as their sum in "
        "one direction"),
    {.name = NULL},
};

void th_pod_options(const th_pod *pod, const int *sizes, th_topology_options *out)
{
    static const th_time latencies[] = {1000000, 2000000, 1000000}; /* ps */
    *out = (th_topology_options){.has_full_islands = pod->has_full_islands,
                                 .has_island_options = pod->has_full_islands,
                                 .islands_only_forward =
                                     !pod->has_full_islands && pod->reduction_bits_per_s == 0,
                                 .reduction_bits_per_s = pod->reduction_bits_per_s * pod->inside[0],
                                 .host_latency_ps = -1};
    for (int i = 0; i < pod->n_sizes; i++)
        out->dims[out->n_dims++] = sizes[i];
    for (int i = 0; i < 2 && pod->inside[i] > 0; i++)
        out->dims[out->n_dims++] = pod->inside[i];
    for (int i = 0; i < 3 && pod->bits_per_s[i] > 0; i++) {
        double share = i == 0 ? pod->share : FITTED_SHARE;
        out->bits_per_s[i] = (int64_t)(share * (double)pod->bits_per_s[i]);
        out->latency_ps[i] = latencies[i];
        out->n_bandwidths = out->n_latencies = i + 1;
    }
}
