/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bare_system.h - accelerators without links, for tests that connect them. */
#ifndef TH_TESTS_UNIT_BARE_SYSTEM_H
#define TH_TESTS_UNIT_BARE_SYSTEM_H
#include "tests/unit/tap.h"
#include "topology/system.h"

#define GB 8000000000LL /* 1 GB/s = 1 byte per ns, in bits per second */

static int the_design = 0;

/* n accelerators, not connected, with a DRAM of dram_gbytes GB/s. */
static inline th_system *new_system(int n, int dram_gbytes)
{
    const th_accel a = {.dram_bytes = 1,
                        .dram_bits_per_s = dram_gbytes * GB,
                        .dram_burst_bytes = 1,
                        .vector_hz = 1,
                        .vector_elements_per_cycle = 1,
                        .designs = &the_design,
                        .n_designs = 1};
    char name[16];
    th_system *s = th_system_new("sys", NULL);
    th_system_add_design(s, "d", "tiled", NULL, 0, NULL);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%d", i);
        th_system_add_node(s, name, TH_NODE_ACCEL, 0, NULL);
        th_system_set_accel(s, i, &a, NULL);
    }
    return s;
}

/* n of them in a line, not closed: links i_(i + 1) are 2 i, back 2 i + 1. */
static inline th_system *new_chain(int n)
{
    th_system *s = new_system(n, 1);
    for (int i = 0; i + 1 < n; i++)
        th_system_add_cable(s, i, i + 1, th_cable_symmetric(50, 5, true), NULL);
    return s;
}

static inline void finish_system(th_system *s)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_system_finish(s, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
}

#endif
