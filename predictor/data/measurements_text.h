/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measurements_text.h - private to the reading of measurements: measurements_header.c interprets
 * the columns of a file, measurements_read.c reads its lines. */
#ifndef TH_PREDICTOR_DATA_MEASUREMENTS_TEXT_H
#define TH_PREDICTOR_DATA_MEASUREMENTS_TEXT_H
#include "base/files/csv.h"
#include "predictor/data/measurements.h"

enum { MEASUREMENT_COLUMNS_MAX = 128 };

/* What a column holds: a field of th_op, or one of these. */
enum {
    IN_BOTH = TH_N_OP_FIELDS,
    KERNEL_BOTH,
    POOL_BOTH, /* the kernel of pooling, where conv has its own column */
    STRIDE_BOTH,
    PAD_SAME, /* 1: as many zeros as keep ceil(input / stride) outputs; 0: none */
    PAD_EACH, /* zeros on each side */
    MATRIX_M, /* M x N by N x K: rows, inner, columns */
    MATRIX_N,
    MATRIX_K,
    KIND,
    DEVICE,
    PHASE,
    ROW_ID,
    GROUP,
    MEMBERS,
    TIME,
    TIME_OF_DEVICE, /* the device's name follows in the column's */
    N_MEANINGS
};

typedef struct {
    int place; /* in a line */
    int device;
    double ms; /* of its unit */
} time_column;

typedef struct {
    th_measurements *m;
    const th_measurement_source *source;
    const th_gpus *gpus;
    th_csv csv;
    int format;
    const char *column[MEASUREMENT_COLUMNS_MAX]; /* names */
    int place[N_MEANINGS];                       /* -1: no such column */
    time_column time[MEASUREMENT_COLUMNS_MAX];
    int n_times;
    int kind, device; /* of all rows; -1: columns say */
    th_op_function function;
    th_phase phase;           /* of rows that say none */
    size_t n_rows, n_members; /* with those that are new */
    th_lines without_time;
    th_error *err;
} measurement_reader;

/* The columns, from the first line, which r->csv has cut up. 0 or -1. */
int th_measurement_header(measurement_reader *r);
/* What -kind and -device say of all rows. 0 or -1. */
int th_measurement_defaults(measurement_reader *r);

/* The kind that a word of a file means; *function is set where the word is one. -1: none. */
int th_measurement_kind(const char *word, size_t n, th_op_function *function);
/* The number of a device, which is added if it is new. -1: unknown, or memory is out. */
int th_measurement_device(const measurement_reader *r, const char *name);

#endif
