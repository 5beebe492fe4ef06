/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dimension_order.c - routes in dimension order.
 *   prepare -> next*
 * The coordinates of a node are the digits of its index in the mixed radix of the sizes, dims[0]
 * fastest. A route corrects the coordinates one dimension after the other, dimension 0 first (H.
 * Sullivan, T. Bashkow, "A large scale, homogeneous, fully distributed parallel machine", ISCA
 * 1977): along a line step by step, on a ring in the shorter direction, in a fully connected
 * dimension over one link, through a switch over two. So dimension d takes |a - b|, min(u, size -
 * u) with u = b - a modulo size, 1, or 2 links. Every step is closer to the destination, so a route
 * ends.
 *
 * Halfway round a ring both directions are equally long. The parity of source and destination
 * decides (is_upwards_on_tie), so that under uniform traffic half of such routes go up and half go
 * down, and all links of a ring carry the same.
 *
 * A switch of dimension d has the coordinates of its nodes except for d, where its own counts as 0.
 * A route to a switch corrects all other coordinates, then goes to the switch. Nodes outside the
 * dimensions (hosts) are reached over a direct link if there is one; otherwise, and from them, as
 * by shortest. Costs O(n_dims + log degree) per step and O(links) memory. */
#include <config.h>
#include "topology/routing/types.h"

typedef struct dimension_data {
    int n_places;                  /* nodes with coordinates of their own */
    int n_inside;                  /* and with the switches behind them */
    int below[TH_MAX_DIMS];        /* nodes in a slice of the dimensions before d */
    int first_switch[TH_MAX_DIMS]; /* of dimension d; that of the next one where it has none */
    int32_t *coordinates;          /* n_dims of each node inside */
} dimension_data;

static const int32_t *coordinates_of(const th_system *s, const dimension_data *data, int node)
{
    return data->coordinates + (size_t)node * (size_t)s->n_dims;
}

/* The dimension of a switch, -1 for a place. */
static int dim_of_switch(const th_system *s, const dimension_data *data, int node)
{
    int d = -1;
    for (int i = 0; node >= data->n_places && i < s->n_dims; i++)
        if (s->dims[i].kind == TH_TOPOLOGY_DIM_SWITCH && data->first_switch[i] <= node)
            d = i;
    return d;
}

/* The switch of dimension d that node, a place, hangs on. */
static int switch_of(const th_system *s, const dimension_data *data, int node, int d)
{
    int below = data->below[d];
    return data->first_switch[d] + node / (below * s->dims[d].size) * below + node % below;
}

/* The place with coordinate c in dimension d that hangs on node, a switch of that dimension. */
static int place_below(const th_system *s, const dimension_data *data, int node, int d, int c)
{
    int number = node - data->first_switch[d], below = data->below[d];
    return number / below * below * s->dims[d].size + number % below + c * below;
}

/* ---- a step ---- */

/* Whether the route from src to dst goes upwards where it has half of ring d before it: if the
 * source's coordinate on the ring and all other coordinates of both ends have an even sum. The
 * coordinate on the ring alternates along it; the others even out, over all pairs, what is left on
 * rings of 6, 10, 14 ... nodes. ASTRA-sim's rings go upwards always. */
static bool is_upwards_on_tie(const th_system *s, const dimension_data *data, int src, int dst,
                              int d)
{
    const int32_t *from = coordinates_of(s, data, src), *to = coordinates_of(s, data, dst);
    int sum = from[d];
    for (int i = 0; i < s->n_dims; i++)
        sum += i != d ? from[i] + to[i] : 0;
    return sum % 2 == 0 || s->astra;
}

typedef struct {
    int at, src, dst; /* nodes inside; src is at where the route began outside */
} walk;

/* The coordinate after the next link along ring d. */
static int next_on_ring(const th_system *s, const dimension_data *data, const walk *w, int d)
{
    int a = coordinates_of(s, data, w->at)[d], b = coordinates_of(s, data, w->dst)[d];
    int size = s->dims[d].size, upwards = b > a ? b - a : b - a + size;
    bool goes_up = 2 * upwards < size;
    if (2 * upwards == size)
        goes_up = is_upwards_on_tie(s, data, w->src, w->dst, d);
    if (goes_up)
        return a + 1 < size ? a + 1 : 0;
    return a > 0 ? a - 1 : size - 1;
}

/* The node after the place w->at along dimension d. */
static int next_along(const th_system *s, const dimension_data *data, const walk *w, int d)
{
    int a = coordinates_of(s, data, w->at)[d], b = coordinates_of(s, data, w->dst)[d];
    switch ((th_topology_dim_kind)s->dims[d].kind) {
    case TH_TOPOLOGY_DIM_LINE:
        b = b > a ? a + 1 : a - 1;
        break;
    case TH_TOPOLOGY_DIM_RING:
        b = next_on_ring(s, data, w, d);
        break;
    case TH_TOPOLOGY_DIM_FULL:
        break;
    case TH_TOPOLOGY_DIM_SWITCH:
        return switch_of(s, data, w->at, d);
    }
    return w->at + (b - a) * data->below[d];
}

static int next_node(const th_system *s, const dimension_data *data, const walk *w)
{
    int at = w->at, dst = w->dst;
    const int32_t *to = coordinates_of(s, data, dst), *here = coordinates_of(s, data, at);
    int d_at = dim_of_switch(s, data, at), d_dst = dim_of_switch(s, data, dst);
    if (d_at >= 0)
        return place_below(s, data, at, d_at, to[d_at]);
    for (int d = 0; d < s->n_dims; d++)
        if (d != d_dst && here[d] != to[d])
            return next_along(s, data, w, d);
    return dst; /* at is the destination or hangs on it */
}

/* The best link to the next node. */
static int best_link(const th_system *s, int at, int src, int dst)
{
    const dimension_data *data = s->routes.data;
    if (at < data->n_inside && dst < data->n_inside) {
        const walk w = {at, src < data->n_inside ? src : at, dst};
        return th_route_link_to(s, at, next_node(s, data, &w));
    }
    int direct = th_route_link_to(s, at, dst);
    return direct >= 0 ? direct : th_route_shortest_next(s, at, dst);
}

static int next(const th_system *s, int at, int src, int dst)
{
    return th_parallel_choose(s, best_link(s, at, src, dst), src, dst);
}

/* ---- preparing ---- */

static void fill_coordinates(const th_system *s, dimension_data *data)
{
    int32_t *c = data->coordinates;
    for (int node = 0; node < data->n_inside; node++) {
        int d_own = dim_of_switch(s, data, node);
        int place = d_own < 0 ? node : place_below(s, data, node, d_own, 0);
        for (int d = 0; d < s->n_dims; d++)
            *c++ = place / data->below[d] % s->dims[d].size;
    }
}

static void count_nodes(const th_system *s, dimension_data *data)
{
    data->n_places = 1;
    for (int d = 0; d < s->n_dims; d++) {
        data->below[d] = data->n_places;
        data->n_places *= s->dims[d].size;
    }
    data->n_inside = data->n_places;
    for (int d = 0; d < s->n_dims; d++) {
        data->first_switch[d] = data->n_inside;
        if (s->dims[d].kind == TH_TOPOLOGY_DIM_SWITCH)
            data->n_inside += data->n_places / s->dims[d].size;
    }
}

/* Is there a link from place node to the place with coordinate c in dimension d? */
static bool is_joined_to(const th_system *s, const dimension_data *data, int node, int d, int c)
{
    int other = node + (c - coordinates_of(s, data, node)[d]) * data->below[d];
    return other == node || th_route_link_to(s, node, other) >= 0;
}

/* Are the links there that routes from place node along dimension d may take? */
static bool is_joined(const th_system *s, const dimension_data *data, int node, int d)
{
    int own = coordinates_of(s, data, node)[d], size = s->dims[d].size, hub;
    bool is_fine = true;
    switch ((th_topology_dim_kind)s->dims[d].kind) {
    case TH_TOPOLOGY_DIM_LINE:
        return is_joined_to(s, data, node, d, own > 0 ? own - 1 : own) &&
               is_joined_to(s, data, node, d, own + 1 < size ? own + 1 : own);
    case TH_TOPOLOGY_DIM_RING:
        return is_joined_to(s, data, node, d, own > 0 ? own - 1 : size - 1) &&
               is_joined_to(s, data, node, d, own + 1 < size ? own + 1 : 0);
    case TH_TOPOLOGY_DIM_FULL:
        for (int c = 0; c < size && is_fine; c++)
            is_fine = is_joined_to(s, data, node, d, c);
        return is_fine;
    case TH_TOPOLOGY_DIM_SWITCH:
        hub = switch_of(s, data, node, d);
        return hub < s->n_nodes && th_route_link_to(s, node, hub) >= 0 &&
               th_route_link_to(s, hub, node) >= 0;
    }
    return false;
}

static int check_links(const th_system *s, const dimension_data *data, th_error *err)
{
    for (int node = 0; node < data->n_places; node++)
        for (int d = 0; d < s->n_dims; d++)
            if (!is_joined(s, data, node, d))
                return th_error_set(err, "TOPO-0085",
                                    "system \"%s\": node \"%s\" lacks a link along dimension %d, "
                                    "and routes go in dimension order",
                                    s->name, s->nodes[node].name, d);
    return 0;
}

/* Dimension order may take more links than a shortest path, so it has a check of its own. */
static int check_diameter(const th_system *s, th_error *err)
{
    int diameter = 0;
    for (int d = 0; d < s->n_dims; d++) {
        int size = s->dims[d].size;
        const int longest[] = {[TH_TOPOLOGY_DIM_LINE] = size - 1,
                               [TH_TOPOLOGY_DIM_RING] = size / 2,
                               [TH_TOPOLOGY_DIM_FULL] = 1,
                               [TH_TOPOLOGY_DIM_SWITCH] = 2};
        diameter += longest[s->dims[d].kind];
    }
    if (diameter <= TH_ROUTE_MAX)
        return 0;
    return th_error_set(err, "TOPO-0015",
                        "system \"%s\": routes of up to %d links, at most %d are supported",
                        s->name, diameter, TH_ROUTE_MAX);
}

static int prepare(th_system *s, th_error *err)
{
    if (s->n_dims == 0)
        return th_error_set(err, "TOPO-0086",
                            "system \"%s\": dimension_order needs a system made of dimensions",
                            s->name);
    if (check_diameter(s, err) < 0)
        return -1;
    dimension_data *data = s->routes.data = th_memory_take(&s->memory, 1, sizeof *data);
    if (!data)
        return th_error_no_memory(err);
    count_nodes(s, data);
    data->coordinates = th_memory_take(&s->memory, (size_t)data->n_inside * (size_t)s->n_dims,
                                       sizeof *data->coordinates);
    if (!data->coordinates)
        return th_error_no_memory(err);
    fill_coordinates(s, data);
    return check_links(s, data, err);
}

const th_routing_type th_routing_dimension_order = {
    .name = "dimension_order",
    .synopsis = "dimension 0 first; on a ring the shorter direction, ties by parity",
    .prepare = prepare,
    .next = next,
    .checks_length = true,
};
