/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_text.c - a report as text: aligned, at most 80 columns, one unit per column, in the
 * heading (report_scale.c). Numbers are right-aligned. Texts that would make a table too wide are
 * cut in the middle. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "report/table/report_scale.h"

enum { WIDTH = 80, GAP = 2, NARROWEST = 10, WIDEST = 30 };

typedef struct th_layout {
    th_scale scale[TH_COLUMNS_MAX];
    int width[TH_COLUMNS_MAX];
    bool is_shown[TH_COLUMNS_MAX]; /* in the present block of columns */
    char **texts;                  /* (n_rows + 1) x n_columns; the last row is the total */
} th_layout;

/* ---- cells ---- */

/* The cell as it is printed, in the report's arena; "" when memory is out. */
static char *cell_text(const th_table *t, const th_quantity *q, const th_scale *scale)
{
    char number[80];
    const char *text = th_cell_format(t, q, scale, number, sizeof number);
    char *copy = th_arena_string(t->report->arena, text);
    if (!copy)
        t->report->failed = true;
    return copy;
}

static int total_width(const th_table *t, const th_layout *l)
{
    int sum = (t->n_columns - 1) * GAP;
    for (int c = 0; c < t->n_columns; c++)
        sum += l->width[c];
    return sum;
}

static int widest_text(const th_table *t, const th_layout *l)
{
    int widest = -1;
    for (int c = 0; c < t->n_columns; c++)
        if (t->columns[c].kind == TH_KIND_TEXT && (widest < 0 || l->width[c] > l->width[widest]))
            widest = c;
    return widest;
}

/* Shortens the widest text until the table fits; if that is not possible, it is written in
 * blocks. */
static void narrow(const th_table *t, th_layout *l)
{
    int excess = total_width(t, l) - WIDTH, spare = 0;
    for (int c = 0; c < t->n_columns; c++)
        if (t->columns[c].kind == TH_KIND_TEXT && l->width[c] > NARROWEST)
            spare += l->width[c] - NARROWEST;
    bool fits = spare >= excess;
    for (int c = widest_text(t, l); c >= 0 && (fits ? excess > 0 : l->width[c] > WIDEST);
         excess--) {
        l->width[c]--;
        c = widest_text(t, l);
    }
}

static bool breaks_at(const th_table *t, int column)
{
    return t->breaks_at && strcmp(t->columns[column].name, t->breaks_at) == 0;
}

/* Of the parts that a break makes of the table, each with column 0. */
static int widest_part(const th_table *t, const th_layout *l)
{
    int widest = 0, width = l->width[0];
    for (int c = 1; c < t->n_columns; c++) {
        if (breaks_at(t, c))
            width = l->width[0];
        width += GAP + l->width[c];
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* A long name must not cut a part in two. */
static void narrow_names(const th_table *t, th_layout *l)
{
    int excess = widest_part(t, l) - WIDTH;
    if (t->breaks_at && excess > 0 && l->width[0] - excess >= NARROWEST)
        l->width[0] -= excess;
}

static int lay_out(const th_table *t, th_layout *l)
{
    size_t n = (size_t)t->n_columns, rows = t->n_rows + (t->total ? 1 : 0);
    l->texts = th_arena_alloc(t->report->arena, (rows * n + 1) * sizeof *l->texts);
    if (!l->texts) {
        t->report->failed = true;
        return -1;
    }
    for (int c = 0; c < t->n_columns; c++) {
        l->scale[c] = th_scale_of_column(t, c);
        int unit = (int)strlen(l->scale[c].unit);
        l->width[c] = th_text_width(t->columns[c].title);
        l->width[c] = unit + 2 > l->width[c] && unit > 0 ? unit + 2 : l->width[c];
        for (size_t row = 0; row < rows; row++) {
            if (th_report_is_interrupted(t->report))
                return -1;
            const th_quantity *q = row < t->n_rows ? th_table_cell(t, row, c) : &t->total[c];
            char *text = cell_text(t, q, &l->scale[c]);
            l->texts[row * n + (size_t)c] = text;
            l->width[c] = th_text_width(text) > l->width[c] ? th_text_width(text) : l->width[c];
        }
    }
    narrow(t, l);
    narrow_names(t, l);
    return 0;
}

/* ---- lines ---- */

static void trim_line(th_strbuf *out)
{
    while (out->length > 0 && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
    th_strbuf_add(out, "\n");
}

/* text in width columns, cut in the middle if it is too long */
static void add_padded(th_strbuf *out, const char *text, int width, bool to_right)
{
    text = text ? text : "";
    int length = th_text_width(text), bytes = (int)strlen(text);
    if (length > width && length == bytes) {
        int head = (width - 2 + 1) / 2, tail = width - 2 - head;
        th_strbuf_printf(out, "%.*s..%s", head, text, text + bytes - tail);
        return;
    }
    int pad = width > length ? width - length : 0;
    th_strbuf_printf(out, "%*s%s%*s", to_right ? pad : 0, "", text, to_right ? 0 : pad, "");
}

static void add_line(const th_table *t, const th_layout *l, char *const *texts, th_strbuf *out)
{
    for (int c = 0; c < t->n_columns; c++) {
        if (!l->is_shown[c])
            continue;
        th_strbuf_printf(out, "%*s", c > 0 ? GAP : 0, "");
        add_padded(out, texts[c], l->width[c], t->columns[c].kind != TH_KIND_TEXT);
    }
    trim_line(out);
}

static void add_rule(const th_table *t, const th_layout *l, th_strbuf *out)
{
    for (int c = 0; c < t->n_columns; c++) {
        if (!l->is_shown[c])
            continue;
        th_strbuf_printf(out, "%*s", c > 0 ? GAP : 0, "");
        for (int i = 0; i < l->width[c]; i++)
            th_strbuf_add(out, "-");
    }
    th_strbuf_add(out, "\n");
}

static void add_heading(const th_table *t, const th_layout *l, th_strbuf *out)
{
    char *titles[TH_COLUMNS_MAX], *units[TH_COLUMNS_MAX], bracketed[TH_COLUMNS_MAX][16];
    bool has_units = false;
    for (int c = 0; c < t->n_columns; c++) {
        bool has_unit = l->scale[c].unit[0] != '\0';
        titles[c] = (char *)t->columns[c].title;
        units[c] = bracketed[c];
        snprintf(bracketed[c], sizeof bracketed[c], has_unit ? "[%s]" : "%s", l->scale[c].unit);
        has_units = has_units || (has_unit && l->is_shown[c]);
    }
    add_line(t, l, titles, out);
    if (has_units)
        add_line(t, l, units, out);
    add_rule(t, l, out);
}

/* The columns from first on that fit beside column 0; returns the one after them. */
static int show_block(const th_table *t, th_layout *l, int first)
{
    int width = l->width[0], c = first;
    memset(l->is_shown, 0, sizeof l->is_shown);
    l->is_shown[0] = true;
    for (; c < t->n_columns &&
           (c == first || (width + GAP + l->width[c] <= WIDTH && !breaks_at(t, c)));
         c++) {
        width += GAP + l->width[c];
        l->is_shown[c] = true;
    }
    return c;
}

/* How many bytes of text fit in a line of so many columns: up to a space, if there is one. */
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

/* A row whose last text continues on further lines. */
static void add_wrapped(const th_table *t, const th_layout *l, char *const *texts, th_strbuf *out)
{
    int last = t->n_columns - 1;
    char *parts[TH_COLUMNS_MAX];
    th_strbuf part = TH_STRBUF_INIT;
    const char *rest = texts[last] ? texts[last] : "";
    memcpy(parts, texts, (size_t)t->n_columns * sizeof *parts);
    do {
        size_t n = fitting(rest, l->width[last]);
        th_strbuf_clear(&part);
        th_strbuf_add_bytes(&part, rest, n);
        parts[last] = part.text;
        add_line(t, l, parts, out);
        memset(parts, 0, sizeof parts); /* no texts */
        rest += n + strspn(rest + n, " ");
    } while (*rest != '\0');
    out->failed |= part.failed;
    th_strbuf_clear(&part);
}

static void add_row(const th_table *t, const th_layout *l, size_t row, th_strbuf *out)
{
    char *const *texts = &l->texts[row * (size_t)t->n_columns];
    if (t->wraps)
        add_wrapped(t, l, texts, out);
    else
        add_line(t, l, texts, out);
}

static void add_block(const th_table *t, const th_layout *l, th_strbuf *out)
{
    add_heading(t, l, out);
    for (size_t row = 0; row < t->n_rows && !th_report_is_interrupted(t->report); row++)
        add_row(t, l, row, out);
    if (t->n_hidden > 0)
        th_strbuf_printf(out, "(%zu more)\n", t->n_hidden);
    if (t->total) {
        add_rule(t, l, out);
        add_line(t, l, &l->texts[t->n_rows * (size_t)t->n_columns], out);
    }
}

/* The table without the columns that text leaves out; false when memory is out. */
static bool take_titled(const th_table *t, th_table *out)
{
    size_t rows = t->n_rows + (t->total ? 1 : 0);
    struct th_arena *arena = t->report->arena;
    th_column *columns = th_report_columns(t->report, t->n_columns);
    th_quantity *cells = th_arena_alloc(arena, (rows * (size_t)t->n_columns + 1) * sizeof *cells);
    if (!columns || !cells)
        return false;
    *out = *t;
    out->columns = columns;
    out->cells = cells;
    out->n_columns = 0;
    for (int c = 0; c < t->n_columns; c++)
        if (t->columns[c].title)
            columns[out->n_columns++] = t->columns[c];
    for (size_t row = 0; row < rows; row++)
        for (int c = 0; c < t->n_columns; c++)
            if (t->columns[c].title)
                *cells++ = row < t->n_rows ? *th_table_cell(t, row, c) : t->total[c];
    if (t->total)
        out->total = cells - out->n_columns;
    return true;
}

bool th_table_display(const th_table *t, th_displayed_table *out)
{
    th_layout l;
    if (!take_titled(t, &out->table) || lay_out(&out->table, &l) != 0)
        return false;
    for (int c = 0; c < out->table.n_columns; c++)
        out->unit[c] = l.scale[c].unit;
    out->texts = l.texts;
    return !t->report->failed;
}

/* The note below a table or a record, in lines of the full width. */
static void add_note(const th_table *t, th_strbuf *out)
{
    for (const char *rest = t->note; rest && *rest != '\0';) {
        size_t n = fitting(rest, WIDTH);
        th_strbuf_printf(out, "%.*s\n", (int)n, rest);
        rest += n + strspn(rest + n, " ");
    }
}

static void render_table(const th_table *whole, th_strbuf *out)
{
    th_layout l;
    th_table titled;
    const th_table *t = &titled;
    if (!take_titled(whole, &titled)) {
        whole->report->failed = true;
        return;
    }
    if (lay_out(t, &l) != 0)
        return;
    if (t->title && strcmp(t->title, t->report->title) != 0)
        th_strbuf_printf(out, "%s\n", t->title);
    int next = 1;
    do {
        th_strbuf_add(out, next > 1 ? "\n" : "");
        next = show_block(t, &l, next);
        add_block(t, &l, out);
    } while (next < t->n_columns);
    add_note(t, out);
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
    add_note(t, out);
}

void th_report_render_text(const th_report *r, th_strbuf *out)
{
    int width = 0;
    for (int i = 0; i < r->n_head; i++)
        if (r->head[i].is_line && (int)strlen(r->head[i].key) > width)
            width = (int)strlen(r->head[i].key);
    th_strbuf_printf(out, "%s\n", r->title);
    for (int i = 0; i < r->n_head; i++)
        if (r->head[i].is_line)
            th_strbuf_printf(out, "  %-*s  %s\n", width, r->head[i].key, r->head[i].value.text);
    for (const th_table *t = r->first; t; t = t->next) {
        th_strbuf_add(out, "\n");
        if (t->is_record)
            render_record(t, out);
        else
            render_table(t, out);
    }
    th_strbuf_add(out, "\n");
}
