/* SPDX-License-Identifier: GPL-3.0-or-later */
/* journal.h - a log of the fitness of a search's mappings, from which the search can resume.
 *
 *   open -> (replay | append)* -> sync -> free
 * A search is deterministic, given fitness. So a search that starts again and takes its fitness
 * from the log (replay) reaches the point where the log ends, and continues from there (append),
 * to the same result as an uninterrupted one. The file: a header that identifies the search, then
 * a record per batch, each with a checksum over all before it. A record is written when its batch
 * is done, and reaches the disk within about a second. An incomplete record at the end is cut off.
 * A search with a smaller budget than the log's replays its part and leaves the rest of the file
 * unchanged. */
#ifndef TH_MAPPER_JOURNAL_H
#define TH_MAPPER_JOURNAL_H
#include "mapper/evaluate/evaluate.h"

/* The parts of a search that must be the same to resume, each by a digest. */
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
    TH_JOURNAL_DESIGNS, /* files that designs read and procedures that they call */
    TH_JOURNAL_N_PARTS
} th_journal_part;

typedef struct th_journal_header {
    uint64_t part[TH_JOURNAL_N_PARTS];
    /* May differ when a search resumes: the batches before the end of either budget are the
     * same. */
    int64_t evaluations;
    double seconds;
} th_journal_header;

typedef struct th_journal th_journal;

/* Creates the file, or opens one with the same header that no other process has open. NULL on
 * failure. */
th_journal *th_journal_open(const char *path, const th_journal_header *h, th_error *err);
void th_journal_free(th_journal *j); /* accepts NULL */

/* The fitness of the n mappings of the batch with this digest. 1; 0: the log has ended; or -1: it
 * has another batch here, although its budget is the same. */
int th_journal_replay(th_journal *j, uint64_t digest, int n, th_fitness *fitness, th_error *err);
/* After replay returned 0; does nothing where the log continues behind the budget. elapsed_s:
 * since the search began, including earlier runs. 0 or -1: the file has no such record then. */
int th_journal_append(th_journal *j, uint64_t digest, int n, const th_fitness *fitness,
                      double elapsed_s, th_error *err);
/* What was appended has reached the disk. 0 or -1. */
int th_journal_sync(th_journal *j, th_error *err);

int64_t th_journal_n_replayed(const th_journal *j);      /* evaluations so far */
int64_t th_journal_truncated_bytes(const th_journal *j); /* cut off the end of the file */
double th_journal_elapsed_s(const th_journal *j);        /* of the last replayed batch */

#endif
