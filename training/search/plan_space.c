/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_space.c - see plan_space.h. Loops over divisors; th_plan_check has the last word. */
#include <config.h>
#include "base/min_max.h"
#include "training/search/plan_space.h"

bool th_plan_space_allows(const th_plan_space *x, th_plan_choice choice, int64_t value)
{
    bool is_there = x->only[choice].n == 0;
    for (int i = 0; i < x->only[choice].n; i++)
        is_there |= x->only[choice].of[i] == value;
    return is_there;
}

/* The next divisor of n behind i that is allowed; 0: there is none up to most. */
static int32_t next(const th_plan_space *x, th_plan_choice choice, int32_t i, int64_t n,
                    int64_t most)
{
    most = th_min(most, n);
    for (i++; i <= most; i++)
        if (n % i == 0 && th_plan_space_allows(x, choice, i))
            return i;
    return 0;
}

#define FOR_EACH(i, choice, n, most)                                                               \
    for (int32_t i = next(x, choice, 0, n, most); i > 0; i = next(x, choice, i, n, most))

/* ---- groups ---- */

static int visit_experts(const th_plan_space *x, th_parallel_plan *p, th_plan_visit visit,
                         void *own)
{
    const int32_t experts = x->t->experts.n > 0 ? x->t->experts.n : 1;
    const int32_t ranks = th_plan_stage_ranks(p);
    FOR_EACH(e, TH_CHOICE_EXPERT, experts, ranks)
    {
        if (ranks % e)
            continue;
        FOR_EACH(each, TH_CHOICE_EXPERT_TENSOR, ranks / e, experts > 1 ? ranks : 1)
        {
            th_error err;
            p->n.expert = e;
            p->n.expert_tensor = each;
            p->n.zero_group = p->n.data * p->n.context;
            int status = th_plan_check(p, x->t, x->n_accels, &err) == 0 ? visit(own, p) : 0;
            if (status)
                return status;
        }
    }
    return 0;
}

static int visit_batches(const th_plan_space *x, th_parallel_plan *p, int32_t left,
                         th_plan_visit visit, void *own)
{
    const int32_t batch = p->batch.global_batch;
    FOR_EACH(data, TH_CHOICE_DATA, batch, left)
    {
        FOR_EACH(each, TH_CHOICE_MICRO_BATCH, batch / data, batch)
        {
            p->n.data = data;
            p->batch.micro_batch = each;
            int status = visit_experts(x, p, visit, own);
            if (status)
                return status;
        }
    }
    return 0;
}

static int32_t stages_next(const th_plan_space *x, int32_t i, int32_t left)
{
    do
        i++;
    while (i <= left && !th_plan_space_allows(x, TH_CHOICE_PIPELINE, i));
    return i;
}

int th_plan_space_groups(const th_plan_space *x, th_plan_visit visit, void *own)
{
    th_parallel_plan p = x->base;
    const int32_t layers = x->t->layers + (p.layout == TH_LAYOUT_WITH_EMBEDDING ? 2 : 0);
    p.n.chunks = 1;
    p.schedule = th_pipeline_find("1f1b");
    p.recompute = TH_RECOMPUTE_NONE;
    while (!th_plan_space_allows(x, TH_CHOICE_RECOMPUTE, p.recompute))
        p.recompute++;
    FOR_EACH(tensor, TH_CHOICE_TENSOR, x->t->heads, x->n_accels)
    {
        FOR_EACH(context, TH_CHOICE_CONTEXT, p.batch.sequence, x->n_accels / tensor)
        {
            const int32_t left = th_min(x->n_accels / tensor / context, layers);
            for (int32_t n = stages_next(x, 0, left); n <= left; n = stages_next(x, n, left)) {
                p.n.tensor = tensor;
                p.n.context = context;
                p.n.pipeline = n;
                p.sequence_parallel = false;
                if (layers % n && p.layout != TH_LAYOUT_UNEVEN)
                    continue;
                int status = visit_batches(x, &p, x->n_accels / tensor / context / n, visit, own);
                if (status)
                    return status;
            }
        }
    }
    return 0;
}

/* ---- members ---- */

/* Of all ranks that have the same weights, or of the sizes given. */
static int visit_zero_groups(const th_plan_space *x, th_parallel_plan *p, th_plan_visit visit,
                             void *own)
{
    const int32_t all = p->n.zero_group;
    int status = 0;
    if (p->n.zero == 0 || x->only[TH_CHOICE_ZERO_GROUP].n == 0)
        return visit(own, p);
    for (int32_t size = next(x, TH_CHOICE_ZERO_GROUP, 0, all, all); size > 0 && status == 0;
         size = next(x, TH_CHOICE_ZERO_GROUP, size, all, all)) {
        p->n.zero_group = size;
        status = visit(own, p);
    }
    p->n.zero_group = all;
    return status;
}

static int visit_shares(const th_plan_space *x, th_parallel_plan *p, th_plan_visit visit, void *own)
{
    for (int again = TH_RECOMPUTE_NONE; again <= TH_RECOMPUTE_FULL; again++)
        for (int zero = 0; zero <= (p->n.zero_group > 1 ? 3 : 0); zero++)
            for (int is = 0; is <= (p->n.tensor > 1); is++) {
                p->recompute = (th_recompute)again;
                p->n.zero = zero;
                p->sequence_parallel = is;
                int status = th_plan_space_allows(x, TH_CHOICE_RECOMPUTE, again) &&
                                     th_plan_space_allows(x, TH_CHOICE_ZERO, zero) &&
                                     (p->n.tensor == 1 ||
                                      th_plan_space_allows(x, TH_CHOICE_SEQUENCE_PARALLEL, is))
                                 ? visit_zero_groups(x, p, visit, own)
                                 : 0;
                if (status)
                    return status;
            }
    return 0;
}

/* Does the schedule's rule hold? */
static bool is_possible(const th_plan_space *x, const th_parallel_plan *p)
{
    th_error err;
    return th_plan_schedules_are_possible(p) && th_plan_check(p, x->t, x->n_accels, &err) == 0;
}

int th_plan_space_members(const th_plan_space *x, const th_parallel_plan *group,
                          th_plan_visit visit, void *own)
{
    th_parallel_plan p = *group;
    const int32_t most = x->t->layers / p.n.pipeline + 1;
    for (int i = 0; th_pipeline_types[i].name; i++) {
        const th_pipeline_type *type = &th_pipeline_types[i];
        const bool is_plain = type == th_pipeline_find("1f1b");
        /* Messages beside a pair's computation: no bound follows them. */
        if (type->has_pairs || !th_plan_space_allows(x, TH_CHOICE_SCHEDULE, i) ||
            (p.n.pipeline == 1 && x->only[TH_CHOICE_SCHEDULE].n == 0 && !is_plain))
            continue;
        for (int32_t v = type->min_chunks; v <= th_min(type->max_chunks, most); v++) {
            p.n.chunks = v;
            p.schedule = type;
            int status = th_plan_space_allows(x, TH_CHOICE_VIRTUAL, v) && is_possible(x, &p)
                             ? visit_shares(x, &p, visit, own)
                             : 0;
            if (status)
                return status;
        }
    }
    return 0;
}
