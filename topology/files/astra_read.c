/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_read.c - a system from ASTRA-sim's network.yml and system.json.
 *   th_astra_read_network -> th_astra_read_system -> composition, accelerators -> finish
 *
 * The graph is a composition of the dimensions, dimension 0 fastest; every cable has the bandwidth
 * of its dimension each way (GB/s of ASTRA-sim are 2^30 bytes/s) and the latency. So the same
 * system runs under every network.
 *
 * ASTRA-sim describes computation in its traces only, so the accelerators have default properties:
 * 64 GiB of memory of local-mem-bw, a vector unit and a roofline of peak-perf (default 100 TFLOPS),
 * at 1 GHz. */
#include <config.h>
#include "topology/files/astra_read.h"

#include <math.h>
#include <stdio.h>

#include "topology/generate/generate.h"

static const double bytes_per_gib = 1073741824.0, bits_per_byte = 8, ps_per_ns = 1000,
                    bytes_per_gb = 1e9, flops_per_tflop = 1e12, default_tflops = 100;
enum { CLOCK_HZ = 1000000000, BURST_BYTES = 64, VECTOR_ELEMENTS = 1024, FLOPS_PER_MAC = 2 };
static const int64_t dram_bytes = 64LL << 30;

/* ---- graph ---- */

static int generate(th_system *s, const th_astra *a, th_error *err)
{
    th_topology_options o = {
        .n_dims = a->n_dims, .n_bandwidths = a->n_dims, .n_latencies = a->n_dims};
    for (int d = 0; d < a->n_dims; d++) {
        o.dims[d] = a->dims[d].size;
        o.kinds[d] = a->dims[d].kind;
        o.bits_per_s[d] = llround(a->dims[d].gib_per_s * bytes_per_gib * bits_per_byte);
        o.latency_ps[d] = llround(a->dims[d].latency_ns * ps_per_ns);
    }
    return th_topology_generate(s, th_topology_find("composition"), &o, err);
}

/* ---- accelerators ---- */

static int add_design(th_system *s, double peak_tflops, th_error *err)
{
    int design = th_system_add_design(s, "astra", "roofline", NULL, 0, err);
    th_param clock = {.key = (char *)"clock", .kind = TH_PARAM_TEXT, .text = (char *)"1GHz"};
    th_param peak = {.key = (char *)"macs_per_cycle",
                     .kind = TH_PARAM_NUMBER,
                     .number = fmax(1, peak_tflops * flops_per_tflop / FLOPS_PER_MAC / CLOCK_HZ)};
    if (design < 0 || th_system_add_param(s, design, &clock, err) < 0 ||
        th_system_add_param(s, design, &peak, err) < 0)
        return -1;
    return design;
}

static int describe_accels(th_system *s, const th_astra *a, double peak_tflops, th_error *err)
{
    int design = add_design(s, peak_tflops, err);
    th_accel accel = {
        .dram_bytes = dram_bytes,
        .dram_bits_per_s = llround(a->local_mem_gb_per_s * bytes_per_gb * bits_per_byte),
        .dram_burst_bytes = BURST_BYTES,
        .vector_hz = CLOCK_HZ,
        .vector_elements_per_cycle = VECTOR_ELEMENTS,
        .designs = &design,
        .n_designs = 1,
    };
    for (int i = 0; design >= 0 && i < s->n_nodes; i++)
        if (s->nodes[i].kind == TH_NODE_ACCEL && th_system_set_accel(s, i, &accel, err) < 0)
            return -1;
    return design < 0 ? -1 : 0;
}

/* ---- the whole ---- */

static int build(th_system *s, const th_astra *a, double peak_tflops, th_error *err)
{
    s->astra = th_memory_take(&s->memory, 1, sizeof *s->astra);
    if (!s->astra)
        return th_error_no_memory(err);
    *s->astra = *a;
    if (generate(s, a, err) < 0 || describe_accels(s, a, peak_tflops, err) < 0)
        return -1;
    return th_system_finish(s, err);
}

static void name_after_dimensions(const th_astra *a, char *name, size_t size)
{
    static const char *const words[] = {[TH_TOPOLOGY_DIM_RING] = "ring",
                                        [TH_TOPOLOGY_DIM_FULL] = "full",
                                        [TH_TOPOLOGY_DIM_SWITCH] = "switch"};
    size_t n = (size_t)snprintf(name, size, "astra");
    for (int d = 0; d < a->n_dims; d++)
        n += (size_t)snprintf(name + n, size - n, "_%s%d", words[a->dims[d].kind], a->dims[d].size);
}

th_system *th_system_read_astra(const char *network_path, const char *system_path, int max_links,
                                th_error *err)
{
    th_astra a = {.n_dims = 0};
    double peak_tflops = default_tflops;
    char name[16 * (TH_MAX_DIMS + 1)];
    th_error inner = {"", ""};
    if (th_astra_read_network(network_path, &a, err) < 0 ||
        th_astra_read_system(system_path, &a, &peak_tflops, err) < 0)
        return NULL;
    name_after_dimensions(&a, name, sizeof name);
    th_system *s = th_system_new(name, err);
    if (s)
        s->max_links = max_links;
    if (s && build(s, &a, peak_tflops, &inner) < 0) {
        th_error_set(err, inner.id, "%s: %s", network_path, inner.text);
        th_system_free(s);
        return NULL;
    }
    return s;
}
