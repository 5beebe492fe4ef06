/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scalesim_read.c - a workload from a topology of SCALE-Sim, lines of comma-separated values.
 *
 *   read the text -> header: convolutions or products -> a layer per line -> finish
 *
 *   Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter,
 *   Strides                                                                (on one line), or
 *   Layer, M, N, K
 * A convolution may have a second stride (along the width), and either kind a final ratio of
 * structured sparsity ("2:4"). Layers are independent: each reads an input of its own. There is no
 * padding; a last window that extends beyond the edge counts, so along each axis
 *     out = ceil((in - filter) / stride) + 1. */
#include <config.h>
#include "workloads/scalesim_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text_file.h"
#include "workloads/workload_check.h"

enum { MAX_FIELDS = 12, LARGEST_EXTENT = 1 << 28, NAME_MAX_BYTES = 200 };
enum { NAME, IN_H, IN_W, FILTER_H, FILTER_W, CHANNELS, FILTERS, STRIDE_H, STRIDE_W };
enum { PRODUCT_M = 1, PRODUCT_N, PRODUCT_K, PRODUCT_FIELDS };

typedef struct {
    const char *path;
    int line;
    int32_t batch;
    th_precision precision;
    bool has_header, is_product; /* Layer, M, N, K */
    th_workload *w;              /* from the first layer on */
    th_error *err;
} reader;

/* ---- fields ---- */

static char *trimmed(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]))
        text[--n] = '\0';
    return text;
}

/* Cuts a line; a comma at its end opens no field. -1: more than MAX_FIELDS. */
static int split(char *line, char *fields[MAX_FIELDS])
{
    int n = 0;
    for (char *next = line; next;) {
        char *field = next;
        next = strchr(field, ',');
        if (next)
            *next++ = '\0';
        field = trimmed(field);
        if (!next && *field == '\0')
            break;
        if (n == MAX_FIELDS)
            return -1;
        fields[n++] = field;
    }
    return n;
}

static int read_extent(const reader *r, const char *what, const char *text, int32_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < 1 || value > LARGEST_EXTENT)
        return th_error_set(r->err, "WORK-0060",
                            "%s:%d: %s: must be a whole number from 1 to %d, not \"%.40s\"",
                            r->path, r->line, what, LARGEST_EXTENT, text);
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
                            r->path, r->line, LARGEST_BLOCK, text);
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

static int read_convolution(const reader *r, char **fields, int n, th_layer *l)
{
    static const char *const what[] = {
        "layer name", "IFMAP height",      "IFMAP width", "filter height",         "filter width",
        "channels",   "number of filters", "stride",      "stride along the width"};
    int32_t v[STRIDE_W + 1];
    bool has_ratio = n > STRIDE_W && strchr(fields[n - 1], ':');
    int n_values = n - has_ratio;
    if (n_values != STRIDE_W && n_values != STRIDE_W + 1)
        return th_error_set(r->err, "WORK-0062",
                            "%s:%d: %d values: a convolution has a name, %d numbers (or %d, with a "
                            "stride along the width) and may have a sparsity N:M",
                            r->path, r->line, n, STRIDE_H, STRIDE_W);
    for (int i = IN_H; i < n_values; i++)
        if (read_extent(r, what[i], fields[i], &v[i]) < 0)
            return -1;
    if (n_values == STRIDE_W)
        v[STRIDE_W] = v[STRIDE_H];
    if (v[FILTER_H] > v[IN_H] || v[FILTER_W] > v[IN_W])
        return th_error_set(r->err, "WORK-0063",
                            "%s:%d: a filter of %d x %d is larger than its input of %d x %d",
                            r->path, r->line, v[FILTER_H], v[FILTER_W], v[IN_H], v[IN_W]);
    l->kind = TH_LAYER_CONV;
    l->in_h = v[IN_H];
    l->in_w = v[IN_W];
    l->stride_h = v[STRIDE_H];
    l->stride_w = v[STRIDE_W];
    const int32_t dim[] = {r->batch,
                           v[FILTERS],
                           v[CHANNELS],
                           windows(v[IN_H], v[FILTER_H], v[STRIDE_H]),
                           windows(v[IN_W], v[FILTER_W], v[STRIDE_W]),
                           v[FILTER_H],
                           v[FILTER_W]};
    memcpy(l->dim, dim, sizeof dim);
    return has_ratio ? read_ratio(r, fields[n - 1], l) : 0;
}

static int read_product(const reader *r, char **fields, int n, th_layer *l)
{
    static const char *const what[] = {"layer", "M", "N", "K"};
    int32_t v[PRODUCT_FIELDS];
    if (n != PRODUCT_FIELDS && n != PRODUCT_FIELDS + 1)
        return th_error_set(r->err, "WORK-0064",
                            "%s:%d: %d values: a product has a name, M, N, K and may have a "
                            "sparsity N:M",
                            r->path, r->line, n);
    for (int i = PRODUCT_M; i < PRODUCT_FIELDS; i++)
        if (read_extent(r, what[i], fields[i], &v[i]) < 0)
            return -1;
    l->kind = TH_LAYER_MATMUL;
    l->in_h = v[PRODUCT_M];
    l->in_w = 1;
    const int32_t dim[] = {r->batch, v[PRODUCT_N], v[PRODUCT_K], v[PRODUCT_M], 1, 1, 1};
    memcpy(l->dim, dim, sizeof dim);
    return n > PRODUCT_FIELDS ? read_ratio(r, fields[PRODUCT_FIELDS], l) : 0;
}

/* The workload's own input is that of its first layer; has_own_inputs makes it no matter. */
static int begin_workload(reader *r, const th_layer *l)
{
    char name[NAME_MAX_BYTES + 1];
    const char *slash = strrchr(r->path, '/'), *file = slash ? slash + 1 : r->path;
    const char *dot = strrchr(file, '.');
    int length = dot && dot > file ? (int)(dot - file) : (int)strlen(file);
    snprintf(name, sizeof name, "%.*s", length, file);
    r->w = th_workload_new(
        name, r->path,
        &(th_workload_input){r->batch, l->dim[TH_DIM_C], l->in_h, l->in_w, r->precision}, r->err);
    if (!r->w)
        return -1;
    r->w->has_own_inputs = true;
    return 0;
}

static int read_layer(reader *r, char **fields, int n)
{
    char name[NAME_MAX_BYTES + 16];
    int32_t input = TH_EXTERNAL_INPUT;
    th_layer l = th_layer_over(TH_LAYER_CONV, r->batch, 1, 1, 1, r->precision);
    l.name = name;
    l.inputs = &input;
    l.n_inputs = 1;
    l.line = r->line;
    if ((r->is_product ? read_product : read_convolution)(r, fields, n, &l) < 0 ||
        (!r->w && begin_workload(r, &l) < 0))
        return -1;
    snprintf(name, sizeof name, "%.*s", NAME_MAX_BYTES, fields[NAME][0] ? fields[NAME] : "layer");
    th_workload_make_name(r->w, name, r->line, sizeof name);
    return th_workload_add_layer(r->w, &l, r->err) < 0 ? -1 : 0;
}

/* ---- lines ---- */

static int read_line(reader *r, char *line)
{
    char *fields[MAX_FIELDS];
    int n = split(line, fields);
    if (n < 0)
        return th_error_set(r->err, "WORK-0065", "%s:%d: more than %d values", r->path, r->line,
                            MAX_FIELDS);
    if (n == 0)
        return 0;
    if (r->has_header)
        return read_layer(r, fields, n);
    r->has_header = true;
    r->is_product = n >= PRODUCT_FIELDS && strcasecmp(fields[PRODUCT_M], "M") == 0 &&
                    strcasecmp(fields[PRODUCT_N], "N") == 0 &&
                    strcasecmp(fields[PRODUCT_K], "K") == 0;
    if (r->is_product || (n >= STRIDE_W && (fields[IN_H][0] < '0' || fields[IN_H][0] > '9')))
        return 0;
    return th_error_set(r->err, "WORK-0066",
                        "%s:%d: must be a line of headings: \"Layer name, IFMAP Height, IFMAP "
                        "Width, Filter Height, Filter Width, Channels, Num Filter, Strides\" or "
                        "\"Layer, M, N, K\"",
                        r->path, r->line);
}

static int read_lines(reader *r, char *text)
{
    while (text) {
        char *next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        r->line++;
        if (read_line(r, text) < 0)
            return -1;
        text = next;
    }
    if (!r->w)
        return th_error_set(r->err, "WORK-0067", "%s: no layers: at least one was expected",
                            r->path);
    return th_workload_finish(r->w, r->err);
}

th_workload *th_workload_read_scalesim(const char *path, int32_t batch, th_precision precision,
                                       th_error *err)
{
    reader r = {.path = path, .batch = batch, .precision = precision, .err = err};
    th_strbuf text = TH_STRBUF_INIT;
    int failed = th_text_file_read(path, TH_SCALESIM_TOPOLOGY_MAX, &text, err);
    if (!failed && text.length > TH_SCALESIM_TOPOLOGY_MAX)
        failed = th_error_set(err, "WORK-0068", "%s: more than %d bytes", path,
                              TH_SCALESIM_TOPOLOGY_MAX);
    else if (!failed)
        failed = read_lines(&r, text.text ? text.text : (char[]){""});
    th_strbuf_clear(&text);
    if (!failed)
        return r.w;
    th_workload_free(r.w);
    return NULL;
}
