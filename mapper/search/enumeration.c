/* SPDX-License-Identifier: GPL-3.0-or-later */
/* enumeration.c - see enumeration.h.
 *
 *   new -> fits -> next*: the sets of the partial mapping, and every way to put the other
 *     accelerators into further sets or leave them idle -> for each a number of many digits: a
 *     design and an order per set, a set and a strategy per layer, equal shares or those by speed
 *     per set of unlike members -> a mapping, unless a further set has no layers: then it is idle
 *
 * In the full space, where sets may share accelerators (th_search_sets_overlap), there are instead
 * the designs of all accelerators, and for each every list of members of one design as a set: a
 * number has a digit per layer, and what none of them uses keeps its first design.
 *
 * Nothing is pruned and no symmetry is used: ties are broken by number, so that exchanging two
 * equal accelerators may change a time. Invariant: block[] is a restricted growth string over the
 * free accelerators (each is at most one more than the greatest before it), 0 standing for idle; so
 * every partition comes once. */
#include <config.h>

#include "mapper/search/enumeration.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/search/partition/partition.h"
#include "mapper/strategies.h"

enum {
    ACCELS_MAX = 8, /* 21,147 ways to put them into sets */
    SHARED_MAX = 4, /* accelerators whose sets may share them: 64 lists of members */
    SETS_MAX = 64
};

typedef struct {
    int n; /* -1: not listed yet */
    th_strategy *item;
} strategies;

struct th_enumeration {
    th_search *search;
    const th_problem *problem;
    th_partitioner *partitioner; /* NULL: accelerators are of one kind */
    bool is_full, has_number, is_over;
    int64_t n_mappings; /* 0: not counted */
    bool overlap;       /* sets may share accelerators; block then numbers the design of each */
    int32_t n_given;    /* sets of the partial mapping, which come first */
    int32_t free_accel[ACCELS_MAX], block[ACCELS_MAX];
    int n_free;
    int n_sets;
    th_set set[SETS_MAX]; /* by ascending members or all lists, equal shares, any design */
    int32_t member[SETS_MAX][ACCELS_MAX];
    int32_t *design[SETS_MAX]; /* that a set can take */
    strategies *listed;        /* by layer and size */
    int32_t *digit, *radix;    /* designs; orders; layers; shares */
    int n_digits;
};

/* --- life --- */

static int allocate(th_enumeration *e)
{
    const th_system *s = e->problem->system;
    size_t layers = (size_t)e->problem->workload->n_layers, digits = layers + 3 * SETS_MAX;
    bool failed = false;
    e->listed = th_alloc_zero(layers * (ACCELS_MAX + 1) + 1, sizeof *e->listed);
    e->digit = th_alloc_zero(digits, sizeof *e->digit);
    e->radix = th_alloc_zero(digits, sizeof *e->radix);
    for (int i = 0; i < SETS_MAX; i++) {
        e->set[i].accels = e->member[i];
        e->design[i] = th_alloc_zero((size_t)s->n_designs + 1, sizeof *e->design[i]);
        failed |= !e->design[i];
    }
    for (size_t i = 0; e->listed && i < layers * (ACCELS_MAX + 1); i++)
        e->listed[i].n = -1;
    return e->listed && e->digit && e->radix && !failed ? 0 : -1;
}

th_enumeration *th_enumeration_new(th_search *s, th_space space, th_error *err)
{
    th_enumeration *e = th_alloc_zero(1, sizeof *e);
    if (!e) {
        th_error_no_memory(err);
        return NULL;
    }
    e->search = s;
    e->problem = &s->problem;
    e->is_full = space == TH_SPACE_FULL;
    e->overlap = e->is_full && th_search_sets_overlap(s);
    e->n_given = th_constraints_n_sets(s->problem.constraints);
    th_plans *plans = th_lower_plans(th_evaluator_lower(th_pool_evaluator(s->pool)));
    bool is_small = s->problem.system->n_accels <= ACCELS_MAX;
    if (allocate(e))
        th_error_no_memory(err);
    else if (!is_small || !th_has_several_kinds(plans, s->problem.system) ||
             (e->partitioner = th_search_partitioner(s, err)))
        return e;
    th_enumeration_free(e);
    return NULL;
}

void th_enumeration_free(th_enumeration *e)
{
    if (!e)
        return;
    size_t n = (size_t)e->problem->workload->n_layers * (ACCELS_MAX + 1);
    for (size_t i = 0; e->listed && i < n; i++)
        th_free(e->listed[i].item);
    for (int i = 0; i < SETS_MAX; i++)
        th_free(e->design[i]);
    th_free(e->listed);
    th_free(e->digit);
    th_free(e->radix);
    th_free(e);
}

/* --- sets --- */

/* Every free accelerator in a set of its own. */
static void begin(th_enumeration *e)
{
    e->n_free = 0;
    e->has_number = e->is_over = false;
    for (int32_t a = 0; a < e->problem->system->n_accels; a++)
        if (!th_constraints_fixes_accel(e->problem->constraints, a)) {
            e->free_accel[e->n_free] = a;
            e->block[e->n_free] = e->overlap ? 0 : e->n_free + 1;
            e->n_free++;
        }
}

/* The designs of all accelerators count up. */
static bool next_designs(th_enumeration *e)
{
    const th_system *s = e->problem->system;
    for (int i = e->n_free - 1; i >= 0; i--) {
        if (++e->block[i] < s->nodes[s->accel_node[e->free_accel[i]]].a.n_designs)
            return true;
        e->block[i] = 0;
    }
    return false;
}

/* Towards fewer sets: what uses many accelerators is fast, as a rule, and then the rest is soon
 * stopped. False: the last partition was the last. */
static bool next_partition(th_enumeration *e)
{
    int i = e->n_free - 1;
    int32_t most = 0;
    if (e->overlap)
        return next_designs(e);
    while (i >= 0 && e->block[i] == 0)
        i--;
    if (i < 0)
        return false;
    e->block[i]--;
    for (int j = 0; j < e->n_free; j++) {
        if (j > i)
            e->block[j] = most + 1;
        most = e->block[j] > most ? e->block[j] : most;
    }
    return true;
}

/* Adds the lists that begin with these members, of one design and, if that is asked for, group. */
static void add_lists(th_enumeration *e, const int32_t *members, int n)
{
    const th_system *s = e->problem->system;
    for (int i = 0; i < e->n_free; i++) {
        int32_t a = e->free_accel[i], list[SHARED_MAX];
        bool may = true;
        for (int r = 0; r < n; r++) {
            const int32_t b = members[r];
            may &= a != b && e->block[a] == e->block[b] &&
                   (!e->search->options.sets_inside_groups ||
                    s->nodes[s->accel_node[a]].group == s->nodes[s->accel_node[b]].group);
        }
        if (!may)
            continue;
        memcpy(list, members, (size_t)n * sizeof *list);
        list[n] = a;
        th_set *set = &e->set[e->n_sets];
        set->n_accels = n + 1;
        set->design = s->nodes[s->accel_node[a]].a.designs[e->block[a]];
        memcpy(e->member[e->n_sets++], list, (size_t)(n + 1) * sizeof *list);
        add_lists(e, list, n + 1);
    }
}

/* The sets of this partition. False: the options rule one of them out, or there are too many. */
static bool make_sets(th_enumeration *e)
{
    const th_system *s = e->problem->system;
    e->n_sets = e->n_given;
    if (e->overlap) {
        add_lists(e, (int32_t[SHARED_MAX]){0}, 0);
        return true;
    }
    for (int i = 0; i < e->n_given; i++) {
        const th_set *given = &e->problem->constraints->partial->sets[i];
        e->set[i].n_accels = given->n_accels;
        memcpy(e->member[i], given->accels, (size_t)given->n_accels * sizeof *given->accels);
    }
    for (int i = e->n_given; i < SETS_MAX; i++)
        e->set[i].n_accels = 0;
    for (int i = 0; i < e->n_free; i++) {
        if (e->block[i] == 0)
            continue;
        int at = e->n_given + e->block[i] - 1;
        th_set *set = &e->set[at];
        set->accels[set->n_accels++] = e->free_accel[i];
        e->n_sets = at + 1 > e->n_sets ? at + 1 : e->n_sets;
        if (e->search->options.sets_inside_groups &&
            s->nodes[s->accel_node[set->accels[0]]].group !=
                s->nodes[s->accel_node[e->free_accel[i]]].group)
            return false;
    }
    return e->n_sets > 0 && e->n_sets - e->n_given <= e->problem->workload->n_layers;
}

/* The designs that a set can take: as given, those that all members can take, and, where it is
 * another, each its own. Their number. */
static int32_t list_designs(th_enumeration *e, int i)
{
    const th_system *s = e->problem->system;
    int32_t n = 0, wanted = TH_DESIGN_ANY;
    bool differ = false;
    th_set *set = &e->set[i];
    if (e->overlap)
        wanted = set->design;
    if (i < e->n_given)
        wanted = e->problem->constraints->partial->sets[i].design;
    if (wanted != TH_DESIGN_ANY) {
        e->design[i][0] = wanted;
        return 1;
    }
    for (int32_t d = 0; d < s->n_designs; d++)
        if (th_set_supports_design(s, set, d))
            e->design[i][n++] = d;
    set->design = TH_DESIGN_OWN;
    for (int r = 1; r < set->n_accels; r++)
        differ |= th_set_design(set, r, s) != th_set_design(set, 0, s);
    if (n == 0 || differ)
        e->design[i][n++] = TH_DESIGN_OWN;
    return n;
}

static int32_t n_orders(const th_enumeration *e, int set)
{
    int32_t n = 1;
    for (int i = 2; e->is_full && !e->overlap && set >= e->n_given && i <= e->set[set].n_accels;
         i++)
        n *= i;
    return n;
}

/* Of unlike members: equal shares, and those in proportion to speed. */
static int32_t n_shares(const th_enumeration *e, int set)
{
    bool differ = false;
    for (int r = 1; e->partitioner && r < e->set[set].n_accels; r++)
        differ |= e->partitioner->kind_of[e->member[set][r]] !=
                  e->partitioner->kind_of[e->member[set][0]];
    return differ && set >= e->n_given ? 2 : 1;
}

/* --- layers --- */

/* With every number of chunks along every dimension that searches cut in chunks. */
static int add_chunks(const th_enumeration *e, int layer, int n, strategies *all)
{
    static const th_dim dims[] = {TH_DIM_H, TH_DIM_W, TH_DIM_K, TH_DIM_B};
    const th_layer *l = &e->problem->workload->layers[layer];
    size_t capacity = (size_t)all->n;
    for (int i = 0, whole = all->n; i < whole; i++)
        for (int d = 0; d < 4 && all->item[i].rotate == TH_NO_ROTATION; d++)
            for (int c = 2; c <= e->search->options.chunks; c++) {
                th_strategy s = all->item[i];
                th_strategy_set_chunks(&s, c, (int32_t)dims[d]);
                if (!th_strategy_fits(&s, l, th_search_batch(e->search), n))
                    continue;
                if (th_grow(&all->item, &capacity, (size_t)all->n + 1, sizeof *all->item))
                    return -1;
                all->item[all->n++] = s;
            }
    return 0;
}

/* All strategies of a layer on a set of n; NULL: out of memory. */
static const strategies *list_for(th_enumeration *e, int layer, int n)
{
    strategies *all = &e->listed[layer * (ACCELS_MAX + 1) + n];
    if (all->n >= 0)
        return all;
    const th_layer *l = &e->problem->workload->layers[layer];
    all->n = e->is_full ? th_strategies_list_full(l, th_search_batch(e->search), n,
                                                  !e->problem->without_copies, &all->item)
                        : th_strategies_list(l, th_search_batch(e->search), n, &all->item);
    return all->n < 0 || (e->is_full && add_chunks(e, layer, n, all)) ? NULL : all;
}

/* The number of strategies of a layer on a set, with *list where it is not a given one; -1. */
static int32_t options_of(th_enumeration *e, int layer, int set, const th_strategy **list)
{
    const th_constraints *c = e->problem->constraints;
    const th_strategy *given = th_constraints_fixed_strategy(c, layer);
    if (!th_constraints_allows_set(c, layer, &e->set[set]))
        return 0;
    if (given) {
        *list = given;
        return 1;
    }
    const strategies *all = list_for(e, layer, e->set[set].n_accels);
    *list = all ? all->item : NULL;
    return all ? all->n : -1;
}

/* --- the number --- */

/* The digits of this partition, all 0. 1; 0: it has no mapping; -1. */
static int make_number(th_enumeration *e, th_error *err)
{
    int n = 0, layers = e->problem->workload->n_layers;
    const th_strategy *list;
    if (!make_sets(e))
        return 0;
    for (int i = 0; i < e->n_sets; i++)
        e->radix[n++] = list_designs(e, i);
    for (int i = 0; i < e->n_sets; i++)
        e->radix[n++] = n_orders(e, i);
    for (int l = 0; l < layers; l++, n++) {
        e->radix[n] = 0;
        for (int i = 0; i < e->n_sets; i++) {
            int32_t more = options_of(e, l, i, &list);
            if (more < 0)
                return th_error_no_memory(err);
            e->radix[n] += more;
        }
        if (e->radix[n] == 0)
            return 0;
    }
    for (int i = 0; i < e->n_sets; i++)
        e->radix[n++] = n_shares(e, i);
    e->n_digits = n;
    memset(e->digit, 0, (size_t)n * sizeof *e->digit);
    return 1;
}

static bool next_number(th_enumeration *e)
{
    for (int i = e->n_digits - 1; i >= 0; i--) {
        if (++e->digit[i] < e->radix[i])
            return true;
        e->digit[i] = 0;
    }
    return false;
}

/* What every mapping of this partition uses: further sets, or (overlap) accelerators with another
 * design than their first; and which of these a set is, or has. */
static uint32_t needed(const th_enumeration *e)
{
    uint32_t all = 0;
    for (int i = 0; e->overlap && i < e->n_free; i++)
        all |= e->block[i] > 0 ? 1u << e->free_accel[i] : 0;
    return e->overlap ? all : (1u << (e->n_sets - e->n_given)) - 1;
}

static uint32_t parts_of(const th_enumeration *e, int set)
{
    uint32_t all = 0;
    for (int r = 0; e->overlap && r < e->set[set].n_accels; r++)
        all |= 1u << e->member[set][r];
    return e->overlap ? all : set >= e->n_given ? 1u << (set - e->n_given) : 0;
}

/* Assignments in which no layer is on the sets that have something that is left out. */
static double without(th_enumeration *e, uint32_t left_out)
{
    double n = 1;
    const th_strategy *list;
    for (int l = 0; l < e->problem->workload->n_layers; l++) {
        double options = 0;
        for (int i = 0; i < e->n_sets; i++)
            if (!(parts_of(e, i) & left_out))
                options += options_of(e, l, i, &list);
        n *= options;
    }
    return n;
}

/* Mappings of this partition that use all that is needed (by inclusion and exclusion); more than
 * most: at least some number above it. */
static double count(th_enumeration *e, double most)
{
    double n = 0, others = 1;
    const uint32_t all = needed(e);
    for (int i = 0; i < 3 * e->n_sets; i++) /* all but the layers, which come before the shares */
        others *= e->radix[i < 2 * e->n_sets ? i : i + e->problem->workload->n_layers];
    for (uint32_t out = 0;; out = ((out | ~all) + 1) & all) { /* each part of it */
        double some = without(e, out);
        if (some > 1e6 * most)
            return INFINITY;
        for (uint32_t rest = out; rest != 0; rest &= rest - 1)
            some = -some;
        n += some;
        if (out == all)
            return n * others;
    }
}

int th_enumeration_fits(th_enumeration *e, int64_t most, th_error *err)
{
    double n = 0;
    int has = 0;
    if (e->problem->system->n_accels > (e->overlap ? SHARED_MAX : ACCELS_MAX) ||
        (e->is_full && e->partitioner))
        return 0;
    begin(e);
    if (e->n_given + e->n_free > ACCELS_MAX + 1) /* given sets that share accelerators */
        return 0;
    do {
        has = make_number(e, err);
        n += has > 0 ? count(e, (double)most) : 0;
    } while (has >= 0 && n <= (double)most && next_partition(e));
    begin(e);
    e->n_mappings = n <= (double)most ? (int64_t)n : 0;
    return has < 0 ? -1 : n <= (double)most;
}

int64_t th_enumeration_count(const th_enumeration *e)
{
    return e->n_mappings;
}

/* --- mappings --- */

static bool uses_all(const th_enumeration *e, const th_mapping *m)
{
    uint32_t used = 0;
    for (int l = 0; l < m->n_layers; l++)
        used |= parts_of(e, m->set_of[l]);
    return (used & needed(e)) == needed(e);
}

/* The order with this number among all orders of the set's members. */
static void put_in_order(th_set *set, const int32_t *members, int32_t number)
{
    int32_t left[ACCELS_MAX];
    int n = set->n_accels;
    memcpy(left, members, (size_t)n * sizeof *left);
    for (int r = 0; r < set->n_accels; r++, n--) {
        int at = number % n;
        number /= n;
        set->accels[r] = left[at];
        memmove(&left[at], &left[at + 1], (size_t)(n - 1 - at) * sizeof *left);
    }
}

static int give_shares(th_enumeration *e, th_mapping *m, int set, bool by_speed, th_error *err)
{
    if (set < e->n_given)
        return th_set_share(&m->sets[set], e->problem->constraints->partial->sets[set].shares)
                   ? th_error_no_memory(err)
                   : 0;
    if (!by_speed)
        return 0;
    if (th_partitioner_set_shares(e->partitioner, m, set, err))
        return -1;
    return m->sets[set].shares ? 0 : 1;
}

/* Fills m. 0; 1: it is the same as another; -1. */
static int fill(th_enumeration *e, th_mapping *m, th_error *err)
{
    const int32_t *designs = e->digit, *orders = designs + e->n_sets, *layers = orders + e->n_sets,
                  *shares = layers + m->n_layers;
    int status = 0;
    m->generator = TH_GENERATOR_ENUMERATION;
    for (int l = 0; l < m->n_layers; l++) {
        const th_strategy *list = NULL;
        int32_t at = layers[l], n, set = 0;
        while (at >= (n = options_of(e, l, set, &list))) {
            at -= n;
            set++;
        }
        m->set_of[l] = set;
        m->strategy[l] = list[at];
    }
    if (!uses_all(e, m))
        return 1;
    for (int i = 0; !status && i < e->n_sets; i++) {
        m->sets[i].design = e->design[i][designs[i]];
        put_in_order(&m->sets[i], e->member[i], orders[i]);
        status = give_shares(e, m, i, shares[i] > 0, err);
    }
    if (!status && e->overlap)
        th_mapping_drop_idle_sets(m);
    if (!status)
        th_mapping_find_own(m, e->problem->workload, th_search_batch(e->search));
    return status;
}

static int make_mapping(th_enumeration *e, th_mapping **out, th_error *err)
{
    int32_t sizes[SETS_MAX];
    for (int i = 0; i < e->n_sets; i++)
        sizes[i] = e->set[i].n_accels;
    th_mapping *m = th_mapping_new(e->n_sets, sizes, e->problem->workload->n_layers);
    if (!m)
        return th_error_no_memory(err);
    int status = fill(e, m, err);
    if (status == 0)
        *out = m;
    else
        th_mapping_free(m);
    return status < 0 ? -1 : 0;
}

int th_enumeration_next(th_enumeration *e, th_mapping **out, th_error *err)
{
    *out = NULL;
    while (!*out && !e->is_over) {
        int has = e->has_number ? 1 : make_number(e, err);
        if (has < 0)
            return -1;
        if (has > 0 && make_mapping(e, out, err))
            return -1;
        e->has_number = has > 0 && next_number(e);
        if (!e->has_number)
            e->is_over = !next_partition(e);
    }
    return 0;
}
