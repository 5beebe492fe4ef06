/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design.h - the table of accelerator designs: one design is one file and one row.
 *
 * A design turns the block of its configuration into plain data once (configure), and then answers
 * for any layer shard with a schedule (see sim/pipeline/schedule.h). sim/design/README.md tells how
 * to add one. */
#ifndef TH_SIM_DESIGN_H
#define TH_SIM_DESIGN_H
#include "base/error.h"
#include "sim/pipeline/port.h"
#include "sim/pipeline/schedule.h"
#include "topology/system.h"

typedef enum {
    TH_KEY_INTEGER,
    TH_KEY_NUMBER,
    TH_KEY_FREQUENCY,
    TH_KEY_BYTES,
    TH_KEY_BANDWIDTH,
    TH_KEY_BOOL,
    TH_KEY_ENERGY, /* J */
    TH_KEY_POWER,  /* W */
    TH_KEY_CHOICE, /* one of choices; its value is the place among them */
    TH_KEY_TEXT,   /* lands in th_design_config.text */
    TH_KEY_FILE    /* as TEXT: a file, perhaps beside the system file */
} th_key_kind;

/* A key of a design's block. Its value lands in th_design_config.value[i], i its place in the
 * table, as a number in base units (Hz, bytes, bits/s, J, W, 0/1). */
typedef struct th_design_key {
    const char *name;
    th_key_kind kind;
    bool required;
    double minimum, maximum, standard; /* standard: where absent; may be 0 out of range */
    const char *meaning;               /* one line, with the unit, for help and docs */
    const char *const *choices;        /* of a CHOICE, ends in NULL */
} th_design_key;

enum { TH_DESIGN_KEYS_MAX = 32 };

/* What the operations of a design cost, see energy_keys.c; all 0 where its block says nothing. */
typedef struct th_design_energy {
    bool is_known;                 /* the block says something */
    double mac_j[TH_N_PRECISIONS]; /* of one multiply-accumulate, by th_precision */
    double vector_j;               /* of one operation of the vector unit */
    double buffer_j_per_byte, dram_j_per_byte, static_w;
    const char *source; /* the block's; NULL: none is known */
} th_design_energy;

/* What a host does before an accelerator can begin with an input, and once it has the output. */
typedef struct th_host_times {
    th_time before_ps, after_ps;
} th_host_times;

typedef struct th_design_config {
    double value[TH_DESIGN_KEYS_MAX];
    const char *text[TH_DESIGN_KEYS_MAX]; /* of TEXT keys; the block's, NULL where absent */
    th_design_energy energy;
    void *data; /* what prepare made */
} th_design_config;

/* What no part of a layer exceeds, however it is cut. */
typedef struct th_design_peak {
    double macs_per_cycle; /* as if dense; 0: the design runs no part of the layer */
    int64_t hz;
} th_design_peak;

typedef struct th_design_type {
    const char *name;
    const char *synopsis;
    const th_design_key *keys; /* ends with name NULL */
    /* Fills *out for a shard of conv, fc or matmul (without zeros between inputs: up = 1), or of
     * one of its kinds. 0, or -1 when the design cannot run it. */
    int (*schedule)(const th_design_config *c, const th_shard *shard, const th_port *memory,
                    th_schedule *out, th_error *err);
    /* Cycles of the same schedule with two slots where the memory is faster than the ports, by an
     * equation of its own; NAN where it does not hold for this configuration or shard. */
    double (*closed_form)(const th_design_config *c, const th_shard *shard);
    /* For lower bounds (mapper/evaluate/bounds.h): the rate that no part of the shard exceeds. A
     * design that has it moves, or has moved for it, all weights that a part reads and all outputs
     * that it makes, as far as its schedule of the whole shard does. NULL: no such rate is known.
     */
    th_design_peak (*peak)(const th_design_config *c, const th_shard *shard);
    /* What the host does for a shard, where it is the first or the last that the accelerator runs
     * of an input; NULL: nothing. */
    void (*host)(const th_design_config *c, const th_shard *shard, th_host_times *out);
    unsigned kinds; /* bit 1 << th_layer_kind: further kinds that it runs as they are; others are
                       turned into matmuls before it is asked */
    /* Makes config->data from its block, once (a table read from a file); release frees it. Both
     * may be NULL. 0 or -1. */
    int (*prepare)(th_design_config *c, const th_design_block *block, th_error *err);
    void (*release)(th_design_config *c);
    /* It runs layers without multiply-accumulates too, and sums of partial results: the unit beside
     * the array runs nothing. Its kinds must then have lstm and gru, to be asked about them. */
    bool runs_all;
    bool takes_parameters; /* keys of the block that are not in the table are for prepare */
} th_design_type;

extern const th_design_type *const th_design_types[]; /* ends in NULL */
const th_design_type *th_design_find(const char *name);

/* Reads and checks the block's keys, and prepares; the block must outlive *out, which is released
 * by th_design_release. 0 or -1 with FILE:LINE in err, nothing to release. */
int th_design_configure(const th_design_block *block, const th_design_type **type,
                        th_design_config *out, th_error *err);
void th_design_release(const th_design_type *type, th_design_config *c);
/* The key of that name; NULL: there is none. */
const th_design_key *th_design_key_find(const th_design_type *type, const char *name);
/* Checks every design block of the system. Called when a system is read, before anything is
 * stored. */
int th_design_check_system(const th_system *s, th_error *err);

/* plain.c: the schedule of a shard of any kind that runs on arrays. What the design does not run as
 * it is (a transposed convolution, a recurrent layer) is turned into what it does: th_plain_shard.
 * 0 or -1. */
int th_design_schedule(const th_design_type *type, const th_design_config *config,
                       const th_shard *shard, const th_port *memory, th_schedule *out,
                       th_error *err);
int th_plain_shard(const th_shard *shard, unsigned kinds, th_shard *out, th_error *err);
/* Multiply-accumulates that arrays do for all of a shard at least, whatever parts it is cut
 * into. */
double th_plain_macs(const th_shard *shard);
/* type->peak of what the shard is turned into. False: none is known. */
bool th_design_peak_of(const th_design_type *type, const th_design_config *config,
                       const th_shard *shard, th_design_peak *out);

/* The unit beside the array, for everything without multiply-accumulates. */
void th_vector_schedule(const th_accel *a, const th_shard *shard, th_schedule *out);
/* The operations that it does for it (vector.c: a copy is one, an exponential several). */
int64_t th_vector_operations(const th_accel *a, const th_shard *shard);

#endif
