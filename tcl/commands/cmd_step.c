/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_step.c - step, where.
 *   step: options -> what counts as a step -> probe -> run_call */
#include <config.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/objects/breakpoint.h"
#include "tcl/report_call.h"
#include "tcl/commands/run_call.h"

#define GROUP "simulate"

/* ---- step ---- */

enum { STEP_TILE, STEP_LAYER, STEP_OF };

static const th_option step_options[] = {
    [STEP_TILE] = {"-tile", TH_OPTION_FLAG, NULL,
                   "Steps are tiles: each ends when the array of an accelerator has computed one.",
                   .without = "-layer"},
    [STEP_LAYER] = {"-layer", TH_OPTION_FLAG, NULL,
                    "Steps are layers: each ends when the first compute task of a layer starts, "
                    "of each input."},
    [STEP_OF] = {"-of", TH_OPTION_OBJECT, "OBJECTS",
                 "Only steps of these accelerators, nodes, links, layers and tasks; with -tile, of "
                 "accelerators and tasks on them.",
                 .least = 1, .most = TH_MANY},
    {.name = NULL},
};

static const th_option step_words[] = {{"N", TH_OPTION_INTEGER, .minimum = 1, .maximum = INT64_MAX},
                                       {.name = NULL}};

/* The tasks and accelerators that count; NULL: all. */
typedef struct th_step_marks {
    bool *tasks, *accels;
} th_step_marks;

static void free_marks(th_step_marks *m)
{
    th_free(m->tasks);
    th_free(m->accels);
}

static void mark(th_session *s, th_object o, th_step_marks *m)
{
    const th_program *p = s->simulation->program;
    for (int32_t t = 0; t < p->n_tasks; t++)
        m->tasks[t] = m->tasks[t] || th_objects_touch(s, (th_object){TH_CLASS_TASK, t}, o);
    for (int a = 0; a < s->system->n_accels; a++)
        if (o.class != TH_CLASS_LINK)
            m->accels[a] = m->accels[a] || th_objects_touch(s, (th_object){TH_CLASS_ACCEL, a}, o);
}

/* 0, or -1: the caller frees the marks then, too. */
static int parse_of(th_call *c, th_step_marks *m)
{
    th_session *s = c->session;
    const th_value *of = &c->option[STEP_OF];
    if (!of->word)
        return 0;
    m->tasks = th_alloc_zero((size_t)s->simulation->program->n_tasks + 1, sizeof *m->tasks);
    m->accels = th_alloc_zero((size_t)s->system->n_accels + 1, sizeof *m->accels);
    if (!m->tasks || !m->accels)
        return th_error_no_memory(&c->err);
    for (int i = 0; i < of->n; i++) {
        if (th_call_has(c, STEP_TILE) && of->objects[i].class == TH_CLASS_LINK)
            return th_error_set(&c->err, "TCL-0742", "-of \"%.100s\": a link computes no tiles",
                                Tcl_GetString(of->words[i]));
        mark(s, of->objects[i], m);
    }
    return 0;
}

static int check_layers(th_call *c)
{
    if (th_call_has(c, STEP_LAYER) && c->session->hand_built)
        return th_error_set(&c->err, "TCL-0744",
                            "-layer: the program \"%.100s\" is hand-built: only a mapped workload "
                            "has layers",
                            c->session->hand_built->name);
    return 0;
}

/* Attaches the probe, and takes it off again. */
static int make_steps(th_run_call *d, th_step_probe *probe, bool counts_events)
{
    th_session *s = d->session;
    th_run_end end;
    th_tcl_of(s)->probe = d->probe = probe;
    if (th_probes_update(s, &d->call->err) != 0) {
        th_tcl_of(s)->probe = NULL;
        th_probes_update(s, NULL);
        return -1;
    }
    th_run_begin(d);
    end = counts_events ? th_run_events(d, d->steps) : th_run_to(d, TH_TIME_MAX);
    th_tcl_of(s)->probe = NULL;
    th_probes_update(s, NULL); /* with one observer fewer it cannot fail */
    return th_run_finish(d, end);
}

/* Events without -of are counted by the machine, which knows those inside collectives too. */
static int run_step(th_call *c)
{
    th_step_probe probe;
    th_step_marks marks = {NULL, NULL};
    th_run_call d = {
        .call = c, .session = c->session, .steps = c->word[0].word ? c->word[0].number : 1};
    if (check_layers(c) != 0 || !(d.sim = th_session_simulation(c->session, &c->err)))
        return -1;
    bool is_event = !th_call_has(c, STEP_TILE) && !th_call_has(c, STEP_LAYER);
    int failed = parse_of(c, &marks);
    if (!failed) {
        th_step_choice choice = {.unit = is_event                     ? TH_STEP_EVENT
                                         : th_call_has(c, STEP_LAYER) ? TH_STEP_LAYER
                                                                      : TH_STEP_TILE,
                                 .tasks = marks.tasks,
                                 .accels = marks.accels};
        bool counts_events = is_event && !marks.tasks;
        failed =
            th_step_probe_init(&probe, &choice, counts_events ? INT64_MAX : d.steps, d.sim->machine,
                               d.sim->program, c->session->system->n_accels, &c->err);
        if (!failed) {
            failed = make_steps(&d, &probe, counts_events);
            th_step_probe_clear(&probe);
        }
    }
    free_marks(&marks);
    return failed;
}

/* ---- where ---- */

static const th_option where_options[] = {RECORD_OPTIONS, LIMIT_OPTION, {.name = NULL}};

const th_command th_step_commands[] = {
    {"step", GROUP, "?N?", 0, 1, step_options,
     "simulate N steps (1): events of tasks, tiles or layers",
     "A step is a start or an end of a task, or of a message of a collective; -of counts those of "
     "tasks alone. Returns until, or why it stopped before; at the prompt it also prints when, by "
     "which task, and why. A breakpoint is noticed after the event that passed it. Steps change no "
     "simulated time.",
     .run = run_step, .not_while_running = true, .kinds = step_words,
     .after_interrupt = "nothing has run"},
    {"where", GROUP, "", 0, 0, where_options, "print what accelerators do now, and what waits",
     "A line per accelerator: its task and how far that is; and of an idle one, the next task and "
     "an unfinished task that this waits for. Then the transfers and other tasks in flight. "
     "Prepares the run where none is: figures of links and accelerators that were unknown are 0 "
     "from then on.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
