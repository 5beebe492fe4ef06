/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search_main.h - the system and the workloads that several tests of searches share, and their
 * main. */
#ifndef TH_TESTS_UNIT_SEARCH_MAIN_H
#define TH_TESTS_UNIT_SEARCH_MAIN_H
#include "tests/unit/search_help.h"

static th_system *f1;
static th_workload *alexnet, *branches;

static inline int search_main(const char *name, int argc, char **argv)
{
    f1 = shipped_system("f1_16xlarge");
    alexnet = shipped_workload("alexnet");
    branches = branching_workload();
    int status = tap_run(name, argc, argv);
    th_workload_free(branches);
    th_workload_free(alexnet);
    th_system_free(f1);
    return status;
}

#endif
