/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plan_search.c - what a search proves is so, of all plans, which are simulated one by one:
 * the best one, also on unlike accelerators, those behind it, and those that no other beats in step
 * and cost; it does not depend on threads; what is known is not simulated again. */
#include <config.h>
#include "base/alloc.h"
#include "base/random.h"
#include "tests/unit/tap.h"
#include "tests/unit/training/plan_help.h"
#include "training/plan_memory.h"
#include "training/search/plan_bound.h"
#include "training/search/plan_search.h"
#include "training/plan_stages.h"
#include "training/plan_step.h"

typedef struct problem {
    th_system *system;
    th_transformer model;
    th_work_context work;
    th_plan_space space;
    th_plan_search_options options;
} problem;

/* By hand, PLAN_SEARCH_ALL=1: twenty systems, and spaces that take minutes. */
static bool is_thorough(void)
{
    return getenv("PLAN_SEARCH_ALL") != NULL;
}

static const int64_t few_batches[] = {2, 1, 4}, few_contexts[] = {1, 2};

static void random_problem(gsl_rng *r, problem *x)
{
    th_error err;
    *x = (problem){.system = random_system(r, (int)pick(r, 1, 12)), .model = random_model(r)};
    x->model.layers = 4;
    x->space = (th_plan_space){.t = &x->model, .n_accels = x->system->n_accels};
    x->space.base =
        (th_parallel_plan){.batch = {.sequence = 1024, .global_batch = is_thorough() ? 16 : 8},
                           .order = {0, 1, 2, 3},
                           .has_fused_kernels = true,
                           .overlaps_data = pick(r, 0, 1),
                           .overlaps_tensor = pick(r, 0, 1),
                           .overlaps_pipeline = pick(r, 0, 1),
                           .gradient_bytes = 4,
                           .expert_skew = 1};
    x->space.only[TH_CHOICE_MICRO_BATCH].of = few_batches;
    x->space.only[TH_CHOICE_MICRO_BATCH].n = is_thorough() ? 3 : 1;
    x->space.only[TH_CHOICE_CONTEXT].of = few_contexts;
    x->space.only[TH_CHOICE_CONTEXT].n = is_thorough() ? 2 : 1;
    x->work = (th_work_context){.t = &x->model, .numbers = th_training_numbers_shipped()};
    CU_ASSERT_EQUAL_FATAL(th_training_devices_of(x->system, &x->work.devices, &err), 0);
    x->work.device = x->work.devices.of[0];
    x->options = (th_plan_search_options){
        .n_objectives = 1, .threads = 1, .top = 1, .fill = TH_PLAN_FILL_MAX};
}

static void become_unlike(problem *x)
{
    th_error err;
    make_unlike(x->system);
    x->space.base.overlaps_data = false;
    CU_ASSERT_EQUAL_FATAL(th_training_devices_of(x->system, &x->work.devices, &err), 0);
}

/* ---- all plans ---- */

typedef struct simulated {
    th_time step;
    int32_t ranks;
    bool is_needless; /* it shares gradients, or computes again, and fits without */
} simulated;

typedef struct exhaustive {
    const problem *of;
    const th_plan_units
        *units; /* NULL: all are simulated, else those that may be better than best */
    th_collective_memo *memo;
    simulated *all;
    size_t capacity;
    th_time best;
    th_parallel_plan best_plan;
    int64_t n, n_all; /* simulated, looked at */
} exhaustive;

static bool fits_with(const th_work_context *work, const th_pipeline_schedule *s, int zero,
                      th_recompute recompute)
{
    th_error err;
    th_parallel_plan p = *work->p;
    th_work_context c = *work;
    p.n.zero = zero;
    p.recompute = recompute;
    c.p = &p;
    return th_plan_memory_check(&c, s, &err) >= 0;
}

static bool is_needless(const th_work_context *c, const th_pipeline_schedule *s)
{
    bool is = c->p->n.zero == 2 && fits_with(c, s, 1, c->p->recompute);
    for (int i = TH_RECOMPUTE_NONE; i < (int)c->p->recompute; i++)
        is |= fits_with(c, s, c->p->n.zero, (th_recompute)i);
    return is;
}

/* By the bounds; test_plan_bound has that none is above the step. */
static bool is_worse(const exhaustive *x, const th_work_context *c, const th_pipeline_schedule *s)
{
    th_error err;
    th_work_context fast = *c;
    fast.device = th_training_fastest(c);
    return x->units && x->best > 0 && th_plan_bound_schedule(x->units, &fast, s, &err) > x->best;
}

static int simulate(void *own, const th_parallel_plan *p)
{
    exhaustive *x = own;
    th_error err;
    th_work_context c = x->of->work;
    th_plan_schedules schedules;
    c.p = p;
    c.memo = x->memo;
    CU_ASSERT_EQUAL_FATAL(th_plan_schedules_make(&schedules, p, &err), 0);
    x->n_all++;
    if (th_plan_memory_check(&c, schedules.of, &err) >= 0 && !is_worse(x, &c, schedules.of)) {
        const th_time step = th_plan_step_time(x->of->system, &c, schedules.of, &err);
        CU_ASSERT_TRUE_FATAL(step > 0);
        if (x->best == 0 || step < x->best) {
            x->best = step;
            x->best_plan = *p;
        }
        CU_ASSERT_EQUAL_FATAL(th_grow(&x->all, &x->capacity, (size_t)x->n + 1, sizeof *x->all), 0);
        x->all[x->n++] = (simulated){step, th_plan_stage_ranks(p) * p->n.pipeline,
                                     is_needless(&c, schedules.of)};
    }
    th_plan_schedules_clear(&schedules);
    return 0;
}

static int all_members(void *own, const th_parallel_plan *group)
{
    exhaustive *x = own;
    return th_plan_space_members(&x->of->space, group, simulate, x);
}

/* ---- a search ---- */

static th_plan_findings *search(const problem *x, const th_plan_findings *known)
{
    th_error err;
    th_plan_search *s = th_plan_search_new(x->system, &x->work, &x->space, &x->options, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    for (int i = 0; known && i < known->n; i++) {
        th_strbuf text = TH_STRBUF_INIT;
        th_plan_describe(&known->of[i].plan, &text);
        CU_ASSERT_EQUAL(th_plan_search_know(s, text.text, known->of[i].step_ps + 1, &err), 0);
        th_strbuf_clear(&text);
    }
    while (!th_plan_search_is_done(s))
        CU_ASSERT_EQUAL_FATAL(th_plan_search_iterate(s, &err), 0);
    const th_plan_findings f = th_plan_search_found(s);
    th_plan_findings *copy = th_plan_findings_copy(&f);
    th_plan_search_free(s);
    return copy;
}

static bool are_same(const th_plan_findings *a, const th_plan_findings *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = a->of[i].step_ps == b->of[i].step_ps && a->of[i].evaluation == b->of[i].evaluation &&
               a->of[i].bytes == b->of[i].bytes;
    return same;
}

static void clear_all(exhaustive *x)
{
    th_collective_memo_free(x->memo);
    th_free(x->all);
}

static void clear(problem *x, th_plan_findings *f)
{
    th_plan_findings_free(f);
    th_system_free(x->system);
}

/* Is no plan shorter than the one at i, but for i others at most? */
static bool is_proof(const exhaustive *all, const th_plan_findings *f, int i)
{
    int n_shorter = 0;
    for (int64_t k = 0; k < all->n; k++)
        n_shorter += all->all[k].step < f->of[i].step_ps && !all->all[k].is_needless;
    return n_shorter <= i;
}

static void check_proofs(const exhaustive *all, const th_plan_findings *f)
{
    for (int k = 0; k < f->n; k++)
        CU_ASSERT_TRUE(!th_plan_is_proven(f, k) || is_proof(all, f, k));
}

/* Every third one on unlike accelerators. */
TEST(the_plan_is_the_best_of_all)
{
    const int n_systems = is_thorough() ? 20 : 4;
    auto_rng *r = th_random_stream(45, "searches of plans", 0);
    for (int i = 0; i < n_systems; i++) {
        problem x;
        th_error err;
        random_problem(r, &x);
        if (i % 3 == 0)
            become_unlike(&x);
        exhaustive all = {.of = &x, .memo = th_collective_memo_new(x.system, &err)};
        th_plan_findings *f = search(&x, NULL);
        CU_ASSERT_EQUAL(th_plan_space_groups(&x.space, all_members, &all), 0);
        CU_ASSERT_EQUAL(f->n > 0, all.n > 0);
        if (f->n > 0) {
            CU_ASSERT_EQUAL(f->of[0].step_ps, all.best);
            CU_ASSERT_TRUE(th_plan_is_proven(f, 0));
        }
        check_proofs(&all, f);
        printf("# %d accelerators: %lld plans fit, %lld were simulated\n", x.system->n_accels,
               (long long)all.n, (long long)f->evaluations);
        clear_all(&all);
        clear(&x, f);
    }
}

/* ---- two objectives ---- */

/* Of step and cost, which differ by accelerator: every plan is beaten by one that was found, in
 * both, or as good; on any number of threads. */
TEST(no_plan_is_missing_that_none_beats_in_both)
{
    auto_rng *r = th_random_stream(48, "searches of plans", 0);
    for (int i = 0; i < (is_thorough() ? 20 : 3); i++) {
        problem x;
        th_error err;
        random_problem(r, &x);
        for (int32_t k = 0; k < x.system->n_accels; k++)
            x.system->nodes[x.system->accel_node[k]].a.cost = 1 + k / 4;
        x.options.n_objectives = 2;
        x.options.objectives[1] = TH_PLAN_COST;
        exhaustive all = {.of = &x, .memo = th_collective_memo_new(x.system, &err)};
        th_plan_findings *f = search(&x, NULL);
        CU_ASSERT_EQUAL(th_plan_space_groups(&x.space, all_members, &all), 0);
        CU_ASSERT_TRUE(f->is_done && f->n <= all.n);
        check_proofs(&all, f);
        for (int64_t k = 0; k < all.n; k++) {
            double cost = 0;
            bool is_met = false;
            for (int32_t a = 0; a < all.all[k].ranks; a++)
                cost += 1 + a / 4;
            for (int m = 0; m < f->n && !is_met; m++)
                is_met = f->of[m].step_ps <= all.all[k].step &&
                         f->of[m].values[1] <= cost * th_seconds(all.all[k].step) * (1 + 1e-9);
            CU_ASSERT_TRUE(is_met);
        }
        x.options.threads = 3;
        th_plan_findings *again = search(&x, NULL);
        CU_ASSERT_TRUE(are_same(f, again));
        printf("# %lld plans fit, %d were simulated for step and cost\n", (long long)all.n, f->n);
        th_plan_findings_free(again);
        clear_all(&all);
        clear(&x, f);
    }
}

/* ---- stages of their own ---- */

/* All shares of the micro-batches from that one on. */
static void simulate_shares(exhaustive *x, th_parallel_plan *p, int32_t share, int32_t left)
{
    th_error err;
    if (share == p->n_shares) {
        if (left == 0 && th_plan_check(p, &x->of->model, x->of->system->n_accels, &err) == 0)
            simulate(x, p);
        return;
    }
    for (p->shares[share] = 1; p->shares[share] <= left; p->shares[share]++)
        simulate_shares(x, p, share + 1, left - p->shares[share]);
}

/* None, and all of every number of shares, with the order of ranks as it is, and with replicas that
 * are behind each other. */
static void simulate_replicas(exhaustive *x, const th_parallel_plan *p)
{
    const int32_t orders[][TH_N_AXES] = {{0, 1, 2, 3}, {0, 1, 3, 2}};
    simulate(x, p);
    for (int32_t n = 2; n <= p->n.data; n++)
        for (int order = 0; order < 2 && p->n.data % n == 0; order++) {
            th_parallel_plan of = *p;
            memcpy(of.order, orders[order], sizeof of.order);
            of.n_shares = n;
            simulate_shares(x, &of, 0,
                            p->batch.global_batch / p->batch.micro_batch / (p->n.data / n));
        }
}

/* All layers and orders of the stages of a plan. */
static void simulate_stages(exhaustive *x, th_parallel_plan *p, int32_t stage, int32_t left)
{
    const int32_t n = p->n.pipeline;
    if (stage == n) {
        th_error err;
        if (left == 0 && th_plan_check(p, &x->of->model, x->of->system->n_accels, &err) == 0)
            simulate_replicas(x, p);
        return;
    }
    for (p->own[stage].block = 0; p->own[stage].block < n; p->own[stage].block++)
        for (p->own[stage].layers = 1; p->own[stage].layers <= left; p->own[stage].layers++)
            for (p->own[stage].again = 0; p->own[stage].again <= p->own[stage].layers;
                 p->own[stage].again++)
                simulate_stages(x, p, stage + 1, left - p->own[stage].layers);
}

static int own_member(void *own, const th_parallel_plan *p)
{
    exhaustive *x = own;
    th_parallel_plan of = *p;
    of.n_own = p->n.pipeline;
    if (p->n.chunks == 1)
        simulate_stages(x, &of, 0, x->of->model.layers);
    return 0;
}

static int own_members(void *own, const th_parallel_plan *group)
{
    return th_plan_space_members(&((exhaustive *)own)->of->space, group, own_member, own);
}

/* Was each plan simulated when its bound was below the best step until then? */
static bool are_worth_it(const th_plan_findings *f)
{
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->n; k++)
            if (f->of[k].evaluation < f->of[i].evaluation && f->of[k].values[0] <= f->of[i].bound)
                return false;
    return true;
}

/* What a genetic search finds with so many plans, and on three threads: the same. */
static th_plan_findings *evolved(problem *x, int64_t evaluations)
{
    th_plan_findings *copies[2];
    for (int k = 0; k < 2; k++) {
        th_error err;
        x->options.threads = 1 + 2 * k;
        th_plan_search *s = th_plan_search_new(x->system, &x->work, &x->space, &x->options, &err);
        CU_ASSERT_PTR_NOT_NULL_FATAL(s);
        CU_ASSERT_EQUAL(th_plan_evolve(s, &x->work, &x->space, evaluations, 1, &err), 0);
        const th_plan_findings f = th_plan_search_found(s);
        copies[k] = th_plan_findings_copy(&f);
        th_plan_search_free(s);
    }
    CU_ASSERT_TRUE(are_same(copies[0], copies[1]) && are_worth_it(copies[0]));
    CU_ASSERT_TRUE(copies[0]->n <= evaluations);
    th_plan_findings_free(copies[1]);
    return copies[0];
}

static void narrow(problem *x, bool takes_all)
{
    static const int64_t zero[] = {0}, one[] = {1}, four = 4, pipelines[] = {2, 3};
    static int64_t schedule;
    const struct {
        th_plan_choice choice;
        const int64_t *of;
        int n;
    } narrowed[] = {{TH_CHOICE_CONTEXT, one, 1},        {TH_CHOICE_VIRTUAL, one, 1},
                    {TH_CHOICE_EXPERT, one, 1},         {TH_CHOICE_EXPERT_TENSOR, one, 1},
                    {TH_CHOICE_ZERO, zero, 1},          {TH_CHOICE_SEQUENCE_PARALLEL, zero, 1},
                    {TH_CHOICE_RECOMPUTE, zero, 1},     {TH_CHOICE_MICRO_BATCH, one, 1},
                    {TH_CHOICE_PIPELINE, pipelines, 2}, {TH_CHOICE_SCHEDULE, &schedule, 1},
                    {TH_CHOICE_TENSOR, pipelines, 1},   {TH_CHOICE_DATA, &four, 1}};
    const size_t n = sizeof narrowed / sizeof *narrowed;
    schedule = th_pipeline_find("1f1b") - th_pipeline_types;
    for (size_t k = 0; k < (takes_all ? n : n - 2); k++) {
        x->space.only[narrowed[k].choice].of = narrowed[k].of;
        x->space.only[narrowed[k].choice].n = narrowed[k].n;
    }
    if (takes_all)
        x->space.only[TH_CHOICE_PIPELINE] = x->space.only[TH_CHOICE_EXPERT];
}

/* On unlike accelerators the genetic search finds the best of all plans with stages of their own
 * and shares of the micro-batches within a hundred simulations. Every second space has plans of one
 * stage that take all accelerators. */
TEST(stages_of_their_own_are_the_best_of_all)
{
    auto_rng *r = th_random_stream(47, "searches of plans", 0);
    int n_shared = 0;
    for (int i = 0, n_fit = 0; n_fit < 20; i++) {
        problem x;
        th_error err;
        th_plan_units units;
        do
            random_problem(r, &x);
        while (x.system->n_accels < 8 && (th_system_free(x.system), true));
        become_unlike(&x);
        narrow(&x, i % 2);
        th_plan_findings *f = evolved(&x, 100);
        const th_time found = f->n > 0 ? f->of[0].step_ps : 0;
        CU_ASSERT_EQUAL_FATAL(th_plan_units_init(&units, x.system, &x.work, &err), 0);
        exhaustive all = {.of = &x,
                          .units = &units,
                          .memo = th_collective_memo_new(x.system, &err),
                          .best = found};
        CU_ASSERT_EQUAL(th_plan_space_groups(&x.space, own_members, &all), 0);
        CU_ASSERT_TRUE(found == all.best && (found > 0) == (all.n > 0));
        n_fit += found > 0;
        n_shared += found > 0 && f->of[0].plan.n_shares > 0;
        printf("# %d accelerators: of %lld plans of own stages and shares %lld may be best, %d were"
               " simulated\n",
               x.system->n_accels, (long long)all.n_all, (long long)all.n, f->n);
        if (found != all.best) {
            th_strbuf text = TH_STRBUF_INIT;
            th_plan_describe(&all.best_plan, &text);
            printf("# %lld found, %lld is the best: %s\n", (long long)found, (long long)all.best,
                   text.text);
            th_strbuf_clear(&text);
        }
        th_plan_units_clear(&units);
        clear_all(&all);
        clear(&x, f);
    }
    printf("# %d of the best plans have shares\n", n_shared);
    CU_ASSERT_TRUE(n_shared > 0);
}

/* Threads change nothing, nor does a budget, but for plans behind it. */
TEST(threads_and_budgets_change_nothing)
{
    auto_rng *r = th_random_stream(46, "searches of plans", 0);
    problem x;
    random_problem(r, &x);
    x.options.top = 6;
    x.work.device.memory_bytes = INT64_C(80000000000);
    th_plan_findings *one = search(&x, NULL);
    CU_ASSERT_TRUE(one->n >= 6);
    for (int i = 0; i < 6 && i < one->n; i++)
        CU_ASSERT_TRUE(th_plan_is_proven(one, i));
    x.options.threads = 3;
    th_plan_findings *three = search(&x, NULL);
    CU_ASSERT_TRUE(are_same(one, three));
    x.options.evaluations = 2;
    th_plan_findings *two = search(&x, NULL);
    CU_ASSERT_EQUAL(two->n, 2);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_TRUE(two->of[i].evaluation <= 2 && two->of[i].step_ps >= one->of[0].step_ps);
    th_plan_findings_free(two);
    th_plan_findings_free(three);
    clear(&x, one);
}

/* Known steps, here a picosecond longer, are taken as they are. */
TEST(what_is_known_is_not_simulated)
{
    auto_rng *r = th_random_stream(46, "searches of plans", 0);
    problem x;
    random_problem(r, &x);
    th_plan_findings *first = search(&x, NULL), *again = search(&x, first);
    CU_ASSERT_TRUE_FATAL(first->n > 0 && again->n >= first->n);
    CU_ASSERT_EQUAL(again->of[0].step_ps, first->of[0].step_ps + 1);
    th_plan_findings_free(again);
    clear(&x, first);
}

static int polls_left;

static bool is_interrupted(void)
{
    return polls_left-- == 0;
}

/* Wherever it is interrupted, a search goes on to the same plans. */
TEST(an_interrupted_search_goes_on)
{
    auto_rng *r = th_random_stream(46, "searches of plans", 0);
    problem x;
    th_error err;
    random_problem(r, &x);
    x.options.threads = 2;
    th_plan_findings *whole = search(&x, NULL);
    for (int n = 1; n < 60; n += 7) {
        x.options.is_interrupted = is_interrupted;
        polls_left = n;
        th_plan_search *s = th_plan_search_new(x.system, &x.work, &x.space, &x.options, &err);
        CU_ASSERT_PTR_NOT_NULL_FATAL(s);
        while (!th_plan_search_is_done(s))
            if (th_plan_search_iterate(s, &err))
                CU_ASSERT_TRUE_FATAL(th_error_is_interrupted(&err));
        const th_plan_findings f = th_plan_search_found(s);
        CU_ASSERT_TRUE(are_same(&f, whole));
        th_plan_search_free(s);
    }
    clear(&x, whole);
}

TAP_MAIN("plan_search")
