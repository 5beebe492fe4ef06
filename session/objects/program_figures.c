/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_figures.c - classes of figures of the mapping and the program without objects of their
 * own: sets, models, ranks, jobs, messages, dependencies, and the improvements of a search. */
#include <config.h>
#include "base/alloc.h"
#include "base/min_max.h"
#include "mapper/evaluate/deadline.h"
#include "session/objects/class_attributes.h"
#include "session/objects/figures.h"
#include "session/jobs.h"
#include "session/messages.h"

int th_figures_need_tasks(th_session *s, th_error *err)
{
    return th_class_need(s, TH_CLASS_TASK, err);
}

/* ---- sets ---- */

static const th_attribute set_attributes[] = {
    {"design", TH_KIND_TEXT, "design that its accelerators are configured with"},
    {"n_accels", TH_KIND_COUNT, "accelerators of the set", .heading = "size"},
    {"n_layers", TH_KIND_COUNT, "layers that run on the set", .heading = "layers"},
    {"overlaps", TH_KIND_COUNT, "other sets that have some of its accelerators"},
    {"first_layer", TH_KIND_TEXT, "first of its layers", .heading = "from"},
    {"last_layer", TH_KIND_TEXT, "last of its layers", .heading = "to"},
    {"begin", TH_KIND_TIME, "when the first of its tasks begins"},
    {"end", TH_KIND_TIME, "when the last of its tasks ends"},
    {"accels", TH_KIND_TEXT, "its accelerators, in the order of shards", .heading = "accelerators"},
    {"shares", TH_KIND_TEXT, "share of the work of each accelerator"},
    {.name = NULL},
};

static int32_t count_sets(const th_session *s)
{
    return s->mapping->n_sets;
}

/* "0-3 8": names of accelerators; consecutive numbers are joined. */
static void add_accels(const th_session *s, const th_set *set, th_strbuf *out)
{
    for (int i = 0; i < set->n_accels; i++) {
        int last = i;
        while (last + 1 < set->n_accels && set->accels[last + 1] == set->accels[last] + 1)
            last++;
        th_strbuf_printf(out, "%s%s", i > 0 ? " " : "",
                         s->system->nodes[s->system->accel_node[set->accels[i]]].name);
        if (last > i + 1) {
            th_strbuf_printf(out, "..%s",
                             s->system->nodes[s->system->accel_node[set->accels[last]]].name);
            i = last;
        }
    }
}

/* "3 1"; "equal". */
static void add_shares(const th_set *set, th_strbuf *out)
{
    for (int i = 0; set->shares && i < set->n_accels; i++)
        th_strbuf_printf(out, "%s%d", i > 0 ? " " : "", (int)set->shares[i]);
    if (!set->shares)
        th_strbuf_add(out, "equal");
}

void th_put_texts(th_session *s, th_strbuf *a, th_strbuf *b, th_quantity *cells)
{
    th_strbuf *out = &s->text.scratch;
    th_strbuf_clear(out);
    th_strbuf_add_bytes(out, a->text ? a->text : "", a->length + 1);
    th_strbuf_add(out, b->text ? b->text : "");
    out->failed |= a->failed || b->failed;
    cells[0] = th_text(out->text);
    cells[1] = out->failed ? cells[0] : th_text(out->text + a->length + 1);
    th_strbuf_clear(a);
    th_strbuf_clear(b);
}

/* When the computing tasks of a set's layers run: begin and end; absent before they have. */
static void set_times(th_session *s, int32_t set, th_quantity *cells)
{
    const th_result *x = th_run_result(s);
    const th_program *p = x ? s->simulation->program : NULL;
    th_time begin = -1, end = -1;
    bool has_ended = true;
    for (int32_t t = 0; p && t < p->n_tasks; t++) {
        if (p->tasks[t].kind != TH_TASK_COMPUTE || p->tasks[t].layer < 0 ||
            s->mapping->set_of[p->tasks[t].layer] != set)
            continue;
        const th_task_result *of = &x->tasks[t];
        begin = of->start_ps >= 0 && (begin < 0 || of->start_ps < begin) ? of->start_ps : begin;
        end = of->end_ps > end ? of->end_ps : end;
        has_ended &= of->end_ps >= 0;
    }
    cells[0] = th_ps_or_absent(begin);
    cells[1] = th_ps_or_absent(has_ended ? end : -1);
}

static void set_row(th_session *s, int32_t row, th_quantity *cells)
{
    const th_mapping *m = s->mapping;
    int n_layers = 0, n_overlaps = 0, first = -1, last = -1;
    for (int l = 0; l < m->n_layers; l++) {
        n_layers += m->set_of[l] == row;
        last = m->set_of[l] == row ? l : last;
        first = first < 0 ? last : first;
    }
    for (int32_t i = 0; i < m->n_sets; i++)
        n_overlaps += i != row && th_sets_overlap(&m->sets[i], &m->sets[row]);
    cells[0] = th_text(th_set_design_name(&m->sets[row], s->system));
    cells[1] = th_count(m->sets[row].n_accels);
    cells[2] = th_count(n_layers);
    cells[3] = th_count(n_overlaps);
    cells[4] = first < 0 ? th_absent(TH_KIND_TEXT) : th_text(s->workload->layers[first].name);
    cells[5] = last < 0 ? th_absent(TH_KIND_TEXT) : th_text(s->workload->layers[last].name);
    set_times(s, row, &cells[6]);
    th_strbuf accels = TH_STRBUF_INIT, shares = TH_STRBUF_INIT;
    add_accels(s, &m->sets[row], &accels);
    add_shares(&m->sets[row], &shares);
    th_put_texts(s, &accels, &shares, &cells[8]);
}

const th_figures th_figures_of_sets = {"sets", th_session_need_mapping, count_sets, set_attributes,
                                       .row = set_row};

/* ---- models ---- */

static const th_attribute model_attributes[] = {
    {"name", TH_KIND_TEXT, "the network", .heading = "model"},
    {"layers", TH_KIND_COUNT, "its layers"},
    {"arrival", TH_KIND_TIME, "when its input arrives"},
    {"end", TH_KIND_TIME, "when its last output ends"},
    {"latency", TH_KIND_TIME, "mean time from arrival to end"},
    {"longest", TH_KIND_TIME, "longest time from arrival to end"},
    {"deadline", TH_KIND_TIME, "latest end allowed after the arrival"},
    {"verdict", TH_KIND_TEXT, "met or missed"},
    {"lateness", TH_KIND_TIME, "end beyond the deadline", .heading = "late by"},
    {.name = NULL},
};

static int32_t count_models(const th_session *s)
{
    return s->workload ? s->workload->n_models : 0;
}

/* When it ends, in the present run; not complete where there is none. */
static th_model_timing timing_of(th_session *s, int32_t model)
{
    const th_result *x = th_run_result(s);
    size_t n = x ? (size_t)s->workload->n_models * (size_t)x->n_inputs + 1 : 1;
    th_time *end = x ? th_alloc_array(n, sizeof *end) : NULL;
    th_model_timing timing = {.is_complete = false};
    if (end) {
        th_deadline_model_ends(s->workload, s->simulation->program, x->tasks, end);
        timing = th_deadline_model_timing(s->workload, &s->simulation->options.stream, model, end);
    }
    s->text.scratch.failed |= x && !end; /* memory is out */
    th_free(end);
    return timing;
}

static void model_row(th_session *s, int32_t row, th_quantity *cells)
{
    const th_model *m = &s->workload->models[row];
    th_model_timing t = timing_of(s, row);
    bool has_deadline = m->deadline_ps > 0, is_known = t.is_complete && has_deadline;
    cells[0] = th_text(m->name);
    cells[1] = th_count(m->n_layers);
    cells[2] = th_ps(m->arrival_ps);
    cells[3] = th_ps_or_absent(t.is_complete ? t.end_ps : -1);
    cells[4] = th_ps_or_absent(t.is_complete ? t.latency_ps : -1);
    cells[5] = th_ps_or_absent(t.is_complete ? t.max_latency_ps : -1);
    cells[6] = th_ps_or_absent(has_deadline ? m->deadline_ps : -1);
    cells[7] = th_text(!is_known ? NULL : t.lateness_ps > 0 ? "missed" : "met");
    cells[8] = th_ps_or_absent(is_known ? t.lateness_ps : -1);
}

const th_figures th_figures_of_models = {"models", th_session_need_workload, count_models,
                                         model_attributes, .row = model_row};

/* ---- ranks ---- */

static const th_attribute rank_attributes[] = {
    {"accel_id", TH_KIND_COUNT, "its accelerator"},
    {"stage_id", TH_KIND_COUNT, "its stage in a plan of training"},
    {"state", TH_KIND_TEXT, "finished or not_finished, of a trace"},
    {"finish", TH_KIND_TIME, "when its last node ended"},
    {"exposed", TH_KIND_TIME, "time until then without computation"},
    {.name = NULL},
};

static const th_trace *trace_of(const th_session *s)
{
    return s->hand_built ? s->hand_built->trace : NULL;
}

static int32_t count_ranks(const th_session *s)
{
    const th_training_step *x = th_session_step(s);
    return x             ? x->plan.n.pipeline * th_plan_stage_ranks(&x->plan)
           : trace_of(s) ? trace_of(s)->n_ranks
                         : 0;
}

/* Of a rank of a trace, by the present run; -1: not finished. */
typedef struct rank_times {
    th_time finish_ps, exposed_ps;
} rank_times;

static rank_times times_of_tasks(const th_program *p, const th_task_result *times, int32_t first,
                                 int32_t n)
{
    rank_times t = {0, 0};
    for (int32_t i = first; i < first + n; i++) {
        if (times[i].end_ps < 0)
            return (rank_times){-1, -1};
        t.finish_ps = th_max(t.finish_ps, times[i].end_ps);
        if (p->tasks[i].kind == TH_TASK_COMPUTE)
            t.exposed_ps -= times[i].end_ps - times[i].start_ps;
    }
    t.exposed_ps += t.finish_ps;
    return t;
}

static rank_times times_of_rank(const th_session *s, int32_t rank)
{
    static const th_time ps_per_ns = 1000;
    const th_simulation *sim = s->simulation;
    if (!sim->ranks)
        return times_of_tasks(sim->program, th_machine_times(sim->machine),
                              trace_of(s)->ranks[rank].first, trace_of(s)->ranks[rank].n_nodes);
    const th_astra_rank_times *r = &sim->ranks[rank];
    if (r->finish_ns < 0 || r->finish_ns * ps_per_ns > th_machine_now(sim->machine))
        return (rank_times){-1, -1};
    return (rank_times){r->finish_ns * ps_per_ns, (int64_t)r->exposed_ns * ps_per_ns};
}

static void rank_row(th_session *s, int32_t row, th_quantity *cells)
{
    const th_training_step *x = th_session_step(s);
    int32_t n = x ? th_plan_stage_ranks(&x->plan) : 1;
    bool has_times = trace_of(s) && s->simulation;
    rank_times t = has_times ? times_of_rank(s, row) : (rank_times){-1, -1};
    cells[0] = th_count(x ? th_plan_accel(&x->plan, row / n, row % n) : row);
    cells[1] = x ? th_count(row / n) : th_absent(TH_KIND_COUNT);
    cells[2] = th_text(!has_times ? NULL : t.finish_ps >= 0 ? "finished" : "not_finished");
    cells[3] = th_ps_or_absent(t.finish_ps);
    cells[4] = th_ps_or_absent(t.exposed_ps);
}

const th_figures th_figures_of_ranks = {"ranks", th_figures_need_tasks, count_ranks,
                                        rank_attributes, .row = rank_row};

/* ---- jobs ---- */

static const th_attribute job_attributes[] = {
    {"name", TH_KIND_TEXT, "name of the job", .heading = "job"},
    {"program", TH_KIND_TEXT, "program that it is a copy of"},
    {"ranks", TH_KIND_COUNT, "accelerators that it uses"},
    {"tasks", TH_KIND_COUNT, "its tasks"},
    {"start", TH_KIND_TIME, "its tasks start no earlier"},
    {"end", TH_KIND_TIME, "end of its last task"},
    {"time", TH_KIND_TIME, "end - start"},
    {.name = NULL},
};

static int32_t count_jobs(const th_session *s)
{
    return th_session_program(s)->n_jobs;
}

static void job_row(th_session *s, int32_t row, th_quantity *cells)
{
    const th_program *p = th_session_program(s);
    const th_program_job *j = &p->jobs[row];
    const th_result *x = th_run_result(s);
    th_time end_ps = x ? th_job_end(p, x, row) : -1;
    cells[0] = th_text(j->name);
    cells[1] = th_text(j->program);
    cells[2] = th_count(j->n_accels);
    cells[3] = th_count(j->n_tasks);
    cells[4] = th_ps(j->start_ps);
    cells[5] = th_ps_or_absent(end_ps);
    cells[6] = end_ps < 0 ? th_absent(TH_KIND_TIME) : th_ps(end_ps - j->start_ps);
}

const th_figures th_figures_of_jobs = {"jobs", th_figures_need_tasks, count_jobs, job_attributes,
                                       .row = job_row};

/* ---- messages ---- */

static const th_attribute message_attributes[] = {
    {"task_id", TH_KIND_COUNT, "its transfer or collective"},
    {"source_id", TH_KIND_COUNT, "the node that sends it"},
    {"target_id", TH_KIND_COUNT, "the node that receives it"},
    {"source", TH_KIND_TEXT, "name of the node that sends it"},
    {"target", TH_KIND_TEXT, "name of the node that receives it"},
    {"bytes", TH_KIND_BYTES, "its size"},
    {"start", TH_KIND_TIME, "when it was sent"},
    {"end", TH_KIND_TIME, "when all of it had arrived"},
    {"duration", TH_KIND_TIME, "from its start to its end"},
    {.name = NULL},
};

static int need_messages(th_session *s, th_error *err)
{
    return th_figures_need_tasks(s, err) != 0 || !th_session_messages(s, err) ? -1 : 0;
}

static int32_t count_messages(const th_session *s)
{
    const th_sent_messages *x = s->simulation ? s->simulation->messages : NULL;
    return x ? (int32_t)x->n : 0;
}

static void message_row(th_session *s, int32_t row, th_quantity *cells)
{
    const th_sent_message *m = &s->simulation->messages->all[row];
    cells[0] = th_count(m->task);
    cells[1] = th_count(m->from);
    cells[2] = th_count(m->to);
    cells[3] = th_text(s->system->nodes[m->from].name);
    cells[4] = th_text(s->system->nodes[m->to].name);
    cells[5] = th_bytes(m->bytes);
    cells[6] = th_ps(m->start_ps);
    cells[7] = th_ps_or_absent(m->end_ps);
    cells[8] = m->end_ps < 0 ? th_absent(TH_KIND_TIME) : th_ps(m->end_ps - m->start_ps);
}

const th_figures th_figures_of_messages = {"messages", need_messages, count_messages,
                                           message_attributes, .row = message_row};

/* ---- dependencies ---- */

static const th_attribute dependency_attributes[] = {
    {"task_id", TH_KIND_COUNT, "the task that waits"},
    {"before_id", TH_KIND_COUNT, "the task that must have ended"},
    {.name = NULL},
};

static int32_t count_dependencies(const th_session *s)
{
    int64_t n = th_session_program(s)->n_dependencies;
    return n < INT32_MAX ? (int32_t)n : INT32_MAX; /* more cannot be run */
}

static void dependency_row(th_session *s, int32_t row, th_quantity *cells)
{
    cells[0] = th_count(th_session_program(s)->edge_to[row]);
    cells[1] = th_count(th_session_program(s)->edge_from[row]);
}

const th_figures th_figures_of_dependencies = {"dependencies", th_figures_need_tasks,
                                               count_dependencies, dependency_attributes,
                                               .row = dependency_row};

/* ---- the search ---- */

static const th_attribute search_attributes[] = {
    {"evaluation", TH_KIND_COUNT, "the evaluation that found a better mapping"},
    {"makespan", TH_KIND_TIME, "of that mapping"},
    {"interval", TH_KIND_TIME, "time between its batches"},
    {"lateness", TH_KIND_TIME, "past its deadlines, summed"},
    {"energy", TH_KIND_ENERGY, "of its run, where the objective needs it"},
    {"found_by", TH_KIND_TEXT, "the search that found it"},
    {"generator", TH_KIND_TEXT, "what made it"},
    {.name = NULL},
};

static int32_t count_improvements(const th_session *s)
{
    return (int32_t)s->search.n_improvements;
}

static void search_row(th_session *s, int32_t row, th_quantity *cells)
{
    const th_improvement *x = &s->search.improvements[row];
    cells[0] = th_count(x->evaluation);
    cells[1] = th_ps(x->metrics.latency_ps);
    cells[2] = th_ps(x->metrics.interval_ps);
    cells[3] = th_ps(x->metrics.lateness_ps);
    cells[4] = th_goal_needs_energy(&s->search.goal) ? th_joules(x->metrics.energy_j)
                                                     : th_absent(TH_KIND_ENERGY);
    cells[5] = th_text(x->found_by->name);
    cells[6] = th_text(th_generator_names[x->generator]);
}

const th_figures th_figures_of_search = {"search", th_session_need_mapping, count_improvements,
                                         search_attributes, .row = search_row};
