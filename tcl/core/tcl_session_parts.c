/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tcl_session_parts.c - makes and frees a session with all its parts, see tcl_session.h. */
#include <config.h>
#include "base/alloc.h"
#include "session/store.h"
#include "tcl/core/lib_report.h"
#include "tcl/design_script.h"
#include "tcl/log.h"
#include "tcl/objects/breakpoint.h"
#include "tcl/tcl_session.h"

/* ---- notifications from the session ---- */

static int run_replaced(th_session *s, th_error *err)
{
    th_tcl_of(s)->stop.is_known = false;
    th_breakpoints_reset(s);
    return th_probes_update(s, err);
}

static const th_session_observer observer = {run_replaced, th_breakpoints_drop_bound,
                                             th_lib_tables};

th_session *th_session_new(Tcl_Interp *interp)
{
    th_tcl_session *t = th_alloc_zero(1, sizeof *t);
    if (!t)
        return NULL;
    t->interp = interp;
    t->thread = Tcl_GetCurrentThread();
    th_event_recorder_init(&t->recorder);
    if (th_session_init(&t->state, &observer) == 0 &&
        (t->state.scripts = th_design_scripts_new(&t->state, NULL)))
        return &t->state;
    th_session_free(&t->state);
    return NULL;
}

void th_session_free(th_session *s)
{
    if (!s)
        return;
    th_tcl_session *t = th_tcl_of(s);
    th_session_close_trace(s, NULL);
    th_session_end_log(s, NULL);
    th_session_drop_run(s);
    th_event_recorder_clear(&t->recorder);
    th_free(t->watched_links);
    th_breakpoints_clear(s);
    th_store_close(t->store);
    th_session_clear(s);
    th_free(t);
}

int th_session_close_trace(th_session *s, th_error *err)
{
    th_trace *trace = s->trace;
    if (!trace)
        return 0;
    if (s->simulation)
        th_trace_advance(trace, th_machine_now(s->simulation->machine));
    s->trace = NULL;
    int failed = th_probes_update(s, err);
    return th_trace_close(trace, err) != 0 ? -1 : failed;
}

int th_session_end_log(th_session *s, th_error *err)
{
    int failed = th_log_end(th_tcl_of(s)->log, err);
    th_tcl_of(s)->log = NULL;
    return failed;
}
