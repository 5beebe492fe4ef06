/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measurements_read.c - measured times from files of comma-separated values.
 *   th_measurements_read: unpack -> read_header: find_format, { place_column } -> { read_line: numbers,
 *   kind, op -> per column of times: add_row }
 * A format is a list of column names and what each means. A column of times may belong to one device
 * ("time_median_1080ti"); a name of a file may say the kind and the device ("convolution_K40.csv.xz").
 * Invariant: until all is read, rows are added behind n_rows of the target, which does not count them. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/map.h"
#include "base/names.h"
#include "predictor/measurements.h"
#include "predictor/unpack.h"

enum { FILE_MAX = 256 << 20, COLUMNS_MAX = 128 };

/* What a column holds: a field of th_op, or one of these. */
enum {
    IN_BOTH = TH_N_OP_FIELDS,
    KERNEL_BOTH,
    POOL_BOTH, /* the kernel of pooling, where conv has its own column */
    STRIDE_BOTH,
    PAD_SAME, /* 1: as many zeros as keep ceil(input / stride) outputs; 0: none */
    PAD_EACH, /* zeros on each side */
    MATRIX_M, /* M x N by N x K: rows, inner, columns */
    MATRIX_N,
    MATRIX_K,
    KIND,
    DEVICE,
    PHASE,
    ROW_ID,
    GROUP,
    TIME,
    TIME_OF_DEVICE, /* the device's name follows in the column's */
    N_MEANINGS,
    UNUSED = -1
};

typedef struct {
    const char *name;
    int meaning;
    double ms; /* of a unit of TIME */
} known_column;

static const known_column own_columns[] = {
    {"kind", KIND, 0},          {"device", DEVICE, 0},
    {"phase", PHASE, 0},        {"row_id", ROW_ID, 0},
    {"group", GROUP, 0},        {"time_ms", TIME, 1},
    {"time_us", TIME, 1e-3},    {"time_s", TIME, 1e3},
    {"in_size", IN_BOTH, 0},    {"kernel", KERNEL_BOTH, 0},
    {"stride", STRIDE_BOTH, 0}, {"same_padding", PAD_SAME, 0},
    {"padding", PAD_EACH, 0},   {NULL, 0, 0},
};
static const known_column perfnet_columns[] = {
    {"row_id", ROW_ID, 0},
    {"batchsize", TH_OP_BATCH, 0},
    {"matsize", IN_BOTH, 0},
    {"kernelsize", KERNEL_BOTH, 0},
    {"poolsize", POOL_BOTH, 0},
    {"channels_in", TH_OP_CHANNELS_IN, 0},
    {"channels_out", TH_OP_CHANNELS_OUT, 0},
    {"dim_input", TH_OP_CHANNELS_IN, 0},
    {"dim_output", TH_OP_CHANNELS_OUT, 0},
    {"strides", STRIDE_BOTH, 0},
    {"padding", PAD_SAME, 0},
    {"activation_fct", TH_OP_ACTIVATION, 0},
    {"use_bias", TH_OP_BIAS, 0},
    {"optimizer", TH_OP_OPTIMIZER, 0},
    {"device", DEVICE, 0},
    {"network", GROUP, 0},
    {"operation", KIND, 0},
    {"time_median", TIME, 1},
    {"timeUsed_median", TIME, 1},
    {"time_median_", TIME_OF_DEVICE, 1},
    {NULL, 0, 0},
};
static const known_column neusight_columns[] = {
    {"OPName", KIND, 0},
    {"Device", DEVICE, 0},
    {"latency_ms", TIME, 1},
    {"B", TH_OP_BATCH, 0},
    {"H", TH_OP_CHANNELS_IN, 0},
    {"M", MATRIX_M, 0},
    {"N", MATRIX_N, 0},
    {"K", MATRIX_K, 0},
    {"Input_Channel", TH_OP_CHANNELS_IN, 0},
    {"Output_Channel", TH_OP_CHANNELS_OUT, 0},
    {"Kernel_Size", KERNEL_BOTH, 0},
    {"Input_Size", IN_BOTH, 0},
    {"Stride", STRIDE_BOTH, 0},
    {"Padding", PAD_EACH, 0},
    {NULL, 0, 0},
};

/* A format is the first whose mark stands among the columns. */
static const struct {
    const char *name, *mark;
    const known_column *columns;
    th_phase phase;
} formats[] = {
    {"justus", "timeUsed_median", perfnet_columns, TH_PHASE_CALL},
    {"neusight", "latency_ms", neusight_columns, TH_PHASE_EXECUTION},
    {"perfnet", "batchsize", perfnet_columns, TH_PHASE_CALL},
    {"tharsis", NULL, own_columns, TH_PHASE_CALL},
};
enum { N_FORMATS = sizeof formats / sizeof formats[0], OWN = N_FORMATS - 1 };
const char *const th_measurement_formats[] = {"auto",   "tharsis",  "perfnet",
                                              "justus", "neusight", NULL};

/* Other words for kinds, and functions that stand where a kind is meant. */
static const struct {
    const char *word;
    th_op_kind kind;
    th_op_function function;
} kind_words[] = {
    {"convolution", TH_OP_CONV, 0},
    {"Conv2D", TH_OP_CONV, 0},
    {"MaxPooling2D", TH_OP_POOLING, 0},
    {"Dense", TH_OP_DENSE, 0},
    {"linear", TH_OP_DENSE, 0},
    {"bmm", TH_OP_MATMUL, 0},
    {"ln", TH_OP_NORM, 0},
    {"add", TH_OP_ELEMENTWISE, TH_EW_ADD},
    {"mul", TH_OP_ELEMENTWISE, TH_EW_MUL},
    {"div", TH_OP_ELEMENTWISE, TH_EW_DIV},
    {"pow", TH_OP_ELEMENTWISE, TH_EW_POW},
    {"addu", TH_OP_ELEMENTWISE, TH_EW_ADD_NUMBER},
    {"mulu", TH_OP_ELEMENTWISE, TH_EW_MUL_NUMBER},
    {"divu", TH_OP_ELEMENTWISE, TH_EW_DIV_NUMBER},
    {"powu", TH_OP_ELEMENTWISE, TH_EW_POW_NUMBER},
    {"relu", TH_OP_ELEMENTWISE, TH_EW_RELU},
    {"gelu", TH_OP_ELEMENTWISE, TH_EW_GELU},
    {"tanh", TH_OP_ELEMENTWISE, TH_EW_TANH},
};
enum { N_KIND_WORDS = sizeof kind_words / sizeof kind_words[0] };

typedef struct {
    int place; /* in a line */
    int device;
    double ms;
} time_column;

typedef struct {
    th_measurements *m;
    const th_measurement_source *source;
    const th_gpus *known;
    th_csv csv;
    int format;
    const char *column[COLUMNS_MAX]; /* names */
    int place[N_MEANINGS];           /* -1: no such column */
    time_column time[COLUMNS_MAX];
    int n_times;
    int kind, device; /* of all rows; -1: columns say */
    th_op_function function;
    size_t n_rows; /* with those that are new */
    th_error *err;
} reader;

/* --- names ------------------------------------------------------------------------------------ */

static int find_kind(const char *word, size_t n, th_op_function *function)
{
    for (int k = 0; k < TH_N_OP_KINDS; k++) {
        const char *name = th_op_kind_name((th_op_kind)k);
        if (strlen(name) == n && memcmp(name, word, n) == 0)
            return k;
    }
    for (int i = 0; i < N_KIND_WORDS; i++) {
        if (strlen(kind_words[i].word) == n && memcmp(kind_words[i].word, word, n) == 0) {
            *function = kind_words[i].function;
            return (int)kind_words[i].kind;
        }
    }
    return -1;
}

/* The number of a device, which is added if it is new. -1: unknown, or memory is out. */
static int find_device(const reader *r, const char *name)
{
    th_measurements *m = r->m;
    const th_gpu *gpu = th_gpus_find(r->known, name);
    if (!gpu)
        return th_error_set(
            r->err, "PRED-0030",
            "%s:%d: device \"%.60s\": must be one of those described; describe it in a file "
            "of devices",
            r->source->path, r->csv.line, name);
    for (int i = 0; i < m->n_devices; i++)
        if (strcmp(m->device[i].name, gpu->name) == 0)
            return i;
    if (th_grow(&m->device, &m->device_capacity, (size_t)m->n_devices + 1, sizeof *m->device))
        return th_error_no_memory(r->err);
    m->device[m->n_devices] = *gpu;
    return m->n_devices++;
}

static int find_group(const reader *r, const char *network, int32_t batch)
{
    th_measurements *m = r->m;
    char name[120];
    snprintf(name, sizeof name, "%.80s, batch %d", network, batch);
    for (int i = 0; i < m->n_groups; i++)
        if (strcmp(m->group[i], name) == 0)
            return i;
    if (th_grow(&m->group, &m->group_capacity, (size_t)m->n_groups + 1, sizeof *m->group))
        return th_error_no_memory(r->err);
    m->group[m->n_groups] = th_alloc_string(name);
    return m->group[m->n_groups] ? m->n_groups++ : th_error_no_memory(r->err);
}

/* --- columns ---------------------------------------------------------------------------------- */

static bool has_column(const th_csv *c, const char *name)
{
    for (int i = 0; i < c->n_fields; i++)
        if (strcmp(c->field[i], name) == 0)
            return true;
    return false;
}

static int find_format(reader *r)
{
    const char *wanted = r->source->format;
    bool is_auto = !wanted || strcmp(wanted, "auto") == 0;
    for (r->format = 0; r->format < OWN; r->format++)
        if (is_auto ? has_column(&r->csv, formats[r->format].mark)
                    : strcmp(formats[r->format].name, wanted) == 0)
            return 0;
    if (is_auto || strcmp(formats[OWN].name, wanted) == 0)
        return 0;
    return th_error_set(r->err, "PRED-0031",
                        "-format \"%.40s\": must be auto, tharsis, perfnet, justus or neusight",
                        wanted);
}

static const known_column *find_column(const reader *r, const char *name)
{
    const known_column *c = formats[r->format].columns;
    for (; c->name; c++) {
        size_t n = strlen(c->name);
        if (c->meaning == TIME_OF_DEVICE ? strncmp(name, c->name, n) == 0 && name[n] != '\0'
                                         : strcmp(name, c->name) == 0)
            return c;
    }
    return NULL;
}

static int place_time(reader *r, int place, const known_column *c, const char *name)
{
    time_column t = {.place = place, .device = -1, .ms = c->ms};
    if (c->meaning == TIME_OF_DEVICE && (t.device = find_device(r, name + strlen(c->name))) < 0)
        return -1;
    if (r->n_times > 0 && (t.device < 0 || r->time[0].device < 0))
        return th_error_set(r->err, "PRED-0032",
                            "%s:%d: column \"%.40s\": is a second column of times", r->source->path,
                            r->csv.line, name);
    r->time[r->n_times++] = t;
    return 0;
}

static int place_column(reader *r, int place)
{
    const char *name = r->csv.field[place];
    for (int i = 0; i < place; i++)
        if (strcmp(r->csv.field[i], name) == 0)
            return th_error_set(r->err, "PRED-0033", "%s:%d: column \"%.40s\": comes twice",
                                r->source->path, r->csv.line, name);
    for (int i = 0; i < r->source->n_columns; i++)
        if (strcmp(r->source->columns[2 * i], name) == 0)
            name = r->source->columns[2 * i + 1];
    const known_column *c = find_column(r, name);
    int field = -1;
    for (int f = 0; !c && f < TH_N_OP_FIELDS; f++)
        if (r->format == OWN && strcmp(th_op_field_name((th_op_field)f), name) == 0)
            field = f;
    if (c && (c->meaning == TIME || c->meaning == TIME_OF_DEVICE))
        return place_time(r, place, c, name);
    if (c)
        field = c->meaning;
    if (field >= 0 && r->place[field] >= 0)
        return th_error_set(
            r->err, "PRED-0034", "%s:%d: columns \"%.40s\" and \"%.40s\": mean the same",
            r->source->path, r->csv.line, r->column[r->place[field]], r->column[place]);
    if (field >= 0)
        r->place[field] = place;
    return 0;
}

/* "convolution_K40.csv.xz": a kind, and a device where no column tells one. */
static int read_file_name(reader *r)
{
    const char *slash = strrchr(r->source->path, '/'), *name = slash ? slash + 1 : r->source->path;
    size_t n = strcspn(name, "_.");
    if (r->kind < 0 && r->place[KIND] < 0)
        r->kind = find_kind(name, n, &r->function);
    bool is_told = r->device >= 0 || r->place[DEVICE] >= 0 || r->time[0].device >= 0;
    if (is_told || name[n] != '_')
        return 0;
    char device[TH_GPU_NAME_MAX];
    snprintf(device, sizeof device, "%.*s", (int)strcspn(name + n + 1, "_."), name + n + 1);
    if (th_gpus_find(r->known, device))
        r->device = find_device(r, device);
    return 0;
}

static int read_header(reader *r)
{
    if (find_format(r))
        return -1;
    for (int i = 0; i < N_MEANINGS; i++)
        r->place[i] = -1;
    if (r->csv.n_fields > COLUMNS_MAX)
        return th_error_set(r->err, "PRED-0035", "%s:%d: must have %d columns at most",
                            r->source->path, r->csv.line, COLUMNS_MAX);
    memcpy(r->column, r->csv.field, (size_t)r->csv.n_fields * sizeof *r->column);
    for (int i = 0; i < r->csv.n_fields; i++)
        if (place_column(r, i))
            return -1;
    if (r->n_times == 0)
        return th_error_set(r->err, "PRED-0036",
                            "%s:%d: must have a column of times (time_ms, or that of the format)",
                            r->source->path, r->csv.line);
    if (read_file_name(r))
        return -1;
    if (r->kind < 0 && r->place[KIND] < 0)
        return th_error_set(r->err, "PRED-0037",
                            "%s: -kind: must be told, for neither a column nor the "
                            "file's name does",
                            r->source->path);
    if (r->device < 0 && r->place[DEVICE] < 0 && r->time[0].device < 0)
        return th_error_set(r->err, "PRED-0038",
                            "%s: -device: must be told, for neither a column nor the "
                            "file's name does",
                            r->source->path);
    return 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

static const char *field_of(const reader *r, int meaning)
{
    return r->place[meaning] < 0 ? NULL : r->csv.field[r->place[meaning]];
}

/* A number from 0, or a word of the field; an empty field is 0. -1: neither. */
static int64_t value_of(const reader *r, int meaning)
{
    const char *text = field_of(r, meaning);
    if (!text || *text == '\0')
        return 0;
    if (meaning < TH_N_OP_FIELDS)
        return th_op_value((th_op_field)meaning, text);
    char *end;
    long long value = strtoll(text, &end, 10);
    return *end == '\0' && value >= 0 && value <= INT32_MAX ? value : -1;
}

static int bad_value(const reader *r, int meaning)
{
    return th_error_set(r->err, "PRED-0039",
                        "%s:%d: %s \"%.40s\": must be a whole number, 0 or more, or a "
                        "word of it",
                        r->source->path, r->csv.line, r->column[r->place[meaning]],
                        field_of(r, meaning));
}

static void set_both(th_op *op, th_op_field h, th_op_field w, int64_t value)
{
    op->x[h] = op->x[w] = (int32_t)value;
}

static void set_padding(th_op *op, const int64_t *v)
{
    static const th_op_field axes[][4] = {
        {TH_OP_PAD_H, TH_OP_IN_H, TH_OP_KERNEL_H, TH_OP_STRIDE_H},
        {TH_OP_PAD_W, TH_OP_IN_W, TH_OP_KERNEL_W, TH_OP_STRIDE_W},
    };
    for (int i = 0; i < 2; i++) {
        const th_op_field *a = axes[i];
        if (v[PAD_SAME] == 1 && op->x[a[3]] > 0)
            op->x[a[0]] = th_op_same_padding(op->x[a[1]], op->x[a[2]], op->x[a[3]]);
        else if (v[PAD_EACH] > 0 && v[PAD_EACH] < INT32_MAX / 2)
            op->x[a[0]] = 2 * (int32_t)v[PAD_EACH];
    }
}

/* M x N by N x K; of a dense layer the batch is part of M. */
static void set_matrix(th_op *op, const int64_t *v)
{
    op->x[TH_OP_CHANNELS_IN] = (int32_t)v[MATRIX_N];
    op->x[TH_OP_CHANNELS_OUT] = (int32_t)v[MATRIX_K];
    if (op->kind == TH_OP_DENSE)
        op->x[TH_OP_BATCH] = v[MATRIX_M] * v[TH_OP_BATCH] <= INT32_MAX
                                 ? (int32_t)(v[MATRIX_M] * v[TH_OP_BATCH])
                                 : INT32_MAX;
    else
        op->x[TH_OP_ROWS] = (int32_t)v[MATRIX_M];
}

static int read_kind(const reader *r, th_op *op)
{
    th_op_function function = r->function;
    const char *text = field_of(r, KIND);
    int kind = text ? find_kind(text, strlen(text), &function) : r->kind;
    if (kind < 0)
        return th_error_set(r->err, "PRED-0040",
                            "%s:%d: kind \"%.40s\": must be one of conv, pooling, dense, "
                            "matmul, elementwise, norm, softmax",
                            r->source->path, r->csv.line, text);
    *op = (th_op){.kind = (th_op_kind)kind};
    op->x[TH_OP_FUNCTION] = (int32_t)function;
    return 0;
}

static int read_op(const reader *r, th_op *op)
{
    int64_t v[N_MEANINGS];
    th_error e;
    if (read_kind(r, op))
        return -1;
    for (int i = 0; i < KIND; i++)
        if ((v[i] = value_of(r, i)) < 0)
            return bad_value(r, i);
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        if (r->place[f] >= 0 && th_op_has(op->kind, (th_op_field)f))
            op->x[f] = (int32_t)v[f];
    if (th_op_has(op->kind, TH_OP_IN_H)) {
        if (r->place[IN_BOTH] >= 0)
            set_both(op, TH_OP_IN_H, TH_OP_IN_W, v[IN_BOTH]);
        if (r->place[KERNEL_BOTH] >= 0)
            set_both(op, TH_OP_KERNEL_H, TH_OP_KERNEL_W, v[KERNEL_BOTH]);
        if (r->place[POOL_BOTH] >= 0 && op->kind == TH_OP_POOLING)
            set_both(op, TH_OP_KERNEL_H, TH_OP_KERNEL_W, v[POOL_BOTH]);
        if (r->place[STRIDE_BOTH] >= 0)
            set_both(op, TH_OP_STRIDE_H, TH_OP_STRIDE_W, v[STRIDE_BOTH]);
        set_padding(op, v);
    }
    if (r->place[MATRIX_M] >= 0)
        set_matrix(op, v);
    if (th_op_check(op, &e))
        return th_error_set(r->err, e.id, "%s:%d: %s", r->source->path, r->csv.line, e.text);
    return 0;
}

static int read_phase(const reader *r, const th_op *op, th_phase *out)
{
    const char *text = field_of(r, PHASE);
    if (!text)
        text = r->source->phase;
    int phase = text ? th_phase_find(text) : (int)formats[r->format].phase;
    if (phase < 0)
        return th_error_set(r->err, "PRED-0041",
                            "%s:%d: phase \"%.40s\": must be one of call, execution, step, "
                            "pre, post, forward, backward, loss, update",
                            r->source->path, r->csv.line, text);
    bool is_step = !text && op->x[TH_OP_OPTIMIZER] != TH_OPTIMIZER_NONE;
    *out = is_step ? TH_PHASE_STEP : (th_phase)phase;
    return 0;
}

static int read_time(const reader *r, const time_column *t, const char *text, double *ms)
{
    char *end;
    *ms = strtod(text, &end) * t->ms;
    if (end != text && *end == '\0' && *ms > 0 && isfinite(*ms))
        return 0;
    return th_error_set(r->err, "PRED-0042", "%s:%d: time \"%.40s\": must be a number above 0",
                        r->source->path, r->csv.line, text);
}

static int add_row(reader *r, const time_column *t, th_measurement *row)
{
    th_measurements *m = r->m;
    const char *text = r->csv.field[t->place], *device = field_of(r, DEVICE);
    if (*text == '\0')
        return 0;
    if (read_time(r, t, text, &row->ms))
        return -1;
    row->device = t->device >= 0 ? t->device : device ? find_device(r, device) : r->device;
    if (row->device < 0)
        return -1;
    if (th_grow(&m->row, &m->row_capacity, r->n_rows + 1, sizeof *m->row))
        return th_error_no_memory(r->err);
    m->row[r->n_rows++] = *row;
    return 0;
}

static int read_line(reader *r, int n_columns)
{
    th_measurement row = {.group = -1, .row_id = (int64_t)r->n_rows};
    const char *network = field_of(r, GROUP);
    if (r->csv.n_fields != n_columns)
        return th_error_set(r->err, "PRED-0043",
                            "%s:%d: must have %d fields as the first line, has %d", r->source->path,
                            r->csv.line, n_columns, r->csv.n_fields);
    if (read_op(r, &row.op) || read_phase(r, &row.op, &row.phase))
        return -1;
    if (r->place[ROW_ID] >= 0 && (row.row_id = value_of(r, ROW_ID)) < 0)
        return bad_value(r, ROW_ID);
    if (network && (row.group = find_group(r, network, row.op.x[TH_OP_BATCH])) < 0)
        return -1;
    for (int i = 0; i < r->n_times; i++)
        if (add_row(r, &r->time[i], &row))
            return -1;
    return 0;
}

static int read_lines(reader *r)
{
    int status = th_csv_next(&r->csv), n_columns = r->csv.n_fields;
    if (status == 0)
        return th_error_set(r->err, "PRED-0044", "%s: must have a line of column names",
                            r->source->path);
    if (status < 0)
        return th_error_no_memory(r->err);
    if (read_header(r))
        return -1;
    while ((status = th_csv_next(&r->csv)) > 0)
        if (read_line(r, n_columns))
            return -1;
    return status < 0 ? th_error_no_memory(r->err) : 0;
}

static int read_source(reader *r)
{
    const char *kind = r->source->kind, *device = r->source->device;
    if (kind && (r->kind = find_kind(kind, strlen(kind), &r->function)) < 0)
        return th_error_set(r->err, "PRED-0045",
                            "-kind \"%.40s\": must be one of conv, pooling, dense, matmul, "
                            "elementwise, norm, softmax",
                            kind);
    if (device && (r->device = find_device(r, device)) < 0)
        return -1;
    return 0;
}

static uint64_t digest_of(const th_measurements *m, size_t from, size_t to)
{
    uint64_t h = m->digest;
    for (size_t i = from; i < to; i++) {
        const th_measurement *row = &m->row[i];
        const char *device = m->device[row->device].name;
        const int32_t head[] = {(int32_t)row->op.kind, (int32_t)row->phase};
        h = th_hash(head, sizeof head, h);
        h = th_hash(row->op.x, sizeof row->op.x, h);
        h = th_hash(device, strlen(device), h);
        h = th_hash(&row->ms, sizeof row->ms, h);
    }
    return h;
}

int th_measurements_read(th_measurements *m, const th_measurement_source *s, const th_gpus *known,
                         th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    reader r = {.m = m,
                .source = s,
                .known = known,
                .kind = -1,
                .device = -1,
                .n_rows = m->n_rows,
                .err = err};
    int32_t n_devices = m->n_devices, n_groups = m->n_groups;
    r.time[0].device = -1;
    int failed = th_unpack_file(s->path, FILE_MAX, &text, err);
    r.csv = th_csv_open(text.text);
    if (!failed)
        failed = read_source(&r) || read_lines(&r) ? -1 : 0;
    th_csv_clear(&r.csv);
    th_strbuf_clear(&text);
    if (!failed) {
        m->digest = digest_of(m, m->n_rows, r.n_rows);
        m->n_rows = r.n_rows;
        return 0;
    }
    for (int32_t i = n_groups; i < m->n_groups; i++)
        th_free(m->group[i]);
    m->n_groups = n_groups;
    m->n_devices = n_devices;
    return -1;
}
