/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_predictor.c - the bytes as measurements in each format, as descriptions of GPUs, and as a
 * predictor, whose digest is made right first. What a predictor that can be read predicts is a
 * time: a number, not negative, between its quantiles. */
#include <config.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "predictor/data/measurements.h"
#include "predictor/model/predictor.h"
#include "tests/fuzz/target.h"

static th_gpus gpus;

static void begin(void)
{
    th_error e = {"", ""};
    must(th_gpus_read(&gpus, fuzz_source_file("predictor/devices.csv"), NULL, &e) == 0);
}

/* ---- measurements ---- */

static void read_as(const char *path, const char *format)
{
    th_error e = {"", ""};
    th_measurement_source s = {
        .path = path, .format = format, .kind = "dense", .device = gpus.gpu[0].name};
    th_measurements *m = th_measurements_new();
    must(m != NULL);
    int failed = th_measurements_read(m, &s, &gpus, &e);
    must_read_or_say(!failed, &e);
    must(!failed || (m->n_rows == 0 && m->n_devices == 0 && m->n_groups == 0 && m->n_members == 0));
    for (size_t i = 0; i < m->n_rows; i++)
        must(m->row[i].ms > 0 && isfinite(m->row[i].ms) && m->row[i].device < m->n_devices &&
             m->row[i].first_member + (size_t)m->row[i].n_members <= m->n_members);
    th_measurements_free(m);
}

static void run_measurements(const uint8_t *data, size_t size)
{
    const char *path = fuzz_input_file(data, size);
    for (int i = 0; th_measurement_formats[i]; i++)
        read_as(path, th_measurement_formats[i]);
}

static void run_devices(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_gpus read = {.gpu = NULL};
    int failed = th_gpus_read(&read, fuzz_input_file(data, size), NULL, &e);
    must_read_or_say(!failed, &e);
    must(!failed || read.n == 0);
    for (int i = 0; i < read.n; i++)
        must(th_gpus_find(&read, read.gpu[i].name) != NULL);
    th_gpus_clear(&read);
}

/* ---- predictors ---- */

/* An operation of the model's kind, of the least or the largest numbers of its training. */
static th_op op_of(const th_layer_model *m, bool is_large)
{
    th_op op = {m->kind, {0}};
    for (int f = 0; f < TH_N_OP_FIELDS; f++) {
        int32_t least = th_op_field_min((th_op_field)f);
        int32_t x = is_large ? m->field_max[f] : m->field_min[f];
        if (th_op_has(m->kind, (th_op_field)f))
            op.x[f] = x > least ? x : least;
    }
    return op;
}

static void predict(const th_layer_model *m)
{
    for (int i = 0; i < 4; i++) {
        th_error e = {"", ""};
        th_op op = op_of(m, i % 2 == 1);
        if (th_op_check(&op, &e) != 0)
            continue;
        th_estimate t = th_layer_model_estimate(m, &op, i < 2 ? &m->device[0] : &gpus.gpu[0]);
        must(t.ms >= 0 && t.low_ms <= t.ms && t.ms <= t.high_ms);
    }
}

/* The bytes with the digest of what follows their first line in it. NULL: there is no such line. */
static uint8_t *with_digest(const uint8_t *data, size_t size, size_t *n)
{
    const uint8_t *end = memchr(data, '\n', size);
    int version, digits = 0;
    char *line = end ? strndup((const char *)data, (size_t)(end - data)) : NULL;
    if (!line || sscanf(line, "tharsis-predictor %d digest %n", &version, &digits) != 1 ||
        digits == 0) {
        free(line);
        return NULL;
    }
    size_t rest = size - (size_t)(end - data) - 1;
    char head[80];
    int length = snprintf(head, sizeof head, "tharsis-predictor %d digest %016" PRIx64 "\n",
                          version, th_hash(end + 1, strnlen((const char *)end + 1, rest), 0));
    uint8_t *out = malloc((size_t)length + rest);
    must(out != NULL);
    memcpy(out, head, (size_t)length);
    memcpy(out + length, end + 1, rest);
    *n = (size_t)length + rest;
    free(line);
    return out;
}

static void run_predictor(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    size_t n = size;
    uint8_t *right = with_digest(data, size, &n);
    th_predictor *p = th_predictor_read(fuzz_input_file(right ? right : data, n), &e);
    free(right);
    must_read_or_say(p != NULL, &e);
    for (int i = 0; p && i < p->n_models; i++)
        predict(&p->model[i]);
    th_predictor_free(p);
}

const fuzz_target fuzz_measurements = {"measurements", run_measurements, begin};
const fuzz_target fuzz_devices = {"devices", run_devices, NULL};
const fuzz_target fuzz_predictor = {"predictor", run_predictor, begin};
