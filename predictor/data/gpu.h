/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu.h - a GPU described by the numbers of its data sheet.
 *   th_gpus_read -> find ... -> th_gpus_clear */
#ifndef TH_PREDICTOR_DATA_GPU_H
#define TH_PREDICTOR_DATA_GPU_H
#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "predictor/op/op.h"

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

/* What a description can leave out, which is 0 then. */
typedef enum {
    TH_GPU_TF32, /* peaks of tensor cores, dense, 1e9 operations/s; 0: the device has none */
    TH_GPU_FP16,
    TH_GPU_BF16,
    TH_GPU_FP8,
    TH_GPU_FP4,
    TH_GPU_L2_BANDWIDTH, /* 1e9 bytes/s; 0: th_gpu_l2_bandwidth estimates it */
    TH_GPU_LAUNCH,       /* of a kernel, us */
    TH_GPU_BOARD_POWER,  /* W */
    TH_GPU_IDLE_POWER,
    TH_GPU_TENSOR_M, /* the tensor cores' largest product of 16 bits, M x N x K */
    TH_GPU_TENSOR_N,
    TH_GPU_TENSOR_K,
    TH_GPU_FP16_ENERGY, /* pJ per operation of 16 bits at the full clock; 0: not known */
    TH_N_GPU_EXTRAS
} th_gpu_extra;

typedef struct th_gpu {
    char name[TH_GPU_NAME_MAX];
    double x[TH_N_GPU_NUMBERS];
    double extra[TH_N_GPU_EXTRAS];
} th_gpu;

typedef struct th_gpus {
    th_gpu *gpu;
    char **aliases; /* by gpu: other names of it, separated by ";"; "" */
    int n;
    size_t capacity, alias_capacity;
} th_gpus;

/* The column of a number in a file: "memory_bandwidth_GBps". */
const char *th_gpu_number_column(th_gpu_number i);
const char *th_gpu_extra_column(th_gpu_extra i); /* "fp16_GFLOPs" */

/* 1e9 operations/s at a precision; 0: the device does not have it. */
double th_gpu_peak(const th_gpu *gpu, th_op_precision p);
/* The precision nearest to p that the device has: p itself, else the next wider one, else the next
 * narrower one. */
th_op_precision th_gpu_nearest_precision(const th_gpu *gpu, th_op_precision p);
/* 0, or -1: the device lacks the precision; err names those that it has. */
int th_gpu_check_precision(const th_gpu *gpu, th_op_precision p, th_error *err);
/* Of the last-level cache, 1e9 bytes/s: the description's, or else 64 bytes per multiprocessor and
 * clock. */
double th_gpu_l2_bandwidth(const th_gpu *gpu);

/* Adds what a file of comma-separated values describes: columns device, those above, and, if it
 * likes, the extras, whose fields can be empty, aliases, and source, which then no line may leave
 * empty. Of others notes tells (base/notes.h). A name that is there already is replaced.
 * 0, or -1 and *g is as it was. */
int th_gpus_read(th_gpus *g, const char *path, th_strbuf *notes, th_error *err);
/* By name or alias, case and what is no letter or digit apart ("Tesla T4", "tesla_t4"). NULL:
 * unknown. */
const th_gpu *th_gpus_find(const th_gpus *g, const char *name);
/* Of the GPUs whose names have the same letters in front (h100, h200), the three whose numbers in
 * the name are nearest, with what tells whether they are like it: "; of its series b200 (7700 GB/s,
 * 2250 TFLOP/s in fp16), ...". "": there are none. */
void th_gpus_describe_series(const th_gpus *g, const char *name, char *text, size_t size);
/* The three whose 16-bit peak and bandwidth (1e9 a second) are nearest: "; nearest are h100 ..." */
void th_gpus_describe_near(const th_gpus *g, double peak, double bandwidth, char *text,
                           size_t size);
/* The table that comes with Tharsis. 0, or -1: it is not found, or is none. */
int th_gpus_read_shipped(th_gpus *out, th_error *err);
/* The device of that name or alias in it. 0; 1: it has none; -1: as above. */
int th_gpu_shipped(const char *name, th_gpu *out, th_error *err);
/* *out needs no clearing on failure. 0, or -1: memory is out. */
int th_gpus_copy(th_gpus *out, const th_gpus *g);
void th_gpus_clear(th_gpus *g);

#endif
