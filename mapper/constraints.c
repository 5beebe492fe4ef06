/* SPDX-License-Identifier: GPL-3.0-or-later */
/* constraints.c - constraints on mappings.
 *   new -> allow, forbid, a partial mapping -> validate -> read */
#include <config.h>

#include "mapper/constraints.h"

#include <fnmatch.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

th_constraints *th_constraints_new(const th_system *s, const th_workload *w)
{
    th_constraints *c = th_alloc_zero(1, sizeof *c);
    size_t layers = (size_t)w->n_layers, cells = layers * (size_t)s->n_accels + 1;
    if (!c)
        return NULL;
    c->n_layers = w->n_layers;
    c->n_accels = s->n_accels;
    c->is_allowed = th_alloc_zero(cells, sizeof *c->is_allowed);
    c->is_forbidden = th_alloc_zero(cells, sizeof *c->is_forbidden);
    c->is_restricted = th_alloc_zero(layers + 1, sizeof *c->is_restricted);
    c->has_strategy = th_alloc_zero(layers + 1, sizeof *c->has_strategy);
    if (c->is_allowed && c->is_forbidden && c->is_restricted && c->has_strategy)
        return c;
    th_constraints_free(c);
    return NULL;
}

void th_constraints_free(th_constraints *c)
{
    if (!c)
        return;
    th_free(c->is_allowed);
    th_free(c->is_forbidden);
    th_free(c->is_restricted);
    th_free(c->has_strategy);
    th_mapping_free(c->partial);
    th_free(c);
}

static size_t cell(const th_constraints *c, int layer, int32_t accel)
{
    return (size_t)layer * (size_t)c->n_accels + (size_t)accel;
}

static const char *name_of(const th_system *s, int32_t accel)
{
    return s->nodes[s->accel_node[accel]].name;
}

/* By its name, or by that of its object in scripts: "3", "accel/3". */
static bool is_meant(const char *prefix, const char *name, const char *pattern)
{
    size_t length = strlen(prefix);
    return fnmatch(pattern, name, 0) == 0 ||
           (strncmp(pattern, prefix, length) == 0 && fnmatch(pattern + length, name, 0) == 0);
}

/* 0; -1: no layer, or no accelerator, has such a name. */
static int check_patterns(const th_system *s, const th_workload *w, const char *layers,
                          const char *accels, th_error *err)
{
    bool some_layer = false, some_accel = false;
    for (int32_t a = 0; a < s->n_accels; a++)
        some_accel |= is_meant("accel/", name_of(s, a), accels);
    for (int l = 0; l < w->n_layers; l++)
        some_layer |= is_meant("layer/", w->layers[l].name, layers);
    if (some_layer && some_accel)
        return 0;
    return th_error_set(err, "MAP-0090", "no %s is called \"%s\"",
                        some_layer ? "accelerator" : "layer", some_layer ? accels : layers);
}

/* Sets the cells of a layer whose accelerators match. */
static void mark(const th_constraints *c, const th_system *s, int layer, const char *accels,
                 bool *cells)
{
    for (int32_t a = 0; a < c->n_accels; a++)
        cells[cell(c, layer, a)] |= is_meant("accel/", name_of(s, a), accels);
}

int th_constraints_allow(th_constraints *c, const th_system *s, const th_workload *w,
                         const char *layers, const char *accels, th_error *err)
{
    if (check_patterns(s, w, layers, accels, err))
        return -1;
    for (int l = 0; l < c->n_layers; l++) {
        if (!is_meant("layer/", w->layers[l].name, layers))
            continue;
        c->is_restricted[l] = true;
        mark(c, s, l, accels, c->is_allowed);
    }
    return 0;
}

int th_constraints_forbid(th_constraints *c, const th_system *s, const th_workload *w,
                          const char *layers, const char *accels, th_error *err)
{
    if (check_patterns(s, w, layers, accels, err))
        return -1;
    for (int l = 0; l < c->n_layers; l++)
        if (is_meant("layer/", w->layers[l].name, layers))
            mark(c, s, l, accels, c->is_forbidden);
    return 0;
}

/* --- questions --- */

bool th_constraints_allows(const th_constraints *c, int layer, int32_t accel)
{
    return !c || (!c->is_forbidden[cell(c, layer, accel)] &&
                  (!c->is_restricted[layer] || c->is_allowed[cell(c, layer, accel)]));
}

static bool has_same_members(const th_set *a, const th_set *b)
{
    return a->n_accels == b->n_accels &&
           memcmp(a->accels, b->accels, (size_t)a->n_accels * sizeof *a->accels) == 0;
}

/* The set that the partial mapping puts the layer on; NULL: it is free. */
static const th_set *fixed_set_of(const th_constraints *c, int layer)
{
    if (!c || !c->partial || c->partial->set_of[layer] < 0)
        return NULL;
    return &c->partial->sets[c->partial->set_of[layer]];
}

bool th_constraints_allows_set(const th_constraints *c, int layer, const th_set *set)
{
    const th_set *fixed = fixed_set_of(c, layer);
    bool may = !fixed || has_same_members(fixed, set);
    for (int i = 0; c && may && i < set->n_accels; i++)
        may = th_constraints_allows(c, layer, set->accels[i]);
    return may;
}

bool th_constraints_fixes_layer(const th_constraints *c, int layer)
{
    return fixed_set_of(c, layer);
}

int32_t th_constraints_n_sets(const th_constraints *c)
{
    return c && c->partial ? c->partial->n_sets : 0;
}

bool th_constraints_fixes_accel(const th_constraints *c, int32_t accel)
{
    return c && th_mapping_find(c->partial, accel).set >= 0;
}

const th_set *th_constraints_fixed_set(const th_constraints *c, const th_set *set)
{
    for (int32_t i = 0; i < th_constraints_n_sets(c); i++)
        if (has_same_members(&c->partial->sets[i], set))
            return &c->partial->sets[i];
    return NULL;
}

const th_strategy *th_constraints_fixed_strategy(const th_constraints *c, int layer)
{
    return fixed_set_of(c, layer) && c->has_strategy[layer] ? &c->partial->strategy[layer] : NULL;
}

int th_constraints_validate(const th_constraints *c, const th_system *s, const th_workload *w,
                            th_error *err)
{
    for (int l = 0; l < c->n_layers; l++) {
        const th_set *fixed = fixed_set_of(c, l);
        bool some = false;
        for (int32_t a = 0; a < c->n_accels; a++)
            some |= th_constraints_allows(c, l, a);
        if (!some)
            return th_error_set(err, "MAP-0091",
                                "layer \"%s\" is left no accelerator that it may use",
                                w->layers[l].name);
        for (int i = 0; fixed && i < fixed->n_accels; i++)
            if (!th_constraints_allows(c, l, fixed->accels[i]))
                return th_error_set(
                    err, "MAP-0092", "layer \"%s\" is fixed to set %d, but may not use accel/%s",
                    w->layers[l].name, (int)c->partial->set_of[l], name_of(s, fixed->accels[i]));
    }
    return 0;
}

/* --- mappings --- */

/* The mapping's set with the members of fixed; -1: none. */
static int32_t find_set(const th_mapping *m, const th_set *fixed)
{
    for (int32_t i = 0; i < m->n_sets; i++)
        if (has_same_members(&m->sets[i], fixed))
            return i;
    return -1;
}

static bool is_as_given(const th_set *set, const th_set *fixed)
{
    th_set wanted = *fixed;
    if (fixed->design == TH_DESIGN_ANY)
        wanted.design = set->design;
    return th_set_equal(set, &wanted);
}

static int check_partial(const th_constraints *c, const th_mapping *m, const th_workload *w,
                         th_error *err)
{
    for (int32_t i = 0; i < th_constraints_n_sets(c); i++) {
        int32_t at = find_set(m, &c->partial->sets[i]);
        if (at < 0 || !is_as_given(&m->sets[at], &c->partial->sets[i]))
            return th_error_set(err, "MAP-0094", "set %d is not as the partial mapping gives it",
                                (int)i);
    }
    for (int l = 0; l < m->n_layers; l++) {
        const th_set *fixed = fixed_set_of(c, l);
        const th_strategy *strategy = th_constraints_fixed_strategy(c, l);
        if ((fixed && !has_same_members(fixed, &m->sets[m->set_of[l]])) ||
            (strategy && !th_strategy_equal(strategy, &m->strategy[l])))
            return th_error_set(err, "MAP-0095",
                                "layer \"%s\" is not as the partial mapping gives it",
                                w->layers[l].name);
    }
    return 0;
}

int th_constraints_check(const th_constraints *c, const th_mapping *m, const th_system *s,
                         const th_workload *w, th_error *err)
{
    for (int l = 0; c && l < m->n_layers; l++) {
        const th_set *set = &m->sets[m->set_of[l]];
        for (int i = 0; i < set->n_accels; i++)
            if (!th_constraints_allows(c, l, set->accels[i]))
                return th_error_set(err, "MAP-0093", "layer \"%s\" may not use accel/%s",
                                    w->layers[l].name, name_of(s, set->accels[i]));
    }
    return c && c->partial ? check_partial(c, m, w, err) : 0;
}

int th_constraints_apply(const th_constraints *c, th_mapping *m, const th_workload *w,
                         int32_t batch)
{
    for (int32_t i = 0; i < th_constraints_n_sets(c); i++) {
        const th_set *fixed = &c->partial->sets[i];
        int32_t at = find_set(m, fixed);
        if (at < 0)
            continue;
        if (fixed->design != TH_DESIGN_ANY)
            m->sets[at].design = fixed->design;
        if (th_set_share(&m->sets[at], fixed->shares))
            return -1;
        for (int l = 0; l < m->n_layers; l++) {
            if (c->partial->set_of[l] != i)
                continue;
            m->set_of[l] = at;
            if (c->has_strategy[l])
                m->strategy[l] = c->partial->strategy[l];
            else /* the strategy may be of another set; if none fits, lowering fails */
                th_strategy_repair(&m->strategy[l], &w->layers[l], batch, fixed->n_accels);
        }
    }
    return 0;
}
