/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measurements_read.c - measured times from files of comma-separated values.
 *   th_measurements_read: unpack -> th_measurement_header -> { read_line: numbers, kind, op,
 *   members -> per column of times: add_row }
 * Invariant: until the whole file is read, n_rows of the target does not include its rows. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "predictor/data/measurements_text.h"
#include "predictor/data/decompress.h"
#include "predictor/op/members.h"

enum { FILE_MAX = 256 << 20 };

static int find_group(const measurement_reader *r, const char *network, int32_t batch)
{
    th_measurements *m = r->m;
    char name[120];
    th_print(name, sizeof name, "%.80s, batch %d", network, batch);
    for (int i = 0; i < m->n_groups; i++)
        if (strcmp(m->group[i], name) == 0)
            return i;
    if (th_grow(&m->group, &m->group_capacity, (size_t)m->n_groups + 1, sizeof *m->group))
        return th_error_no_memory(r->err);
    m->group[m->n_groups] = th_alloc_string(name);
    return m->group[m->n_groups] ? m->n_groups++ : th_error_no_memory(r->err);
}

/* --- lines ------------------------------------------------------------------------------------ */

static const char *field_of(const measurement_reader *r, int meaning)
{
    return r->place[meaning] < 0 ? NULL : r->csv.field[r->place[meaning]];
}

/* A number from 0, or a word of the field; an empty field is 0. -1: neither. */
static int64_t value_of(const measurement_reader *r, int meaning)
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

static int bad_value(const measurement_reader *r, int meaning)
{
    return th_error_set(r->err, "PRED-0039",
                        "%s:%d: %s \"%.40s\": must be a whole number, 0 or more, or a "
                        "word of it",
                        r->source->path, r->csv.line, r->column[r->place[meaning]],
                        field_of(r, meaning));
}

static int fail_at_line(const measurement_reader *r, const th_error *e)
{
    return th_error_set(r->err, e->id, "%s:%d: %s", r->source->path, r->csv.line, e->text);
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

static int read_kind(const measurement_reader *r, th_op *op)
{
    th_op_function function = r->function;
    const char *text = field_of(r, KIND);
    int kind = text ? th_measurement_kind(text, strlen(text), &function) : r->kind;
    if (kind < 0)
        return th_error_set(r->err, "PRED-0040",
                            "%s:%d: kind \"%.40s\": must be one of conv, pooling, dense, "
                            "matmul, elementwise, norm, softmax, rms_norm, cross_entropy, "
                            "router, attention, experts",
                            r->source->path, r->csv.line, text);
    *op = (th_op){.kind = (th_op_kind)kind};
    op->x[TH_OP_FUNCTION] = (int32_t)function;
    return 0;
}

/* Columns of both axes; a later one goes before. */
static const struct {
    th_op_field h, w;
    int meaning;
} both[] = {{TH_OP_IN_H, TH_OP_IN_W, IN_BOTH},
            {TH_OP_KERNEL_H, TH_OP_KERNEL_W, KERNEL_BOTH},
            {TH_OP_KERNEL_H, TH_OP_KERNEL_W, POOL_BOTH},
            {TH_OP_STRIDE_H, TH_OP_STRIDE_W, STRIDE_BOTH}};
enum { N_BOTH = sizeof both / sizeof both[0] };

static bool has_both(const measurement_reader *r, th_op_kind kind, int i)
{
    return r->place[both[i].meaning] >= 0 &&
           (both[i].meaning != POOL_BOTH || kind == TH_OP_POOLING);
}

/* Is there a column that gives this number of the operation? */
static bool is_given(const measurement_reader *r, th_op_kind kind, th_op_field f)
{
    for (int i = 0; i < N_BOTH; i++)
        if ((both[i].h == f || both[i].w == f) && has_both(r, kind, i))
            return true;
    int matrix = f == TH_OP_ROWS           ? MATRIX_M
                 : f == TH_OP_CHANNELS_IN  ? MATRIX_N
                 : f == TH_OP_CHANNELS_OUT ? MATRIX_K
                                           : (int)f;
    return r->place[f] >= 0 || r->place[matrix] >= 0;
}

static bool has_members(const measurement_reader *r)
{
    const char *text = field_of(r, MEMBERS);
    return text && *text != '\0';
}

/* Numbers that an operation cannot do without; of members follow their number and their mean. */
static int check_columns(const measurement_reader *r, const th_op *op)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        if (th_op_has(op->kind, (th_op_field)f) && th_op_field_min((th_op_field)f) > 0 &&
            !is_given(r, op->kind, (th_op_field)f) &&
            !(has_members(r) && (f == TH_OP_BATCH || f == th_op_member_field(op->kind))))
            return th_error_set(r->err, "PRED-0151", "%s:%d: %s: must have a column of %s",
                                r->source->path, r->csv.line, th_op_kind_name(op->kind),
                                th_op_field_name((th_op_field)f));
    return 0;
}

static int read_op(const measurement_reader *r, th_op *op)
{
    int64_t v[N_MEANINGS];
    if (read_kind(r, op) || check_columns(r, op))
        return -1;
    for (int i = 0; i < KIND; i++)
        if ((v[i] = value_of(r, i)) < 0)
            return bad_value(r, i);
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        if (r->place[f] >= 0 && th_op_has(op->kind, (th_op_field)f))
            op->x[f] = (int32_t)v[f];
    if (th_op_has(op->kind, TH_OP_IN_H)) {
        for (int i = 0; i < N_BOTH; i++)
            if (has_both(r, op->kind, i))
                op->x[both[i].h] = op->x[both[i].w] = (int32_t)v[both[i].meaning];
        set_padding(op, v);
    }
    if (r->place[MATRIX_M] >= 0)
        set_matrix(op, v);
    return 0;
}

/* "512 0 37": numbers divided by blanks, behind those of the rows before. How many; -1: something
 * else is there. */
static int32_t read_members(measurement_reader *r)
{
    const char *at = field_of(r, MEMBERS);
    th_measurements *m = r->m;
    char *end;
    size_t n = r->n_members;
    for (at += strspn(at, " "); *at; at = end + strspn(end, " ")) {
        long number = strtol(at, &end, 10);
        if (end == at || !strchr(" ", *end) || number < 0 || number > INT32_MAX ||
            n - r->n_members >= TH_OP_EXTENT_MAX)
            return th_error_set(r->err, "PRED-0180",
                                "%s:%d: members \"%.40s\": must be whole numbers, 0 or more, "
                                "divided by blanks",
                                r->source->path, r->csv.line, field_of(r, MEMBERS));
        if (th_grow(&m->member, &m->member_capacity, n + 1, sizeof *m->member))
            return th_error_no_memory(r->err);
        m->member[n++] = (int32_t)number;
    }
    return (int32_t)(n - r->n_members);
}

/* A number that members have already told must be theirs, or not be there. */
static int check_told(const measurement_reader *r, const th_op *told, const th_op *op)
{
    const int told_fields[] = {TH_OP_BATCH, th_op_member_field(op->kind)};
    for (int i = 0; i < 2; i++) {
        th_op_field f = (th_op_field)told_fields[i];
        if (told->x[f] != 0 && told->x[f] != op->x[f])
            return th_error_set(
                r->err, "PRED-0181", "%s:%d: %s %d: must be %d, as members tell, or empty",
                r->source->path, r->csv.line, th_op_field_name(f), told->x[f], op->x[f]);
    }
    return 0;
}

static int add_members(measurement_reader *r, th_measurement *row)
{
    th_op told = row->op;
    th_error e;
    int32_t n = read_members(r);
    if (n < 0)
        return -1;
    const int32_t *first = r->m->member + r->n_members;
    if (th_op_set_members(&row->op, first, n, &e))
        return fail_at_line(r, &e);
    row->n_members = n;
    row->first_member = r->n_members;
    r->n_members += (size_t)n;
    return check_told(r, &told, &row->op);
}

static int check_op(const measurement_reader *r, const th_op *op)
{
    th_error e;
    return th_op_check(op, &e) ? fail_at_line(r, &e) : 0;
}

static int read_phase(const measurement_reader *r, const th_op *op, th_phase *out)
{
    const char *text = field_of(r, PHASE);
    if (!text)
        text = r->source->phase;
    int phase = text ? th_phase_find(text) : (int)r->phase;
    if (phase < 0)
        return th_error_set(r->err, "PRED-0041",
                            "%s:%d: phase \"%.40s\": must be one of call, execution, step, "
                            "pre, post, forward, backward, loss, update",
                            r->source->path, r->csv.line, text);
    bool is_step = !text && op->x[TH_OP_OPTIMIZER] != TH_OPTIMIZER_NONE;
    *out = is_step ? TH_PHASE_STEP : (th_phase)phase;
    return 0;
}

static int read_time(const measurement_reader *r, const time_column *t, const char *text,
                     double *ms)
{
    char *end;
    *ms = strtod(text, &end) * t->ms;
    if (end != text && *end == '\0' && *ms > 0 && isfinite(*ms))
        return 0;
    return th_error_set(r->err, "PRED-0042", "%s:%d: time \"%.40s\": must be a number above 0%s",
                        r->source->path, r->csv.line, text,
                        *ms > 0 && end != text ? ", without a unit" : "");
}

static int add_row(measurement_reader *r, const time_column *t, th_measurement *row)
{
    th_measurements *m = r->m;
    const char *text = r->csv.field[t->place], *device = field_of(r, DEVICE);
    if (*text == '\0') {
        th_lines_count(&r->without_time, r->csv.line);
        return 0;
    }
    if (read_time(r, t, text, &row->ms))
        return -1;
    row->device = t->device >= 0 ? t->device
                  : device       ? th_measurement_device(r, device)
                                 : r->device;
    th_error e;
    if (row->device < 0)
        return -1;
    if (th_gpu_check_precision(&m->device[row->device], (th_op_precision)row->op.x[TH_OP_PRECISION],
                               &e))
        return fail_at_line(r, &e);
    if (th_grow(&m->row, &m->row_capacity, r->n_rows + 1, sizeof *m->row))
        return th_error_no_memory(r->err);
    m->row[r->n_rows++] = *row;
    return 0;
}

static int read_line(measurement_reader *r)
{
    th_measurement row = {.group = -1, .row_id = (int64_t)r->n_rows};
    const char *network = field_of(r, GROUP);
    if (read_op(r, &row.op) || (has_members(r) && add_members(r, &row)) || check_op(r, &row.op) ||
        read_phase(r, &row.op, &row.phase))
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

static int read_lines(measurement_reader *r)
{
    int status;
    if (th_csv_first(&r->csv, r->err) || th_measurement_header(r))
        return -1;
    while ((status = th_csv_row(&r->csv, r->err)) > 0)
        if (read_line(r))
            return -1;
    th_note_lines(r->source->notes, &r->without_time, "without a time");
    th_csv_note_cut(&r->csv, r->source->notes);
    return status;
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
        if (row->n_members > 0)
            h = th_hash(m->member + row->first_member, (size_t)row->n_members * sizeof *m->member,
                        h);
        h = th_hash(&row->ms, sizeof row->ms, h);
    }
    return h;
}

int th_measurements_text(const char *path, th_strbuf *text, th_error *err)
{
    return th_decompress_file(path, FILE_MAX, text, err);
}

int th_measurements_read(th_measurements *m, const th_measurement_source *s, const th_gpus *gpus,
                         th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    measurement_reader r = {.m = m,
                            .source = s,
                            .gpus = gpus,
                            .kind = -1,
                            .device = -1,
                            .n_rows = m->n_rows,
                            .n_members = m->n_members,
                            .err = err};
    int32_t n_devices = m->n_devices, n_groups = m->n_groups;
    r.time[0].device = -1;
    int failed = 0;
    if (s->text) {
        text = *s->text;
        *s->text = (th_strbuf)TH_STRBUF_INIT;
    } else {
        failed = th_measurements_text(s->path, &text, err);
    }
    r.csv = th_csv_open(s->path, text.text);
    if (!failed)
        failed = th_measurement_defaults(&r) || read_lines(&r) ? -1 : 0;
    th_csv_clear(&r.csv);
    th_strbuf_clear(&text);
    if (!failed) {
        m->digest = digest_of(m, m->n_rows, r.n_rows);
        m->n_rows = r.n_rows;
        m->n_members = r.n_members;
        return 0;
    }
    for (int32_t i = n_groups; i < m->n_groups; i++)
        th_free(m->group[i]);
    m->n_groups = n_groups;
    m->n_devices = n_devices;
    return -1;
}
