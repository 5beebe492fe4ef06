/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write.h - a picture into a file. */
#ifndef TH_TCL_PLOT_WRITE_H
#define TH_TCL_PLOT_WRITE_H
#include "tcl/plot/plot.h"
#include "tcl/session.h"

/* Draws p (NULL: its maker has said in err why there is none) and frees it; folders that are
 * missing on the way are made, and nothing is written where drawing fails. 0 or -1. */
int th_write_plot(th_session *s, th_plot *p, const char *path, th_error *err);

#endif
