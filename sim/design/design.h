/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design.h - the table of accelerator designs: one design is one file and one row.
 *
 * configure converts the configuration block of a design into plain data, once. schedule then
 * returns the tile schedule of any layer shard (sim/pipeline/schedule.h). sim/design/README.md
 * explains how to add a design. */
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
    TH_KEY_CHOICE, /* one of choices; its value is the index among them */
    TH_KEY_TEXT,   /* in th_design_config.text */
    TH_KEY_FILE    /* like TEXT: a file, relative to the system file */
} th_key_kind;

/* A key of a design's block. Its value is th_design_config.value[i], i its index in the table, in
 * base units (Hz, bytes, bits/s, J, W, 0/1). */
typedef struct th_design_key {
    const char *name;
    th_key_kind kind;
    bool required;
    double minimum, maximum, default_value; /* default_value may be 0 even if out of range */
    const char *meaning;                    /* one line, with the unit, for help and docs */
    const char *const *choices;             /* of a CHOICE, ends in NULL */
} th_design_key;

enum { TH_DESIGN_KEYS_MAX = 32 };

/* The energies of a design, see energy_keys.c; all 0 if its block has none. */
typedef struct th_design_energy {
    bool is_known;                 /* the block has energies */
    double mac_j[TH_N_PRECISIONS]; /* of one multiply-accumulate, by th_precision */
    double vector_j;               /* of one operation of the vector unit */
    double buffer_j_per_byte, dram_j_per_byte, static_w;
    const char *source; /* of the numbers, from the block; NULL: none */
} th_design_energy;

/* Host time before an accelerator starts with an input, and after it has produced the output. */
typedef struct th_host_times {
    th_time before_ps, after_ps;
} th_host_times;

typedef struct th_design_config {
    double value[TH_DESIGN_KEYS_MAX];
    const char *text[TH_DESIGN_KEYS_MAX]; /* of TEXT keys, owned by the block; NULL: absent */
    th_design_energy energy;
    void *data; /* result of prepare */
} th_design_config;

/* A rate that no part of a layer exceeds, for any partitioning. */
typedef struct th_design_peak {
    double macs_per_cycle; /* zeros included; 0: the design runs no part of the layer */
    int64_t hz;
} th_design_peak;

/* What the law of training steps takes a design for. Without any: one large core of its peak, as an
 * array that its keys describe is. */
typedef struct th_design_device {
    bool is_core;             /* one large core */
    const char *name;         /* of a row of devices.csv; NULL: the design's */
    const struct th_gpu *gpu; /* its numbers, known without a row; NULL: none */
} th_design_device;

typedef struct th_design_type {
    const char *name;
    const char *synopsis;
    const th_design_key *keys; /* ends with name NULL */
    /* Fills *out for a shard of conv, fc or matmul (not transposed: up = 1), or of one of `kinds`.
     * 0, or -1: the design cannot run it. */
    int (*schedule)(const th_design_config *c, const th_shard *shard, const th_port *memory,
                    th_schedule *out, th_error *err);
    /* For lower bounds (mapper/evaluate/bounds.h): a rate that no part of the shard exceeds. If the
     * schedule of the whole shard moves weights or outputs, so must that of every part: all weights
     * that the part reads and all outputs that it produces. NULL: no such rate is known. */
    th_design_peak (*peak)(const th_design_config *c, const th_shard *shard);
    /* Operations per second of a precision (or of the nearest that it has) by its data sheet, of a
     * design without such a rate: no bound, for algorithms may do with fewer. NULL: none. */
    double (*sheet_peak)(const th_design_config *c, th_precision p);
    /* NULL: one large core, unless a row has the design's name. */
    th_design_device (*device)(const th_design_config *c);
    /* Host time before the first and after the last shard of an input on the accelerator; NULL: no
     * host time. */
    void (*host)(const th_design_config *c, const th_shard *shard, th_host_times *out);
    /* Bits 1 << th_layer_kind: recurrent kinds and attention that the design runs directly.
     * canonical.c converts the other recurrent ones to matmuls, attention.h the attention. */
    unsigned kinds;
    /* Sets config->data from the block, once (for example a table read from a file); release frees
     * it. Both may be NULL. 0 or -1. */
    int (*prepare)(th_design_config *c, const th_design_block *block, th_error *err);
    void (*release)(th_design_config *c);
    /* The design also runs layers without multiply-accumulates and sums of partial results, so the
     * vector unit runs nothing. kinds must then include lstm and gru. */
    bool runs_all;
    bool is_measured;      /* a cycle is a picosecond of a measured time, the last step's */
    bool takes_parameters; /* prepare reads keys of the block that are not in the table */
} th_design_type;

/* designs.c: the table, which ends in NULL. */
extern const th_design_type *const th_design_types[];
const th_design_type *th_design_find(const char *name);

/* Reads and checks the keys of the block and calls prepare. The block must outlive *out, which
 * th_design_release releases. 0, or -1 with FILE:LINE in err and nothing to release. */
int th_design_configure(const th_design_block *block, const th_design_type **type,
                        th_design_config *out, th_error *err);
void th_design_release(const th_design_type *type, th_design_config *c);
/* The key of that name, or NULL. */
const th_design_key *th_design_key_find(const th_design_type *type, const char *name);
/* Checks every design block of a system that is being read. 0 or -1. */
int th_design_check_system(const th_system *s, th_error *err);

/* canonical.c: the schedule of a shard of any kind with multiply-accumulates. th_canonical_shard
 * converts a transposed convolution, and a recurrent layer that is not among kinds. 0 or -1. */
int th_design_schedule(const th_design_type *type, const th_design_config *config,
                       const th_shard *shard, const th_port *memory, th_schedule *out,
                       th_error *err);
int th_canonical_shard(const th_shard *shard, unsigned kinds, th_shard *out, th_error *err);
/* A lower bound of the multiply-accumulates for a shard, over all partitionings. */
double th_canonical_macs(const th_shard *shard);
/* type->peak of the canonical shard. False: none is known. */
bool th_design_peak_of(const th_design_type *type, const th_design_config *config,
                       const th_shard *shard, th_design_peak *out);

/* energy_keys.c: the keys that every design has besides its own; value and text are by their index
 * in the table. 0 or -1. */
extern const th_design_key th_energy_keys[];
int th_energy_configure(const th_design_block *b, const double *value, const char *const *text,
                        th_design_energy *out, th_error *err);

/* The vector unit, for layers without multiply-accumulates. */
void th_vector_schedule(const th_accel *a, const th_shard *shard, th_schedule *out);
/* Operations of the vector unit for a shard (a copy counts as one, an exponential as several). */
int64_t th_vector_operations(const th_accel *a, const th_shard *shard);

#endif
