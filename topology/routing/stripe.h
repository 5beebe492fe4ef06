/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripe.h - large messages are divided over parallel cables, and over paths that are as good.
 *
 * In a system with stripes_from, a message of at least so many bytes goes in stripes: it uses all
 * links to the same end with the latency of the routing's link, each by its share of their
 * bandwidth, and under ecmp all links that begin a path as good as the best (several cards, rails).
 * Stripes share the message without gaps. A pair with an explicit route, and a node and itself,
 * have one stripe. */
#ifndef TH_TOPOLOGY_ROUTING_STRIPE_H
#define TH_TOPOLOGY_ROUTING_STRIPE_H
#include <stdbool.h>
#include <stdint.h>
#include "topology/system.h"

enum { TH_STRIPES_MAX = 32 };
/* The parts in which places of a message are told, below 2^32: 1 to 16 equal shares are whole. */
#define TH_STRIPE_WHOLE (720720LL << 12)

typedef struct th_stripes {
    int n;                             /* at least 1 */
    int64_t start[TH_STRIPES_MAX + 1]; /* of stripe i; start[n]: TH_STRIPE_WHOLE */
} th_stripes;

/* Is a message of these bytes divided where links are parallel? */
static inline bool th_is_striped(const th_system *s, int64_t bytes)
{
    return s->stripes_from > 0 && bytes >= s->stripes_from && s->routes.has_stripes;
}

/* Are the largest? */
static inline bool th_has_stripes(const th_system *s)
{
    return th_is_striped(s, INT64_MAX);
}

/* The bytes of a message before the place. */
static inline int64_t th_stripe_bytes(int64_t bytes, int64_t place)
{
    return (int64_t)((__int128)bytes * place / TH_STRIPE_WHOLE);
}

/* The stripes of messages from src to dst; none takes a medium that is avoided (NULL: none is)
 * unless no other leads on. 0, or TH_NO_PATH or TH_NO_MEMORY (route.h). */
int th_stripes_find(const th_system *s, int src, int dst, const bool *is_avoided, th_stripes *out);
/* At which a message of these bytes leaves a node over this link and those parallel to it. */
int64_t th_stripe_bits(const th_system *s, int link, int64_t bytes);
/* No less than what any message of these bytes that takes the link on its route has at a time. */
int64_t th_stripe_most_bits(const th_system *s, int link, int64_t bytes);
/* As th_route, the links of the stripe that begins at this place, and where the next begins. */
int th_route_stripe(const th_system *s, int src, int dst, int64_t start, const bool *is_avoided,
                    int *links, int64_t *end);

#endif
