/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_genes.c - see plan_search.h (th_plan_evolve).
 *   seeds (plans that were found; all degrees, by estimate) -> simulate -> generations of offspring
 *   (tournament, crossover, mutation), the best stay -> all neighbours of the best, until none is
 *   better
 * Genes: the degrees, micro-batch, schedule, ZeRO, recomputation and sequence parallelism of the
 * plan, of each stage its layers, its accelerators and how many layers it computes again, and, on
 * unlike accelerators, shares of the micro-batches with the order of ranks. */
#include <config.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"
#include "base/min_max.h"
#include "base/random.h"
#include "training/search/plan_bound.h"
#include "training/search/plan_search.h"
#include "training/plan_stages.h"

enum { POPULATION = 48, SEEDS = 48, OFFSPRING = 16, STALE_GENERATIONS = 30, TRIES = 20 };

typedef struct individual {
    th_parallel_plan plan;
    double value; /* of a seed, before it is simulated: its estimate */
} individual;

typedef struct genes {
    th_plan_search *search;
    const th_work_context *work;
    const th_plan_space *space;
    th_plan_units units;
    gsl_rng *random;
    th_map *tried;
    int64_t left;                              /* plans that may be simulated */
    individual of[POPULATION], seed[2][SEEDS]; /* the best first; without and with shares */
    int n, n_seeds[2];
    th_parallel_plan batch[OFFSPRING];
    int n_batch;
    th_error *err;
} genes;

/* ---- what may be ---- */

static bool is_allowed(const genes *g, const th_parallel_plan *p)
{
    const int64_t of[TH_N_CHOICES] = {[TH_CHOICE_TENSOR] = p->n.tensor,
                                      [TH_CHOICE_PIPELINE] = p->n.pipeline,
                                      [TH_CHOICE_CONTEXT] = p->n.context,
                                      [TH_CHOICE_DATA] = p->n.data,
                                      [TH_CHOICE_EXPERT] = p->n.expert,
                                      [TH_CHOICE_EXPERT_TENSOR] = p->n.expert_tensor,
                                      [TH_CHOICE_MICRO_BATCH] = p->batch.micro_batch,
                                      [TH_CHOICE_VIRTUAL] = 1,
                                      [TH_CHOICE_ZERO] = p->n.zero,
                                      [TH_CHOICE_ZERO_GROUP] = p->n.zero_group,
                                      [TH_CHOICE_SCHEDULE] = p->schedule - th_pipeline_types,
                                      [TH_CHOICE_RECOMPUTE] = p->recompute,
                                      [TH_CHOICE_SEQUENCE_PARALLEL] = p->sequence_parallel};
    th_error ignored;
    for (int i = 0; i < TH_N_CHOICES; i++)
        if (!th_plan_space_allows(g->space, (th_plan_choice)i, of[i]) &&
            (i != TH_CHOICE_SEQUENCE_PARALLEL || p->n.tensor > 1) &&
            (i != TH_CHOICE_ZERO_GROUP || p->n.zero > 0))
            return false;
    return th_plan_check(p, g->space->t, g->space->n_accels, &ignored) == 0 &&
           th_plan_schedules_are_possible(p);
}

/* ---- estimates ---- */

/* Of a stage: a layer, or what it has besides, s of a micro-batch; messages as fast as the links
 * into an accelerator are. */
static double layer_s(const genes *g, const th_work_context *c, int32_t layer)
{
    double s = 0;
    th_pieces pieces;
    for (int kind = TH_PIPELINE_FORWARD; kind <= TH_PIPELINE_BACKWARD; kind++) {
        th_layer_work(c, layer, (th_pipeline_kind)kind, false, &pieces);
        for (int i = 0; i < pieces.n; i++)
            s += pieces.of[i].bytes > 0 ? (double)pieces.of[i].bytes / g->units.bytes_per_s_into
                                        : pieces.of[i].s;
    }
    return s;
}

/* Of a micro-batch on the ranks of a share, s: all stages, the one that takes longest. */
typedef struct pace {
    double sum, longest;
} pace;

static pace pace_of(const genes *g, const th_parallel_plan *p, int32_t share)
{
    double of_kinds[1 << TH_DEVICE_KINDS_MAX] = {0}; /* a layer */
    pace out = {.sum = 0};
    th_work_context c = *g->work;
    c.p = p;
    for (int32_t i = 0; i < p->n_own; i++) {
        c.device = th_stage_device(&c, i, share);
        double *each = &of_kinds[c.device.kinds];
        if (*each <= 0)
            *each = layer_s(g, &c, g->space->t->layers / 2);
        double s = *each * p->own[i].layers;
        if (i == 0)
            s += layer_s(g, &c, TH_LAYER_EMBEDDING_STEP);
        if (i == p->n_own - 1)
            s += layer_s(g, &c, TH_LAYER_HEAD_STEP);
        out.sum += s;
        out.longest = fmax(out.longest, s);
    }
    return out;
}

/* Of n shares by speed, each as many replicas: what a step takes by the estimate, s. */
static double share_by_speed(const genes *g, th_parallel_plan *p, int32_t n)
{
    const int64_t one = (int64_t)p->batch.micro_batch * (p->n.data / n);
    int64_t left = p->batch.global_batch / one - n;
    double s[TH_SHARES_MAX], longest = 0;
    pace of[TH_SHARES_MAX];
    if (p->n.data % n || p->batch.global_batch % one || left < 0)
        return INFINITY;
    p->n_shares = n;
    for (int32_t k = 0; k < n; k++) {
        of[k] = pace_of(g, p, k);
        p->shares[k] = 1;
        s[k] = of[k].sum;
    }
    for (; left > 0; left--) {
        int32_t next = 0;
        for (int32_t k = 1; k < n; k++)
            next = s[k] + of[k].longest < s[next] + of[next].longest ? k : next;
        s[next] += of[next].longest;
        p->shares[next]++;
    }
    for (int32_t k = 0; k < n; k++)
        longest = fmax(longest, s[k]);
    return longest;
}

static bool has_own_order(const genes *g, const th_parallel_plan *p)
{
    return memcmp(p->order, g->space->base.order, sizeof p->order) != 0;
}

/* Replicas take as many micro-batches, or, where a step is shorter so by the estimate, s, which it
 * returns, shares by their speed; with an order of ranks of their own always, if they can. */
static double spread_shares(const genes *g, th_parallel_plan *p)
{
    p->n_shares = 0;
    const pace all = pace_of(g, p, -1);
    const double equal = all.sum + (th_plan_micro_batches(p) - 1) * all.longest;
    th_parallel_plan best = *p, x = *p;
    double least = has_own_order(g, p) ? INFINITY : equal;
    for (int32_t n = 2; g->work->devices.n > 1 && n <= th_min(p->n.data, TH_SHARES_MAX); n++) {
        const double s = share_by_speed(g, &x, n);
        if (s < least * (1 - 1e-9)) {
            least = s;
            best = x;
        }
    }
    *p = best;
    if (p->n_shares == 0)
        memcpy(p->order, g->space->base.order, sizeof p->order);
    return p->n_shares > 0 ? least : equal;
}

/* Spreads the layers by the speed of the stages. What a step takes then, s. */
static double balance(const genes *g, th_parallel_plan *p)
{
    th_work_context c = *g->work;
    const int32_t n = p->n_own = p->n.pipeline;
    double each[TH_OWN_STAGES_MAX], s[TH_OWN_STAGES_MAX];
    c.p = p;
    for (int32_t i = 0; i < n; i++) {
        c.device = th_stage_device(&c, i, -1);
        each[i] = s[i] = layer_s(g, &c, g->space->t->layers / 2);
        if (i == 0)
            s[i] += layer_s(g, &c, TH_LAYER_EMBEDDING_STEP);
        if (i == n - 1)
            s[i] += layer_s(g, &c, TH_LAYER_HEAD_STEP);
        p->own[i].layers = 1;
        p->own[i].again = 0;
    }
    for (int32_t left = g->space->t->layers - n; left > 0; left--) {
        int32_t least = 0;
        for (int32_t i = 1; i < n; i++)
            least = s[i] + each[i] < s[least] + each[least] ? i : least;
        s[least] += each[least];
        p->own[least].layers++;
    }
    return spread_shares(g, p);
}

/* Replicas behind each other, so that those of the same kind of accelerators do the same; or back
 * again. */
static void turn_order(const genes *g, th_parallel_plan *p)
{
    static const int32_t order[] = {TH_AXIS_TENSOR, TH_AXIS_CONTEXT, TH_AXIS_PIPELINE,
                                    TH_AXIS_DATA};
    if (!g->space->keeps_order)
        memcpy(p->order, has_own_order(g, p) ? g->space->base.order : order, sizeof order);
}

static void keep(individual *of, int *n, int most, const individual *x)
{
    int at = *n < most ? (*n)++ : most;
    for (; at > 0 && of[at - 1].value > x->value; at--)
        if (at < most)
            of[at] = of[at - 1];
    if (at < most)
        of[at] = *x;
}

/* One where replicas may take shares. */
static int32_t fewest_stages(const genes *g)
{
    return g->work->devices.n > 1 ? 1 : 2;
}

/* Stages in the order of their accelerators, turned around, and of replicas that are behind each
 * other. */
static int add_seed(void *own, const th_parallel_plan *group)
{
    genes *g = own;
    individual x = {.plan = *group};
    th_parallel_plan *p = &x.plan;
    const th_pipeline_type *quick = th_pipeline_find("zb_h1"); /* in the memory of 1F1B */
    const int32_t n = p->n.pipeline;
    if (n < fewest_stages(g) || n > TH_OWN_STAGES_MAX || n > g->space->t->layers)
        return 0;
    p->sequence_parallel =
        p->n.tensor > 1 && th_plan_space_allows(g->space, TH_CHOICE_SEQUENCE_PARALLEL, 1);
    p->n.zero = p->n.zero_group > 1 && th_plan_space_allows(g->space, TH_CHOICE_ZERO, 1);
    if (n > 1 && th_plan_space_allows(g->space, TH_CHOICE_SCHEDULE, quick - th_pipeline_types))
        p->schedule = quick;
    for (int way = 0; way < 3; way++) {
        for (int32_t i = 0; i < n; i++)
            p->own[i].block = (int16_t)(way == 1 ? n - 1 - i : i);
        if (way == 2)
            turn_order(g, p);
        x.value = balance(g, p);
        if ((n > 1 || way == 0) && (way < 2 || p->n_shares > 0) && is_allowed(g, p))
            keep(g->seed[p->n_shares > 0], &g->n_seeds[p->n_shares > 0], SEEDS, &x);
    }
    return 0;
}

/* ---- batches ---- */

/* Adds a plan that was not tried. */
static int add(genes *g, const th_parallel_plan *p)
{
    th_strbuf text = TH_STRBUF_INIT;
    int64_t known;
    th_plan_describe(p, &text);
    int status = 0;
    if (!text.text)
        status = th_error_no_memory(g->err);
    else if (is_allowed(g, p) && g->n_batch < g->left && g->n_batch < OFFSPRING &&
             !th_map_get(g->tried, text.text, strlen(text.text), &known)) {
        g->batch[g->n_batch++] = *p;
        if (th_map_put(g->tried, text.text, strlen(text.text), 1))
            status = th_error_no_memory(g->err);
    }
    th_strbuf_clear(&text);
    return status;
}

/* 1: the best one is better than before. */
static int run_batch(genes *g)
{
    double values[OFFSPRING];
    const double before = g->n > 0 ? g->of[0].value : INFINITY;
    const int n_simulated = th_plan_search_try(g->search, g->batch, g->n_batch, values, g->err);
    if (n_simulated < 0)
        return -1;
    for (int i = 0; i < g->n_batch; i++) {
        const individual x = {g->batch[i], values[i]};
        if (isfinite(x.value))
            keep(g->of, &g->n, POPULATION, &x);
    }
    g->left -= n_simulated;
    g->n_batch = 0;
    return g->n > 0 && g->of[0].value < before;
}

/* ---- variation ---- */

static int32_t below(genes *g, int32_t n)
{
    return (int32_t)th_random_below(g->random, (uint64_t)n);
}

static const th_parallel_plan *parent(genes *g)
{
    return &g->of[th_min(below(g, g->n), below(g, g->n))].plan;
}

static void move_layer(th_parallel_plan *p, int32_t from, int32_t to)
{
    p->own[from].layers--;
    p->own[to].layers++;
    p->own[from].again = th_min(p->own[from].again, p->own[from].layers);
}

/* add does not take it. */
static bool is_too_large(const genes *g, const th_parallel_plan *p)
{
    return p->n.pipeline > th_min(TH_OWN_STAGES_MAX, g->space->t->layers) ||
           (int64_t)th_plan_stage_ranks(p) * p->n.pipeline > g->space->n_accels;
}

/* Doubles one factor and halves another. */
static void trade(genes *g, th_parallel_plan *p)
{
    int32_t *const of[] = {&p->n.tensor, &p->n.data, &p->n.pipeline, &p->n.context,
                           &p->batch.micro_batch};
    int32_t *up = of[below(g, 5)], *down = of[below(g, 5)];
    if (up != &p->batch.micro_batch && *down % 2 == 0 && up != down)
        *down /= 2;
    *up *= 2;
    if (up == &p->batch.micro_batch && below(g, 2) == 0 && *up % 4 == 0)
        *up /= 4;
    if (is_too_large(g, p))
        return;
    p->n.zero_group = p->n.data * p->n.context;
    for (int32_t i = 0; i < p->n.pipeline; i++)
        p->own[i].block = (int16_t)i;
    balance(g, p);
}

/* A micro-batch of each replica of one share goes to those of another. */
static bool move_share(th_parallel_plan *p, int32_t from, int32_t to)
{
    if (from == to || p->shares[from] < 2)
        return false;
    p->shares[from]--;
    p->shares[to]++;
    return true;
}

static void mutate(genes *g, th_parallel_plan *p)
{
    static const char *const schedules[] = {"gpipe", "1f1b", "zb_h1", "zb_h2"}; /* of one chunk */
    const int32_t n = p->n_own, a = below(g, n), b = below(g, n);
    th_own_stage *s = &p->own[a];
    switch (below(g, g->work->devices.n > 1 ? 11 : 9)) {
    case 0:
    case 1:
        if (a != b && s->layers > 1)
            move_layer(p, a, b);
        break;
    case 2: {
        const int16_t block = s->block;
        s->block = p->own[b].block;
        p->own[b].block = block;
        break;
    }
    case 3:
        s->again = (int16_t)below(g, s->layers + 1);
        break;
    case 4:
        p->n.zero = p->n.zero_group > 1 ? below(g, 4) : 0;
        break;
    case 5:
        p->recompute = (th_recompute)below(g, TH_RECOMPUTE_FULL + 1);
        break;
    case 6:
        p->schedule = th_pipeline_find(schedules[below(g, 4)]);
        break;
    case 7:
        p->sequence_parallel = p->n.tensor > 1 && !p->sequence_parallel;
        break;
    case 8:
        trade(g, p);
        break;
    case 9:
        if (p->n_shares > 0)
            move_share(p, below(g, p->n_shares), below(g, p->n_shares));
        break;
    default:
        if (is_too_large(g, p))
            break;
        turn_order(g, p);
        spread_shares(g, p);
    }
}

static int breed(genes *g)
{
    for (int i = 0; i < OFFSPRING * TRIES && g->n_batch < OFFSPRING; i++) {
        th_parallel_plan child = *parent(g);
        for (int k = below(g, 3); k >= 0; k--)
            mutate(g, &child);
        if (add(g, &child))
            return -1;
    }
    return run_batch(g);
}

/* ---- the search ---- */

/* Layers as even as they go, in place of by speed. */
static void spread_evenly(const genes *g, th_parallel_plan *p)
{
    for (int32_t i = 0; i < p->n_own; i++)
        p->own[i].layers = (int16_t)((g->space->t->layers + i) / p->n_own);
}

/* The first that fits, with as little as possible computed again: by the plan, or by stages; then
 * with layers spread evenly. */
static int add_fitting(genes *g, const th_parallel_plan *seed)
{
    const int zeros = seed->n.zero_group > 1 ? 4 : 1, agains = TH_RECOMPUTE_FULL + 2;
    for (int i = 0; i < 2 * agains * zeros; i++) {
        th_parallel_plan p = *seed;
        const int again = i / zeros % agains;
        p.n.zero = i % zeros;
        if (i >= agains * zeros)
            spread_evenly(g, &p);
        p.recompute = (th_recompute)(again <= TH_RECOMPUTE_FULL ? again : TH_RECOMPUTE_NONE);
        for (int32_t k = 0; again > TH_RECOMPUTE_FULL && k < p.n_own; k++)
            p.own[k].again = p.own[k].layers;
        if (!is_allowed(g, &p) || !th_plan_search_fits(g->search, &p))
            continue;
        if (g->n_batch == OFFSPRING && run_batch(g) < 0)
            return -1;
        return add(g, &p);
    }
    return 0;
}

/* Plans with equal stages that were found, as stages of their own. */
static int add_found(genes *g)
{
    const th_plan_findings f = th_plan_search_found(g->search);
    th_parallel_plan found[POPULATION];
    int n = 0;
    for (int k = 0; k < f.n && n < POPULATION; k++)
        if (f.of[k].plan.n.chunks == 1 && f.of[k].plan.n.pipeline >= fewest_stages(g) &&
            f.of[k].plan.n.pipeline <= TH_OWN_STAGES_MAX)
            found[n++] = f.of[k].plan;
    for (int k = 0; k < n; k++) {
        th_parallel_plan *p = &found[k], equal = *p;
        for (int32_t i = 0; i < p->n.pipeline; i++)
            p->own[i] = (th_own_stage){.layers = (int16_t)th_plan_layers(&equal, g->space->t, i).n,
                                       .block = (int16_t)i};
        p->n_own = p->n.pipeline;
        if (g->n_batch == OFFSPRING && run_batch(g) < 0)
            return -1;
        if (add(g, p))
            return -1;
    }
    return run_batch(g) < 0 ? -1 : 0;
}

/* Adds a neighbour; runs the batch when it is full. 1: it is better than the best. */
static int visit(genes *g, const th_parallel_plan *p)
{
    if (add(g, p))
        return -1;
    return g->n_batch == OFFSPRING ? run_batch(g) : 0;
}

/* A layer less here and more there, other accelerators, a layer more or less that is computed
 * again, a micro-batch for other replicas. 1: one of them is better. */
static int visit_neighbours(genes *g)
{
    const th_parallel_plan best = g->of[0].plan;
    int better = 0;
    for (int32_t a = 0; a < best.n_own && better == 0; a++)
        for (int32_t b = 0; b < best.n_own && better == 0; b++) {
            th_parallel_plan p = best, q = best;
            if (a != b && p.own[a].layers > 1) {
                move_layer(&p, a, b);
                better = visit(g, &p);
            }
            if (a < b && better == 0) {
                q.own[a].block = best.own[b].block;
                q.own[b].block = best.own[a].block;
                better = visit(g, &q);
            }
        }
    for (int32_t a = 0; a < best.n_own && better == 0; a++)
        for (int32_t by = -1; by <= 1 && better == 0; by += 2) {
            th_parallel_plan p = best;
            p.own[a].again = (int16_t)(p.own[a].again + by);
            better = p.own[a].again >= 0 && p.own[a].again <= p.own[a].layers ? visit(g, &p) : 0;
        }
    for (int32_t a = 0; a < best.n_shares && better == 0; a++)
        for (int32_t b = 0; b < best.n_shares && better == 0; b++) {
            th_parallel_plan p = best;
            better = move_share(&p, a, b) ? visit(g, &p) : 0;
        }
    return better ? better : run_batch(g);
}

static int evolve(genes *g)
{
    if (add_found(g) || th_plan_space_groups(g->space, add_seed, g))
        return -1;
    for (int has_shares = 0; has_shares < 2; has_shares++)
        for (int i = 0; i < g->n_seeds[has_shares]; i++)
            if (add_fitting(g, &g->seed[has_shares][i].plan))
                return -1;
    if (run_batch(g) < 0)
        return -1;
    int better = 1;
    for (int stale = 0; g->n > 0 && g->left > 0 && stale < STALE_GENERATIONS; stale++) {
        if ((better = breed(g)) < 0)
            return -1;
        stale = better ? 0 : stale;
    }
    for (better = 1; g->n > 0 && g->left > 0 && better > 0;)
        better = visit_neighbours(g);
    return better < 0 ? -1 : 0;
}

int th_plan_evolve(th_plan_search *x, const th_work_context *work, const th_plan_space *space,
                   int64_t evaluations, uint64_t seed, th_error *err)
{
    genes *g = th_alloc_zero(1, sizeof *g);
    int status = -1;
    if (!g)
        return th_error_no_memory(err);
    *g = (genes){.search = x, .work = work, .space = space, .left = evaluations, .err = err};
    g->random = th_random_stream(seed, "plans", 0);
    g->tried = th_map_new();
    if (!g->random || !g->tried)
        th_error_no_memory(err);
    else if (th_plan_units_init(&g->units, work->devices.system, work, err) == 0)
        status = evolve(g);
    th_plan_units_clear(&g->units);
    gsl_rng_free(g->random);
    th_map_free(g->tried);
    th_free(g);
    return status;
}
