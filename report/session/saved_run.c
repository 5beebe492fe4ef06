/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_run.c - see saved_run.h. */
#include <config.h>
#include "report/session/saved_run.h"
#include "base/names.h"
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "report/session/property_event_list.h"
#include "report/session/saved_figures.h"

static void free_run(th_saved_run *r)
{
    if (r == NULL)
        return;
    th_free(r->name);
    th_free(r->system);
    th_free(r->workload);
    th_free(r->program);
    th_change_list_free(r->changes);
    th_saved_figures_free(r->figures);
    th_free(r);
}

void th_saved_runs_clear(th_session *s)
{
    for (size_t i = 0; i < s->n_runs; i++)
        free_run(s->runs[i]);
    th_free(s->runs);
    s->runs = NULL;
    s->n_runs = s->run_capacity = 0;
}

static void take_figures(th_session *s, const th_result *result, th_saved_run *r)
{
    const th_simulation *sim = s->simulation;
    th_session_digest(s, r->mapping, sizeof r->mapping);
    snprintf(r->algorithm, sizeof r->algorithm, "%s",
             s->made != NULL            ? "hand"
             : s->searched.type != NULL ? s->searched.type->name
                                        : "file");
    th_network_describe(&sim->options, r->network, sizeof r->network);
    r->has_seed = s->searched.type != NULL && !s->searched.type->is_baseline;
    r->seed = s->searched.seed;
    r->batch = s->workload != NULL ? s->workload->batch : 0;
    r->n_inputs = sim->options.stream.n_inputs;
    r->latency_ps = th_simulation_latency(sim, result);
    r->makespan_ps = result->elapsed_ps;
    r->samples = s->workload != NULL ? th_workload_samples(s->workload) : 0;
    r->batch_throughput_per_s = th_result_throughput(result);
    r->throughput_per_s = (double)r->samples * r->batch_throughput_per_s;
    r->link_utilization = th_result_link_utilization(result);
    r->accel_utilization = th_result_accel_utilization(result);
    r->network_bytes = result->moved_bytes;
    r->has_energy = result->has_energy;
    r->energy_j = th_result_energy_j(result);
}

static th_saved_run *new_run(th_session *s, const char *name, const th_result *result)
{
    th_saved_run *r = th_alloc_zero(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->name = th_alloc_string(name);
    r->system = th_alloc_string(s->system->name);
    r->workload = s->workload != NULL ? th_alloc_string(s->workload->name) : NULL;
    r->program = s->made != NULL ? th_alloc_string(s->made->name) : NULL;
    r->changes = th_change_list_of(s);
    r->figures = th_saved_figures_of(s, result);
    if (r->name == NULL || r->system == NULL || (r->workload == NULL && r->program == NULL) ||
        r->changes == NULL || r->figures == NULL) {
        free_run(r);
        return NULL;
    }
    take_figures(s, result, r);
    return r;
}

static int place_of(const th_session *s, const char *name)
{
    for (size_t i = 0; i < s->n_runs; i++)
        if (strcmp(s->runs[i]->name, name) == 0)
            return (int)i;
    return -1;
}

int th_saved_run_add(th_session *s, const char *name, th_error *err)
{
    const th_result *result = th_simulation_result(s->simulation, err);
    if (result == NULL)
        return -1;
    th_saved_run *r = new_run(s, name, result);
    int place = place_of(s, name);
    if (r == NULL ||
        (place < 0 && th_grow(&s->runs, &s->run_capacity, s->n_runs + 1, sizeof r) != 0)) {
        free_run(r);
        return th_error_no_memory(err);
    }
    if (place < 0)
        place = (int)s->n_runs++;
    else
        free_run(s->runs[place]);
    s->runs[place] = r;
    return 0;
}

th_saved_run *th_saved_run_find(th_session *s, const char *name, th_error *err)
{
    int place = place_of(s, name);
    if (place >= 0)
        return s->runs[place];
    if (s->n_runs == 0) {
        th_error_set(err, "TCL-0053", "run \"%s\": none is saved yet: save_run NAME first", name);
        return NULL;
    }
    const char **names = th_alloc_array(s->n_runs + 1, sizeof *names);
    if (names == NULL) {
        th_error_no_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < s->n_runs; i++)
        names[i] = s->runs[i]->name;
    names[s->n_runs] = NULL;
    th_error_unknown(err, "TCL-0052", "run", name, names);
    th_free(names);
    return NULL;
}
