/* SPDX-License-Identifier: GPL-3.0-or-later */
/* goal.h - the objective of map_workload, as an option and in reports. */
#ifndef TH_SESSION_GOAL_H
#define TH_SESSION_GOAL_H
#include "mapper/evaluate/objective.h"
#include "session/table/report.h"

/* The objective in the words of map_workload -objective. */
char *th_goal_describe(const th_goal *g, char *out, size_t size);

/* The value of the objective for text, "2.28134ms", "4.1mJ", "3.2e-05Js", "0.125", with the
 * lateness, if any. */
char *th_goal_format(const th_goal *g, const th_metrics *m, char *out, size_t size);

/* The value as a column of a report and its cell, without deadlines; and that of one objective
 * under its own name. */
th_column th_goal_column(const th_goal *g);
th_quantity th_goal_quantity(const th_goal *g, const th_metrics *m);
th_column th_objective_column(th_objective o);
th_quantity th_objective_quantity(th_objective o, const th_metrics *m);

/* Is throughput the objective, a part of it, or on its front? */
bool th_goal_has_throughput(const th_goal *g);
/* The throughput of these metrics as two columns, TH_GOAL_RATES, and their cells: samples per
 * second (a batch has several), and batches per second. Text shows the second where they
 * differ, and neither where the goal has no throughput; the cells are absent there. */
enum { TH_GOAL_RATES = 2 };
void th_goal_rate_columns(const th_goal *g, int64_t samples, th_column *out);
void th_goal_rates(const th_goal *g, int64_t samples, const th_metrics *m, th_quantity *out);

#endif
