/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - a parameter study: parameters and their values, the script run at each point, and the
 * metrics recorded.
 *
 *   new -> (add_parameter | add_metric)* -> join* -> check -> (value | point_seed | digest |
 *     compare)* -> free
 * Parameters that are joined advance together and are one axis of the grid. Cells of the grid are
 * counted from 0, the last axis fastest, as nested loops would; points are the cells that a study
 * includes, counted from 1. */
#ifndef TH_STUDY_STUDY_H
#define TH_STUDY_STUDY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/strbuf.h"

enum { TH_STUDY_PARAMETERS_MAX = 24, TH_STUDY_METRICS_MAX = 24, TH_STUDY_CELLS_MAX = 10000000 };

/* The type of a metric's values. */
typedef enum { TH_FIGURE_INTEGER, TH_FIGURE_REAL, TH_FIGURE_TEXT } th_figure_type;

typedef struct th_study_parameter {
    const char *name;
    const char **values; /* words as the user wrote them */
    int32_t n_values;
    int axis;
} th_study_parameter;

typedef struct th_study_metric {
    const char *name;
    const char *kind;   /* the kind of quantity, as the report names it: "time" */
    const char *column; /* the name with the unit: "latency_ps" */
    th_figure_type type;
    bool is_own; /* the script sets it; else it is read from the run */
} th_study_metric;

typedef struct th_study {
    const char *name;
    const char *version; /* of the program that made it */
    const char *script;
    const char *where; /* "": all cells are points */
    int64_t seed;
    th_study_parameter parameters[TH_STUDY_PARAMETERS_MAX];
    int n_parameters, n_axes;
    th_study_metric metrics[TH_STUDY_METRICS_MAX];
    int n_metrics;
    struct th_arena *arena; /* of all texts */
} th_study;

th_study *th_study_new(void);    /* all texts ""; NULL: memory is out */
void th_study_free(th_study *s); /* accepts NULL */
/* A copy that lives as long as s; NULL: memory is out. */
const char *th_study_text(th_study *s, const char *text);

/* An axis of its own; the values are copied. 0 or -1. */
int th_study_add_parameter(th_study *s, const char *name, const char *const *values, int32_t n,
                           th_error *err);
int th_study_add_metric(th_study *s, const th_study_metric *metric, th_error *err);
/* Parameter b advances with parameter a from now on. 0, or -1: one is unknown, or their numbers of
 * values differ. */
int th_study_join(th_study *s, const char *a, const char *b, th_error *err);
/* Is the study complete: are there parameters, not too many cells, no name twice? 0 or -1. */
int th_study_check(const th_study *s, th_error *err);

int64_t th_study_n_cells(const th_study *s);
const char *th_study_value(const th_study *s, int64_t cell, int parameter);
int th_study_parameter_named(const th_study *s, const char *name); /* -1: none */
/* 1 .. 2^31 - 1: depends on the study's seed and the values of the parameters alone. */
int64_t th_study_point_seed(const th_study *s, int64_t cell);
/* A digest of the whole definition. */
uint64_t th_study_digest(const th_study *s);
/* 0 where both are the same; -1 with what differs first, in one line. */
int th_study_compare(const th_study *file, const th_study *here, th_error *err);

#endif
