/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_sets.c - how long accelerators of one class take for layers, in disjoint sets that run
 * each layer with one design.
 *
 *   on_sets: layers in groups of equal times -> partition by partition { prices } -> the least
 *
 * A kind of set k is a size n_k and a design; t_lk is the least time of layer l on such a set, its
 * accelerator time over n_k. A mapping partitions the accelerators into sets, c_k of each kind, and
 * runs every layer on one of them, so its makespan T is at least that of the linear program
 *     sum_k x_lk = 1 for each layer,   sum_l x_lk t_lk <= c_k T for each kind,   x >= 0,
 * and, by duality, T >= sum_l min_k y_k t_lk for any prices y >= 0 with sum_k c_k y_k = 1
 * (bounds_price.c). A partition is out of the question as soon as its bound reaches the least of
 * those before. Idle accelerators count as sets that run nothing. With more than PARTITIONS_MAX
 * partitions the bound is not known. */
#include <config.h>

#include "mapper/evaluate/bounds_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum {
    PARTITIONS_MAX = 5000, /* 810 of eight accelerators with three designs */
    KINDS_MAX = 16,        /* of sets in one partition */
    TRIALS = 60            /* of prices */
};

/* Equal sets of a partition. */
typedef struct kind {
    int size, design, count;
} kind;

typedef struct search {
    const th_bound_finder *f;
    int n_kinds;          /* of sets in all */
    int n_groups;         /* of layers of equal times */
    double *time;         /* by group and kind: of all its layers */
    kind part[KINDS_MAX]; /* the partition that is being made */
    int n_part, n_partitions;
    kind best[KINDS_MAX];
    int n_best;
    double least;
} search;

static double time_of(const search *s, int group, const kind *k)
{
    return s->time[group * s->n_kinds + th_floors_set(&s->f->floors, k->size, k->design)];
}

/* The bound at these prices; load: of one set of each kind, if each group runs where it is
 * cheapest. */
static double load_kinds(const search *s, const double *price, double *load)
{
    double sum = 0;
    memset(load, 0, KINDS_MAX * sizeof *load);
    for (int g = 0; g < s->n_groups; g++) {
        double least = INFINITY, time = 0;
        int at = 0;
        for (int k = 0; k < s->n_part; k++) {
            double of_kind = time_of(s, g, &s->part[k]);
            if (price[k] * of_kind < least) {
                least = price[k] * of_kind;
                time = of_kind;
                at = k;
            }
        }
        if (least == INFINITY) /* the partition cannot run it */
            return INFINITY;
        load[at] += time / s->part[at].count;
        sum += least;
    }
    return sum;
}

/* Raises the prices of kinds with more than the mean load and lowers the others. */
static void adjust(const search *s, double *price, const double *load, double mean, int trial)
{
    double most = 0, sum = 0, step = 0.5 / sqrt(trial);
    for (int k = 0; k < s->n_part; k++)
        most = fmax(most, fabs(load[k] - mean));
    for (int k = 0; k < s->n_part; k++) {
        if (most > 0)
            price[k] *= 1 + step * (load[k] - mean) / most;
        sum += price[k] * s->part[k].count;
    }
    for (int k = 0; k < s->n_part; k++)
        price[k] /= sum;
}

/* The partition that has been made. */
static void try_partition(search *s)
{
    double price[KINDS_MAX], load[KINDS_MAX], most = 0;
    int n_accels = s->f->system->n_accels;
    for (int k = 0; k < s->n_part; k++)
        price[k] = (double)s->part[k].size / n_accels;
    for (int trial = 1; trial <= TRIALS && most < s->least; trial++) {
        double bound = load_kinds(s, price, load);
        most = fmax(most, bound);
        if (s->n_part == 1 || bound == INFINITY)
            break;
        adjust(s, price, load, bound, trial);
    }
    if (most < s->least) {
        s->least = most;
        s->n_best = s->n_part;
        memcpy(s->best, s->part, sizeof s->best);
    }
}

/* All ways to partition `left` further accelerators into sets, by descending (size, design), none
 * above that of `from`. False: there are too many. */
static bool add_sets(search *s, int left, int size, int design)
{
    if (left == 0) {
        try_partition(s);
        return ++s->n_partitions <= PARTITIONS_MAX;
    }
    for (; size > 0; size--, design = s->f->floors.n_designs - 1)
        for (; size <= left && design >= 0; design--) {
            kind *last = s->n_part > 0 ? &s->part[s->n_part - 1] : NULL;
            bool is_same = last && last->size == size && last->design == design;
            if (!is_same && s->n_part == KINDS_MAX)
                return false;
            if (is_same)
                last->count++;
            else
                s->part[s->n_part++] = (kind){size, design, 1};
            if (!add_sets(s, left - size, size, design))
                return false;
            if (is_same)
                last->count--;
            else
                s->n_part--;
        }
    return true;
}

/* Layers of the window with equal times, wherever they run, are one group. */
static void group_layers(search *s, th_bound_window window, int *first_of)
{
    const th_bound_finder *f = s->f;
    size_t size = (size_t)s->n_kinds * sizeof *f->on_set;
    for (int l = 0; l < f->workload->n_layers; l++) {
        int g = 0;
        if (f->head[l] < window.head || f->tail[l] < window.tail)
            continue;
        while (g < s->n_groups &&
               memcmp(&f->on_set[first_of[g] * s->n_kinds], &f->on_set[l * s->n_kinds], size) != 0)
            g++;
        if (g == s->n_groups)
            first_of[s->n_groups++] = l;
        for (int k = 0; k < s->n_kinds; k++)
            s->time[g * s->n_kinds + k] +=
                f->on_set[l * s->n_kinds + k] / (double)(k / f->floors.n_designs + 1);
    }
}

/* "4 + 2 + 2" */
static void describe(const search *s, char *text, size_t size)
{
    size_t at = 0;
    *text = '\0';
    for (int k = 0; k < s->n_best; k++)
        for (int i = 0; i < s->best[k].count && at < size; i++)
            at += (size_t)snprintf(text + at, size - at, "%s%d", at > 0 ? " + " : "",
                                   s->best[k].size);
}

double th_bound_on_sets(const th_bound_finder *f, th_bound_window window, char *text, size_t size)
{
    size_t n_layers = (size_t)f->workload->n_layers;
    search s = {.f = f, .n_kinds = th_floors_n_sets(&f->floors), .least = INFINITY};
    *text = '\0';
    if (s.n_kinds == 0)
        return 0;
    s.time = th_alloc_zero(n_layers * (size_t)s.n_kinds + 1, sizeof *s.time);
    int *first_of = th_alloc_zero(n_layers + 1, sizeof *first_of);
    bool is_known = s.time && first_of;
    if (is_known) {
        group_layers(&s, window, first_of);
        is_known =
            add_sets(&s, f->system->n_accels, f->system->n_accels, f->floors.n_designs - 1) &&
            s.least < INFINITY;
        if (is_known)
            describe(&s, text, size);
    }
    double least = !s.time || !first_of ? -1 : is_known ? s.least : 0;
    th_free(s.time);
    th_free(first_of);
    return least;
}
