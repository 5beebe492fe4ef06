/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_plot.h - a picture into a file. */
#ifndef TH_TCL_WRITE_PLOT_H
#define TH_TCL_WRITE_PLOT_H
#include "report/plot/plot.h"
#include "tcl/tcl_session.h"

/* Draws p (NULL: its maker has said in err why there is none) and frees it; folders that are
 * missing on the way are made, and nothing is written where drawing fails. 0 or -1. */
int th_write_plot(th_session *s, th_plot *p, const char *path, th_error *err);

#endif
