/* SPDX-License-Identifier: GPL-3.0-or-later */
/* target.h - fuzz targets: a reader each, under arbitrary bytes.
 *   fuzz_targets[] -> fuzz_run -> ...
 * A target reads the bytes, checks what must hold of what was read, and frees all of it; it aborts
 * where something does not hold. */
#ifndef TH_TESTS_FUZZ_TARGET_H
#define TH_TESTS_FUZZ_TARGET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

typedef struct fuzz_target {
    const char *name; /* also of its folder in corpus/ */
    void (*run)(const uint8_t *data, size_t size);
    void (*begin)(void); /* makes, once, what all runs share; NULL: nothing */
} fuzz_target;

/* A row of fuzz_targets, in the file of its reader. */
extern const fuzz_target fuzz_astra_network, fuzz_astra_system, fuzz_checkpoint, fuzz_collective,
    fuzz_config_json, fuzz_devices, fuzz_failure_times, fuzz_infragraph, fuzz_mapping,
    fuzz_measurements, fuzz_nccl_log, fuzz_onnx, fuzz_pipeline, fuzz_plan, fuzz_predictor,
    fuzz_scalesim_config, fuzz_scalesim_topology, fuzz_schema, fuzz_study, fuzz_system, fuzz_table,
    fuzz_time_table, fuzz_trace, fuzz_trace_custom, fuzz_trace_groups, fuzz_trace_lenient,
    fuzz_trace_memory, fuzz_workload;
extern const fuzz_target *const fuzz_targets[]; /* ends in NULL */

/* Begins the target where that has not been done, and runs it. Aborts where a block stays
 * allocated. */
void fuzz_run(const fuzz_target *t, const uint8_t *data, size_t size);

/* fuzz_study.c: reads the bytes as the database of a study. */
void fuzz_study_begin(void);
void fuzz_study_read(const uint8_t *data, size_t size);
/* Runs a script of Tcl that makes a study in $path. */
bool fuzz_study_create(const char *path, const char *script);

/* ---- for targets ---- */

void must(bool holds);
/* Either it was read, or one line says why not. */
void must_read_or_say(bool is_read, const th_error *e);
/* The path of a file of the process that holds these bytes until the next call; it is gone when the
 * process ends. Aborts if it cannot be written. */
const char *fuzz_input_file(const uint8_t *data, size_t size);
/* The path of a file of the sources, until the next call; $srcdir names their folder. */
const char *fuzz_source_file(const char *name);

#endif
