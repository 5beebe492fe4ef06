/* SPDX-License-Identifier: GPL-3.0-or-later */
/* routes.c - blocks of integers by classes of powers of two, and routes stored in them.
 *   init -> (take | give)* -> reset -> ... -> clear
 * Invariant: a block of class c has 2^c integers and is either handed out or in free_block[c];
 * integers from n on have never been handed out. Memory is returned by clear only. */
#include <config.h>

#include "sim/network/routes.h"

#include "base/alloc.h"
#include "sim/network/stripes.h"
#include "topology/routing/route.h"

/* The least c with 2^c >= n. */
static int class_of(int32_t n)
{
    return n > 1 ? 32 - __builtin_clz((unsigned)n - 1) : 0;
}

void th_blocks_init(th_blocks *b)
{
    *b = (th_blocks){0};
    th_blocks_reset(b);
}

void th_blocks_reset(th_blocks *b)
{
    b->n = 0;
    for (int c = 0; c < TH_BLOCK_CLASSES; c++)
        b->free_block[c] = -1;
}

void th_blocks_clear(th_blocks *b)
{
    th_free(b->item);
    th_blocks_init(b);
}

int32_t th_blocks_take(th_blocks *b, int32_t n)
{
    int c = class_of(n);
    int32_t first = n > 0 ? b->free_block[c] : 0;
    if (n <= 0)
        return 0;
    if (first >= 0) {
        b->free_block[c] = b->item[first];
        return first;
    }
    size_t end = b->n + ((size_t)1 << c);
    if (end > INT32_MAX || th_grow(&b->item, &b->room, end, sizeof *b->item))
        return -1;
    first = (int32_t)b->n;
    b->n = end;
    return first;
}

void th_blocks_give(th_blocks *b, int32_t first, int32_t n)
{
    if (n <= 0)
        return;
    int c = class_of(n);
    b->item[first] = b->free_block[c];
    b->free_block[c] = first;
}

int th_routes_init(th_routes *r)
{
    th_blocks_init(&r->links);
    r->longest = th_alloc_array(TH_ROUTE_MAX, sizeof *r->longest);
    return r->longest ? 0 : -1;
}

void th_routes_reset(th_routes *r)
{
    th_blocks_reset(&r->links);
}

void th_routes_clear(th_routes *r)
{
    th_blocks_clear(&r->links);
    th_free(r->longest);
    r->longest = NULL;
}

/* The detour in r->longest, where there is one; else the n links that are there. */
static int take_detour(th_routes *r, th_network *n, int src, int dst, int n_links)
{
    int found = th_detours_find(&n->detours, n->system, src, dst, r->longest);
    return found >= 0 ? found : n_links;
}

int th_routes_take(th_routes *r, th_network *n, int src, int dst, uint32_t stripe,
                   th_flow_route *out)
{
    const th_system *s = n->system;
    int n_links = th_network_route(n, src, dst, stripe, r->longest);
    if (n_links < 0)
        return th_route_error(s, src, dst, n_links, &n->why);
    if (th_detours_crosses(&n->detours, s, r->longest, n_links))
        n_links = take_detour(r, n, src, dst, n_links);
    int32_t first = th_blocks_take(&r->links, n_links);
    if (first < 0)
        return -1;
    *out = (th_flow_route){.first = first, .n_links = n_links, .bits_per_s = INT64_MAX};
    for (int i = 0; i < n_links; i++) {
        const th_link *link = &s->links[r->longest[i]];
        int64_t bits = s->media[link->medium].bits_per_s;
        r->links.item[first + i] = r->longest[i];
        out->latency_ps = th_time_add(out->latency_ps, link->latency_ps);
        out->bits_per_s = bits < out->bits_per_s ? bits : out->bits_per_s;
    }
    return 0;
}

void th_routes_give(th_routes *r, const th_flow_route *route)
{
    th_blocks_give(&r->links, route->first, route->n_links);
}
