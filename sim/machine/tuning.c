/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuning.c - simulates candidates of a collective for the tuner (sim/replay/tuner.h), each alone on
 * a second machine with the same system, compute costs and options. That of the one that is chosen
 * is kept for a run that is nothing else (together.c). */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/machine/machine_state.h"

/* own: of whom the choice is. */
typedef struct simulation {
    th_machine *own, *next, *best; /* best: of the last that ended within its bound */
    th_collective_choice_key best_is;
} simulation;

static th_machine *new_machine(const th_machine *own, th_error *err)
{
    return th_machine_new(own->system, own->costs, &own->options, err);
}

static void *create(void *setup, th_error *err)
{
    simulation *x = th_alloc_zero(1, sizeof *x);
    if (!x) {
        th_error_no_memory(err);
        return NULL;
    }
    x->own = setup;
    x->next = new_machine(x->own, err);
    if (x->next)
        return x;
    th_free(x);
    return NULL;
}

/* A bound at the end of simulated time is none: the run then fails with its own error. */
static int run_within(th_machine *m, const th_program *p, th_time bound, th_time *end,
                      th_error *err)
{
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

/* The run of the program is the simulation of its only collective again. */
static bool may_keep(const th_machine *own, const th_collective *c)
{
    return own->program && own->program->n_tasks == 1 && !c->schedule;
}

static int run(void *of, const th_program *p, th_time bound, th_time *end, th_error *err)
{
    simulation *x = of;
    if (!x->next && !(x->next = new_machine(x->own, err)))
        return -1;
    th_machine *m = x->next;
    if (run_within(m, p, bound, end, err))
        return -1;
    if (*end == TH_TIME_MAX || !may_keep(x->own, &p->collectives[0]))
        return 0;
    x->best_is = th_collective_choices_key(&p->collectives[0], 0);
    x->next = x->best;
    x->best = m;
    return 0;
}

static void destroy(void *of)
{
    simulation *x = of;
    th_machine_drop_tuned(x->own);
    x->own->tuned = (th_tuned_run){x->best, x->best_is};
    th_machine_free(x->next);
    th_free(x);
}

void th_machine_drop_tuned(th_machine *m)
{
    th_machine_free(m->tuned.machine);
    m->tuned.machine = NULL;
}

bool th_machine_is_tuned(const th_machine *m, const th_collective *c)
{
    if (!m->tuned.machine || !c)
        return false;
    const th_collective_choice_key key = th_collective_choices_key(c, 0);
    return memcmp(&key, &m->tuned.of, sizeof key) == 0;
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

th_tuner_context th_machine_tuner_context(th_machine *m)
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
