/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axis.c - the ends and the ticks of an axis, for gnuplot and for terminals alike.
 *   th_plot_axis_find: ends of the data -> step -> ends on ticks -> ticks
 * Ticks of a linear axis are multiples of 1, 2 or 5 times a power of ten; those of a logarithmic
 * one powers of ten, or also twice and five times that where there are few. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "report/plot/plot.h"

/* An axis starts at 0 if the data come this close to it, as part of the largest value. */
static const double NEAR_ZERO = 0.4;

const char *th_plot_number(double value, int decimals, char *out, size_t size)
{
    char digits[64];
    int n = snprintf(digits, sizeof digits, "%.*f", decimals < 0 ? 0 : decimals, value);
    int whole = (int)strcspn(digits, "."), at = 0;
    for (int i = 0; i < n && at + 2 < (int)size; i++) {
        out[at++] = digits[i];
        int left = whole - i - 1;
        if (left > 0 && left % 3 == 0 && digits[i] != '-')
            out[at++] = ',';
    }
    out[at] = '\0';
    return out;
}

const char *th_plot_label(double value, char *out, size_t size)
{
    double magnitude = fabs(value);
    if (magnitude >= 1e9 || (magnitude < 1e-3 && magnitude > 0))
        snprintf(out, size, "%.3g", value);
    else if (magnitude >= 100)
        th_plot_number(value, 0, out, size);
    else
        snprintf(out, size, "%.3g", value);
    return out;
}

static void add_tick(th_plot_ticks *t, double value, int decimals)
{
    if (t->n == TH_TICKS_MAX)
        return;
    t->value[t->n] = value;
    if (fabs(value) >= 1e9)
        snprintf(t->text[t->n++], sizeof t->text[0], "%g", value);
    else
        th_plot_number(value, decimals, t->text[t->n++], sizeof t->text[0]);
}

/* ---- linear ---- */

static double step_for(double span, int most)
{
    static const double multiples[] = {1, 2, 5, 10};
    double least = span / most, power = pow(10, floor(log10(least)));
    for (int i = 0; i < 4; i++)
        if (multiples[i] * power >= least * (1 - 1e-9))
            return multiples[i] * power;
    return 10 * power;
}

static void find_linear(double least, double largest, int most, th_plot_ticks *t)
{
    if (least >= 0 && least <= NEAR_ZERO * largest)
        least = 0;
    if (largest <= least) {
        double room = largest != 0 ? fabs(largest) * 0.1 : 1;
        least = least > 0 && least < room ? 0 : least - room;
        largest += room;
    }
    double step = step_for(largest - least, most);
    int decimals = (int)ceil(-log10(step) - 1e-9);
    double first = floor(least / step + 1e-9), last = ceil(largest / step - 1e-9);
    t->from = first * step;
    t->to = last * step;
    for (double k = first; k <= last; k++)
        add_tick(t, k * step, decimals);
}

/* ---- logarithmic ---- */

static void find_log(double least, double largest, int most, th_plot_ticks *t)
{
    static const double multiples[] = {1, 2, 5};
    double first = floor(log10(least) + 1e-9), last = ceil(log10(largest) - 1e-9);
    last = last > first ? last : first + 1;
    bool is_wide = last - first > 2;
    double stride = ceil((last - first) / most);
    t->from = pow(10, first);
    t->to = pow(10, last);
    for (double power = first; power <= last; power += stride)
        for (int i = 0; i < (is_wide ? 1 : 3) && (i == 0 || power < last); i++)
            add_tick(t, multiples[i] * pow(10, power), (int)-power);
}

void th_plot_axis_find(double least, double largest, bool is_log, int most, th_plot_ticks *t)
{
    *t = (th_plot_ticks){.n = 0};
    if (is_log && least > 0)
        find_log(least, largest, most, t);
    else
        find_linear(least, largest, most, t);
}

/* ---- the ends of the data ---- */

static void include(double value, bool is_log, double *least, double *largest)
{
    if (!isfinite(value) || (is_log && value <= 0))
        return;
    *least = fmin(*least, value);
    *largest = fmax(*largest, value);
}

void th_plot_ends(const th_plot *p, bool is_y, double *least, double *largest)
{
    bool is_log = is_y ? p->y.is_log : p->x.is_log;
    *least = INFINITY;
    *largest = -INFINITY;
    for (int s = 0; s < p->n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            const th_plot_point *point = &p->series[s].point[i];
            if (is_y || p->series[s].join != TH_JOIN_LEVEL)
                include(is_y ? point->y : point->x, is_log, least, largest);
        }
    if (*least > *largest)
        *least = is_log ? 1 : 0, *largest = is_log ? 10 : 1;
}
