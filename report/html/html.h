/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.h - a run as one self-contained HTML file: no network, no other file.
 *
 * The template is report.html, its style report.css, its scripts *.js; embed.awk makes them part of
 * the program. The same run gives the same bytes: no date, no path, no address. */
#ifndef TH_REPORT_HTML_HTML_H
#define TH_REPORT_HTML_HTML_H
#include "report/session/session.h"

/* Appends the page of the session's run, which must have begun. 0 or -1. */
int th_html_page(th_session *s, th_strbuf *out, th_error *err);

#endif
