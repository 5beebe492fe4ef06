/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.c - see layout.h. */
#include <config.h>
#include "render/text/layout.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/min_max.h"
#include "base/strbuf.h"

enum {
    NARROWEST = 16, /* a name is not cut to less than this */
    WIDEST = 30,    /* of a name in a table of several blocks */
    WRAPPED = 20,   /* the least width of a text that continues on further lines */
    CUT = 2         /* characters that stand for what is cut out: ".." */
};

/* ---- which columns ---- */

/* A measured quantity; a count may be a number of something, and a change of 0 is an answer. */
static bool is_measure(th_kind kind)
{
    return kind != TH_KIND_TEXT && kind != TH_KIND_COUNT && kind != TH_KIND_CHANGE &&
           kind != TH_KIND_FACTOR;
}

static bool is_empty(const th_quantity *q)
{
    return q->is_absent || (is_measure(q->kind) && th_quantity_number(q, 0) == 0);
}

/* No row has anything there, or anything but 0. One row alone is shown whole. */
static bool is_empty_column(const th_table *t, int c)
{
    if (c == 0 || t->n_rows < 2 || t->keeps_empty)
        return false;
    for (size_t row = 0; row < t->n_rows; row++)
        if (!is_empty(th_table_cell(t, row, c)))
            return false;
    return !t->total || is_empty(&t->total[c]);
}

static bool take_titled(const th_table *t, th_layout *l, bool drops_empty)
{
    int chosen[TH_COLUMNS_MAX], n = 0;
    l->n_empty = 0;
    for (int c = 0; c < t->n_columns; c++) {
        if (!t->columns[c].title)
            continue;
        if (drops_empty && is_empty_column(t, c))
            l->empty[l->n_empty++] = t->columns[c].title;
        else
            chosen[n++] = c;
    }
    return th_table_project(t, chosen, n, &l->table);
}

/* ---- cells ---- */

/* The cell as it is printed, on one line, in the report's arena; "" when memory is out. */
static char *cell_text(const th_table *t, const th_quantity *q, const th_scale *scale)
{
    char number[80];
    const char *text = th_cell_format(t, q, scale, number, sizeof number);
    th_strbuf visible = TH_STRBUF_INIT; /* before it is measured */
    th_strbuf_add(&visible, "");
    th_strbuf_add_visible(&visible, text);
    char *copy = th_report_line(t->report, visible.failed ? "" : visible.text);
    t->report->failed |= visible.failed;
    th_strbuf_clear(&visible);
    return copy;
}

static size_t n_lines(const th_table *t)
{
    return t->n_rows + (t->total ? 1 : 0);
}

static const char *text_at(const th_layout *l, size_t row, int c)
{
    const char *text = l->texts[row * (size_t)l->table.n_columns + (size_t)c];
    return text ? text : "";
}

static void measure(th_layout *l, int c)
{
    int unit = (int)strlen(l->scale[c].unit);
    int width = th_text_width(l->table.columns[c].title);
    width = unit > 0 && unit + 2 > width ? unit + 2 : width;
    for (size_t row = 0; row < n_lines(&l->table); row++) {
        int length = th_text_width(text_at(l, row, c));
        width = length > width ? length : width;
    }
    l->width[c] = width;
}

static bool format_cells(th_layout *l)
{
    const th_table *t = &l->table;
    size_t n = (size_t)t->n_columns, lines = n_lines(t);
    l->texts = th_arena_alloc(t->report->arena, (lines * n + 1) * sizeof *l->texts);
    if (!l->texts) {
        t->report->failed = true;
        return false;
    }
    for (int c = 0; c < t->n_columns; c++) {
        l->scale[c] = th_scale_of_column(t, c);
        l->prefix[c] = NULL;
        for (size_t row = 0; row < lines; row++) {
            if (th_report_is_interrupted(t->report))
                return false;
            const th_quantity *q = row < t->n_rows ? th_table_cell(t, row, c) : &t->total[c];
            l->texts[row * n + (size_t)c] = cell_text(t, q, &l->scale[c]);
        }
        measure(l, c);
    }
    return true;
}

bool th_layout_whole(const th_table *t, th_layout *l)
{
    return take_titled(t, l, false) && format_cells(l);
}

/* ---- shorter names ---- */

/* The column of which the table says that it wraps. */
static bool is_wrapped(const th_table *t, int c)
{
    return t->wraps_at ? strcmp(t->columns[c].name, t->wraps_at) == 0
                       : t->wraps && c == t->n_columns - 1;
}

/* The longest word of a column of texts; has_blank: whether a text has several. */
static int longest_word(const th_layout *l, int c, bool *has_blank)
{
    int longest = 0;
    *has_blank = false;
    for (size_t row = 0; row < l->table.n_rows; row++)
        for (const char *text = text_at(l, row, c); *text != '\0'; text += strspn(text, " ")) {
            int n = 0;
            for (; *text != '\0' && *text != ' '; text++)
                n += ((unsigned char)*text & 0xC0) != 0x80;
            longest = n > longest ? n : longest;
            *has_blank |= *text == ' ';
        }
    return longest;
}

/* How long the prefix is that all names of a column have, up to a separator; 0: too short to be
 * worth a word, or nothing would be left of a name. */
static size_t common_prefix(const th_layout *l, int c)
{
    enum { SHORTEST = 4 };
    const th_table *t = &l->table;
    const char *first = text_at(l, 0, c);
    size_t same = strlen(first);
    bool differ = false;
    for (size_t row = 1; row < t->n_rows; row++) {
        const char *text = text_at(l, row, c);
        size_t n = 0;
        while (n < same && text[n] == first[n])
            n++;
        differ |= text[n] != '\0' || first[n] != '\0';
        same = n;
    }
    while (same > 0 && !strchr("/_.: ", first[same - 1]))
        same--;
    for (size_t row = 0; row < t->n_rows; row++)
        if (text_at(l, row, c)[same] == '\0')
            return 0;
    return differ && same >= SHORTEST ? same : 0;
}

static void drop_prefix(th_layout *l, int c)
{
    size_t same = l->table.n_rows > 1 ? common_prefix(l, c) : 0;
    if (same == 0)
        return;
    l->prefix[c] = th_report_printf(l->table.report, "%.*s", (int)same, text_at(l, 0, c));
    for (size_t row = 0; row < l->table.n_rows; row++)
        l->texts[row * (size_t)l->table.n_columns + (size_t)c] += same;
    measure(l, c);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The text behind its first n characters. */
static const char *after(const char *text, int n)
{
    while (n-- > 0)
        th_utf8_next(&text);
    return text;
}

/* The bytes of so many characters, and the end. */
#define ROOM(width) (4 * (size_t)(width) + 1)

/* The text as a column of this width has it: in out[ROOM(width)] where it is cut. */
static const char *cut(const char *text, int width, char *out)
{
    int length = th_text_width(text), head = (width - CUT + 1) / 2, tail = width - CUT - head;
    if (length <= width)
        return text;
    int bytes = (int)(after(text, head) - text);
    snprintf(out, ROOM(width), "%.*s..%s", bytes, text, after(text, length - tail));
    return out;
}

/* The number of different texts of a column in this width; -1: memory is out. */
static int64_t n_different(const th_layout *l, int c, int width)
{
    size_t n = l->table.n_rows, room = ROOM(width);
    const char **texts = th_alloc_array(n + 1, sizeof *texts);
    char *cuts = th_alloc_array(n + 1, room);
    int64_t different = texts && cuts ? 0 : -1;
    for (size_t row = 0; different >= 0 && row < n; row++)
        texts[row] = cut(text_at(l, row, c), width, cuts + row * room);
    if (different >= 0 && n > 0) {
        qsort(texts, n, sizeof *texts, compare_texts);
        different = 1;
        for (size_t row = 1; row < n; row++)
            different += strcmp(texts[row - 1], texts[row]) != 0;
    }
    l->table.report->failed |= different < 0;
    th_free(texts);
    th_free(cuts);
    return different;
}

/* The least width that keeps different names different. */
static int least_width(const th_layout *l, int c)
{
    int heading = th_text_width(l->table.columns[c].title), width = l->width[c];
    int least = is_wrapped(&l->table, c) ? th_max(WRAPPED, th_min(l->word[c], WIDEST))
                : l->wraps[c]            ? l->word[c]
                                         : NARROWEST;
    least = heading > least ? heading : least;
    if (l->table.columns[c].kind != TH_KIND_TEXT || width <= least)
        return width;
    if (l->wraps[c])
        return least;
    int64_t different = n_different(l, c, width);
    while (least < width && n_different(l, c, least) != different)
        least++;
    return least;
}

/* ---- lines ---- */

static int line_width(const th_report *r)
{
    return r->display.width > 0 ? r->display.width : TH_TEXT_WIDTH;
}

static int total_width(const th_layout *l)
{
    int sum = (l->table.n_columns - 1) * TH_TEXT_GAP;
    for (int c = 0; c < l->table.n_columns; c++)
        sum += l->width[c];
    return sum;
}

/* The widest column above its least width; -1: none. */
static int widest_name(const th_layout *l, const int *least)
{
    int widest = -1;
    for (int c = 0; c < l->table.n_columns; c++)
        if (l->width[c] > least[c] && (widest < 0 || l->width[c] > l->width[widest]))
            widest = c;
    return widest;
}

/* Cuts the widest names until the table fits; if it cannot, down to WIDEST, or less where column 0
 * and another one need it. */
static void cut_names(th_layout *l)
{
    int least[TH_COLUMNS_MAX], line = line_width(l->table.report), beside = 0, spare = 0;
    int excess = total_width(l) - line;
    for (int c = 0; c < l->table.n_columns; c++) {
        least[c] = least_width(l, c);
        spare += l->width[c] - least[c];
        beside = c > 0 ? th_max(beside, least[c]) : 0;
    }
    for (int c = 0; spare < excess && c < l->table.n_columns; c++) {
        int room = line - TH_TEXT_GAP - (c > 0 ? least[0] : beside);
        least[c] = th_max(least[c], th_min(l->width[c], th_min(room, WIDEST)));
    }
    for (int c = widest_name(l, least); c >= 0 && excess > 0; excess--) {
        l->width[c]--;
        c = widest_name(l, least);
    }
}

static bool breaks_at(const th_table *t, int c)
{
    return t->breaks_at && strcmp(t->columns[c].name, t->breaks_at) == 0;
}

/* Of the blocks that a break makes of the table, each with column 0. */
static int widest_block(const th_layout *l)
{
    int widest = 0, width = l->width[0];
    for (int c = 1; c < l->table.n_columns; c++) {
        if (breaks_at(&l->table, c))
            width = l->width[0];
        width += TH_TEXT_GAP + l->width[c];
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* A long name must not cut a block in two, where that helps. */
static void cut_first_names(th_layout *l)
{
    int excess = widest_block(l) - line_width(l->table.report);
    if (l->table.breaks_at && excess > 0)
        l->width[0] = th_max(l->width[0] - excess, least_width(l, 0));
}

static void narrow(th_layout *l)
{
    int width = line_width(l->table.report);
    for (int c = 0; c < l->table.n_columns; c++) {
        bool has_blank = false, is_text = l->table.columns[c].kind == TH_KIND_TEXT;
        l->word[c] =
            is_text && (l->table.wraps || l->table.wraps_at) ? longest_word(l, c, &has_blank) : 0;
        l->wraps[c] = is_wrapped(&l->table, c) || (has_blank && c > 0);
        if (is_text && total_width(l) > width && !is_wrapped(&l->table, c))
            drop_prefix(l, c);
    }
    if (total_width(l) > width)
        cut_names(l);
    if (total_width(l) > width)
        cut_first_names(l);
}

/* The table with the number of each row before its first column. */
static bool number_rows(th_layout *l)
{
    static const th_column number = {"row", "row", TH_KIND_COUNT};
    th_table *t = &l->table;
    size_t n = (size_t)t->n_columns + 1, lines = n_lines(t);
    th_column *columns = th_report_columns(t->report, (int)n);
    th_quantity *cells = th_arena_alloc(t->report->arena, (lines * n + 1) * sizeof *cells);
    if (!columns || !cells)
        return false;
    columns[0] = number;
    memcpy(columns + 1, t->columns, (n - 1) * sizeof *columns);
    for (size_t row = 0; row < lines; row++) {
        bool is_total = row == t->n_rows;
        cells[row * n] = is_total ? th_absent(TH_KIND_COUNT) : th_count((int64_t)row + 1);
        memcpy(&cells[row * n + 1], is_total ? t->total : th_table_cell(t, row, 0),
               (n - 1) * sizeof *cells);
    }
    t->columns = columns;
    t->cells = cells;
    t->total = t->total ? &cells[t->n_rows * n] : NULL;
    t->n_columns = (int)n;
    return true;
}

bool th_layout_table(const th_table *t, th_layout *l)
{
    if (!take_titled(t, l, true) || !format_cells(l))
        return false;
    narrow(l);
    bool is_split = total_width(l) > line_width(t->report);
    if (!is_split || l->table.n_columns >= TH_COLUMNS_MAX || t->n_rows < 2 ||
        n_different(l, 0, l->width[0]) == (int64_t)t->n_rows)
        return true;
    if (!number_rows(l) || !format_cells(l))
        return false;
    narrow(l);
    return true;
}

int th_layout_block(th_layout *l, int first)
{
    const th_table *t = &l->table;
    int limit = line_width(t->report), width = l->width[0], c = first;
    bool is_split = total_width(l) > limit;
    memset(l->is_shown, 0, sizeof l->is_shown);
    l->is_shown[0] = true;
    for (; c < t->n_columns; c++) {
        bool is_break = is_split && t->breaks_at && strcmp(t->columns[c].name, t->breaks_at) == 0;
        if (c > first && (width + TH_TEXT_GAP + l->width[c] > limit || is_break))
            break;
        width += TH_TEXT_GAP + l->width[c];
        l->is_shown[c] = true;
    }
    return c;
}

void th_layout_add_padded(th_strbuf *out, const char *text, int width, bool to_right)
{
    enum { CUT_MAX = 1024 };
    char shorter[ROOM(CUT_MAX)];
    if (text && width <= CUT_MAX)
        text = cut(text, width, shorter);
    int length = th_text_width(text), pad = width > length ? width - length : 0;
    th_strbuf_printf(out, "%*s%s%*s", to_right ? pad : 0, "", text ? text : "", to_right ? 0 : pad,
                     "");
}
