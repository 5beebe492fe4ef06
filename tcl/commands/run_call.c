/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_call.c - see run_call.h.
 *   begin -> (advance to the next breakpoint -> its script)* -> finish: the reason of the stop
 * The machine advances in slices of a few thousand events; between them timers are served and the
 * progress line is updated. Ctrl-C is polled there and, within long slices, by the machine. Slices
 * do not change results: the machine stops between two events. */
#include <config.h>
#include "tcl/commands/run_call.h"
#include <string.h>
#include "base/clock.h"
#include "sim/execution_trace/trace_stuck.h"
#include "tcl/warning.h"
#include <stdio.h>
#include "tcl/objects/breakpoint.h"

enum { SLICE_EVENTS = 4096 };
static const th_time first_slice_ps = 1000000; /* 1 us */
static const double timers_apart_s = 0.001;    /* Tcl asks another thread for them */

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
    *end = TH_END_INTERRUPTED;
    if (th_session_is_interrupted(d->session))
        return false;
    const double now_s = th_clock_s();
    if (now_s - d->timers_served_s >= timers_apart_s) {
        while (Tcl_DoOneEvent(TCL_TIMER_EVENTS | TCL_DONT_WAIT))
            ;
        d->timers_served_s = now_s;
    }
    *end = TH_END_STOPPED;
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
    if (target == TH_TIME_MAX) {
        th_time end;
        bool failed = th_machine_run_together(m, target, &end, &d->call->err) < 0;
        return failed ? TH_STOP_ERROR : th_machine_step(m, SLICE_EVENTS, &d->call->err);
    }
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
    if (th_breakpoints_handle_records(d->session, &stops, &d->by, &d->call->err) != 0)
        return TH_END_FAILED;
    if (th_tcl_of(d->session)->stop_asked && !stops)
        return TH_END_STOPPED;
    return stops ? TH_END_BREAKPOINT : otherwise;
}

/* Has the run made all steps that were asked for? */
static bool has_stepped(const th_run_call *d)
{
    return d->probe && d->probe->left <= 0;
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
            return TH_END_FAILED;
        if (stop == TH_STOP_INTERRUPTED) {
            reached = th_machine_now(d->sim->machine);
            continue;
        }
        if (stop == TH_STOP_OBSERVER) {
            reached = th_machine_now(d->sim->machine);
            if ((end = answer(d, TH_END_UNTIL)) != TH_END_UNTIL || has_stepped(d))
                return end;
            continue;
        }
        if (stop == TH_STOP_DONE)
            return TH_END_DONE;
        if (target != TH_TIME_MAX && reached >= target)
            return TH_END_UNTIL;
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
        if (th_breakpoint_hit(d->session, b, &stops, &d->by) != 0)
            return TH_END_FAILED;
    return stops ? TH_END_BREAKPOINT : otherwise;
}

th_run_end th_run_to(th_run_call *d, th_time until)
{
    for (;;) {
        const th_breakpoint *b = th_breakpoint_next(d->session);
        th_time target = b && b->at_ps < until ? b->at_ps : until;
        th_run_end end = advance(d, target);
        if (end != TH_END_DONE && end != TH_END_UNTIL)
            return end;
        th_run_end after = pass_breakpoints(d, end);
        if (after != end || end == TH_END_DONE || target == until || has_stepped(d))
            return after;
    }
}

/* n program events, one by one; a breakpoint is noticed after the event that passed it. */
th_run_end th_run_events(th_run_call *d, int64_t n)
{
    th_machine *m = d->sim->machine;
    int64_t first = th_machine_events(m), last = n > INT64_MAX - first ? INT64_MAX : first + n;
    th_run_end end = TH_END_UNTIL;
    for (int64_t i = 0; end == TH_END_UNTIL && th_machine_events(m) < last; i++) {
        th_run_end stopped;
        if (i % SLICE_EVENTS == 0 && !serve_timers(d, &stopped))
            return stopped;
        th_stop stop = th_machine_step(m, 1, &d->call->err);
        th_simulation_changed(d->sim);
        d->sim->is_time_complete = stop == TH_STOP_DONE;
        if (stop == TH_STOP_INTERRUPTED && !serve_timers(d, &stopped))
            return stopped;
        end = stop == TH_STOP_ERROR  ? TH_END_FAILED
              : stop == TH_STOP_DONE ? TH_END_DONE
                                     : TH_END_UNTIL;
        if (stop == TH_STOP_OBSERVER)
            end = answer(d, TH_END_UNTIL);
        if (end != TH_END_FAILED && end != TH_END_BREAKPOINT)
            end = pass_breakpoints(d, end);
    }
    return end;
}

/* ---- begin and end of a call ---- */

void th_run_begin(th_run_call *d)
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
    th_strbuf text = TH_STRBUF_INIT;
    char now[64];
    int result = 0;
    switch (end) {
    case TH_END_DONE:
        th_call_return_text(d->call, "done");
        break;
    case TH_END_UNTIL:
        th_call_return_text(d->call, "until");
        break;
    case TH_END_BREAKPOINT:
        th_strbuf_printf(&text, "breakpoint %s", d->by.name);
        th_call_return_text(d->call, text.text ? text.text : "breakpoint");
        break;
    case TH_END_STOPPED:
        th_call_return_text(d->call, "interrupted");
        break;
    case TH_END_INTERRUPTED:
        th_strbuf_printf(&text, "interrupted at %s; `run` continues",
                         th_format_time(th_machine_now(d->sim->machine), now, sizeof now));
        result = th_call_cancel(d->call, text.text ? text.text : "interrupted");
        break;
    case TH_END_FAILED:
        result = -1;
        break;
    }
    th_strbuf_clear(&text);
    return result;
}

/* Keeps where and why the run stopped, for where, and prints it for a person. */
static int tell(th_run_call *d, th_run_end end)
{
    th_run_stop *stop = &th_tcl_of(d->session)->stop;
    th_strbuf text = TH_STRBUF_INIT;
    *stop = (th_run_stop){.is_known = true, .end = end, .by = d->by, .steps = d->steps};
    if (d->probe && d->probe->last.kind != TH_HAPPENED_NOTHING)
        stop->last = d->probe->last;
    if (d->probe)
        stop->unit = d->probe->choice.unit;
    if (end == TH_END_FAILED || end == TH_END_INTERRUPTED || !th_session_is_typed(d->session))
        return 0;
    th_run_stop_describe(d->session, stop, &text);
    th_strbuf_add(&text, "\n");
    int failed = th_session_print(d->session, text.text, &d->call->err);
    th_strbuf_clear(&text);
    return failed;
}

/* Tasks are left that never start: number 6 of the simulator's messages. */
static bool is_deadlock(const th_error *e)
{
    return strncmp(e->id, "SIM-", 4) == 0 && strcmp(e->id + 4, "0006") == 0;
}

/* At the end of a trace's replay: nodes that never end, and messages that nobody receives, are an
 * error, or a warning if the run is lenient. */
static th_run_end judge_trace(th_run_call *d, th_run_end end)
{
    const th_hand_built *h = d->session->hand_built;
    bool is_stuck = end == TH_END_FAILED && is_deadlock(&d->call->err);
    th_error why;
    if (!h || !h->trace || (end != TH_END_DONE && !is_stuck))
        return end;
    th_trace_explainer *x = th_trace_explainer_new(
        h->trace, d->session->system, th_machine_times(d->sim->machine), &d->call->err);
    int found = x ? th_trace_explain(x, &why, &d->call->err) : -1;
    th_trace_explainer_free(x);
    if (found < 0)
        return TH_END_FAILED;
    if (found == 0)
        return end;
    if (!d->is_lenient) {
        d->call->err = why;
        return TH_END_FAILED;
    }
    th_warn(d->call, "TCL-0804", "%s", why.text);
    d->call->err = (th_error){"", ""};
    return TH_END_DONE;
}

/* A machine that ran out of memory stands within an event: the run begins anew. */
static void lose_run(th_session *s)
{
    th_tcl_of(s)->stop.is_known = false;
    th_event_recorder_clear(&th_tcl_of(s)->recorder);
    th_session_drop_run(s);
}

int th_run_finish(th_run_call *d, th_run_end end)
{
    end = judge_trace(d, end);
    th_progress_end(&d->progress);
    th_tcl_of(d->session)->is_running = false;
    th_tcl_of(d->session)->stop_asked = false;
    int failed = tell(d, end);
    failed |= return_end(d, end) != 0;
    if (end == TH_END_FAILED && th_error_is_no_memory(&d->call->err))
        lose_run(d->session);
    return failed ? -1 : 0;
}
