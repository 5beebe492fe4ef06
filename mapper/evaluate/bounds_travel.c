/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_travel.c - the least time in which data get from accelerator to accelerator, wherever
 * they are.
 *   init: { routes from one accelerator, the k nearest of them } of each -> the least of all
 *
 * One that has bytes for n others does not choose them: at best they are the nearest. Over all
 * accelerators a, latency[k] is the least latency from a to its k-th nearest; so are times per
 * byte. Where transfers share links, those that cross the same first link take turns: the i-th of
 * them ends no sooner than i transfers' time. Proofs: docs/models/bounds.md. */
#include <config.h>

#include "base/min_max.h"
#include "mapper/evaluate/bounds_travel.h"

#include <math.h>
#include <stdlib.h>

#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

enum { N_MAX = TH_TRAVEL_ACCELS_MAX };
static const double ROUNDING_PS = 1e-3; /* of a transfer, sim/kernel/fluid_time.h */

/* From one accelerator to all. */
typedef struct {
    const th_bound_finder *finder;
    bool shares; /* transfers share links */
    double latency[N_MAX], per_byte[N_MAX];
    int link[N_MAX]; /* the first one */
} routes;

static double ps_per_byte(const th_bound_finder *f, int link)
{
    const int32_t medium = f->system->links[link].medium;
    const int64_t bits = f->system->media[medium].bits_per_s;
    const double part = f->floors.scope.bandwidth ? f->floors.scope.bandwidth[medium] : 1;
    return bits == TH_UNLIMITED || th_has_stripes(f->system)
               ? 0
               : 8 * (double)TH_PS_PER_S / ((double)bits * part);
}

/* Do transfers over both take turns? */
static bool is_shared(const routes *r, int link, int other)
{
    const th_link *links = r->finder->system->links;
    const bool by_link = th_bound_physics_of(r->finder->problem) == TH_BOUND_SHARED_LINKS;
    return by_link ? link == other : links[link].medium == links[other].medium;
}

/* 0 or -1. */
static int find_routes(routes *r, int a)
{
    const th_system *s = r->finder->system;
    int links[TH_ROUTE_MAX];
    th_route_summary sum;
    for (int b = 0; b < s->n_accels; b++) {
        r->latency[b] = r->per_byte[b] = 0;
        if (b == a)
            continue;
        const int n = th_route(s, s->accel_node[a], s->accel_node[b], links);
        if (n <= 0 || th_route_summarize(s, s->accel_node[a], s->accel_node[b], &sum) < 0)
            return -1;
        r->latency[b] = (double)sum.latency_ps;
        for (int i = 0; i < n; i++)
            r->per_byte[b] = fmax(r->per_byte[b], ps_per_byte(r->finder, links[i]));
        r->link[b] = links[0];
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* least[k]: the lesser of it and the k-th least of v. */
static void lower(double *least, double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, compare);
    for (int k = 1; k <= n; k++)
        least[k] = fmin(least[k], v[k - 1]);
}

/* Times per byte from a, where the fastest of those that share its first link go first. */
static void take_turns(const routes *r, int a, double *v)
{
    const int n = r->finder->system->n_accels;
    for (int b = 0; b < n; b++) {
        int turn = 1;
        v[b] = r->per_byte[b];
        for (int c = 0; r->shares && c < n && b != a; c++)
            turn += c != a && is_shared(r, r->link[b], r->link[c]) &&
                    (r->per_byte[c] < v[b] || (r->per_byte[c] == v[b] && c < b));
        if (r->shares && b != a)
            v[b] = fmax(v[b], turn * ps_per_byte(r->finder, r->link[b]));
    }
}

int th_travel_init(th_travel *t, const th_bound_finder *f)
{
    const th_bound_physics how = th_bound_physics_of(f->problem);
    const int n = f->system->n_accels;
    routes r = {.finder = f, .shares = how != TH_BOUND_FREE_LINKS};
    double v[N_MAX];
    *t = (th_travel){.latency = {0}};
    if (how == TH_BOUND_SERIAL || how == TH_BOUND_NO_LINKS || n > N_MAX)
        return 0;
    for (int k = 1; k <= n; k++)
        t->latency[k] = t->send[k] = INFINITY;
    for (int a = 0; a < n; a++) {
        if (find_routes(&r, a))
            return -1;
        take_turns(&r, a, v);
        lower(t->send, v, n);
        lower(t->latency, r.latency, n);
    }
    return 0;
}

/* The last of n has the latency of the n-th nearest, or its time per byte, but the least of the
 * other. */
double th_travel_send(const th_travel *t, int n, double bytes)
{
    if (n <= 1 || bytes <= 0)
        return 0;
    return th_max(t->latency[n] + th_max(bytes * t->send[2] - ROUNDING_PS, 0.0),
                  t->latency[2] + th_max(bytes * t->send[n] - n * ROUNDING_PS, 0.0));
}
