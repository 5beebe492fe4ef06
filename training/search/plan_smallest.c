/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_smallest.c - what is missing where no plan fits into memory. Of each group, the variant that
 * holds least: everything is shared and computed again. */
#include <config.h>
#include <math.h>
#include "base/interrupt.h"
#include "training/plan_memory.h"
#include "training/search/plan_search.h"

typedef struct smallest {
    const th_plan_space *space;
    const th_work_context *work;
    double room;
    th_smallest_plans *out;
    th_error *err;
} smallest;

/* What the space allows that is shared most, or computed again most. */
static void shrink(const th_plan_space *x, th_parallel_plan *p)
{
    p->sequence_parallel =
        p->n.tensor > 1 && th_plan_space_allows(x, TH_CHOICE_SEQUENCE_PARALLEL, 1);
    p->n.zero = p->n.zero_group > 1 ? 3 : 0;
    while (p->n.zero > 0 && !th_plan_space_allows(x, TH_CHOICE_ZERO, p->n.zero))
        p->n.zero--;
    p->recompute = TH_RECOMPUTE_FULL;
    while (p->recompute > 0 && !th_plan_space_allows(x, TH_CHOICE_RECOMPUTE, p->recompute))
        p->recompute--;
}

/* So few micro-batches that the order of 1F1B keeps as many as with all of them. */
static double bytes_of(const th_work_context *c, th_error *err)
{
    const th_parallel_plan *p = c->p;
    const int32_t m = th_plan_micro_batches(p);
    const th_pipeline_shape shape = {p->n.pipeline, 1, m < p->n.pipeline ? m : p->n.pipeline};
    th_pipeline_schedule s;
    if (th_pipeline_make(p->schedule, &shape, &s, err))
        return INFINITY;
    const double most = (double)th_plan_memory_most(c, &s, NULL, NULL);
    th_pipeline_clear(&s);
    return most;
}

static int visit(void *own, const th_parallel_plan *group)
{
    smallest *x = own;
    th_parallel_plan p = *group;
    th_work_context c = *x->work;
    const int64_t ranks = (int64_t)th_plan_stage_ranks(&p) * p.n.pipeline;
    c.p = &p;
    shrink(x->space, &p);
    if (th_interrupt_is_pending())
        return th_error_interrupted(x->err, "no plan was simulated");
    const double bytes = bytes_of(&c, x->err);
    if (bytes < x->out->least_bytes) {
        x->out->least_bytes = bytes;
        x->out->least = p;
    }
    if (bytes <= x->room && (x->out->ranks == 0 || ranks < x->out->ranks)) {
        x->out->ranks = ranks;
        x->out->fewest = p;
    }
    return 0;
}

int th_plan_smallest(const th_plan_space *space, const th_work_context *work, double fill,
                     int32_t most_accels, th_smallest_plans *out, th_error *err)
{
    th_plan_space larger = *space;
    th_smallest_plans of_larger;
    smallest x = {.space = space,
                  .work = work,
                  .room = fill * (double)work->device.memory_bytes,
                  .out = out,
                  .err = err};
    *out = (th_smallest_plans){.least_bytes = INFINITY};
    if (th_plan_space_groups(space, visit, &x))
        return -1;
    x.out = &of_larger;
    x.space = &larger;
    while (out->ranks == 0 && larger.n_accels <= most_accels / 2) {
        larger.n_accels *= 2;
        of_larger = (th_smallest_plans){.least_bytes = INFINITY};
        if (th_plan_space_groups(&larger, visit, &x))
            return -1;
        out->ranks = of_larger.ranks;
        out->fewest = of_larger.fewest;
    }
    return 0;
}
