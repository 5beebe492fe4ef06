/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuning.c - simulates candidates of a collective for the tuner (sim/replay/tuner.h), each alone on
 * a second machine with the same system, compute costs and options. */
#include <config.h>

#include "sim/machine/machine_state.h"

static void *create(const void *setup, th_error *err)
{
    const th_machine *m = setup;
    th_machine_options options = m->options;
    options.expand_seed = 0;
    return th_machine_new(m->system, m->costs, &options, err);
}

/* A bound at the end of simulated time is none: the run then fails with its own error. */
static int run(void *simulation, const th_program *p, th_time bound, th_time *end, th_error *err)
{
    th_machine *m = simulation;
    *end = TH_TIME_MAX;
    if (th_machine_load(m, p, err))
        return -1;
    th_stop stop = th_machine_run_bounded(m, bound, err);
    if (stop == TH_STOP_BOUND && bound >= TH_TIME_MAX - 1)
        stop = th_machine_run_bounded(m, TH_TIME_MAX, err);
    if (stop == TH_STOP_DONE)
        *end = th_machine_now(m);
    if (stop == TH_STOP_INTERRUPTED)
        return th_error_interrupted(err, "the simulation of a collective stopped");
    return stop == TH_STOP_ERROR ? -1 : 0;
}

static void destroy(void *simulation)
{
    th_machine_free(simulation);
}

static const th_simulator simulator = {create, run, destroy};

th_tuner_context th_machine_tuner_context(const th_machine *m)
{
    return (th_tuner_context){m->system, &simulator, m};
}
