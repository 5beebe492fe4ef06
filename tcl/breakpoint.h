/* SPDX-License-Identifier: GPL-3.0-or-later */
/* breakpoint.h - instants at which a run stops or runs a script.
 *   add -> (next -> hit)* -> delete. reset when a run begins anew. */
#ifndef TH_TCL_BREAKPOINT_H
#define TH_TCL_BREAKPOINT_H
#include "tcl/session.h"

void th_breakpoints_clear(th_session *s);
/* Copies name and script. 0 or -1; the session is unchanged then. */
int th_breakpoint_add(th_session *s, const th_breakpoint *b, th_error *err);
th_breakpoint *th_breakpoint_find(th_session *s, const char *name);
void th_breakpoint_delete(th_session *s, th_breakpoint *b);

/* All are ahead again. */
void th_breakpoints_reset(th_session *s);
/* The earliest one that is ahead, the first made among equals; NULL: none. */
th_breakpoint *th_breakpoint_next(th_session *s);
/* The run is at or just after b->at_ps: runs its script. *stops: the run ends here, and stopped_by (of
 * size) holds b's name. 0, or -1 with Tcl's error when the script failed. */
int th_breakpoint_hit(th_session *s, th_breakpoint *b, bool *stops, char *stopped_by, size_t size);

#endif
