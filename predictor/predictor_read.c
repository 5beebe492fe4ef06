/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_read.c - a predictor from its text.
 *   th_predictor_read: unpack -> check_head (version, digest) -> { read_layer: devices, ranges, weights,
 *   { read_residual: { tree } } }
 * The digest guards against changes by hand; all the same nothing is believed that could lead out of an
 * array. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "predictor/predictor.h"
#include "predictor/predictor_text.h"
#include "predictor/unpack.h"

enum { FILE_MAX = 64 << 20, TREES_MAX = 100000, DEPTH_MAX = 12, DEVICES_MAX = 1000 };

typedef struct {
    const char *path;
    char *rest;
    int line;
    th_error *err;
} reader;

static int fail(const reader *r)
{
    return th_error_set(r->err, "PRED-0080", "%s:%d: is no line of a predictor", r->path, r->line);
}

/* The next line, ended where its remark begins; NULL at the end. */
static char *next_line(reader *r)
{
    char *line = r->rest;
    if (!line || *line == '\0')
        return NULL;
    char *end = strchr(line, '\n');
    r->rest = end ? end + 1 : NULL;
    r->line++;
    if (end)
        *end = '\0';
    char *remark = strstr(line, " #");
    if (remark)
        *remark = '\0';
    return line;
}

/* Whole lines by the formats of scanf, which end in "%n". */
static int scan(reader *r, int n_fields, const char *format, ...)
{
    va_list list;
    const char *line = next_line(r);
    if (!line)
        return fail(r);
    va_start(list, format);
    int n = vsscanf(line, format, list);
    va_end(list);
    return n == n_fields ? 0 : fail(r);
}

/* The next of numbers divided by blanks. 0 or -1. */
static int take_number(char **at, double *out)
{
    char *end;
    *out = strtod(*at, &end);
    if (end == *at || !isfinite(*out))
        return -1;
    *at = end;
    return 0;
}

static char *skip_word(reader *r, const char *word)
{
    char *line = next_line(r);
    size_t n = strlen(word);
    return line && strncmp(line, word, n) == 0 && line[n] == ' ' ? line + n + 1 : NULL;
}

static int read_device(reader *r, th_gpu *gpu)
{
    char *at = skip_word(r, "device");
    size_t n = at ? strcspn(at, " ") : 0;
    if (n == 0 || n >= sizeof gpu->name)
        return fail(r);
    memcpy(gpu->name, at, n);
    gpu->name[n] = '\0';
    at += n;
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        if (take_number(&at, &gpu->x[i]) || gpu->x[i] <= 0)
            return fail(r);
    return 0;
}

static int read_devices(reader *r, th_layer_model *m)
{
    int n;
    if (scan(r, 1, "devices %d", &n))
        return -1;
    if (n < 1 || n > DEVICES_MAX)
        return fail(r);
    m->device = th_alloc_zero((size_t)n, sizeof *m->device);
    if (!m->device)
        return th_error_no_memory(r->err);
    for (; m->n_devices < n; m->n_devices++)
        if (read_device(r, &m->device[m->n_devices]))
            return -1;
    return 0;
}

static int read_ranges(reader *r, th_layer_model *m)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++) {
        char name[TH_TERM_NAME_MAX];
        if (scan(r, 3, "range %31s %" SCNd32 " %" SCNd32, name, &m->least[f], &m->most[f]))
            return -1;
        if (strcmp(name, th_op_field_name((th_op_field)f)) != 0)
            return fail(r);
    }
    return 0;
}

static int read_weights(reader *r, th_layer_model *m)
{
    int n;
    if (scan(r, 1, "terms %d", &n))
        return -1;
    if (n != m->n_terms)
        return fail(r);
    m->weight = th_alloc_zero((size_t)(m->n_devices + 1) * (size_t)n + 1, sizeof *m->weight);
    if (!m->weight)
        return th_error_no_memory(r->err);
    for (int i = 0; i < n; i++) {
        char *at = skip_word(r, "term");
        for (int d = 0; d <= m->n_devices; d++)
            if (!at || take_number(&at, &m->weight[(size_t)d * (size_t)n + (size_t)i]))
                return fail(r);
    }
    return 0;
}

/* --- trees ------------------------------------------------------------------------------------ */

typedef struct {
    th_trees *trees;
    int tree, n_features;
    char *at; /* what is left of the line */
} tree_reader;

static void fill(tree_reader *t, size_t at, int depth, float answer)
{
    size_t questions = ((size_t)1 << t->trees->depth) - 1;
    if (depth == t->trees->depth) {
        t->trees->leaf[(size_t)t->tree * (questions + 1) + at - questions] = answer;
        return;
    }
    fill(t, 2 * at + 1, depth + 1, answer);
    fill(t, 2 * at + 2, depth + 1, answer);
}

static int read_node(tree_reader *t, size_t at, int depth)
{
    double number;
    t->at += strspn(t->at, " ");
    if (*t->at == '=') {
        t->at++;
        if (take_number(&t->at, &number))
            return -1;
        fill(t, at, depth, (float)number);
        return 0;
    }
    char *end;
    long feature = strtol(t->at, &end, 10);
    if (end == t->at || *end != '<' || feature < 0 || feature >= t->n_features ||
        depth == t->trees->depth)
        return -1;
    t->at = end + 1;
    if (take_number(&t->at, &number))
        return -1;
    size_t place = (size_t)t->tree * (((size_t)1 << t->trees->depth) - 1) + at;
    t->trees->feature[place] = (uint8_t)feature;
    t->trees->threshold[place] = (float)number;
    return read_node(t, 2 * at + 1, depth + 1) || read_node(t, 2 * at + 2, depth + 1) ? -1 : 0;
}

static int read_floats(reader *r, const char *word, float *x, size_t n)
{
    char *at = skip_word(r, word);
    double number;
    for (size_t i = 0; i < n; i++) {
        if (!at || take_number(&at, &number))
            return fail(r);
        x[i] = (float)number;
    }
    return 0;
}

static int read_mlp(reader *r, int n_layers, int n_features, th_mlp *m)
{
    int sizes[TH_MLP_LAYERS_MAX + 1];
    char *at = skip_word(r, "sizes");
    for (int l = 0; l <= n_layers; l++) {
        double size;
        if (!at || take_number(&at, &size) || !(size >= 1 && size <= TH_MLP_WIDTH_MAX))
            return fail(r);
        sizes[l] = (int)size;
    }
    if (sizes[0] != n_features || sizes[n_layers] != 1)
        return fail(r);
    if (th_mlp_init(m, sizes, n_layers))
        return th_error_no_memory(r->err);
    if (read_floats(r, "mean", m->mean, (size_t)sizes[0]) ||
        read_floats(r, "scale", m->scale, (size_t)sizes[0]))
        return -1;
    for (int l = 0; l < n_layers; l++)
        if (read_floats(r, "weight", m->weight[l], (size_t)sizes[l] * (size_t)sizes[l + 1]) ||
            read_floats(r, "bias", m->bias[l], (size_t)sizes[l + 1]))
            return -1;
    return 0;
}

static int read_residual(reader *r, const char *name, int n_features, th_residual *out)
{
    char found[TH_TERM_NAME_MAX];
    int depth, n, n_layers;
    if (scan(r, 6, "residual %31s trees %d depth %d share %lf perceptron %d share %lf", found, &n,
             &depth, &out->tree_share, &n_layers, &out->mlp_share))
        return -1;
    if (strcmp(found, name) != 0 || depth < 0 || depth > DEPTH_MAX || n < 0 || n > TREES_MAX ||
        n_layers < 0 || n_layers > TH_MLP_LAYERS_MAX)
        return fail(r);
    if (th_trees_init(&out->trees, n, depth))
        return th_error_no_memory(r->err);
    for (int i = 0; i < n; i++) {
        tree_reader t = {&out->trees, i, n_features, skip_word(r, "tree")};
        if (!t.at || read_node(&t, 0, 0) || t.at[strspn(t.at, " ")] != '\0')
            return fail(r);
    }
    return n_layers > 0 ? read_mlp(r, n_layers, n_features, &out->mlp) : 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int read_layer(reader *r, th_layer_model *m)
{
    char kind[TH_TERM_NAME_MAX], phase[TH_TERM_NAME_MAX];
    int n_features;
    if (scan(r, 3, "layer %31s %31s features %d", kind, phase, &n_features))
        return -1;
    int k = th_op_kind_find(kind), p = th_phase_find(phase);
    if (k < 0 || p < 0)
        return fail(r);
    m->kind = (th_op_kind)k;
    m->phase = (th_phase)p;
    th_layer_model_count(m);
    if (n_features != m->n_features)
        return fail(r);
    return read_devices(r, m) || read_ranges(r, m) || read_weights(r, m) ||
                   read_residual(r, "known", n_features, &m->known) ||
                   read_residual(r, "other", n_features, &m->other)
               ? -1
               : 0;
}

static int check_head(reader *r)
{
    int version;
    uint64_t digest;
    const char *line = next_line(r);
    if (!line || sscanf(line, PREDICTOR_MAGIC " %d", &version) != 1)
        return th_error_set(r->err, "PRED-0081", "%s: must begin with \"%s VERSION\"", r->path,
                            PREDICTOR_MAGIC);
    if (version != PREDICTOR_VERSION)
        return th_error_set(r->err, "PRED-0082", "%s: has version %d: must have %d; train it again",
                            r->path, version, PREDICTOR_VERSION);
    if (sscanf(line, PREDICTOR_MAGIC " %*d digest %" SCNx64, &digest) != 1 || !r->rest ||
        th_hash(r->rest, strlen(r->rest), 0) != digest)
        return th_error_set(
            r->err, "PRED-0083",
            "%s: its digest is not that of its text: was cut short or changed by hand", r->path);
    return 0;
}

static int read_all(reader *r, th_predictor *p)
{
    int n;
    if (check_head(r) ||
        scan(r, 3, "trained %" SCNx64 " rows %zu layers %d", &p->digest, &p->n_rows, &n))
        return -1;
    if (n < 1 || n > TH_N_OP_KINDS * TH_N_PHASES)
        return fail(r);
    p->model = th_alloc_zero((size_t)n, sizeof *p->model);
    if (!p->model)
        return th_error_no_memory(r->err);
    for (int i = 0; i < n; i++) {
        p->n_models++;
        if (read_layer(r, &p->model[i]))
            return -1;
    }
    return next_line(r) ? fail(r) : 0;
}

th_predictor *th_predictor_read(const char *path, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_predictor *p = th_alloc_zero(1, sizeof *p);
    int failed = p ? th_unpack_file(path, FILE_MAX, &text, err) : th_error_no_memory(err);
    reader r = {path, text.text, 0, err};
    if (!failed)
        failed = read_all(&r, p);
    th_strbuf_clear(&text);
    if (!failed)
        return p;
    th_predictor_free(p);
    return NULL;
}
