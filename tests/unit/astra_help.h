/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_help.h - systems with a group "astra", from lists of one word for each dimension. */
#ifndef TH_TESTS_UNIT_ASTRA_HELP_H
#define TH_TESTS_UNIT_ASTRA_HELP_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/strbuf.h"
#include "tests/unit/tap.h"
#include "topology/files/astra.h"
#include "topology/files/system_read.h"

typedef struct astra_setup {
    /* "ring, switch", "4, 3": GB/s, ns; all four collectives run so */
    const char *topology, *sizes, *bandwidth, *latency, *implementation;
    int splits, active_chunks, endpoint_delay_ns; /* 0: 1, 1, 10; a delay of -1: none */
    const char *optimization;                     /* NULL: localBWAware */
    double peak_tflops;
} astra_setup;

/* The word of dimension d. */
static inline const char *astra_word(const char *list, int d, char word[32])
{
    for (; d > 0 && list; d--)
        list = strchr(list, ',') ? strchr(list, ',') + 2 : NULL;
    if (!list)
        return NULL;
    snprintf(word, 32, "%.*s", (int)strcspn(list, ","), list);
    return word;
}

static inline void astra_put_dims(const astra_setup *u, th_strbuf *topology, th_strbuf *dims)
{
    static const char *const keys[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all"};
    char kind[32], size[32], rate[32], latency[32], way[32];
    for (int d = 0; astra_word(u->topology, d, kind); d++) {
        double gib_per_s = atof(astra_word(u->bandwidth, d, rate));
        double ns = atof(astra_word(u->latency, d, latency));
        th_strbuf_printf(topology,
                         "%s{ type = \"%s\"; size = %s; bandwidth = \"%.0fbps\"; latency = "
                         "\"%.0fps\"; }",
                         d > 0 ? "," : "", kind, astra_word(u->sizes, d, size),
                         gib_per_s * 8589934592.0, ns * 1000);
        th_strbuf_printf(dims, "%s{ bandwidth = %s; latency = %s;", d > 0 ? "," : "", rate,
                         latency);
        int n = (int)strcspn(astra_word(u->implementation, d, way), "0123456789"); /* direct4 */
        for (int k = 0; k < 4; k++)
            th_strbuf_printf(dims, "%s = \"%.*s\"; %s_window = %d;", keys[k], n, way, keys[k],
                             atoi(way + n));
        th_strbuf_add(dims, "}");
    }
}

static inline void astra_text(const astra_setup *u, th_strbuf *text)
{
    auto_strbuf topology = TH_STRBUF_INIT, dims = TH_STRBUF_INIT;
    astra_put_dims(u, &topology, &dims);
    th_strbuf_printf(
        text,
        "name = \"astra\"; designs = ( { name = \"a\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 50000; } );\n"
        "accelerators = ( { dram = { capacity = \"64GiB\"; bandwidth = \"1600GB/s\"; };\n"
        "vector = { clock = \"1GHz\"; elements_per_cycle = 1024; }; designs = [\"a\"]; } );\n"
        "topology = { type = \"composition\"; dims = (%s); };\n"
        "astra = { preferred_dataset_splits = %d; local_mem_bw = 1600; endpoint_delay = %d;\n"
        "active_chunks_per_dimension = %d; collective_optimization = \"%s\"; peak_perf = %g;\n"
        "dims = (%s); };\n",
        topology.text, u->splits ? u->splits : 1,
        u->endpoint_delay_ns < 0 ? 0
        : u->endpoint_delay_ns   ? u->endpoint_delay_ns
                                 : 10,
        u->active_chunks ? u->active_chunks : 1, u->optimization ? u->optimization : "localBWAware",
        u->peak_tflops, dims.text);
}

static inline th_system *astra_system(const astra_setup *u)
{
    auto_strbuf text = TH_STRBUF_INIT;
    th_error e = {"", ""};
    astra_text(u, &text);
    th_system *s = th_system_read_text(text.text, "astra.cfg", &e);
    if (!s) {
        printf("Bail out! %s %s\n", e.id, e.text);
        exit(1);
    }
    return s;
}

#endif
