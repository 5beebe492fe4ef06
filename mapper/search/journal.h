/* SPDX-License-Identifier: GPL-3.0-or-later */
/* journal.h - a log of the fitness that a search was told, from which it can go on after any end.
 *
 *   open -> (answer | append)* -> sync -> free
 * A search is deterministic, given fitness. So a search that begins again and takes its fitness
 * from the log (answer) comes to where the log ends, and goes on from there (append), to the same
 * result as if it had never ended. The file: a header that tells of which search it is, then a
 * record per batch, each with a checksum that depends on all before it. A record is written as soon
 * as its batch is done, and reaches the disk within about a second. What is not whole at the end is
 * pruned. A search with a smaller budget than that of the log takes its answers and leaves the rest
 * for another one. */
#ifndef TH_MAPPER_JOURNAL_H
#define TH_MAPPER_JOURNAL_H
#include "mapper/evaluate/evaluate.h"

/* What must be the same for a journal to go on, by a digest each. */
typedef enum {
    TH_JOURNAL_SYSTEM,
    TH_JOURNAL_WORKLOAD,
    TH_JOURNAL_STREAM,
    TH_JOURNAL_NETWORK,
    TH_JOURNAL_OBJECTIVE,
    TH_JOURNAL_CONSTRAINTS,
    TH_JOURNAL_ALGORITHM,
    TH_JOURNAL_SEED,
    TH_JOURNAL_OPTIONS,
    TH_JOURNAL_DESIGNS, /* files and procedures that designs ask */
    TH_JOURNAL_N_PARTS
} th_journal_part;

typedef struct th_journal_header {
    uint64_t part[TH_JOURNAL_N_PARTS];
    /* May be another when a journal goes on: what the search asks in the same order is answered. */
    int64_t evaluations;
    double seconds;
} th_journal_header;

typedef struct th_journal th_journal;

/* Makes the file, or takes up one of the same header, which no other process may have open. NULL.
 */
th_journal *th_journal_open(const char *path, const th_journal_header *h, th_error *err);
void th_journal_free(th_journal *j); /* accepts NULL */

/* The fitness of the n mappings of the batch with this digest. 1, or 0: the log has come to its
 * end; or -1: it has another batch here, although its budget is the same. */
int th_journal_replay(th_journal *j, uint64_t digest, int n, th_fitness *fitness, th_error *err);
/* After answer returned 0; nothing where the log goes on behind the budget. elapsed_s: since the
 * search began, those before it included. 0 or -1: the file has no such record then. */
int th_journal_append(th_journal *j, uint64_t digest, int n, const th_fitness *fitness,
                      double elapsed_s, th_error *err);
/* What was appended has reached the disk. 0 or -1. */
int th_journal_sync(th_journal *j, th_error *err);

int64_t th_journal_n_replayed(const th_journal *j);      /* evaluations so far */
int64_t th_journal_truncated_bytes(const th_journal *j); /* that were cut off the end of the file */
double th_journal_elapsed_s(const th_journal *j);        /* of the last batch that was answered */

#endif
