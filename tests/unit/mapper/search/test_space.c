/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_space.c - what is proven of a space: against brute force that lists mappings by itself,
 * random edits, every baseline and the searches, on random small cases with random options.
 * THARSIS_CASE=N runs one case alone. */
#include <config.h>
#include "tests/unit/space_case.h"

enum {
    CASES = TAP_REPEATS(200),
    BY_FORCE = 300, /* mappings of a case that are all tried */
    BY_FORCE_OVERLAPPING = 2500,
    EDITS = 40
};

/* --- one mapping ------------------------------------------------------------------------------ */

static double value_of(space_case *c, const th_mapping *m)
{
    th_fitness f;
    th_error e = {"", ""};
    if (th_evaluator_run(c->evaluator, m, INFINITY, &f, &e))
        bail_out(&e);
    return f.fit == TH_FIT ? f.value : INFINITY;
}

static bool may_run(const space_case *c, int layer, int32_t accel)
{
    const th_constraints *k = c->constraints;
    size_t at = (size_t)layer * (size_t)c->problem.system->n_accels + (size_t)accel;
    return !k || (!k->is_forbidden[at] && (!k->is_restricted[layer] || k->is_allowed[at]));
}

static bool is_given(const space_case *c, const th_set *set)
{
    bool is = c->n_given > 0 && set->n_accels == c->constraints->partial->sets[0].n_accels;
    for (int r = 0; is && r < set->n_accels; r++)
        is = set->accels[r] == c->constraints->partial->sets[0].accels[r];
    return is;
}

/* Is it in the space, by what its page says? */
static bool is_inside(space_case *c, const th_mapping *m)
{
    const th_system *s = c->problem.system;
    bool is_full = c->options.space == TH_SPACE_FULL,
         is = c->overlap || !th_mapping_sets_overlap(m);
    for (int i = 0; i < m->n_sets; i++) {
        const th_set *set = &m->sets[i];
        th_mapping *by_speed = th_mapping_copy(m);
        th_partitioner_set_shares(&c->partitioner, by_speed, i, NULL);
        if (!is_given(c, set) && set->shares)
            is &= !is_full && th_set_equal(set, &by_speed->sets[i]);
        th_mapping_free(by_speed);
        for (int r = 1; r < set->n_accels; r++) {
            is &= is_full || is_given(c, set) || set->accels[r] > set->accels[r - 1];
            is &= is_given(c, set) || !c->options.sets_inside_groups ||
                  s->nodes[s->accel_node[set->accels[r]]].group ==
                      s->nodes[s->accel_node[set->accels[0]]].group;
        }
    }
    for (int l = 0; l < m->n_layers; l++) {
        const th_strategy *given = th_constraints_fixed_strategy(c->constraints, l);
        is &= (m->strategy[l].chunks <=
                   (is_full ? c->options.chunks > 1 ? c->options.chunks : 0 : 0) &&
               (is_full || m->strategy[l].copies == 0)) ||
              (given && th_strategy_equal(given, &m->strategy[l]));
    }
    return is && th_constraints_check(c->constraints, m, s, c->problem.workload, NULL) == 0;
}

/* --- brute force ------------------------------------------------------------------------------ */

/* Each its own design is the same as a design that all have first. */
static void count_different(space_case *c, const th_mapping *m)
{
    auto_mapping *same = th_mapping_copy(m);
    int64_t seen;
    for (int i = 0; i < same->n_sets; i++) {
        th_set *set = &same->sets[i];
        const int32_t first = th_set_design(set, 0, c->problem.system);
        bool all = set->design == TH_DESIGN_OWN;
        for (int r = 1; r < set->n_accels; r++)
            all &= th_set_design(set, r, c->problem.system) == first;
        set->design = all ? first : set->design;
    }
    auto_strbuf text = TH_STRBUF_INIT;
    th_mapping_write(same, c->problem.system, c->problem.workload, &text);
    if (!th_map_get(c->different, text.text, text.length, &seen)) {
        th_map_put(c->different, text.text, text.length, 1);
        c->n_different++;
    }
}

/* Without the sets that have no members; evaluates it. */
static void try_mapping(space_case *c)
{
    int32_t sizes[2 * ACCELS], to[2 * ACCELS];
    int n = 0;
    for (int i = 0; i < c->m->n_sets; i++)
        if (c->m->sets[i].n_accels > 0) {
            sizes[n] = c->m->sets[i].n_accels;
            to[i] = n++;
        }
    auto_mapping *m = th_mapping_new(n, sizes, c->m->n_layers);
    for (int i = 0; i < c->m->n_sets; i++) {
        const th_set *from = &c->m->sets[i];
        if (from->n_accels == 0)
            continue;
        th_set *set = &m->sets[to[i]];
        set->design = from->design;
        memcpy(set->accels, from->accels, (size_t)from->n_accels * sizeof *set->accels);
        th_set_share(set, from->shares);
    }
    for (int l = 0; l < m->n_layers; l++) {
        m->set_of[l] = to[c->m->set_of[l]];
        m->strategy[l] = c->m->strategy[l];
    }
    for (int by_speed = 0; by_speed < 1 << n && c->n <= c->most; by_speed++) {
        auto_mapping *shared = th_mapping_copy(m);
        for (int i = 0; i < n; i++)
            if (by_speed >> i & 1 && !is_given(c, &m->sets[i]))
                th_partitioner_set_shares(&c->partitioner, shared, i, NULL);
        c->n++;
        count_different(c, shared);
        double value = value_of(c, shared);
        c->best = value < c->best ? value : c->best;
    }
}

static void try_layer(space_case *c, int layer);

static void try_strategies(space_case *c, int layer, int set)
{
    const th_strategy *given = th_constraints_fixed_strategy(c->constraints, layer);
    c->m->set_of[layer] = set;
    int n = c->m->sets[set].n_accels;
    for (int i = 0; i < (given ? 1 : c->n_strategies[layer][n]); i++) {
        c->m->strategy[layer] = given ? *given : c->strategy[layer][n][i];
        try_layer(c, layer + 1);
    }
}

static bool can_take(const space_case *c, const th_set *set, int32_t design)
{
    bool can = true;
    for (int r = 0; r < set->n_accels && design != TH_DESIGN_OWN; r++) {
        const th_accel *a =
            &c->problem.system->nodes[c->problem.system->accel_node[set->accels[r]]].a;
        bool has = false;
        for (int d = 0; d < a->n_designs; d++)
            has |= a->designs[d] == design;
        can &= has;
    }
    return can;
}

/* Is there no set with the same list of members, and do all agree on designs? */
static bool is_new(const space_case *c, int at)
{
    const th_set *set = &c->m->sets[at];
    bool is = true;
    for (int i = 0; i < c->m->n_sets; i++) {
        const th_set *other = &c->m->sets[i];
        is &= i == at || other->n_accels != set->n_accels ||
              memcmp(other->accels, set->accels, (size_t)set->n_accels * sizeof *set->accels) != 0;
        for (int r = 0; i != at && r < other->n_accels; r++)
            for (int q = 0; q < set->n_accels; q++)
                is &= other->accels[r] != set->accels[q] ||
                      th_set_design(other, r, c->problem.system) ==
                          th_set_design(set, q, c->problem.system);
    }
    return is;
}

/* A new set for the layer, of these members in every order that the space allows. */
static void try_new_set(space_case *c, int layer, uint32_t members)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int32_t list[ACCELS], n = 0;
    int at = 0;
    while (c->m->sets[at].n_accels > 0)
        at++;
    th_set *set = &c->m->sets[at];
    for (int32_t a = 0; members >> a; a++)
        if (members >> a & 1u)
            list[n++] = a;
    for (int o = 0; o < (c->options.space == TH_SPACE_FULL ? 6 : 1); o++) {
        int used = 0;
        for (int i = 0; i < ACCELS; i++)
            if (orders[o][i] < n)
                set->accels[used++] = list[orders[o][i]];
        set->n_accels = n;
        for (set->design = TH_DESIGN_OWN; set->design < c->problem.system->n_designs; set->design++)
            if (can_take(c, set, set->design) && is_new(c, at))
                try_strategies(c, layer, at);
    }
    set->n_accels = 0;
}

static bool may_be_set(const space_case *c, int layer, uint32_t members, uint32_t taken)
{
    const th_system *s = c->problem.system;
    int group = -1;
    bool may = c->overlap || (members & taken) == 0;
    for (int32_t a = 0; a < s->n_accels; a++) {
        if (!(members >> a & 1u))
            continue;
        int own = s->nodes[s->accel_node[a]].group;
        may &=
            may_run(c, layer, a) && (group < 0 || own == group || !c->options.sets_inside_groups);
        group = own;
    }
    return may;
}

static void try_layer(space_case *c, int layer)
{
    uint32_t taken = 0;
    bool is_fixed =
        c->n_given > 0 && layer < c->m->n_layers && c->constraints->partial->set_of[layer] == 0;
    if (c->n > c->most)
        return;
    if (layer == c->m->n_layers) {
        try_mapping(c);
        return;
    }
    for (int i = 0; i < c->m->n_sets; i++) {
        bool may = c->m->sets[i].n_accels > 0 && (!is_fixed || i == 0);
        for (int r = 0; r < c->m->sets[i].n_accels; r++) {
            taken |= 1u << c->m->sets[i].accels[r];
            may &= may_run(c, layer, c->m->sets[i].accels[r]);
        }
        if (may)
            try_strategies(c, layer, i);
    }
    for (uint32_t members = 1; !is_fixed && members < 1u << c->problem.system->n_accels; members++)
        if (may_be_set(c, layer, members, taken))
            try_new_set(c, layer, members);
}

/* Is the space small enough? Then *best is that of all. */
static bool try_all(space_case *c, int64_t most)
{
    int32_t sizes[2 * ACCELS] = {ACCELS, ACCELS, ACCELS, ACCELS, ACCELS, ACCELS};
    c->m = th_mapping_new(2 * ACCELS, sizes, c->problem.workload->n_layers);
    for (int i = 0; i < c->m->n_sets; i++)
        c->m->sets[i].n_accels = 0;
    c->n = 0;
    c->most = most;
    c->different = th_map_new();
    if (c->n_given > 0) {
        const th_set *given = &c->constraints->partial->sets[0];
        th_set *set = &c->m->sets[0];
        set->n_accels = given->n_accels;
        memcpy(set->accels, given->accels, (size_t)given->n_accels * sizeof *set->accels);
        th_set_share(set, given->shares);
        for (set->design = TH_DESIGN_OWN; set->design < c->problem.system->n_designs; set->design++)
            if (can_take(c, set, set->design))
                try_layer(c, 0);
    } else
        try_layer(c, 0);
    th_mapping_free(c->m);
    th_map_free(c->different);
    return c->n <= c->most;
}

/* --- searches and edits ----------------------------------------------------------------------- */

/* NULL: it has no mapping, or refuses. */
static th_search *searched(const space_case *c, const th_search_type *type, int64_t evaluations)
{
    th_search_options o = c->options;
    th_error e = {"", ""};
    o.evaluations = type->is_baseline ? 0 : evaluations;
    th_search *s = th_search_new(type, &c->problem, &o, &e);
    while (s && !s->done && th_search_iterate(s, &e) == 0)
        ;
    if (s && s->done && s->best)
        return s;
    th_search_free(s);
    return NULL;
}

/* One to four random changes. */
static void edit(space_case *c, th_mapping *m)
{
    gsl_rng *r = c->random;
    for (int64_t k = pick(r, 1, 4); k > 0; k--) {
        int l = (int)pick(r, 0, m->n_layers - 1), set = (int)pick(r, 0, m->n_sets - 1);
        if (pick(r, 0, 3) == 0)
            m->sets[set].design = (int32_t)pick(r, -1, c->problem.system->n_designs - 1);
        else if (pick(r, 0, 3) == 0 && m->sets[set].n_accels > 1) {
            int32_t first = m->sets[set].accels[0];
            m->sets[set].accels[0] = m->sets[set].accels[1];
            m->sets[set].accels[1] = first;
        } else if (pick(r, 0, 3) == 0)
            th_set_share(&m->sets[set], NULL);
        else {
            m->set_of[l] = set;
            m->strategy[l] = any_strategy(c, l, m->sets[set].n_accels);
        }
    }
}

/* A mapping that is drawn: accelerators to sets, layers to them. */
static th_mapping *draw_mapping(space_case *c)
{
    int32_t set_of[ACCELS], sizes[ACCELS] = {0}, at[ACCELS] = {0}, number[ACCELS];
    int n = 0, accels = c->problem.system->n_accels;
    for (int a = 0; a < accels; a++)
        sizes[set_of[a] = (int32_t)pick(c->random, 0, accels - 1)]++;
    for (int i = 0; i < accels; i++)
        if (sizes[i] > 0) {
            number[i] = n;
            sizes[n++] = sizes[i];
        }
    th_mapping *m = th_mapping_new(n, sizes, c->problem.workload->n_layers);
    for (int32_t a = 0; a < accels; a++) {
        int i = number[set_of[a]];
        m->sets[i].accels[at[i]++] = a;
    }
    for (int i = 0; i < n; i++)
        m->sets[i].design = (int32_t)pick(c->random, -1, c->problem.system->n_designs - 1);
    for (int l = 0; l < m->n_layers; l++) {
        m->set_of[l] = (int32_t)pick(c->random, 0, n - 1);
        m->strategy[l] = any_strategy(c, l, m->sets[m->set_of[l]].n_accels);
    }
    for (int l = 0; c->overlap && l < m->n_layers; l++) { /* on a set of its own */
        const int32_t from = (int32_t)pick(c->random, 0, accels - 1);
        int32_t list[ACCELS];
        for (int32_t i = 0; i < accels; i++)
            list[i] = (from + i) % accels;
        m->set_of[l] =
            th_mapping_add_set(m, list, (int32_t)pick(c->random, 1, accels), m->sets[0].design);
        m->strategy[l] = any_strategy(c, l, m->sets[m->set_of[l]].n_accels);
    }
    if (c->overlap)
        th_mapping_drop_idle_sets(m);
    for (int i = 0; i < m->n_sets; i++)
        if (pick(c->random, 0, 1))
            th_partitioner_set_shares(&c->partitioner, m, i, NULL);
    return m;
}

static int failures;

static void expect(int number, bool holds, const char *what, double got, double proven)
{
    if (!holds) {
        printf("# case %d: %s: %.0f, proven %.0f\n", number, what, got, proven);
        failures++;
    }
}

static int64_t n_forced, n_overlapping, n_by_force, n_edits, n_searches;

static void try_edits(space_case *c, const th_search *x, int number)
{
    for (int i = 0; i < EDITS; i++) {
        auto_mapping *m = i % 2 ? draw_mapping(c) : th_mapping_copy(x->best);
        if (i % 2 == 0)
            edit(c, m);
        if (th_mapping_check(m, c->problem.system, c->problem.workload, NULL) == 0 &&
            is_inside(c, m)) {
            double value = value_of(c, m);
            expect(number, value >= x->best_fitness.value, "an edit", value, x->best_fitness.value);
            n_edits++;
        }
    }
}

static void try_searches(space_case *c, const th_search *x, int number)
{
    for (int i = 0; th_search_types[i]; i++) {
        const th_search_type *type = th_search_types[i];
        bool enumerates = type == &th_search_portfolio || type == &th_search_two_level;
        if (type == x->type || (!type->is_baseline && !enumerates && (number + i) % 4))
            continue;
        th_search *s = searched(c, type, EVALUATIONS);
        if (s) {
            expect(number, s->best_fitness.value >= x->best_fitness.value, type->name,
                   s->best_fitness.value, x->best_fitness.value);
            expect(number, is_inside(c, s->best), "not in its space", s->best_fitness.value, 0);
            n_searches++;
        }
        th_search_free(s);
        if (!enumerates || x->n_evaluations > BY_FORCE / 2)
            continue;
        s = searched(c, type, 8 * x->n_evaluations); /* shares by speed may be equal ones */
        expect(number, s && s->best_fitness.value == x->best_fitness.value && s->is_proven,
               "with as many evaluations", s ? s->best_fitness.value : 0, x->best_fitness.value);
        th_search_free(s);
    }
}

static void run_case(int number)
{
    space_case c;
    if (!begin_case(&c, number))
        return;
    th_search *x = searched(&c, &th_search_exhaustive, 0);
    bool is_small = try_all(&c, c.overlap ? BY_FORCE_OVERLAPPING : BY_FORCE);
    if (x) {
        expect(number, x->is_proven, "not proven", x->best_fitness.value, 0);
        expect(number, is_inside(&c, x->best), "outside", x->best_fitness.value, 0);
        try_edits(&c, x, number);
        try_searches(&c, x, number);
    }
    if (is_small) {
        double proven = x ? x->best_fitness.value : INFINITY;
        expect(number, c.best == proven, "by force", c.best, proven);
        if (x)
            expect(number, c.n_different == x->counts.nodes, "mappings of the space",
                   (double)c.n_different, (double)x->counts.nodes);
        n_forced++;
        n_overlapping += c.overlap;
        n_by_force += c.n;
    }
    th_search_free(x);
    end_case(&c);
}

TEST(nothing_in_a_space_beats_what_is_proven_of_it)
{
    const char *one = getenv("THARSIS_CASE");
    for (int i = one ? atoi(one) : 0; i < (one ? atoi(one) + 1 : CASES); i++)
        run_case(i);
    printf(
        "# %lld cases (%lld with sets that overlap) and %lld mappings by force, %lld edits, %lld "
        "searches\n",
        (long long)n_forced, (long long)n_overlapping, (long long)n_by_force, (long long)n_edits,
        (long long)n_searches);
    CU_ASSERT_EQUAL(failures, 0);
    CU_ASSERT_TRUE(one || n_forced > CASES / 2);
    CU_ASSERT_TRUE(one || n_overlapping >= CASES / 20);
    CU_ASSERT_TRUE(one || n_edits > 10 * CASES);
}

TAP_MAIN("space")
