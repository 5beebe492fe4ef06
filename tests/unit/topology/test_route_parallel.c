/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_route_parallel.c - parallel cables share the pairs of nodes, under every routing: generated
 * systems with every cable doubled against the ones with single cables. */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/topology_help.h"

#define DIMS(...) ((const int[]){__VA_ARGS__, 0})

enum { MANY = 24 }; /* pairs: all over one of two links has a probability of 2^-23 */

/* The same nodes, and each link n times. */
static th_system *with_copies(const th_system *s, int n, const char *routing)
{
    th_error e = {"", ""};
    th_system *d = th_system_new("copies", NULL);
    th_system_add_design(d, "npu", "roofline", NULL, 0, NULL);
    for (int i = 0; i < s->n_nodes; i++) {
        const th_node *node = &s->nodes[i];
        th_system_add_node(d, node->name, node->kind, node->group, NULL);
        if (node->kind == TH_NODE_ACCEL)
            th_system_set_accel(d, i, &node->a, NULL);
        d->nodes[i].forwards = node->forwards;
        d->nodes[i].reduces = node->reduces;
        d->nodes[i].level = node->level;
        d->nodes[i].leaf_first = node->leaf_first;
        d->nodes[i].n_leaves = node->n_leaves;
    }
    for (int i = 0; i < n * s->n_links; i++) {
        const th_link *l = &s->links[i / n];
        int medium = th_system_add_medium(d, s->media[l->medium].bits_per_s, NULL);
        th_system_add_link(d, l->from, l->to, medium, l->latency_ps, NULL);
    }
    memcpy(d->dims, s->dims, sizeof d->dims);
    d->n_dims = s->n_dims;
    d->routing = th_routing_find(routing);
    CU_ASSERT_EQUAL_FATAL(th_system_finish(d, &e), 0);
    return d;
}

/* Routes of the system with two links for each of s. */
typedef struct {
    int n_longer, n_other, n_unshared;
} findings;

static findings compare(const th_system *s, const th_system *twice)
{
    findings f = {0};
    int one[TH_ROUTE_MAX], two[TH_ROUTE_MAX];
    int *n_over = th_alloc_zero((size_t)twice->n_links, sizeof *n_over);
    for (int i = 0; i < s->n_accels; i++)
        for (int j = 0; j < s->n_accels; j++) {
            int a = s->accel_node[i], b = s->accel_node[j], n = th_route(s, a, b, one),
                m = th_route(twice, a, b, two);
            f.n_longer += n != m;
            for (int k = 0; k < n && k < m; k++) {
                f.n_other += two[k] / 2 != one[k];
                n_over[two[k]]++;
            }
        }
    for (int l = 0; l < twice->n_links; l += 2)
        f.n_unshared += n_over[l] + n_over[l + 1] >= MANY && (n_over[l] == 0 || n_over[l + 1] == 0);
    th_free(n_over);
    return f;
}

static void check(const char *topology, const int *dims, const char *routing, bool has_numbers)
{
    th_topology_options o = options_of(dims);
    auto_system *generated = create(topology, &o);
    auto_system *s = with_copies(generated, 1, routing),
                *twice = with_copies(generated, 2, routing);
    findings f = compare(s, twice);
    printf("# %s, %s: %d links, %d hops elsewhere, %d links alone\n", topology, routing,
           twice->n_links, f.n_other, f.n_unshared);
    CU_ASSERT_EQUAL(f.n_longer, 0);
    CU_ASSERT_TRUE(has_numbers || f.n_other == 0);
    CU_ASSERT_EQUAL(f.n_unshared, 0);
}

TEST(parallel_cables_share_the_pairs)
{
    check("ring", DIMS(9), "dimension_order", false);
    check("torus", DIMS(4, 5), "dimension_order", false);
    check("mesh", DIMS(5, 4), "dimension_order", false);
    check("mesh", DIMS(5, 4), "shortest", false);
    check("torus", DIMS(4, 4), "ecmp", true);
    check("star", DIMS(9), "shortest", false);
    check("tree", DIMS(4, 4), "up_down", true);
    check("fattree", DIMS(4, 2), "up_down", true);
    check("rails", DIMS(5, 3, 2), "rails", true);
    check("islands", DIMS(3, 4), "up_down", true);
    check("dragonfly", DIMS(2, 4, 2), "dragonfly", true);
}

TAP_MAIN("route_parallel")
