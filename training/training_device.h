/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_device.h - the accelerators of a system, each with the numbers that the law of its time
 * (predictor/law) asks for. */
#ifndef TH_TRAINING_TRAINING_DEVICE_H
#define TH_TRAINING_TRAINING_DEVICE_H
#include "predictor/data/gpu.h"
#include "sim/design/design.h"
#include "topology/system.h"
#include "training/training_numbers.h"

/* One accelerator, as its system describes it, or several that work together. */
typedef struct th_training_device {
    th_gpu gpu;                           /* its row of devices.csv, with the system's rates */
    double clock;                         /* the share of it that a limit of its power leaves */
    double operations_per_s, bytes_per_s; /* 16-bit peak, DRAM */
    int64_t memory_bytes;
    unsigned kinds;   /* of several unlike ones: bits of th_training_devices; 0: one */
    bool is_fastest;  /* a computation takes as long as on the fastest of them, not the slowest */
    bool keeps_clock; /* in long steps as well */
    bool is_known;    /* devices.csv has it */
    const th_generation *generation; /* with the measured steps of it; NULL: none is known */
} th_training_device;

/* The kinds of accelerators that a system has. */
enum { TH_DEVICE_KINDS_MAX = 4 };
typedef struct th_training_devices {
    const th_system *system;
    th_training_device of[TH_DEVICE_KINDS_MAX];
    int32_t accel[TH_DEVICE_KINDS_MAX], n; /* the first of each kind; n < 2: all are like */
} th_training_devices;

/* Fills gpu, clock and what follows of a device whose peak and bandwidth are set, by the name of
 * its design, or the one that the design says: that of a row of devices.csv, or with parts behind
 * it, each after "_", of which "500w" is a limit of power; or by its own numbers. What says that it
 * is one large core, without a row, has one core of that peak. 0, or -1: err names the rows that
 * are next to a device without a row. */
int th_training_device_find(th_training_device *d, const char *design, th_design_device by,
                            th_error *err);

#endif
