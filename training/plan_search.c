/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_search.c - see plan_search.h.
 *   new: all groups -> queue
 *   iterate: next -> refine (group -> members -> memory, bound of the schedule)
 *            until there are as many as threads -> simulate -> commit, in their order */
#include <config.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/min_max.h"
#include "sim/design/compute_cost.h"
#include "training/plan_bound.h"
#include "training/plan_memory.h"
#include "training/plan_search.h"
#include "training/plan_stages.h"
#include "training/plan_step.h"

const char *const th_plan_objective_names[] = {"step", "tokens_per_joule", "tokens_per_cost", NULL};

/* ---- the queue ---- */

typedef enum { LEVEL_GROUP, LEVEL_MEMBER, LEVEL_READY } node_level;

/* A plan, of which all else is the base of the space. */
typedef struct node {
    double bound; /* of the value */
    int64_t number;
    th_degrees n;
    int32_t micro_batch;
    uint8_t level, schedule, recompute, sequence_parallel;
} node;

#define TH_HEAP_ITEM                node
#define TH_HEAP_OWNER               th_plan_search
#define TH_HEAP_BEFORE(owner, a, b) is_before(a, b)
#define TH_HEAP_MOVED(owner, item, i)

/* What is nearer to being simulated first, so that a search of equal bounds ends. */
static inline bool is_before(const node *a, const node *b)
{
    if (a->bound != b->bound)
        return a->bound < b->bound;
    return a->level != b->level ? a->level > b->level : a->number < b->number;
}

#include "base/heap.h"

/* A plan that is simulated, with others at the same time. */
typedef struct item {
    struct th_plan_search *search;
    node node;
    th_parallel_plan plan;
    double bytes;
    th_collective_memo *memo; /* of its thread; NULL: not needed yet */
    th_time step_ps;
    th_error err;
    pthread_t thread;
} item;

struct th_plan_search {
    const th_system *system;
    th_work_context work;
    const th_plan_space *space;
    th_plan_search_options options;
    th_plan_units units;
    /* Of the value: of so many ranks, of the operations of a plan. */
    double *per_second, per_plan[2];
    bool is_mixed; /* accelerators are unlike */
    node *queue;
    size_t n_queue, queue_capacity;
    int64_t n_made;
    th_map *known; /* steps by the text of the plan */
    item *items;   /* one of each thread */
    th_found_plan *found;
    size_t n_found, found_capacity;
    double started_s, left; /* left: bound of all that is not simulated */
    bool done;
    th_error *err; /* of the call that is under way */
};

static int push(th_plan_search *x, const node *n)
{
    if (th_grow(&x->queue, &x->queue_capacity, x->n_queue + 1, sizeof *x->queue))
        return th_error_no_memory(x->err);
    th_heap_up(x, x->queue, x->n_queue++, *n);
    return 0;
}

static node pop(th_plan_search *x)
{
    const node first = x->queue[0];
    th_heap_remove(x, x->queue, --x->n_queue, 0);
    return first;
}

static int schedule_number(const th_pipeline_type *t)
{
    return (int)(t - th_pipeline_types);
}

static node node_of(th_plan_search *x, const th_parallel_plan *p, node_level level, double bound)
{
    return (node){.bound = bound,
                  .number = x->n_made++,
                  .n = p->n,
                  .micro_batch = p->batch.micro_batch,
                  .level = (uint8_t)level,
                  .schedule = (uint8_t)schedule_number(p->schedule),
                  .recompute = (uint8_t)p->recompute,
                  .sequence_parallel = p->sequence_parallel};
}

static th_parallel_plan plan_of(const th_plan_search *x, const node *n)
{
    th_parallel_plan p = x->space->base;
    p.n = n->n;
    p.batch.micro_batch = n->micro_batch;
    p.schedule = &th_pipeline_types[n->schedule];
    p.recompute = (th_recompute)n->recompute;
    p.sequence_parallel = n->sequence_parallel;
    if (p.exchanges_by_node)
        p.experts_on_node = th_plan_experts_on_node(x->system, &p);
    return p;
}

/* ---- the objective ---- */

/* Of a step of so many seconds. */
static double value_of(const th_plan_search *x, const th_parallel_plan *p, double s)
{
    const int32_t ranks = th_plan_stage_ranks(p) * p->n.pipeline;
    if (x->options.objective == TH_PLAN_STEP)
        return s;
    return s * x->per_second[ranks] + x->per_plan[p->recompute >= TH_RECOMPUTE_NEEDED];
}

static int use_energy(th_plan_search *x, th_error *err)
{
    const th_parallel_plan *p = &x->space->base;
    const th_accel *a = &x->system->nodes[x->system->accel_node[0]].a;
    th_compute_cost_cache *costs = th_compute_cost_cache_new(x->system, err);
    if (!costs)
        return -1;
    const th_design_energy e = *th_compute_cost_energy(costs, a->designs[0]);
    th_compute_cost_cache_free(costs);
    if (x->is_mixed)
        return th_error_set(err, "MAP-0794",
                            "-objective: must be step or tokens_per_cost on unlike accelerators");
    if (!e.is_known || e.static_w <= 0)
        return th_error_set(err, "MAP-0767",
                            "-objective tokens_per_joule: the design of the accelerators has no "
                            "static_power: needs that key, with energy_source");
    for (int32_t i = 0; i <= x->system->n_accels; i++)
        x->per_second[i] = e.static_w * i;
    for (int i = 0; i < 2; i++) {
        th_parallel_plan one = *p;
        one.recompute = i ? TH_RECOMPUTE_FULL : TH_RECOMPUTE_NONE;
        x->per_plan[i] = th_step_joules(&e, x->space->t, &one, 0);
    }
    return 0;
}

static int use_cost(th_plan_search *x, th_error *err)
{
    for (int32_t i = 0; i < x->system->n_accels; i++) {
        const double cost = x->system->nodes[x->system->accel_node[i]].a.cost;
        x->per_second[i + 1] = x->per_second[i] + cost;
        if (cost <= 0)
            return th_error_set(err, "MAP-0768",
                                "-objective tokens_per_cost: the accelerators have no cost: needs "
                                "the key cost in the system file");
    }
    return 0;
}

/* ---- refining ---- */

/* The value that a plan must be below; INFINITY: there are not enough yet. */
static double cutoff(const th_plan_search *x)
{
    return x->n_found < (size_t)x->options.top ? INFINITY : x->found[x->options.top - 1].value;
}

static double room(const th_plan_search *x)
{
    return x->options.fill * (double)x->work.device.memory_bytes;
}

static th_work_context context_of(const th_plan_search *x, const th_parallel_plan *p)
{
    th_work_context c = x->work;
    c.p = p;
    c.memo = x->items[0].memo;
    return c;
}

/* The least that is computed again, so that some variant with this ZeRO may fit; -1: none does. */
static int least_recompute(const th_plan_search *x, th_parallel_plan small, int zero)
{
    const th_work_context c = context_of(x, &small);
    small.n.zero = small.n.zero_group > 1 ? zero : 0;
    small.sequence_parallel = small.n.tensor > 1;
    for (int i = TH_RECOMPUTE_NONE; i <= TH_RECOMPUTE_FULL; i++) {
        small.recompute = (th_recompute)i;
        if (th_plan_space_allows(x->space, TH_CHOICE_RECOMPUTE, i) &&
            th_plan_bytes_quick(&x->units, &c) <= room(x))
            return i;
    }
    return -1;
}

/* Of the variants of a group that may fit with this ZeRO; INFINITY: there are none. */
static double bound_variants(const th_plan_search *x, const th_parallel_plan *group, int zero)
{
    th_parallel_plan fast = *group;
    const th_work_context quick = context_of(x, &fast);
    const int recompute = least_recompute(x, *group, zero);
    if (recompute < 0)
        return INFINITY;
    if (fast.exchanges_by_node)
        fast.experts_on_node = th_plan_experts_on_node(x->system, group);
    fast.recompute = (th_recompute)recompute;
    fast.n.zero = fast.n.zero_group > 1 ? zero : 0;
    fast.n.chunks = 0;
    const double s = th_plan_bound_quick(&x->units, &quick);
    fast.sequence_parallel = group->n.tensor > 1;
    return fmin(s, th_plan_bound_quick(&x->units, &quick));
}

/* ZeRO 2 holds less than 0 and 1, and its quick bound is theirs. */
static int add_group(void *own, const th_parallel_plan *group)
{
    th_plan_search *x = own;
    const double s = fmin(bound_variants(x, group, 2), bound_variants(x, group, 3));
    const node n = node_of(x, group, LEVEL_GROUP, value_of(x, group, s));
    if (x->options.is_interrupted && n.number % 1024 == 0 && x->options.is_interrupted())
        return th_error_interrupted(x->err, "no plan was simulated");
    return isinf(s) ? 0 : push(x, &n);
}

static int add_member(void *own, const th_parallel_plan *p)
{
    th_plan_search *x = own;
    const th_work_context c = context_of(x, p);
    if (th_plan_bytes_quick(&x->units, &c) > room(x))
        return 0;
    const double bound = value_of(x, p, th_plan_bound_quick(&x->units, &c));
    const node n = node_of(x, p, LEVEL_MEMBER, bound);
    return bound < cutoff(x) ? push(x, &n) : 0;
}

static bool fits(const th_plan_search *x, const th_work_context *c, const th_pipeline_schedule *s)
{
    double fill;
    th_plan_memory_most(c, s, NULL, &fill);
    return fill <= x->options.fill;
}

/* Does a plan fit that differs in this alone? */
static bool fits_with(th_plan_search *x, const th_parallel_plan *p, const th_pipeline_schedule *s,
                      int zero, th_recompute recompute)
{
    th_parallel_plan other = *p;
    const th_work_context c = context_of(x, &other);
    other.n.zero = zero;
    other.recompute = recompute;
    return th_plan_space_allows(x->space, TH_CHOICE_ZERO, zero) &&
           th_plan_space_allows(x->space, TH_CHOICE_RECOMPUTE, recompute) && fits(x, &c, s);
}

/* Sharing of gradients takes no time, so it is for plans that need the room, as is computing
 * again. */
static bool is_needless(th_plan_search *x, const th_parallel_plan *p, const th_pipeline_schedule *s)
{
    if (p->n.zero == 2 && fits_with(x, p, s, 1, p->recompute))
        return true;
    for (int i = TH_RECOMPUTE_NONE; i < (int)p->recompute; i++)
        if (fits_with(x, p, s, p->n.zero, (th_recompute)i))
            return true;
    return false;
}

/* 0 or -1; *out: the bound, ps. */
static int bound_schedule(th_plan_search *x, const th_work_context *c,
                          const th_pipeline_schedule *schedule, th_time *out)
{
    th_collective_times *times = th_collective_times_new(x->system, c->p, x->err);
    if (!times)
        return -1;
    th_collective_times_use(times, x->items[0].memo);
    th_plan_operations *operations =
        th_plan_operations_new(&x->units, c, &schedule->shape, times, x->err);
    *out = operations ? th_plan_bound_schedule(operations, schedule, x->err) : -1;
    th_plan_operations_free(operations);
    th_collective_times_free(times);
    return *out < 0 ? -1 : 0;
}

/* Puts back the members of a group, or a plan that fits, with the bound of its schedule. */
static int refine(th_plan_search *x, node *n)
{
    const th_parallel_plan p = plan_of(x, n);
    if (n->level == LEVEL_GROUP)
        return th_plan_space_members(x->space, &p, add_member, x);
    const th_work_context c = context_of(x, &p);
    const th_pipeline_shape shape = {p.n.pipeline, p.n.chunks, th_plan_micro_batches(&p)};
    th_pipeline_schedule schedule;
    th_time ps;
    if (th_pipeline_make(p.schedule, &shape, &schedule, x->err))
        return -1;
    int status = 0;
    if (fits(x, &c, &schedule) && !is_needless(x, &p, &schedule)) {
        if (!x->is_mixed) /* where no other bound is known */
            status = bound_schedule(x, &c, &schedule, &ps);
        if (status == 0 && !x->is_mixed)
            n->bound = fmax(n->bound, value_of(x, &p, th_seconds(ps)));
        n->level = LEVEL_READY;
        if (status == 0 && n->bound < cutoff(x))
            status = push(x, n);
    }
    th_pipeline_clear(&schedule);
    return status;
}

/* ---- simulation ---- */

static int64_t known_step(const th_plan_search *x, const th_parallel_plan *p)
{
    th_strbuf text = TH_STRBUF_INIT;
    int64_t ps = -1;
    th_plan_describe(p, &text);
    if (text.text)
        th_map_get(x->known, text.text, strlen(text.text), &ps);
    th_strbuf_clear(&text);
    return ps;
}

static void *simulate(void *argument)
{
    item *i = argument;
    const th_plan_search *x = i->search;
    const th_parallel_plan *p = &i->plan;
    const th_pipeline_shape shape = {p->n.pipeline, p->n.chunks, th_plan_micro_batches(p)};
    th_pipeline_schedule schedule;
    th_work_context c = x->work;
    i->step_ps = known_step(x, p);
    if (!i->memo && !(i->memo = th_collective_memo_new(x->system, &i->err)))
        return NULL;
    c.p = p;
    c.memo = i->memo;
    if (th_pipeline_make(p->schedule, &shape, &schedule, &i->err))
        return NULL;
    i->bytes = (double)th_plan_memory_most(&c, &schedule, NULL, NULL);
    if (i->step_ps < 0)
        i->step_ps = th_plan_step_time(x->system, &c, &schedule, &i->err);
    th_pipeline_clear(&schedule);
    return NULL;
}

static int simulate_all(th_plan_search *x, int n, th_error *err)
{
    int n_started = 1;
    for (; n_started < n; n_started++)
        if (pthread_create(&x->items[n_started].thread, NULL, simulate, &x->items[n_started]))
            break;
    if (n > 0)
        simulate(&x->items[0]);
    for (int i = n_started; i < n; i++) /* no more threads */
        simulate(&x->items[i]);
    for (int i = 1; i < n_started; i++)
        pthread_join(x->items[i].thread, NULL);
    for (int i = 0; i < n; i++)
        if (x->items[i].step_ps < 0) {
            *err = x->items[i].err;
            return -1;
        }
    return 0;
}

/* The best first; of equal ones the one that was found first. */
static int commit(th_plan_search *x, const item *i)
{
    if (th_grow(&x->found, &x->found_capacity, x->n_found + 1, sizeof *x->found))
        return th_error_no_memory(x->err);
    th_found_plan f = {.plan = i->plan,
                       .step_ps = i->step_ps,
                       .bytes = i->bytes,
                       .bound = i->node.bound,
                       .evaluation = (int64_t)x->n_found + 1};
    f.value = value_of(x, &f.plan, th_seconds(i->step_ps));
    size_t at = x->n_found++;
    for (; at > 0 && x->found[at - 1].value > f.value; at--)
        x->found[at] = x->found[at - 1];
    x->found[at] = f;
    return 0;
}

/* ---- the search ---- */

static bool is_out_of_budget(const th_plan_search *x, int64_t n_more)
{
    const th_plan_search_options *o = &x->options;
    return (o->evaluations > 0 && (int64_t)x->n_found + n_more >= o->evaluations) ||
           (o->seconds > 0 && th_clock_s() - x->started_s >= o->seconds);
}

/* Puts plans back that are not to be simulated, or could not be. */
static int put_back(th_plan_search *x, int from, int n)
{
    for (int i = from; i < n; i++)
        if (push(x, &x->items[i].node))
            return -1;
    return 0;
}

/* The next plans to simulate. How many, or -1. */
static int gather(th_plan_search *x)
{
    int n = 0;
    while (n < x->options.threads && !is_out_of_budget(x, n) && x->n_queue > 0 &&
           x->queue[0].bound < cutoff(x)) {
        if (x->options.is_interrupted && x->options.is_interrupted())
            return put_back(x, 0, n) ? -1
                                     : th_error_interrupted(x->err, "the best plan so far is kept");
        node first = pop(x);
        if (first.level == LEVEL_READY) {
            x->items[n].plan = plan_of(x, &first);
            x->items[n++].node = first;
        } else if (refine(x, &first))
            return -1;
    }
    return n;
}

int th_plan_search_iterate(th_plan_search *x, th_error *err)
{
    x->err = err;
    const int n = gather(x);
    if (n < 0)
        return -1;
    if (simulate_all(x, n, err)) {
        th_error ignored;
        x->err = &ignored;
        put_back(x, 0, n);
        return -1;
    }
    int i = 0;
    for (; i < n && x->items[i].node.bound < cutoff(x); i++)
        if (commit(x, &x->items[i]))
            return -1;
    if (put_back(x, i, n))
        return -1;
    x->left = x->n_queue > 0 ? x->queue[0].bound : INFINITY;
    x->done = n < x->options.threads || i < n || x->left >= cutoff(x) || is_out_of_budget(x, 0);
    return 0;
}

bool th_plan_search_is_done(const th_plan_search *x)
{
    return x->done;
}

int th_plan_search_try(th_plan_search *x, const th_parallel_plan *plans, int n, double *values,
                       th_error *err)
{
    int n_items = 0;
    x->err = err;
    x->left = 0; /* of what has no bound */
    for (int i = 0; i < n; i++) {
        const th_work_context c = context_of(x, &plans[i]);
        const th_pipeline_shape shape = {plans[i].n.pipeline, 1, th_plan_micro_batches(&plans[i])};
        th_pipeline_schedule schedule;
        values[i] = INFINITY;
        if (x->options.is_interrupted && x->options.is_interrupted())
            return th_error_interrupted(err, "the best plan so far is kept");
        if (th_pipeline_make(plans[i].schedule, &shape, &schedule, err))
            return -1;
        if (fits(x, &c, &schedule)) {
            x->items[n_items].plan = plans[i];
            x->items[n_items++].node = (node){.number = i};
        }
        th_pipeline_clear(&schedule);
        if (n_items < x->options.threads && i < n - 1)
            continue;
        if (simulate_all(x, n_items, err))
            return -1;
        for (int k = 0; k < n_items; k++) {
            const int64_t at = x->items[k].node.number;
            values[at] = value_of(x, &plans[at], th_seconds(x->items[k].step_ps));
            if (commit(x, &x->items[k]))
                return -1;
        }
        n_items = 0;
    }
    return 0;
}

int th_plan_search_know(th_plan_search *x, const char *plan, th_time step_ps, th_error *err)
{
    return th_map_put(x->known, plan, strlen(plan), step_ps) ? th_error_no_memory(err) : 0;
}

/* ---- life ---- */

static int prepare(th_plan_search *x, th_error *err)
{
    x->err = err;
    x->known = th_map_new();
    x->items = th_alloc_zero((size_t)x->options.threads, sizeof *x->items);
    x->per_second = th_alloc_zero((size_t)x->system->n_accels + 1, sizeof *x->per_second);
    if (!x->known || !x->items || !x->per_second)
        return th_error_no_memory(err);
    x->is_mixed = x->work.devices.n > 1;
    x->work.device = th_training_fastest(&x->work); /* bounds are below every stage's */
    for (int i = 0; i < x->options.threads; i++)
        x->items[i].search = x;
    if (!(x->items[0].memo = th_collective_memo_new(x->system, err)) ||
        th_plan_units_init(&x->units, x->system, &x->work, err) ||
        (x->options.objective == TH_PLAN_ENERGY && use_energy(x, err)) ||
        (x->options.objective == TH_PLAN_COST && use_cost(x, err)))
        return -1;
    return th_plan_space_groups(x->space, add_group, x);
}

th_plan_search *th_plan_search_new(const th_system *s, const th_work_context *work,
                                   const th_plan_space *space, const th_plan_search_options *o,
                                   th_error *err)
{
    th_plan_search *x = th_alloc_zero(1, sizeof *x);
    if (!x) {
        th_error_no_memory(err);
        return NULL;
    }
    *x = (th_plan_search){
        .system = s, .work = *work, .space = space, .options = *o, .started_s = th_clock_s()};
    if (prepare(x, err) == 0) {
        x->left = x->n_queue > 0 ? x->queue[0].bound : INFINITY;
        return x;
    }
    th_plan_search_free(x);
    return NULL;
}

void th_plan_search_free(th_plan_search *x)
{
    if (!x)
        return;
    for (int i = 0; x->items && i < x->options.threads; i++)
        th_collective_memo_free(x->items[i].memo);
    th_free(x->items);
    th_free(x->per_second);
    th_map_free(x->known);
    th_plan_units_clear(&x->units);
    th_free(x->queue);
    th_free(x->found);
    th_free(x);
}

/* ---- what was found ---- */

th_plan_findings th_plan_search_found(const th_plan_search *x)
{
    return (th_plan_findings){.of = x->found,
                              .n = (int)x->n_found,
                              .evaluations = (int64_t)x->n_found,
                              .options = x->options,
                              .bound = x->left,
                              .elapsed_s = th_clock_s() - x->started_s,
                              .is_done = x->left >= cutoff(x)};
}

th_plan_findings *th_plan_findings_copy(const th_plan_findings *f)
{
    th_plan_findings *copy = th_alloc_zero(1, sizeof *copy);
    th_found_plan *of = th_alloc_array((size_t)f->n + 1, sizeof *of);
    if (!copy || !of) {
        th_free(copy);
        th_free(of);
        return NULL;
    }
    *copy = *f;
    copy->of = of;
    memcpy(of, f->of, (size_t)f->n * sizeof *of);
    return copy;
}

void th_plan_findings_free(th_plan_findings *f)
{
    if (f)
        th_free(f->of);
    th_free(f);
}

bool th_plan_is_proven(const th_plan_findings *f, int i)
{
    return f->of[i].value <= f->bound;
}
