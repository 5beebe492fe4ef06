/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design.h - the table of accelerator designs: one design is one file and one row.
 *
 * A design turns the block of its configuration into plain data once (configure), and then answers
 * for any layer shard with a schedule (see sim/schedule.h). sim/design/README.md tells how to add
 * one. */
#ifndef TH_SIM_DESIGN_H
#define TH_SIM_DESIGN_H
#include "base/error.h"
#include "sim/schedule.h"
#include "topology/system.h"

typedef enum {
    TH_KEY_INTEGER,
    TH_KEY_NUMBER,
    TH_KEY_FREQUENCY,
    TH_KEY_BYTES,
    TH_KEY_BOOL
} th_key_kind;

/* A key of a design's block. Its value lands in th_design_config.value[i], i its place in the
 * table, as a number in base units (Hz, bytes, 0/1). */
typedef struct th_design_key {
    const char *name;
    th_key_kind kind;
    bool required;
    double minimum, maximum, standard; /* standard: the value of an absent key */
    const char *meaning;               /* one line, with the unit, for help and docs */
} th_design_key;

enum { TH_DESIGN_KEYS_MAX = 20 };

typedef struct th_design_config {
    double value[TH_DESIGN_KEYS_MAX];
} th_design_config;

typedef struct th_design_type {
    const char *name;
    const char *synopsis;
    const th_design_key *keys; /* ends with name NULL */
    /* Fills *out for a shard of conv, fc or matmul. 0, or -1 when the design cannot run it. */
    int (*schedule)(const th_design_config *c, const th_shard *shard, th_schedule *out,
                    th_error *err);
} th_design_type;

extern const th_design_type *const th_design_types[]; /* ends in NULL */
const th_design_type *th_design_find(const char *name);

/* Reads and checks the block's keys. 0 or -1 with FILE:LINE in err. */
int th_design_configure(const th_design_block *block, const th_design_type **type,
                        th_design_config *out, th_error *err);
/* Checks every design block of the system. Called when a system is read, before anything is
 * stored. */
int th_design_check_system(const th_system *s, th_error *err);

/* The unit beside the array for pool, add, relu, norm and the sums of reductions. */
void th_vector_schedule(const th_accel *a, const th_shard *shard, th_schedule *out);

#endif
