/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripes.c - see stripes.h. The stripes of a pair of nodes are found once, and again after links
 * have failed or are back; those under way keep their places in the message and take the links that
 * are left. */
#include <config.h>

#include "sim/network/stripes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/min_max.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

typedef struct th_network_stripes {
    th_map *places; /* by source and destination; -1: one stripe */
    th_stripes *of; /* of pairs that have several */
    size_t n, room;
    uint8_t *left; /* by number of a message: stripes that have not arrived; 0: it is whole */
    size_t n_left;
    int64_t bytes; /* of the message that is being sent */
} stripes;

void th_network_stripes_forget(th_network *n)
{
    if (!n->stripes)
        return;
    th_map_clear(n->stripes->places);
    n->stripes->n = 0;
}

void th_network_stripes_reset(th_network *n)
{
    th_network_stripes_forget(n);
    if (n->stripes && n->stripes->n_left > 0)
        memset(n->stripes->left, 0, n->stripes->n_left);
}

void th_network_stripes_free(th_network *n)
{
    if (!n->stripes)
        return;
    th_map_free(n->stripes->places);
    th_free(n->stripes->of);
    th_free(n->stripes->left);
    th_free(n->stripes);
    n->stripes = NULL;
}

static int make(th_network *n)
{
    if (n->stripes)
        return 0;
    n->stripes = th_alloc_zero(1, sizeof *n->stripes);
    if (n->stripes && (n->stripes->places = th_map_new()))
        return 0;
    th_free(n->stripes);
    n->stripes = NULL;
    return -1;
}

/* Those of a pair in *of, NULL: it has one. 0 or -1. */
static int find(th_network *n, int32_t src, int32_t dst, const th_stripes **of)
{
    const int32_t pair[] = {src, dst};
    int64_t place = -1;
    th_stripes found;
    *of = NULL;
    if (make(n))
        return -1;
    stripes *x = n->stripes;
    if (!th_map_get(x->places, pair, sizeof pair, &place)) {
        const bool *avoided = n->detours.n_avoided > 0 ? n->detours.is_avoided : NULL;
        int answer = th_stripes_find(n->system, src, dst, avoided, &found);
        if (answer < 0)
            return th_route_error(n->system, src, dst, answer, &n->why);
        if (found.n > 1)
            place = (int64_t)x->n++;
        if (th_grow(&x->of, &x->room, x->n, sizeof *x->of) ||
            th_map_put(x->places, pair, sizeof pair, place))
            return -1;
        if (found.n > 1)
            x->of[place] = found;
    }
    if (place >= 0)
        *of = &x->of[place];
    return 0;
}

static int count_stripe(stripes *x, int32_t number)
{
    size_t before = x->n_left, at = (size_t)number;
    if (at >= before) {
        if (th_grow(&x->left, &x->n_left, at + 1, sizeof *x->left))
            return -1;
        memset(x->left + before, 0, x->n_left - before);
    }
    x->left[at]++;
    return 0;
}

int th_network_send(th_network *n, th_events *q, th_time now, int32_t number, const th_message *m)
{
    const th_stripes *of = NULL;
    if (th_is_striped(n->system, m->bytes) && find(n, m->src, m->dst, &of))
        return -1;
    if (!of)
        return n->type->start(n, q, now, number, m);
    n->stripes->bytes = m->bytes;
    for (int i = 0; i < of->n; i++) {
        const int64_t *start = &of->start[i];
        th_message part = *m;
        part.bytes = th_stripe_bytes(m->bytes, start[1]) - th_stripe_bytes(m->bytes, start[0]);
        part.stripe = (uint32_t)start[0] + 1;
        if (part.bytes > 0 &&
            (count_stripe(n->stripes, number) || n->type->start(n, q, now, number, &part)))
            return -1;
    }
    return 0;
}

bool th_network_arrives(th_network *n, th_events *q, th_time now, const th_event *e)
{
    if (!n->type->event(n, q, now, e))
        return false;
    stripes *x = n->stripes;
    bool is_part = x && e->object < x->n_left && x->left[e->object] > 0;
    return !is_part || --x->left[e->object] == 0;
}

int th_network_route(th_network *n, int src, int dst, uint32_t stripe, int *links)
{
    const bool *avoided = n->detours.n_avoided > 0 ? n->detours.is_avoided : NULL;
    int64_t end;
    return stripe == 0 ? th_route(n->system, src, dst, links)
                       : th_route_stripe(n->system, src, dst, stripe - 1, avoided, links, &end);
}

/* Of the message that is being sent, which has several. */
static const th_stripes *of_message(const th_network *n, int src, int dst)
{
    const int32_t pair[] = {src, dst};
    int64_t place = 0;
    th_map_get(n->stripes->places, pair, sizeof pair, &place);
    return &n->stripes->of[place];
}

th_time th_network_stripe_ps(const th_network *n, const th_message *m, int64_t most)
{
    return th_duration_ps(n->stripes->bytes,
                          th_min(most, of_message(n, m->src, m->dst)->bits_per_s));
}

double th_network_stripe_weight(const th_network *n, int src, int dst, uint32_t stripe)
{
    const th_stripes *of = of_message(n, src, dst);
    const int64_t *start = of->start;
    while (start[0] + 1 != stripe)
        start++;
    return (double)TH_STRIPE_WHOLE / ((double)(start[1] - start[0]) * of->n);
}
