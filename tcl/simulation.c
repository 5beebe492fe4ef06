/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simulation.c - see simulation.h. */
#include <config.h>
#include "tcl/simulation.h"
#include "base/alloc.h"

th_simulation *th_simulation_new(const th_system *s, const th_workload *w, const th_mapping *m,
                                 const th_run_options *o, th_error *err)
{
    th_machine_options machine_options = {.network = o->network};
    th_simulation *sim = th_alloc_zero(1, sizeof *sim);
    if (sim == NULL) {
        th_error_no_memory(err);
        return NULL;
    }
    sim->workload = w;
    sim->options = *o;
    if ((sim->lower = th_lower_new(s, w, err)) == NULL ||
        (sim->program = th_program_new(err)) == NULL)
        goto fail;
    if (th_lower_program(sim->lower, m, &o->stream, sim->program, err) != 0)
        goto fail;
    sim->machine = th_machine_new(s, th_lower_works(sim->lower), &machine_options, err);
    if (sim->machine == NULL || th_machine_load(sim->machine, sim->program, err) != 0)
        goto fail;
    return sim;
fail:
    th_simulation_free(sim);
    return NULL;
}

void th_simulation_free(th_simulation *s)
{
    if (s == NULL)
        return;
    th_result_clear(&s->result);
    th_machine_free(s->machine);
    th_program_free(s->program);
    th_lower_free(s->lower);
    th_free(s);
}

int th_simulation_restart(th_simulation *s, th_error *err)
{
    if (th_machine_load(s->machine, s->program, err) != 0)
        return -1;
    s->has_begun = false;
    th_simulation_changed(s);
    return 0;
}

void th_simulation_changed(th_simulation *s)
{
    s->result_is_fresh = false;
}

const th_result *th_simulation_result(th_simulation *s, th_error *err)
{
    if (s->result_is_fresh)
        return &s->result;
    th_result_clear(&s->result);
    if (th_machine_result(s->machine, &s->result, err) != 0)
        return NULL;
    s->result_is_fresh = true;
    return &s->result;
}

bool th_run_options_equal(const th_run_options *a, const th_run_options *b)
{
    return a->network == b->network && a->stream.n_inputs == b->stream.n_inputs &&
           a->stream.interval_ps == b->stream.interval_ps &&
           a->stream.micro_batches == b->stream.micro_batches &&
           a->stream.in_flight == b->stream.in_flight;
}

th_time th_simulation_latency(const th_simulation *s, const th_result *r)
{
    double sum = 0;
    int n = 0;
    for (int32_t i = 0; i < r->n_inputs; i++) {
        if (r->input_end_ps[i] < 0)
            continue;
        sum += (double)(r->input_end_ps[i] - i * s->options.stream.interval_ps);
        n++;
    }
    return n > 0 ? (th_time)(sum / n + 0.5) : 0;
}

int64_t th_result_network_bytes(const th_program *p, const th_result *r)
{
    int64_t bytes = 0;
    for (int32_t t = 0; t < p->n_tasks; t++)
        if (p->tasks[t].kind == TH_TASK_TRANSFER && r->tasks[t].end_ps >= 0)
            bytes += p->tasks[t].bytes;
    return bytes;
}
