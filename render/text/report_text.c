/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_text.c - a report as text: aligned, in lines of the report's width (layout.c), one unit
 * per column, in the heading (report_scale.c). Numbers are right-aligned. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "render/text/layout.h"
#include "session/table/legend.h"

/* ---- lines ---- */

static void trim_line(th_strbuf *out)
{
    while (out->length > 0 && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
    th_strbuf_add(out, "\n");
}

static void add_line(const th_layout *l, char *const *texts, th_strbuf *out)
{
    const th_table *t = &l->table;
    for (int c = 0; c < t->n_columns; c++) {
        if (!l->is_shown[c])
            continue;
        th_strbuf_printf(out, "%*s", c > 0 ? TH_TEXT_GAP : 0, "");
        th_layout_add_padded(out, texts[c], l->width[c], t->columns[c].kind != TH_KIND_TEXT);
    }
    trim_line(out);
}

static void add_rule(const th_layout *l, th_strbuf *out)
{
    const th_table *t = &l->table;
    for (int c = 0; c < t->n_columns; c++) {
        if (!l->is_shown[c])
            continue;
        th_strbuf_printf(out, "%*s", c > 0 ? TH_TEXT_GAP : 0, "");
        for (int i = 0; i < l->width[c]; i++)
            th_strbuf_add(out, "-");
    }
    th_strbuf_add(out, "\n");
}

static void add_heading(const th_layout *l, th_strbuf *out)
{
    const th_table *t = &l->table;
    char *titles[TH_COLUMNS_MAX], *units[TH_COLUMNS_MAX], bracketed[TH_COLUMNS_MAX][16];
    bool has_units = false;
    for (int c = 0; c < t->n_columns; c++) {
        bool has_unit = l->scale[c].unit[0] != '\0';
        titles[c] = (char *)t->columns[c].title;
        units[c] = bracketed[c];
        snprintf(bracketed[c], sizeof bracketed[c], has_unit ? "[%s]" : "%s", l->scale[c].unit);
        has_units = has_units || (has_unit && l->is_shown[c]);
    }
    add_line(l, titles, out);
    if (has_units)
        add_line(l, units, out);
    add_rule(l, out);
}

/* How many bytes of text fit in a line of width columns: up to a space, if there is one. */
static size_t fitting(const char *text, int width)
{
    size_t at = 0, space = 0;
    for (int n = 0; text[at] != '\0'; at++) {
        n += ((unsigned char)text[at] & 0xC0) != 0x80;
        if (n > width)
            return space > 0 ? space : at;
        if (text[at] == ' ')
            space = at;
    }
    return at;
}

/* A row whose texts continue on further lines where their column wraps. */
static void add_wrapped(const th_layout *l, char *const *texts, th_strbuf *out)
{
    const th_table *t = &l->table;
    char *parts[TH_COLUMNS_MAX];
    const char *rest[TH_COLUMNS_MAX];
    bool is_more = true;
    for (int c = 0; c < t->n_columns; c++) {
        parts[c] = texts[c];
        rest[c] = l->wraps[c] && l->is_shown[c] ? texts[c] : NULL;
    }
    while (is_more) {
        is_more = false;
        for (int c = 0; c < t->n_columns; c++) {
            size_t n = rest[c] ? fitting(rest[c], l->width[c]) : 0;
            if (rest[c])
                parts[c] = (char *)th_report_printf(t->report, "%.*s", (int)n, rest[c]);
            rest[c] = rest[c] ? rest[c] + n + strspn(rest[c] + n, " ") : NULL;
            is_more |= rest[c] && *rest[c] != '\0';
        }
        add_line(l, parts, out);
        memset(parts, 0, sizeof parts); /* no texts */
    }
}

static void add_row(const th_layout *l, size_t row, th_strbuf *out)
{
    const th_table *t = &l->table;
    char *const *texts = &l->texts[row * (size_t)t->n_columns];
    add_wrapped(l, texts, out);
}

static void add_block(const th_layout *l, th_strbuf *out)
{
    const th_table *t = &l->table;
    add_heading(l, out);
    for (size_t row = 0; row < t->n_rows && !th_report_is_interrupted(t->report); row++)
        add_row(l, row, out);
    if (t->n_hidden > 0)
        th_strbuf_printf(out, "(%zu more)\n", t->n_hidden);
    if (t->total) {
        add_rule(l, out);
        add_line(l, &l->texts[t->n_rows * (size_t)t->n_columns], out);
    }
}

enum { PARAGRAPH_MAX = 100 }; /* longer lines are hard to read */

/* A text in lines of the report's width, the further ones indented. */
static void add_paragraph(const th_report *r, int indent, const char *text, th_strbuf *out)
{
    int width = r->display.width > 0 ? r->display.width : TH_TEXT_WIDTH, begun = 0;
    width = width < PARAGRAPH_MAX ? width : PARAGRAPH_MAX;
    do {
        size_t n = fitting(text, width - begun > 1 ? width - begun : 1);
        th_strbuf_printf(out, "%*s%.*s\n", begun, "", (int)n, text);
        text += n + strspn(text + n, " ");
        begun = indent;
    } while (*text != '\0');
}

/* The meaning of the heading, or of the field in CSV; NULL: none is known. */
static const char *meaning_of(const th_table *t, const th_column *column)
{
    const char *meaning = th_legend_meaning(t->report->name, t->name, column->name);
    return !column->title ? NULL : meaning ? meaning : column->meaning;
}

/* A line per heading, where the report has been asked for a legend. */
static void add_legend(const th_table *t, th_strbuf *out)
{
    int width = 0;
    for (int c = 0; c < t->n_columns; c++) {
        int length = meaning_of(t, &t->columns[c]) ? th_text_width(t->columns[c].title) : 0;
        width = length > width ? length : width;
    }
    if (width > 0)
        th_strbuf_add(out, "\n");
    for (int c = 0; c < t->n_columns; c++) {
        const char *meaning = meaning_of(t, &t->columns[c]);
        if (meaning)
            add_paragraph(
                t->report, width + 4,
                th_report_printf(t->report, "  %-*s  %s", width, t->columns[c].title, meaning),
                out);
    }
}

/* What explains a table or a record of which these columns are shown. */
static void add_note(const th_table *t, const th_table *shown, th_strbuf *out)
{
    if (t->report->display.has_legend) {
        add_legend(t, out);
        return;
    }
    const char *notes = th_table_notes(t, shown);
    if (notes)
        add_paragraph(t->report, 0, notes, out);
}

/* Which columns are left out, and what of names. */
static void add_left_out(const th_layout *l, th_strbuf *out)
{
    th_strbuf text = TH_STRBUF_INIT;
    for (int i = 0; i < l->n_empty; i++)
        th_strbuf_printf(&text, "%s%s", i > 0 ? ", " : "Empty or zero in all rows: ", l->empty[i]);
    if (l->n_empty > 0 && !text.failed)
        add_paragraph(l->table.report, 0, text.text, out);
    out->failed |= text.failed;
    th_strbuf_clear(&text);
    for (int c = 0; c < l->table.n_columns; c++)
        if (l->prefix[c])
            add_paragraph(l->table.report, 0,
                          th_report_printf(l->table.report,
                                           "%s: without \"%s\", with which these begin.",
                                           l->table.columns[c].title, l->prefix[c]),
                          out);
}

static void render_table(const th_table *whole, th_strbuf *out)
{
    th_layout l;
    if (!th_layout_table(whole, &l)) {
        whole->report->failed |= !whole->report->was_interrupted;
        return;
    }
    if (whole->title && strcmp(whole->title, whole->report->title) != 0)
        th_strbuf_printf(out, "%s\n", whole->title);
    int next = 1;
    do {
        th_strbuf_add(out, next > 1 ? "\n" : "");
        next = th_layout_block(&l, next);
        add_block(&l, out);
    } while (next < l.table.n_columns);
    add_left_out(&l, out);
    add_note(whole, &l.table, out);
}

/* A record's value with its unit; shares in percent, as in tables. */
void th_report_value(th_strbuf *out, const th_quantity *q)
{
    if (!q->is_absent && (q->kind == TH_KIND_SHARE || q->kind == TH_KIND_CHANGE))
        th_strbuf_printf(out, "%.2f %%", 100 * q->real);
    else
        th_quantity_format(q, out);
}

/* The same in the unit that the user has set. */
static void add_value(th_strbuf *out, const th_report *r, const th_quantity *q)
{
    char text[400]; /* room for any double */
    if (th_value_format(r, q, text, sizeof text))
        th_strbuf_add(out, text);
    else
        th_report_value(out, q);
}

static void render_record(const th_table *t, th_strbuf *out)
{
    int width = 0;
    for (int c = 0; c < t->n_columns; c++)
        width =
            th_text_width(t->columns[c].title) > width ? th_text_width(t->columns[c].title) : width;
    if (t->title)
        th_strbuf_printf(out, "%s\n", t->title);
    for (int c = 0; t->n_rows > 0 && c < t->n_columns; c++) {
        if (!t->columns[c].title) /* not in text */
            continue;
        th_strbuf_printf(out, "  %-*s  ", width, t->columns[c].title);
        add_value(out, t->report, &t->cells[c]);
        th_strbuf_add(out, "\n");
    }
    add_note(t, t, out);
}

void th_report_render_text(const th_report *r, th_strbuf *out)
{
    int width = 0;
    for (int i = 0; i < r->n_head; i++)
        if (r->head[i].is_line && (int)strlen(r->head[i].key) > width)
            width = (int)strlen(r->head[i].key);
    th_strbuf_printf(out, "%s\n", r->title);
    th_strbuf line = TH_STRBUF_INIT;
    for (int i = 0; i < r->n_head; i++) {
        if (!r->head[i].is_line)
            continue;
        th_strbuf_clear(&line);
        th_strbuf_printf(&line, "  %-*s  %s", width, r->head[i].key, r->head[i].value.text);
        if (!line.failed)
            add_paragraph(r, width + 4, line.text, out);
        out->failed |= line.failed;
    }
    th_strbuf_clear(&line);
    for (const th_table *t = r->first; t; t = t->next) {
        th_strbuf_add(out, "\n");
        if (t->is_record)
            render_record(t, out);
        else
            render_table(t, out);
    }
    th_strbuf_add(out, "\n");
}
