/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_price.c - how long accelerators of several classes take for layers that they may share
 * at will.
 *
 *   find_prices: trial by trial { price all layers -> raise prices of classes that get too much }
 *
 * A linear program: with w_lk what all of layer l takes on class k, of n_k accelerators, the
 * least T so that
 *     sum_k x_lk = 1 for each layer,   sum_l x_lk w_lk <= n_k T for each class,   x >= 0.
 * Every schedule gives such x. By duality any prices y_k >= 0 with sum_k n_k y_k = 1 bound it
 * from below:
 *     T >= sum_l min_k y_k w_lk
 * (each accelerator of class k is busy for T at most, and a part x_lk of layer l costs it x_lk
 * w_lk). Good prices are found by multiplicative weights (S. Arora, E. Hazan, S. Kale, "The
 * Multiplicative Weights Update Method", Theory of Computing 8, 2012); whatever they are, the
 * bound holds. */
#include <config.h>

#include "mapper/evaluate/bounds_state.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { TRIALS = 400 };

double th_bound_priced(const th_bound_finder *f, const double *price, int l)
{
    int n = f->floors.n_classes;
    double least = INFINITY;
    for (int k = 0; k < n; k++)
        least = fmin(least, price[k] * f->whole[(size_t)l * (size_t)n + (size_t)k]);
    return least < INFINITY ? least : 0;
}

/* Scales the prices so that they sum to 1 over all accelerators. */
static void normalise(const th_floors *f, double *price)
{
    double sum = 0;
    for (int k = 0; k < f->n_classes; k++)
        sum += price[k] * f->size_of[k];
    for (int k = 0; k < f->n_classes; k++)
        price[k] /= sum;
}

/* Puts every layer where it is cheapest. load: by class, the load of one of its accelerators.
 * Returns the bound. */
static double load_classes(const th_bound_finder *f, const double *price, double *load)
{
    int n = f->floors.n_classes;
    double sum = 0;
    memset(load, 0, (size_t)n * sizeof *load);
    for (int l = 0; l < f->workload->n_layers; l++) {
        const double *whole = &f->whole[(size_t)l * (size_t)n];
        int cheapest = 0;
        for (int k = 1; k < n; k++)
            if (price[k] * whole[k] < price[cheapest] * whole[cheapest])
                cheapest = k;
        if (whole[cheapest] == INFINITY)
            continue;
        load[cheapest] += whole[cheapest] / f->floors.size_of[cheapest];
        sum += price[cheapest] * whole[cheapest];
    }
    return sum;
}

/* Raises prices of classes with more than the mean load and lowers the others: by a fraction of at
 * most 1 / sqrt(trial). */
static void adjust(const th_floors *f, double *price, const double *load, double mean, int trial)
{
    double most = 0, step = 0.5 / sqrt(trial);
    for (int k = 0; k < f->n_classes; k++)
        most = fmax(most, fabs(load[k] - mean));
    for (int k = 0; most > 0 && k < f->n_classes; k++)
        price[k] *= 1 + step * (load[k] - mean) / most;
    normalise(f, price);
}

int th_bound_find_prices(const th_bound_finder *f, double *price)
{
    size_t n = (size_t)f->floors.n_classes;
    double *now = th_alloc_zero(2 * n + 1, sizeof *now), best = -1;
    if (!now)
        return -1;
    for (size_t k = 0; k < n; k++)
        now[k] = 1;
    normalise(&f->floors, now);
    for (int trial = 1; trial <= TRIALS; trial++) {
        double bound = load_classes(f, now, now + n);
        if (bound > best)
            memcpy(price, now, n * sizeof *price);
        best = fmax(best, bound);
        adjust(&f->floors, now, now + n, bound, trial);
    }
    th_free(now);
    return 0;
}

double th_bound_shared(const th_bound_finder *f, int l)
{
    int n = f->floors.n_classes;
    double rate = 0;
    for (int k = 0; k < n; k++)
        rate += f->floors.size_of[k] / f->whole[(size_t)l * (size_t)n + (size_t)k];
    return rate > 0 && rate < INFINITY ? 1 / rate : 0;
}
