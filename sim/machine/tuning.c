/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuning.c - simulates candidates of a collective for the tuner (sim/replay/tuner.h), each alone on
 * a second machine with the same system, compute costs and options. */
#include <config.h>

#include <string.h>

#include "base/map.h"
#include "sim/machine/machine_state.h"

static void *create(const void *setup, th_error *err)
{
    const th_machine *m = setup;
    return th_machine_new(m->system, m->costs, &m->options, err);
}

/* A bound at the end of simulated time is none: the run then fails with its own error. */
static int run(void *simulation, const th_program *p, th_time bound, th_time *end, th_error *err)
{
    th_machine *m = simulation;
    *end = TH_TIME_MAX;
    if (th_machine_load(m, p, err))
        return -1;
    int told = th_machine_run_together(m, bound, end, err);
    if (told != 0) {
        *end = told > 0 && *end <= bound ? *end : TH_TIME_MAX;
        return told < 0 ? -1 : 0;
    }
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

/* A digest of the network model and all its options: on the same system, the same times. */
static uint64_t digest_of(const th_machine_options *m)
{
    const th_network_options *o = &m->network_options;
    const int64_t words[] = {o->weigh_by_latency,    o->solves_uncontended,  o->packet_bytes,
                             o->buffer_bytes,        o->n_virtual_channels,  o->credit_delay_ps,
                             o->router_delay_ps,     o->terminal_bits_per_s, o->n_crossbar_inputs,
                             o->allocation_cycle_ps, o->may_deadlock,        m->always_contended};
    return th_hash(words, sizeof words, th_hash(m->network->name, strlen(m->network->name), 0));
}

th_tuner_context th_machine_tuner_context(const th_machine *m)
{
    return (th_tuner_context){.system = m->system,
                              .simulator = &simulator,
                              .setup = m,
                              .choices = m->options.choices ? m->options.choices : m->choices,
                              .options = digest_of(&m->options),
                              .has_no_sharing = m->options.network == th_network_find("ideal"),
                              .has_forms = m->options.network->is_memoryless,
                              .is_interrupted = m->options.is_interrupted};
}
