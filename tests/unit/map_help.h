/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_help.h - what the tests of the mapper share: workloads and mappings from text, strategies in
 * a line. */
#ifndef TH_TESTS_UNIT_MAP_HELP_H
#define TH_TESTS_UNIT_MAP_HELP_H
#include <string.h>
#include "mapper/evaluate/evaluate.h"
#include "mapper/mapping_read.h"
#include "tests/unit/sim_help.h"
#include "workloads/workload_read.h"

static inline void bail_out(const th_error *e)
{
    printf("Bail out! %s %s\n", e->id, e->text);
    exit(1);
}

/* The workload of a text that must be right. */
static inline th_workload *workload_of(const char *text)
{
    th_error e = {"", ""};
    th_workload *w = th_workload_read_text(text, "net", 0, &e);
    if (!w)
        bail_out(&e);
    return w;
}

/* A workload that is shipped. */
static inline th_workload *shipped_workload(const char *name)
{
    char path[4096];
    th_error e = {"", ""};
    const char *top = getenv("srcdir");
    snprintf(path, sizeof path, "%s/workloads/models/%s.cfg", top ? top : ".", name);
    th_workload *w = th_workload_read(path, 0, &e);
    if (!w)
        bail_out(&e);
    return w;
}

/* "H2 K3 rC": splits, and a rotation; "H2 xW3": and chunks; "K2 c3": in copies; "" is a set of one.
 */
static inline th_strategy strategy_of(const char *text)
{
    th_strategy s = th_strategy_single;
    for (const char *p = text; *p; p++) {
        if (*p == ' ')
            continue;
        bool rotates = *p == 'r', is_chunked = *p == 'x';
        if (*p == 'c') {
            th_strategy_set_copies(&s, p[1] - '0');
            p++;
            continue;
        }
        const char *letter = strchr(th_dim_letters, rotates || is_chunked ? p[1] : p[0]);
        if (is_chunked) {
            th_strategy_set_chunks(&s, p[2] - '0', (int32_t)(letter - th_dim_letters));
            p += 2;
        } else if (rotates) {
            s.rotate = (int32_t)(letter - th_dim_letters);
            p++;
        } else {
            char *end;
            s.split[letter - th_dim_letters] = (int32_t)strtol(p + 1, &end, 10);
            p = end - 1;
        }
    }
    return s;
}

/* A mapping whose set i holds the accelerators of the i-th digit string ("0123 45"), design 0. */
static inline th_mapping *mapping_on(const char *sets, const th_workload *w)
{
    int32_t sizes[16] = {0};
    int n = 1;
    for (const char *p = sets; *p; p++) {
        if (*p == ' ')
            n++;
        else
            sizes[n - 1]++;
    }
    th_mapping *m = th_mapping_new(n, sizes, w->n_layers);
    int set = 0, i = 0;
    for (const char *p = sets; *p; p++) {
        if (*p == ' ') {
            set++;
            i = 0;
        } else {
            m->sets[set].accels[i++] = *p - '0';
        }
    }
    return m;
}

static inline void put_layer(th_mapping *m, int layer, int set, const char *strategy)
{
    m->set_of[layer] = set;
    m->strategy[layer] = strategy_of(strategy);
}

/* Designs and memory of a small accelerator: one multiply-accumulate per cycle of 1 GHz, so a layer
 * takes about a nanosecond for each. */
#define MAP_HELP_ACCEL(CAPACITY)                                                                   \
    "designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 1; } );"  \
    "accelerators = ( { dram = { capacity = \"" CAPACITY                                           \
    "\"; bandwidth = \"1000GB/s\"; latency = "                                                     \
    "\"1ns\"; burst = \"1B\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; "         \
    "designs = [\"d\"]; } );"

static inline th_evaluator *evaluator_of(th_problem p)
{
    th_error e = {"", ""};
    th_evaluator *x = th_evaluator_new(&p, &e);
    if (!x)
        bail_out(&e);
    return x;
}

#endif
