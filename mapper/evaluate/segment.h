/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment.h - the makespan of a mapping, put together from segments that the machine has replayed
 * before: docs/models/segments.md. It is the machine's own, to the picosecond, or none.
 *
 *   new -> (share) -> (run | trim)* -> free.  One per evaluator, whose lowering, program and
 * machine it uses; what they remember several threads may share. */
#ifndef TH_MAPPER_EVALUATE_SEGMENT_H
#define TH_MAPPER_EVALUATE_SEGMENT_H
#include "mapper/lower/lower.h"
#include "sim/machine/machine.h"

typedef struct th_segments th_segments;

/* What became of it, since new; all counts only go up. As long as nothing was dropped they do not
 * depend on the number of threads that share: what two have replayed at once counts once. */
typedef struct th_segment_counts {
    int64_t evaluations; /* mappings that run was asked for */
    int64_t whole;       /* of them, those that only a replay of the whole program can answer */
    int64_t asked;       /* segments that were looked up */
    int64_t replayed;    /* of them, those that were not known, and had to be replayed */
} th_segment_counts;

void th_segment_counts_add(th_segment_counts *sum, const th_segment_counts *c);

typedef enum {
    TH_SEGMENTS_DONE,
    TH_SEGMENTS_STOPPED,    /* the makespan passes the limit */
    TH_SEGMENTS_INFEASIBLE, /* does not fit in memory, or a design of it cannot run a layer */
    TH_SEGMENTS_FULL_REPLAY /* not to be told by segments: lower and replay the whole program */
} th_segments_outcome;

/* Can a single pass of this workload be told by segments on this machine at all? */
bool th_segments_supported(const th_workload *w, const th_machine *m);

/* All of these must outlive it; run leaves another program behind. What is known is dropped when it
 * takes more than so many bytes, about. NULL: memory is out. */
th_segments *th_segments_new(th_lower *l, th_program *p, th_machine *m, size_t limit);
enum { TH_SEGMENTS_LIMIT = 128 * 1024 * 1024 }; /* that the evaluators of a search hold */
/* For another thread, over a lowering that shares with that of s and a machine that shares its
 * works; with all that s, and those that share with it, know. Freed before s. NULL: memory is out.
 */
th_segments *th_segments_share(th_segments *s, th_lower *l, th_program *p, th_machine *m);
void th_segments_free(th_segments *s); /* accepts NULL */

/* Do they hold more than the limit? Then trim drops all of it: where they are shared not by
 * themselves, but when somebody calls it while nobody runs. NULL: never. */
bool th_segments_are_full(const th_segments *s);
void th_segments_trim(th_segments *s);

/* The makespan of a single pass, when it is at most limit. 0, or -1 as th_lower_program (memory, a
 * script that fails or is needed first). */
int th_segments_run(th_segments *s, const th_mapping *m, th_time limit,
                    th_segments_outcome *outcome, th_time *makespan, th_error *err);

/* Of all who share, while none of them runs. NULL: all 0. */
th_segment_counts th_segments_counts(const th_segments *s);

#endif
