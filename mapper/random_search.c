/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random_search.c - the honest control: as many evaluations as two_level, no learning.
 *
 * Draws a partition, designs, contiguous ranges of layers and a strategy per layer on the array
 * (all those that it can run, equally likely; the others follow). With heuristic_seeds every second
 * mapping has its strategies from the blurred dynamic programme, as two_level's seeds do. */
#include <config.h>

#include "base/alloc.h"
#include "mapper/level1.h"
#include "mapper/searches.h"
#include "mapper/strategies.h"

enum { BATCH = 32, DEFAULT_EVALUATIONS = 4000 };

typedef struct {
    th_level1 level1;
    th_seeder *seeder;
    gsl_rng *random;
    int64_t budget;
} control;

static int init(th_search *s, th_error *err)
{
    control *c = s->state;
    c->budget = s->options.evaluations > 0 ? s->options.evaluations : DEFAULT_EVALUATIONS;
    c->random = th_random_stream(s->options.seed, "random", 0);
    c->seeder = th_seeder_new(th_pool_evaluator(s->pool), err);
    if (!c->random || !c->seeder ||
        th_level1_init(&c->level1, &s->problem, s->options.sets_inside_groups))
        return th_error_no_memory(err);
    return 0;
}

static void clear(th_search *s)
{
    control *c = s->state;
    th_level1_clear(&c->level1);
    th_seeder_free(c->seeder);
    if (c->random)
        gsl_rng_free(c->random);
}

static int randomize(th_search *s, control *c, th_mapping *m, th_error *err)
{
    const th_workload *w = s->problem.workload;
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *list = NULL;
        if (!th_layer_has_macs(&w->layers[l]))
            continue;
        int n = th_strategies_list(&w->layers[l], th_search_batch(s),
                                   m->sets[m->set_of[l]].n_accels, &list);
        if (n > 0)
            m->strategy[l] = list[th_random_below(c->random, (uint64_t)n)];
        th_free(list);
        if (n < 0)
            return th_error_no_memory(err);
    }
    return th_mapping_follow(m, w, th_search_batch(s)) ? 0 : 1;
}

static int draw(th_search *s, control *c, int64_t number, th_mapping **out, th_error *err)
{
    const th_partition *p = &c->level1.partitions[th_random_below(c->random, c->level1.n)];
    int32_t design[TH_LEVEL1_SETS_MAX];
    for (int32_t i = 0; i < p->n; i++) {
        const th_set_node *node = &c->level1.tree.node[p->node[i]];
        th_set set = {0, node->n, node->accels};
        do
            design[i] = (int32_t)th_random_below(c->random, (uint64_t)s->problem.system->n_designs);
        while (!th_set_can_take(s->problem.system, &set, design[i]));
    }
    if (th_level1_mapping(&c->level1, c->seeder, p, design, 1.0, c->random, out, err))
        return -1;
    if (!*out || (s->options.heuristic_seeds && number % 2 == 0))
        return 0;
    int failed = randomize(s, c, *out, err);
    if (failed) {
        th_mapping_free(*out);
        *out = NULL;
    }
    return failed < 0 ? -1 : 0;
}

static int iterate(th_search *s, th_error *err)
{
    control *c = s->state;
    th_mapping *batch[BATCH] = {NULL};
    th_time fitness[BATCH];
    int64_t left = c->budget - s->n_evaluations;
    int n = 0, failed = 0, wanted = left < BATCH ? (int)left : BATCH;
    for (int tries = 0; !failed && n < wanted && tries < 64 * BATCH; tries++) {
        failed = draw(s, c, s->n_evaluations + n, &batch[n], err);
        n += !failed && batch[n];
    }
    if (!failed)
        failed = th_search_evaluate(s, batch, n, s->best_fitness, fitness, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    s->done = s->n_evaluations >= c->budget || n == 0;
    if (s->n_infeasible == 0)
        s->first_misfit = *th_seeder_misfit(c->seeder); /* of interest when nothing fits */
    return failed;
}

const th_search_type th_search_random = {
    "random", "mappings drawn at random: the control with as many evaluations",
    false,    sizeof(control),
    init,     iterate,
    clear,
};
