/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_plot.h - writes a picture to a file. */
#ifndef TH_TCL_WRITE_PLOT_H
#define TH_TCL_WRITE_PLOT_H
#include "report/plot/plot.h"
#include "tcl/tcl_session.h"

/* Draws p and frees it. If p is NULL, err says why it could not be made. Missing folders are
 * created; nothing is written where drawing fails. 0 or -1. */
int th_write_plot(th_session *s, th_plot *p, const char *path, th_error *err);

#endif
