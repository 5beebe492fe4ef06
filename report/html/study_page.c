/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_page.c - a study on one page: a picture with its Pareto front, a table with filters, and of
 * a chosen point the parameters and the script that makes it again. study.js does all that moves;
 * the table is there without it. */
#include <config.h>
#include <inttypes.h>
#include <math.h>
#include "report/html/parts.h"
#include "report/table/report_scale.h"

enum { POINTS_MAX = 5000 }; /* on a page; report_study and write_plot have all */

/* ---- the points as JSON ---- */

static double largest_of(const th_table *t, int column)
{
    double largest = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        largest = fmax(largest, fabs(th_quantity_number(th_table_cell(t, row, column), 0)));
    return largest;
}

/* A value in the unit of its column. */
static void add_cell(th_strbuf *out, const th_quantity *q, double divisor)
{
    if (q->is_absent || (q->kind == TH_KIND_TEXT && !q->text))
        th_strbuf_add(out, "null");
    else if (q->kind == TH_KIND_TEXT)
        th_strbuf_add_json(out, q->text);
    else
        th_strbuf_printf(out, "%.9g", th_quantity_number(q, 0) / divisor);
}

/* Each column: its name, its unit, whether it is a number, and its values. */
static void add_columns(const th_table *t, th_strbuf *out)
{
    th_strbuf_add(out, ",\n\"columns\":[");
    for (int c = 0; c < t->n_columns; c++) {
        double divisor = 1;
        const char *unit = t->columns[c].kind == TH_KIND_TEXT
                               ? ""
                               : th_kind_unit(t->columns[c].kind, largest_of(t, c), &divisor);
        th_strbuf_add(out, c > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        th_strbuf_add_json(out, t->columns[c].name);
        th_strbuf_printf(out, ",\"unit\":\"%s\",\"isNumber\":%s,\"values\":[", unit,
                         t->columns[c].kind == TH_KIND_TEXT ? "false" : "true");
        for (size_t row = 0; row < t->n_rows; row++) {
            th_strbuf_add(out, row > 0 ? "," : "");
            add_cell(out, th_table_cell(t, row, c), divisor);
        }
        th_strbuf_add(out, "]}");
    }
    th_strbuf_add(out, "]");
}

static void add_numbers(const th_study_parameter *p, const th_table *t, int column, th_strbuf *out)
{
    th_kind kind = t->columns[column].kind;
    double divisor;
    if (kind == TH_KIND_TEXT)
        return;
    th_kind_unit(kind, largest_of(t, column), &divisor);
    for (int32_t k = 0; k < p->n_values; k++) {
        th_quantity q = th_absent(kind);
        th_quantity_parse(kind, p->values[k], &q, NULL);
        th_strbuf_add(out, k > 0 ? "," : "");
        add_cell(out, &q, divisor);
    }
}

/* The words of each parameter, in the user's spelling, as a script needs them, and where the column
 * has numbers, the number of each. Column 0 is the point; those of the parameters follow. */
static void add_parameters(const th_study *s, const th_table *t, th_strbuf *out)
{
    th_strbuf_add(out, ",\n\"parameters\":[");
    for (int i = 0; i < s->n_parameters; i++) {
        const th_study_parameter *p = &s->parameters[i];
        th_strbuf_add(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        th_strbuf_add_json(out, p->name);
        th_strbuf_add(out, ",\"words\":[");
        for (int32_t k = 0; k < p->n_values; k++) {
            th_strbuf_add(out, k > 0 ? "," : "");
            th_strbuf_add_json(out, p->values[k]);
        }
        th_strbuf_add(out, "],\"numbers\":[");
        add_numbers(p, t, 1 + i, out);
        th_strbuf_add(out, "]}");
    }
    th_strbuf_add(out, "]");
}

static void add_metrics(const th_study *s, th_strbuf *out)
{
    th_strbuf_add(out, ",\n\"metrics\":[");
    for (int i = 0; i < s->n_metrics; i++) {
        th_strbuf_add(out, i > 0 ? "," : "");
        th_strbuf_add_json(out, s->metrics[i].name);
    }
    th_strbuf_add(out, "]");
}

/* ---- sections ---- */

static th_table *points_of(const th_html *p)
{
    return p->study->report->first;
}

static int write_picture(th_html *p)
{
    const th_study *s = p->study->study;
    th_strbuf_add(p->out, "<div id=\"study-picture\"></div>\n<div id=\"study-point\" "
                          "aria-live=\"polite\"></div>\n<script type=\"application/json\" "
                          "id=\"study\">\n{\"name\":");
    th_strbuf_add_json(p->out, s->name);
    th_strbuf_add(p->out, ",\n\"script\":");
    th_strbuf_add_json(p->out, s->script);
    add_parameters(s, points_of(p), p->out);
    add_metrics(s, p->out);
    add_columns(points_of(p), p->out);
    th_strbuf_add(p->out, "}\n</script>\n");
    return 0;
}

static int write_points(th_html *p)
{
    th_strbuf_add(p->out, "<div id=\"study-filters\" class=\"tools\"></div>\n");
    th_html_table(points_of(p), "Points", p->out);
    return 0;
}

/* ---- the page ---- */

static int write_title(th_html *p)
{
    th_strbuf_add(p->out, "Study ");
    th_html_text(p->out, p->study->study->name);
    return 0;
}

static int write_head(th_html *p)
{
    const th_report *r = p->study->report;
    for (int i = 0; i < r->n_head; i++) {
        if (!r->head[i].is_line)
            continue;
        th_strbuf_printf(p->out, "<div><dt>%s</dt><dd>", r->head[i].key);
        th_html_text(p->out, r->head[i].value.text);
        th_strbuf_add(p->out, "</dd></div>\n");
    }
    return 0;
}

int th_html_study_page(const th_html_study *x, th_strbuf *out, th_error *err)
{
    static const th_html_section sections[] = {
        {"summary", "Picture", NULL, write_picture},
        {"points", "Points", NULL, write_points},
        {NULL, NULL, NULL, NULL},
    };
    static const th_html_kind kind = {write_title, write_head, sections};
    th_html p = {.study = x, .out = out, .err = err};
    th_table_limit(x->report->first, POINTS_MAX);
    return th_html_write(&p, &kind);
}
