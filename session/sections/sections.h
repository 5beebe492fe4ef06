/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.h - the tables of reports and results files, each made from the state of the session.
 * Sections that need a mapping or a run are called only if there is one. 0 or -1. */
#ifndef TH_SESSION_SECTIONS_SECTIONS_H
#define TH_SESSION_SECTIONS_SECTIONS_H
#include "mapper/evaluate/bounds.h"
#include "session/table/report.h"
#include "session/session.h"

typedef int (*th_section)(th_session *s, th_report *r, th_error *err);

/* The head of a report: system, workload, mapping, run, property events, version. */
int th_section_head(th_session *s, th_report *r, th_error *err);

/* search.c: a search, its improvements, and the Pareto front of a search for one. */
int th_section_search(th_session *s, th_report *r, th_error *err);
int th_section_search_timing(th_session *s, th_report *r, th_error *err);
int th_section_convergence(th_session *s, th_report *r, th_error *err);
int th_section_front(th_session *s, th_report *r, th_error *err);
/* bounds.c; is_merged: layers without a bound for the same reason share a line. */
int th_section_bounds(th_session *s, th_report *r, bool is_merged, th_error *err);
/* Before a run, the options of the next run, which the bounds are for; else "". */
void th_bounds_describe_run(const th_session *s, char *out, size_t size);
/* The bounds of that section on the session's system or another one, whose first accelerators and
 * media are those of the session's. 0 or -1. */
int th_bounds_of_session(th_session *s, const th_system *system, th_bounds *out, th_error *err);
/* Of what a search could find, under its options, as a value of its objective; 0: none is known,
 * or nothing was searched. *for_all: the same where that holds for some mappings alone
 * (TH_UNKNOWN_PARTIAL). */
int th_search_record_bound(th_session *s, double *bound, double *for_all, th_error *err);

/* path.c; limit: the number of entries of the path, the longest ones; the others are merged (0:
 * all); parts: what its time went to; slack: limit of the tasks that have ended, the least slack
 * first. */
int th_section_path(th_session *s, th_report *r, int64_t limit, th_error *err);
int th_section_path_parts(th_session *s, th_report *r, th_error *err);
/* In the head, what the table of the parts says: the two largest. */
void th_section_path_verdict(th_report *r);
/* Contention on the critical path: the limit longest delayed tasks; 0: all. */
int th_section_contention(th_session *s, th_report *r, int64_t limit, th_error *err);
/* faults.c: the first faults of the run, limit of them (0: all), and what they cost. */
int th_section_faults(th_session *s, th_report *r, int limit, th_error *err);
int th_section_slack(th_session *s, th_report *r, int64_t limit, th_error *err);

/* windows.c: accelerators and links in n windows of [from, to]; the run is repeated for it. Busy,
 * stalls and idle of a window add up to its length. */
typedef struct th_windows {
    th_time from, to;           /* from < to <= where the run stands */
    int64_t n;                  /* windows of equal length, to the picosecond */
    th_time length;             /* > 0: windows of this length, n of them, the last cut off at to */
    const bool *accels, *links; /* which of them */
    bool used_links;            /* only links on which there was anything, window by window */
} th_windows;
int th_section_windows(th_session *s, th_report *r, const th_windows *x, th_error *err);

/* transformer.c: of the language model, which there is. */
int th_section_transformer(th_session *s, th_report *r, th_error *err);

/* learners.c: of the predictor, which there is. */
int th_section_learners(th_session *s, th_report *r, th_error *err);

/* of_lib.c: tables that lib/ makes. Links that carried something, or all; layers where neighbours
 * that are mapped equally share a line, or each; energy only where the system has costs. */
int th_section_summary(th_session *s, th_report *r, th_error *err);
int th_section_accels(th_session *s, th_report *r, th_error *err);
int th_section_layer_figures(th_session *s, th_report *r, th_error *err);
int th_section_links(th_session *s, th_report *r, bool used_only, th_error *err);
int th_section_energy(th_session *s, th_report *r, th_error *err);
int th_section_memory(th_session *s, th_report *r, th_error *err);
int th_section_collectives(th_session *s, th_report *r, th_error *err);
int th_section_jobs(th_session *s, th_report *r, th_error *err);
int th_section_training(th_session *s, th_report *r, th_error *err);
int th_section_path_groups(th_session *s, th_report *r, th_error *err);
int th_section_step_memory(th_session *s, th_report *r, th_error *err);
int th_section_stages(th_session *s, th_report *r, th_error *err);
int th_section_sets(th_session *s, th_report *r, th_error *err);
int th_section_layers(th_session *s, th_report *r, bool is_merged, th_error *err);

/* Saved runs; these need nothing else of the session. */
typedef struct th_runs {
    th_saved_run **all;
    int n;
} th_runs;
int th_section_saved(th_session *s, th_report *r, const th_runs *runs, th_error *err);
/* Figures of two runs side by side, and their change against the first. */
int th_section_two_runs(th_session *s, th_report *r, const th_saved_run *const *pair,
                        th_error *err);
/* Inputs and results of two runs where they differ, as text; limit: rows of a table at most. */
int th_section_diff(th_session *s, th_report *r, const th_saved_run *const *pair, int limit,
                    th_error *err);
/* Columns for the value of a line of the head, out of 80. */
enum { TH_HEAD_WIDTH = 64 };

#endif
