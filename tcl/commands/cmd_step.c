/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_step.c - run, now, restart, stop, save_run; step, where.
 *   run: options -> simulation -> run_call
 *   step: options -> what counts as a step -> probe -> run_call */
#include <config.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/objects/breakpoint.h"
#include "tcl/report_call.h"
#include "tcl/commands/run_call.h"
#include "tcl/tcl_session.h"
#include "session/property_events.h"
#include "tcl/options.h"
#include "render/html/html.h"
#include "session/objects/figures.h"
#include "session/saved_run.h"
#include "tcl/warning.h"

#define GROUP "simulate"

/* ---- step ---- */

enum { STEP_TILE, STEP_LAYER, STEP_OF };

static const th_option step_options[] = {
    [STEP_TILE] = {"-tile", TH_OPTION_FLAG, NULL,
                   "A step is a tile: it ends when the array of an accelerator has computed one.",
                   .without = "-layer"},
    [STEP_LAYER] = {"-layer", TH_OPTION_FLAG, NULL,
                    "A step is a layer: it ends when the first compute task of a layer starts, for "
                    "each input."},
    [STEP_OF] = {"-of", TH_OPTION_OBJECT, "OBJECTS",
                 "Counts only steps of these accelerators, nodes, links, layers and tasks; with "
                 "-tile, the tiles of these layers and tasks, or all of these accelerators.",
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

enum { WHERE_BRIEF = REPORT_LIMIT + 1 };

static const th_option where_options[] = {
    RECORD_OPTIONS,
    LIMIT_OPTION,
    [WHERE_BRIEF] = {"-brief", TH_OPTION_FLAG, NULL,
                     "Returns one line instead: the time, why the run stopped, and what happened "
                     "last, with its task, layer and accelerator."},
    {.name = NULL}};

static int run_where(th_call *c)
{
    th_session *s = c->session;
    th_strbuf line = TH_STRBUF_INIT;
    int failed = 0;
    if (!th_call_has(c, WHERE_BRIEF))
        return th_lib_run(c);
    if (s->simulation && th_tcl_of(s)->stop.is_known)
        th_run_stop_describe(s, &th_tcl_of(s)->stop, &line);
    else
        th_strbuf_add(&line, "0s: nothing has run");
    if (c->redirect)
        th_strbuf_add(&line, "\n");
    if (line.failed)
        failed = th_error_no_memory(&c->err);
    else if (c->redirect)
        failed = th_session_write_file(s, Tcl_GetString(c->redirect), c->append, &line, &c->err);
    else
        th_call_return_text(c, line.text);
    th_strbuf_clear(&line);
    return failed;
}

/* ---- run ---- */

enum { RUN_ALL, RUN_UNTIL, RUN_FOR, RUN_LENIENT, RUN_NETWORK, RUN_STREAM };

static const th_option run_options[] = {
    [RUN_ALL] = {"-all", TH_OPTION_FLAG, NULL, "To the end; the default.",
                 .without = "-until -for"},
    [RUN_UNTIL] = {"-until", TH_OPTION_TIME, "TIME", "Up to and including this simulated time.",
                   .without = "-for"},
    [RUN_FOR] = {"-for", TH_OPTION_TIME, "TIME", "For this much simulated time from now."},
    [RUN_LENIENT] =
        {"-lenient", TH_OPTION_FLAG, NULL,
         "Nodes of a trace that wait for what never comes are a warning, not an error, as "
         "in ASTRA-sim; so are messages that nobody receives."},
    [RUN_NETWORK] = TH_NETWORK_OPTION,
    TH_STREAM_OPTIONS(RUN_STREAM),
    {.name = NULL},
};

static const th_option run_words[] = {{"TIME", TH_OPTION_TIME, .without = "-all -until -for"},
                                      {.name = NULL}};

/* "run 100us" is "run -for 100us". */
static bool is_relative(const th_call *c)
{
    return th_call_has(c, RUN_FOR) || c->n_words > 0;
}

/* A run with other options starts at time 0; of the property events only faults remain. */
static void warn_of_lost_changes(const th_call *c)
{
    const th_session *s = c->session;
    int n = 0;
    for (size_t i = 0; i < s->events.n; i++)
        n += !s->events.all[i].is_fault;
    if (n > 0)
        th_warn(c, "TCL-0422",
                "other options begin a new run, without the %d change%s by set_property: begin it "
                "with -until 0s and change it then, or use inject_fault",
                n, n > 1 ? "s" : "");
}

enum { LONG_STREAM = 200 }; /* inputs: preparing more of a large network may take a second */

/* The simulation that the options ask for: the present one, or a new one where nothing would be
 * lost but what set_property changed. */
static th_simulation *simulation_for(th_call *c)
{
    th_session *s = c->session;
    th_run_options wanted = s->simulation ? s->simulation->options : s->defaults;
    if (th_call_has(c, RUN_NETWORK))
        wanted.network = th_network_types[c->option[RUN_NETWORK].number];
    th_session_use_network(s, &wanted);
    if (th_stream_parse(c, RUN_STREAM, &wanted) != 0)
        return NULL;
    th_simulation *old = s->simulation;
    if (old && th_run_options_equal(&wanted, &old->options))
        return old;
    if (old && old->has_begun && !th_machine_is_done(old->machine)) {
        th_error_set(&c->err, "TCL-0101", "a run with other options is under way: restart first");
        return NULL;
    }
    th_progress progress = th_progress_start(s->is_quiet);
    if (progress.is_on && wanted.stream.n_inputs >= LONG_STREAM)
        th_progress_show(&progress, "run: prepares the tasks of %d inputs",
                         (int)wanted.stream.n_inputs);
    th_simulation *fresh = th_session_new_simulation(s, &wanted, &c->err);
    th_progress_end(&progress);
    if (!fresh)
        return NULL;
    warn_of_lost_changes(c);
    return th_session_take_simulation(s, fresh, &c->err) == 0 ? fresh : NULL;
}

static int run_run(th_call *c)
{
    th_time until = c->n_words > 0              ? c->word[0].number
                    : th_call_has(c, RUN_UNTIL) ? c->option[RUN_UNTIL].number
                                                : th_call_number(c, RUN_FOR, TH_TIME_MAX);
    th_run_call d = {.call = c, .session = c->session, .sim = simulation_for(c)};
    if (!d.sim && th_error_is_interrupted(&c->err))
        return th_call_cancel(c, "interrupted while its tasks were prepared; nothing has run");
    if (!d.sim)
        return -1;
    th_time now = th_machine_now(d.sim->machine);
    if (is_relative(c))
        until = until > TH_TIME_MAX - now ? TH_TIME_MAX : now + until;
    if (until < now)
        return th_error_set(&c->err, "TCL-0102", "-until \"%s\": the run is already past this time",
                            th_call_text(c, RUN_UNTIL, ""));
    if (c->session->trace && th_machine_is_done(d.sim->machine))
        th_warn(c, "TCL-0998", "the run has ended, and nothing is traced: restart, then run");
    th_run_begin(&d);
    d.is_lenient = th_call_has(c, RUN_LENIENT);
    return th_run_finish(&d, th_run_to(&d, until));
}

/* ---- now, restart, stop, save_run ---- */

static const th_option now_options[] = {
    {"-exact", TH_OPTION_FLAG, NULL, "A number of ps, to calculate with."},
    {.name = NULL},
};

static int run_now(th_call *c)
{
    th_simulation *sim = c->session->simulation;
    th_time now = sim ? th_machine_now(sim->machine) : 0;
    if (th_call_has(c, 0))
        Tcl_SetObjResult(c->interp, Tcl_NewWideIntObj(now));
    else
        th_call_return_time(c, now);
    return 0;
}

static int begin_again(th_call *c, th_simulation *sim)
{
    if (th_simulation_restart(sim, &c->err) != 0)
        return -1;
    th_tcl_of(c->session)->stop.is_known = false;
    th_event_recorder_clear(&th_tcl_of(c->session)->recorder);
    if (th_probes_update(c->session, &c->err) != 0 ||
        th_property_events_reapply(c->session, sim, &c->err) != 0)
        return -1;
    th_property_events_discard(c->session);
    return 0;
}

static int run_restart(th_call *c)
{
    th_simulation *sim = c->session->simulation;
    th_run_options next = sim ? sim->options : c->session->defaults;
    th_session_use_network(c->session, &next);
    if (sim && (th_simulation_calls_scripts(sim) || !th_run_options_equal(&next, &sim->options))) {
        c->session->defaults = next;
        th_session_drop_run(c->session); /* the next run has the present procedures and network */
        return 0;
    }
    if (!sim)
        return 0;
    if (begin_again(c, sim) == 0)
        return 0;
    if (!th_error_is_no_memory(&c->err))
        return -1;
    c->err = (th_error){"", ""};
    th_session_drop_run(c->session); /* the next command that needs the run makes it */
    return 0;
}

static int run_stop(th_call *c)
{
    if (!th_tcl_of(c->session)->is_running)
        return th_error_set(&c->err, "TCL-0104",
                            "no run is under way: stop belongs in the script of a breakpoint");
    th_tcl_of(c->session)->stop_asked = true;
    return 0;
}

static int run_save_run(th_call *c)
{
    th_session *s = c->session;
    const char *name = th_call_word(c, 0);
    char *page;
    if (!th_machine_is_done(s->simulation->machine))
        return th_error_set(&c->err, "TCL-0105", "the run is not done: run first");
    if (name[0] == '\0')
        return th_error_set(&c->err, "TCL-0106", "the name of a run must not be empty");
    if (!(page = th_html_keep(s, name, &c->err)))
        return -1;
    th_saved_run *run = th_saved_run_of(s, name);
    if (run)
        run->page = page;
    else
        th_free(page);
    if (th_saved_run_add(s, run, &c->err) != 0)
        return -1;
    Tcl_SetObjResult(c->interp, c->words[0]);
    return 0;
}

const th_command th_step_commands[] = {
    {"step", GROUP, "?N?", 0, 1, step_options, "simulate N steps (1): events, tiles or layers",
     "A step is the start or the end of a task, or of a message of a collective; with -of, of a "
     "task only. Returns until, or the reason why it stopped earlier. At the prompt it also prints "
     "one line: the time, the reason, the task, its layer and accelerator; in scripts, where "
     "-brief returns that line. A breakpoint is noticed after the event that passed it. Stepping "
     "changes no simulated time.",
     .run = run_step, .not_while_running = true, .kinds = step_words,
     .after_interrupt = "nothing has run"},
    {"where", GROUP, "", 0, 0, where_options, "print what each accelerator does now, or waits for",
     "Each accelerator has a line with its task and how far it is; an idle accelerator has its "
     "next task, and an unfinished task that the next one waits for. Transfers and other tasks in "
     "flight follow. Where no run has begun, it is prepared: figures of links and accelerators "
     "that were unknown are 0 from then on.",
     .run = run_where, .is_report = true},
    {"run", GROUP, "?TIME?", 0, 1, run_options, "simulate, and return why the run stopped",
     "TIME is short for -for TIME. Returns done, until, \"breakpoint NAME\" or interrupted. "
     "Continues where the previous run stopped. The options of the stream and the network are "
     "those of map_workload, until run gets others; these hold from then on. Ctrl-C stops between "
     "two events, and `run` continues from there. A run that runs out of memory is lost: the next "
     "command begins it anew.",
     .run = run_run, .kinds = run_words, .needs = {th_session_need_program},
     .not_while_running = true},
    {"now", GROUP, "", 0, 0, now_options, "return the simulated time", NULL, .run = run_now},
    {"restart", GROUP, "", 0, 0, NULL, "go back to time 0, with the same mapping and options",
     "Breakpoints and faults stay and happen again. Changes by set_property are undone. An open "
     "trace begins anew.",
     .run = run_restart, .not_while_running = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS},
    {"stop", GROUP, "", 0, 0, NULL, "end the run, after the script of the present breakpoint", NULL,
     .run = run_stop},
    {"save_run", "compare", "NAME", 1, 1, NULL, "keep the figures of the finished run, to compare",
     "A run of the same name is replaced. Saved runs stay when another system or workload is read. "
     "Returns NAME.",
     .run = run_save_run, .needs = {th_session_need_run}},
    {.name = NULL},
};
