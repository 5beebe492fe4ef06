/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripes.c - see stripes.h. Messages are divided over the links that are not avoided when they are
 * sent; stripes under way keep their places in the message, and take the links that are left. */
#include <config.h>

#include "sim/network/stripes.h"

#include <string.h>

#include "base/alloc.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

static const bool *avoided(const th_network *n)
{
    return n->detours.n_avoided > 0 ? n->detours.is_avoided : NULL;
}

/* One stripe more of message number is under way. */
static int count(th_network *n, int32_t number)
{
    size_t before = n->n_stripes_left, at = (size_t)number;
    if (th_grow(&n->stripes_left, &n->n_stripes_left, at + 1, sizeof *n->stripes_left))
        return -1;
    memset(n->stripes_left + before, 0, n->n_stripes_left - before);
    n->stripes_left[at]++;
    return 0;
}

int th_network_send(th_network *n, th_events *q, th_time now, int32_t number, const th_message *m)
{
    th_stripes of = {.n = 1};
    if (th_is_striped(n->system, m->bytes)) {
        int answer = th_stripes_find(n->system, m->src, m->dst, avoided(n), &of);
        if (answer < 0)
            return th_route_error(n->system, m->src, m->dst, answer, &n->why);
    }
    if (of.n == 1)
        return n->type->start(n, q, now, number, m);
    const int64_t padded = th_message_padded(m);
    for (int i = 0; i < of.n; i++) {
        th_message part = *m;
        part.bytes =
            th_stripe_bytes(m->bytes, of.start[i + 1]) - th_stripe_bytes(m->bytes, of.start[i]);
        part.padded =
            th_stripe_bytes(padded, of.start[i + 1]) - th_stripe_bytes(padded, of.start[i]);
        part.stripe = (uint32_t)of.start[i] + 1;
        part.n_stripes = of.n;
        part.whole_bytes = padded;
        if (part.bytes > 0 && (count(n, number) || n->type->start(n, q, now, number, &part)))
            return -1;
    }
    return 0;
}

bool th_network_arrives(th_network *n, th_events *q, th_time now, const th_event *e)
{
    if (!n->type->event(n, q, now, e))
        return false;
    bool is_part = e->object < n->n_stripes_left && n->stripes_left[e->object] > 0;
    return !is_part || --n->stripes_left[e->object] == 0;
}

int th_network_route(th_network *n, int src, int dst, uint32_t stripe, int *links)
{
    int64_t end;
    return stripe == 0 ? th_route(n->system, src, dst, links)
                       : th_route_stripe(n->system, src, dst, stripe - 1, avoided(n), links, &end);
}
