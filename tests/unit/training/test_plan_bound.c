/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plan_bound.c - lower bounds of steps: never above the simulated step, over random plans of
 * random models on random systems, every third one of unlike accelerators, with random shares of
 * the micro-batches where replicas can take them; the bound that follows the schedule is the step
 * itself where nothing overlaps and there are no shares. */
#include <config.h>
#include "base/random.h"
#include "tests/unit/tap.h"
#include "tests/unit/training/plan_help.h"
#include "training/plan_stages.h"
#include "training/search/plan_bound.h"
#include "training/plan_memory.h"
#include "training/search/plan_space.h"
#include "training/plan_step.h"

static th_parallel_plan random_base(gsl_rng *r)
{
    th_parallel_plan p = {
        .batch = {.sequence = 512 << pick(r, 0, 3), .global_batch = (int32_t)pick(r, 1, 6) * 8},
        .order = {0, 1, 2, 3},
        .has_fused_kernels = pick(r, 0, 1),
        .attention = (th_attention)pick(r, 0, 3),
        .launch = (th_launch)pick(r, 0, 3),
        .layout = pick(r, 0, 3) ? TH_LAYOUT_LAYERS : TH_LAYOUT_UNEVEN,
        .overlaps_data = pick(r, 0, 1),
        .overlaps_tensor = pick(r, 0, 1),
        .overlaps_pipeline = pick(r, 0, 1),
        .frozen_weights = pick(r, 0, 9) == 0,
        .gradient_bytes = pick(r, 0, 1) ? 4 : 2,
        .expert_skew = 1};
    return p;
}

/* One plan of many, all with the same chance. */
typedef struct sample {
    gsl_rng *r;
    th_parallel_plan plan;
    int64_t n;
} sample;

static int take(void *own, const th_parallel_plan *p)
{
    sample *x = own;
    if (pick(x->r, 0, x->n++) == 0)
        x->plan = *p;
    return 0;
}

static th_parallel_plan random_plan(gsl_rng *r, const th_plan_space *space)
{
    sample group = {.r = r}, member = {.r = r};
    CU_ASSERT_EQUAL(th_plan_space_groups(space, take, &group), 0);
    CU_ASSERT_TRUE_FATAL(group.n > 0);
    CU_ASSERT_EQUAL(th_plan_space_members(space, &group.plan, take, &member), 0);
    CU_ASSERT_TRUE_FATAL(member.n > 0);
    return member.plan;
}

/* Other shares of the micro-batches than equal ones, where the plan may have them. */
static void share_randomly(gsl_rng *r, const th_plan_space *space, th_parallel_plan *p)
{
    th_error err;
    th_parallel_plan x = *p;
    x.n_shares = 4;
    while (x.n_shares > 1 && p->n.data % x.n_shares)
        x.n_shares--;
    if (x.n_shares < 2)
        return;
    for (int32_t i = 0; i < x.n_shares; i++)
        x.shares[i] = th_plan_micro_batches(p);
    for (int32_t i = 0; i < 2 * x.shares[0]; i++) {
        const int64_t from = pick(r, 0, x.n_shares - 1), to = pick(r, 0, x.n_shares - 1);
        if (x.shares[from] > 1)
            x.shares[from]--, x.shares[to]++;
    }
    if (pick(r, 0, 1)) {
        x.order[TH_AXIS_DATA] = TH_AXIS_PIPELINE;
        x.order[TH_AXIS_PIPELINE] = TH_AXIS_DATA;
    }
    if (th_plan_check(&x, space->t, space->n_accels, &err) == 0 &&
        th_plan_schedules_are_possible(&x))
        *p = x;
}

typedef struct figures {
    double quick, schedule, step, bytes, memory;
} figures;

static figures figures_of(const th_system *s, const th_plan_units *u, const th_work_context *c)
{
    th_error err;
    th_plan_schedules schedules;
    CU_ASSERT_EQUAL_FATAL(th_plan_schedules_make(&schedules, c->p, &err), 0);
    figures f = {.quick = th_plan_bound_quick(u, c),
                 .schedule = th_seconds(th_plan_bound_schedule(u, c, schedules.of, &err)),
                 .step = th_seconds(th_plan_step_time(s, c, schedules.of, &err)),
                 .bytes = th_plan_bytes_quick(u, c),
                 .memory = (double)th_plan_memory_most(c, schedules.of, NULL, NULL)};
    th_plan_schedules_clear(&schedules);
    return f;
}

static bool overlaps(const th_parallel_plan *p)
{
    return p->overlaps_data || p->overlaps_tensor;
}

static void tell(int i, const th_parallel_plan *p, const figures *f)
{
    printf("# plan %d: tensor %d context %d pipeline %d (%s, %d) data %d zero %d expert %d x %d "
           "batch %d of %d recompute %d sequence %d overlaps %d%d%d shares %d %d: quick %.9g "
           "schedule %.9g step %.9g, bytes %.6g of %.6g\n",
           i, p->n.tensor, p->n.context, p->n.pipeline, p->schedule->name, p->n.chunks, p->n.data,
           p->n.zero, p->n.expert, p->n.expert_tensor, p->batch.micro_batch, p->batch.global_batch,
           p->recompute, p->sequence_parallel, p->overlaps_data, p->overlaps_tensor,
           p->overlaps_pipeline, p->n_shares, p->shares[0], f->quick, f->schedule, f->step,
           f->bytes, f->memory);
}

TEST(no_bound_is_above_the_step)
{
    enum { PLANS = 300 };
    double gap = 0;
    int n_exact = 0, n_shared = 0;
    auto_rng *r = th_random_stream(45, "plans that are bound", 0);
    auto_rng *shares = th_random_stream(45, "shares of plans that are bound", 0);
    for (int i = 0; i < PLANS; i++) {
        th_error err;
        auto_system *s = random_system(r, 80);
        if (i % 3 == 0)
            make_unlike(s);
        const th_transformer t = random_model(r);
        th_parallel_plan base = random_base(r);
        base.precision = (th_train_precision)(i % (TH_TRAIN_FP8 + 1));
        if (th_plan_number_bytes(&base) == 4)
            base.gradient_bytes = 4;
        const th_plan_space space = {.t = &t, .n_accels = s->n_accels, .base = base};
        th_parallel_plan p = random_plan(r, &space);
        th_work_context c = {.t = &t, .p = &p, .numbers = th_training_numbers_shipped()};
        th_plan_units u;
        CU_ASSERT_EQUAL_FATAL(th_training_devices_of(s, &c.devices, &err), 0);
        c.device = c.devices.of[0];
        c.device = th_training_fastest(&c);
        CU_ASSERT_EQUAL_FATAL(th_plan_units_init(&u, s, &c, &err), 0);
        if (i % 2)
            share_randomly(shares, &space, &p);
        n_shared += p.n_shares > 0;
        const figures f = figures_of(s, &u, &c);
        const bool is_exact = f.schedule >= f.step * (1 - 1e-6);
        const bool holds = f.quick <= f.step * (1 + 1e-9) && f.schedule <= f.step &&
                           f.bytes <= f.memory && (overlaps(&p) || p.n_shares > 0 || is_exact);
        CU_ASSERT_TRUE(holds);
        if (!holds)
            tell(i, &p, &f);
        gap += f.step / f.schedule - 1;
        n_exact += is_exact;
        th_plan_units_clear(&u);
    }
    printf("# the bound of the schedule is the step in %d of %d plans, %.2f %% below in the mean\n",
           n_exact, PLANS, 100 * gap / PLANS);
    printf("# %d with shares\n", n_shared);
    CU_ASSERT_TRUE(gap < 0.03 * PLANS && n_shared > 20);
}

TAP_MAIN("plan_bound")
