/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin.h - the weighted max-min fair shares of flows on links, kept up to date. No time, no
 * events.
 *
 *   new -> (add | remove | set_capacity)* -> solve -> (read levels, rates, what has changed) ->
 *   forget -> (add | ...)* -> ... -> reset -> ... -> free
 *
 * Every flow has a weight w and draws on links; a link on which all flows of level x had x / w
 * would be full at its own level. Each flow has one bottleneck, the link with the lowest level on
 * its way, and its rate is level(bottleneck) / w. A level is infinite where no flow has its
 * bottleneck. Flows are numbered by the caller, densely: memory follows the greatest number. */
#ifndef TH_SIM_NETWORK_FLUID_MAXMIN_H
#define TH_SIM_NETWORK_FLUID_MAXMIN_H
#include <stdbool.h>
#include <stdint.h>
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
/* The same for a flow whose links, all of them different and of some capacity, have no others: it
 * has all of its narrowest at once, as if it had been there at the last solve. */
int th_maxmin_add_uncontended(th_maxmin *m, int32_t flow, double weight, const int32_t *links,
                              int32_t n);
void th_maxmin_remove(th_maxmin *m, int32_t flow); /* must be there */
/* Levels, rates and bottlenecks follow from all that was added, removed and set. */
void th_maxmin_solve(th_maxmin *m);
void th_maxmin_clear_changes(th_maxmin *m); /* what has changed so far has been read */

/* --- private, but to be read after solve ---------------------------------------------------------
 */

typedef struct th_maxmin_entry {
    int32_t flow, hop; /* which of its links this is */
} th_maxmin_entry;

typedef struct th_maxmin_link {
    __int128 tolerance;         /* without bottlenecked flows, by so much it may be too full */
    double bottlenecked_shares; /* sum of 1 / w over entries of flows whose bottleneck it is */
    int32_t n_bottlenecked;     /* number of those entries */
    int32_t n_new;              /* entries of flows without a bottleneck yet */
    bool is_dirty, is_changed;
    int32_t place;          /* in heap, -1: it is not */
    th_maxmin_entry *entry; /* flows on it, one entry per hop; its own first */
    size_t n, room;
    double capacity;
    /* Its fair level when it was last worked out, the sum of 1 / w that would have it, and how many
     * of them are not its own; while mark says so. */
    double fair, fair_shares;
    size_t n_above;
} th_maxmin_link;

typedef struct th_maxmin_flow {
    double share; /* 1 / w */
    double rate;
    int32_t first, n_hops; /* in hops: its links, then its places in their entries */
    int32_t live;          /* its index in live */
    uint32_t seen;         /* stamp of the round that has changed it */
    bool is_moved;
} th_maxmin_flow;

struct th_maxmin {
    int32_t n_links;
    th_maxmin_link *link;
    /* What every change of a rate touches stands apart: it fits into the nearest cache. */
    __int128 *residual; /* per link, capacity minus all rates on it, in units of 2^unit: exact */
    uint8_t *mark;      /* per link, of the round at hand */
    double *increased;  /* per link, by how much rates on it have risen since fair was worked out */
    double *level;      /* per link and, infinite, one more for flows without a bottleneck */
    th_maxmin_flow *flow;
    int32_t *bottleneck; /* per flow; n_links: none yet */
    size_t flow_room, bottleneck_room;
    int unit;         /* of sums, an exponent of 2 */
    double scale;     /* 2^unit */
    bool has_weights; /* some flow since reset has had a weight other than 1 */
    th_blocks hops;
    int32_t *live; /* flows that are there */
    size_t n_live, live_room;
    int32_t *added; /* flows added since the last solve */
    size_t n_added, added_room;
    int32_t *dirty; /* links to be looked at in the next solve */
    int32_t n_dirty;
    int32_t *touched; /* links that the round at hand has touched */
    int32_t n_touched;
    struct th_maxmin_key {
        double level;
        int32_t link;
    } * heap; /* of links to be looked at, by level, then number */
    int32_t n_heap;
    uint32_t stamp;
    /* Since the last forget: links whose level may have changed and flows (of those that are there)
     * that have another bottleneck, each once, in no useful order. */
    int32_t *changed;
    int32_t n_changed;
    int32_t *moved;
    size_t n_moved, moved_room;
};

/* Whether there is anything to solve or to read. */
static inline bool th_maxmin_has_changed(const th_maxmin *m)
{
    return (m->n_added != 0) | (m->n_dirty != 0) | (m->n_changed != 0) | (m->n_moved != 0);
}

#endif
