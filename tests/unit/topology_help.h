/* SPDX-License-Identifier: GPL-3.0-or-later */
/* topology_help.h - generated systems and what holds for their routes, for the tests of
 * generators and routings. */
#ifndef TH_TESTS_TOPOLOGY_HELP_H
#define TH_TESTS_TOPOLOGY_HELP_H
#include "tests/unit/tap.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"

/* A finished system of one accelerator with one design. */
static inline th_system *new_prototype(void)
{
    static int only_design = 0;
    const th_accel a = {.dram_bytes = 77,
                        .dram_bits_per_s = 1,
                        .dram_burst_bytes = 1,
                        .vector_hz = 1,
                        .vector_elements_per_cycle = 1,
                        .designs = &only_design,
                        .n_designs = 1};
    th_system *s = th_system_new("prototype", NULL);
    th_system_add_design(s, "npu", "roofline", NULL, 0, NULL);
    th_system_add_node(s, "0", TH_NODE_ACCEL, 0, NULL);
    th_system_set_accel(s, 0, &a, NULL);
    th_system_finish(s, NULL);
    return s;
}

/* 500 bits/s and 3 ps everywhere; dims end in 0. */
static inline th_topology_options options_of(const int *dims)
{
    th_topology_options o = {.bits_per_s = {500},
                             .latency_ps = {3},
                             .n_bandwidths = 1,
                             .n_latencies = 1,
                             .host_latency_ps = -1};
    for (; dims[o.n_dims] != 0; o.n_dims++)
        o.dims[o.n_dims] = dims[o.n_dims];
    return o;
}

static inline th_system *create(const char *type, const th_topology_options *o)
{
    th_error e = {"", ""};
    auto_system *prototype = new_prototype();
    th_system *s = th_topology_create("sys", th_topology_find(type), o, prototype, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

/* The names of the links of a route, until the next call. */
static inline const char *links_of(const th_system *s, int src, int dst)
{
    static char text[256];
    int links[TH_ROUTE_MAX], n = th_route(s, src, dst, links), at = 0;
    text[0] = '\0';
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s", i ? " " : "",
                       s->links[links[i]].name);
    return text;
}

/* The links of the route from src to dst; -1 where it does not end there, passes a node twice or
 * one that does not forward. */
static inline int route_length(const th_system *s, int src, int dst)
{
    int links[TH_ROUTE_MAX], at = src, n = th_route(s, src, dst, links);
    for (int i = 0; i < n; i++) {
        if (s->links[links[i]].from != at)
            return -1;
        at = s->links[links[i]].to;
        if (at == src || (at != dst && !s->nodes[at].forwards))
            return -1;
        for (int j = 0; j < i; j++)
            if (s->links[links[j]].to == at)
                return -1;
    }
    return n >= 0 && at == dst ? n : -1;
}

/* The nodes of a route, until the next call. */
static inline const char *way(const th_system *s, int src, int dst)
{
    static char text[256];
    int links[TH_ROUTE_MAX], n = th_route(s, src, dst, links);
    int at = snprintf(text, sizeof text, "%s", s->nodes[src].name);
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %s",
                       s->nodes[s->links[links[i]].to].name);
    return text;
}

/* For n_wrong_routes. */
static inline int any_length(const th_system *s, int a, int b)
{
    (void)s, (void)a, (void)b;
    return -1;
}

/* The pairs of the n first nodes whose route is not as long as expected; -1 expects any. */
static inline int n_wrong_routes(const th_system *s, int n,
                                 int (*expected)(const th_system *s, int a, int b))
{
    int n_wrong = 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            int length = route_length(s, a, b), right = expected(s, a, b);
            n_wrong += length < 0 || (right >= 0 && length != right);
        }
    return n_wrong;
}

/* The longest route between accelerators, in links. */
static inline int diameter(const th_system *s)
{
    int longest = 0;
    for (int a = 0; a < s->n_accels; a++)
        for (int b = 0; b < s->n_accels; b++) {
            int length = route_length(s, s->accel_node[a], s->accel_node[b]);
            CU_ASSERT_TRUE(length >= 0);
            longest = length > longest ? length : longest;
        }
    return longest;
}

/* Links from the first n nodes to the others. */
static inline int n_links_across(const th_system *s, int n)
{
    int n_across = 0;
    for (int l = 0; l < s->n_links; l++)
        n_across += s->links[l].from < n && s->links[l].to >= n;
    return n_across;
}

static inline void expect_counts(const th_system *s, int n_accels, int n_switches, int n_cables,
                                 int line)
{
    int right = s->n_accels == n_accels && s->n_nodes == n_accels + n_switches &&
                s->n_links == 2 * n_cables && s->n_media == 2 * n_cables;
    CU_assertImplementation(right, (unsigned)line, "counts", __FILE__, "", CU_FALSE);
}

#endif
