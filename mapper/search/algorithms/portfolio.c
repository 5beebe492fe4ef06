/* SPDX-License-Identifier: GPL-3.0-or-later */
/* portfolio.c - the default search: runs the others one after the other, each from the best found
 * so far.
 *
 *   init -> iterate: all mappings of a space where they are few (th_search_try_all) -> on a large
 *     system greedy -> the first of dp -> greedy, greedy_rotating, and while nothing fits the other
 *     baselines -> a brief round of turns -> longer rounds -> done when nothing was gained for
 *     long, or the budget is spent -> clear
 *
 * So a few dozen evaluations already give a good mapping. In a round each search has a turn of
 * equal work: on a large network polish alone would take the whole budget. They keep their state
 * between turns; annealing and two_level take in the best of the others, polish starts anew when
 * there is a better mapping. Where accelerators are of several kinds, nsga2 has turns too: its
 * population takes nothing in, and finds other sets. All decisions depend on progress alone: a run
 * with a smaller budget is the start of one with a larger. */
#include <config.h>

#include <math.h>

#include "base/alloc.h"
#include "mapper/search/partition/partition.h"
#include "mapper/search/searches.h"

enum {
    /* the default budget: of simulated work (th_search.work), 10 to 20 CPU seconds, at most
     * 20,000 evaluations */
    DEFAULT_WORK = 45 * 1000 * 1000,
    FRUITLESS_PART = 3,                   /* of that budget without a gain ends the search */
    OPENING_WORK = DEFAULT_WORK / 4,      /* that a search of the opening may take */
    FIRST_INITIAL = 32,                   /* evaluations of dp */
    BRIEF_TURN = DEFAULT_WORK / 45,       /* in the first round */
    ROUND = DEFAULT_WORK / FRUITLESS_PART /* all turns: each search has one before that */
};

/* Before the turns. greedy comes first on a large system, where what dp makes of it then need not
 * be far above. */
static const th_search_type *const opening[] = {
    &th_search_greedy, &th_search_dp, &th_search_greedy, &th_search_greedy_rotating,
    /* while nothing fits */
    &th_search_single, &th_search_data_parallel, &th_search_model_parallel,
    &th_search_pipeline_parallel, &th_search_h2h, &th_search_uniform,
    &th_search_computation_prioritized};
enum { N_OPENING = sizeof opening / sizeof *opening, AFTER_DP = 2, IF_NOTHING_FITS = 4 };

/* The last, nsga2, only where there are several kinds of accelerators. */
static const th_search_type *const turns[] = {&th_search_polish, &th_search_annealing,
                                              &th_search_two_level, &th_search_nsga2};
enum { MOST_TURNS = sizeof turns / sizeof *turns, ONE_KIND_TURNS = MOST_TURNS - 1 };

typedef struct {
    int opened;                      /* of the opening: those that have ended */
    bool is_tried;                   /* th_search_try_all */
    th_search *inner;                /* of the opening */
    th_search *turn[MOST_TURNS];     /* those that stay */
    int n_turns, now;                /* in a round; whose turn it is */
    bool is_brief;                   /* the first round */
    int64_t turn_began, round_began; /* work then */
    double polished;                 /* what polish began with last */
    double least;                    /* the best so far, and the work when it was found */
    int64_t gained;
} portfolio;

static bool has_several_kinds(const th_search *s)
{
    th_evaluator *e = th_pool_evaluator(s->pool);
    return th_has_several_kinds(th_lower_plans(th_evaluator_lower(e)), s->problem.system);
}

static int init(th_search *s, th_error *err)
{
    portfolio *p = s->state;
    (void)err;
    if (s->options.evaluations == 0 && s->options.seconds <= 0)
        s->work_budget = DEFAULT_WORK;
    if (s->options.initial != TH_INITIAL_HEURISTIC)
        p->opened = N_OPENING;
    p->n_turns = has_several_kinds(s) ? MOST_TURNS : ONE_KIND_TURNS;
    p->is_brief = true;
    p->least = p->polished = INFINITY;
    return 0;
}

static void clear(th_search *s)
{
    portfolio *p = s->state;
    th_search_free(p->inner);
    for (int i = 0; i < MOST_TURNS; i++)
        th_search_free(p->turn[i]);
}

/* --- the opening --- */

/* Baselines ignore constraints. On a large system computation_prioritized takes longer than all
 * others: it ignores transfers, so that most of its flows contend. */
static bool is_left_out(const th_search *s, int i)
{
    bool is_large = th_search_is_large(s);
    return (opening[i] == &th_search_greedy && is_large != (i < AFTER_DP)) ||
           (opening[i] == &th_search_computation_prioritized && is_large) ||
           (opening[i]->is_baseline && s->problem.constraints) || (i >= IF_NOTHING_FITS && s->best);
}

/* One batch of the opening; a search that this problem has no mapping for is passed over. */
static int open_with(th_search *s, const th_search_type *type, th_error *err)
{
    portfolio *p = s->state;
    th_error reason = {"", ""};
    if (!p->inner)
        p->inner = th_search_new_inner(s, type, type == &th_search_dp ? FIRST_INITIAL : 0,
                                       s->options.seed, err);
    if (!p->inner)
        return -1;
    p->inner->work_budget = OPENING_WORK;
    int failed = th_search_iterate(p->inner, &reason);
    if (failed && th_plans_is_fatal(&reason))
        return th_error_set(err, reason.id, "%s", reason.text);
    if (failed || p->inner->done) {
        th_search_free(p->inner);
        p->inner = NULL;
        p->opened++;
        p->turn_began = s->work;
    }
    return 0;
}

/* --- turns --- */

/* The next turn, and with the first a new round, unless nobody had anything left to do. */
static void next_turn(th_search *s)
{
    portfolio *p = s->state;
    p->now = (p->now + 1) % p->n_turns;
    p->turn_began = s->work;
    if (p->now > 0)
        return;
    s->done = !s->best || s->work == p->round_began;
    p->round_began = s->work;
    p->is_brief = false;
}

/* Polish goes on from a better mapping that another search has found. */
static void drop_outdated_polish(const th_search *s)
{
    portfolio *p = s->state;
    th_search **turn = &p->turn[p->now];
    if (turns[p->now] != &th_search_polish || !*turn ||
        s->best_fitness.value >= (*turn)->best_fitness.value ||
        s->best_fitness.value >= p->polished)
        return;
    th_search_free(*turn);
    *turn = NULL;
}

static int take_turn(th_search *s, th_error *err)
{
    portfolio *p = s->state;
    th_search **turn = &p->turn[p->now];
    drop_outdated_polish(s);
    if (*turn && (*turn)->done) {
        next_turn(s);
        return 0;
    }
    if (!*turn) {
        *turn = th_search_new_inner(s, turns[p->now], 0, s->options.seed, err);
        if (!*turn)
            return -1;
        if (turns[p->now] == &th_search_polish)
            p->polished = s->best_fitness.value;
    }
    (*turn)->budget = INT64_MAX; /* the budget is this search's */
    if (th_search_iterate(*turn, err))
        return -1;
    if ((*turn)->done || s->work - p->turn_began >= (p->is_brief ? BRIEF_TURN : ROUND / p->n_turns))
        next_turn(s);
    return 0;
}

/* Has nothing been gained for long? With a budget of evaluations or time: for a whole default
 * one. */
static bool is_fruitless(th_search *s)
{
    portfolio *p = s->state;
    if (s->best_fitness.value < p->least) {
        p->least = s->best_fitness.value;
        p->gained = s->work;
    }
    return s->work - p->gained >=
           (s->work_budget < INT64_MAX ? s->work_budget / FRUITLESS_PART : DEFAULT_WORK);
}

static int iterate(th_search *s, th_error *err)
{
    portfolio *p = s->state;
    if (th_search_try_all(s, &p->is_tried, err))
        return -1;
    s->done |= is_fruitless(s);
    while (p->opened < N_OPENING && is_left_out(s, p->opened))
        p->opened++;
    if (s->done || th_search_left(s, 1) == 0)
        return 0;
    return p->opened < N_OPENING ? open_with(s, opening[p->opened], err) : take_turn(s, err);
}

const th_search_type th_search_portfolio = {
    "portfolio",
    "dp, greedy, and by turns polish, annealing, two_level (several kinds: nsga2 too)",
    false,
    0,
    TH_INITIAL_HEURISTIC,
    sizeof(portfolio),
    init,
    iterate,
    clear,
};
