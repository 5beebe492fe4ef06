/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search_main.h - the system and the workloads that several tests of searches share, and what
 * makes them. */
#ifndef TH_TESTS_UNIT_SEARCH_MAIN_H
#define TH_TESTS_UNIT_SEARCH_MAIN_H
#include "tests/unit/search_help.h"

static th_system *f1;
static th_workload *alexnet, *branches;

static inline void make_search_cases(void)
{
    f1 = shipped_system("f1_16xlarge");
    alexnet = shipped_workload("alexnet");
    branches = branching_workload();
}

#endif
