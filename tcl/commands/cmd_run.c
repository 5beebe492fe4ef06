/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_run.c - run, step, now, restart, stop, save_run.
 *   run: options -> simulation -> (advance to the next breakpoint -> its script)* -> reason of the
 *   stop
 * The machine advances in slices of a few thousand events; between them timers are served and the
 * progress line is updated. Ctrl-C is polled there and, within long slices, by the machine. Slices
 * do not change results: the machine stops between two events. */
#include <config.h>
#include <stdio.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/breakpoint.h"
#include "report/session/property_events.h"
#include "tcl/options.h"
#include "report/session/progress.h"
#include "report/session/saved_run.h"
#include "tcl/warning.h"

#define GROUP "simulate"

enum { SLICE_EVENTS = 4096, NAME_MAX_BYTES = 200 };
static const th_time first_slice_ps = 1000000; /* 1 us */

typedef enum {
    END_DONE,
    END_UNTIL,
    END_BREAKPOINT,
    END_INTERRUPTED,
    END_STOPPED,
    END_FAILED
} th_run_end;

/* One call of run or step. */
typedef struct th_run_call {
    th_call *call;
    th_session *session;
    th_simulation *sim;
    th_progress progress;
    char stopped_by[NAME_MAX_BYTES]; /* the breakpoint */
} th_run_call;

/* ---- moving the machine ---- */

static void show_progress(th_run_call *d)
{
    char now[64];
    double rate = (double)th_machine_events(d->sim->machine) / th_progress_elapsed_s(&d->progress);
    int64_t done = th_machine_tasks_done(d->sim->machine), all = d->sim->program->n_tasks;
    char left[64] = "";
    if (done > 0) /* before that there is no estimate */
        snprintf(left, sizeof left, ", %.0f s left",
                 th_progress_elapsed_s(&d->progress) * (double)(all - done) / (double)done);
    th_progress_show(&d->progress, "run: %s simulated, %lld events, %.0f events/s%s",
                     th_format_time(th_machine_now(d->sim->machine), now, sizeof now),
                     (long long)th_machine_events(d->sim->machine), rate, left);
}

/* Between two slices: serves timers and the progress line. False: the run must end, for the reason
 * *end. */
static bool serve_timers(th_run_call *d, th_run_end *end)
{
    *end = END_INTERRUPTED;
    if (th_session_is_interrupted(d->session))
        return false;
    while (Tcl_DoOneEvent(TCL_TIMER_EVENTS | TCL_DONT_WAIT))
        ;
    *end = END_STOPPED;
    if (th_tcl_of(d->session)->stop_asked)
        return false;
    if (th_progress_is_due(&d->progress))
        show_progress(d);
    return true;
}

/* One slice towards time target; *slice_ps follows the density of events. */
static th_stop move_slice(th_run_call *d, th_time target, th_time *reached, th_time *slice_ps)
{
    th_machine *m = d->sim->machine;
    d->sim->is_time_complete = false;
    if (target == TH_TIME_MAX)
        return th_machine_step(m, SLICE_EVENTS, &d->call->err);
    int64_t before = th_machine_events(m);
    *reached = target - *reached > *slice_ps ? *reached + *slice_ps : target;
    th_stop stop = th_machine_run_until(m, *reached, &d->call->err);
    int64_t events = th_machine_events(m) - before;
    if (events < SLICE_EVENTS / 2 && *slice_ps < TH_TIME_MAX / 2)
        *slice_ps *= 2;
    else if (events > 2 * SLICE_EVENTS && *slice_ps > 1)
        *slice_ps /= 2;
    return stop;
}

/* Runs the scripts of breakpoints on the recorded events. */
static th_run_end answer(th_run_call *d, th_run_end otherwise)
{
    bool stops;
    if (th_breakpoints_handle_records(d->session, &stops, d->stopped_by, sizeof d->stopped_by,
                                      &d->call->err) != 0)
        return END_FAILED;
    if (th_tcl_of(d->session)->stop_asked && !stops)
        return END_STOPPED;
    return stops ? END_BREAKPOINT : otherwise;
}

/* All events up to and including target; TH_TIME_MAX: all there are. */
static th_run_end advance(th_run_call *d, th_time target)
{
    th_time reached = th_machine_now(d->sim->machine), slice_ps = first_slice_ps;
    th_run_end end;
    while (serve_timers(d, &end)) {
        th_stop stop = move_slice(d, target, &reached, &slice_ps);
        th_simulation_changed(d->sim);
        d->sim->is_time_complete =
            stop == TH_STOP_DONE || (stop == TH_STOP_UNTIL && target != TH_TIME_MAX);
        if (stop == TH_STOP_ERROR)
            return END_FAILED;
        if (stop == TH_STOP_INTERRUPTED) {
            reached = th_machine_now(d->sim->machine);
            continue;
        }
        if (stop == TH_STOP_OBSERVER) {
            reached = th_machine_now(d->sim->machine);
            if ((end = answer(d, END_UNTIL)) != END_UNTIL)
                return end;
            continue;
        }
        if (stop == TH_STOP_DONE)
            return END_DONE;
        if (target != TH_TIME_MAX && reached >= target)
            return END_UNTIL;
    }
    return end;
}

/* Runs the scripts of all breakpoints at or before now. */
static th_run_end pass_breakpoints(th_run_call *d, th_run_end otherwise)
{
    th_time now = th_machine_now(d->sim->machine);
    th_breakpoint *b;
    bool stops = false;
    while (!stops && (b = th_breakpoint_next(d->session)) && b->at_ps <= now)
        if (th_breakpoint_hit(d->session, b, &stops, d->stopped_by, sizeof d->stopped_by) != 0)
            return END_FAILED;
    return stops ? END_BREAKPOINT : otherwise;
}

static th_run_end run_to(th_run_call *d, th_time until)
{
    for (;;) {
        const th_breakpoint *b = th_breakpoint_next(d->session);
        th_time target = b && b->at_ps < until ? b->at_ps : until;
        th_run_end end = advance(d, target);
        if (end != END_DONE && end != END_UNTIL)
            return end;
        th_run_end after = pass_breakpoints(d, end);
        if (after != end || end == END_DONE || target == until)
            return after;
    }
}

/* n program events, one by one; a breakpoint is noticed after the event that passed it. */
static th_run_end step_events(th_run_call *d, int64_t n)
{
    th_machine *m = d->sim->machine;
    int64_t first = th_machine_events(m), last = n > INT64_MAX - first ? INT64_MAX : first + n;
    th_run_end end = END_UNTIL;
    for (int64_t i = 0; end == END_UNTIL && th_machine_events(m) < last; i++) {
        th_run_end stopped;
        if (i % SLICE_EVENTS == 0 && !serve_timers(d, &stopped))
            return stopped;
        th_stop stop = th_machine_step(m, 1, &d->call->err);
        th_simulation_changed(d->sim);
        d->sim->is_time_complete = stop == TH_STOP_DONE;
        if (stop == TH_STOP_INTERRUPTED && !serve_timers(d, &stopped))
            return stopped;
        end = stop == TH_STOP_ERROR ? END_FAILED : stop == TH_STOP_DONE ? END_DONE : END_UNTIL;
        if (stop == TH_STOP_OBSERVER)
            end = answer(d, END_UNTIL);
        if (end != END_FAILED && end != END_BREAKPOINT)
            end = pass_breakpoints(d, end);
    }
    return end;
}

/* ---- begin and end of a call ---- */

static void begin(th_run_call *d)
{
    if (!d->sim->has_begun)
        th_breakpoints_reset(d->session);
    d->sim->has_begun = true;
    th_tcl_of(d->session)->is_running = true;
    th_tcl_of(d->session)->stop_asked = false;
    d->progress = th_progress_start(d->session->is_quiet);
}

static int return_end(th_run_call *d, th_run_end end)
{
    char text[2 * NAME_MAX_BYTES], now[64];
    switch (end) {
    case END_DONE:
        th_call_return_text(d->call, "done");
        return 0;
    case END_UNTIL:
        th_call_return_text(d->call, "until");
        return 0;
    case END_BREAKPOINT:
        snprintf(text, sizeof text, "breakpoint %s", d->stopped_by);
        th_call_return_text(d->call, text);
        return 0;
    case END_STOPPED:
        th_call_return_text(d->call, "interrupted");
        return 0;
    case END_INTERRUPTED:
        snprintf(text, sizeof text, "interrupted at %s; `run` continues",
                 th_format_time(th_machine_now(d->sim->machine), now, sizeof now));
        return th_call_cancel(d->call, text);
    case END_FAILED:
        break;
    }
    return -1;
}

static int finish(th_run_call *d, th_run_end end)
{
    th_progress_end(&d->progress);
    th_tcl_of(d->session)->is_running = false;
    th_tcl_of(d->session)->stop_asked = false;
    return return_end(d, end);
}

/* ---- run ---- */

enum { RUN_ALL, RUN_UNTIL, RUN_FOR, RUN_NETWORK, RUN_STREAM = RUN_NETWORK + TH_N_NETWORK_OPTIONS };

static const th_option run_options[] = {
    [RUN_ALL] = {"-all", TH_OPTION_FLAG, NULL, "To the end; the default."},
    [RUN_UNTIL] = {"-until", TH_OPTION_TIME, "TIME", "Up to and including this simulated time."},
    [RUN_FOR] = {"-for", TH_OPTION_TIME, "TIME", "For this much simulated time from now."},
    TH_NETWORK_OPTIONS(RUN_NETWORK),
    TH_STREAM_OPTIONS(RUN_STREAM),
    {.name = NULL},
};

/* "run 100us" is "run -for 100us". */
static bool is_relative(const th_call *c)
{
    return th_call_has(c, RUN_FOR) || c->n_words > 0;
}

static int parse_until(th_call *c, th_time *out)
{
    th_error e;
    bool is_absolute = th_call_has(c, RUN_UNTIL);
    if (th_call_has(c, RUN_ALL) + is_absolute + th_call_has(c, RUN_FOR) + (c->n_words > 0) > 1)
        return th_error_set(&c->err, "TCL-0100", "-all, -until, -for and TIME exclude each other");
    *out = is_absolute ? c->option[RUN_UNTIL].number : th_call_number(c, RUN_FOR, TH_TIME_MAX);
    if (c->n_words > 0 && th_parse_time(th_call_word(c, 0), out, &e) != 0)
        return th_call_prefix_error(c, "TIME", &e);
    return 0;
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

/* The simulation that the options ask for: the present one, or a new one where nothing would be
 * lost but what set_property changed. */
static th_simulation *simulation_for(th_call *c)
{
    th_session *s = c->session;
    th_run_options wanted = s->simulation ? s->simulation->options : s->defaults;
    if (th_session_need_program(s, &c->err) != 0 ||
        th_network_parse(c, RUN_NETWORK, &wanted) != 0 ||
        th_stream_parse(c, RUN_STREAM, &wanted) != 0)
        return NULL;
    th_simulation *old = s->simulation;
    if (old && th_run_options_equal(&wanted, &old->options))
        return old;
    if (old && old->has_begun && !th_machine_is_done(old->machine)) {
        th_error_set(&c->err, "TCL-0101", "a run with other options is under way: restart first");
        return NULL;
    }
    th_simulation *fresh = th_session_new_simulation(s, &wanted, &c->err);
    if (!fresh)
        return NULL;
    warn_of_lost_changes(c);
    return th_session_take_simulation(s, fresh, &c->err) == 0 ? fresh : NULL;
}

static int run_run(th_call *c)
{
    th_time until = 0;
    if (parse_until(c, &until) != 0)
        return -1;
    th_run_call d = {.call = c, .session = c->session, .sim = simulation_for(c)};
    if (!d.sim && th_error_is_interrupted(&c->err))
        return th_call_cancel(c, "interrupted before it began; nothing has run");
    if (!d.sim)
        return -1;
    th_time now = th_machine_now(d.sim->machine);
    if (is_relative(c))
        until = until > TH_TIME_MAX - now ? TH_TIME_MAX : now + until;
    if (until < now)
        return th_error_set(&c->err, "TCL-0102", "-until \"%s\": the run is already past this time",
                            th_call_text(c, RUN_UNTIL, ""));
    begin(&d);
    return finish(&d, run_to(&d, until));
}

/* ---- step, now, restart, stop, save_run ---- */

static int run_step(th_call *c)
{
    Tcl_WideInt n = 1;
    if (c->n_words > 0 && (Tcl_GetWideIntFromObj(NULL, c->words[0], &n) != TCL_OK || n < 1))
        return th_error_set(&c->err, "TCL-0103", "\"%s\": must be an integer, at least 1",
                            th_call_word(c, 0));
    th_run_call d = {
        .call = c, .session = c->session, .sim = th_session_simulation(c->session, &c->err)};
    if (!d.sim)
        return -1;
    begin(&d);
    return finish(&d, step_events(&d, n));
}

static int run_now(th_call *c)
{
    th_simulation *sim = c->session->simulation;
    th_call_return_time(c, sim ? th_machine_now(sim->machine) : 0);
    return 0;
}

static int run_restart(th_call *c)
{
    th_simulation *sim = c->session->simulation;
    if (sim && !th_simulation_is_current(sim)) {
        c->session->defaults = sim->options;
        th_session_drop_run(c->session); /* the next run calls the present procedures */
        return 0;
    }
    if (!sim)
        return 0;
    if (th_simulation_restart(sim, &c->err) != 0)
        return -1;
    th_event_recorder_clear(&th_tcl_of(c->session)->recorder);
    return th_probes_update(c->session, &c->err) != 0
               ? -1
               : th_property_events_reapply(c->session, sim, &c->err);
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
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (!th_machine_is_done(s->simulation->machine))
        return th_error_set(&c->err, "TCL-0105", "the run is not done: run first");
    if (th_call_word(c, 0)[0] == '\0')
        return th_error_set(&c->err, "TCL-0106", "the name of a run must not be empty");
    if (th_saved_run_add(s, th_call_word(c, 0), &c->err) != 0)
        return -1;
    Tcl_SetObjResult(c->interp, c->words[0]);
    return 0;
}

const th_command th_run_commands[] = {
    {"run", GROUP, "?TIME?", 0, 1, run_options, "simulate; return why it stopped",
     "TIME is short for -for TIME. Returns done, until, \"breakpoint NAME\" or interrupted. "
     "Continues where the previous run "
     "stopped. Without options for them, the stream and the network are those of map_workload. "
     "Ctrl-C stops between two events, and `run` continues from there.",
     .run = run_run, .not_while_running = true},
    {"step", GROUP, "?N?", 0, 1, NULL, "simulate N program events (1): starts and ends of tasks",
     "Returns until, or why it stopped before. A breakpoint is noticed after the event that passed "
     "it.",
     .run = run_step, .not_while_running = true, .after_interrupt = "nothing has run"},
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
