/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failure_law.c - see failure_law.h. Under the exponential law the units together are one Poisson
 * process: one draw per failure, whatever their number. Under another, the next failure of every
 * unit waits in a heap. */
#include <config.h>

#include "sim/reliability/failure_law.h"

#include <math.h>

#include "base/alloc.h"
#include "base/elementary.h"
#include "base/random.h"

typedef struct unit {
    double at;
    int64_t number;
} unit;

struct th_failure_stream {
    const th_failure_kind *kind;
    gsl_rng *random;
    double scale; /* of the Weibull law */
    double at;
    int64_t number; /* the unit that fails at that time */
    unit *units;    /* a heap; NULL: exponential, or a trace */
    int64_t next;   /* of a trace */
};

static bool fails_before(const unit *a, const unit *b)
{
    return a->at < b->at || (a->at == b->at && a->number < b->number);
}

#define TH_HEAP_ITEM            unit
#define TH_HEAP_OWNER           th_failure_stream
#define TH_HEAP_BEFORE(o, a, b) fails_before(a, b)
#define TH_HEAP_MOVED(o, x, i)  ((void)0)
#include "base/heap.h"

double th_failure_kind_mtbf(const th_failure_kind *k, double duration_s)
{
    if (!k->times_s)
        return k->mtbf_s / (double)k->n_units;
    int64_t n = 0;
    while (n < k->n_times && k->times_s[n] < duration_s)
        n++;
    return n > 0 ? duration_s / (double)n : INFINITY;
}

/* Gamma(x), x >= 1: C. Lanczos, A precision approximation of the gamma function, SIAM J. Numer.
 * Anal. B 1, 1964, with g = 7 and nine terms. */
static double gamma_of(double x)
{
    static const double c[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                               771.32342877765313,   -176.61502916214059,   12.507343278686905,
                               -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
    const double root_of_2_pi = 2.5066282746310002;
    double sum = c[0], t = x + 6.5;
    for (int i = 1; i < 9; i++)
        sum += c[i] / (x - 1 + i);
    return root_of_2_pi * th_pow(t, x - 0.5) * th_exp(-t) * sum;
}

/* Of mean 1, under the exponential law. */
static double draw(th_failure_stream *f)
{
    return -th_log(1 - th_random_unit(f->random));
}

static double draw_of_unit(th_failure_stream *f)
{
    return f->scale * th_pow(draw(f), 1 / f->kind->shape);
}

/* The head of the heap, after it has changed. */
static void take_head(th_failure_stream *f)
{
    f->at = f->units[0].at;
    f->number = f->units[0].number;
}

static void replace_head(th_failure_stream *f, double from_s)
{
    f->units[0].at = from_s + draw_of_unit(f);
    th_heap_down(f, f->units, (size_t)f->kind->n_units, 0, f->units[0]);
    take_head(f);
}

static void draw_next(th_failure_stream *f, double from_s)
{
    f->at = from_s + draw(f) * f->kind->mtbf_s / (double)f->kind->n_units;
    f->number = (int64_t)th_random_below(f->random, (uint64_t)f->kind->n_units);
}

static void find_next(th_failure_stream *f, double from_s)
{
    while (f->next < f->kind->n_times && f->kind->times_s[f->next] < from_s)
        f->next++;
    f->at = f->next < f->kind->n_times ? f->kind->times_s[f->next] : INFINITY;
}

/* 0 or -1. */
static int fill_units(th_failure_stream *f)
{
    int64_t n = f->kind->n_units;
    f->scale = f->kind->mtbf_s / gamma_of(1 + 1 / f->kind->shape);
    f->units = th_alloc_array((size_t)n, sizeof *f->units);
    if (!f->units)
        return -1;
    for (int64_t i = 0; i < n; i++)
        th_heap_up(f, f->units, (size_t)i, (unit){draw_of_unit(f), i});
    take_head(f);
    return 0;
}

th_failure_stream *th_failure_stream_new(const th_failure_kind *k, uint64_t seed, uint64_t index)
{
    th_failure_stream *f = th_alloc_zero(1, sizeof *f);
    if (!f)
        return NULL;
    f->kind = k;
    f->random = th_random_stream(seed, "failures", index);
    if (!f->random)
        goto fail;
    if (k->times_s)
        find_next(f, 0);
    else if (k->shape == 1)
        draw_next(f, 0);
    else if (fill_units(f))
        goto fail;
    return f;
fail:
    th_failure_stream_free(f);
    return NULL;
}

void th_failure_stream_free(th_failure_stream *f)
{
    if (!f)
        return;
    if (f->random)
        gsl_rng_free(f->random);
    th_free(f->units);
    th_free(f);
}

double th_failure_stream_at(const th_failure_stream *f)
{
    return f->at;
}

int64_t th_failure_stream_unit(const th_failure_stream *f)
{
    return f->number;
}

void th_failure_stream_renew(th_failure_stream *f, double from_s)
{
    if (f->kind->times_s) {
        f->next++;
        find_next(f, from_s);
        return;
    }
    if (!f->units) {
        draw_next(f, from_s);
        return;
    }
    replace_head(f, from_s);
    while (f->at < from_s)
        replace_head(f, from_s);
}
