/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment.h - the segment memo: the makespan of a mapping as the sum of replayed segments, equal to
 * that of a full replay to the picosecond (docs/models/segments.md). Makes default searches of the
 * CNNs on f1_16xlarge 1.3 times as fast.
 *
 *   new -> (share) -> (run | trim)* -> free
 * One per evaluator, whose lowering, program and machine it uses; several threads may share one
 * memo. */
#ifndef TH_MAPPER_EVALUATE_SEGMENT_H
#define TH_MAPPER_EVALUATE_SEGMENT_H
#include "mapper/lower/lower.h"
#include "sim/machine/machine.h"

typedef struct th_segments th_segments;

/* Counts since new. They do not depend on the number of threads unless the memo was cleared: a
 * segment that two threads replay at once counts once. */
typedef struct th_segment_counts {
    int64_t evaluations;  /* mappings that run was called for */
    int64_t full_replays; /* of them, those that need a replay of the whole program */
    int64_t lookups;      /* segments that were looked up */
    int64_t replayed;     /* of them, those that were not in the memo and were replayed */
} th_segment_counts;

void th_segment_counts_add(th_segment_counts *sum, const th_segment_counts *c);

typedef enum {
    TH_SEGMENTS_DONE,
    TH_SEGMENTS_STOPPED,    /* the makespan passes the limit */
    TH_SEGMENTS_INFEASIBLE, /* does not fit in memory, or a design of it cannot run a layer */
    TH_SEGMENTS_FULL_REPLAY /* segments do not cover it: replay the whole program */
} th_segments_outcome;

/* Do segments cover single passes of this workload on this machine? */
bool th_segments_supported(const th_workload *w, const th_machine *m);

/* All of these must outlive it; run changes the program. The memo is cleared when it takes more
 * than about limit bytes. NULL: memory is out. */
th_segments *th_segments_new(th_lower *l, th_program *p, th_machine *m, size_t limit);
enum { TH_SEGMENTS_LIMIT = 128 * 1024 * 1024 }; /* that the evaluators of a search hold */
/* For another thread: shares the memo of s, with a lowering and a machine that share plans and
 * compute costs with those of s. Freed before s. NULL: memory is out. */
th_segments *th_segments_share(th_segments *s, th_lower *l, th_program *p, th_machine *m);
void th_segments_free(th_segments *s); /* accepts NULL */

/* Is the memo larger than its limit? trim clears it in that case. A memo with a single user clears
 * itself; a shared one is trimmed by its owner while no sharer runs. s may be NULL: never. */
bool th_segments_are_full(const th_segments *s);
void th_segments_trim(th_segments *s);

/* What a mapping came to. work: tasks lowered and events simulated for its segments, whether just
 * now or for a mapping before it. */
typedef struct th_segments_result {
    th_segments_outcome outcome;
    th_time makespan; /* of DONE */
    int64_t work;
} th_segments_result;

/* The makespan of a single pass, when it is at most limit. 0, or -1 as th_lower_program (memory, a
 * script that fails or is needed first). */
int th_segments_run(th_segments *s, const th_mapping *m, th_time limit, th_segments_result *out,
                    th_error *err);

/* Of all who share, while none of them runs. NULL: all 0. */
th_segment_counts th_segments_counts(const th_segments *s);

#endif
