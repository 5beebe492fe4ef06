/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_multi_axis.c - collectives that follow the cables between the ranks: the axes of parts of
 * products of graphs, packings of spanning trees, what both do to data, and their times. */
#include <config.h>
#include "sim/collective/axes.h"
#include "sim/collective/bound.h"
#include "sim/collective/trees.h"
#include "tests/unit/collective_help.h"
#include "tests/unit/collective_shapes.h"
#include "tests/unit/draw.h"
#include "tests/unit/no_memory.h"
#include "topology/routing/route.h"

enum { RANKS_MAX = 30 };

static void shuffle(gsl_rng *r, int32_t *node, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = draw(r, 0, i);
        int32_t swap = node[i];
        node[i] = node[j];
        node[j] = swap;
    }
}

/* --- axes ------------------------------------------------------------------------------------- */

/* The axes as text, "5r 3f 4l" in the order of kind and extent; or the id of the error. */
static const char *axes_of(const th_system *s, const int32_t *node, int n)
{
    static char text[200];
    th_collective c = {.kind = TH_ALL_REDUCE,
                       .algorithm = th_algorithm_find("multi_axis"),
                       .rank_node = (int32_t *)node,
                       .n_ranks = n,
                       .chunks = 1};
    th_collective_schedule cs = {.collective = &c, .system = s, .algorithm = c.algorithm};
    th_axes x;
    th_error e = {"", ""};
    text[0] = '\0';
    if (th_axes_init(&x, &cs, &e))
        snprintf(text, sizeof text, "%s", e.id);
    else
        for (int kind = 0; kind < 3; kind++)
            for (int extent = 2; extent <= n; extent++)
                for (int q = 0; q < x.n; q++)
                    if (x.axis[q].extent == extent && (int)x.axis[q].kind == kind)
                        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d%c",
                                 text[0] ? " " : "", extent, "lrf"[kind]);
    th_memory_free(&cs.memory);
    return text;
}

/* The nodes of a block [from, to) in three dimensions, in any order; their number. */
static int block_of(const th_system *s, const int from[3], const int to[3], int32_t *node)
{
    int n = 0, size[3] = {1, 1, 1};
    for (int d = 0; d < s->n_dims && d < 3; d++)
        size[d] = s->dims[d].size;
    for (int z = from[2]; z < to[2]; z++)
        for (int y = from[1]; y < to[1]; y++)
            for (int x = from[0]; x < to[0]; x++)
                node[n++] = s->accel_node[(z * size[1] + y) * size[0] + x];
    return n;
}

/* Of a ring of 3 all ranks are neighbours, one of 4 is a product of two cables; a part of a ring is
 * a line, unless all of it. */
TEST(axes_are_found_in_the_cables_of_any_part)
{
    static const struct {
        const char *topology;
        int dims[3], n_dims, from[3], to[3];
        const char *axes;
    } rows[] = {
        {"torus", {5, 3}, 2, {0, 0, 0}, {5, 3, 1}, "5r 3f"},
        {"torus", {4, 8}, 2, {0, 0, 0}, {4, 8, 1}, "8r 2f 2f"},
        {"torus", {2, 8}, 2, {0, 0, 0}, {2, 8, 1}, "8r 2f"},
        {"torus", {5, 6, 7}, 3, {0, 2, 0}, {5, 3, 7}, "5r 7r"},
        {"torus", {5, 6, 7}, 3, {1, 0, 2}, {5, 6, 5}, "3l 4l 6r"},
        {"torus", {5, 6, 7}, 3, {3, 4, 0}, {4, 5, 7}, "7r"},
        {"mesh", {4, 5}, 2, {0, 0, 0}, {4, 5, 1}, "4l 5l"},
        {"mesh", {4, 5}, 2, {2, 1, 0}, {4, 4, 1}, "3l 2f"},
        {"mesh", {1, 9}, 2, {0, 0, 0}, {1, 9, 1}, "9l"},
        {"hypercube", {5}, 1, {0, 0, 0}, {2, 1, 1}, "2f"},
        {"fully_connected", {6}, 1, {0, 0, 0}, {6, 1, 1}, "6f"},
        {"torus", {5, 5}, 2, {2, 2, 0}, {3, 3, 1}, ""},
    };
    auto_rng *r = th_random_stream(1, "axes", 0);
    int32_t node[256];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_system *s = generated(rows[i].topology, rows[i].dims, rows[i].n_dims);
        int n = block_of(s, rows[i].from, rows[i].to, node);
        TAP_ASSERT_TEXT(axes_of(s, node, n), rows[i].axes);
        shuffle(r, node, n);
        TAP_ASSERT_TEXT(axes_of(s, node, n), rows[i].axes);
    }
    auto_system *cube = of_size("hypercube", 5);
    TAP_ASSERT_TEXT(axes_of(cube, cube->accel_node, 32), "2f 2f 2f 2f 2f");
}

/* A torus without one rank, a row of every other rank, ranks below switches; a torus whose rows are
 * joined one further on. */
TEST(other_cables_have_no_axes)
{
    auto_system *torus = generated("torus", (int[]){5, 5}, 2), *star = of_size("star", 6);
    int32_t some[] = {0, 2, 4, 10, 12, 14};
    TAP_ASSERT_TEXT(axes_of(torus, torus->accel_node, 24), "COLL-0206");
    TAP_ASSERT_TEXT(axes_of(torus, some, 6), "COLL-0206");
    TAP_ASSERT_TEXT(axes_of(star, star->accel_node, 6), "COLL-0206");
    th_error e = {"", ""};
    auto_system *twisted = th_system_new("twisted", &e);
    for (int i = 0; i < 30; i++) {
        char name[20];
        snprintf(name, sizeof name, "%d", i);
        th_system_add_node(twisted, name, TH_NODE_ACCEL, 0, &e);
        th_system_copy_accel(twisted, i, torus, 0, &e);
    }
    for (int i = 0; i < 30; i++) {
        th_cable cable = th_cable_symmetric(80 * gbps, 500000, true);
        th_system_add_cable(twisted, i, i % 5 < 4 ? i + 1 : (i + 6) % 30 / 5 * 5, cable, &e);
        th_system_add_cable(twisted, i, (i + 5) % 30, cable, &e);
    }
    CU_ASSERT_EQUAL(th_system_finish(twisted, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    TAP_ASSERT_TEXT(axes_of(twisted, twisted->accel_node, 30), "COLL-0206");
}

/* --- data ------------------------------------------------------------------------------------- */

/* A product of up to three rings, lines and fully connected dimensions. */
static th_system *random_product(gsl_rng *r, const th_system *prototype)
{
    th_topology_options o = {.n_dims = draw(r, 1, 3), .n_bandwidths = 0};
    for (int d = 0; d < o.n_dims; d++) {
        o.dims[d] = draw(r, 1, o.n_dims == 1 ? 12 : 5);
        o.kinds[d] = (th_topology_dim_kind)draw(r, 0, 2);
        o.bits_per_s[d] = draw(r, 1, 3) * 40 * gbps;
        o.latency_ps[d] = 500000;
    }
    o.n_bandwidths = o.n_latencies = o.n_dims;
    return th_topology_create("test", th_topology_find("composition"), &o, prototype, NULL);
}

static void assert_right(const th_collective *c, const th_system *s, uint64_t seed)
{
    const char *wrong = collective_wrong(c, s, seed, NULL);
    char text[500] = "";
    if (wrong)
        snprintf(text, sizeof text, "%s by %s, %d ranks, root %d, %lld bytes, %d chunks: %s",
                 th_collective_names[c->kind], c->algorithm->name, c->n_ranks, c->root,
                 (long long)c->bytes, c->chunks, wrong);
    TAP_ASSERT_TEXT(text, "");
}

/* Blocks of products, ranks, sizes, roots, chunks and orders of arrival drawn at random. */
TEST(every_rank_of_a_block_ends_with_the_right_data)
{
    static const char *const names[] = {"multi_axis", "spanning_trees"};
    auto_rng *r = th_random_stream(2, "blocks", 0);
    auto_system *prototype = shipped_system("npu_v1");
    int32_t node[128];
    int64_t pairs[RANKS_MAX * RANKS_MAX];
    for (uint64_t trial = 0; trial < TAP_REPEATS(150); trial++) {
        auto_system *s = random_product(r, prototype);
        int from[3] = {0, 0, 0}, to[3] = {1, 1, 1};
        for (int d = 0; d < s->n_dims && d < 3; d++) {
            to[d] = s->dims[d].size;
            if (draw(r, 0, 2) == 0) {
                from[d] = draw(r, 0, to[d] - 1);
                to[d] = draw(r, from[d] + 1, to[d]);
            }
        }
        th_collective c = {.rank_node = node, .chunks = draw(r, 1, 4), .bytes = draw(r, 0, 90)};
        c.n_ranks = block_of(s, from, to, node);
        if (c.n_ranks > RANKS_MAX)
            continue;
        shuffle(r, node, c.n_ranks);
        c.root = draw(r, 0, c.n_ranks - 1);
        c.algorithm = th_algorithm_find(names[trial % 2]);
        do
            c.kind = draw(r, 0, TH_USER_SCHEDULE - 1);
        while (!(c.algorithm->kinds >> c.kind & 1u));
        for (int i = 0; i < c.n_ranks * c.n_ranks; i++)
            pairs[i] = draw(r, 0, 5);
        if (c.kind == TH_ALL_TO_ALL && draw(r, 0, 1))
            c.pair_bytes = pairs;
        if (c.n_ranks <= 9)
            c.bytes = draw(r, 0, 1) ? 48 * c.n_ranks : c.bytes;
        assert_right(&c, s, trial);
    }
}

/* --- packings --------------------------------------------------------------------------------- */

/* Cables drawn at random, so that all are connected. */
static th_system *random_cables(gsl_rng *r, const th_system *prototype)
{
    th_error e = {"", ""};
    int n = draw(r, 2, 10);
    th_system *s = th_system_new("random", &e);
    for (int i = 0; i < n; i++) {
        char name[20];
        snprintf(name, sizeof name, "%d", i);
        th_system_add_node(s, name, TH_NODE_ACCEL, 0, &e);
        th_system_copy_accel(s, i, prototype, 0, &e);
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++)
            if (b == a - 1 || draw(r, 0, 2) == 0)
                th_system_add_cable(s, a, b, th_cable_symmetric(80 * gbps, 500000, true), &e);
    CU_ASSERT_EQUAL(th_system_finish(s, &e), 0);
    return s;
}

static bool find_path(int n, int free[10][10], bool *seen, int at, int to)
{
    seen[at] = true;
    if (at == to)
        return true;
    for (int v = 0; v < n; v++)
        if (!seen[v] && free[at][v] > 0 && find_path(n, free, seen, v, to)) {
            free[at][v]--;
            free[v][at]++;
            return true;
        }
    return false;
}

/* The least number of paths without a common arc from the root to another rank. */
static int least_paths(const th_system *s, int root)
{
    int least = INT32_MAX;
    for (int to = 0; to < s->n_accels; to++) {
        int free[10][10] = {{0}}, n = 0;
        for (int l = 0; l < s->n_links; l++)
            free[s->links[l].from][s->links[l].to] = 1;
        for (bool seen[10] = {false}; to != root && find_path(s->n_accels, free, seen, root, to);
             n++)
            memset(seen, 0, sizeof seen);
        least = to != root && n < least ? n : least;
    }
    return least;
}

/* What is wrong with a packing; "": its trees span all ranks along cables, no direction of a cable
 * is in more than `most` of them. */
static const char *fault_of(const th_trees *k, const th_collective_schedule *cs, int root,
                            int *most)
{
    static int used[64][64];
    const th_collective *c = cs->collective;
    const int n = c->n_ranks;
    memset(used, 0, sizeof used);
    *most = 0;
    for (int t = 0; t < k->n_trees; t++)
        for (int v = 0; v < n; v++) {
            int at = v, hops = 0, up = k->parent[t * n + v];
            for (; k->parent[t * n + at] >= 0 && hops <= n; hops++)
                at = k->parent[t * n + at];
            if (hops > n || (root >= 0 && at != root))
                return "no tree";
            if (up < 0)
                continue;
            if (th_route_first(cs->system, c->rank_node[up], c->rank_node[v]) < 0)
                return "no route";
            used[up][v]++;
            used[v][up] += root < 0;
            *most = used[up][v] > *most ? used[up][v] : *most;
        }
    return "";
}

static const th_trees *packing_of(th_collective_schedule *cs, th_collective *c, const th_system *s)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(th_collective_schedule_init(cs, c, s, &e), 0);
    return cs->data;
}

/* As many trees as there are paths to the rank that has the fewest (Edmonds), none in common. */
TEST(trees_from_a_root_are_as_many_as_can_be)
{
    auto_rng *r = th_random_stream(3, "trees", 0);
    auto_system *prototype = shipped_system("npu_v1");
    for (int trial = 0; trial < TAP_REPEATS(100); trial++) {
        auto_system *s = random_cables(r, prototype);
        th_collective c = collective(s, trial % 2 ? TH_REDUCE : TH_BROADCAST, "spanning_trees", 0);
        th_collective_schedule cs;
        int most;
        c.root = draw(r, 0, c.n_ranks - 1);
        const th_trees *k = packing_of(&cs, &c, s);
        CU_ASSERT_EQUAL(k->n_trees, least_paths(s, c.root));
        TAP_ASSERT_TEXT(fault_of(k, &cs, c.root, &most), "");
        CU_ASSERT_EQUAL(most, 1);
        th_collective_schedule_clear(&cs);
    }
}

/* Trees per tree of the busiest cable; a bound is cables / (ranks - 1): 24 / 15, 112 / 63, 32 / 15,
 * 15 / 5, 50 / 24, and 8 / 8 of the ring. */
TEST(trees_along_both_directions_use_most_cables)
{
    static const struct {
        const char *topology;
        int dims[2], n_dims;
        double least;
    } rows[] = {
        {"mesh", {4, 4}, 2, 1.5},       {"mesh", {8, 8}, 2, 1.6},  {"hypercube", {4}, 1, 1.8},
        {"fully_connected", {6}, 1, 3}, {"torus", {5, 5}, 2, 1.8}, {"ring", {8}, 1, 1.1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_system *s = generated(rows[i].topology, rows[i].dims, rows[i].n_dims);
        th_collective c = collective(s, TH_ALL_REDUCE, "spanning_trees", 0);
        th_collective_schedule cs;
        int most;
        const th_trees *k = packing_of(&cs, &c, s);
        TAP_ASSERT_TEXT(fault_of(k, &cs, -1, &most), "");
        if (k->n_trees < rows[i].least * most)
            printf("# %s: %d trees, of which a cable has %d\n", rows[i].topology, k->n_trees, most);
        CU_ASSERT_TRUE(k->n_trees >= rows[i].least * most);
        th_collective_schedule_clear(&cs);
    }
}

/* Cables that do not connect all; too many of a rank. */
TEST(groups_without_such_trees_are_refused)
{
    auto_system *star = of_size("star", 5), *full = of_size("fully_connected", 66);
    th_collective c = collective(star, TH_BROADCAST, "spanning_trees", 100);
    th_collective_schedule cs;
    th_error e = {"", ""};
    for (int i = 0; i < 2; i++) {
        c.kind = i == 0 ? TH_BROADCAST : TH_ALL_REDUCE;
        CU_ASSERT_EQUAL(th_collective_schedule_init(&cs, &c, star, &e), -1);
        TAP_ASSERT_ERROR(e, "COLL-0207",
                         i == 0
                             ? "broadcast of 5 ranks by spanning_trees: the cables between them "
                               "do not connect all"
                             : "all_reduce of 5 ranks by spanning_trees: the cables between them "
                               "do not connect all");
    }
    c = collective(full, TH_BROADCAST, "spanning_trees", 100);
    CU_ASSERT_EQUAL(th_collective_schedule_init(&cs, &c, full, &e), -1);
    TAP_ASSERT_TEXT(e.id, "COLL-0208");
    c.algorithm = th_algorithm_find("multi_axis");
    c.kind = TH_ALL_REDUCE;
    CU_ASSERT_EQUAL(th_collective_schedule_init(&cs, &c, full, &e), -1);
    TAP_ASSERT_TEXT(e.id, "COLL-0206");
}

static const th_system *prepared_on;

static int prepare(const void *c, th_error *e)
{
    th_collective_kept kept = {0};
    th_collective_schedule x;
    if (th_collective_schedule_init_again(&x, c, prepared_on, &kept, e)) {
        th_collective_kept_clear(&kept);
        return -1;
    }
    th_collective_schedule_clear(&x);
    th_collective_kept_clear(&kept);
    return 0;
}

TEST(packing_survives_lack_of_memory)
{
    auto_system *s = generated("torus", (int[]){3, 3}, 2);
    prepared_on = s;
    for (int kind = 0; kind < TH_BARRIER; kind++) {
        th_collective c = collective(s, kind, "spanning_trees", 600);
        if (c.algorithm->kinds >> kind & 1u)
            CU_ASSERT_TRUE(fail_each_allocation(prepare, &c) > 1);
    }
}

/* --- times ------------------------------------------------------------------------------------ */

/* Links of 10 bytes per ns and 500 ns.
 *   Torus 5 x 5, S = 1,000,000 bytes: two halves, each in two directions; a piece is S/20, along
 *   the
 *     second axis S/100: 4 (500 + 5000) + 4 (500 + 1000) each way; gather and scatter likewise.
 *   Hypercube of 3, S = 240,000: three parts that are halved thrice: 500 + 4000, 500 + 2000, 500 +
 *     1000 each way.
 *   all_to_all on the hypercube: half of each third along each dimension, 500 + 4000, thrice.
 *   Broadcast, fully connected, 6 ranks, 60,000 bytes in 4 chunks of five trees, two hops:
 *     (2 + 4 - 1) (500 + 300).
 *   all_reduce on a line of 4, from its second rank, two hops to the last: (2 * 2 + 4 - 1) (500 +
 *     1500). */
TEST(times_match_the_closed_forms)
{
    static const struct {
        const char *topology;
        int dims[2], n_dims;
        const char *algorithm;
        int32_t kind, chunks;
        int64_t bytes, ns;
    } rows[] = {
        {"torus", {5, 5}, 2, "multi_axis", TH_ALL_REDUCE, 1, 1000000, 56000},
        {"torus", {5, 5}, 2, "multi_axis", TH_REDUCE_SCATTER, 1, 1000000, 28000},
        {"torus", {5, 5}, 2, "multi_axis", TH_ALL_GATHER, 1, 1000000, 28000},
        {"torus", {5, 5}, 2, "multi_axis", TH_SCATTER, 1, 1000000, 28000},
        {"torus", {5, 5}, 2, "multi_axis", TH_GATHER, 1, 1000000, 28000},
        {"hypercube", {3}, 1, "multi_axis", TH_ALL_REDUCE, 1, 240000, 17000},
        {"hypercube", {3}, 1, "multi_axis", TH_ALL_TO_ALL, 1, 240000, 13500},
        {"fully_connected", {6}, 1, "spanning_trees", TH_BROADCAST, 4, 60000, 4000},
        {"fully_connected", {6}, 1, "spanning_trees", TH_REDUCE, 4, 60000, 4000},
        {"line", {4}, 1, "spanning_trees", TH_ALL_REDUCE, 4, 60000, 14000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_system *s = generated(rows[i].topology, rows[i].dims, rows[i].n_dims);
        th_collective c = collective(s, rows[i].kind, rows[i].algorithm, rows[i].bytes);
        c.chunks = rows[i].chunks;
        double ns = time_of(s, "fluid", &c);
        if (ns != (double)rows[i].ns)
            printf("# row %zu: %.3f ns\n", i, ns);
        CU_ASSERT_EQUAL(ns, rows[i].ns);
    }
}

/* How many times its bound auto takes for 256 MiB. */
TEST(auto_comes_near_the_bound_of_large_messages)
{
    static const struct {
        const char *topology;
        int dims[3], n_dims;
        double bar[TH_SCATTER + 1]; /* by kind */
    } rows[] = {
        {"torus", {5, 3}, 2, {1.15, 1.15, 1.15, 1.25, 1.5, 1.5, 1.15, 1.15}},
        {"mesh", {4, 3}, 2, {1.35, 1.35, 1.35, 1.25, 1.5, 1.5, 1.35, 1.35}},
        {"hypercube", {3}, 1, {1.2, 1.2, 1.2, 1.2, 1.5, 1.5, 1.2, 1.2}},
        {"fully_connected", {6}, 1, {1.2, 1.2, 1.2, 1.2, 1.5, 1.5, 1.2, 1.2}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_system *s = generated(rows[i].topology, rows[i].dims, rows[i].n_dims);
        for (int kind = 0; kind <= TH_SCATTER; kind++) {
            th_collective c = collective(s, kind, "ring", 256 << 20);
            th_time bound = 0;
            c.algorithm = NULL;
            c.chunks = 0;
            double ns = time_of(s, "fluid", &c);
            c.algorithm = th_algorithm_find("ring"); /* ranks alone add */
            CU_ASSERT_EQUAL(th_collective_bound(&c, s, &bound, NULL), 0);
            double over = ns * 1000 / (double)bound;
            if (over > rows[i].bar[kind] || over < 1)
                printf("# %s {%d %d}, %s: %.3f times the bound, bar %.2f\n", rows[i].topology,
                       rows[i].dims[0], rows[i].dims[1], th_collective_names[kind], over,
                       rows[i].bar[kind]);
            CU_ASSERT_TRUE(over <= rows[i].bar[kind] && over >= 1);
        }
    }
}

TAP_MAIN("multi_axis")
