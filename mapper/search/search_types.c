/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search_types.c - the table of searches. */
#include <config.h>

#include <string.h>

#include "mapper/search/searches.h"

const th_search_type *const th_search_types[] = {
    &th_search_portfolio,
    &th_search_two_level,
    &th_search_nsga2,
    &th_search_dp,
    &th_search_annealing,
    &th_search_polish,
    &th_search_random,
    &th_search_computation_prioritized,
    &th_search_uniform,
    &th_search_greedy,
    &th_search_greedy_rotating,
    &th_search_single,
    &th_search_data_parallel,
    &th_search_model_parallel,
    &th_search_pipeline_parallel,
    &th_search_h2h,
    &th_search_exhaustive,
    NULL,
};

const th_search_type *th_search_find(const char *name)
{
    for (int i = 0; th_search_types[i]; i++)
        if (strcmp(th_search_types[i]->name, name) == 0)
            return th_search_types[i];
    return NULL;
}
