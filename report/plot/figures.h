/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figures.h - pictures of what the session knows. NULL: err says why. */
#ifndef TH_REPORT_PLOT_FIGURES_H
#define TH_REPORT_PLOT_FIGURES_H
#include "predictor/model/predictor.h"
#include "report/plot/plot.h"
#include "report/table/report.h"
#include "report/session/session.h"

enum { TH_PLOT_Y_MAX = 8 };

/* Which columns of a table are drawn, by number. */
typedef struct th_plot_columns {
    th_plot_type type;
    int x, y[TH_PLOT_Y_MAX], n_y;
    int by; /* a series per text of this column; -1: one */
    int z;  /* of a heat map: what its colours tell */
    int x_better, y_better,
        z_better; /* -1: less is better, 1: more is; 0: by the names of the columns */
} th_plot_columns;

/* of_table.c: bars, lines, stacks and scatters. The columns of y must be of one kind. Scatters have
 * the Pareto front drawn, where it is known of both columns whether less is better. */
th_plot *th_plot_of_table(const th_table *t, const th_plot_columns *columns, th_error *err);

/* heat_of_table.c: a cell for each text of x and each of y, which is one column; of several rows in
 * one cell the best of z counts, or the least. */
th_plot *th_plot_heat_of_table(const th_table *t, const th_plot_columns *columns, th_error *err);

/* of_run.c: of the present run. What accelerators did with their time, stacked. */
th_plot *th_plot_of_accels(th_session *s, th_error *err);
/* Node by node: the load of the links between them; what was sent from one to the other. */
th_plot *th_plot_of_links(th_session *s, th_error *err);
th_plot *th_plot_of_traffic(th_session *s, th_error *err);

/* of_search.c: every best so far, and what no mapping can beat. */
th_plot *th_plot_of_search(th_session *s, th_error *err);

/* of_predictor.c: predicted times against measured ones, of the n rows of m that p has a model for.
 */
th_plot *th_plot_of_predictor(const th_predictor *p, const th_measurements *m, const size_t *rows,
                              size_t n, th_error *err);

#endif
