/* SPDX-License-Identifier: GPL-3.0-or-later */
/* precompute.c - choices that are about to be asked for, made by all threads of the pool, a task
 * per shape of layer. They are the same whoever makes them, so nothing depends on it. */
#include <config.h>

#include "base/alloc.h"
#include "mapper/search/initial/initial_state.h"

typedef struct {
    const th_initial_generator *generator;
    const th_set *set;
    int *layers; /* of different shapes, whose choices are not known */
    int n;
} work;

static int choose(void *state, th_evaluator *e, int i)
{
    const work *w = state;
    th_initial_generator view = th_initial_view(w->generator, e);
    th_error reason = {"", ""};
    bool failed = th_initial_choices(&view, w->set, w->layers[i], &reason) == NULL;
    return failed && th_error_is_no_memory(&reason) ? -1 : 0;
}

static bool has_same_shape(const work *w, int layer)
{
    for (int i = 0; i < w->n; i++)
        if (th_plans_shape_class(w->generator->plans, w->layers[i]) ==
            th_plans_shape_class(w->generator->plans, layer))
            return true;
    return false;
}

/* Of the layers that m, if it is given, has on this set. 0 or -1. */
static int list_layers(th_initial_generator *g, work *w, const th_mapping *m, int set,
                       th_error *err)
{
    for (int l = 0; l < g->workload->n_layers; l++) {
        if ((m && m->set_of[l] != set) || !th_layer_has_macs(&g->workload->layers[l]))
            continue;
        int knows = th_initial_has_choices(g, w->set, l, err);
        if (knows < 0)
            return -1;
        if (!knows && !has_same_shape(w, l))
            w->layers[w->n++] = l;
    }
    return 0;
}

static int precompute(th_initial_generator *g, const th_set *set, const th_mapping *m, int number,
                      th_error *err)
{
    if (!g->pool)
        return 0;
    work w = {g, set, th_alloc_array((size_t)g->workload->n_layers + 1, sizeof *w.layers), 0};
    int failed = w.layers ? list_layers(g, &w, m, number, err) : th_error_no_memory(err);
    if (!failed && w.n > 0)
        failed = th_pool_precompute(g->pool, choose, &w, w.n, err);
    th_free(w.layers);
    return failed;
}

int th_initial_precompute(th_initial_generator *g, const th_mapping *m, int set, th_error *err)
{
    return precompute(g, &m->sets[set], m, set, err);
}

int th_initial_precompute_set(th_initial_generator *g, const th_set *set, th_error *err)
{
    return precompute(g, set, NULL, 0, err);
}
