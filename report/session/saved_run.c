/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_run.c - see saved_run.h. */
#include <config.h>
#include "report/session/saved_run.h"
#include "base/names.h"
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "report/session/model_error.h"
#include "report/session/property_event_list.h"
#include "report/session/saved_figures.h"

static void free_run(th_saved_run *r)
{
    if (!r)
        return;
    th_free(r->name);
    th_free(r->system);
    th_free(r->workload);
    th_free(r->program);
    th_property_event_list_free(r->events);
    th_saved_figures_free(r->figures);
    th_free(r);
}

void th_saved_runs_clear(th_session *s)
{
    for (size_t i = 0; i < s->saved.n; i++)
        free_run(s->saved.all[i]);
    th_free(s->saved.all);
    s->saved.all = NULL;
    s->saved.n = s->saved.capacity = 0;
}

static void take_figures(th_session *s, const th_result *result, th_saved_run *r)
{
    const th_simulation *sim = s->simulation;
    th_session_digest(s, r->mapping, sizeof r->mapping);
    snprintf(r->algorithm, sizeof r->algorithm, "%s",
             s->hand_built    ? "hand"
             : s->search.type ? s->search.type->name
                              : "file");
    const th_run_options ran = th_simulation_ran(sim);
    th_network_describe(&ran, r->network, sizeof r->network);
    r->has_seed = s->search.type && !s->search.type->is_baseline;
    r->seed = s->search.seed;
    r->batch = s->workload ? s->workload->batch : 0;
    r->n_inputs = sim->options.stream.n_inputs;
    r->stream = sim->options.stream;
    r->latency_ps = th_simulation_latency(sim, result);
    r->makespan_ps = result->elapsed_ps;
    r->samples = s->workload ? th_workload_samples(s->workload) : 0;
    r->batch_throughput_per_s = th_result_throughput(result);
    r->throughput_per_s = (double)r->samples * r->batch_throughput_per_s;
    r->link_utilization = th_result_link_utilization(result);
    r->accel_utilization = th_result_accel_utilization(result);
    r->network_bytes = result->moved_bytes;
    r->has_energy = result->has_energy;
    r->energy_j = th_result_energy_j(result);
    r->models = th_models_of(s, result);
}

static th_saved_run *new_run(th_session *s, const char *name, const th_result *result)
{
    th_saved_run *r = th_alloc_zero(1, sizeof *r);
    if (!r)
        return NULL;
    r->name = th_alloc_string(name);
    r->system = th_alloc_string(s->system->name);
    r->workload = s->workload ? th_alloc_string(s->workload->name) : NULL;
    r->program = s->hand_built ? th_alloc_string(s->hand_built->name) : NULL;
    r->events = th_property_event_list_of(s);
    r->figures = th_saved_figures_of(s, result);
    if (!r->name || !r->system || (!r->workload && !r->program) || !r->events || !r->figures) {
        free_run(r);
        return NULL;
    }
    take_figures(s, result, r);
    return r;
}

static int place_of(const th_session *s, const char *name)
{
    for (size_t i = 0; i < s->saved.n; i++)
        if (strcmp(s->saved.all[i]->name, name) == 0)
            return (int)i;
    return -1;
}

int th_saved_run_add(th_session *s, const char *name, th_error *err)
{
    const th_result *result = th_simulation_result(s->simulation, err);
    if (!result)
        return -1;
    th_saved_run *r = new_run(s, name, result);
    int place = place_of(s, name);
    if (!r ||
        (place < 0 && th_grow(&s->saved.all, &s->saved.capacity, s->saved.n + 1, sizeof r) != 0)) {
        free_run(r);
        return th_error_no_memory(err);
    }
    if (place < 0)
        place = (int)s->saved.n++;
    else
        free_run(s->saved.all[place]);
    s->saved.all[place] = r;
    return 0;
}

int th_saved_run_number(const th_session *s, const th_saved_run *run)
{
    return place_of(s, run->name);
}

th_saved_run *th_saved_run_find(th_session *s, const char *name, th_error *err)
{
    int place = place_of(s, name);
    if (place >= 0)
        return s->saved.all[place];
    if (s->saved.n == 0) {
        th_error_set(err, "TCL-0053", "run \"%s\": none is saved yet: save_run NAME first", name);
        return NULL;
    }
    const char **names = th_alloc_array(s->saved.n + 1, sizeof *names);
    if (!names) {
        th_error_no_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < s->saved.n; i++)
        names[i] = s->saved.all[i]->name;
    names[s->saved.n] = NULL;
    th_error_unknown(err, "TCL-0052", "run", name, names);
    th_free(names);
    return NULL;
}
