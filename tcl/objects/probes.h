/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probes.h - the observers of the session's machine: the open trace and the event recorder of
 * breakpoints.
 *   (the trace or the breakpoints change | a machine is made) -> update */
#ifndef TH_TCL_OBJECTS_PROBES_H
#define TH_TCL_OBJECTS_PROBES_H
#include "tcl/tcl_session.h"

/* Attaches the observers that the trace and the breakpoints need to the present machine, if there
 * is one. 0 or -1. */
int th_probes_update(th_session *s, th_error *err);

#endif
