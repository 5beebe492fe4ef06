/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin.h - the weighted max-min fair shares of flows on links, kept up to date. No time, no
 * events.
 *
 *   new -> (add | remove | set_capacity)* -> solve -> (read levels, rates, changes) ->
 *   clear_changes -> (add | ...)* -> ... -> reset -> ... -> free
 *
 * Every flow has a weight w and uses links; a link is full at level x if all its flows had rate
 * x / w. Each flow has one bottleneck, the link with the lowest level on its route, and its rate is
 * level(bottleneck) / w. The level of a link that is no flow's bottleneck is infinite. Flows are
 * numbered by the caller, densely: memory follows the greatest number. */
#ifndef TH_SIM_NETWORK_FLUID_MAXMIN_H
#define TH_SIM_NETWORK_FLUID_MAXMIN_H
#include <stdbool.h>
#include <stdint.h>
#include "base/memory.h"
#include "sim/network/routes.h"

typedef struct th_maxmin th_maxmin;

/* Links 0 .. n_links - 1 of capacity 0. greatest is about the greatest capacity there will be (a
 * million times more is cut off); it fixes the grid on which sums are exact. NULL: no memory. */
th_maxmin *th_maxmin_new(int32_t n_links, double greatest);
void th_maxmin_free(th_maxmin *m);  /* accepts NULL */
void th_maxmin_reset(th_maxmin *m); /* no flows; capacities and memory are kept */

void th_maxmin_set_capacity(th_maxmin *m, int32_t link, double capacity); /* >= 0 */
/* flow is not there yet; n > 0 links, one of them several times counts as often. weight > 0. 0, or
 * -1 when memory is out and the flow is not there. */
int th_maxmin_add(th_maxmin *m, int32_t flow, double weight, const int32_t *links, int32_t n);
/* The flow stands for count > 0 equal ones, each with its rate; 1 after add. */
void th_maxmin_set_count(th_maxmin *m, int32_t flow, int32_t count);
/* The same as add for a flow whose links, all of them different and of some capacity, carry no
 * other flow: it has all of its narrowest link at once, as if it had been there at the last solve.
 */
int th_maxmin_add_uncontended(th_maxmin *m, int32_t flow, double weight, const int32_t *links,
                              int32_t n);
void th_maxmin_remove(th_maxmin *m, int32_t flow); /* must be there */
/* Levels, rates and bottlenecks follow from all that was added, removed and set. */
void th_maxmin_solve(th_maxmin *m);
void th_maxmin_clear_changes(th_maxmin *m); /* the caller has read them */

/* --- private, but to be read after solve ------------------------------------------------------ */

typedef struct th_maxmin_entry {
    int32_t flow, hop; /* which of its links this is */
} th_maxmin_entry;

typedef struct th_maxmin_link {
    /* Sums of count / w over its entries: over all, those of flows without a bottleneck yet, and
     * those of flows whose bottleneck it is. */
    __int128 shares, new_shares, own_shares;
    double own;             /* own_shares, rounded */
    int32_t n_bottlenecked; /* number of the last */
    bool is_dirty, is_changed;
    int32_t place;          /* in heap, from 1 on; 0: it is not */
    th_maxmin_entry *entry; /* flows on it, one entry per hop; bottlenecked here first */
    size_t n, room;         /* without room, all is 0 */
} th_maxmin_link;

typedef struct th_maxmin_flow {
    double share; /* 1 / w */
    double rate;  /* of one of them */
    int32_t count;
    int32_t first, n_hops; /* in hops: its links, then its places in their entries */
    int32_t live;          /* its index in live */
    uint32_t stamp;        /* of the round that has changed it */
    bool is_moved;
} th_maxmin_flow;

/* Sums of rates are exact on this grid. */
typedef struct th_maxmin_grid {
    int unit;     /* an exponent of 2 */
    double scale; /* 2^unit */
} th_maxmin_grid;

typedef struct th_maxmin_flows {
    size_t room, bottleneck_room; /* of th_maxmin's flow and bottleneck */
    int32_t *live;                /* flows that have been added and not removed */
    size_t n_live, live_room;
    int64_t n_entries; /* of live flows, on all links */
    int32_t *added;    /* flows added since the last solve */
    size_t n_added, added_room;
} th_maxmin_flows;

typedef struct th_maxmin_key {
    double level;
    int32_t link;
} th_maxmin_key;

/* Links that a solve checks. */
typedef struct th_maxmin_work {
    int32_t *dirty; /* changed since the last solve */
    int32_t n_dirty;
    int32_t *touched; /* by the round at hand */
    int32_t n_touched;
    th_maxmin_key *heap; /* by level, then number */
    int32_t n_heap;
    uint32_t stamp; /* of the round at hand */
    int64_t n_read; /* entries that the repair at hand has read */
} th_maxmin_work;

/* Since the last clear_changes: links whose level may have changed, and live flows with another
 * bottleneck; each once, in no order. */
typedef struct th_maxmin_changes {
    int32_t *link;
    int32_t n_links;
    int32_t *flow;
    size_t n_flows, flow_room;
} th_maxmin_changes;

struct th_maxmin {
    th_memory memory; /* of arrays by link */
    int32_t n_links;
    th_maxmin_link *link; /* takes no memory until it is used */
    double *capacity;
    /* Per link, in arrays of their own that fit into the nearest cache: every change of a rate
     * touches them. */
    __int128 *residual; /* capacity minus all rates on it, in units of 2^unit: exact */
    uint8_t *mark;      /* TH_LINK_... */
    double *level;      /* and, infinite, one more for flows without a bottleneck */
    th_maxmin_flow *flow;
    int32_t *bottleneck; /* per flow; n_links: none yet */
    th_blocks hops;
    th_maxmin_grid grid;
    th_maxmin_flows flows;
    th_maxmin_work work;
    th_maxmin_changes changes;
};

/* Whether there is anything to solve or to read. */
static inline bool th_maxmin_has_changed(const th_maxmin *m)
{
    return (m->flows.n_added != 0) | (m->work.n_dirty != 0) | (m->changes.n_links != 0) |
           (m->changes.n_flows != 0);
}

#endif
