/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.h - private to report/html/: what a page is put together from. */
#ifndef TH_REPORT_HTML_PARTS_H
#define TH_REPORT_HTML_PARTS_H
#include "report/table/report.h"
#include "report/session/session.h"

/* assets.c, which embed.awk makes: the files beside this one. */
extern const char th_html_skeleton[], th_html_style[], th_html_script[];

/* One page while it is written. */
typedef struct th_html {
    th_session *session;
    const th_result *result;
    th_strbuf *out;
    th_error *err;
} th_html;

/* table.c: text without markup; a table of a report, and its name on the page; a record as a list
 * of names and values. */
void th_html_text(th_strbuf *out, const char *text);
void th_html_table(const th_table *t, const char *label, th_strbuf *out);
void th_html_record(const th_table *t, th_strbuf *out);

/* encode.c: numbers as bytes, seven bits each, the lowest first; bytes as base64, and deflated
 * before that (0, or -1: memory is out); text for a JSON block
 * that stands in a page; all are ASCII. */
uint32_t
th_encode_next(const char **text); /* a character of UTF-8 text, which moves on; not its end */
void th_encode_number(th_strbuf *bytes, uint64_t n);
void th_encode_signed(th_strbuf *bytes, int64_t n);
void th_encode_base64(th_strbuf *out, const th_strbuf *bytes);
int th_encode_packed(th_strbuf *out, const th_strbuf *bytes);
void th_encode_json(th_strbuf *out, const char *text);

/* timeline.c, topology.c: a section each. 0 or -1 with p->err. */
int th_html_timeline(th_html *p);
int th_html_topology(th_html *p);

#endif
