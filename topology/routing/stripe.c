/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripe.c - one message over several links at once, see stripe.h.
 *   th_stripes_find -> th_route_stripe of each
 * A message is the interval [0, 1). At a node that has several links on, each takes a part as large
 * as its share of their bandwidth, in their order; a byte takes the link in whose part it stands.
 * Stripes are the pieces between the ends of all parts. So a link carries at most its share of what
 * leaves its node, and no stripe arrives later than the whole message would on one route; and the
 * number of stripes is that of the ends, not a product over nodes. A node whose link is as wide as
 * all that leave the source is not divided: nothing would arrive earlier.
 * Not modelled: shares that follow contention or links that have become slower. */
#include <config.h>
#include "topology/routing/stripe.h"

#include "base/alloc.h"
#include "base/min_max.h"
#include "topology/routing/explicit.h"
#include "topology/routing/neighbors.h"
#include "topology/routing/route.h"

#define WHOLE TH_STRIPE_WHOLE

/* A walk from the source along the links that the byte at `at` takes. */
typedef struct walk {
    const th_system *s;
    int dst;
    const bool *is_avoided;
    int64_t at, end; /* the next byte that takes another link */
    int64_t leaves;  /* bits/s of all links that may be taken out of the source; 0: not yet known */
} walk;

static int64_t bits_of(const th_system *s, int link)
{
    enum { MOST = 48 }; /* bits: sums of all links stay below 2^63 */
    return th_min(s->media[s->links[link].medium].bits_per_s, (int64_t)1 << MOST);
}

static bool is_usable(const walk *w, int link)
{
    const th_link *l = &w->s->links[link];
    return !l->is_dead && !(w->is_avoided && w->is_avoided[l->medium]);
}

int64_t th_stripe_bits(const th_system *s, int link, int64_t bytes)
{
    const th_link *l = &s->links[link];
    int64_t sum = 0;
    if (!th_is_striped(s, bytes) || l->from < 0)
        return s->media[l->medium].bits_per_s;
    for (int i = th_neighbors_find(s, l->from, l->to); i < s->adjacency.out_start[l->from + 1];
         i++) {
        const th_link *o = &s->links[s->routes.neighbors[i]];
        bool is_beside = o->to == l->to && o->latency_ps == l->latency_ps && !o->is_dead;
        sum += is_beside ? bits_of(s, s->routes.neighbors[i]) : 0;
    }
    return sum;
}

int64_t th_stripe_most_bits(const th_system *s, int link, int64_t bytes)
{
    bool takes_paths = s->routing->is_as_good && th_is_striped(s, bytes);
    return takes_paths ? INT64_MAX : th_stripe_bits(s, link, bytes);
}

/* Of the links row[0 .. n) out of a node those beside `base` that may carry a part: as fast ones to
 * the same end, or those that begin another path as good. Calls itself number i. */
static bool carries(const walk *w, const int32_t *row, int first, int i, int base)
{
    const th_link *l = &w->s->links[row[i]], *b = &w->s->links[base];
    bool is_parallel = l->to == b->to && l->latency_ps == b->latency_ps;
    const th_routing_type *r = w->s->routing;
    return is_usable(w, row[i]) &&
           (is_parallel || (r->is_as_good && r->is_as_good(w->s, first + i, w->dst)));
}

/* The links among which those on from a node are: all, or those to one end, which stand beside each
 * other. Returns their number. */
static int links_on(const walk *w, int at, int base, const int32_t **row, int *first)
{
    const th_system *s = w->s;
    int end = s->adjacency.out_start[at + 1], to = s->links[base].to;
    *first = s->adjacency.out_start[at];
    *row = &s->adjacency.out_links[*first];
    if (s->routing->is_as_good)
        return end - *first;
    *first = th_neighbors_find(s, at, to);
    *row = &s->routes.neighbors[*first];
    int n = 0;
    while (*first + n < end && s->links[(*row)[n]].to == to)
        n++;
    return n;
}

/* The link out of node at that the byte takes where the routing would take base. */
static int take(walk *w, int at, int base)
{
    const int32_t *row;
    int first, n = links_on(w, at, base, &row, &first);
    int64_t all = 0, sum = 0;
    for (int i = 0; i < n; i++)
        all += carries(w, row, first, i, base) ? bits_of(w->s, row[i]) : 0;
    if (w->leaves == 0)
        w->leaves = all;
    else if (is_usable(w, base) && bits_of(w->s, base) >= w->leaves)
        return base;
    for (int i = 0; i < n; i++) {
        if (!carries(w, row, first, i, base))
            continue;
        sum += bits_of(w->s, row[i]);
        int64_t edge = (int64_t)((__int128)WHOLE * sum / all);
        if (w->at >= edge)
            continue;
        w->end = th_min(w->end, edge);
        return row[i];
    }
    return base; /* none is usable */
}

int th_route_stripe(const th_system *s, int src, int dst, int64_t start, const bool *is_avoided,
                    int *links, int64_t *end)
{
    walk w = {s, dst, is_avoided, start, WHOLE, 0};
    int n = 0, at = src;
    while (at != dst) {
        int link = s->routing->next(s, at, src, dst);
        if (link < 0)
            return link;
        if (n == TH_ROUTE_MAX)
            return TH_NO_PATH;
        link = take(&w, at, link);
        links[n++] = link;
        at = s->links[link].to;
    }
    *end = w.end;
    return n;
}

int th_stripes_find(const th_system *s, int src, int dst, const bool *is_avoided, th_stripes *out)
{
    int links[TH_ROUTE_MAX], n = 0;
    *out = (th_stripes){.n = 1, .start = {0, WHOLE}};
    if (src == dst || th_explicit_links(s, src, dst, &n))
        return 0;
    out->n = 0;
    for (int64_t start = 0, end; start < WHOLE; start = end) {
        n = th_route_stripe(s, src, dst, start, is_avoided, links, &end);
        if (n < 0)
            return n;
        if (out->n + 1 == TH_STRIPES_MAX)
            end = WHOLE;
        out->start[out->n++] = start;
        out->start[out->n] = end;
    }
    return 0;
}

/* A message of length 1 takes as long as the link that carries most of it for its bandwidth. */
static int find_bits(const th_system *s, int src, int dst, const th_stripes *of, double *load,
                     int64_t *bits_per_s)
{
    int links[TH_ROUTE_MAX];
    int64_t end;
    double longest = 0;
    for (int k = 0; k < of->n; k++) {
        double part = (double)(of->start[k + 1] - of->start[k]) / (double)WHOLE;
        int n = th_route_stripe(s, src, dst, of->start[k], NULL, links, &end);
        for (int i = 0; i < n; i++) {
            int medium = s->links[links[i]].medium;
            load[medium] += part / (double)s->media[medium].bits_per_s;
            longest = load[medium] > longest ? load[medium] : longest;
        }
        if (n < 0)
            return n;
    }
    *bits_per_s = (int64_t)(1 / longest + 0.5);
    return 0;
}

int th_route_of_message(const th_system *s, int src, int dst, int64_t bytes, th_route_summary *out)
{
    th_stripes of;
    int answer = th_route_summarize(s, src, dst, out);
    if (answer < 0 || !th_is_striped(s, bytes))
        return answer;
    answer = th_stripes_find(s, src, dst, NULL, &of);
    if (answer < 0 || of.n == 1)
        return answer;
    double *load = th_alloc_zero((size_t)s->n_media + 1, sizeof *load);
    answer = load ? find_bits(s, src, dst, &of, load, &out->bits_per_s) : TH_NO_MEMORY;
    th_free(load);
    return answer;
}
