/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measurements_header.c - interprets the columns of a file of measurements.
 *   th_measurement_defaults -> th_measurement_header: find_format -> { place_column } ->
 *   read_file_name
 * A format is a list of column names and their meanings. A column of times may belong to one device
 * ("time_median_1080ti"); the name of a file may give the kind and the device
 * ("convolution_K40.csv.xz"). */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/names.h"
#include "predictor/data/measurements_text.h"

typedef struct {
    const char *name;
    int meaning;
    const char *unit; /* of TIME; NULL: the name says none */
} known_column;

static const known_column own_columns[] = {
    {"kind", KIND, NULL},
    {"device", DEVICE, NULL},
    {"phase", PHASE, NULL},
    {"row_id", ROW_ID, NULL},
    {"group", GROUP, NULL},
    {"members", MEMBERS, NULL},
    {"time_ms", TIME, "ms"},
    {"time_us", TIME, "us"},
    {"time_s", TIME, "s"},
    {"time_ns", TIME, "ns"},
    {"time", TIME, NULL},
    {"in_size", IN_BOTH, NULL},
    {"kernel", KERNEL_BOTH, NULL},
    {"stride", STRIDE_BOTH, NULL},
    {"same_padding", PAD_SAME, NULL},
    {"padding", PAD_EACH, NULL},
    {NULL, 0, NULL},
};
static const known_column perfnet_columns[] = {
    {"row_id", ROW_ID, NULL},
    {"batchsize", TH_OP_BATCH, NULL},
    {"matsize", IN_BOTH, NULL},
    {"kernelsize", KERNEL_BOTH, NULL},
    {"poolsize", POOL_BOTH, NULL},
    {"channels_in", TH_OP_CHANNELS_IN, NULL},
    {"channels_out", TH_OP_CHANNELS_OUT, NULL},
    {"dim_input", TH_OP_CHANNELS_IN, NULL},
    {"dim_output", TH_OP_CHANNELS_OUT, NULL},
    {"strides", STRIDE_BOTH, NULL},
    {"padding", PAD_SAME, NULL},
    {"activation_fct", TH_OP_ACTIVATION, NULL},
    {"use_bias", TH_OP_BIAS, NULL},
    {"optimizer", TH_OP_OPTIMIZER, NULL},
    {"device", DEVICE, NULL},
    {"network", GROUP, NULL},
    {"operation", KIND, NULL},
    {"time_median", TIME, NULL},
    {"timeUsed_median", TIME, NULL},
    {"time_median_", TIME_OF_DEVICE, NULL},
    {NULL, 0, NULL},
};
static const known_column neusight_columns[] = {
    {"OPName", KIND, NULL},
    {"Device", DEVICE, NULL},
    {"latency_ms", TIME, "ms"},
    {"B", TH_OP_BATCH, NULL},
    {"H", TH_OP_CHANNELS_IN, NULL},
    {"M", MATRIX_M, NULL},
    {"N", MATRIX_N, NULL},
    {"K", MATRIX_K, NULL},
    {"Input_Channel", TH_OP_CHANNELS_IN, NULL},
    {"Output_Channel", TH_OP_CHANNELS_OUT, NULL},
    {"Kernel_Size", KERNEL_BOTH, NULL},
    {"Input_Size", IN_BOTH, NULL},
    {"Stride", STRIDE_BOTH, NULL},
    {"Padding", PAD_EACH, NULL},
    {NULL, 0, NULL},
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

static const struct {
    const char *name;
    double ms;
} units[] = {{"ms", 1}, {"us", 1e-3}, {"s", 1e3}, {"ns", 1e-6}};
enum { N_UNITS = sizeof units / sizeof units[0] };
const char *const th_measurement_units[] = {"ms", "us", "s", "ns", NULL};

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

/* --- names ------------------------------------------------------------------------------------ */

int th_measurement_kind(const char *word, size_t n, th_op_function *function)
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

/* Before a line was read, it is the caller's. */
static int fail_not_described(const measurement_reader *r, const char *name)
{
    char line[16] = "", series[300];
    if (r->csv.line > 0)
        th_print(line, sizeof line, ":%d", r->csv.line);
    th_gpus_describe_series(r->gpus, name, series, sizeof series);
    return th_error_set(r->err, "PRED-0030",
                        "%s%s: device \"%.60s\": must be one of those described; describe it in a "
                        "file of devices%s",
                        r->source->path, line, name, series);
}

int th_measurement_device(const measurement_reader *r, const char *name)
{
    th_measurements *m = r->m;
    const th_gpu *gpu = th_gpus_find(r->gpus, name);
    if (!gpu)
        return fail_not_described(r, name);
    for (int i = 0; i < m->n_devices; i++)
        if (strcmp(m->device[i].name, gpu->name) == 0)
            return i;
    if (th_grow(&m->device, &m->device_capacity, (size_t)m->n_devices + 1, sizeof *m->device))
        return th_error_no_memory(r->err);
    m->device[m->n_devices] = *gpu;
    return m->n_devices++;
}

/* --- columns ---------------------------------------------------------------------------------- */

static bool has_column(const th_csv *c, const char *name)
{
    for (int i = 0; i < c->n_fields; i++)
        if (strcmp(c->field[i], name) == 0)
            return true;
    return false;
}

static int find_format(const measurement_reader *r)
{
    const char *wanted = r->source->format;
    bool is_auto = !wanted || strcmp(wanted, "auto") == 0;
    int f = 0;
    while (f < OWN &&
           (is_auto ? !has_column(&r->csv, formats[f].mark) : strcmp(formats[f].name, wanted) != 0))
        f++;
    return f;
}

static const known_column *find_column(const measurement_reader *r, const char *name)
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

static double ms_of(const char *unit)
{
    for (int i = 0; i < N_UNITS; i++)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].ms;
    return 1;
}

/* Into *ms, what column c of times is in; 0, or -1 where that is unknown. */
static int unit_of_times(const measurement_reader *r, const known_column *c, double *ms)
{
    const char *given = r->source->units;
    if (c->unit && given && strcmp(c->unit, given) != 0)
        return th_error_set(r->err, "PRED-0153", "%s:%d: -units %s: column \"%s\" is in %s",
                            r->source->path, r->csv.line, given, c->name, c->unit);
    if (!c->unit && !given && r->format == OWN)
        return th_error_set(r->err, "PRED-0155",
                            "%s:%d: column \"%s\": must say its unit (time_ms, time_us, time_s, "
                            "time_ns), or -units",
                            r->source->path, r->csv.line, c->name);
    *ms = ms_of(c->unit ? c->unit : given ? given : "ms");
    return 0;
}

static int second_times(const measurement_reader *r, int place)
{
    return th_error_set(
        r->err, "PRED-0032",
        "%s:%d: columns \"%.40s\" and \"%.40s\": are both times; -columns {\"%.40s\" -} "
        "leaves one out",
        r->source->path, r->csv.line, r->column[r->time[0].place], r->column[place],
        r->column[place]);
}

static int place_time(measurement_reader *r, int place, const known_column *c, const char *name)
{
    time_column t = {.place = place, .device = -1};
    if (unit_of_times(r, c, &t.ms))
        return -1;
    if (c->meaning == TIME_OF_DEVICE &&
        (t.device = th_measurement_device(r, name + strlen(c->name))) < 0)
        return -1;
    for (int i = 0; i < r->n_times; i++)
        if (t.device < 0 || r->time[i].device < 0 || r->time[i].device == t.device)
            return second_times(r, place);
    r->time[r->n_times++] = t;
    return 0;
}

/* What -columns calls the column; its own name otherwise. */
static const char *name_of(const measurement_reader *r, int place)
{
    const char *name = r->column[place];
    for (int i = 0; i < r->source->n_columns; i++)
        if (strcmp(r->source->columns[2 * i], name) == 0)
            return r->source->columns[2 * i + 1];
    return name;
}

/* The number of the operation that a name of format tharsis stands for; -1: none. */
static int find_field(const measurement_reader *r, const char *name)
{
    for (int f = 0; r->format == OWN && f < TH_N_OP_FIELDS; f++)
        if (strcmp(th_op_field_name((th_op_field)f), name) == 0)
            return f;
    return -1;
}

static int place_column(measurement_reader *r, int place)
{
    const char *name = name_of(r, place);
    const known_column *c = find_column(r, name);
    if (c && (c->meaning == TIME || c->meaning == TIME_OF_DEVICE))
        return place_time(r, place, c, name);
    int meaning = c ? c->meaning : find_field(r, name);
    if (meaning >= 0 && r->place[meaning] >= 0)
        return th_error_set(
            r->err, "PRED-0034", "%s:%d: columns \"%.40s\" and \"%.40s\": mean the same",
            r->source->path, r->csv.line, r->column[r->place[meaning]], r->column[place]);
    if (meaning >= 0)
        r->place[meaning] = place;
    return 0;
}

/* Names that -columns speaks of. */
static int check_columns_option(const measurement_reader *r)
{
    for (int i = 0; i < r->source->n_columns; i++) {
        const char *theirs = r->source->columns[2 * i], *ours = r->source->columns[2 * i + 1];
        if (!has_column(&r->csv, theirs))
            return th_error_set(r->err, "PRED-0156",
                                "%s:%d: -columns: there is no column \"%.40s\"", r->source->path,
                                r->csv.line, theirs);
        if (strcmp(ours, "-") != 0 && !find_column(r, ours) && find_field(r, ours) < 0)
            return th_error_set(r->err, "PRED-0157",
                                "-columns: \"%.40s\": must be \"-\" or a column of format %s", ours,
                                formats[r->format].name);
    }
    return 0;
}

/* "convolution_K40.csv.xz": a kind, and a device where no column tells one. */
static int read_file_name(measurement_reader *r)
{
    const char *slash = strrchr(r->source->path, '/'), *name = slash ? slash + 1 : r->source->path;
    size_t n = strcspn(name, "_.");
    if (r->kind < 0 && r->place[KIND] < 0)
        r->kind = th_measurement_kind(name, n, &r->function);
    bool is_given = r->device >= 0 || r->place[DEVICE] >= 0 || r->time[0].device >= 0;
    if (is_given || name[n] != '_')
        return 0;
    char device[TH_GPU_NAME_MAX];
    snprintf(device, sizeof device, "%.*s", (int)strcspn(name + n + 1, "_."), name + n + 1);
    if (th_gpus_find(r->gpus, device))
        r->device = th_measurement_device(r, device);
    return 0;
}

/* Kind and device, if columns do not give them. */
static int check_given(measurement_reader *r)
{
    if (read_file_name(r))
        return -1;
    if (r->kind < 0 && r->place[KIND] < 0)
        return th_error_set(r->err, "PRED-0037",
                            "%s: -kind: is required: neither a column nor the "
                            "file's name gives it",
                            r->source->path);
    if (r->device < 0 && r->place[DEVICE] < 0 && r->time[0].device < 0)
        return th_error_set(r->err, "PRED-0038",
                            "%s: -device: is required: neither a column nor the "
                            "file's name gives it",
                            r->source->path);
    return 0;
}

/* All columns that are neither read nor named in -columns to be left out. */
static void note_unread(const measurement_reader *r)
{
    int place[N_MEANINGS + 2 * MEASUREMENT_COLUMNS_MAX], n = N_MEANINGS;
    memcpy(place, r->place, sizeof r->place);
    for (int i = 0; i < r->n_times; i++)
        place[n++] = r->time[i].place;
    for (int f = 0; f < r->csv.n_fields; f++)
        if (strcmp(name_of(r, f), "-") == 0)
            place[n++] = f;
    th_csv_note_others(&r->csv, place, n, r->source->notes);
}

int th_measurement_header(measurement_reader *r)
{
    r->format = find_format(r);
    r->phase = formats[r->format].phase;
    for (int i = 0; i < N_MEANINGS; i++)
        r->place[i] = -1;
    if (r->csv.n_fields > MEASUREMENT_COLUMNS_MAX)
        return th_error_set(r->err, "PRED-0035", "%s:%d: must have %d columns at most",
                            r->source->path, r->csv.line, MEASUREMENT_COLUMNS_MAX);
    memcpy(r->column, r->csv.field, (size_t)r->csv.n_fields * sizeof *r->column);
    if (th_csv_place(&r->csv, (const char *const[]){NULL}, 0, NULL, NULL, r->err))
        return -1;
    if (check_columns_option(r))
        return -1;
    for (int i = 0; i < r->csv.n_fields; i++)
        if (place_column(r, i))
            return -1;
    if (r->n_times == 0)
        return th_error_set(r->err, "PRED-0036",
                            "%s:%d: must have a column of times (time_ms, or that of the format)",
                            r->source->path, r->csv.line);
    note_unread(r);
    return check_given(r);
}

int th_measurement_defaults(measurement_reader *r)
{
    const char *kind = r->source->kind, *device = r->source->device;
    if (kind)
        r->kind = th_op_kind_find(kind);
    if (device)
        r->device = th_measurement_device(r, device);
    return device && r->device < 0 ? -1 : 0;
}
