/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/routing/connected.h"
#include "base/random.h"
#include "tests/unit/tap.h"
#include "topology/routing/route.h"

enum { N = 8 };

/* Random kinds, forwarding or not, and n_links links of one direction; node 0 is an accelerator. */
static th_system *new_random_system(gsl_rng *r, int n_links)
{
    static int the_design = 0;
    const th_accel a = {.dram_bytes = 1,
                        .dram_bits_per_s = 1,
                        .dram_burst_bytes = 1,
                        .vector_hz = 1,
                        .vector_elements_per_cycle = 1,
                        .designs = &the_design,
                        .n_designs = 1};
    static const th_node_kind kinds[] = {TH_NODE_ACCEL, TH_NODE_SWITCH, TH_NODE_SWITCH,
                                         TH_NODE_HOST};
    char name[16];
    th_system *s = th_system_new("sys", NULL);
    th_system_add_design(s, "d", "tiled", NULL, 0, NULL);
    th_system_add_medium(s, 100, NULL);
    for (int i = 0; i < N; i++) {
        th_node_kind kind = i == 0 ? TH_NODE_ACCEL : kinds[th_random_below(r, 4)];
        snprintf(name, sizeof name, "%d", i);
        th_system_add_node(s, name, kind, 0, NULL);
        s->nodes[i].forwards =
            kind == TH_NODE_SWITCH ? th_random_below(r, 8) > 0 : th_random_below(r, 2) > 0;
        if (kind == TH_NODE_ACCEL)
            th_system_set_accel(s, i, &a, NULL);
    }
    for (int i = 0; i < n_links; i++) {
        int from = (int)th_random_below(r, N), to = (int)th_random_below(r, N);
        if (from != to)
            th_system_add_link(s, from, to, 0, 1, NULL);
    }
    return s;
}

/* Is there a way? By Warshall's closure over the nodes that forward. */
static void close_ways(const th_system *s, bool way[N][N])
{
    memset(way, 0, N * sizeof way[0]);
    for (int l = 0; l < s->n_links; l++)
        way[s->links[l].from][s->links[l].to] = true;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N && s->nodes[k].forwards; i++)
            for (int j = 0; j < N; j++)
                way[i][j] |= way[i][k] && way[k][j];
}

/* Appends the complaint about a pair, when there is none yet and no way. */
static void complain(char *text, size_t room, bool has_way, int from, int to)
{
    if (from != to && !has_way && !text[0])
        snprintf(text, room, "system \"sys\": no path from \"%d\" to \"%d\"", from, to);
}

/* What finish is to say: accelerator by accelerator, to the others first, then to and from
 * hosts. */
static void expected_complaint(const th_system *s, char *text, size_t room)
{
    bool way[N][N];
    close_ways(s, way);
    text[0] = '\0';
    for (int a = 0; a < N; a++) {
        if (s->nodes[a].kind != TH_NODE_ACCEL)
            continue;
        for (int b = 0; b < N; b++)
            if (s->nodes[b].kind == TH_NODE_ACCEL)
                complain(text, room, way[a][b], a, b);
        for (int h = 0; h < N; h++)
            if (s->nodes[h].kind == TH_NODE_HOST) {
                complain(text, room, way[a][h], a, h);
                complain(text, room, way[h][a], h, a);
            }
    }
}

/* A third or more of each kind, so that both outcomes are seen. */
TEST(agrees_with_warshall)
{
    auto_rng *r = th_random_stream(7, "connected", 0);
    int n_connected = 0, n_apart = 0, n_wrong = 0;
    for (int round = 0; round < 3000; round++) {
        th_error e = {"", ""};
        char expected[100];
        auto_system *s = new_random_system(r, 12 + round % 30);
        expected_complaint(s, expected, sizeof expected);
        int status = th_system_finish(s, &e);
        n_wrong += strcmp(e.text, expected) != 0 || (status == 0) != (expected[0] == '\0');
        if (expected[0])
            n_apart++;
        else
            n_connected++;
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_connected > 600 && n_apart > 600);
}

/* Where finish is content, every such pair has a route, under both routings, over nodes that
 * forward. */
TEST(what_is_connected_has_routes)
{
    auto_rng *r = th_random_stream(8, "connected", 0);
    int links[TH_ROUTE_MAX], n_routes = 0, n_wrong = 0;
    for (int round = 0; round < 600; round++) {
        auto_system *s = new_random_system(r, 40);
        s->routing = th_routing_find(round % 2 ? "ecmp" : "shortest");
        bool is_connected = th_system_finish(s, NULL) == 0;
        for (int a = 0; is_connected && a < s->n_accels; a++)
            for (int b = 0; b < s->n_accels; b++) {
                int n = th_route(s, s->accel_node[a], s->accel_node[b], links);
                n_wrong += n < 0;
                for (int i = 0; i + 1 < n; i++)
                    n_wrong += !s->nodes[s->links[links[i]].to].forwards;
                n_routes++;
            }
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_routes > 1000);
}

TAP_MAIN("connected")
