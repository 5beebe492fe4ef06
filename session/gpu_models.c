/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_models.c - see gpu_models.h. */
#include <config.h>
#include "session/gpu_models.h"
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"

th_gpu_models *th_gpu_models_new(void)
{
    return th_alloc_zero(1, sizeof(th_gpu_models));
}

void th_gpu_models_free(th_gpu_models *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n_sets; i++) {
        th_free(l->sets[i].name);
        th_measurements_free(l->sets[i].rows);
    }
    th_free(l->sets);
    th_gpus_clear(&l->gpus);
    th_predictor_free(l->predictor);
    th_free(l->held_out.devices);
    th_free(l);
}

static th_measurements *add(th_gpu_models *l, const char *name)
{
    struct th_measurement_set fresh = {th_alloc_string(name), th_measurements_new()};
    if (fresh.name && fresh.rows &&
        th_grow(&l->sets, &l->capacity, l->n_sets + 1, sizeof *l->sets) == 0) {
        l->sets[l->n_sets++] = fresh;
        return fresh.rows;
    }
    th_free(fresh.name);
    th_measurements_free(fresh.rows);
    return NULL;
}

th_measurements *th_gpu_models_measurements(th_gpu_models *l, const char *name, bool make,
                                            th_error *err)
{
    for (size_t i = 0; i < l->n_sets; i++)
        if (strcmp(l->sets[i].name, name) == 0 && (make || l->sets[i].rows->n_rows > 0))
            return l->sets[i].rows;
    th_measurements *m = make ? add(l, name) : NULL;
    if (!m && make)
        th_error_no_memory(err);
    else if (!m)
        th_error_set(err, "TCL-0331",
                     "measurements \"%.60s\": there are none: read_measurements first", name);
    return m;
}

void th_gpu_models_set_predictor(th_gpu_models *l, th_predictor *p, th_held_out held_out)
{
    th_predictor_free(l->predictor);
    th_free(l->held_out.devices);
    l->predictor = p;
    l->held_out = held_out;
    memset(l->warned, 0, sizeof l->warned);
}

static bool is_left_out_device(const th_held_out *o, const char *name)
{
    size_t n = strlen(name);
    const char *at = o->devices;
    while (at && (at = strstr(at, name)) && (at[-1] != '\n' || at[n] != '\n'))
        at++;
    return at;
}

/* Chosen by a digest of its id, so that an operation measured on several devices is held out on
 * all. */
static bool is_held_out(const th_held_out *o, const th_measurements *m, const th_measurement *row)
{
    uint64_t h = th_hash_word(th_hash_word(o->seed, (uint64_t)row->op.kind), (uint64_t)row->row_id);
    return (int64_t)(h % 100) < o->percent || is_left_out_device(o, m->device[row->device].name);
}

size_t *th_held_out_rows(const th_held_out *o, const th_measurements *m, bool held_out, size_t *n)
{
    size_t *rows = th_alloc_array(m->n_rows + 1, sizeof *rows);
    *n = 0;
    for (size_t i = 0; rows && i < m->n_rows; i++)
        if (is_held_out(o, m, &m->row[i]) == held_out)
            rows[(*n)++] = i;
    return rows;
}

const th_predictor *th_gpu_models_predictor(const th_gpu_models *l, th_error *err)
{
    if (!l->predictor)
        th_error_set(err, "TCL-0321", "no predictor: train_predictor or read_predictor first");
    return l->predictor;
}
