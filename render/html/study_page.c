/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_page.c - a study on one page: page/study.js makes everything from the tables. */
#include <config.h>
#include "render/html/parts.h"

enum { POINTS_MAX = 5000 }; /* on a page; report_study and write_plot have all */

int th_html_study(th_report *r, th_strbuf *out, th_error *err)
{
    th_strbuf document = TH_STRBUF_INIT;
    th_html_field(&document, "title", r->title);
    th_html_head(r, &document);
    th_table_limit(r->first, POINTS_MAX);
    th_html_tables(r, true, &document);
    int failed = th_report_state(r, err);
    if (!failed)
        failed = th_html_write(&document, out, err);
    th_strbuf_clear(&document);
    return failed;
}
