/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hand_built.c - see hand_built.h. */
#include <config.h>
#include "session/hand_built.h"
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"
#include "base/interrupt.h"

th_hand_built *th_hand_built_new(const char *name, th_error *err)
{
    th_hand_built *m = th_alloc_zero(1, sizeof *m);
    if (m)
        m->n_owners = 1;
    if (!m || !(m->name = th_alloc_string(name)) || !(m->program = th_program_new(err))) {
        th_hand_built_free(m);
        th_error_no_memory(err);
        return NULL;
    }
    th_program_clear(m->program);
    return m;
}

th_hand_built *th_hand_built_of_trace(th_trace *t, const th_system *s, th_roofline_choice roofline,
                                      th_error *err)
{
    th_hand_built *m = th_hand_built_new(t->prefix, err);
    if (!m) {
        th_trace_free(t);
        return NULL;
    }
    m->trace = t;
    m->roofline = roofline;
    th_lower_trace_options o = {
        .trace = t, .system = s, .roofline = roofline, .is_interrupted = th_interrupt_is_pending};
    if (th_lower_trace(&o, m->program, err) == 0)
        return m;
    th_hand_built_free(m);
    return NULL;
}

th_hand_built *th_hand_built_of_step(const char *name, const th_system *s, const th_work_context *c,
                                     const th_pipeline_schedule *schedule, th_plan_file *plan,
                                     th_error *err)
{
    th_hand_built *m = th_hand_built_new(name, err);
    if (m && (!(m->step = th_alloc_zero(1, sizeof *m->step)) ||
              !(m->plan = th_alloc_zero(1, sizeof *m->plan))))
        th_error_no_memory(err);
    if (m && m->plan &&
        th_lower_step(s, c, schedule, plan->merges, m->program, m->step, err) == 0) {
        *m->plan = *plan;
        plan->schedule_file = NULL;
        return m;
    }
    th_hand_built_free(m);
    return NULL;
}

void th_hand_built_describe_unmeasured(const th_hand_built *m, th_strbuf *out)
{
    const th_training_step *x = m ? m->step : NULL;
    const char *precision = x ? th_step_precisions[x->plan.precision].name : NULL;
    if (x && !th_generation_has_steps(x->device.generation, precision))
        th_generation_describe(x->device.generation, precision, out);
}

/* One more owner; accepts NULL. */
static th_hand_built *keep(th_hand_built *m)
{
    if (m)
        m->n_owners++;
    return m;
}

void th_hand_built_free(th_hand_built *m)
{
    if (!m || --m->n_owners > 0)
        return;
    for (size_t i = 0; i < m->n_sources; i++)
        th_hand_built_free(m->sources[i]);
    th_free(m->sources);
    th_program_free(m->program);
    th_trace_free(m->trace);
    if (m->step)
        th_training_step_clear(m->step);
    th_free(m->step);
    if (m->plan)
        th_plan_file_clear(m->plan);
    th_free(m->plan);
    th_plan_findings_free(m->search);
    for (size_t i = 0; i < m->n_schedules; i++)
        th_user_schedule_free(m->schedules[i]);
    th_free(m->schedules);
    th_free(m->name);
    th_free(m);
}

int th_hand_built_keep_schedule(th_hand_built *m, th_user_schedule *schedule, th_error *err)
{
    if (th_grow(&m->schedules, &m->schedule_capacity, m->n_schedules + 1, sizeof *m->schedules))
        return th_error_no_memory(err);
    m->schedules[m->n_schedules++] = schedule;
    return 0;
}

static int32_t append(th_program *p, const th_hand_built_task *t, th_error *err)
{
    th_task task = t->task;
    if (t->collective && (task.collective = th_program_add_collective(p, t->collective, err)) < 0)
        return -1;
    if (t->work && (task.compute_cost = th_program_add_work(p, t->work, err)) < 0)
        return -1;
    int32_t number = th_program_add(p, &task, err);
    for (int32_t i = 0; number >= 0 && i < t->n_after; i++)
        if (th_program_depend(p, number, t->after[i], err) != 0)
            return -1;
    return number;
}

int32_t th_hand_built_add(th_hand_built *m, const th_hand_built_task *t, th_error *err)
{
    th_program *p = m->program;
    th_program_mark before = th_program_mark_of(p);
    int32_t number = append(p, t, err);
    if (number < 0)
        th_program_cut(p, before);
    return number;
}

int th_hand_built_append(th_hand_built *m, th_hand_built *source, const th_program_part *part,
                         th_program_job *job, th_error *err)
{
    th_program_mark before = th_program_mark_of(m->program);
    if (th_grow(&m->sources, &m->source_capacity, m->n_sources + 1, sizeof *m->sources))
        return th_error_no_memory(err);
    if (th_program_append(m->program, part, err))
        return -1;
    if (job) {
        job->first_task = before.n_tasks;
        job->n_tasks = part->n;
    }
    if (job && th_program_add_job(m->program, job, err)) {
        th_program_cut(m->program, before);
        return -1;
    }
    if (source)
        m->sources[m->n_sources++] = keep(source);
    return 0;
}

/* ---- digest ---- */

static uint64_t add_numbers(const int64_t *numbers, size_t n, uint64_t digest)
{
    return th_hash(numbers, n * sizeof *numbers, digest);
}

static uint64_t add_task(const th_task *t, uint64_t digest)
{
    int64_t numbers[] = {t->kind,  t->node,       t->peer,    t->compute_cost,
                         t->bytes, t->release_ps, t->delay_ps};
    return add_numbers(numbers, sizeof numbers / sizeof *numbers, digest);
}

static uint64_t add_schedule(const th_user_schedule *u, uint64_t digest)
{
    for (int32_t i = 0; i < u->n_steps; i++) {
        const th_user_schedule_step *s = &u->steps[i];
        int64_t numbers[] = {s->sends,     s->reduces, s->peer,     s->channel, s->size.bytes,
                             s->size.a,    s->size.b,  s->at.bytes, s->at.a,    s->at.b,
                             u->n_threads, u->n_ranks, s->match};
        digest = add_numbers(numbers, sizeof numbers / sizeof *numbers, digest);
    }
    digest = th_hash(u->rank_thread, (size_t)u->n_ranks * sizeof *u->rank_thread, digest);
    return th_hash(u->thread_step, (size_t)u->n_threads * sizeof *u->thread_step, digest);
}

static uint64_t add_collective(const th_collective *c, uint64_t digest)
{
    size_t n = (size_t)c->n_ranks;
    const char *algorithm = c->algorithm ? c->algorithm->name : "auto";
    int64_t numbers[] = {c->kind, c->n_ranks, c->bytes,  c->pair_bytes ? 1 : 0,
                         c->root, c->chunks,  c->n_dims, c->delay_ps};
    digest = add_numbers(numbers, sizeof numbers / sizeof *numbers, digest);
    digest = th_hash(&c->slowdown, sizeof c->slowdown, digest);
    digest = th_hash(algorithm, strlen(algorithm), digest);
    digest = th_hash(c->rank_node, n * sizeof *c->rank_node, digest);
    digest = th_hash(c->dims, (size_t)c->n_dims * sizeof *c->dims, digest);
    if (c->schedule)
        digest = add_schedule(c->schedule, digest);
    return c->pair_bytes ? add_numbers(c->pair_bytes, n * n, digest) : digest;
}

static uint64_t add_job(const th_program_job *j, uint64_t digest)
{
    digest = th_hash(j->name, strlen(j->name), digest);
    return add_numbers((int64_t[]){j->first_task, j->n_tasks, j->start_ps}, 3, digest);
}

uint64_t th_hand_built_digest(const th_hand_built *m)
{
    const th_program *p = m->program;
    uint64_t digest = th_hash(m->name, strlen(m->name), 0);
    for (int32_t t = 0; t < p->n_tasks; t++)
        digest = add_task(&p->tasks[t], digest);
    for (int32_t i = 0; i < p->n_collectives; i++)
        digest = add_collective(&p->collectives[i], digest);
    for (int32_t i = 0; i < p->n_works; i++)
        digest = th_hash(&p->works[i], sizeof p->works[i], digest);
    if (p->n_placed > 0)
        digest = th_hash(p->placed, (size_t)p->n_placed * sizeof *p->placed, digest);
    for (int32_t i = 0; i < p->n_jobs; i++)
        digest = add_job(&p->jobs[i], digest);
    size_t edges = (size_t)p->n_dependencies;
    digest = th_hash(p->edge_from, edges * sizeof *p->edge_from, digest);
    return th_hash(p->edge_to, edges * sizeof *p->edge_to, digest);
}
