/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_text.c - a report for people: aligned, at most 80 columns, one unit per column, in the
 * heading. Numbers stand to the right. Texts that would make a table too wide lose their middle. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "tcl/report.h"

enum { WIDTH = 80, GAP = 2, NARROWEST = 10, WIDEST = 30 };

/* How the numbers of one column are written: divided, with so many decimals. */
typedef struct th_scale {
    const char *unit;
    double divisor;
    int decimals;
} th_scale;

typedef struct th_layout {
    th_scale scale[TH_COLUMNS_MAX];
    int width[TH_COLUMNS_MAX];
    bool is_shown[TH_COLUMNS_MAX]; /* in the block of columns that is being written */
    char **texts;                  /* (n_rows + 1) x n_columns; the last row is the total */
} th_layout;

/* ---- units ---- */

typedef struct th_unit {
    const char *name;
    double divisor;
} th_unit;

static const th_unit time_units[] = {{"s", 1e12}, {"ms", 1e9}, {"us", 1e6},
                                     {"ns", 1e3}, {"ps", 1},   {NULL, 0}};
static const th_unit byte_units[] = {{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6},
                                     {"kB", 1e3},  {"B", 1},    {NULL, 0}};
static const th_unit bandwidth_units[] = {{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6},
                                          {"kbps", 1e3},  {"bps", 1},    {NULL, 0}};
static const th_unit energy_units[] = {{"J", 1},     {"mJ", 1e-3},  {"uJ", 1e-6},
                                       {"nJ", 1e-9}, {"pJ", 1e-12}, {NULL, 0}};
/* A rate of inputs stays in 1/s up to a million. */
static const th_unit rate_units[] = {
    {"T/s", 1e12}, {"G/s", 1e9}, {"M/s", 1e6}, {"1/s", 1}, {NULL, 0}};

/* The largest unit that leaves at least 1 before the point, with so many significant digits. */
static th_scale pick_unit(const th_unit *units, double largest, int digits)
{
    while (units[1].name != NULL && largest < units->divisor)
        units++;
    double shown = largest / units->divisor;
    int before = shown >= 100 ? 3 : shown >= 10 ? 2 : 1;
    int decimals = units[1].name == NULL && units->divisor == 1 ? 0
                   : digits > before                            ? digits - before
                                                                : 0;
    return (th_scale){units->name, units->divisor, decimals};
}

static const th_unit *units_of(th_kind kind)
{
    static const th_unit *const units[TH_N_KINDS] = {[TH_KIND_TIME] = time_units,
                                                     [TH_KIND_BYTES] = byte_units,
                                                     [TH_KIND_BANDWIDTH] = bandwidth_units,
                                                     [TH_KIND_RATE] = rate_units,
                                                     [TH_KIND_ENERGY] = energy_units};
    return units[kind];
}

const char *th_kind_unit_name(th_kind kind, int i)
{
    return units_of(kind)[i].name;
}

const char *th_kind_unit(th_kind kind, double largest, double *divisor)
{
    bool is_share = kind == TH_KIND_SHARE || kind == TH_KIND_CHANGE;
    th_scale scale = is_share ? (th_scale){"%", 0.01, 0} : (th_scale){"", 1, 0};
    if (units_of(kind) != NULL)
        scale = pick_unit(units_of(kind), largest, 0);
    *divisor = scale.divisor;
    return scale.unit;
}

/* The unit that the user wants for a kind; NULL: whatever suits. */
static const char *wanted_unit(const th_report *r, th_kind kind)
{
    return r->units != NULL ? r->units[kind] : NULL;
}

/* A unit by name, with so many significant digits of the largest. */
static th_scale fixed_unit(th_kind kind, const char *name, double largest, int digits)
{
    enum { MOST_DECIMALS = 12 };
    const th_unit *u = units_of(kind);
    while (strcmp(u->name, name) != 0)
        u++;
    int before = largest > 0 ? (int)floor(log10(largest / u->divisor)) + 1 : 1;
    int decimals = digits - before;
    bool is_whole = u->divisor == 1 && kind != TH_KIND_ENERGY; /* ps, B, bps */
    return (th_scale){u->name, u->divisor,
                      is_whole || decimals < 0 ? 0 : decimals < MOST_DECIMALS ? decimals : MOST_DECIMALS};
}

static th_scale unit_for(const th_table *t, th_kind kind, double largest, int digits)
{
    const char *wanted = wanted_unit(t->report, kind);
    return wanted != NULL ? fixed_unit(kind, wanted, largest, digits) : pick_unit(units_of(kind), largest, digits);
}

static double number_of(const th_quantity *q)
{
    return q->is_absent ? 0 : th_kind_is_real(q->kind) ? q->real : (double)q->whole;
}

static double largest_in(const th_table *t, int column)
{
    double largest = t->total != NULL ? fabs(number_of(&t->total[column])) : 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        size_t cell = row * (size_t)t->n_columns + (size_t)column;
        largest = fmax(largest, fabs(number_of(&t->cells[cell])));
    }
    return largest;
}

/* Times (sizes, energies) of one table have one unit, so that they compare by eye: of all columns of
 * the kind, the largest time or energy sets it, and for sizes, which lie further apart, the column whose largest
 * is the smallest. */
static double reference_of_kind(const th_table *t, th_kind kind)
{
    double reference = 0;
    for (int c = 0; c < t->n_columns; c++) {
        double largest = t->columns[c].kind == kind ? largest_in(t, c) : 0;
        bool is_better = kind != TH_KIND_BYTES ? largest > reference : largest < reference;
        if (largest > 0 && (reference == 0 || is_better))
            reference = largest;
    }
    return reference;
}

/* Bandwidths are round numbers: no more decimals than any of them needs. */
static void drop_decimals(const th_table *t, int column, th_scale *scale)
{
    int needed = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        double value =
            number_of(&t->cells[row * (size_t)t->n_columns + (size_t)column]) / scale->divisor;
        while (needed < scale->decimals &&
               fabs(value * pow(10, needed) - round(value * pow(10, needed))) > 1e-6)
            needed++;
    }
    scale->decimals = needed;
}

static bool has_own_unit(const th_table *t, th_kind kind)
{
    return t->has_own_units && (kind == TH_KIND_TIME || kind == TH_KIND_BYTES) &&
           wanted_unit(t->report, kind) == NULL;
}

/* The cell with its own unit. */
static const char *with_unit(const th_quantity *q, char *out, size_t size)
{
    return q->kind == TH_KIND_TIME ? th_format_time(q->whole, out, size)
                                   : th_format_bytes(q->whole, out, size);
}

static th_scale scale_of(const th_table *t, int column)
{
    double largest = largest_in(t, column);
    th_scale scale = {"", 1, 0};
    if (has_own_unit(t, t->columns[column].kind))
        return scale;
    switch (t->columns[column].kind) {
    case TH_KIND_TEXT:
    case TH_KIND_COUNT:
    case TH_KIND_NUMBER:
        break;
    case TH_KIND_TIME:
        return unit_for(t, TH_KIND_TIME, reference_of_kind(t, TH_KIND_TIME), 6);
    case TH_KIND_BYTES:
        return unit_for(t, TH_KIND_BYTES, reference_of_kind(t, TH_KIND_BYTES), 4);
    case TH_KIND_BANDWIDTH:
        scale = unit_for(t, TH_KIND_BANDWIDTH, largest, 4);
        drop_decimals(t, column, &scale);
        break;
    case TH_KIND_RATE:
        scale = pick_unit(rate_units, largest, 6);
        scale.decimals = scale.decimals > 0 ? scale.decimals : largest < 10 ? 4 : 2;
        break;
    case TH_KIND_ENERGY:
        return unit_for(t, TH_KIND_ENERGY, reference_of_kind(t, TH_KIND_ENERGY), 6);
    case TH_KIND_MEAN:
        return (th_scale){"", 1, 2};
    case TH_KIND_SHARE:
        return (th_scale){"%", 0.01, 2};
    case TH_KIND_CHANGE:
        return (th_scale){"%", 0.01, 2};
    }
    return scale;
}

/* ---- cells ---- */

/* The cell as it is printed, in the report's arena; "" when memory is out. */
static char *cell_text(const th_table *t, const th_quantity *q, const th_scale *scale)
{
    char number[80];
    const char *text = number;
    if (q->is_absent)
        text = "-";
    else if (q->kind == TH_KIND_TEXT)
        text = q->text;
    else if (has_own_unit(t, q->kind))
        text = with_unit(q, number, sizeof number);
    else if (q->kind == TH_KIND_CHANGE)
        snprintf(number, sizeof number, "%+.*f", scale->decimals, q->real / scale->divisor);
    else if (q->kind == TH_KIND_COUNT)
        snprintf(number, sizeof number, "%lld", (long long)q->whole);
    else if (q->kind == TH_KIND_NUMBER)
        snprintf(number, sizeof number, "%.6g", q->real);
    else
        snprintf(number, sizeof number, "%.*f", scale->decimals, number_of(q) / scale->divisor);
    char *copy = th_arena_string(t->report->arena, text);
    if (copy == NULL)
        t->report->failed = true;
    return copy;
}

/* Characters, not bytes: names may be UTF-8. */
static int width_of(const char *text)
{
    int n = 0;
    for (; text != NULL && *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
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

/* Takes columns off the widest text until the table fits; where that cannot be, it is written in
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
    return t->breaks_at != NULL && strcmp(t->columns[column].name, t->breaks_at) == 0;
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
    if (t->breaks_at != NULL && excess > 0 && l->width[0] - excess >= NARROWEST)
        l->width[0] -= excess;
}

static int lay_out(const th_table *t, th_layout *l)
{
    size_t n = (size_t)t->n_columns, rows = t->n_rows + (t->total != NULL);
    l->texts = th_arena_alloc(t->report->arena, (rows * n + 1) * sizeof *l->texts);
    if (l->texts == NULL) {
        t->report->failed = true;
        return -1;
    }
    for (int c = 0; c < t->n_columns; c++) {
        l->scale[c] = scale_of(t, c);
        int unit = (int)strlen(l->scale[c].unit);
        l->width[c] = width_of(t->columns[c].title);
        l->width[c] = unit + 2 > l->width[c] && unit > 0 ? unit + 2 : l->width[c];
        for (size_t row = 0; row < rows; row++) {
            if (th_report_is_interrupted(t->report))
                return -1;
            const th_quantity *q = row < t->n_rows ? &t->cells[row * n + (size_t)c] : &t->total[c];
            char *text = cell_text(t, q, &l->scale[c]);
            l->texts[row * n + (size_t)c] = text;
            l->width[c] = width_of(text) > l->width[c] ? width_of(text) : l->width[c];
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

/* text in width columns; what is too long loses its middle. */
static void add_padded(th_strbuf *out, const char *text, int width, bool to_right)
{
    text = text != NULL ? text : "";
    int length = width_of(text), bytes = (int)strlen(text);
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
    for (; c < t->n_columns && (c == first || (width + GAP + l->width[c] <= WIDTH && !breaks_at(t, c)));
         c++) {
        width += GAP + l->width[c];
        l->is_shown[c] = true;
    }
    return c;
}

/* How many bytes of text go into a line of so many columns: up to a space, where there is one, or all that fit. */
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

/* A row whose last text goes on in further lines, below itself, until all of it is said. */
static void add_wrapped(const th_table *t, const th_layout *l, char *const *texts, th_strbuf *out)
{
    int last = t->n_columns - 1;
    char *parts[TH_COLUMNS_MAX];
    th_strbuf part = TH_STRBUF_INIT;
    const char *rest = texts[last] != NULL ? texts[last] : "";
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
    if (t->total != NULL) {
        add_rule(t, l, out);
        add_line(t, l, &l->texts[t->n_rows * (size_t)t->n_columns], out);
    }
}

/* The table without the columns that text leaves out; false when memory is out. */
static bool take_titled(const th_table *t, th_table *out)
{
    size_t rows = t->n_rows + (t->total != NULL);
    struct th_arena *arena = t->report->arena;
    th_column *columns = th_report_columns(t->report, t->n_columns);
    th_quantity *cells = th_arena_alloc(arena, (rows * (size_t)t->n_columns + 1) * sizeof *cells);
    if (columns == NULL || cells == NULL)
        return false;
    *out = *t;
    out->columns = columns;
    out->cells = cells;
    out->n_columns = 0;
    for (int c = 0; c < t->n_columns; c++)
        if (t->columns[c].title != NULL)
            columns[out->n_columns++] = t->columns[c];
    for (size_t row = 0; row < rows; row++)
        for (int c = 0; c < t->n_columns; c++)
            if (t->columns[c].title != NULL)
                *cells++ = row < t->n_rows ? t->cells[row * (size_t)t->n_columns + (size_t)c]
                                           : t->total[c];
    if (t->total != NULL)
        out->total = cells - out->n_columns;
    return true;
}

bool th_table_show(const th_table *t, th_shown_table *out)
{
    th_layout l;
    if (!take_titled(t, &out->table) || lay_out(&out->table, &l) != 0)
        return false;
    for (int c = 0; c < out->table.n_columns; c++)
        out->unit[c] = l.scale[c].unit;
    out->texts = l.texts;
    return !t->report->failed;
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
    if (t->title != NULL && strcmp(t->title, t->report->title) != 0)
        th_strbuf_printf(out, "%s\n", t->title);
    int next = 1;
    do {
        th_strbuf_add(out, next > 1 ? "\n" : "");
        next = show_block(t, &l, next);
        add_block(t, &l, out);
    } while (next < t->n_columns);
}

/* A record's value with its unit; shares in percent, as in tables. */
void th_report_value(th_strbuf *out, const th_quantity *q)
{
    if (!q->is_absent && (q->kind == TH_KIND_SHARE || q->kind == TH_KIND_CHANGE))
        th_strbuf_printf(out, "%.2f %%", 100 * q->real);
    else
        th_quantity_format(q, out);
}

/* The same in the unit that the user wants. */
static void add_value(th_strbuf *out, const th_report *r, const th_quantity *q)
{
    enum { DIGITS = 6 };
    const char *wanted = wanted_unit(r, q->kind);
    if (q->is_absent || wanted == NULL) {
        th_report_value(out, q);
        return;
    }
    th_scale scale = fixed_unit(q->kind, wanted, fabs(number_of(q)), DIGITS);
    th_strbuf_printf(out, "%.*f%s", scale.decimals, number_of(q) / scale.divisor, scale.unit);
}

static void render_record(const th_table *t, th_strbuf *out)
{
    int width = 0;
    for (int c = 0; c < t->n_columns; c++)
        width = width_of(t->columns[c].title) > width ? width_of(t->columns[c].title) : width;
    if (t->title != NULL)
        th_strbuf_printf(out, "%s\n", t->title);
    for (int c = 0; t->n_rows > 0 && c < t->n_columns; c++) {
        if (t->columns[c].title == NULL) /* not in text */
            continue;
        th_strbuf_printf(out, "  %-*s  ", width, t->columns[c].title);
        add_value(out, t->report, &t->cells[c]);
        th_strbuf_add(out, "\n");
    }
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
    for (const th_table *t = r->first; t != NULL; t = t->next) {
        th_strbuf_add(out, "\n");
        if (t->is_record)
            render_record(t, out);
        else
            render_table(t, out);
    }
    th_strbuf_add(out, "\n");
}
