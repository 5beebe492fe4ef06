/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probes.c - see probes.h. */
#include <config.h>
#include "tcl/objects/probes.h"
#include "tcl/tcl_session.h"
#include "base/alloc.h"
#include "tcl/objects/breakpoint.h"

/* Sets the kinds of events, and the links, that the recorder records for breakpoints. 0 or -1. */
static int configure_recorder(th_session *s, th_error *err)
{
    bool only_named;
    bool *named = th_alloc_zero((size_t)s->system->n_links + 1, sizeof *named);
    if (!named)
        return th_error_no_memory(err);
    th_tcl_of(s)->recorder.kinds = th_breakpoints_kinds(s, named, &only_named);
    th_free(th_tcl_of(s)->watched_links);
    th_tcl_of(s)->watched_links = named;
    th_tcl_of(s)->recorder.links = only_named ? named : NULL;
    return 0;
}

int th_probes_update(th_session *s, th_error *err)
{
    if (!s->simulation)
        return 0;
    if (configure_recorder(s, err) != 0)
        return -1;
    th_observer *trace = s->trace ? th_trace_observer(s->trace) : NULL,
                *recorder =
                    th_tcl_of(s)->recorder.kinds != 0 ? &th_tcl_of(s)->recorder.observer : NULL;
    if (trace)
        trace->next = recorder;
    return th_machine_observe(s->simulation->machine, trace ? trace : recorder, err);
}
