/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu.h - a GPU described by the numbers of its data sheet.
 *   th_gpus_read -> find ... -> th_gpus_clear */
#ifndef TH_PREDICTOR_DATA_GPU_H
#define TH_PREDICTOR_DATA_GPU_H
#include <stddef.h>

#include "base/error.h"

enum { TH_GPU_NAME_MAX = 48 };

/* The numbers of one; all positive. */
typedef enum {
    TH_GPU_BANDWIDTH, /* of its memory, 1e9 bytes/s */
    TH_GPU_SMS,       /* streaming multiprocessors */
    TH_GPU_CORES,     /* single-precision units of each */
    TH_GPU_CLOCK,     /* MHz, boost */
    TH_GPU_PEAK,      /* single precision, 1e9 operations/s, 2 per multiply-accumulate */
    TH_GPU_L2,        /* MiB */
    TH_GPU_MEMORY,    /* GiB */
    TH_N_GPU_NUMBERS
} th_gpu_number;

typedef struct th_gpu {
    char name[TH_GPU_NAME_MAX];
    double x[TH_N_GPU_NUMBERS];
} th_gpu;

typedef struct th_gpus {
    th_gpu *gpu;
    char **aliases; /* by gpu: other names of it, separated by ";"; "" */
    int n;
    size_t capacity, alias_capacity;
} th_gpus;

/* The column of a number in a file: "memory_bandwidth_GBps". */
const char *th_gpu_number_column(th_gpu_number i);

/* Adds what a file of comma-separated values describes: columns device, those above, and, if it
 * likes, aliases and source, which then no line may leave empty; others are ignored. A name that is
 * there already is replaced. 0, or -1 and *g is as it was. */
int th_gpus_read(th_gpus *g, const char *path, th_error *err);
/* By name or alias, case and what is no letter or digit apart ("Tesla T4", "tesla_t4"). NULL:
 * unknown. */
const th_gpu *th_gpus_find(const th_gpus *g, const char *name);
/* *out needs no clearing on failure. 0, or -1: memory is out. */
int th_gpus_copy(th_gpus *out, const th_gpus *g);
void th_gpus_clear(th_gpus *g);

#endif
