/* SPDX-License-Identifier: GPL-3.0-or-later */
/* portfolio.c - the default search: runs the others one after the other, each from the best found
 * so far.
 *
 *   init -> iterate: all mappings of a space where they are few (th_search_try_all) -> on a large
 *     system greedy -> the first of dp -> the other baselines but uniform -> a brief round of
 *     polish, annealing and two_level -> uniform, the rest of dp, each to its end -> longer rounds
 *     -> done when several rounds in a row brought nothing, or the budget is spent -> clear
 *
 * So a few dozen evaluations already give a good mapping, and the best is never behind a baseline
 * that had its evaluations. uniform and the rest of dp seldom find anything, and take hundreds of
 * evaluations. In a round each search has a turn of equal length: on a large network polish
 * alone would take the whole budget. They keep their state between turns; annealing and two_level
 * take in the best of the others, polish starts anew when there is a better mapping. Where
 * accelerators are of several kinds, nsga2 has turns too: its population takes nothing in, and
 * finds other sets. All decisions depend on progress alone: a run with a smaller budget is the
 * start of one with a larger. */
#include <config.h>

#include <math.h>

#include "base/alloc.h"
#include "mapper/search/partition/partition.h"
#include "mapper/search/searches.h"

enum {
    FIRST_INITIAL = 24,  /* of dp, before the baselines */
    BRIEF_TURN = 200,    /* evaluations of a turn in the first round */
    TURN = 1500,         /* and in the others */
    FRUITLESS_ROUNDS = 3 /* in a row, then it is done */
};
/* The default budget: so many shards (layers x accelerators x passes) simulated, within limits. On
 * more than FEW accelerators each shard counts for more, as it has more partners to exchange with.
 */
static const double DEFAULT_SHARDS = 1.1e7;
enum {
    LEAST_EVALUATIONS = 1000,
    MOST_EVALUATIONS = 7000,
    SEVERAL_KINDS_EVALUATIONS = 20000, /* instead: there are more sets to choose among */
    FEW = 8
};

typedef enum {
    STAGE_GREEDY, /* on a large system: what dp makes of it then need not be far above */
    STAGE_FIRST,
    STAGE_BASELINES,
    STAGE_BRIEF_ROUND,
    STAGE_UNIFORM,
    STAGE_DP,
    STAGE_ROUNDS
} stage;

/* The last, nsga2, only where there are several kinds of accelerators. */
static const th_search_type *const turns[] = {&th_search_polish, &th_search_annealing,
                                              &th_search_two_level, &th_search_nsga2};
enum { MOST_TURNS = sizeof turns / sizeof *turns, ONE_KIND_TURNS = MOST_TURNS - 1, NO_TURN = -1 };
/* uniform has a stage of its own. */
static const th_search_type *const baselines[] = {
    &th_search_computation_prioritized, &th_search_greedy, /* neither on a large system */
    &th_search_greedy_rotating,         &th_search_single,
    &th_search_data_parallel,           &th_search_model_parallel,
    &th_search_pipeline_parallel,       &th_search_h2h};
enum { N_BASELINES = sizeof baselines / sizeof *baselines };

typedef struct {
    stage stage;
    int baseline;     /* the next one */
    bool is_tried;    /* th_search_try_all */
    th_search *inner; /* of the stages before the rounds */
    th_search *dp;    /* from the first initial mappings to its own stage; then it is `inner` */
    th_search *turn[MOST_TURNS]; /* those that stay */
    int n_turns, now;            /* in a round; whose turn it is */
    int64_t since;               /* evaluations when its turn began */
    double round_best;           /* when the round began */
    double polished;             /* what polish began with last */
    int fruitless;
} portfolio;

static bool has_several_kinds(const th_search *s)
{
    th_evaluator *e = th_pool_evaluator(s->pool);
    return th_has_several_kinds(th_lower_plans(th_evaluator_lower(e)), s->problem.system);
}

/* Evaluations that take about as long on any problem, but at most so many. */
static int64_t reasonable(const th_problem *p, int64_t most)
{
    double shards = (double)p->workload->n_layers * p->system->n_accels * p->stream.n_inputs *
                    p->stream.micro_batches;
    if (p->system->n_accels > FEW)
        shards *= sqrt((double)p->system->n_accels / FEW);
    double n = DEFAULT_SHARDS / (shards > 1 ? shards : 1);
    return n < LEAST_EVALUATIONS ? LEAST_EVALUATIONS : n > (double)most ? most : (int64_t)n;
}

static int init(th_search *s, th_error *err)
{
    portfolio *p = s->state;
    bool several_kinds = has_several_kinds(s);
    (void)err;
    if (s->options.evaluations == 0 && s->options.seconds <= 0)
        s->budget =
            reasonable(&s->problem, several_kinds ? SEVERAL_KINDS_EVALUATIONS : MOST_EVALUATIONS);
    p->n_turns = several_kinds ? MOST_TURNS : ONE_KIND_TURNS;
    p->stage = s->options.initial != TH_INITIAL_HEURISTIC ? STAGE_ROUNDS
               : s->problem.constraints                   ? STAGE_DP /* baselines ignore them */
               : th_search_is_large(s)                    ? STAGE_GREEDY
                                                          : STAGE_FIRST;
    p->now = NO_TURN;
    p->round_best = p->polished = INFINITY;
    return 0;
}

static void clear(th_search *s)
{
    portfolio *p = s->state;
    th_search_free(p->inner);
    th_search_free(p->dp);
    for (int i = 0; i < MOST_TURNS; i++)
        th_search_free(p->turn[i]);
}

/* --- before the rounds --- */

/* NULL: none is left. On a large system greedy has been, and computation_prioritized takes longer
 * than all others: it ignores transfers, so that most of its flows contend. */
static const th_search_type *next_baseline(const th_search *s)
{
    portfolio *p = s->state;
    while (p->baseline < N_BASELINES) {
        const th_search_type *next = baselines[p->baseline++];
        if (!th_search_is_large(s) ||
            (next != &th_search_computation_prioritized && next != &th_search_greedy))
            return next;
    }
    return NULL;
}

/* The inner search of the present stage, where it has another one; else p->inner stays NULL. */
static int begin_inner(th_search *s, th_error *err)
{
    portfolio *p = s->state;
    const th_search_type *type = &th_search_dp;
    int64_t evaluations = reasonable(&s->problem, MOST_EVALUATIONS) / 4;
    switch (p->stage) {
    case STAGE_GREEDY:
        type = &th_search_greedy;
        break;
    case STAGE_FIRST:
        evaluations = FIRST_INITIAL;
        break;
    case STAGE_BASELINES:
        type = next_baseline(s);
        break;
    case STAGE_UNIFORM:
        type = &th_search_uniform;
        break;
    case STAGE_DP:
        evaluations = 0;
        p->inner = p->dp;
        p->dp = NULL;
        break;
    case STAGE_BRIEF_ROUND:
    case STAGE_ROUNDS:
        break;
    }
    if (p->inner) {
        p->inner->budget = INT64_MAX; /* the budget is this search's */
        p->inner->done = false;
    } else if (type) {
        p->inner = th_search_new_inner(s, type, evaluations, s->options.seed, err);
        return p->inner ? 0 : -1;
    }
    return 0;
}

static void end_inner(portfolio *p)
{
    if (p->stage == STAGE_FIRST)
        p->dp = p->inner;
    else
        th_search_free(p->inner);
    p->inner = NULL;
    p->stage += p->stage != STAGE_BASELINES;
}

/* One batch of the stages before the rounds; a search that this problem has no mapping for is
 * passed over. */
static int prepare(th_search *s, th_error *err)
{
    portfolio *p = s->state;
    th_error reason = {"", ""};
    if (!p->inner && begin_inner(s, err))
        return -1;
    if (!p->inner) {
        p->stage++; /* no baseline is left */
        return 0;
    }
    int failed = th_search_iterate(p->inner, &reason);
    if (failed && th_plans_is_fatal(&reason))
        return th_error_set(err, reason.id, "%s", reason.text);
    if (failed || p->inner->done)
        end_inner(p);
    return 0;
}

/* --- rounds --- */

static void begin_turn(th_search *s, int turn)
{
    portfolio *p = s->state;
    p->now = turn;
    p->since = s->n_evaluations;
}

/* The next turn, and with the first a new round. */
static void next_turn(th_search *s)
{
    portfolio *p = s->state;
    bool round_ends = p->now == p->n_turns - 1;
    if (round_ends && p->stage == STAGE_BRIEF_ROUND) {
        p->stage = STAGE_UNIFORM;
        p->now = NO_TURN;
        return;
    }
    if (round_ends) {
        bool fruitless = s->best_fitness.value >= p->round_best;
        p->fruitless = fruitless ? p->fruitless + 1 : 0;
        p->round_best = s->best_fitness.value;
        s->done = p->fruitless == FRUITLESS_ROUNDS || !s->best;
    }
    begin_turn(s, (p->now + 1) % p->n_turns);
}

static bool is_over(const th_search *s)
{
    const portfolio *p = s->state;
    const int turn = p->stage == STAGE_BRIEF_ROUND ? BRIEF_TURN : TURN;
    return p->turn[p->now]->done || s->n_evaluations - p->since >= turn;
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
    if (is_over(s))
        next_turn(s);
    return 0;
}

static int iterate(th_search *s, th_error *err)
{
    portfolio *p = s->state;
    if (th_search_try_all(s, &p->is_tried, err))
        return -1;
    if (s->done || th_search_left(s, 1) == 0)
        return 0;
    if (p->stage != STAGE_BRIEF_ROUND && p->stage != STAGE_ROUNDS)
        return prepare(s, err);
    if (p->now == NO_TURN)
        begin_turn(s, 0);
    return take_turn(s, err);
}

const th_search_type th_search_portfolio = {
    "portfolio",
    "dp, the baselines, and polish, annealing, two_level (several kinds: nsga2 too) by turns",
    false,
    0,
    TH_INITIAL_HEURISTIC,
    sizeof(portfolio),
    init,
    iterate,
    clear,
};
