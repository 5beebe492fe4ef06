/* SPDX-License-Identifier: GPL-3.0-or-later */
/* roofline.c - the roofline (Williams, Waterman, Patterson, CACM 52, 2009) with fitted
 * efficiencies: ms = host + max(operations / (a peak), bytes / (b bandwidth)), or the sum of the
 * two train: { either form: simplex search over ln(host), ln(a), ln(b) of a device, then of all }
 * -> the better The search (Nelder, Mead, Computer Journal 7, 1965; GSL) lowers the mean absolute
 * relative error, which has kinks, over a sample. A known device has efficiencies of its own;
 * others have those of all together. */
#include <config.h>

#include <gsl/gsl_multimin.h>
#include <math.h>

#include "base/alloc.h"
#include "predictor/learners/learners.h"
#include "predictor/regress/predictor_text.h"

enum { HOST, COMPUTE, MEMORY, N_PARAMETERS };
enum { ROWS_MIN = 30, SAMPLE = 2000, STEPS_MAX = 600, ALL = -1 };
static const double MS_PER_S = 1e3, GIGA = 1e9, SIZE_MIN = 1e-6;

typedef struct {
    double ln[N_PARAMETERS]; /* of host ms, and of the efficiencies */
    bool is_sum;
} roof;

typedef struct {
    int n_devices;
    roof *roof; /* by device; behind the last: of all */
} roofline;

/* What the operation takes at the data sheet's peak and bandwidth. */
typedef struct {
    double compute_ms, memory_ms, ms;
} point;

static point point_of(const th_sight *row, double ms)
{
    double bytes =
        th_op_input_bytes(row->op) + th_op_weight_bytes(row->op) + th_op_output_bytes(row->op);
    return (point){th_op_flops(row->op) / (row->gpu->x[TH_GPU_PEAK] * GIGA) * MS_PER_S,
                   bytes / (row->gpu->x[TH_GPU_BANDWIDTH] * GIGA) * MS_PER_S, ms};
}

static double answer(const point *p, double host, double a, double b, bool is_sum)
{
    double compute = p->compute_ms / a, memory = p->memory_ms / b;
    return host + (is_sum ? compute + memory : fmax(compute, memory));
}

typedef struct {
    const point *point;
    size_t n;
    bool is_sum;
} sample;

static double error_of(const gsl_vector *ln, void *state)
{
    const sample *s = state;
    double host = exp(gsl_vector_get(ln, HOST)), a = exp(gsl_vector_get(ln, COMPUTE)),
           b = exp(gsl_vector_get(ln, MEMORY)), sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += fabs(answer(&s->point[i], host, a, b, s->is_sum) / s->point[i].ms - 1);
    return sum / (double)s->n;
}

/* Rows of a device (or ALL), evenly spread over the lesson. */
static size_t draw(const th_lesson *l, int device, point *out)
{
    const th_sights *s = &l->sights;
    size_t n = 0, taken = 0, met = 0;
    for (size_t i = 0; i < s->n; i++)
        n += device == ALL || s->row[i].device == device;
    for (size_t i = 0; i < s->n; i++) {
        if (device != ALL && s->row[i].device != device)
            continue;
        if (met++ % (n / SAMPLE + 1) == 0)
            out[taken++] = point_of(&s->row[i], l->ms[i]);
    }
    return taken;
}

/* From *out on. Its error; INFINITY: memory is out. */
static double search(sample *s, roof *out)
{
    gsl_vector *at = gsl_vector_alloc(N_PARAMETERS), *step = gsl_vector_alloc(N_PARAMETERS);
    gsl_multimin_fminimizer *f =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, N_PARAMETERS);
    gsl_multimin_function function = {error_of, N_PARAMETERS, s};
    double error = INFINITY;
    if (at && step && f) {
        for (size_t i = 0; i < N_PARAMETERS; i++)
            gsl_vector_set(at, i, out->ln[i]);
        gsl_vector_set_all(step, 1);
        gsl_multimin_fminimizer_set(f, &function, at, step);
        for (int i = 0; i < STEPS_MAX && gsl_multimin_fminimizer_size(f) > SIZE_MIN; i++)
            if (gsl_multimin_fminimizer_iterate(f))
                break;
        for (size_t i = 0; i < N_PARAMETERS; i++)
            out->ln[i] = gsl_vector_get(f->x, i);
        out->is_sum = s->is_sum;
        error = f->fval;
    }
    gsl_multimin_fminimizer_free(f);
    gsl_vector_free(at);
    gsl_vector_free(step);
    return error;
}

/* Begins at *begin. */
static int fit(const point *points, size_t n, const roof *begin, roof *out)
{
    roof sum = *begin;
    sample s = {points, n, false};
    *out = *begin;
    double error = search(&s, out);
    s.is_sum = true;
    double error_of_sum = search(&s, &sum);
    if (!isfinite(error) || !isfinite(error_of_sum))
        return -1;
    if (error_of_sum < error)
        *out = sum;
    return 0;
}

static void clear(void *state)
{
    roofline *m = state;
    if (m)
        th_free(m->roof);
    th_free(m);
}

static roofline *create(int n_devices)
{
    roofline *m = th_alloc_zero(1, sizeof *m);
    if (!m)
        return NULL;
    m->n_devices = n_devices;
    m->roof = th_alloc_zero((size_t)n_devices + 1, sizeof *m->roof);
    if (m->roof)
        return m;
    clear(m);
    return NULL;
}

/* Devices of few rows are left with the roof of all. */
static int fit_all(roofline *m, const th_lesson *l, point *points)
{
    static const roof begin = {{[HOST] = -2, [COMPUTE] = -1, [MEMORY] = -1}, false};
    roof *of_all = &m->roof[m->n_devices];
    if (fit(points, draw(l, ALL, points), &begin, of_all))
        return -1;
    for (int d = 0; d < m->n_devices; d++) {
        size_t n = l->is_known ? draw(l, d, points) : 0;
        m->roof[d] = *of_all;
        if (n >= ROWS_MIN && fit(points, n, of_all, &m->roof[d]))
            return -1;
    }
    return 0;
}

static int train(const th_lesson *l, const th_effort *o, void **state, th_error *err)
{
    roofline *m = create(l->n_devices);
    point *points = th_alloc_array(l->sights.n + 1, sizeof *points);
    (void)o;
    int failed = !m || !points || fit_all(m, l, points) ? th_error_no_memory(err) : 0;
    th_free(points);
    *state = m;
    if (failed) {
        clear(m);
        *state = NULL;
    }
    return failed;
}

static void run(const void *state, const th_sights *s, double *ln_ms)
{
    const roofline *m = state;
    for (size_t i = 0; i < s->n; i++) {
        const roof *r = &m->roof[s->row[i].device];
        point p = point_of(&s->row[i], 0);
        ln_ms[i] =
            log(answer(&p, exp(r->ln[HOST]), exp(r->ln[COMPUTE]), exp(r->ln[MEMORY]), r->is_sum));
    }
}

static void write(const void *state, th_strbuf *out)
{
    const roofline *m = state;
    for (int d = 0; d <= m->n_devices; d++) {
        double x[] = {m->roof[d].is_sum, m->roof[d].ln[HOST], m->roof[d].ln[COMPUTE],
                      m->roof[d].ln[MEMORY]};
        th_text_add_doubles("roof", x, sizeof x / sizeof x[0], out);
    }
}

static int read(struct th_text_reader *r, int n_devices, int n_features, int n_plain, void **state)
{
    roofline *m = *state = create(n_devices);
    (void)n_features, (void)n_plain;
    if (!m)
        return th_error_no_memory(r->err);
    for (int d = 0; d <= n_devices; d++) {
        double x[1 + N_PARAMETERS];
        if (th_text_doubles(r, "roof", x, sizeof x / sizeof x[0]))
            return -1;
        m->roof[d] = (roof){{x[1], x[2], x[3]}, x[0] > 0};
    }
    return 0;
}

const th_learner_type th_learner_roofline = {
    .name = "roofline",
    .help = "operations at the peak, bytes at the bandwidth, with fitted efficiencies",
    .train = train,
    .run = run,
    .write = write,
    .read = read,
    .clear = clear,
};
