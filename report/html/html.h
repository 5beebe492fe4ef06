/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.h - a run, two saved runs, or a study as one self-contained HTML file: no network, no other
 * file.
 *
 * The template is report.html, its style report.css, its scripts *.js; embed.awk makes them part of
 * the program. The same run gives the same bytes: no date, no path, no address. */
#ifndef TH_REPORT_HTML_HTML_H
#define TH_REPORT_HTML_HTML_H
#include "report/session/session.h"
#include "report/table/report.h"
#include "study/study.h"

/* Appends the page of the session's run, which must have begun. 0 or -1. */
int th_html_page(th_session *s, th_strbuf *out, th_error *err);

/* What a page of two runs shows of a run besides its saved figures. */
typedef struct th_html_kept {
    struct th_verdict *verdict;
    char *spans; /* of the timeline */
} th_html_kept;
/* Of the session's run. 0, or -1 with nothing to clear. */
int th_html_keep(th_session *s, th_html_kept *out, th_error *err);
void th_html_kept_clear(th_html_kept *k);
/* Gives it to the saved run of the same run. */
void th_html_kept_give(th_html_kept *k, th_saved_run *run);
/* Appends the page of two saved runs side by side. 0 or -1. */
int th_html_compare(th_session *s, const th_saved_run *a, const th_saved_run *b, th_strbuf *out,
                    th_error *err);

/* A study with its points: a report whose first table has a row for each. */
typedef struct th_html_study {
    const th_study *study;
    th_report *report; /* with the lines of its head */
} th_html_study;
/* Appends the page of a study. 0 or -1. */
int th_html_study_page(const th_html_study *x, th_strbuf *out, th_error *err);

#endif
