/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline_single.c - single: the whole network on one accelerator, the best of all accelerators
 * and their designs. data_parallel: every layer split by images and by nothing else, over as many
 * accelerators as there are images at most. */
#include <config.h>

#include <assert.h>

#include "base/min_max.h"
#include "base/alloc.h"
#include "mapper/search/baselines/baseline.h"
#include "mapper/search/searches.h"
#include "mapper/search/partition/sets.h"
#include "mapper/strategies.h"

/* --- single --- */

static int init_single(th_search *s, th_error *err)
{
    const th_system *system = s->problem.system;
    for (int32_t a = 0; a < system->n_accels; a++) {
        for (int32_t d = 0; d < system->n_designs; d++) {
            const th_set alone = {.design = d, .n_accels = 1, .accels = &a};
            if (th_set_supports_design(system, &alone, d) &&
                th_candidates_add(s, th_baseline_mapping(s, d, &a, 1), err))
                return -1;
        }
    }
    return 0;
}

const th_search_type th_search_single = {
    "single",
    "the whole network on one accelerator: the best accelerator and design",
    true,
    0,
    TH_INITIAL_RANDOM,
    sizeof(th_candidates),
    init_single,
    th_candidates_iterate,
    th_candidates_clear,
};

/* --- data_parallel --- */

static int add_data_parallel(th_search *s, int32_t design, const int32_t *accels, int32_t n,
                             th_error *err)
{
    th_mapping *m = th_baseline_mapping(s, design, accels, n);
    for (int l = 0; m && l < m->n_layers; l++) {
        m->strategy[l] = th_strategy_single;
        m->strategy[l].split[TH_DIM_B] = n;
        assert(th_strategy_fits(&m->strategy[l], &s->problem.workload->layers[l],
                                th_search_batch(s), n)); /* every layer has the same batch */
    }
    return th_candidates_add(s, m, err);
}

/* Per design: its accelerators in the first group, and all of them. */
static int init_data_parallel(th_search *s, th_error *err)
{
    const th_system *system = s->problem.system;
    int32_t images = th_search_batch(s), in_group,
            *accels = th_alloc_zero((size_t)system->n_accels + 1, sizeof *accels);
    int failed = accels ? 0 : th_error_no_memory(err);
    for (int32_t d = 0; !failed && d < system->n_designs; d++) {
        int32_t n = th_min(th_baseline_members(s, d, accels, &in_group), images);
        in_group = th_min(in_group, images);
        if (in_group > 0)
            failed = add_data_parallel(s, d, accels, in_group, err);
        if (!failed && n > in_group)
            failed = add_data_parallel(s, d, accels, n, err);
    }
    th_free(accels);
    return failed;
}

const th_search_type th_search_data_parallel = {
    "data_parallel",
    "every layer split by images alone, over as many accelerators as images at most",
    true,
    0,
    TH_INITIAL_RANDOM,
    sizeof(th_candidates),
    init_data_parallel,
    th_candidates_iterate,
    th_candidates_clear,
};
