/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tracks.h - the contents of a timeline: rows of spans.
 *   collect -> clear
 *
 * A row is the critical path, an accelerator with its compute tasks, a link with the transfers
 * over it, or all collectives; of a step of training accelerators come stage by stage. If a page
 * would have too many spans, those shorter than a resolution are merged, row by row: the resolution
 * is the smallest makespan / 2^k that is coarse enough. */
#ifndef TH_RENDER_HTML_TRACKS_H
#define TH_RENDER_HTML_TRACKS_H
#include "session/session.h"

enum { TH_HTML_LINK_TRACKS_MAX = 2000 }; /* the busiest ones */

typedef enum {
    TH_HTML_TRACK_PATH,
    TH_HTML_TRACK_ACCEL,
    TH_HTML_TRACK_LINK,
    TH_HTML_TRACK_COLLECTIVE,
    TH_N_HTML_TRACK_KINDS
} th_html_track_kind;

/* One task, or several drawn as one. */
typedef struct th_html_span {
    int32_t task; /* the longest of them */
    int32_t count;
    th_time start, end;
    th_time busy;    /* sum of their durations */
    th_time longest; /* of them */
} th_html_span;

typedef struct th_html_track {
    th_html_track_kind kind;
    const char *name;    /* of its accelerator or link */
    int32_t faults;      /* its place in the index of faults; -1: none */
    int32_t link;        /* -1: it is none */
    int32_t stage;       /* of a step of training; -1: none */
    th_html_span *spans; /* by start */
    size_t n, capacity;
    int64_t open; /* private: the open span that short ones join, -1: none; and its start */
    th_time open_start;
} th_html_track;

typedef struct th_html_tracks {
    th_html_track *tracks;
    int n;
    int32_t *order; /* tasks that have started, by start, then number */
    int32_t n_started;
    th_time resolution; /* 0: every span is drawn by itself */
    int64_t n_spans;    /* that there are */
    int64_t n_drawn;
    bool was_interrupted;
    int n_links_hidden; /* links that carried something, and have no row */
    /* private */
    const th_session *session;
    const th_result *result;
    int *track_of_accel, *track_of_link; /* -1: none */
    int track_of_collectives;
    bool stores;
} th_html_tracks;

/* At most `most` spans. 0, or -1 with nothing to clear. */
int th_html_tracks_collect(th_html_tracks *k, const th_session *s, const th_result *r, int64_t most,
                           th_error *err);
void th_html_tracks_clear(th_html_tracks *k);
/* When a task ended, or the simulated time so far. */
th_time th_html_tracks_end(const th_html_tracks *k, int32_t task);

#endif
