/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exhaustive.c - branch and bound over all mappings: proves which one is best.
 *
 *   init -> iterate: a first search, batch by batch -> { expand | descend | evaluate }* until
 *     nothing is left -> clear
 *
 * The space: disjoint sets of accelerators, in any number and size, members in ascending order,
 * some idle; a design that all members can take, or, where there is none, each member's own; layers
 * on sets in any way; every strategy of th_strategies_list, without chunks; layers of the vector
 * unit follow (th_mapping_follow). Layers are decided in the order of the workload, depth first,
 * prefixes with the least lower bound first (prefix.c). A prefix whose bound is no better than the
 * best value is pruned; the remaining mappings are simulated. The bounds are on the makespan, so
 * nothing is pruned for objectives other than time. docs/models/exhaustive.md. Invariant: level[d]
 * lists the choices for layer d after the choices at[next - 1] of those before; the prefix holds
 * exactly the choices taken. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/search/algorithms/prefix.h"
#include "mapper/search/searches.h"
#include "mapper/search/partition/sets.h"
#include "mapper/strategies.h"

enum {
    BATCH = 32,              /* simulations at once */
    NODES = 2048,            /* nodes between two checks of the time limit */
    FIRST_EVALUATIONS = 500, /* of the search that gives the first best, whatever the budget */
    ACCELS_MAX = 6           /* of whose sets all are listed */
};

typedef struct {
    uint32_t members; /* bit per accelerator */
    int32_t design;
    th_strategy strategy;
    double least;
} choice;

typedef struct {
    choice *item;
    size_t n, next, capacity;
    int32_t set; /* of the choice taken */
} level;

typedef struct {
    int n;
    th_strategy *item;
} strategies;

typedef struct {
    th_search *first; /* NULL once it has ended */
    th_prefix *prefix;
    bool prunes;
    level *level;
    int depth;         /* layers decided */
    th_set *set;       /* in use, by order of their first layer */
    uint32_t *members; /* of them */
    int32_t *n_layers; /* on them */
    int32_t n_sets;
    strategies *listed; /* by layer and size */
    th_mapping *batch[BATCH];
    double least[BATCH];
    int n_batch;
    bool is_cut;       /* by the budget */
    bool is_too_large; /* nothing but the first search */
} exhaustive;

/* --- life --- */

static bool is_time(const th_problem *p)
{
    bool is_latency = p->objective == TH_OBJECTIVE_LATENCY ||
                      (p->objective == TH_OBJECTIVE_THROUGHPUT && p->stream.n_inputs == 1);
    return is_latency && p->goal.n_front == 0;
}

static bool has_scripts(const th_system *s)
{
    for (int i = 0; i < s->n_designs; i++)
        if (strcmp(s->designs[i].type, "script") == 0)
            return true;
    return false;
}

static int allocate(exhaustive *x, const th_problem *p)
{
    size_t layers = (size_t)p->workload->n_layers, accels = (size_t)p->system->n_accels;
    x->level = th_alloc_zero(layers + 1, sizeof *x->level);
    x->set = th_alloc_zero(accels + 1, sizeof *x->set);
    x->members = th_alloc_zero(accels + 1, sizeof *x->members);
    x->n_layers = th_alloc_zero(accels + 1, sizeof *x->n_layers);
    x->listed = th_alloc_zero(layers * (accels + 1), sizeof *x->listed);
    if (!x->level || !x->set || !x->members || !x->n_layers || !x->listed)
        return -1;
    for (size_t i = 0; i <= accels; i++)
        if (!(x->set[i].accels = th_alloc_zero(accels + 1, sizeof *x->set[i].accels)))
            return -1;
    return 0;
}

/* The bounds on prefixes are those of shards that compute in one. */
static int check_chunks(const th_problem *p, th_error *err)
{
    for (int l = 0; l < p->workload->n_layers; l++) {
        const th_strategy *given = th_constraints_fixed_strategy(p->constraints, l);
        if (given && given->chunks > 0)
            return th_error_set(
                err, "MAP-0127",
                "exhaustive: layer \"%s\" has chunks in the partial mapping: must have "
                "none",
                p->workload->layers[l].name);
    }
    return 0;
}

static int init(th_search *s, th_error *err)
{
    exhaustive *x = s->state;
    const th_problem *p = &s->problem;
    bool has_budget = s->options.evaluations > 0 || s->options.seconds > 0 || s->parent;
    x->is_too_large = p->system->n_accels > ACCELS_MAX;
    int64_t first = x->is_too_large && s->budget < INT64_MAX ? s->budget : FIRST_EVALUATIONS;
    if (x->is_too_large && !has_budget)
        return th_error_set(
            err, "MAP-0070",
            "exhaustive: \"%s\" has %d accelerators, of which 2^%d sets can be made: "
            "must be %d at most to look at all; a budget gives the best found in it",
            p->system->name, p->system->n_accels, p->system->n_accels, ACCELS_MAX);
    if (check_chunks(p, err))
        return -1;
    s->options.chunks = 1;
    if (allocate(x, p))
        return th_error_no_memory(err);
    x->prunes =
        is_time(p) && !has_scripts(p->system) && !p->system->transfers_serially && !x->is_too_large;
    if (x->prunes && !(x->prefix = th_prefix_new(p, err)))
        return -1;
    x->first = th_search_new_inner(s, &th_search_two_level, first, s->options.seed, err);
    return x->first ? 0 : -1;
}

static void clear(th_search *s)
{
    exhaustive *x = s->state;
    int layers = s->problem.workload->n_layers, accels = s->problem.system->n_accels;
    th_search_free(x->first);
    th_prefix_free(x->prefix);
    for (int i = 0; i < x->n_batch; i++)
        th_mapping_free(x->batch[i]);
    for (int l = 0; x->level && l < layers; l++)
        th_free(x->level[l].item);
    for (int i = 0; x->set && i <= accels; i++)
        th_free(x->set[i].accels);
    for (int i = 0; x->listed && i < layers * (accels + 1); i++)
        th_free(x->listed[i].item);
    th_free(x->level);
    th_free(x->set);
    th_free(x->members);
    th_free(x->n_layers);
    th_free(x->listed);
}

/* --- choices of a layer --- */

/* Times are whole picoseconds: what takes more than the best less one takes as long as the best. */
static bool can_win(const th_search *s, double least)
{
    static const double SLACK = 1e-12; /* of sums of doubles */
    return least * (1 - SLACK) <= s->best_fitness.value - 1;
}

static void fill_set(th_set *set, uint32_t members, int32_t design)
{
    set->design = design;
    set->n_accels = 0;
    for (int32_t a = 0; members >> a; a++)
        if (members >> a & 1u)
            set->accels[set->n_accels++] = a;
}

/* All strategies of a layer of the array on a set of n; NULL: out of memory. */
static const strategies *list_for(const th_search *s, exhaustive *x, int layer, int n)
{
    strategies *all = &x->listed[layer * (s->problem.system->n_accels + 1) + n];
    if (!all->item) {
        all->n = th_strategies_list(&s->problem.workload->layers[layer], th_search_batch(s), n,
                                    &all->item);
        if (all->n < 0)
            return NULL;
        if (all->n == 0 && !all->item && !(all->item = th_alloc(sizeof *all->item)))
            return NULL;
    }
    return all;
}

/* The strategy of a layer of the vector unit on the set, as th_mapping_follow has it. */
static bool follow(const th_search *s, const exhaustive *x, int set, int n, th_strategy *out)
{
    const th_layer *l = &s->problem.workload->layers[x->depth];
    const th_strategy *producer = NULL;
    for (int i = l->n_inputs - 1; i >= 0; i--) {
        const level *of = l->inputs[i] >= 0 ? &x->level[l->inputs[i]] : NULL;
        if (of && of->set == set)
            producer = &of->item[of->next - 1].strategy;
    }
    return th_strategy_follow(out, l, th_search_batch(s), n, producer);
}

static int add_choice(th_search *s, exhaustive *x, int set, const th_strategy *strategy,
                      th_error *err)
{
    level *here = &x->level[x->depth];
    double least = 0;
    s->counts.nodes++;
    if (x->prefix) {
        int status = th_prefix_push(x->prefix, &x->set[set], strategy, &least, err);
        if (status != 0)
            return status < 0 ? -1 : 0;
        th_prefix_pop(x->prefix);
    }
    if (x->prefix && !can_win(s, least)) {
        s->counts.pruned++;
        return 0;
    }
    if (th_grow(&here->item, &here->capacity, here->n + 1, sizeof *here->item))
        return th_error_no_memory(err);
    here->item[here->n++] = (choice){x->members[set], x->set[set].design, *strategy, least};
    return 0;
}

static int add_strategies(th_search *s, exhaustive *x, int set, th_error *err)
{
    int n = x->set[set].n_accels;
    th_strategy only;
    if (!th_layer_has_macs(&s->problem.workload->layers[x->depth]))
        return follow(s, x, set, n, &only) ? add_choice(s, x, set, &only, err) : 0;
    const strategies *all = list_for(s, x, x->depth, n);
    if (!all)
        return th_error_no_memory(err);
    for (int i = 0; i < all->n; i++)
        if (add_choice(s, x, set, &all->item[i], err))
            return -1;
    return 0;
}

static bool is_inside_group(const th_system *s, uint32_t members)
{
    int group = -1;
    for (int a = 0; members >> a; a++) {
        int own = s->nodes[s->accel_node[a]].group;
        if ((members >> a & 1u) && group >= 0 && own != group)
            return false;
        group = members >> a & 1u ? own : group;
    }
    return true;
}

/* A set that no layer has been on so far, with each design that it can take. */
static int add_new_set(th_search *s, exhaustive *x, uint32_t members, th_error *err)
{
    const th_system *system = s->problem.system;
    th_set *set = &x->set[x->n_sets];
    bool any = false;
    x->members[x->n_sets] = members;
    for (int32_t d = 0; d < system->n_designs; d++) {
        fill_set(set, members, d);
        if (!th_set_supports_design(system, set, d))
            continue;
        any = true;
        if (add_strategies(s, x, x->n_sets, err))
            return -1;
    }
    fill_set(set, members, TH_DESIGN_OWN);
    return any ? 0 : add_strategies(s, x, x->n_sets, err);
}

static int by_least(const void *a, const void *b)
{
    const choice *x = a, *y = b;
    if (x->least != y->least)
        return x->least < y->least ? -1 : 1;
    if (x->members != y->members)
        return x->members < y->members ? -1 : 1;
    if (x->design != y->design)
        return x->design < y->design ? -1 : 1;
    return th_strategy_compare(&x->strategy, &y->strategy);
}

/* Lists what the next layer can do: on sets in use, and on new ones of accelerators that are free.
 */
static int expand(th_search *s, exhaustive *x, th_error *err)
{
    const th_system *system = s->problem.system;
    level *here = &x->level[x->depth];
    uint32_t all = (uint32_t)((1ull << system->n_accels) - 1), used = 0;
    here->n = here->next = 0;
    for (int i = 0; i < x->n_sets; i++) {
        used |= x->members[i];
        if (add_strategies(s, x, i, err))
            return -1;
    }
    for (uint32_t m = 1; m <= all; m++) {
        bool is_asked_for = !s->options.sets_inside_groups || is_inside_group(system, m);
        if ((m & used) == 0 && is_asked_for && add_new_set(s, x, m, err))
            return -1;
    }
    if (here->n > 0)
        qsort(here->item, here->n, sizeof *here->item, by_least);
    return 0;
}

/* --- leaves --- */

static th_mapping *mapping_of(const th_search *s, const exhaustive *x)
{
    int32_t sizes[ACCELS_MAX];
    for (int i = 0; i < x->n_sets; i++)
        sizes[i] = x->set[i].n_accels;
    th_mapping *m = th_mapping_new(x->n_sets, sizes, s->problem.workload->n_layers);
    if (!m)
        return NULL;
    m->generator = TH_GENERATOR_ENUMERATION;
    for (int i = 0; i < x->n_sets; i++) {
        m->sets[i].design = x->set[i].design;
        memcpy(m->sets[i].accels, x->set[i].accels, (size_t)sizes[i] * sizeof *m->sets[i].accels);
    }
    for (int l = 0; l < m->n_layers; l++) {
        m->set_of[l] = x->level[l].set;
        m->strategy[l] = x->level[l].item[x->level[l].next - 1].strategy;
    }
    return m;
}

/* Simulates the batch, except mappings that can no longer be best. */
static int evaluate_batch(th_search *s, exhaustive *x, th_error *err)
{
    th_fitness fitness[BATCH];
    int n = 0;
    for (int i = 0; i < x->n_batch; i++) {
        if (!x->prefix || can_win(s, x->least[i])) {
            x->batch[n++] = x->batch[i];
            continue;
        }
        s->counts.pruned++;
        th_mapping_free(x->batch[i]);
    }
    int left = th_search_left(s, n);
    x->n_batch = n;
    x->is_cut |= left < n;
    double bound = is_time(&s->problem) ? s->best_fitness.value : INFINITY;
    int failed = th_search_evaluate(s, x->batch, left, bound, fitness, err);
    while (x->n_batch > 0)
        th_mapping_free(x->batch[--x->n_batch]);
    return failed;
}

static int add_leaf(th_search *s, exhaustive *x, th_error *err)
{
    const level *last = &x->level[x->depth - 1];
    x->batch[x->n_batch] = mapping_of(s, x);
    if (!x->batch[x->n_batch])
        return th_error_no_memory(err);
    x->least[x->n_batch++] = last->item[last->next - 1].least;
    return x->n_batch == BATCH ? evaluate_batch(s, x, err) : 0;
}

/* --- the tree --- */

static int set_of_members(const exhaustive *x, uint32_t members)
{
    int i = 0;
    while (i < x->n_sets && x->members[i] != members)
        i++;
    return i;
}

/* The next choice of this level becomes part of the prefix. */
static int take(exhaustive *x, th_error *err)
{
    level *here = &x->level[x->depth];
    const choice *c = &here->item[here->next++];
    double least;
    here->set = set_of_members(x, c->members);
    if (here->set == x->n_sets) {
        fill_set(&x->set[x->n_sets], c->members, c->design);
        x->members[x->n_sets] = c->members;
        x->n_layers[x->n_sets++] = 0;
    }
    x->n_layers[here->set]++;
    if (x->prefix && th_prefix_push(x->prefix, &x->set[here->set], &c->strategy, &least, err))
        return -1;
    x->depth++;
    return 0;
}

static void leave(exhaustive *x)
{
    x->depth--;
    if (x->prefix)
        th_prefix_pop(x->prefix);
    if (--x->n_layers[x->level[x->depth].set] == 0)
        x->n_sets--;
}

/* From one prefix to the next. */
static int step(th_search *s, exhaustive *x, th_error *err)
{
    level *here = &x->level[x->depth];
    bool is_over = here->next == here->n;
    if (!is_over && x->prefix && !can_win(s, here->item[here->next].least)) {
        s->counts.pruned += (int64_t)(here->n - here->next); /* those after it are no better */
        is_over = true;
    }
    if (is_over && x->depth == 0) {
        s->done = true;
        return evaluate_batch(s, x, err);
    }
    if (is_over) {
        leave(x);
        return 0;
    }
    if (take(x, err))
        return -1;
    if (x->depth < s->problem.workload->n_layers)
        return expand(s, x, err);
    int failed = add_leaf(s, x, err);
    leave(x);
    return failed;
}

/* The first search; then the root. */
static int run_first(th_search *s, exhaustive *x, th_error *err)
{
    if (!x->first->done)
        return th_search_iterate(x->first, err);
    if (!s->first_infeasibility.text[0])
        s->first_infeasibility = x->first->first_infeasibility;
    th_search_free(x->first);
    x->first = NULL;
    s->done = x->is_too_large;
    return s->done ? 0 : expand(s, x, err);
}

/* Drops plans where there are too many, and makes those of the prefix again. */
static int refresh(exhaustive *x, th_error *err)
{
    double least;
    for (int l = 0; x->prefix && l < x->depth; l++)
        th_prefix_pop(x->prefix);
    if (x->prefix)
        th_prefix_trim(x->prefix);
    for (int l = 0; x->prefix && l < x->depth; l++) {
        const level *at = &x->level[l];
        if (th_prefix_push(x->prefix, &x->set[at->set], &at->item[at->next - 1].strategy, &least,
                           err))
            return -1;
    }
    return 0;
}

static int iterate(th_search *s, th_error *err)
{
    exhaustive *x = s->state;
    if (x->first)
        return run_first(s, x, err);
    int64_t until = s->counts.nodes + NODES;
    while (!s->done && s->counts.nodes < until && th_search_left(s, 1) > 0)
        if (step(s, x, err))
            return -1;
    s->is_proven = s->done && !x->is_cut;
    return s->done ? 0 : refresh(x, err);
}

const th_search_type th_search_exhaustive = {
    .name = "exhaustive",
    .synopsis = "branch and bound over all mappings: proves the best of small cases",
    .initial = TH_INITIAL_HEURISTIC,
    .state_size = sizeof(exhaustive),
    .init = init,
    .iterate = iterate,
    .clear = clear,
};
