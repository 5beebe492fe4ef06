/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_set.c - rows of measurements, laws fitted to them, and samples. The draws of a row alone
 * decide whether it is held out or sampled, so an operation that was measured on several devices is
 * held out on all of them. */
#include <config.h>

#include "predictor/model/training_set.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

enum { FOLDS = 5, GROUPS = 5, ROWS_MIN = 50, ROWS_FOR_LAW = 30 };

const th_row_filter th_all_rows = {TH_UNFILTERED, TH_UNFILTERED, TH_UNFILTERED, false, SIZE_MAX, 0,
                                   false};

static const th_measurement *row_of(const th_training_rows *r, size_t i)
{
    return &r->all->row[r->row[i]];
}

/* --- rows ------------------------------------------------------------------------------------- */

static int add_device(th_layer_model *m, size_t *capacity, const th_gpu *gpu)
{
    int i = th_layer_model_device(m, gpu->name);
    if (i < m->n_devices)
        return i;
    if (th_grow(&m->device, capacity, (size_t)i + 1, sizeof *m->device))
        return -1;
    m->device[i] = *gpu;
    return m->n_devices++;
}

static void widen_ranges(th_layer_model *m, const th_op *op, bool is_first)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++) {
        if (is_first || op->x[f] < m->field_min[f])
            m->field_min[f] = op->x[f];
        if (is_first || op->x[f] > m->field_max[f])
            m->field_max[f] = op->x[f];
    }
}

static int measure(th_training_rows *r, uint64_t seed)
{
    size_t capacity = 0;
    for (size_t i = 0; i < r->n; i++) {
        const th_measurement *row = row_of(r, i);
        r->device[i] = add_device(r->model, &capacity, &r->all->device[row->device]);
        if (r->device[i] < 0)
            return -1;
        widen_ranges(r->model, &row->op, i == 0);
        r->draw[i] = th_hash_word(seed, (uint64_t)row->row_id);
    }
    return 0;
}

/* Families of operations at less than single precision, which are measured by networks; those of
 * single precision are drawn at random, each a family of its own. */
static int find_families(th_training_rows *r)
{
    th_families *f = &r->model->families;
    for (size_t i = 0; r->model->is_narrow && i < r->n; i++)
        if (th_families_add(f, th_family_of(&row_of(r, i)->op)))
            return -1;
    if (f->n > TH_FAMILIES_MAX)
        th_families_clear(f);
    r->n_groups = f->n < 2 ? 0 : f->n < GROUPS ? f->n : GROUPS;
    for (size_t i = 0; i < r->n; i++)
        r->group[i] = r->n_groups == 0
                          ? 0
                          : 1 + th_families_find(f, th_family_of(&row_of(r, i)->op)) % r->n_groups;
    return 0;
}

static size_t select_rows(const th_training_rows *r, const size_t *rows, size_t n, size_t *out)
{
    size_t selected = 0;
    for (size_t i = 0; i < n; i++) {
        const th_measurement *row = &r->all->row[rows[i]];
        if (th_layer_model_is_of(r->model, &row->op, row->phase))
            out[selected++] = rows[i];
    }
    return selected;
}

static int check_times(const th_training_rows *r, th_error *err)
{
    for (size_t i = 0; i < r->n; i++) {
        const th_measurement *row = row_of(r, i);
        if (!(row->ms > 0 && isfinite(row->ms)))
            return th_error_set(
                err, "PRED-0092", "measurements: row %zu, %s, %s on %s: time %g: must be above 0",
                i + 1, th_layer_model_name(r->model), th_phase_name(r->model->phase),
                r->all->device[row->device].name, row->ms);
    }
    return 0;
}

int th_training_rows_begin(th_training_rows *r, th_layer_model *model, const th_measured_rows *rows,
                           uint64_t seed, th_error *err)
{
    *r = (th_training_rows){.model = model, .all = rows->all};
    th_layer_model_count(model);
    r->row = th_alloc_array(rows->n + 1, sizeof *r->row);
    if (!r->row)
        return th_error_no_memory(err);
    r->n = select_rows(r, rows->row, rows->n, r->row);
    if (r->n < ROWS_MIN)
        return th_error_set(err, "PRED-0060", "%s, %s: must have %d rows or more, has %zu",
                            th_layer_model_name(model), th_phase_name(model->phase), ROWS_MIN,
                            r->n);
    if (check_times(r, err))
        return -1;
    r->device = th_alloc_array(r->n + 1, sizeof *r->device);
    r->draw = th_alloc_array(r->n + 1, sizeof *r->draw);
    r->group = th_alloc_array(r->n + 1, sizeof *r->group);
    return r->device && r->draw && r->group && measure(r, seed) == 0 && find_families(r) == 0
               ? 0
               : th_error_no_memory(err);
}

void th_training_rows_clear(th_training_rows *r)
{
    th_free(r->row);
    th_free(r->device);
    th_free(r->draw);
    th_free(r->group);
    *r = (th_training_rows){.n = 0};
}

/* --- selections ------------------------------------------------------------------------------- */

static bool is_selected(const th_training_rows *r, const th_row_filter *s, size_t i)
{
    if ((s->device != TH_UNFILTERED && r->device[i] != s->device) ||
        r->device[i] == s->held_out_device)
        return false;
    if (s->group != 0 && (r->group[i] == s->group) == s->without_group)
        return false;
    return s->fold == TH_UNFILTERED || ((int)(r->draw[i] % FOLDS) == s->fold) != s->without_fold;
}

/* Below this number a row is in the sample. */
static uint64_t limit_of(const th_training_rows *r, const th_row_filter *s, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < r->n; i++)
        *n += is_selected(r, s, i);
    if (*n <= s->n_max)
        return UINT64_MAX;
    return (uint64_t)((double)s->n_max / (double)*n * (double)UINT32_MAX);
}

static bool is_drawn(const th_training_rows *r, size_t i, uint64_t limit)
{
    return th_hash_word(r->draw[i], 1) >> 32 <= limit;
}

/* --- laws ------------------------------------------------------------------------------------- */

int th_training_rows_fit_law(const th_training_rows *r, const th_row_filter *s, double *weight)
{
    th_row_filter all = *s;
    size_t n, m = (size_t)r->model->n_terms;
    limit_of(r, s, &n);
    if (s->device != TH_UNFILTERED && n < ROWS_FOR_LAW) {
        all.device = TH_UNFILTERED;
        limit_of(r, &all, &n);
    }
    double *amounts = th_alloc_array(n * m + 1, sizeof *amounts),
           *ms = th_alloc_array(n + 1, sizeof *ms);
    int failed = amounts && ms ? 0 : -1;
    n = 0;
    for (size_t i = 0; !failed && i < r->n; i++) {
        const th_measurement *row = row_of(r, i);
        th_terms terms;
        if (!is_selected(r, &all, i))
            continue;
        th_law_terms(&row->op, row->phase, &r->model->device[r->device[i]], NULL, &terms);
        memcpy(amounts + n * m, terms.amount, m * sizeof *amounts);
        ms[n++] = th_measured_even_ms(r->all, row);
    }
    if (!failed)
        failed = th_law_fit(amounts, ms, n, r->model->n_terms, weight);
    if (!failed)
        th_layer_model_complete(r->model, weight);
    th_free(amounts);
    th_free(ms);
    return failed;
}

/* --- training sets ---------------------------------------------------------------------------- */

static int training_set_init(th_training_set *t, size_t n, const th_layer_model *m,
                             bool has_features)
{
    th_samples *s = &t->samples;
    s->n_features = m->n_features;
    t->ms = th_alloc_array(n + 1, sizeof *t->ms);
    s->law_ms = th_alloc_array(n + 1, sizeof *s->law_ms);
    if (has_features)
        s->x = th_alloc_array(n + 1, (size_t)s->n_features * sizeof *s->x);
    return t->ms && s->law_ms && (s->x || !has_features) ? 0 : -1;
}

int th_training_set_make(th_training_set *out, const th_training_rows *r,
                         const th_row_filter *selection, const th_sampling *sampling)
{
    const th_layer_model *m = r->model;
    size_t n, n_terms = (size_t)m->n_terms;
    uint64_t limit = limit_of(r, selection, &n);
    *out = (th_training_set){.ms = NULL};
    if (training_set_init(out, n, m, sampling->has_features)) {
        th_training_set_clear(out);
        return -1;
    }
    th_samples *s = &out->samples;
    for (size_t i = 0; i < r->n; i++) {
        const th_measurement *row = row_of(r, i);
        if (!is_selected(r, selection, i) || !is_drawn(r, i, limit))
            continue;
        size_t law = sampling->is_seen ? (size_t)r->device[i] : 0;
        s->law_ms[s->n] = th_layer_model_sample(m, &row->op, &m->device[r->device[i]],
                                                sampling->weight + law * n_terms,
                                                s->x ? s->x + s->n * (size_t)m->n_features : NULL);
        out->ms[s->n++] = th_measured_even_ms(r->all, row);
    }
    return 0;
}

void th_training_set_clear(th_training_set *t)
{
    th_free(t->ms);
    th_free(t->samples.law_ms);
    th_free(t->samples.x);
    *t = (th_training_set){.ms = NULL};
}
