/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scalesim_read.c - a workload from a topology of SCALE-Sim, lines of comma-separated values.
 *
 *   read the text -> headings: convolutions or products -> a layer per line -> finish
 *
 *   Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter,
 *   Strides                                                                (on one line), or
 *   Layer, M, N, K
 * Columns are found by their headings, and of those unknown a note tells. Behind the columns with
 * headings a convolution may have a second stride (along the width), and either kind a ratio of
 * structured sparsity ("2:4"). What follows the last comma is no value for SCALE-Sim: a text there
 * is left out, and a line with a name alone is a title. "DP" in the name of a layer makes it
 * depthwise: a product per channel. Layers are independent: each reads an input of its own. There
 * is no padding; a last window that extends beyond the edge counts, so along each axis
 *     out = ceil((in - filter) / stride) + 1. */
#include <config.h>
#include "workloads/scalesim_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/names.h"
#include "base/text_file.h"
#include "workloads/workload_check.h"

enum { LARGEST_EXTENT = 1 << 28, NAME_MAX_BYTES = 200 };
enum { NAME, IN_H, IN_W, FILTER_H, FILTER_W, CHANNELS, FILTERS, STRIDE_H, STRIDE_W, N_CONV };
enum { SPARSITY = N_CONV, N_COLUMNS };
enum { PRODUCT_M = 1, PRODUCT_N, PRODUCT_K, PRODUCT_SPARSITY };

static const char *const conv_columns[] = {"Layer name;Layer;Name;L",
                                           "IFMAP Height",
                                           "IFMAP Width",
                                           "Filter Height",
                                           "Filter Width",
                                           "Channels",
                                           "Num Filter;Num Filters",
                                           "Strides;Stride Height",
                                           "Stride Width",
                                           "Sparsity",
                                           NULL};
static const char *const product_columns[] = {
    "Layer;Layer name;Name;L", "M", "N", "K", "Sparsity", NULL};

typedef struct {
    th_csv csv;
    int place[N_COLUMNS];
    uint64_t unnamed; /* the columns, of the first 64, without a heading */
    int32_t batch;
    th_precision precision;
    bool is_product; /* Layer, M, N, K */
    bool is_ended;   /* the last line, by a comma */
    th_lines titles, comments;
    th_workload *w; /* from the first layer on */
    th_strbuf *notes;
    th_error *err;
} reader;

/* ---- fields ---- */

static const char *text_of(const reader *r, int column)
{
    int at = r->place[column];
    return at >= 0 && at < r->csv.n_fields ? r->csv.field[at] : "";
}

static int read_extent(const reader *r, const char *what, const char *text, int32_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < 1 || value > LARGEST_EXTENT)
        return th_error_set(
            r->err, "WORK-0060", "%s:%d: %.*s: must be a whole number from 1 to %d, not \"%.40s\"",
            r->csv.path, r->csv.line, (int)strcspn(what, ";"), what, LARGEST_EXTENT, text);
    *out = (int32_t)value;
    return 0;
}

/* "2:4": two of four are kept. As many as there are: dense. */
static int read_ratio(const reader *r, const char *text, th_layer *l)
{
    enum { LARGEST_BLOCK = 64 };
    int n = 0, m = 0, used = 0;
    if (sscanf(text, "%d:%d%n", &n, &m, &used) != 2 || text[used] != '\0' || n < 1 || n > m ||
        m > LARGEST_BLOCK)
        return th_error_set(r->err, "WORK-0061",
                            "%s:%d: sparsity: must be N:M with 1 <= N <= M <= %d, not \"%.40s\"",
                            r->csv.path, r->csv.line, LARGEST_BLOCK, text);
    if (n < m) {
        l->sparse_n = n;
        l->sparse_m = m;
    }
    return 0;
}

/* ---- layers ---- */

static int32_t windows(int32_t in, int32_t filter, int32_t stride)
{
    return (in - filter + stride - 1) / stride + 1;
}

/* Fields without a heading: *stride_w, a ratio, or a text behind the last comma. */
static int read_unnamed(reader *r, int32_t *stride_w, th_layer *l)
{
    int n = r->csv.n_fields, behind = r->place[r->is_product ? PRODUCT_K : STRIDE_H] + 1;
    for (int f = 0; f < n; f++) {
        const char *text = r->csv.field[f];
        if (*text == '\0' || (f < r->csv.n_headings && (f > 63 || !(r->unnamed >> f & 1))))
            continue;
        int status = 0;
        if (f == behind && !r->is_product && strspn(text, "0123456789") == strlen(text))
            status = read_extent(r, conv_columns[STRIDE_W], text, stride_w);
        else if (strchr(text, ':'))
            status = read_ratio(r, text, l);
        else
            th_lines_count(&r->comments, r->csv.line);
        if (status)
            return -1;
    }
    return 0;
}

static int read_convolution(reader *r, th_layer *l)
{
    int32_t v[N_CONV];
    for (int i = IN_H; i <= STRIDE_H; i++)
        if (read_extent(r, conv_columns[i], text_of(r, i), &v[i]) < 0)
            return -1;
    v[STRIDE_W] = v[STRIDE_H];
    const char *stride_w = text_of(r, STRIDE_W);
    if ((*stride_w && read_extent(r, conv_columns[STRIDE_W], stride_w, &v[STRIDE_W]) < 0) ||
        read_unnamed(r, &v[STRIDE_W], l) < 0)
        return -1;
    if (v[FILTER_H] > v[IN_H] || v[FILTER_W] > v[IN_W])
        return th_error_set(r->err, "WORK-0063",
                            "%s:%d: a filter of %d x %d is larger than its input of %d x %d",
                            r->csv.path, r->csv.line, v[FILTER_H], v[FILTER_W], v[IN_H], v[IN_W]);
    int64_t groups = strstr(r->csv.field[r->place[NAME]], "DP") ? v[CHANNELS] : 1;
    int64_t outputs = groups * v[FILTERS];
    l->groups = (int32_t)groups;
    l->kind = TH_LAYER_CONV;
    l->in_h = v[IN_H];
    l->in_w = v[IN_W];
    l->stride_h = v[STRIDE_H];
    l->stride_w = v[STRIDE_W];
    const int32_t dim[] = {r->batch,
                           outputs < INT32_MAX ? (int32_t)outputs : INT32_MAX, /* refused */
                           v[CHANNELS],
                           windows(v[IN_H], v[FILTER_H], v[STRIDE_H]),
                           windows(v[IN_W], v[FILTER_W], v[STRIDE_W]),
                           v[FILTER_H],
                           v[FILTER_W]};
    memcpy(l->dim, dim, sizeof dim);
    return 0;
}

static int read_product(reader *r, th_layer *l)
{
    int32_t v[PRODUCT_K + 1], none;
    for (int i = PRODUCT_M; i <= PRODUCT_K; i++)
        if (read_extent(r, product_columns[i], text_of(r, i), &v[i]) < 0)
            return -1;
    l->kind = TH_LAYER_MATMUL;
    l->in_h = v[PRODUCT_M];
    l->in_w = 1;
    const int32_t dim[] = {r->batch, v[PRODUCT_N], v[PRODUCT_K], v[PRODUCT_M], 1, 1, 1};
    memcpy(l->dim, dim, sizeof dim);
    return read_unnamed(r, &none, l);
}

/* The workload's own input is that of its first layer; has_own_inputs makes it no matter. */
static int begin_workload(reader *r, const th_layer *l)
{
    char name[NAME_MAX_BYTES + 1];
    int length;
    const char *file = th_file_stem(r->csv.path, &length);
    snprintf(name, sizeof name, "%.*s", length, file);
    r->w = th_workload_new(
        name, r->csv.path,
        &(th_workload_input){r->batch, l->dim[TH_DIM_C], l->in_h, l->in_w, r->precision}, r->err);
    if (!r->w)
        return -1;
    r->w->has_own_inputs = true;
    return 0;
}

static int read_layer(reader *r)
{
    char name[NAME_MAX_BYTES + 16];
    const char *given = text_of(r, NAME),
               *ratio = text_of(r, r->is_product ? PRODUCT_SPARSITY : SPARSITY);
    int32_t input = TH_EXTERNAL_INPUT;
    th_layer l = th_layer_over(TH_LAYER_CONV, r->batch, 1, 1, 1, r->precision);
    l.name = name;
    l.inputs = &input;
    l.n_inputs = 1;
    l.line = r->csv.line;
    if ((r->is_product ? read_product : read_convolution)(r, &l) < 0 ||
        (*ratio && read_ratio(r, ratio, &l) < 0) || (!r->w && begin_workload(r, &l) < 0))
        return -1;
    snprintf(name, sizeof name, "%.*s", NAME_MAX_BYTES, *given ? given : "layer");
    th_workload_make_name(r->w, name, r->csv.line, sizeof name);
    return th_workload_add_layer(r->w, &l, r->err) < 0 ? -1 : 0;
}

/* ---- lines ---- */

static int read_headings(reader *r)
{
    th_error e;
    if (th_csv_first(&r->csv, r->err))
        return -1;
    for (int f = 0; f < r->csv.n_fields; f++) {
        r->is_product |= th_name_is_among(product_columns[PRODUCT_M], r->csv.field[f]);
        r->unnamed |= (uint64_t)(f < 64 && r->csv.field[f][0] == '\0') << (f & 63);
    }
    if (th_csv_place(&r->csv, r->is_product ? product_columns : conv_columns,
                     r->is_product ? PRODUCT_SPARSITY : STRIDE_W, r->place, r->notes, &e))
        return th_error_set(
            r->err, "WORK-0066",
            "%s; a line of headings was expected: \"Layer name, IFMAP Height, IFMAP Width, Filter "
            "Height, Filter Width, Channels, Num Filter, Strides\" or \"Layer, M, N, K\"",
            e.text);
    return 0;
}

static int read_line(reader *r)
{
    int n = r->csv.n_fields, n_values = 0;
    for (int f = 0; f < n; f++)
        n_values += r->csv.field[f][0] != '\0';
    r->is_ended = r->csv.field[n - 1][0] == '\0';
    if (n_values > 1)
        return read_layer(r);
    if (n_values == 1)
        th_lines_count(&r->titles, r->csv.line);
    return 0;
}

static int read_lines(reader *r)
{
    int status = read_headings(r);
    while (status == 0 && (status = th_csv_next(&r->csv, r->err)) > 0)
        status = read_line(r);
    if (status < 0)
        return -1;
    if (!r->w)
        return th_error_set(r->err, "WORK-0067", "%s: no layers: at least one was expected",
                            r->csv.path);
    th_note_lines(r->notes, &r->titles, "no layer but one value");
    th_note_lines(r->notes, &r->comments, "values behind the columns");
    if (!r->is_ended)
        th_csv_note_cut(&r->csv, r->notes);
    return th_workload_finish(r->w, r->err);
}

th_workload *th_workload_read_scalesim(const char *path, int32_t batch, th_precision precision,
                                       th_strbuf *notes, th_error *err)
{
    reader r = {.batch = batch, .precision = precision, .notes = notes, .err = err};
    th_strbuf text = TH_STRBUF_INIT;
    int failed = th_text_file_read(path, TH_SCALESIM_TOPOLOGY_MAX, &text, err);
    r.csv = th_csv_open(path, text.text);
    if (!failed)
        failed = read_lines(&r);
    th_csv_clear(&r.csv);
    th_strbuf_clear(&text);
    if (!failed)
        return r.w;
    th_workload_free(r.w);
    return NULL;
}
