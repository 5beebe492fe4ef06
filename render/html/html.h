/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.h - a run, two saved runs, or a study as one self-contained HTML file: no network, no other
 * file.
 *
 * The file is page/page.html with its style, its scripts and one JSON document; the scripts draw
 * everything from that. The same run gives the same bytes: no date, no path, no address. Members of
 * the document: title; head, pairs of a key and a text; runs, each a name, a verdict and a timeline
 * (verdict.h, timeline.c); topology (topology.c); sections, each an id, a title, a head and tables
 * (table.c); of a study tables alone. */
#ifndef TH_RENDER_HTML_HTML_H
#define TH_RENDER_HTML_HTML_H
#include "session/session.h"
#include "session/table/report.h"

/* Appends the page of the session's run, which must have begun. 0 or -1. */
int th_html_page(th_session *s, th_strbuf *out, th_error *err);

/* What a page of two runs shows of the session's run besides its saved figures, under this name:
 * JSON, the caller's (th_free). NULL on failure. */
char *th_html_keep(th_session *s, const char *name, th_error *err);
/* Appends the page of two saved runs, which have it, side by side. 0 or -1. */
int th_html_compare(th_session *s, const th_saved_run *a, const th_saved_run *b, th_strbuf *out,
                    th_error *err);

/* Appends the page of a study, described by a report, whose title it has. Its tables, in this
 * order: "points", whose first column is the number of the point, with the parameters after it, and
 * whose last is "run page", the place of the page of its run; "study", a record with name and
 * script; "metrics", a column of names; then one for each parameter, with its name: word, as a
 * script has it, and value, in the kind of the column of points. 0 or -1. */
int th_html_study(th_report *r, th_strbuf *out, th_error *err);

#endif
