/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seed_warm.c - what the dynamic programme is about to look up, planned by all threads of the pool.
 *
 *   warm: layers whose transitions are not known -> their choices: a task per shape of layer
 *   -> transitions: a task per ancestor, path and layer; not on large sets, where most are never asked for
 *
 * Tasks fill the memos of plans and works, from which the calling thread then makes the choices as ever, layer
 * by layer, which takes little; and the matrices of transitions, whose times are the same whoever works them
 * out. So nothing depends on it. */
#include <config.h>

#include "base/alloc.h"
#include "mapper/search/seed_state.h"

typedef struct {
    int layer;
    th_seed_path path;
    th_seed_matrix *matrix;
} item;

typedef struct {
    const th_seeder *seeder;
    const th_set *set;
    item *items;
    int n;
} work;

static int time_layer(void *state, th_evaluator *e, int i)
{
    const work *w = state;
    th_seeder view = th_seed_view(w->seeder, e);
    th_timed *all = NULL;
    th_error reason = {"", ""};
    int n = th_seed_time_all(&view, w->set, w->items[i].layer, &all, &reason);
    if (n >= 0)
        th_free(all);
    return n < 0 && th_error_is_no_memory(&reason) ? -1 : 0;
}

static int time_transitions(void *state, th_evaluator *e, int i)
{
    const work *w = state;
    const item *x = &w->items[i];
    th_seeder view = th_seed_view(w->seeder, e);
    th_error reason = {"", ""};
    int failed = th_seed_fill_matrix(&view, w->set, &x->path, x->layer, x->matrix, &reason);
    return failed && th_error_is_no_memory(&reason) ? -1 : 0;
}

static bool is_like(const th_seeder *s, const item *x, const item *y)
{
    return x->matrix == y->matrix &&
           th_plans_class(s->plans, x->layer) == th_plans_class(s->plans, y->layer);
}

static void add(work *w, const item *x)
{
    for (int i = 0; i < w->n; i++)
        if (is_like(w->seeder, &w->items[i], x))
            return;
    w->items[w->n++] = *x;
}

/* Of these layers on the set, those whose choices are not known. 0 or -1. */
static int warm_choices(th_seeder *s, work *w, const int *layers, int n, th_error *err)
{
    w->n = 0;
    for (int i = 0; i < n; i++) {
        int knows = th_seed_knows_choices(s, w->set, layers[i], err);
        if (knows < 0)
            return -1;
        if (!knows)
            add(w, &(item){.layer = layers[i]});
    }
    return th_pool_warm(s->pool, time_layer, w, w->n, err);
}

/* The transitions into these layers, as m has them on the set; choices are made on the way. Where some
 * layer has none, the programme will not come further. 0 or -1. */
static int warm_transitions(th_seeder *s, work *w, const th_mapping *m, const int *layers, int n,
                            th_error *err)
{
    w->n = 0;
    for (int i = 0; i < n; i++) {
        item x = {.layer = layers[i], .path = th_seed_path_to(s, m, layers[i])};
        const th_choices *choices = th_seeder_choices(s, w->set, x.layer, err);
        if (!choices)
            return -1;
        if (choices->n == 0)
            return 0;
        x.matrix = th_seed_matrix_of(s, w->set, &x.path, x.layer, err);
        if (!x.matrix)
            return -1;
        add(w, &x);
    }
    return th_pool_warm(s->pool, time_transitions, w, w->n, err);
}

/* Layers of m's set that run on the array and whose transitions are not known, into layers. -1: memory is
 * out. */
static int list_unknown(th_seeder *s, const th_mapping *m, int set, int *layers, th_error *err)
{
    int n = 0;
    for (int l = 0; l < m->n_layers; l++) {
        if (m->set_of[l] != set || !th_layer_has_macs(&s->workload->layers[l]))
            continue;
        th_seed_path path = th_seed_path_to(s, m, l);
        int knows = th_seed_knows_matrix(s, &m->sets[set], &path, l, err);
        if (knows < 0)
            return -1;
        if (!knows)
            layers[n++] = l;
    }
    return n;
}

/* Layers of the whole network on a set; or, m not NULL, those of its set. */
static int warm(th_seeder *s, const th_set *set, const th_mapping *m, int number, th_error *err)
{
    size_t most = (size_t)s->workload->n_layers + 1;
    work w = {s, set, th_alloc_array(most, sizeof *w.items), 0};
    int *layers = th_alloc_array(most, sizeof *layers), n = 0, failed = 0;
    if (!w.items || !layers)
        failed = th_error_no_memory(err);
    else if (m)
        failed = (n = list_unknown(s, m, number, layers, err)) < 0 ? -1 : 0;
    else
        for (int l = 0; l < s->workload->n_layers; l++)
            if (th_layer_has_macs(&s->workload->layers[l]))
                layers[n++] = l;
    if (!failed && n > 0)
        failed = warm_choices(s, &w, layers, n, err);
    if (!failed && n > 0 && m && set->n_accels < TH_SEED_LARGE_SET)
        failed = warm_transitions(s, &w, m, layers, n, err);
    th_free(w.items);
    th_free(layers);
    return failed;
}

int th_seeder_warm(th_seeder *s, const th_mapping *m, int set, th_error *err)
{
    return s->pool ? warm(s, &m->sets[set], m, set, err) : 0;
}

int th_seeder_warm_set(th_seeder *s, const th_set *set, th_error *err)
{
    return s->pool ? warm(s, set, NULL, 0, err) : 0;
}
