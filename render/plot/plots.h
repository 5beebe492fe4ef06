/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plots.h - the plots of write_plot. NULL: error in err. */
#ifndef TH_RENDER_PLOT_PLOTS_H
#define TH_RENDER_PLOT_PLOTS_H
#include "predictor/model/predictor.h"
#include "render/plot/plot.h"
#include "session/session.h"

/* of_search.c: each improvement, and the lower bound. */
th_plot *th_plot_of_search(th_session *s, th_error *err);

/* of_predictor.c: predicted times against measured ones, of the n rows of m that p has a model
 * for. */
th_plot *th_plot_of_predictor(const th_predictor *p, const th_measurements *m, const size_t *rows,
                              size_t n, th_error *err);

/* graph.c: the layers of a workload as the bytes of a file, whose extension is the format. 0 or
 * -1. */
int th_graph_draw(const th_workload *w, const char *path, th_strbuf *out, th_error *err);

#endif
