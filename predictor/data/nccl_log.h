/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log.h - measured collectives: what nccl-tests prints, or a CSV file with the columns nodes,
 * gpus, collective, bytes, time_us, and maybe system.
 *   th_nccl_log_read -> rows -> th_nccl_log_clear */
#ifndef TH_PREDICTOR_DATA_NCCL_LOG_H
#define TH_PREDICTOR_DATA_NCCL_LOG_H
#include <stddef.h>
#include "base/error.h"
#include "base/notes.h"

typedef enum {
    TH_NCCL_ALL_REDUCE,
    TH_NCCL_ALL_GATHER,
    TH_NCCL_REDUCE_SCATTER,
    TH_NCCL_ALL_TO_ALL,
    TH_NCCL_BROADCAST,
    TH_NCCL_REDUCE,
    TH_NCCL_KINDS
} th_nccl_kind;

extern const char *const th_nccl_names[TH_NCCL_KINDS + 1]; /* "all_reduce" ..., NULL */

typedef struct th_nccl_row {
    th_nccl_kind kind;
    int nodes, ranks; /* 1 <= nodes <= ranks */
    double bytes;     /* the size column; > 0 */
    double us;        /* out of place; > 0 */
} th_nccl_row;

typedef struct th_nccl_log {
    th_nccl_row *rows; /* owned */
    size_t n, capacity;
    size_t n_left_out; /* lines of times that are no rows */
    th_strbuf notes;   /* of what was left out but not asked to be (base/notes.h) */
} th_nccl_log;

/* Reads text, which is changed. name is for messages. kind: of a log that does not tell it; one
 * that tells another is refused; -1: unknown. system: the rows of a CSV file with this system;
 * NULL: of all. 0, or -1 and nothing to clear. */
int th_nccl_log_read(th_nccl_log *log, char *text, const char *name, int kind, const char *system,
                     th_error *err);
void th_nccl_log_clear(th_nccl_log *log);

#endif
