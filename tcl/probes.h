/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probes.h - what the session has its machine tell: for the open trace and for breakpoints.
 *   (the trace or the breakpoints change | a machine is made) -> update */
#ifndef TH_TCL_PROBES_H
#define TH_TCL_PROBES_H
#include "tcl/tcl_session.h"

/* The present machine, if there is one, tells what is asked for, and nothing else. 0 or -1. */
int th_probes_update(th_session *s, th_error *err);

#endif
