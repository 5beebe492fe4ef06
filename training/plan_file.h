/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_file.h - a parallel plan with all that it was made with, and its file, which is a mapping's
 * (docs/formats.md).
 *   (the caller fills the plan, 0 where nothing is said) | read -> fill -> (write)* -> clear */
#ifndef TH_TRAINING_PLAN_FILE_H
#define TH_TRAINING_PLAN_FILE_H
#include "base/files/fields.h"
#include "base/strbuf.h"
#include "training/parallel_plan.h"
#include "training/training_numbers.h"

typedef struct th_plan_file {
    th_parallel_plan plan;
    th_training_numbers numbers;
    char *schedule_file; /* that the plan's points to; NULL: a schedule of the table */
    bool ignores_memory, merges;
} th_plan_file;
/* The group "plan" of its file. */
extern const th_field th_plan_fields[];
void th_plan_file_clear(th_plan_file *f);

/* Of a file; the plan's sequence, precision and skew stay, and
 * recomputation where the file has none. 0, or -1 and nothing to
 * clear. */
int th_plan_file_read(const char *path, th_plan_file *f, th_error *err);
int th_plan_file_read_text(const char *text, const char *name, th_plan_file *f, th_error *err);
/* Does a mapping's file hold a plan? false: something else, or it cannot be read. */
bool th_plan_file_is(const char *path);
void th_plan_file_write(const th_plan_file *f, th_strbuf *out);

/* The schedule of the table with that name, or a file: owned from then on. 0, or -1: out of
 * memory. */
int th_plan_file_set_schedule(th_plan_file *f, const char *name, th_error *err);
/* What nothing was said about: one rank of each kind, replicas on all accelerators, ZeRO over all
 * of them; 1F1B, or of several chunks interleaved. */
int th_plan_file_fill(th_plan_file *f, int32_t n_accels, th_error *err);

#endif
