/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measurements.h - measured times of operations on GPUs.
 *   new -> th_measurements_read* -> row[] -> free
 * Formats differ in the names of their columns only; docs/formats.md has them. */
#ifndef TH_PREDICTOR_DATA_MEASUREMENTS_H
#define TH_PREDICTOR_DATA_MEASUREMENTS_H
#include <stdbool.h>
#include <stdint.h>

#include "predictor/data/gpu.h"
#include "predictor/op/op.h"

typedef struct th_measurement {
    th_op op;
    th_phase phase;
    int32_t device;    /* of th_measurements */
    int32_t group;     /* of th_measurements; -1: none */
    int64_t row_id;    /* equal for the same operation on several devices; else its place in all */
    int32_t n_members; /* that are unequal: op holds their mean (op/members.h); 0: none */
    size_t first_member; /* of them, in th_measurements */
    double ms;
} th_measurement;

typedef struct th_measurements {
    th_gpu *device;
    int32_t n_devices;
    char **group; /* what rows are summed up by: "alexnet, batch 4" */
    int32_t n_groups;
    th_measurement *row;
    size_t n_rows;
    int32_t *member; /* of rows with unequal members */
    size_t n_members;
    uint64_t digest; /* of all rows, in order */
    size_t device_capacity, group_capacity, row_capacity, member_capacity; /* private */
} th_measurements;

/* Some of the rows: those that are listed. */
typedef struct th_measured_rows {
    const th_measurements *all;
    const size_t *row;
    size_t n;
} th_measured_rows;

/* How to read a file. What it says itself goes first. */
typedef struct th_measurement_source {
    const char *path;           /* plain, or compressed by xz or gzip */
    th_strbuf *text;            /* what the file holds, which is used up; NULL: read it */
    const char *format;         /* of th_measurement_formats; NULL: auto */
    const char *kind, *device;  /* of all rows; NULL: the file's name or its columns say */
    const char *phase;          /* of all rows; NULL: as the format has it */
    const char *const *columns; /* pairs of a column of the file and one of the format, or "-": not
                                   to be read; NULL: none */
    int n_columns;              /* of the pairs */
    const char *units; /* of times where their columns say none, of th_measurement_units; NULL: as
                          the format has it */
    th_strbuf *notes;  /* to what is left out: columns, rows without a time; NULL: not wanted */
} th_measurement_source;

extern const char *const th_measurement_formats[]; /* ends in NULL */
extern const char *const th_measurement_units[];   /* the same */

/* What a file of measurements holds. 0 or -1. */
int th_measurements_text(const char *path, th_strbuf *text, th_error *err);
th_measurements *th_measurements_new(void); /* NULL: memory is out */
/* Adds the rows of a file. 0, or -1 and *m is as it was. Rows without a time (an empty field) are
 * left out. */
int th_measurements_read(th_measurements *m, const th_measurement_source *s, const th_gpus *gpus,
                         th_error *err);
void th_measurements_free(th_measurements *m);

#endif
