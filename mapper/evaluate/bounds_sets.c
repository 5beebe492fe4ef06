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
    int n_groups;         /* of layers with equal ways to run them */
    int *first_of, *size; /* by group: its first layer, its layers */
    bool *is_on_path;     /* by layer */
    bool has_path;
    kind part[KINDS_MAX]; /* the partition that is being made */
    int n_part, n_partitions;
    kind best[KINDS_MAX];
    int n_best;
    double least;
} search;

/* The prices of one set of each kind, then that of the path. */
typedef double prices[KINDS_MAX + 1];

/* A group where it is cheapest. */
typedef struct choice {
    double cost, time, span;
    int kind;
} choice;

static choice cheapest_of(const search *s, const double *price, int group)
{
    const int l = s->first_of[group];
    const double of_path = s->is_on_path[l] ? price[s->n_part] : 0;
    choice least = {INFINITY, 0, 0, 0};
    for (int k = 0; k < s->n_part; k++) {
        const th_ways *w =
            &s->f->on_set[l * s->n_kinds +
                          th_floors_set(&s->f->floors, s->part[k].size, s->part[k].design)];
        for (int i = 0; i < w->n; i++) {
            const double time = w->way[i].work / s->part[k].size,
                         cost = price[k] * time + of_path * w->way[i].span;
            if (cost < least.cost)
                least = (choice){cost, time, w->way[i].span, k};
        }
    }
    return least;
}

/* The bound at these prices; load: of one set of each kind, if each group runs where it is
 * cheapest, and of the path. */
static double load_kinds(const search *s, const double *price, double *load)
{
    double sum = 0;
    memset(load, 0, sizeof(prices));
    for (int g = 0; g < s->n_groups; g++) {
        const choice x = cheapest_of(s, price, g);
        if (x.cost == INFINITY) /* the partition cannot run it */
            return INFINITY;
        load[x.kind] += s->size[g] * x.time / s->part[x.kind].count;
        load[s->n_part] += s->is_on_path[s->first_of[g]] ? s->size[g] * x.span : 0;
        sum += s->size[g] * x.cost;
    }
    return sum;
}

/* Raises the prices of kinds with more than the mean load and lowers the others; of the first n. */
static void adjust(const search *s, int n, double *price, const double *load, double mean,
                   int trial)
{
    double most = 0, sum = 0, step = 0.5 / sqrt(trial);
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(load[k] - mean));
    for (int k = 0; k < n; k++) {
        if (most > 0)
            price[k] *= 1 + step * (load[k] - mean) / most;
        sum += price[k] * (k < s->n_part ? s->part[k].count : 1);
    }
    for (int k = 0; k < n; k++)
        price[k] /= sum;
}

/* Raises *most to the bounds at prices from these on, of the first n; *price becomes the best
 * ones. */
static void try_prices(const search *s, int n, double *price, double *most)
{
    prices now, load;
    memcpy(now, price, sizeof now);
    for (int trial = 1; trial <= TRIALS && *most < s->least; trial++) {
        const double bound = load_kinds(s, now, load);
        if (bound > *most) {
            *most = bound;
            memcpy(price, now, sizeof now);
        }
        if (n == 1 || bound == INFINITY)
            break;
        adjust(s, n, now, load, bound, trial);
    }
}

/* The partition that has been made. */
static void try_partition(search *s)
{
    const double FIRST = 0.1; /* of the prices, for the path */
    prices price = {0};
    double most = 0;
    int n_accels = s->f->system->n_accels;
    for (int k = 0; k < s->n_part; k++)
        price[k] = (double)s->part[k].size / n_accels;
    try_prices(s, s->n_part, price, &most);
    for (int k = 0; k < s->n_part; k++)
        price[k] *= 1 - FIRST;
    price[s->n_part] = FIRST;
    if (s->has_path)
        try_prices(s, s->n_part + 1, price, &most);
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

static bool is_in(const th_bound_finder *f, th_bound_window window, int l)
{
    return f->head[l] >= window.head && f->tail[l] >= window.tail;
}

/* The least accelerator time of the layer on any set. */
static double least_work(const search *s, int l)
{
    double least = INFINITY;
    for (int k = 0; k < s->n_kinds; k++) {
        const th_ways *w = &s->f->on_set[l * s->n_kinds + k];
        least = fmin(least, w->n > 0 ? w->way[0].work : INFINITY);
    }
    return least < INFINITY ? least : 0;
}

/* The path of most work through the window on which every task waits for one of the layer before:
 * each reads something of all its inputs. work, from: by layer, scratch. */
static void find_path(search *s, th_bound_window window, double *work, int *from)
{
    const th_workload *w = s->f->workload;
    int last = -1;
    for (int l = 0; l < w->n_layers; l++) {
        const th_layer_floor *x = &s->f->floor[l];
        work[l] = from[l] = -1;
        if (!is_in(s->f, window, l) || x->is_by_rate || x->unknown != TH_UNKNOWN_NONE)
            continue;
        work[l] = 0;
        for (int i = 0; x->reads_always && i < w->layers[l].n_inputs; i++) {
            const int32_t input = w->layers[l].inputs[i];
            if (input >= 0 && work[input] > work[l]) {
                work[l] = work[input];
                from[l] = input;
            }
        }
        work[l] += least_work(s, l);
        if (last < 0 || work[l] > work[last])
            last = l;
    }
    s->has_path = last >= 0;
    for (; last >= 0; last = from[last])
        s->is_on_path[last] = true;
}

static bool have_equal_ways(const search *s, int a, int b)
{
    const size_t n = (size_t)s->n_kinds;
    const th_ways *on_set = s->f->on_set;
    bool are_equal = s->is_on_path[a] == s->is_on_path[b];
    for (size_t k = 0; are_equal && k < n; k++) {
        const th_ways *x = &on_set[(size_t)a * n + k], *y = &on_set[(size_t)b * n + k];
        are_equal = x->n == y->n && memcmp(x->way, y->way, (size_t)x->n * sizeof *x->way) == 0;
    }
    return are_equal;
}

static void group_layers(search *s, th_bound_window window)
{
    for (int l = 0; l < s->f->workload->n_layers; l++) {
        int g = 0;
        if (!is_in(s->f, window, l))
            continue;
        while (g < s->n_groups && !have_equal_ways(s, s->first_of[g], l))
            g++;
        if (g == s->n_groups)
            s->first_of[s->n_groups++] = l;
        s->size[g]++;
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
    size_t n = (size_t)f->workload->n_layers + 1;
    search s = {.f = f, .n_kinds = th_floors_n_sets(&f->floors), .least = INFINITY};
    *text = '\0';
    if (s.n_kinds == 0)
        return 0;
    double *work = th_alloc_zero(n, sizeof *work), least = -1;
    int *from = th_alloc_zero(n, sizeof *from);
    s.first_of = th_alloc_zero(n, sizeof *s.first_of);
    s.size = th_alloc_zero(n, sizeof *s.size);
    s.is_on_path = th_alloc_zero(n, sizeof *s.is_on_path);
    if (work && from && s.first_of && s.size && s.is_on_path) {
        find_path(&s, window, work, from);
        group_layers(&s, window);
        const int n_accels = f->system->n_accels;
        const bool is_known =
            add_sets(&s, n_accels, n_accels, f->floors.n_designs - 1) && s.least < INFINITY;
        least = is_known ? s.least : 0;
        if (is_known)
            describe(&s, text, size);
    }
    th_free(work);
    th_free(from);
    th_free(s.first_of);
    th_free(s.size);
    th_free(s.is_on_path);
    return least;
}
