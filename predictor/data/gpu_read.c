/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_read.c - descriptions of GPUs from a file.
 *   th_gpus_read: copy -> headings -> { read_gpu -> take } */
#include <config.h>

#include "predictor/data/gpu.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/csv.h"
#include "base/files/data_file.h"
#include "base/names.h"
#include "base/files/text_file.h"

enum { FILE_MAX = 1 << 20 };
enum { NAME = TH_N_GPU_NUMBERS, ALIASES, SOURCE, EXTRAS, N_COLUMNS = EXTRAS + TH_N_GPU_EXTRAS };

static const char *const columns[N_COLUMNS + 1] = {
    [TH_GPU_BANDWIDTH] = "memory_bandwidth_GBps",
    [TH_GPU_SMS] = "sms",
    [TH_GPU_CORES] = "cores_per_sm",
    [TH_GPU_CLOCK] = "clock_MHz",
    [TH_GPU_PEAK] = "fp32_GFLOPs",
    [TH_GPU_L2] = "l2_MB",
    [TH_GPU_MEMORY] = "memory_GB",
    [NAME] = "device",
    [ALIASES] = "aliases",
    [SOURCE] = "source",
    [EXTRAS + TH_GPU_TF32] = "tf32_GFLOPs",
    [EXTRAS + TH_GPU_FP16] = "fp16_GFLOPs",
    [EXTRAS + TH_GPU_BF16] = "bf16_GFLOPs",
    [EXTRAS + TH_GPU_FP8] = "fp8_GFLOPs",
    [EXTRAS + TH_GPU_FP4] = "fp4_GFLOPs",
    [EXTRAS + TH_GPU_L2_BANDWIDTH] = "l2_bandwidth_GBps",
    [EXTRAS + TH_GPU_LAUNCH] = "launch_us",
    [EXTRAS + TH_GPU_BOARD_POWER] = "board_W",
    [EXTRAS + TH_GPU_IDLE_POWER] = "idle_W",
    [EXTRAS + TH_GPU_TENSOR_M] = "tensor_m",
    [EXTRAS + TH_GPU_TENSOR_N] = "tensor_n",
    [EXTRAS + TH_GPU_TENSOR_K] = "tensor_k",
    [EXTRAS + TH_GPU_FP16_ENERGY] = "fp16_pJ",
};

const char *th_gpu_number_column(th_gpu_number i)
{
    return columns[i];
}

const char *th_gpu_extra_column(th_gpu_extra i)
{
    return columns[EXTRAS + i];
}

/* A file that names its sources names them all. */
static int check_source(const th_csv *c, int place, const char *name, th_error *err)
{
    if (place < 0 || c->field[place][0] != '\0')
        return 0;
    return th_error_set(err, "PRED-0016",
                        "%s:%d: device \"%s\": source: must say where its numbers come from, or "
                        "\"assumed\"",
                        c->path, c->line, name);
}

/* Of an extra an empty field, or no column, is 0. */
static int read_number(const th_csv *c, int place, int column, double *out, th_error *err)
{
    bool is_extra = column >= EXTRAS;
    const char *text = place >= 0 ? c->field[place] : "";
    char *end;
    *out = strtod(text, &end);
    if ((is_extra && *text == '\0') || (end != text && *end == '\0' && *out > 0 && !isinf(*out)))
        return 0;
    return th_error_set(err, "PRED-0013", "%s:%d: %s \"%.40s\": must be a number above 0%s",
                        c->path, c->line, columns[column], text, is_extra ? ", or empty" : "");
}

static int read_gpu(const th_csv *c, const int *place, th_gpu *out, th_error *err)
{
    const char *name = c->field[place[NAME]];
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof out->name)
        return th_error_set(err, "PRED-0012",
                            "%s:%d: device \"%.60s\": must be 1 to %zu characters", c->path,
                            c->line, name, sizeof out->name - 1);
    memcpy(out->name, name, length + 1);
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        if (read_number(c, place[i], i, &out->x[i], err))
            return -1;
    for (int i = 0; i < TH_N_GPU_EXTRAS; i++)
        if (read_number(c, place[EXTRAS + i], EXTRAS + i, &out->extra[i], err))
            return -1;
    return check_source(c, place[SOURCE], name, err);
}

static int index_of(const th_gpus *g, const char *name)
{
    for (int i = 0; i < g->n; i++)
        if (strcmp(g->gpu[i].name, name) == 0)
            return i;
    return g->n;
}

static int take(th_gpus *g, const th_gpu *gpu, const char *aliases)
{
    int i = index_of(g, gpu->name);
    char *copy = th_alloc_string(aliases);
    if (!copy || th_grow(&g->gpu, &g->capacity, (size_t)i + 1, sizeof *g->gpu) ||
        th_grow(&g->aliases, &g->alias_capacity, (size_t)i + 1, sizeof *g->aliases)) {
        th_free(copy);
        return -1;
    }
    if (i < g->n)
        th_free(g->aliases[i]);
    else
        g->n++;
    g->gpu[i] = *gpu;
    g->aliases[i] = copy;
    return 0;
}

int th_gpus_copy(th_gpus *out, const th_gpus *g)
{
    *out = (th_gpus){.gpu = NULL};
    for (int i = 0; i < g->n; i++)
        if (take(out, &g->gpu[i], g->aliases[i])) {
            th_gpus_clear(out);
            return -1;
        }
    return 0;
}

/* Adds the devices of a file, which names each once. */
static int read_all(th_gpus *made, th_csv *c, th_strbuf *notes, th_error *err)
{
    int place[N_COLUMNS], status = th_csv_first(c, err);
    if (status == 0)
        status = th_csv_place(c, columns, NAME + 1, place, notes, err);
    th_gpus read = {.gpu = NULL};
    while (status == 0 && (status = th_csv_row(c, err)) > 0) {
        th_gpu gpu;
        status = read_gpu(c, place, &gpu, err);
        if (status == 0 && index_of(&read, gpu.name) < read.n)
            status = th_error_set(err, "PRED-0465", "%s:%d: device \"%s\": comes twice", c->path,
                                  c->line, gpu.name);
        if (status == 0 && take(&read, &gpu, place[ALIASES] < 0 ? "" : c->field[place[ALIASES]]))
            status = th_error_no_memory(err);
    }
    for (int i = 0; status == 0 && i < read.n; i++) {
        int known = index_of(made, read.gpu[i].name);
        bool is_kept = place[ALIASES] < 0 && known < made->n;
        if (take(made, &read.gpu[i], is_kept ? made->aliases[known] : read.aliases[i]))
            status = th_error_no_memory(err);
    }
    th_gpus_clear(&read);
    th_csv_note_cut(c, notes);
    return status;
}

int th_gpus_read(th_gpus *g, const char *path, th_strbuf *notes, th_error *err)
{
    th_gpus made = {.gpu = NULL};
    th_strbuf text = TH_STRBUF_INIT;
    int failed = th_text_file_read(path, FILE_MAX, &text, err);
    if (!failed && th_gpus_copy(&made, g))
        failed = th_error_no_memory(err);
    th_csv c = th_csv_open(path, text.text);
    if (!failed)
        failed = read_all(&made, &c, notes, err);
    th_csv_clear(&c);
    th_strbuf_clear(&text);
    th_gpus_clear(failed ? &made : g);
    if (!failed)
        *g = made;
    return failed;
}

const th_gpu *th_gpus_find(const th_gpus *g, const char *name)
{
    for (int i = 0; i < g->n; i++)
        if (th_name_is_among(g->gpu[i].name, name) || th_name_is_among(g->aliases[i], name))
            return &g->gpu[i];
    return NULL;
}

int th_gpus_read_shipped(th_gpus *out, th_error *err)
{
    th_strbuf path = TH_STRBUF_INIT;
    const th_data_file file = {"devices", ".csv", NULL, "predictor"};
    *out = (th_gpus){.gpu = NULL};
    int failed = th_data_file_need(&file, &path, err) || th_gpus_read(out, path.text, NULL, err);
    th_strbuf_clear(&path);
    return failed ? -1 : 0;
}

int th_gpu_shipped(const char *name, th_gpu *out, th_error *err)
{
    th_gpus all;
    int status = th_gpus_read_shipped(&all, err);
    const th_gpu *found = status == 0 ? th_gpus_find(&all, name) : NULL;
    if (found)
        *out = *found;
    else if (status == 0)
        status = 1;
    th_gpus_clear(&all);
    return status;
}

void th_gpus_clear(th_gpus *g)
{
    for (int i = 0; i < g->n; i++)
        th_free(g->aliases[i]);
    th_free(g->gpu);
    th_free(g->aliases);
    *g = (th_gpus){.gpu = NULL};
}
