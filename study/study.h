/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - what pages know of a parameter study beside the table of its points. */
#ifndef TH_STUDY_STUDY_H
#define TH_STUDY_STUDY_H
#include <stdint.h>

typedef struct th_study_parameter {
    const char *name;
    const char **values; /* words as the user wrote them */
    int32_t n_values;
} th_study_parameter;

typedef struct th_study_metric {
    const char *name;
} th_study_metric;

typedef struct th_study {
    const char *name, *script;
    th_study_parameter *parameters;
    int n_parameters;
    th_study_metric *metrics;
    int n_metrics;
} th_study;

#endif
