/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_run.c - run, now, restart, stop, save_run.
 *   run: options -> simulation -> run_call */
#include <config.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/commands/run_call.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/breakpoint.h"
#include "report/session/property_events.h"
#include "tcl/options.h"
#include "report/html/html.h"
#include "report/session/saved_run.h"
#include "tcl/warning.h"

#define GROUP "simulate"

/* ---- run ---- */

enum { RUN_ALL, RUN_UNTIL, RUN_FOR, RUN_LENIENT, RUN_NETWORK, RUN_STREAM };

static const th_option run_options[] = {
    [RUN_ALL] = {"-all", TH_OPTION_FLAG, NULL, "To the end; the default.",
                 .without = "-until -for"},
    [RUN_UNTIL] = {"-until", TH_OPTION_TIME, "TIME", "Up to and including this simulated time.",
                   .without = "-for"},
    [RUN_FOR] = {"-for", TH_OPTION_TIME, "TIME", "For this much simulated time from now."},
    [RUN_LENIENT] = {"-lenient", TH_OPTION_FLAG, NULL,
                     "Of an execution trace: nodes that wait for what never comes, and messages "
                     "that nobody receives, are a warning, as ASTRA-sim has it, not an error."},
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

static int run_now(th_call *c)
{
    th_simulation *sim = c->session->simulation;
    th_call_return_time(c, sim ? th_machine_now(sim->machine) : 0);
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
    th_html_kept kept;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (!th_machine_is_done(s->simulation->machine))
        return th_error_set(&c->err, "TCL-0105", "the run is not done: run first");
    if (name[0] == '\0')
        return th_error_set(&c->err, "TCL-0106", "the name of a run must not be empty");
    if (th_html_keep(s, &kept, &c->err) != 0)
        return -1;
    if (th_saved_run_add(s, name, &c->err) != 0) {
        th_html_kept_clear(&kept);
        return -1;
    }
    th_html_kept_give(&kept, th_saved_run_find(s, name, &c->err));
    Tcl_SetObjResult(c->interp, c->words[0]);
    return 0;
}

const th_command th_run_commands[] = {
    {"run", GROUP, "?TIME?", 0, 1, run_options, "simulate; return why it stopped",
     "TIME is short for -for TIME. Returns done, until, \"breakpoint NAME\" or interrupted. "
     "Continues where the previous run "
     "stopped. Options of the stream and the network hold until others are given; before, those of "
     "map_workload. "
     "Ctrl-C stops between two events, and `run` continues from there. A run that runs out of "
     "memory is lost: the next command begins it anew.",
     .run = run_run, .kinds = run_words, .needs = {th_session_need_program},
     .not_while_running = true},
    {"now", GROUP, "", 0, 0, NULL, "return the simulated time", NULL, .run = run_now},
    {"restart", GROUP, "", 0, 0, NULL, "go back to time 0 with the same mapping and options",
     "Breakpoints and faults are kept and happen again; changes by set_property are undone; an "
     "open trace is restarted.",
     .run = run_restart, .not_while_running = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS},
    {"stop", GROUP, "", 0, 0, NULL, "end the run after the script of this breakpoint", NULL,
     .run = run_stop},
    {"save_run", GROUP, "NAME", 1, 1, NULL,
     "keep the figures of the finished run for report_compare",
     "Returns NAME. A run saved under the same name before is replaced. Saved runs outlive system "
     "and workload.",
     .run = run_save_run},
    {.name = NULL},
};
