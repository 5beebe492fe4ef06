/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_read.c - measured times of layer shapes, from a file of comma-separated values.
 *   th_time_table_read: th_text_file_read -> read_headings -> { read_row } -> sort
 * Times are rounded to the nearest picosecond. */
#include <config.h>

#include "sim/design/table_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/csv.h"
#include "base/elementary.h"
#include "base/files/text_file.h"

enum { SIZE_MAX_BYTES = 16 << 20 };
enum {
    KIND,
    DIMS,
    STRIDE = DIMS + TH_N_DIMS,
    GROUPS,
    TIME,
    N_UNITS = 5,
    N_COLUMNS = TIME + N_UNITS
};

static const char *const columns[N_COLUMNS + 1] = {
    "kind",   "B",      "K",       "C",       "H",       "W",       "R",      "S",
    "stride", "groups", "time_ps", "time_ns", "time_us", "time_ms", "time_s", NULL};
static const double unit_ps[N_UNITS] = {1, 1e3, 1e6, 1e9, 1e12};
static const char *const kinds[] = {"conv", "fc", "matmul", "lstm", "gru"};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct {
    th_csv csv;
    int place[N_COLUMNS]; /* of each column in a line */
    int unit;
    th_time_table *table;
    size_t capacity;
    th_error *err;
} reader;

const char *th_timed_kind_name(int32_t kind)
{
    return kind >= 0 && kind < N_KINDS ? kinds[kind] : "layer";
}

/* All columns but those of times, of which there must be one. */
static int read_headings(reader *r, th_strbuf *notes)
{
    int n_times = 0;
    if (th_csv_first(&r->csv, r->err) ||
        th_csv_place(&r->csv, columns, TIME, r->place, notes, r->err))
        return -1;
    for (int u = 0; u < N_UNITS; u++)
        if (r->place[TIME + u] >= 0) {
            r->unit = u;
            n_times++;
        }
    if (n_times == 1)
        return 0;
    return th_error_set(r->err, "SIM-0587",
                        "%s:%d: %d columns of times: must have one of time_ps, time_ns, time_us, "
                        "time_ms, time_s",
                        r->csv.path, r->csv.line, n_times);
}

static const char *text_of(const reader *r, int column)
{
    return r->csv.field[r->place[column]];
}

static int read_extent(const reader *r, int column, int32_t *out)
{
    const char *text = text_of(r, column);
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= 1 && value <= INT32_MAX) {
        *out = (int32_t)value;
        return 0;
    }
    return th_error_set(r->err, "SIM-0077",
                        "%s:%d: %s is \"%.40s\": must be a whole number from 1 to %d", r->csv.path,
                        r->csv.line, columns[column], text, INT32_MAX);
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
                        "%s:%d: kind is \"%.40s\": must be conv, fc, matmul, lstm or gru",
                        r->csv.path, r->csv.line, text);
}

static int read_time(const reader *r, const char *text, th_time *out)
{
    char *end;
    double value = strtod(text, &end), ps = value * unit_ps[r->unit];
    if (end != text && *end == '\0' && ps >= 0.5 && ps < 0x1p62) {
        *out = (th_time)llround(ps);
        return 0;
    }
    return th_error_set(r->err, "SIM-0079",
                        "%s:%d: %s is \"%.40s\": must be a number from 1 ps to 50 days",
                        r->csv.path, r->csv.line, columns[TIME + r->unit], text);
}

static int read_row(reader *r)
{
    th_time_table *t = r->table;
    th_timed_row row = {.line = r->csv.line};
    if (read_kind(r, text_of(r, KIND), &row.shape.kind) ||
        read_extent(r, STRIDE, &row.shape.stride) || read_extent(r, GROUPS, &row.shape.groups) ||
        read_time(r, text_of(r, TIME + r->unit), &row.time_ps))
        return -1;
    for (int d = 0; d < TH_N_DIMS; d++)
        if (read_extent(r, DIMS + d, &row.shape.dim[d]))
            return -1;
    if (th_grow(&t->rows, &r->capacity, t->n + 1, sizeof *t->rows))
        return th_error_no_memory(r->err);
    t->rows[t->n++] = row;
    return 0;
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
                            "%s:%d: must have a line of names and at least one of times",
                            r->csv.path, r->csv.line);
    qsort(t->rows, t->n, sizeof *t->rows, compare_with_line);
    for (size_t i = 1; i < t->n; i++)
        if (compare(&t->rows[i - 1], &t->rows[i]) == 0)
            return th_error_set(r->err, "SIM-0081", "%s:%d: the same shape as on line %d",
                                r->csv.path, (int)t->rows[i].line, (int)t->rows[i - 1].line);
    return 0;
}

/* A table has nothing that is not read. */
static int read_lines(reader *r)
{
    th_strbuf notes = TH_STRBUF_INIT;
    int status = read_headings(r, &notes);
    while (status == 0 && (status = th_csv_row(&r->csv, r->err)) > 0)
        status = read_row(r);
    th_csv_note_cut(&r->csv, &notes);
    if (status == 0 && notes.length > 0)
        status = th_error_set(r->err, "SIM-0588", "%s: %s", r->csv.path, notes.text);
    th_strbuf_clear(&notes);
    return status ? -1 : sort(r);
}

th_time_table *th_time_table_read(const char *path, th_error *err)
{
    th_time_table *t = th_alloc_zero(1, sizeof *t);
    th_strbuf text = TH_STRBUF_INIT;
    reader r = {.table = t, .err = err};
    if (t)
        t->path = th_alloc_string(path);
    if (!t || !t->path) {
        th_error_no_memory(err);
        goto fail;
    }
    if (th_text_file_read(path, SIZE_MAX_BYTES, &text, err))
        goto fail;
    r.csv = th_csv_open(path, text.text);
    if (read_lines(&r))
        goto fail;
    th_csv_clear(&r.csv);
    th_strbuf_clear(&text);
    return t;
fail:
    th_csv_clear(&r.csv);
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
