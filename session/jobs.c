/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.c - see jobs.h. */
#include <config.h>
#include "session/jobs.h"
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "session/property_events.h"

/* ---- saved programs ---- */

static th_hand_built *find(const th_session *s, const char *name)
{
    for (size_t i = 0; i < s->programs.n; i++)
        if (strcmp(s->programs.all[i]->name, name) == 0)
            return s->programs.all[i];
    return NULL;
}

th_hand_built *th_saved_program_find(th_session *s, const char *name, th_error *err)
{
    th_hand_built *found = find(s, name);
    if (found)
        return found;
    if (s->programs.n == 0) {
        th_error_set(err, "TCL-0930", "program \"%.100s\": none is saved: save_program first",
                     name);
        return NULL;
    }
    const char **names = th_alloc_array(s->programs.n + 1, sizeof *names);
    if (!names) {
        th_error_no_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < s->programs.n; i++)
        names[i] = s->programs.all[i]->name;
    names[s->programs.n] = NULL;
    th_error_unknown(err, "TCL-0931", "program", name, names);
    th_free(names);
    return NULL;
}

/* Of a mapping: its tasks under the options of the next run. Times of procedures are known to the
 * session alone. */
static int take_mapping(th_session *s, th_program_part *part, th_error *err)
{
    th_simulation *sim = th_session_simulation(s, err);
    if (!sim)
        return -1;
    if (th_compute_cost_uses_scripts(th_simulation_costs(sim)))
        return th_error_set(err, "TCL-0932",
                            "the system \"%.100s\" has designs that are procedures: the mapping "
                            "must use designs of other types",
                            s->system->name);
    part->from = sim->program;
    part->costs = th_simulation_costs(sim);
    return 0;
}

static th_hand_built *copy_of_present(th_session *s, const char *name, th_error *err)
{
    th_program_part part = {.system = s->system};
    if (th_session_need_program(s, err))
        return NULL;
    if (s->hand_built)
        part.from = s->hand_built->program;
    else if (take_mapping(s, &part, err))
        return NULL;
    part.n = part.from->n_tasks;
    th_hand_built *copy = th_hand_built_new(name, err);
    if (copy && th_hand_built_append(copy, s->hand_built, &part, NULL, err) == 0)
        return copy;
    th_hand_built_free(copy);
    return NULL;
}

int th_saved_program_add(th_session *s, const char *name, th_error *err)
{
    th_saved_programs *all = &s->programs;
    if (th_grow(&all->all, &all->capacity, all->n + 1, sizeof(th_hand_built *)))
        return th_error_no_memory(err);
    th_hand_built *copy = copy_of_present(s, name, err);
    if (!copy)
        return -1;
    size_t i = 0;
    while (i < all->n && strcmp(all->all[i]->name, name) != 0)
        i++;
    if (i < all->n)
        th_hand_built_free(all->all[i]);
    else
        all->n++;
    all->all[i] = copy;
    return 0;
}

void th_saved_programs_clear(th_session *s)
{
    for (size_t i = 0; i < s->programs.n; i++)
        th_hand_built_free(s->programs.all[i]);
    th_free(s->programs.all);
    s->programs = (th_saved_programs){NULL, 0, 0};
}

/* ---- jobs ---- */

/* -1: there is none. */
static int32_t find_job(const th_program *p, const char *name)
{
    for (int32_t j = 0; j < p->n_jobs; j++)
        if (strcmp(p->jobs[j].name, name) == 0)
            return j;
    return -1;
}

/* node_of[node]: the node in its place. */
static int place_all(const th_session *s, const th_job_request *q, const bool *is_used, int32_t n,
                     int32_t *node_of, th_error *err)
{
    int32_t next = 0;
    for (int32_t i = 0; i < s->system->n_nodes; i++)
        node_of[i] = i;
    if (q->n == 0)
        return 0;
    if (q->n != n)
        return th_error_set(err, "TCL-0933",
                            "-ranks: %d accelerators: the program \"%.100s\" uses %d", (int)q->n,
                            q->program->name, (int)n);
    for (int a = 0; a < s->system->n_accels; a++)
        if (is_used[a])
            node_of[s->system->accel_node[a]] = q->nodes[next++];
    return 0;
}

static int add(th_session *s, const th_job_request *q, bool *is_used, int32_t *node_of,
               th_error *err)
{
    const th_program *from = q->program->program;
    th_program_job job = {.name = (char *)q->name,
                          .program = q->program->name,
                          .start_ps = q->start_ps,
                          .n_accels = th_program_accels(s->system, from, is_used)};
    th_program_part part = {.system = s->system,
                            .from = from,
                            .n = from->n_tasks,
                            .node_of = node_of,
                            .shift_ps = q->start_ps};
    return place_all(s, q, is_used, job.n_accels, node_of, err) ||
                   th_hand_built_append(s->hand_built, q->program, &part, &job, err)
               ? -1
               : 0;
}

int th_job_add(th_session *s, const th_job_request *q, th_error *err)
{
    if (find_job(s->hand_built->program, q->name) >= 0)
        return th_error_set(err, "TCL-0934",
                            "-name \"%.100s\": the program \"%.100s\" has a job of this name",
                            q->name, s->hand_built->name);
    bool *is_used = th_alloc_zero((size_t)s->system->n_accels + 1, sizeof *is_used);
    int32_t *node_of = th_alloc_array((size_t)s->system->n_nodes + 1, sizeof *node_of);
    int failed = is_used && node_of ? add(s, q, is_used, node_of, err) : th_error_no_memory(err);
    th_free(is_used);
    th_free(node_of);
    return failed;
}

/* ---- times ---- */

static th_time last_end(const th_task_result *tasks, int32_t n)
{
    th_time end = 0;
    for (int32_t i = 0; i < n; i++) {
        if (tasks[i].end_ps < 0)
            return -1;
        if (tasks[i].end_ps > end)
            end = tasks[i].end_ps;
    }
    return end;
}

th_time th_job_end(const th_program *p, const th_result *x, int32_t job)
{
    return last_end(x->tasks + p->jobs[job].first_task, p->jobs[job].n_tasks);
}

static int run_alone(th_session *s, const th_program *p, th_time *end, th_error *err)
{
    th_simulation *sim = th_simulation_of_finished(s->system, p, &s->simulation->options, err);
    int failed = sim ? th_property_events_repeat(s, sim, TH_TIME_MAX, err) : -1;
    if (!failed)
        *end = last_end(th_machine_times(sim->machine), p->n_tasks);
    th_simulation_free(sim);
    return failed;
}

int th_job_end_alone(th_session *s, int32_t job, th_time *end, th_error *err)
{
    const th_program *all = s->hand_built->program;
    th_program_part part = {.system = s->system,
                            .from = all,
                            .first = all->jobs[job].first_task,
                            .n = all->jobs[job].n_tasks};
    th_program *alone = th_program_new(err);
    if (alone)
        th_program_clear(alone);
    int failed = !alone || th_program_append(alone, &part, err) || th_program_finish(alone, err) ||
                 run_alone(s, alone, end, err);
    th_program_free(alone);
    return failed ? -1 : 0;
}
