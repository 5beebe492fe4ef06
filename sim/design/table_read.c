/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_read.c - measured times of layer shapes, from a file of comma-separated values.
 *   th_time_table_read: th_text_file_read -> per line: split -> read_header | read_row -> sort
 * Times are rounded to the nearest picosecond. */
#include <config.h>

#include "sim/design/table_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/elementary.h"
#include "base/text_file.h"

enum { SIZE_MAX_BYTES = 16 << 20 };
enum { KIND, DIMS, STRIDE = DIMS + TH_N_DIMS, GROUPS, TIME, N_COLUMNS };

static const char *const columns[N_COLUMNS] = {"kind", "B", "K",      "C",      "H",   "W",
                                               "R",    "S", "stride", "groups", "time"};
static const char *const kinds[] = {"conv", "fc", "matmul", "lstm", "gru"};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static const struct {
    const char *column;
    double ps;
} units[] = {
    {"time_ps", 1}, {"time_ns", 1e3}, {"time_us", 1e6}, {"time_ms", 1e9}, {"time_s", 1e12},
};
enum { N_UNITS = sizeof units / sizeof units[0] };

typedef struct {
    const char *path;
    int line;
    int place[N_COLUMNS]; /* of each column in a line */
    int unit;
    bool has_header;
    th_time_table *table;
    size_t capacity;
    th_error *err;
} reader;

const char *th_timed_kind_name(int32_t kind)
{
    return kind >= 0 && kind < N_KINDS ? kinds[kind] : "layer";
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]))
        text[--n] = '\0';
    return text;
}

/* Cuts a line at its commas; how many fields it has, of which the first N_COLUMNS are kept. */
static int split(char *line, char *fields[N_COLUMNS])
{
    int n = 0;
    for (char *next = line; next; n++) {
        char *field = next;
        next = strchr(next, ',');
        if (next)
            *next++ = '\0';
        if (n < N_COLUMNS)
            fields[n] = trim(field);
    }
    return n;
}

static int column_of(reader *r, const char *name)
{
    for (int i = 0; i < N_UNITS; i++) {
        if (strcmp(units[i].column, name) == 0) {
            r->unit = i;
            return TIME;
        }
    }
    for (int c = 0; c < TIME; c++)
        if (strcmp(columns[c], name) == 0)
            return c;
    return th_error_set(
        r->err, "SIM-0074",
        "%s:%d: column \"%.40s\": must be one of kind, B, K, C, H, W, R, S, stride, "
        "groups and time_ps, time_ns, time_us, time_ms or time_s",
        r->path, r->line, name);
}

static int fail_count(const reader *r, int n)
{
    return th_error_set(r->err, "SIM-0075", "%s:%d: %d columns: must be %d", r->path, r->line, n,
                        N_COLUMNS);
}

static int read_header(reader *r, char *const fields[N_COLUMNS], int n)
{
    for (int c = 0; c < N_COLUMNS; c++)
        r->place[c] = -1;
    for (int i = 0; i < n && i < N_COLUMNS; i++) {
        int c = column_of(r, fields[i]);
        if (c < 0)
            return -1;
        if (r->place[c] >= 0)
            return th_error_set(r->err, "SIM-0076", "%s:%d: column \"%s\" comes twice", r->path,
                                r->line, columns[c]);
        r->place[c] = i;
    }
    for (int c = 0; c < N_COLUMNS; c++)
        if (r->place[c] < 0)
            return th_error_set(r->err, "SIM-0098", "%s:%d: column %s%s: is missing", r->path,
                                r->line, columns[c], c == TIME ? "_ps, _ns, _us, _ms or _s" : "");
    if (n != N_COLUMNS)
        return fail_count(r, n);
    r->has_header = true;
    return 0;
}

static int read_extent(const reader *r, char *const fields[N_COLUMNS], int column, int32_t *out)
{
    const char *text = fields[r->place[column]];
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= 1 && value <= INT32_MAX) {
        *out = (int32_t)value;
        return 0;
    }
    return th_error_set(r->err, "SIM-0077",
                        "%s:%d: %s is \"%.40s\": must be a whole number from 1 to %d", r->path,
                        r->line, columns[column], text, INT32_MAX);
}

static int read_kind(const reader *r, const char *text, int32_t *out)
{
    for (int32_t k = 0; k < N_KINDS; k++) {
        if (strcmp(kinds[k], text) == 0) {
            *out = k; /* the order of th_layer_kind */
            return 0;
        }
    }
    return th_error_set(r->err, "SIM-0078",
                        "%s:%d: kind is \"%.40s\": must be conv, fc, matmul, lstm or gru", r->path,
                        r->line, text);
}

static int read_time(const reader *r, const char *text, th_time *out)
{
    char *end;
    double value = strtod(text, &end), ps = value * units[r->unit].ps;
    if (end != text && *end == '\0' && ps >= 0.5 && ps < 0x1p62) {
        *out = (th_time)llround(ps);
        return 0;
    }
    return th_error_set(r->err, "SIM-0079",
                        "%s:%d: %s is \"%.40s\": must be a number from 1 ps to 50 days", r->path,
                        r->line, units[r->unit].column, text);
}

static int read_row(reader *r, char *const fields[N_COLUMNS], int n)
{
    th_time_table *t = r->table;
    th_timed_row row = {.line = r->line};
    if (n != N_COLUMNS)
        return fail_count(r, n);
    if (read_kind(r, fields[r->place[KIND]], &row.shape.kind) ||
        read_extent(r, fields, STRIDE, &row.shape.stride) ||
        read_extent(r, fields, GROUPS, &row.shape.groups) ||
        read_time(r, fields[r->place[TIME]], &row.time_ps))
        return -1;
    for (int d = 0; d < TH_N_DIMS; d++)
        if (read_extent(r, fields, DIMS + d, &row.shape.dim[d]))
            return -1;
    if (th_grow(&t->rows, &r->capacity, t->n + 1, sizeof *t->rows))
        return th_error_no_memory(r->err);
    t->rows[t->n++] = row;
    return 0;
}

static int read_line(reader *r, char *line)
{
    char *fields[N_COLUMNS];
    line = trim(line);
    if (*line == '\0' || *line == '#')
        return 0;
    int n = split(line, fields);
    return r->has_header ? read_row(r, fields, n) : read_header(r, fields, n);
}

static int compare(const void *a, const void *b)
{
    return memcmp(&((const th_timed_row *)a)->shape, &((const th_timed_row *)b)->shape,
                  sizeof(th_timed_shape));
}

static int compare_with_line(const void *a, const void *b)
{
    int by_shape = compare(a, b);
    int32_t line_a = ((const th_timed_row *)a)->line, line_b = ((const th_timed_row *)b)->line;
    return by_shape ? by_shape : (line_a > line_b) - (line_a < line_b);
}

/* In order of the shapes' bytes; any order will do. */
static int sort(const reader *r)
{
    th_time_table *t = r->table;
    if (t->n == 0)
        return th_error_set(r->err, "SIM-0080",
                            "%s:%d: must have a line of names and at least one of times", r->path,
                            r->line);
    qsort(t->rows, t->n, sizeof *t->rows, compare_with_line);
    for (size_t i = 1; i < t->n; i++)
        if (compare(&t->rows[i - 1], &t->rows[i]) == 0)
            return th_error_set(r->err, "SIM-0081", "%s:%d: the same shape as on line %d", r->path,
                                (int)t->rows[i].line, (int)t->rows[i - 1].line);
    return 0;
}

static int read_lines(reader *r, th_strbuf *text)
{
    if (text->length > SIZE_MAX_BYTES)
        return th_error_set(r->err, "SIM-0082", "%s: more than %d bytes, which no table needs",
                            r->path, SIZE_MAX_BYTES);
    for (char *line = text->text; line;) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r->line++;
        if (read_line(r, line))
            return -1;
        line = next;
    }
    return sort(r);
}

th_time_table *th_time_table_read(const char *path, th_error *err)
{
    th_time_table *t = th_alloc_zero(1, sizeof *t);
    th_strbuf text = TH_STRBUF_INIT;
    reader r = {.path = path, .table = t, .err = err};
    if (t)
        t->path = th_alloc_string(path);
    if (!t || !t->path) {
        th_error_no_memory(err);
        goto fail;
    }
    if (th_text_file_read(path, SIZE_MAX_BYTES, &text, err) || read_lines(&r, &text))
        goto fail;
    th_strbuf_clear(&text);
    return t;
fail:
    th_strbuf_clear(&text);
    th_time_table_free(t);
    return NULL;
}

void th_time_table_free(th_time_table *t)
{
    if (!t)
        return;
    th_free(t->path);
    th_free(t->rows);
    th_free(t);
}

const th_timed_row *th_time_table_find(const th_time_table *t, const th_timed_shape *shape)
{
    th_timed_row key = {.shape = *shape};
    return bsearch(&key, t->rows, t->n, sizeof *t->rows, compare);
}

static double distance(const th_timed_shape *a, const th_timed_shape *b)
{
    double sum =
        fabs(th_log((double)a->stride / b->stride)) + fabs(th_log((double)a->groups / b->groups));
    for (int d = 0; d < TH_N_DIMS; d++)
        sum += fabs(th_log((double)a->dim[d] / b->dim[d]));
    return sum;
}

const th_timed_row *th_time_table_nearest(const th_time_table *t, const th_timed_shape *shape)
{
    const th_timed_row *nearest = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < t->n; i++) {
        const th_timed_row *row = &t->rows[i];
        double d = row->shape.kind == shape->kind ? distance(&row->shape, shape) : INFINITY;
        if (d < least || (d == least && nearest && row->line < nearest->line)) {
            least = d;
            nearest = row;
        }
    }
    return nearest;
}
