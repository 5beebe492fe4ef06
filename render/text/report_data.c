/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_data.c - a report as CSV and as JSON: all columns, in the units that their names tell. */
#include <config.h>
#include "session/table/report.h"
#include <string.h>

static void add_number(th_strbuf *out, const th_quantity *q)
{
    if (!th_kind_is_real(q->kind))
        th_strbuf_printf(out, "%lld", (long long)q->whole);
    else
        th_strbuf_printf(out, "%.12g",
                         q->kind == TH_KIND_SHARE || q->kind == TH_KIND_CHANGE ? 100 * q->real
                                                                               : q->real);
}

/* ---- CSV ---- */

static void add_csv_text(th_strbuf *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        th_strbuf_add(out, text);
        return;
    }
    th_strbuf_add(out, "\"");
    for (; *text != '\0'; text++) {
        th_strbuf_add_bytes(out, text, 1);
        if (*text == '"')
            th_strbuf_add(out, "\"");
    }
    th_strbuf_add(out, "\"");
}

static void add_csv_cell(th_strbuf *out, const th_quantity *q)
{
    if (q->is_absent)
        return;
    if (q->kind == TH_KIND_TEXT)
        add_csv_text(out, q->text);
    else
        add_number(out, q);
}

static void add_csv_row(const th_table *t, size_t row, th_strbuf *out)
{
    for (int c = 0; c < t->n_columns; c++) {
        th_strbuf_add(out, c > 0 ? "," : "");
        add_csv_cell(out, th_table_cell(t, row, c));
    }
    th_strbuf_add(out, "\n");
}

static void render_csv_table(const th_table *t, th_strbuf *out)
{
    for (int c = 0; c < t->n_columns; c++) {
        th_strbuf_add(out, c > 0 ? "," : "");
        add_csv_text(out, t->columns[c].name);
        th_strbuf_add(out, th_kind_suffix(t->columns[c].kind, t->columns[c].name));
    }
    th_strbuf_add(out, "\n");
    for (size_t row = 0; row < t->n_rows && !th_report_is_interrupted(t->report); row++)
        add_csv_row(t, row, out);
}

void th_report_render_csv(const th_report *r, th_strbuf *out)
{
    for (int i = 0; i < r->n_head; i++) {
        if (r->head[i].is_line)
            continue;
        th_strbuf_printf(out, "# %s%s: ", r->head[i].key,
                         th_kind_suffix(r->head[i].value.kind, r->head[i].key));
        add_csv_cell(out, &r->head[i].value);
        th_strbuf_add(out, "\n");
    }
    for (size_t row = 0; r->head_table && row < r->head_table->n_rows; row++) {
        th_strbuf_printf(out, "# %s: ", r->head_table->name);
        add_csv_row(r->head_table, row, out);
    }
    for (const th_table *t = r->first; t; t = t->next) {
        if (r->first->next)
            th_strbuf_printf(out, "%s# table: %s\n", t == r->first ? "" : "\n", t->name);
        render_csv_table(t, out);
    }
}

/* ---- JSON ---- */

/* The names of a query are what the user wrote: "sum(\"bytes\")". These have no suffix. */
static void add_json_key(th_strbuf *out, const char *key, const char *suffix)
{
    if (strpbrk(key, "\"\\<")) {
        th_strbuf_add_json(out, key);
        th_strbuf_add(out, ": ");
    } else {
        th_strbuf_printf(out, "\"%s%s\": ", key, suffix);
    }
}

void th_quantity_add_json(th_strbuf *out, const th_quantity *q)
{
    if (q->is_absent || (q->kind == TH_KIND_TEXT && !q->text))
        th_strbuf_add(out, "null");
    else if (q->kind == TH_KIND_TEXT)
        th_strbuf_add_json(out, q->text);
    else
        add_number(out, q);
}

static void add_json_field(th_strbuf *out, const char *key, const th_quantity *q)
{
    add_json_key(out, key, th_kind_suffix(q->kind, key));
    th_quantity_add_json(out, q);
}

static void add_json_row(th_strbuf *out, const th_table *t, const th_quantity *cells)
{
    th_strbuf_add(out, "{");
    for (int c = 0; c < t->n_columns; c++) {
        th_strbuf_add(out, c > 0 ? ", " : "");
        add_json_field(out, t->columns[c].name, &cells[c]);
    }
    th_strbuf_add(out, "}");
}

static void render_json_table(const th_table *t, th_strbuf *out)
{
    th_strbuf_printf(out, ",\n  \"%s\": ", t->name);
    if (t->is_record && t->n_rows > 0) {
        add_json_row(out, t, t->cells);
        return;
    }
    th_strbuf_add(out, "[");
    for (size_t row = 0; row < t->n_rows && !th_report_is_interrupted(t->report); row++) {
        th_strbuf_add(out, row > 0 ? ",\n    " : "\n    ");
        add_json_row(out, t, th_table_cell(t, row, 0));
    }
    th_strbuf_add(out, "\n  ]");
    if (t->total) {
        th_strbuf_printf(out, ",\n  \"%s_total\": ", t->name);
        add_json_row(out, t, t->total);
    }
}

void th_report_render_json(const th_report *r, th_strbuf *out)
{
    th_strbuf_printf(out, "{\n  \"report\": \"%s\"", r->name);
    for (int i = 0; i < r->n_head; i++) {
        if (r->head[i].is_line)
            continue;
        th_strbuf_add(out, ",\n  ");
        add_json_field(out, r->head[i].key, &r->head[i].value);
    }
    if (r->head_table)
        render_json_table(r->head_table, out);
    for (const th_table *t = r->first; t; t = t->next)
        render_json_table(t, out);
    th_strbuf_add(out, "\n}\n");
}
