/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_search.c - see plan_search.h.
 *   new: all groups -> queue
 *   iterate: next -> refine (group -> members -> memory, bound of the schedule)
 *            until there are as many as threads -> simulate -> commit, in their order */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/jobs.h"
#include "base/map.h"
#include "base/min_max.h"
#include "training/search/plan_bound.h"
#include "training/plan_memory.h"
#include "training/search/plan_search.h"
#include "training/plan_stages.h"
#include "training/plan_step.h"

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
    node node;
    th_parallel_plan plan;
    double bytes;
    th_collective_memo *memo; /* of its thread; NULL: not needed yet */
    th_time step_ps;
} item;

struct th_plan_search {
    const th_system *system;
    th_work_context work;
    const th_plan_space *space;
    th_plan_search_options options;
    th_plan_units units;
    th_plan_weights weights[2]; /* of objectives */
    node *queue;
    size_t n_queue, queue_capacity;
    int64_t n_made;
    th_map *known; /* steps by the text of the plan */
    item *items;   /* one of each thread */
    th_found_plan *found;
    size_t n_found, found_capacity;
    double started_s;
    double left, dropped; /* bounds of what is not simulated, and of it what is not in the queue */
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

static node node_of(th_plan_search *x, const th_parallel_plan *p, node_level level, double bound)
{
    return (node){.bound = bound,
                  .number = x->n_made++,
                  .n = p->n,
                  .micro_batch = p->batch.micro_batch,
                  .level = (uint8_t)level,
                  .schedule = (uint8_t)(p->schedule - th_pipeline_types),
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

/* ---- refining ---- */

/* The value that a plan must be below; INFINITY: there are not enough yet. */
static double cutoff(const th_plan_search *x)
{
    return x->n_found < (size_t)x->options.top ? INFINITY : x->found[x->options.top - 1].values[0];
}

/* May a plan, or one of a group, be among those that are searched for? */
static bool may_matter(const th_plan_search *x, const node *n)
{
    if (x->options.n_objectives < 2)
        return n->bound < cutoff(x);
    const th_parallel_plan p = plan_of(x, n);
    const double second = th_plan_value(&x->weights[1], &p, n->bound);
    for (size_t i = 0; i < x->n_found && x->found[i].values[0] <= n->bound; i++)
        if (x->found[i].values[1] <= second)
            return false;
    return true;
}

/* Puts it into the queue where it may matter. */
static int offer(th_plan_search *x, const node *n)
{
    if (may_matter(x, n))
        return push(x, n);
    x->dropped = fmin(x->dropped, n->bound);
    return 0;
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
    if (fast.n.zero > 0 && x->space->only[TH_CHOICE_ZERO_GROUP].n > 0)
        fast.n.zero_group = 2; /* the least messages */
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
    const node n = node_of(x, group, LEVEL_GROUP, th_plan_value(&x->weights[0], group, s));
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
    const double bound = th_plan_value(&x->weights[0], p, th_plan_bound_quick(&x->units, &c));
    const node n = node_of(x, p, LEVEL_MEMBER, bound);
    return offer(x, &n);
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

/* What a plan's schedule takes at least, as a value; INFINITY: it does not fit, or is needless. */
static int bound_schedule(th_plan_search *x, const th_parallel_plan *p, double *bound)
{
    const th_work_context c = context_of(x, p);
    th_plan_schedules schedules;
    th_time ps = 0;
    *bound = INFINITY;
    if (th_plan_schedules_make(&schedules, p, x->err))
        return -1;
    if (fits(x, &c, schedules.of) && (p->n_own > 0 || !is_needless(x, p, schedules.of))) {
        ps = th_plan_bound_schedule(&x->units, &c, schedules.of, x->err);
        *bound = th_plan_value(&x->weights[0], p, th_seconds(ps));
    }
    th_plan_schedules_clear(&schedules);
    return ps < 0 ? -1 : 0;
}

/* Puts back the members of a group, or a plan that fits, with the bound of its schedule. */
static int refine(th_plan_search *x, node *n)
{
    const th_parallel_plan p = plan_of(x, n);
    double bound;
    if (n->level == LEVEL_GROUP)
        return th_plan_space_members(x->space, &p, add_member, x);
    if (bound_schedule(x, &p, &bound))
        return -1;
    n->bound = fmax(n->bound, bound);
    n->level = LEVEL_READY;
    return isfinite(bound) ? offer(x, n) : 0;
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

static int simulate(void *state, int k, th_error *err)
{
    const th_plan_search *x = state;
    item *i = &x->items[k];
    const th_parallel_plan *p = &i->plan;
    th_plan_schedules schedules;
    th_work_context c = x->work;
    i->step_ps = known_step(x, p);
    if (!i->memo && !(i->memo = th_collective_memo_new(x->system, err)))
        return -1;
    c.p = p;
    c.memo = i->memo;
    if (th_plan_schedules_make(&schedules, p, err))
        return -1;
    i->bytes = (double)th_plan_memory_most(&c, schedules.of, NULL, NULL);
    if (i->step_ps < 0)
        i->step_ps = th_plan_step_time(x->system, &c, schedules.of, err);
    th_plan_schedules_clear(&schedules);
    return i->step_ps < 0 ? -1 : 0;
}

static int simulate_all(th_plan_search *x, int n, th_error *err)
{
    return th_jobs_run(simulate, NULL, x, n, x->options.threads, err);
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
    for (int k = 0; k < x->options.n_objectives; k++)
        f.values[k] = th_plan_value(&x->weights[k], &f.plan, th_seconds(i->step_ps));
    size_t at = x->n_found++;
    for (; at > 0 && x->found[at - 1].values[0] > f.values[0]; at--)
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
           (x->options.n_objectives > 1 || may_matter(x, &x->queue[0]))) {
        if (x->options.is_interrupted && x->options.is_interrupted())
            return put_back(x, 0, n) ? -1
                                     : th_error_interrupted(x->err, "the best plan so far is kept");
        node first = pop(x);
        if (!may_matter(x, &first))
            x->dropped = fmin(x->dropped, first.bound);
        else if (first.level == LEVEL_READY) {
            x->items[n].plan = plan_of(x, &first);
            x->items[n++].node = first;
        } else if (refine(x, &first))
            return -1;
    }
    return n;
}

/* Is nothing left that matters? */
static bool is_searched(const th_plan_search *x)
{
    return x->options.n_objectives > 1 ? x->n_queue == 0 && x->left > 0 : x->left >= cutoff(x);
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
    for (int i = 0; i < n; i++)
        if (may_matter(x, &x->items[i].node) ? commit(x, &x->items[i]) : push(x, &x->items[i].node))
            return -1;
    x->left = fmin(x->dropped, x->n_queue > 0 ? x->queue[0].bound : INFINITY);
    x->done = n < x->options.threads || is_searched(x) || is_out_of_budget(x, 0);
    if (x->options.watch)
        x->options.watch(x->options.own, x);
    return 0;
}

bool th_plan_search_is_done(const th_plan_search *x)
{
    return x->done;
}

bool th_plan_search_fits(const th_plan_search *x, const th_parallel_plan *p)
{
    const th_work_context c = context_of(x, p);
    th_plan_schedules schedules;
    th_error ignored;
    if (th_plan_schedules_make(&schedules, p, &ignored))
        return false;
    const bool is = fits(x, &c, schedules.of);
    th_plan_schedules_clear(&schedules);
    return is;
}

/* Simulates what was gathered; counts what matters still behind those before it. 0 or -1. */
static int try_items(th_plan_search *x, int n, double *values, th_error *err)
{
    if (simulate_all(x, n, err))
        return -1;
    for (int k = 0; k < n; k++) {
        const item *i = &x->items[k];
        if (!may_matter(x, &i->node))
            continue;
        values[i->node.number] = th_plan_value(&x->weights[0], &i->plan, th_seconds(i->step_ps));
        if (commit(x, i))
            return -1;
    }
    if (x->options.watch)
        x->options.watch(x->options.own, x);
    return 0;
}

int th_plan_search_try(th_plan_search *x, const th_parallel_plan *plans, int n, double *values,
                       th_error *err)
{
    const size_t before = x->n_found;
    int n_items = 0;
    x->err = err;
    x->left = 0; /* of what has no bound */
    for (int i = 0; i < n; i++) {
        node of = node_of(x, &plans[i], LEVEL_READY, INFINITY);
        of.number = i;
        if (x->options.is_interrupted && x->options.is_interrupted())
            return th_error_interrupted(err, "the best plan so far is kept");
        if (th_plan_search_fits(x, &plans[i]) && bound_schedule(x, &plans[i], &of.bound))
            return -1;
        values[i] = of.bound;
        if (isfinite(of.bound) && may_matter(x, &of)) {
            x->items[n_items].plan = plans[i];
            x->items[n_items++].node = of;
        }
        if (n_items < x->options.threads && i < n - 1)
            continue;
        if (try_items(x, n_items, values, err))
            return -1;
        n_items = 0;
    }
    return (int)(x->n_found - before);
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
    if (!x->known || !x->items)
        return th_error_no_memory(err);
    x->work.device = th_training_fastest(&x->work); /* bounds are below every stage's */
    if (!(x->items[0].memo = th_collective_memo_new(x->system, err)) ||
        th_plan_units_init(&x->units, x->system, &x->work, err))
        return -1;
    for (int k = 0; k < x->options.n_objectives; k++)
        if (th_plan_weights_init(&x->weights[k], x->options.objectives[k], &x->work,
                                 &x->space->base, x->system, err))
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
    *x = (th_plan_search){.system = s,
                          .work = *work,
                          .space = space,
                          .options = *o,
                          .started_s = th_clock_s(),
                          .dropped = INFINITY};
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
    for (int k = 0; k < 2; k++)
        th_free(x->weights[k].per_second);
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
                              .is_done = is_searched(x)};
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
    for (int i = 0; i < f->n; i++)
        of[i] = f->of[i];
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
    return f->of[i].values[0] <= f->bound;
}
