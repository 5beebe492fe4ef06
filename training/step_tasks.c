/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_tasks.c - see step_tasks.h.
 *   compute, collective, message -> new_bundle -> add a task for each rank or group -> depend */
#include <config.h>
#include "base/alloc.h"
#include "training/plan_stages.h"
#include "training/step_tasks.h"

const char *const th_step_task_names[] = {
    [TH_STEP_COMPUTE] = "compute",   [TH_STEP_OPTIMIZER] = "optimizer",
    [TH_STEP_TENSOR] = "tensor",     [TH_STEP_CONTEXT] = "context",
    [TH_STEP_EXPERT] = "expert",     [TH_STEP_DATA] = "data",
    [TH_STEP_PIPELINE] = "pipeline", NULL};

int th_step_tasks_init(th_step_tasks *x, const th_system *s, const th_parallel_plan *p, bool merges,
                       th_program *program, th_error *err)
{
    size_t n = (size_t)th_plan_stage_ranks(p) + 1;
    *x = (th_step_tasks){.system = s,
                         .plan = p,
                         .program = program,
                         .is_merged = merges,
                         .place = TH_STEP_AS_A_WHOLE,
                         .ranks = merges ? th_plan_n_shares(p) : th_plan_stage_ranks(p),
                         .share = -1};
    x->members = th_alloc_array(n, sizeof *x->members);
    x->nodes = th_alloc_array(n, sizeof *x->nodes);
    x->known_work = th_map_new();
    x->n_times = th_plan_has_views(p, s) ? p->n.pipeline : 1;
    x->times = th_alloc_zero((size_t)x->n_times, sizeof *x->times);
    x->seen = th_alloc_array((size_t)x->n_times, sizeof *x->seen);
    bool is_there = x->times && x->seen && x->members && x->nodes && x->known_work;
    for (int32_t i = 0; is_there && i < x->n_times; i++) {
        x->seen[i] = x->n_times > 1 ? th_plan_seen_from(p, i) : *p;
        is_there = (x->times[i] = th_collective_times_new(s, &x->seen[i], err));
    }
    if (is_there)
        return 0;
    th_step_tasks_clear(x);
    return th_error_no_memory(err);
}

int th_step_tasks_use(th_step_tasks *x, th_collective_memo *memo, th_error *err)
{
    if (!memo && x->n_times > 1 && !(memo = x->own = th_collective_memo_new(x->system, err)))
        return -1;
    for (int32_t i = 0; i < x->n_times; i++)
        th_collective_times_use(x->times[i], memo);
    return 0;
}

/* Of a stage, or of the message from it. */
static th_collective_times *times_of(const th_step_tasks *x, int32_t stage)
{
    return x->times[stage < x->n_times ? stage : 0];
}

void th_step_tasks_clear(th_step_tasks *x)
{
    for (int32_t i = 0; x->times && i < x->n_times; i++)
        th_collective_times_free(x->times[i]);
    th_collective_memo_free(x->own);
    th_free(x->times);
    th_free(x->seen);
    th_map_free(x->known_work);
    th_free(x->kind);
    th_free(x->work);
    th_free(x->work_of);
    th_free(x->place_of);
    th_free(x->task);
    th_free(x->members);
    th_free(x->nodes);
    *x = (th_step_tasks){.task = NULL};
}

int th_step_tasks_check(const th_step_tasks *x, int64_t bundles, th_error *err)
{
    if (bundles <= TH_STEP_TASKS_MAX / x->ranks)
        return 0;
    return th_error_set(err, "MAP-0440",
                        "the step has more than %d tasks on %d ranks: needs -merge 1, fewer ranks "
                        "or a smaller -global_batch",
                        (int)TH_STEP_TASKS_MAX, (int)(x->ranks * x->plan->n.pipeline));
}

/* ---- bundles ---- */

static int32_t new_bundle(th_step_tasks *x, th_error *err)
{
    size_t needed = ((size_t)x->n + 1) * (size_t)x->ranks;
    if (th_grow(&x->task, &x->task_capacity, needed, sizeof *x->task))
        return th_error_no_memory(err);
    for (size_t i = needed - (size_t)x->ranks; i < needed; i++)
        x->task[i] = -1;
    return x->n++;
}

/* Is the i-th of the ranks that have tasks one of the share? */
static bool takes_part(const th_step_tasks *x, int32_t i)
{
    return x->share < 0 || (x->is_merged ? i : th_plan_share_of(x->plan, i)) == x->share;
}

static int32_t *task_of(const th_step_tasks *x, int32_t bundle, int32_t rank)
{
    return &x->task[(size_t)bundle * (size_t)x->ranks + (size_t)rank];
}

static int32_t node_of(const th_step_tasks *x, int32_t stage, int32_t rank)
{
    if (x->is_merged)
        rank = th_plan_share_rank(x->plan, rank);
    return x->system->accel_node[th_plan_accel(x->plan, stage, rank)];
}

static int32_t add(th_step_tasks *x, const th_task *t, th_step_task kind, th_error *err)
{
    size_t number = (size_t)x->program->n_tasks;
    if (th_grow(&x->kind, &x->kind_capacity, number + 1, sizeof *x->kind) ||
        th_grow(&x->work_of, &x->work_of_capacity, number + 1, sizeof *x->work_of) ||
        th_grow(&x->place_of, &x->place_capacity, number + 1, sizeof *x->place_of))
        return th_error_no_memory(err);
    x->kind[number] = (uint8_t)kind;
    x->work_of[number] = -1;
    x->place_of[number] = x->place;
    return th_program_add(x->program, t, err);
}

static int depend(th_step_tasks *x, int32_t task, int32_t rank, th_bundles after, th_error *err)
{
    for (int32_t i = 0; i < after.n; i++) {
        const int32_t before = after.of[i] == TH_NO_BUNDLE ? -1 : *task_of(x, after.of[i], rank);
        if (before >= 0 && th_program_depend(x->program, task, before, err))
            return -1;
    }
    return 0;
}

/* The task of a rank of the newest bundle. */
static int add_of_rank(th_step_tasks *x, const th_task *t, th_step_task kind, int32_t rank,
                       th_bundles after, th_error *err)
{
    int32_t task = add(x, t, kind, err);
    if (task < 0 || depend(x, task, rank, after, err))
        return -1;
    *task_of(x, x->n - 1, rank) = task;
    return 0;
}

/* The same task for each rank, but for its nodes: from a stage, to a peer (-1: none). of_all: it
 * waits for what each of them waits for. */
static int32_t add_all(th_step_tasks *x, th_task *t, int32_t from, int32_t to, th_step_task kind,
                       bool of_all, th_bundles after, th_error *err)
{
    int32_t bundle = new_bundle(x, err);
    for (int32_t rank = 0; bundle >= 0 && rank < x->ranks; rank++) {
        if (!takes_part(x, rank))
            continue;
        t->node = from < 0 ? -1 : node_of(x, from, rank);
        t->peer = to < 0 ? -1 : node_of(x, to, rank);
        if (add_of_rank(x, t, kind, rank, after, err))
            return -1;
        for (int32_t other = 0; of_all && other < x->ranks; other++)
            if (other != rank && depend(x, x->program->n_tasks - 1, other, after, err))
                return -1;
    }
    return bundle;
}

/* stage: beside whose computations it is. */
static int32_t add_delay(th_step_tasks *x, th_time ps, int32_t stage, double slowdown,
                         th_step_task kind, th_bundles after, th_error *err)
{
    th_task t = {.kind = TH_TASK_HOST, .slowdown = (float)slowdown, .delay_ps = ps, .layer = -1};
    return ps < 0 ? -1
                  : add_all(x, &t, -1, slowdown > 0 ? stage : -1, kind, x->share < 0, after, err);
}

/* ---- what ranks do ---- */

static th_time sum_of_work(const th_step_work *w)
{
    th_time sum = 0;
    for (int i = 0; i < TH_N_WORK_PARTS; i++)
        sum += w->ps[i];
    return sum;
}

void th_step_work_describe(const th_step_work *w, th_strbuf *out)
{
    char time[32];
    const char *comma = "";
    for (int i = 0; i < TH_N_WORK_PARTS; i++)
        if (w->ps[i] > 0) {
            th_strbuf_printf(out, "%s%s %s", comma, th_work_part_names[i],
                             th_format_time(w->ps[i], time, sizeof time));
            comma = ", ";
        }
}

/* Its index, or -1. */
static int32_t add_work(th_step_tasks *x, const th_step_work *w, th_error *err)
{
    int64_t known;
    if (th_map_get(x->known_work, w, sizeof *w, &known))
        return (int32_t)known;
    if (th_grow(&x->work, &x->work_capacity, (size_t)x->n_works + 1, sizeof *x->work) ||
        th_map_put(x->known_work, w, sizeof *w, x->n_works))
        return th_error_no_memory(err);
    x->work[x->n_works] = *w;
    return x->n_works++;
}

int32_t th_step_compute(th_step_tasks *x, int32_t stage, const th_step_work *work,
                        th_step_task kind, th_bundles after, th_error *err)
{
    th_fixed_work w = {.duration_ps = sum_of_work(work), .waiting_ps = work->ps[TH_WORK_HOST]};
    w.steady_ps = w.duration_ps - work->ps[TH_WORK_PRODUCTS] - work->ps[TH_WORK_ATTENTION];
    th_task t = {.kind = TH_TASK_COMPUTE, .layer = -1};
    int32_t first = x->program->n_tasks, parts = add_work(x, work, err);
    t.compute_cost = parts < 0 ? -1 : th_program_add_work(x->program, &w, err);
    int32_t bundle = t.compute_cost < 0 ? -1 : add_all(x, &t, stage, -1, kind, false, after, err);
    for (int32_t i = first; bundle >= 0 && i < x->program->n_tasks; i++)
        x->work_of[i] = parts;
    return bundle;
}

/* Of those that are not named: weights and gradients. */
static th_step_task kind_of_group(th_plan_group group)
{
    static const th_step_task kinds[] = {
        [TH_GROUP_TENSOR] = TH_STEP_TENSOR,       [TH_GROUP_CONTEXT] = TH_STEP_CONTEXT,
        [TH_GROUP_EXPERT] = TH_STEP_EXPERT,       [TH_GROUP_EXPERT_NODES] = TH_STEP_EXPERT,
        [TH_GROUP_EXPERT_LOCAL] = TH_STEP_EXPERT, [TH_GROUP_EXPERT_SHARED] = TH_STEP_EXPERT,
    };
    return group <= TH_GROUP_EXPERT_SHARED ? kinds[group] : TH_STEP_DATA;
}

/* The collective of the members, which waits for what each of them waits for. */
static int add_group(th_step_tasks *x, int32_t stage, const th_step_exchange *e, double slowdown,
                     th_bundles after, th_error *err)
{
    int32_t n = th_plan_group_size(x->plan, e->group);
    for (int32_t i = 0; i < n; i++)
        x->nodes[i] = node_of(x, stage, x->members[i]);
    th_collective c = th_plan_collective(x->system, e->kind, x->nodes, n, e->bytes);
    c.slowdown = slowdown;
    th_task t = {.kind = TH_TASK_COLLECTIVE, .node = x->nodes[0], .peer = -1, .layer = -1};
    t.bytes = c.bytes;
    t.collective = th_program_add_collective(x->program, &c, err);
    int32_t task = t.collective < 0 ? -1 : add(x, &t, kind_of_group(e->group), err);
    for (int32_t i = 0; task >= 0 && i < n; i++) {
        if (depend(x, task, x->members[i], after, err))
            return -1;
        *task_of(x, x->n - 1, x->members[i]) = task;
    }
    return task < 0 ? -1 : 0;
}

int32_t th_step_collective(th_step_tasks *x, int32_t stage, const th_step_exchange *e,
                           double slowdown, th_bundles after, th_error *err)
{
    if (x->is_merged)
        return add_delay(x, th_step_exchange_ps(x, stage, e, err), stage, slowdown,
                         kind_of_group(e->group), after, err);
    int32_t bundle = new_bundle(x, err);
    for (int32_t rank = 0; bundle >= 0 && rank < x->ranks; rank++) {
        th_plan_group_of(x->plan, e->group, rank, x->members);
        if (takes_part(x, rank) && x->members[0] == rank &&
            add_group(x, stage, e, slowdown, after, err))
            return -1;
    }
    return bundle;
}

int32_t th_step_message(th_step_tasks *x, int32_t from, int32_t to, int64_t bytes, th_bundles after,
                        th_error *err)
{
    if (x->is_merged)
        return add_delay(x, th_stage_message_time(x->times[0], from, to, bytes, err), from, 0,
                         TH_STEP_PIPELINE, after, err);
    th_task t = {.kind = TH_TASK_TRANSFER, .compute_cost = -1, .bytes = bytes, .layer = -1};
    return add_all(x, &t, from, to, TH_STEP_PIPELINE, false, after, err);
}

th_time th_step_exchange_ps(th_step_tasks *x, int32_t stage, const th_step_exchange *e,
                            th_error *err)
{
    return th_collective_time(times_of(x, stage), e->kind, e->group, e->bytes, err);
}

int th_step_exchanges_of(const th_parallel_plan *p, th_collective_kind kind, int64_t bytes,
                         th_step_exchange of[2])
{
    const bool reduces = kind == TH_REDUCE_SCATTER;
    const th_step_exchange all[] = {
        {kind, TH_GROUP_ZERO, p->n.zero > 0 ? bytes : 0},
        {TH_ALL_REDUCE, TH_GROUP_REPLICA, p->n.zero > 0 && reduces ? bytes / p->n.zero_group : 0},
        {TH_ALL_REDUCE, TH_GROUP_GRADIENT, p->n.zero == 0 && reduces ? bytes : 0}};
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (all[i].bytes > 0 && th_plan_group_size(p, all[i].group) > 1)
            of[n++] = all[i];
    return n;
}
