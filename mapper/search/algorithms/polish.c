/* SPDX-License-Identifier: GPL-3.0-or-later */
/* polish.c - local search from the best known mapping: tries small changes as long as any of them
 * is an improvement.
 *
 *   init -> iterate: the initial mappings where there is no start -> a batch of moves of one kind
 *     at a time -> done when no kind has brought an improvement: all that are listed once, and
 *     WIDE_TRIES of each that is drawn -> clear
 *
 * Moves come in kinds (polish_moves.h). The next batch is of the kind that has lately gained most
 * per evaluation, counting a small gain beforehand: so each kind has its turn, and what brings
 * nothing on this network costs little. The best improvement of a batch is kept. */
#include <config.h>

#include <math.h>

#include "base/alloc.h"
#include "mapper/search/algorithms/polish_moves.h"
#include "mapper/search/searches.h"

enum {
    BATCH = 16,
    INITIAL_BATCH = 32,
    WIDE_TRIES = 48 /* of a kind that is drawn, without an improvement */
};
/* What a kind is supposed to have gained before it was tried, of the value. */
static const double BEFOREHAND = 1e-4;
static const double MEMORY = 0.9; /* of gains and evaluations, per batch of the kind */

typedef struct {
    th_moves moves;
    size_t next, barren; /* since the last improvement */
    double gain, cost;
} kind;

typedef struct {
    th_variation variation;
    th_mapping *now;
    double value;
    kind kinds[TH_N_MOVES];
} polish;

static int init(th_search *s, th_error *err)
{
    polish *p = s->state;
    p->value = INFINITY;
    return th_variation_init(&p->variation, s, "polish", err);
}

static void clear(th_search *s)
{
    polish *p = s->state;
    th_mapping_free(p->now);
    for (int k = 0; k < TH_N_MOVES; k++)
        th_free(p->kinds[k].moves.at);
    th_variation_clear(&p->variation);
}

/* --- kinds of moves --- */

static bool is_drawn(int k)
{
    return k >= TH_MOVE_WIDE;
}

/* 0 or -1. */
static int list_anew(polish *p, int k, th_error *err)
{
    p->kinds[k].next = 0;
    return is_drawn(k) ? 0 : th_moves_list(&p->variation, p->now, k, &p->kinds[k].moves, err);
}

/* After a change of the partitioning all lists are others. */
static int list_all(polish *p, th_error *err)
{
    int failed = 0;
    for (int k = 0; !failed && k < TH_N_MOVES; k++)
        failed = list_anew(p, k, err);
    return failed;
}

static bool is_left(const polish *p, int k)
{
    const kind *x = &p->kinds[k];
    const bool may_draw = p->variation.search->options.space == TH_SPACE_FULL;
    return x->barren < (!is_drawn(k) ? x->moves.n : may_draw ? WIDE_TRIES : 0);
}

static double promise(const polish *p, int k)
{
    return (p->kinds[k].gain + BEFOREHAND) / (p->kinds[k].cost + BATCH);
}

/* -1: none is left. */
static int most_promising(const polish *p)
{
    int best = -1;
    for (int k = 0; k < TH_N_MOVES; k++)
        if (is_left(p, k) && (best < 0 || promise(p, k) > promise(p, best)))
            best = k;
    return best;
}

/* --- steps --- */

static int start_at(polish *p, const th_search *from, th_error *err)
{
    th_mapping *copy = th_mapping_copy(from->best);
    if (!copy)
        return th_error_no_memory(err);
    th_mapping_free(p->now);
    p->now = copy;
    p->value = from->best_fitness.value;
    return list_all(p, err);
}

/* Starts at what it has evaluated already, the parent's best, options.start or an initial one. */
static int find_start(th_search *s, th_error *err)
{
    polish *p = s->state;
    th_mapping *batch[INITIAL_BATCH] = {NULL};
    th_fitness fitness[INITIAL_BATCH];
    const th_search *from = s->parent && !s->best ? s->parent : s;
    if (from->best && (s->parent || s->options.start))
        return start_at(p, from, err);
    int n = th_variation_initial(&p->variation, batch, th_search_left(s, INITIAL_BATCH), err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, s->best_fitness.value, fitness, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    if (failed || th_variation_has_initial(&p->variation))
        return failed;
    s->done = !s->best; /* nothing fits */
    return s->best ? start_at(p, s, err) : 0;
}

/* The next moves of a kind that is listed. Their number, or -1. */
static int next_of_list(polish *p, int k, int wanted, th_mapping **batch, th_error *err)
{
    kind *x = &p->kinds[k];
    int n = 0, failed = 0;
    while (!failed && n < wanted && is_left(p, k)) {
        if (x->next == x->moves.n)
            failed = list_anew(p, k, err);
        x->barren++;
        if (failed || x->next == x->moves.n)
            continue;
        failed = th_move_make(&p->variation, p->now, &x->moves.at[x->next++], &batch[n], err);
        n += !failed && batch[n];
    }
    while (failed && n > 0)
        th_mapping_free(batch[--n]);
    return failed ? -1 : n;
}

/* What the members of an offspring batch are made of. */
typedef struct {
    const th_mapping *now;
    th_wide kind;
} drawing;

static int draw_one(th_variation *v, void *state, int i, th_mapping **out, th_error *err)
{
    const drawing *d = state;
    (void)i;
    int failed = th_variation_wide(v, d->now, d->kind, out, err);
    if (*out)
        (*out)->generator = TH_GENERATOR_LOCAL_MOVE;
    return failed;
}

/* Moves of a kind that is drawn. Their number, or -1. */
static int draw(polish *p, int k, th_mapping **batch, th_error *err)
{
    drawing d = {p->now, (th_wide)(k - TH_MOVE_WIDE)};
    p->kinds[k].barren += BATCH;
    if (th_variation_offspring(&p->variation, &(th_offspring){draw_one, &d, TH_VARIATION_TRIES},
                               BATCH, batch, err))
        return -1;
    return th_variation_cut_to_budget(&p->variation, batch, th_mappings_compact(batch, BATCH));
}

/* Takes the best of the batch over if it is better, and notes the gain of its kind. */
static int accept_best(polish *p, int k, th_mapping **batch, const th_fitness *fitness, int n,
                       th_error *err)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (fitness[i].fit == TH_FIT &&
            fitness[i].value < (best < 0 ? p->value : fitness[best].value))
            best = i;
    kind *x = &p->kinds[k];
    x->cost = MEMORY * x->cost + n;
    x->gain *= MEMORY;
    if (best < 0)
        return 0;
    th_mapping *old = p->now;
    p->now = batch[best];
    batch[best] = old;
    x->gain += (p->value - fitness[best].value) / p->value;
    p->value = fitness[best].value;
    for (int i = 0; i < TH_N_MOVES; i++)
        p->kinds[i].barren = 0;
    return k <= TH_MOVE_SHARE || k >= TH_MOVE_WIDE + TH_WIDE_PLACES ? list_all(p, err) : 0;
}

static int iterate(th_search *s, th_error *err)
{
    polish *p = s->state;
    th_mapping *batch[BATCH] = {NULL};
    th_fitness fitness[BATCH];
    if (!p->now)
        return find_start(s, err);
    const int k = most_promising(p);
    s->done = k < 0;
    if (s->done)
        return 0;
    int n = is_drawn(k) ? draw(p, k, batch, err)
                        : next_of_list(p, k, th_search_left(s, BATCH), batch, err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, p->value, fitness, err);
    if (!failed)
        failed = accept_best(p, k, batch, fitness, n, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    return failed;
}

const th_search_type th_search_polish = {
    "polish",
    "local search: small changes, of the kinds that have lately brought most",
    false,
    0,
    TH_INITIAL_HEURISTIC,
    sizeof(polish),
    init,
    iterate,
    clear,
};
