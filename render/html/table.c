/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c - tables of reports as JSON, with the columns, units and digits of the text: name, title,
 * columns, rows of texts, total, note, and hidden, the number of rows that are left out. A record
 * has facts instead of columns and rows: a heading, a value with its unit, a kind. What -format
 * json writes stands beside it where it is asked for: fields, and of a total its sums. */
#include <config.h>
#include "render/html/parts.h"
#include "render/text/layout.h"

static const char *kind_name(th_kind kind)
{
    return kind == TH_KIND_TEXT ? "text" : kind == TH_KIND_COUNT ? "count" : "number";
}

static void add_texts(char *const *texts, int n, th_strbuf *out)
{
    for (int i = 0; i < n; i++) {
        th_strbuf_add(out, i > 0 ? "," : "[");
        th_strbuf_add_json(out, texts[i] ? texts[i] : "");
    }
    th_strbuf_add(out, "]");
}

static void add_total(const th_table *t, char *const *texts, int n, th_strbuf *out)
{
    th_strbuf_add(out, ",\n\"total\":");
    add_texts(texts, n, out);
    th_strbuf_add(out, ",\"sums\":{");
    for (int c = 0; c < t->n_columns; c++) {
        th_strbuf_add(out, c > 0 ? "," : "");
        th_strbuf_add_json(out, t->columns[c].name);
        th_strbuf_add(out, ":");
        th_quantity_add_json(out, &t->total[c]);
    }
    th_strbuf_add(out, "}");
}

static void add_cells(const th_table *t, th_strbuf *out)
{
    th_layout shown;
    bool is_made = th_layout_whole(t, &shown) && !t->report->failed;
    int n = is_made ? shown.table.n_columns : 0;
    th_strbuf_add(out, ",\n\"columns\":[");
    for (int c = 0; c < n; c++) {
        th_strbuf_add(out, c > 0 ? ",{" : "{");
        th_html_field(out, "name", shown.table.columns[c].name);
        th_html_field(out, "title", shown.table.columns[c].title);
        th_html_field(out, "unit", shown.scale[c].unit);
        th_html_field(out, "kind", kind_name(shown.table.columns[c].kind));
        th_strbuf_add(out, "}");
    }
    th_strbuf_add(out, "],\n\"rows\":[");
    for (size_t row = 0; is_made && row < t->n_rows; row++) {
        th_strbuf_add(out, row > 0 ? ",\n" : "\n");
        add_texts(&shown.texts[row * (size_t)n], n, out);
    }
    th_strbuf_add(out, "]");
    if (is_made && t->total)
        add_total(t, &shown.texts[t->n_rows * (size_t)n], n, out);
    const char *note = is_made ? th_table_notes(t, &shown.table) : NULL;
    if (note)
        th_html_field(out, "note", note);
}

static void add_facts(const th_table *t, th_strbuf *out)
{
    bool is_first = true;
    th_strbuf_add(out, ",\n\"facts\":[");
    for (int c = 0; t->n_rows > 0 && c < t->n_columns; c++) {
        th_strbuf value = TH_STRBUF_INIT;
        if (!t->columns[c].title || t->cells[c].is_absent)
            continue;
        th_report_value(&value, &t->cells[c]);
        th_strbuf_add(out, is_first ? "\n" : ",\n");
        add_texts((char *[]){(char *)t->columns[c].title, value.text,
                             (char *)kind_name(t->columns[c].kind)},
                  3, out);
        out->failed |= value.failed;
        th_strbuf_clear(&value);
        is_first = false;
    }
    th_strbuf_add(out, "]");
    const char *note = th_table_notes(t, t);
    if (note)
        th_html_field(out, "note", note);
}

static void add_fields(const th_table *t, th_strbuf *out)
{
    th_strbuf_add(out, ",\n\"fields\":[");
    for (int c = 0; c < t->n_columns; c++) {
        th_strbuf_add(out, c > 0 ? ",\n{" : "\n{");
        th_html_field(out, "name", t->columns[c].name);
        th_html_field(out, "kind", kind_name(t->columns[c].kind));
        th_html_field(out, "suffix", th_kind_suffix(t->columns[c].kind, ""));
        th_strbuf_add(out, ",\"values\":[");
        for (size_t row = 0; row < t->n_rows; row++) {
            th_strbuf_add(out, row > 0 ? "," : "");
            th_quantity_add_json(out, th_table_cell(t, row, c));
        }
        th_strbuf_add(out, "]}");
    }
    th_strbuf_add(out, "]");
}

void th_html_tables(const th_report *r, bool has_fields, th_strbuf *out)
{
    th_strbuf_add(out, ",\n\"tables\":[");
    for (const th_table *t = r->first; t; t = t->next) {
        th_strbuf_add(out, t == r->first ? "\n{" : ",\n{");
        th_html_field(out, "name", t->name);
        if (t->title)
            th_html_field(out, "title", t->title);
        if (t->is_record)
            add_facts(t, out);
        else
            add_cells(t, out);
        if (has_fields)
            add_fields(t, out);
        if (t->n_hidden > 0)
            th_strbuf_printf(out, ",\"hidden\":%zu", t->n_hidden);
        th_strbuf_add(out, "}");
    }
    th_strbuf_add(out, "]");
}
