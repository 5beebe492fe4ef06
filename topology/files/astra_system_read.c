/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_system_read.c - the parameters of ASTRA-sim's system layer from system.json, through
 * jansson.
 *
 *   read the text -> check its size -> parse -> every key against the table below
 * A key is either read; or ignored, if it does not affect the time of collectives and messages; or,
 * if it would change that time in a way that is not modelled, its value must be the neutral one.
 * Any other key is an error. jansson limits its depth to below 2048. It gives line numbers for
 * syntax errors only: a message about a value names the line of the first occurrence of its key. */
#include <config.h>
#include "topology/files/astra_read.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/files/text_file.h"

const char *const th_astra_collective_keys[TH_ASTRA_N_COLLECTIVES] = {
    [TH_ASTRA_ALL_REDUCE] = "all-reduce-implementation",
    [TH_ASTRA_REDUCE_SCATTER] = "reduce-scatter-implementation",
    [TH_ASTRA_ALL_GATHER] = "all-gather-implementation",
    [TH_ASTRA_ALL_TO_ALL] = "all-to-all-implementation",
};

const char *const th_astra_implementation_names[TH_ASTRA_N_IMPLEMENTATIONS] = {
    [TH_ASTRA_NONE] = "none",
    [TH_ASTRA_RING] = "ring",
    [TH_ASTRA_DIRECT] = "direct",
    [TH_ASTRA_DIRECT_WINDOW] = "direct with a window",
    [TH_ASTRA_HALVING_DOUBLING] = "halvingDoubling",
    [TH_ASTRA_DOUBLE_BINARY_TREE] = "doubleBinaryTree",
    [TH_ASTRA_ONE_RING] = "oneRing",
    [TH_ASTRA_ONE_DIRECT] = "oneDirect",
    [TH_ASTRA_ONE_HALVING_DOUBLING] = "oneHalvingDoubling",
};

/* Bounds that keep every product of the physics within its type. */
enum { LARGEST_DELAY_NS = 1000000000, LARGEST_SPLITS = 1 << 16 };
static const double smallest_gb_per_s = 1e-6, largest_gb_per_s = 1e9, largest_tflops = 1e9;
enum { DEFAULT_DELAY_NS = 10, DEFAULT_ACTIVE_CHUNKS = 1 }; /* ASTRA-sim's own */

typedef struct reader {
    const char *path, *text;
    th_astra *out;
    double peak_tflops;
    th_error error;
} reader;

typedef struct key_row {
    const char *key;
    int (*read)(reader *r, const struct key_row *row, const json_t *value); /* NULL: passed over */
    int collective;           /* of an implementation */
    const char *const *words; /* of a text, NULL last: what it may be */
    bool is_required;
} key_row;

/* The line on which "key" stands first; 1 where it does not. */
static int line_of(const reader *r, const char *key)
{
    size_t n = strlen(key);
    int line = 1;
    for (const char *c = r->text; *c; c++) {
        if (*c == '\n')
            line++;
        if (*c == '"' && strncmp(c + 1, key, n) == 0 && c[n + 1] == '"')
            return line;
    }
    return 1;
}

/* ---- values ---- */

static int read_number(reader *r, const char *key, const json_t *value, double min, double max,
                       double *out)
{
    double number = json_is_number(value) ? json_number_value(value) : NAN;
    if (!(number >= min && number <= max))
        return th_error_set(&r->error, "TOPO-0133",
                            "%s:%d: key \"%s\": must be a number from %g to %g", r->path,
                            line_of(r, key), key, min, max);
    *out = number;
    return 0;
}

/* ASTRA-sim takes 10.7 for 10 where it wants an integer. */
static int read_integer(reader *r, const char *key, const json_t *value, int min, int max,
                        int64_t *out)
{
    double number = min;
    if (read_number(r, key, value, min, max, &number) < 0)
        return -1;
    *out = (int64_t)number;
    return 0;
}

static int read_delay(reader *r, const key_row *row, const json_t *value)
{
    return read_integer(r, row->key, value, 0, LARGEST_DELAY_NS, &r->out->endpoint_delay_ns);
}

static int read_splits(reader *r, const key_row *row, const json_t *value)
{
    return read_integer(r, row->key, value, 1, LARGEST_SPLITS, &r->out->splits);
}

static int read_active_chunks(reader *r, const key_row *row, const json_t *value)
{
    return read_integer(r, row->key, value, 1, LARGEST_SPLITS, &r->out->active_chunks);
}

static int read_local_mem(reader *r, const key_row *row, const json_t *value)
{
    return read_number(r, row->key, value, smallest_gb_per_s, largest_gb_per_s,
                       &r->out->local_mem_gb_per_s);
}

static int read_peak(reader *r, const key_row *row, const json_t *value)
{
    if (read_number(r, row->key, value, 0, largest_tflops, &r->peak_tflops))
        return -1;
    r->out->peak_tflops = r->peak_tflops;
    return 0;
}

static int read_switch(reader *r, const key_row *row, const json_t *value, bool *out)
{
    if (!json_is_boolean(value) && !json_is_number(value))
        return th_error_set(&r->error, "TOPO-0142", "%s:%d: key \"%s\": must be 0 or 1", r->path,
                            line_of(r, row->key), row->key);
    *out = json_is_true(value) || json_number_value(value) != 0;
    return 0;
}

static int read_roofline(reader *r, const key_row *row, const json_t *value)
{
    return read_switch(r, row, value, &r->out->has_roofline);
}

static int read_replay_only(reader *r, const key_row *row, const json_t *value)
{
    return read_switch(r, row, value, &r->out->is_replay_only);
}

/* What is off may be written 0 or false. */
static int read_off(reader *r, const key_row *row, const json_t *value)
{
    if (json_is_false(value) || (json_is_number(value) && json_number_value(value) == 0))
        return 0;
    return th_error_set(&r->error, "TOPO-0134",
                        "%s:%d: key \"%s\": is not modelled: must be 0 or left out", r->path,
                        line_of(r, row->key), row->key);
}

static int read_unsupported(reader *r, const key_row *row, const json_t *value)
{
    (void)value;
    return th_error_set(&r->error, "TOPO-0135",
                        "%s:%d: key \"%s\": is not modelled: must be left out", r->path,
                        line_of(r, row->key), row->key);
}

/* One of row->words; *which is its index. */
static int read_word(reader *r, const key_row *row, const json_t *value, int *which)
{
    const char *word = json_string_value(value);
    for (int i = 0; word && row->words[i]; i++)
        if (strcmp(word, row->words[i]) == 0) {
            *which = i;
            return 0;
        }
    th_strbuf list = TH_STRBUF_INIT;
    for (int i = 0; row->words[i]; i++)
        th_strbuf_printf(&list, "%s%s", i ? ", " : "", row->words[i]);
    th_error_set(&r->error, "TOPO-0136", "%s:%d: key \"%s\": must be one of: %s", r->path,
                 line_of(r, row->key), row->key, list.failed ? "" : list.text);
    th_strbuf_clear(&list);
    return -1;
}

static int check_word(reader *r, const key_row *row, const json_t *value)
{
    int ignored;
    return read_word(r, row, value, &ignored);
}

static int read_optimization(reader *r, const key_row *row, const json_t *value)
{
    int which = 0;
    if (read_word(r, row, value, &which) < 0)
        return -1;
    r->out->is_local_bw_aware = which == 0;
    return 0;
}

/* "direct4", "oneDirect4": with a window of four messages. */
static bool has_window(const char *name, const char *direct)
{
    size_t n = strlen(direct);
    return strncmp(name, direct, n) == 0 && name[n] != '\0' &&
           strspn(name + n, "0123456789") == strlen(name + n);
}

static int32_t window_of(const char *name)
{
    long n = strtol(name + strcspn(name, "0123456789"), NULL, 10);
    return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

static int implementation_named(const char *name)
{
    for (int i = TH_ASTRA_RING; i < TH_ASTRA_N_IMPLEMENTATIONS; i++)
        if (i != TH_ASTRA_DIRECT_WINDOW && strcmp(name, th_astra_implementation_names[i]) == 0)
            return i;
    if (has_window(name, th_astra_implementation_names[TH_ASTRA_DIRECT]))
        return TH_ASTRA_DIRECT_WINDOW;
    return has_window(name, th_astra_implementation_names[TH_ASTRA_ONE_DIRECT])
               ? TH_ASTRA_ONE_DIRECT
               : -1;
}

static int read_implementation(reader *r, const key_row *row, const json_t *value)
{
    th_astra *out = r->out;
    if (!json_is_array(value) || (int)json_array_size(value) != out->n_dims)
        return th_error_set(&r->error, "TOPO-0137",
                            "%s:%d: key \"%s\": must be a list of %d, one for each dimension",
                            r->path, line_of(r, row->key), row->key, out->n_dims);
    for (int d = 0; d < out->n_dims; d++) {
        const char *name = json_string_value(json_array_get(value, (size_t)d));
        int i = name ? implementation_named(name) : -1;
        if (i < 0)
            return th_error_set(
                &r->error, "TOPO-0138",
                "%s:%d: key \"%s\": \"%.40s\" of dimension %d must be ring, direct, "
                "halvingDoubling, doubleBinaryTree, oneRing, oneDirect or "
                "oneHalvingDoubling",
                r->path, line_of(r, row->key), row->key, name ? name : "", d);
        out->implementation[row->collective][d] = (uint8_t)i;
        out->window[row->collective][d] = window_of(name);
    }
    return 0;
}

/* ---- keys ---- */

static const char *const policies[] = {"LIFO", "FIFO", "EXPLICIT", NULL};
static const char *const optimizations[] = {"localBWAware", "baseline", NULL};
static const char *const first_come[] = {"FIFO", NULL};
static const char *const in_order[] = {"baseline", NULL};

static const key_row rows[] = {
    {"all-reduce-implementation", read_implementation, TH_ASTRA_ALL_REDUCE},
    {"reduce-scatter-implementation", read_implementation, TH_ASTRA_REDUCE_SCATTER},
    {"all-gather-implementation", read_implementation, TH_ASTRA_ALL_GATHER},
    {"all-to-all-implementation", read_implementation, TH_ASTRA_ALL_TO_ALL},
    {"preferred-dataset-splits", read_splits, .is_required = true},
    {"collective-optimization", read_optimization, .words = optimizations, .is_required = true},
    {"local-mem-bw", read_local_mem, .is_required = true},
    {"endpoint-delay", read_delay},
    {"active-chunks-per-dimension", read_active_chunks},
    {"scheduling-policy", check_word, .words = policies},
    {"intra-dimension-scheduling", check_word, .words = first_come},
    {"inter-dimension-scheduling", check_word, .words = in_order},
    {"peak-perf", read_peak},
    {"model-shared-bus", read_off},
    {"all-reduce-implementation-custom", read_unsupported},
    {"reduce-scatter-implementation-custom", read_unsupported},
    {"all-gather-implementation-custom", read_unsupported},
    {"all-to-all-implementation-custom", read_unsupported},
    {"all-reduce-implementation-chakra", read_unsupported},
    {"reduce-scatter-implementation-chakra", read_unsupported},
    {"all-gather-implementation-chakra", read_unsupported},
    {"all-to-all-implementation-chakra", read_unsupported},
    {"boost-mode", NULL},
    {"local-reduction-delay", NULL},
    {"roofline-enabled", read_roofline},
    {"trace-enabled", NULL},
    {"replay-only", read_replay_only},
    {"track-local-mem", NULL},
    {"local-mem-trace-filename", NULL},
    {"L", NULL},
    {"o", NULL},
    {"g", NULL},
    {"G", NULL},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static const key_row *row_of(const char *key)
{
    for (int i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

static int unknown_key(reader *r, const char *key)
{
    const char *names[N_ROWS];
    for (int i = 0; i < N_ROWS; i++)
        names[i] = rows[i].key;
    const char *near = th_name_nearest(key, names, N_ROWS);
    return th_error_set(&r->error, "TOPO-0131", "%s:%d: unknown key \"%.60s\"%s%s%s", r->path,
                        line_of(r, key), key, near ? ": did you mean \"" : "", near ? near : "",
                        near ? "\"?" : "");
}

static int read_object(reader *r, json_t *root)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        return th_error_set(&r->error, "TOPO-0139", "%s:1: must be one JSON object { ... }",
                            r->path);
    json_object_foreach(root, key, value)
    {
        const key_row *row = row_of(key);
        if (!row)
            return unknown_key(r, key);
        if (row->read && row->read(r, row, value) < 0)
            return -1;
    }
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].is_required && !json_object_get(root, rows[i].key))
            return th_error_set(&r->error, "TOPO-0132", "%s: key \"%s\" is missing", r->path,
                                rows[i].key);
    return 0;
}

/* ---- the file ---- */

static int parse(reader *r, size_t length)
{
    json_error_t problem;
    json_t *root = json_loadb(r->text, length, JSON_REJECT_DUPLICATES, &problem);
    if (!root)
        return th_error_set(&r->error, "TOPO-0130", "%s:%d: not JSON: %s", r->path,
                            problem.line > 0 ? problem.line : 1, problem.text);
    int status = read_object(r, root);
    json_decref(root);
    return status;
}

int th_astra_read_system(const char *path, th_astra *out, double *peak_tflops, th_error *err)
{
    th_astra read = *out;
    read.endpoint_delay_ns = DEFAULT_DELAY_NS;
    read.active_chunks = DEFAULT_ACTIVE_CHUNKS;
    reader r = {.path = path, .out = &read, .peak_tflops = *peak_tflops};
    th_strbuf text = TH_STRBUF_INIT;
    int status = th_text_file_read(path, TH_ASTRA_FILE_MAX, &text, &r.error);
    r.text = text.text;
    if (status == 0)
        status = parse(&r, text.length);
    th_strbuf_clear(&text);
    if (status < 0) {
        if (err)
            *err = r.error;
        return -1;
    }
    *out = read;
    *peak_tflops = r.peak_tflops;
    return 0;
}
