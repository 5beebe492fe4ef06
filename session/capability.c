/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capability.c - see capability.h. Each layer is planned on a set of one accelerator: it needs no
 * split there, so the design is the reason that it cannot run. */
#include <config.h>
#include "session/capability.h"
#include <string.h>
#include "base/alloc.h"
#include "mapper/lower/plan.h"

typedef struct check {
    const th_session *session;
    th_plans *plans;
    bool *is_run; /* of layers: some accelerator can */
    th_incapable *found;
    size_t n, capacity;
} check;

static bool is_alike(const check *k, int a, int b)
{
    const th_system *s = k->session->system;
    const th_accel *x = &s->nodes[s->accel_node[a]].a, *y = &s->nodes[s->accel_node[b]].a;
    const th_compute_cost_cache *costs = th_plans_costs(k->plans);
    return th_compute_cost_memory_class(costs, a) == th_compute_cost_memory_class(costs, b) &&
           x->n_designs == y->n_designs &&
           memcmp(x->designs, y->designs, (size_t)x->n_designs * sizeof *x->designs) == 0;
}

/* 1: one of the accelerator's designs runs the layer; 0: none does, why is of the first; -1. */
static int runs(const check *k, int32_t accel, int layer, th_error *why, th_error *err)
{
    const th_system *s = k->session->system;
    const th_accel *a = &s->nodes[s->accel_node[accel]].a;
    for (int d = 0; d < a->n_designs; d++) {
        const th_set set = {.design = a->designs[d], .n_accels = 1, .accels = &accel};
        th_placed at;
        th_error e = {"", ""};
        if (th_plans_place(k->plans, layer, &set, &th_strategy_single, &at, err) != 0)
            return -1;
        if (th_plans_layer(k->plans, &at, k->session->workload->batch, &e))
            return 1;
        if (th_plans_is_fatal(&e))
            return th_error_set(err, e.id, "%s", e.text);
        if (d == 0)
            *why = e;
    }
    return 0;
}

static const char *kind_of(const check *k, int layer)
{
    return th_layer_type_name(&k->session->workload->layers[layer]);
}

/* Counts a layer that accelerators like this one cannot run. 0, or -1: memory is out. */
static int note(check *k, int accel, int n_accels, int layer, const th_error *why)
{
    size_t i = 0;
    while (i < k->n && (k->found[i].accel != accel ||
                        strcmp(kind_of(k, k->found[i].layer), kind_of(k, layer)) != 0))
        i++;
    if (th_grow(&k->found, &k->capacity, i + 1, sizeof *k->found) != 0)
        return -1;
    if (i == k->n)
        k->found[k->n++] = (th_incapable){accel, n_accels, layer, 0, false, *why};
    k->found[i].n_layers++;
    return 0;
}

static int check_alike(check *k, int accel, int n_accels, th_error *err)
{
    th_error why;
    for (int l = 0; l < k->session->workload->n_layers; l++) {
        int can = runs(k, accel, l, &why, err);
        if (can < 0)
            return -1;
        k->is_run[l] |= can == 1;
        if (!can && note(k, accel, n_accels, l, &why) != 0)
            return th_error_no_memory(err);
    }
    return 0;
}

static int check_all(check *k, th_error *err)
{
    const int n = k->session->system->n_accels;
    for (int a = 0; a < n; a++) {
        int first = 0, n_alike = 1;
        while (first < a && !is_alike(k, first, a))
            first++;
        for (int b = a + 1; first == a && b < n; b++)
            n_alike += is_alike(k, a, b);
        if (first == a && check_alike(k, a, n_alike, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < k->n; i++)
        for (int l = 0; l < k->session->workload->n_layers; l++)
            k->found[i].is_of_none |=
                !k->is_run[l] && strcmp(kind_of(k, k->found[i].layer), kind_of(k, l)) == 0;
    return 0;
}

int th_capability_check(const th_session *s, void (*tell)(void *state, const th_incapable *i),
                        void *state, th_error *err)
{
    check k = {.session = s,
               .plans = th_plans_new(s->system, s->workload, err),
               .is_run = th_alloc_zero((size_t)s->workload->n_layers + 1, sizeof *k.is_run)};
    int failed = !k.plans ? -1 : !k.is_run ? th_error_no_memory(err) : 0;
    if (!failed)
        failed = th_compute_cost_set_scripts(th_plans_costs(k.plans), s->scripts, err);
    if (!failed)
        failed = check_all(&k, err);
    for (size_t i = 0; !failed && i < k.n; i++)
        tell(state, &k.found[i]);
    th_plans_free(k.plans);
    th_free(k.found);
    th_free(k.is_run);
    return failed;
}
