/* SPDX-License-Identifier: GPL-3.0-or-later */
/* group_form.c - what collectives of groups that are alike have in common, see choices.h.
 *   its nodes, and the switches that would reduce for it -> what they are -> the routes between
 *   all of them -> the order of their media
 * What is equal and what comes first is kept of numbers, not the numbers: of what a schedule or a
 * network without memory does, nothing else depends on them. */
#include <config.h>

#include "sim/replay/choices.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/in_switch.h"
#include "sim/network/network.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

enum { LINKS_MAX = 1 << 18 }; /* of all routes: with more, groups are large, and few */

typedef struct form {
    const th_system *system;
    th_collective_choice_key facts;
    int32_t *nodes; /* of the ranks, then of switches */
    size_t n_nodes, node_capacity;
    int32_t *media; /* of all routes, one after the other */
    size_t n_media, medium_capacity;
    int32_t *numbers, *sorted; /* scratch */
    size_t number_capacity, sorted_capacity;
} form;

static void add(form *f, int64_t fact)
{
    f->facts.digest[0] = th_hash_word(f->facts.digest[0], (uint64_t)fact);
    f->facts.digest[1] = th_hash_word(f->facts.digest[1], ~(uint64_t)fact);
}

static void add_all(form *f, const int32_t *facts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(f, facts[i]);
}

static int by_number(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of n numbers: which are equal, and which come before which. 0 or -1. */
static int add_order(form *f, const int32_t *number, size_t n)
{
    size_t different = 0;
    if (th_grow(&f->sorted, &f->sorted_capacity, n + 1, sizeof *f->sorted))
        return -1;
    memcpy(f->sorted, number, n * sizeof *number);
    qsort(f->sorted, n, sizeof *number, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || f->sorted[i] != f->sorted[different - 1])
            f->sorted[different++] = f->sorted[i];
    for (size_t i = 0; i < n; i++) {
        const int32_t *at = bsearch(&number[i], f->sorted, different, sizeof *at, by_number);
        add(f, at - f->sorted);
    }
    return 0;
}

static int add_node(form *f, int32_t node)
{
    if (th_grow(&f->nodes, &f->node_capacity, f->n_nodes + 1, sizeof *f->nodes))
        return -1;
    f->nodes[f->n_nodes++] = node;
    return 0;
}

/* The trees of switches that in_switch would use, or that there are none. 0 or -1. */
static int add_trees(form *f, const th_collective *c)
{
    th_collective_schedule cs = {.collective = c, .system = f->system};
    size_t ranks = (size_t)c->n_ranks;
    th_switch_trees t = {0};
    th_error why = {"", ""};
    if (!(th_algorithm_in_switch.kinds >> c->kind & 1u))
        return 0;
    bool is_refused = th_switch_trees_init(&t, &cs, &why) != 0;
    int failed = th_error_is_no_memory(&why) ? -1 : 0;
    add(f, is_refused ? -1 : t.n_parts);
    for (int32_t i = 0; !is_refused && i < t.n_parts && !failed; i++) {
        const th_switch_part *p = &t.part[i];
        const int32_t facts[] = {p->tree,         p->parent, p->child, p->n_outputs,
                                 p->first_output, p->first,  p->end};
        add_all(f, facts, sizeof facts / sizeof *facts);
        if (p->child < 0)
            failed = add_node(f, t.node[i]);
    }
    for (int32_t i = 0; !is_refused && i < t.n_trees && !failed; i++) {
        add_all(f, t.above + (size_t)i * ranks, ranks);
        add_all(f, t.order + (size_t)i * ranks, ranks);
    }
    th_memory_free(&cs.memory);
    return failed;
}

/* What the nodes are; islands matter of the ranks alone. 0 or -1. */
static int add_nodes(form *f, size_t n_ranks)
{
    if (th_grow(&f->numbers, &f->number_capacity, f->n_nodes + 1, sizeof *f->numbers))
        return -1;
    add(f, (int64_t)f->n_nodes);
    for (size_t i = 0; i < f->n_nodes; i++) {
        const th_node *n = &f->system->nodes[f->nodes[i]];
        add(f, n->kind);
        if (n->kind == TH_NODE_ACCEL) {
            add(f, n->a.dram_bits_per_s);
            add(f, th_network_dram_is_shared(f->system, f->nodes[i]));
        }
        add(f, n->reduction_bits_per_s);
        add(f, n->reduction_latency_ps);
        f->numbers[i] = n->group;
    }
    return add_order(f, f->numbers, n_ranks) || add_order(f, f->nodes, f->n_nodes);
}

/* The route between two nodes; its first port. 0 or -1. */
static int add_route(form *f, int from, int to, int32_t *port)
{
    const th_system *s = f->system;
    int links[TH_ROUTE_MAX], n = th_route(s, from, to, links);
    size_t all = f->n_media + (size_t)(n > 0 ? n : 0) + 1;
    add(f, n);
    if (n == TH_NO_MEMORY || th_grow(&f->media, &f->medium_capacity, all, sizeof *f->media))
        return -1;
    for (int i = 0; i < n; i++) {
        const th_link *l = &s->links[links[i]];
        f->media[f->n_media++] = l->medium;
        add(f, l->latency_ps);
        add(f, s->media[l->medium].bits_per_s);
        add(f, l->to < 0 ? -1 : (int)s->nodes[l->to].kind);
    }
    *port = n > 0 ? s->adjacency.out_port[links[0]] : -1;
    return 0;
}

/* 1, or 0: they are too many, or messages take others, too; or -1. */
static int add_routes(form *f)
{
    for (size_t i = 0; i < f->n_nodes; i++) {
        for (size_t j = 0; j < f->n_nodes; j++)
            if (add_route(f, f->nodes[i], f->nodes[j], &f->numbers[j]))
                return -1;
        if (add_order(f, f->numbers, f->n_nodes))
            return -1;
        if (f->n_media + f->n_nodes * f->n_nodes > LINKS_MAX || th_has_stripes(f->system))
            return 0;
    }
    return add_order(f, f->media, f->n_media) ? -1 : 1;
}

int th_group_form(const th_collective *c, const th_system *s, uint64_t options,
                  th_collective_choice_key *key, th_error *err)
{
    form f = {.system = s, .facts = th_collective_choices_key_of_any(c, options)};
    int found = (int64_t)c->n_ranks * c->n_ranks <= LINKS_MAX;
    add(&f, th_collective_is_whole_shape(c, s));
    for (int32_t r = 0; found > 0 && r < c->n_ranks; r++)
        found = add_node(&f, c->rank_node[r]) ? -1 : 1;
    if (found > 0)
        found = add_trees(&f, c) || add_nodes(&f, (size_t)c->n_ranks) ? -1 : add_routes(&f);
    *key = f.facts;
    th_free(f.nodes);
    th_free(f.media);
    th_free(f.numbers);
    th_free(f.sorted);
    return found < 0 ? th_error_no_memory(err) : found;
}
