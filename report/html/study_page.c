/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_page.c - a study on one page: page/study.js makes everything from the tables. */
#include <config.h>
#include "report/html/parts.h"

enum { POINTS_MAX = 5000 }; /* on a page; report_study and write_plot have all */

int th_html_study_tables(const th_study *s, th_report *r, th_error *err)
{
    static const th_column definition[] = {
        {"name", "name", TH_KIND_TEXT}, {"script", "script", TH_KIND_TEXT}, {NULL, NULL, 0}};
    static const th_column metrics[] = {{"name", "name", TH_KIND_TEXT}, {NULL, NULL, 0}};
    r->title = th_report_printf(r, "Study %s", s->name);
    th_table_row(th_report_record(r, "study", NULL, definition),
                 (th_quantity[]){th_text(s->name), th_text(s->script)});
    th_table *names = th_report_table(r, "metrics", NULL, metrics);
    for (int i = 0; i < s->n_metrics; i++)
        th_table_row(names, (th_quantity[]){th_text(s->metrics[i].name)});
    for (int i = 0; i < s->n_parameters; i++) {
        const th_study_parameter *p = &s->parameters[i];
        th_column *columns = th_report_columns(r, 2);
        if (!columns)
            return th_error_no_memory(err);
        th_kind kind = r->first->columns[1 + i].kind; /* column 0 is the point */
        columns[0] = (th_column){"word", "word", TH_KIND_TEXT};
        columns[1] = (th_column){"value", "value", kind};
        columns[2] = (th_column){NULL, NULL, 0};
        th_table *words = th_report_table(r, p->name, NULL, columns);
        for (int32_t k = 0; k < p->n_values; k++) {
            th_quantity value = th_absent(kind);
            th_quantity_parse(kind, p->values[k], &value, NULL);
            th_table_row(words, (th_quantity[]){th_text(p->values[k]), value});
        }
    }
    return 0;
}

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
