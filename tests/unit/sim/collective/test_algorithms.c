/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_algorithms.c - trees, powers of two, dimensions: what they do to data on shapes of their
 * own, and times by hand. What test_collective does with every algorithm of the table is not done
 * again. */
#include <config.h>
#include "sim/collective/algorithms.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/collective_help.h"
#include "tests/unit/collective_shapes.h"
#include "topology/routing/route.h"

/* --- what they do to data --------------------------------------------------------------------- */

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

static void try_hierarchy(th_collective *c, const th_system *s, gsl_rng *r)
{
    static const int32_t kinds[] = {TH_ALL_REDUCE, TH_REDUCE_SCATTER, TH_ALL_GATHER, TH_ALL_TO_ALL};
    int64_t pairs[400];
    for (uint64_t trial = 0; trial < TAP_REPEATS(40); trial++) {
        c->kind = kinds[trial % 4];
        c->bytes = trial < TAP_REPEATS(20) ? 60 * s->n_accels : pick(r, 0, 50);
        c->chunks = (int32_t)pick(r, 1, 4);
        c->pair_bytes = c->kind == TH_ALL_TO_ALL && trial % 8 == 7 ? pairs : NULL;
        for (int32_t k = 0; k < c->n_ranks * c->n_ranks; k++)
            pairs[k] = pick(r, 0, 5);
        assert_right(c, s, trial);
    }
}

/* Dimensions of the system and of the collective, where they are rings, lines, or all joined. */
TEST(hierarchies_of_all_shapes_are_right)
{
    static const struct {
        const char *type;
        int dims[4], n_dims;
        int32_t own_dims[4], n_own_dims;
    } cases[] = {
        {"torus", {4, 3}, 2, {0}, 0},
        {"mesh", {2, 5}, 2, {0}, 0},
        {"torus", {3, 2, 3}, 3, {0}, 0},
        {"torus", {4, 3}, 2, {3, 4}, 2},
        {"fully_connected", {12}, 1, {2, 3, 2}, 3},
        {"star", {10}, 1, {5, 1, 2}, 3},
        {"ring", {9}, 1, {3, 3}, 2},
        {"tree", {3, 2}, 2, {0}, 0},
    };
    auto_rng *r = th_random_stream(2, "hierarchies", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_system *s = generated(cases[i].type, cases[i].dims, cases[i].n_dims);
        th_collective c = collective(s, TH_ALL_REDUCE, "hierarchical", 0);
        c.n_dims = cases[i].n_own_dims;
        memcpy(c.dims, cases[i].own_dims, sizeof cases[i].own_dims);
        try_hierarchy(&c, s, r);
    }
}

/* Ranks 0, 1, 3 of a tree of islands of three: no shape, no islands of one size. */
TEST(a_hierarchy_needs_dimensions)
{
    auto_system *s = generated("tree", (int[]){3, 2}, 2);
    int32_t nodes[] = {s->accel_node[0], s->accel_node[1], s->accel_node[3]};
    th_collective c = collective(s, TH_ALL_REDUCE, "hierarchical", 100);
    th_error e = {"", ""};
    th_collective_schedule x;
    c.rank_node = nodes;
    c.n_ranks = 3;
    CU_ASSERT_EQUAL(th_collective_schedule_init(&x, &c, s, &e), -1);
    TAP_ASSERT_TEXT(e.id, "COLL-0020");
    c.n_dims = 1;
    c.dims[0] = 3;
    assert_right(&c, s, 1);
}

/* All switches, or all but number kept_out (-1: none), reduce. */
static void let_switches_reduce(th_system *s, int kept_out)
{
    for (int i = 0, number = 0; i < s->n_nodes; i++)
        if (s->nodes[i].kind == TH_NODE_SWITCH)
            s->nodes[i].reduces = number++ != kept_out;
}

/* The sums of every other switch that reduces take time. */
static void let_sums_take_time(th_system *s)
{
    for (int i = 0, number = 0; i < s->n_nodes; i++)
        if (s->nodes[i].reduces && number++ % 2 == 0)
            s->nodes[i].reduction_latency_ps = 1000;
}

/* Six accelerators, each with a link to each of three switches. */
static th_system *three_planes(void)
{
    return system_of(
        "name = \"planes\"; designs = ({ name = \"r\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 1; });"
        "accelerators = ({ count = 6; dram = { capacity = \"1GiB\"; bandwidth = \"10TB/s\"; };"
        " vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"r\"]; });"
        "switches = ({ name = \"a\"; reduces = true; }, { name = \"b\"; reduces = true; },"
        " { name = \"c\"; reduces = true; });"
        "links = ({ center = \"a\"; leaves = [\"0\", \"1\", \"2\", \"3\", \"4\", \"5\"];"
        " bandwidth = \"80Gbps\"; latency = \"500ns\"; },"
        "{ center = \"b\"; leaves = [\"0\", \"1\", \"2\", \"3\", \"4\", \"5\"];"
        " bandwidth = \"80Gbps\"; latency = \"500ns\"; },"
        "{ center = \"c\"; leaves = [\"0\", \"1\", \"2\", \"3\", \"4\", \"5\"];"
        " bandwidth = \"80Gbps\"; latency = \"500ns\"; });");
}

static void try_in_switch(const th_system *s)
{
    static const int32_t kinds[] = {TH_ALL_REDUCE, TH_REDUCE_SCATTER, TH_ALL_GATHER,
                                    TH_BROADCAST,  TH_REDUCE,         TH_BARRIER};
    auto_rng *r = th_random_stream(3, "switches", 0);
    for (uint64_t trial = 0; trial < 90; trial++) {
        th_collective c = collective(s, kinds[trial % 6], "in_switch", pick(r, 0, 60));
        c.n_ranks = (int32_t)pick(r, 1, s->n_accels);
        c.root = (int32_t)pick(r, 0, c.n_ranks - 1);
        c.chunks = (int32_t)pick(r, 1, 5);
        if (trial % 12 > 5)
            c.bytes = 60 * s->n_accels;
        if (c.kind == TH_BARRIER)
            c.bytes = 0;
        assert_right(&c, s, trial);
    }
}

/* One switch; two levels, all of them reduce or one only forwards; several planes. */
TEST(switches_give_all_ranks_the_right_data)
{
    auto_system *star = of_size("star", 7), *planes = three_planes();
    let_switches_reduce(star, -1);
    try_in_switch(star);
    try_in_switch(planes);
    let_sums_take_time(star);
    let_sums_take_time(planes);
    try_in_switch(star);
    try_in_switch(planes);
    for (int kept_out = -1; kept_out < 4; kept_out++) {
        auto_system *tree = generated("tree", (int[]){3, 2}, 2);
        let_switches_reduce(tree, kept_out);
        try_in_switch(tree);
        let_sums_take_time(tree);
        try_in_switch(tree);
    }
}

TEST(switches_that_only_forward_are_refused)
{
    auto_system *s = of_size("star", 4);
    th_collective c = collective(s, TH_ALL_REDUCE, "in_switch", 100);
    th_error e = {"", ""};
    th_collective_schedule x;
    CU_ASSERT_EQUAL(th_collective_schedule_init(&x, &c, s, &e), -1);
    TAP_ASSERT_ERROR(e, "COLL-0021",
                     "all_reduce of 4 ranks by in_switch: no switch that reduces is between them");
}

/* Every way ends, but from switch a to switch c it leads over b, and from b to c over a. */
static int misled(const th_system *s, int at, int src, int dst)
{
    int a = th_system_find_node(s, "a"), b = th_system_find_node(s, "b");
    int c = th_system_find_node(s, "c");
    if (dst < 6)
        return th_route_shortest_next(s, at, dst);
    if (at >= 6) /* a switch that is not the end: over accelerator 0, else 1 or 2 */
        return th_route_link_to(s, at, at == src ? 0 : src == 1 ? 2 : 1);
    if (at == src)
        return th_route_link_to(s, at, dst == c ? a : c);
    if (dst == c && at == 0 && (src == a || src == b))
        return th_route_link_to(s, at, src == a ? b : a);
    return th_route_link_to(s, at, dst);
}

TEST(cyclic_paths_are_no_tree)
{
    auto_system *s = three_planes();
    th_routing_type misleading = *s->routing;
    th_collective c = collective(s, TH_ALL_REDUCE, "in_switch", 100);
    th_error e = {"", ""};
    th_collective_schedule x;
    misleading.next = misled;
    const th_routing_type *right = s->routing;
    s->routing = &misleading;
    CU_ASSERT_EQUAL(th_collective_schedule_init(&x, &c, s, &e), -1);
    TAP_ASSERT_TEXT(e.id, "COLL-0022");
    s->routing = right;
}

static const th_system *prepared_on;

static int prepare(const void *c, th_error *e)
{
    th_collective_schedule x;
    if (th_collective_schedule_init(&x, c, prepared_on, e))
        return -1;
    th_collective_schedule_clear(&x);
    return 0;
}

TEST(preparing_survives_lack_of_memory)
{
    auto_system *star = of_size("star", 6), *ring = of_size("ring", 6);
    let_switches_reduce(star, -1);
    for (int i = 0; th_algorithms[i]; i++) {
        bool needs_cables = th_algorithms[i] == &th_algorithm_multi_axis ||
                            th_algorithms[i] == &th_algorithm_spanning_trees;
        prepared_on = needs_cables ? ring : star;
        th_collective c = collective(prepared_on, TH_ALL_GATHER, th_algorithms[i]->name, 600);
        c.kind = th_algorithms[i]->kinds >> TH_ALL_GATHER & 1u ? TH_ALL_GATHER : TH_ALL_REDUCE;
        if (th_algorithms[i]->kinds >> c.kind & 1u)
            CU_ASSERT_TRUE(fail_each_allocation(prepare, &c) > 1);
    }
}

/* --- times ------------------------------------------------------------------------------------ */

/* All bytes S = 240,000, 24,000 ns on a link; links of 500 ns, so 1000 ns over the middle
 * of a star.
 *   halving_doubling: fully connected, n = 8, log2 n = 3: 3 * 500 + 7/8 * 24,000 = 22,500 each way;
 *     a star: 3000 + 21,000. n = 6 folds two ranks: all_reduce 24,500 + 2 (2 * 500 + 3/4 * 24,000)
 *     + 24,500; reduce_scatter: pieces of 4000 ns. Fold, 24,500; what the partners of the first
 *     round sent has come by then, so those who stand for two send two pieces in both rounds at
 *     once (8500); then one piece is unfolded while the others exchange one (4500).
 *   binomial, a star: what a rank sends goes one after the other: ceil(log2 n) (L + S/bw), 25,000
 *     each; gather and scatter of 8: pieces of 1, 2, 4 times 3000 ns and 1000 ns each. Of 4 ranks,
 *     k chunks: the root sends 2 k of them, L + c each: 2 k (1000 + 24,000/k).
 *   double_binary_tree: 6 chunks of 20,000 bytes in each tree: 2500 ns per edge. broadcast: the
 *     deepest of 7 is 3 edges below the root, no two edges of both trees are the same: (3 + 5)
 *     2500. all_reduce: up 3 edges and down again, (6 + 5) 2500 where edges share no links:
 *     under ideal.
 *   hierarchical, 4 x 2 fully connected: in d0 a quarter to each at once, in d1 an eighth: 2 (500 +
 *     6000 + 500 + 3000). A star: 2 (3 (1000 + 6000) + 1000 + 3000). A torus 4 x 4, both ways
 *     round: 2 (3 (500 + 3000) + 3 (500 + 750)).
 *   bruck, a star of 8: all_gather 3 * 1000 + 7/8 * 24,000; all_to_all 3 (1000 + 12,000). Of 6: 1,
 *     2 and 2 pieces of 4000 ns. */
TEST(times_match_the_closed_forms)
{
#define FULL    "fully_connected"
#define HALVING "halving_doubling"
#define DOUBLE  "double_binary_tree"
#define BY_4_AND_2                                                                                 \
    2,                                                                                             \
    {                                                                                              \
        4, 2                                                                                       \
    }
    static const struct {
        const char *topology;
        int dims[2], n_dims;
        const char *algorithm;
        int32_t kind, root, chunks;
        int64_t ns;
        int32_t n_own_dims, own_dims[2];
    } rows[] = {
        {FULL, {8}, 1, HALVING, TH_ALL_REDUCE, 0, 1, 45000},
        {FULL, {8}, 1, HALVING, TH_REDUCE_SCATTER, 0, 1, 22500},
        {FULL, {8}, 1, HALVING, TH_ALL_GATHER, 0, 1, 22500},
        {"star", {8}, 1, HALVING, TH_ALL_REDUCE, 0, 1, 48000},
        {FULL, {6}, 1, HALVING, TH_ALL_REDUCE, 0, 1, 87000},
        {FULL, {6}, 1, HALVING, TH_REDUCE_SCATTER, 0, 1, 37500},
        {FULL, {6}, 1, HALVING, TH_BARRIER, 0, 1, 1500},
        {"star", {5}, 1, "binomial", TH_BROADCAST, 4, 1, 75000},
        {"star", {6}, 1, "binomial", TH_BROADCAST, 1, 1, 75000},
        {"star", {7}, 1, "binomial", TH_BROADCAST, 0, 1, 75000},
        {"star", {8}, 1, "binomial", TH_BROADCAST, 3, 1, 75000},
        {"star", {8}, 1, "binomial", TH_REDUCE, 2, 1, 75000},
        {"star", {8}, 1, "binomial", TH_ALL_REDUCE, 0, 1, 150000},
        {"star", {8}, 1, "binomial", TH_BARRIER, 0, 1, 6000},
        {"star", {8}, 1, "binomial", TH_GATHER, 0, 1, 24000},
        {"star", {8}, 1, "binomial", TH_SCATTER, 0, 1, 24000},
        {"star", {4}, 1, "binomial", TH_BROADCAST, 0, 1, 2 * 25000},
        {"star", {4}, 1, "binomial", TH_BROADCAST, 0, 8, 2 * 32000},
        {FULL, {8}, 1, DOUBLE, TH_BROADCAST, 5, 6, 20000},
        {FULL, {8}, 1, DOUBLE, TH_REDUCE, 5, 6, 20000},
        {FULL, {8}, 1, "hierarchical", TH_ALL_REDUCE, 0, 1, 20000, BY_4_AND_2},
        {"star", {8}, 1, "hierarchical", TH_ALL_REDUCE, 0, 1, 50000, BY_4_AND_2},
        {"torus", {4, 4}, 2, "hierarchical", TH_ALL_REDUCE, 0, 1, 28500},
        {"torus", {4, 4}, 2, "hierarchical", TH_REDUCE_SCATTER, 0, 1, 14250},
        {"torus", {4, 4}, 2, "hierarchical", TH_ALL_GATHER, 0, 1, 14250},
        {"star", {8}, 1, "bruck", TH_ALL_GATHER, 0, 1, 24000},
        {"star", {8}, 1, "bruck", TH_ALL_TO_ALL, 0, 1, 39000},
        {"star", {6}, 1, "bruck", TH_ALL_GATHER, 0, 1, 23000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_system *s = generated(rows[i].topology, rows[i].dims, rows[i].n_dims);
        th_collective c = collective(s, rows[i].kind, rows[i].algorithm, 240000);
        c.root = rows[i].root;
        c.chunks = rows[i].chunks;
        c.n_dims = rows[i].n_own_dims;
        memcpy(c.dims, rows[i].own_dims, sizeof rows[i].own_dims);
        if (time_of(s, "fluid", &c) != rows[i].ns)
            printf("# row %zu: %s\n", i, rows[i].algorithm);
        CU_ASSERT_EQUAL(time_of(s, "fluid", &c), rows[i].ns);
    }
}

TEST(edges_of_double_trees_that_coincide_contend)
{
    auto_system *s = of_size(FULL, 8);
    th_collective c = collective(s, TH_ALL_REDUCE, DOUBLE, 240000);
    c.chunks = 6;
    CU_ASSERT_EQUAL(time_of(s, "ideal", &c), 27500);
    CU_ASSERT_TRUE(time_of(s, "fluid", &c) > 27500);
}

/* On a star of 64 a rank sends and receives about 2 S whatever n, so many chunks take little more
 * than 2 S/bw = 480 us of 2.4 MB; a tree without chunks takes 12 times S/bw. */
TEST(double_trees_use_all_of_a_link)
{
    auto_system *s = of_size("star", 64);
    th_collective c = collective(s, TH_ALL_REDUCE, "double_binary_tree", 2400000);
    c.chunks = 64;
    double time = time_of(s, "fluid", &c);
    CU_ASSERT_TRUE(time > 2 * 240000 && time < 1.5 * 2 * 240000);
    c.chunks = 1;
    CU_ASSERT_TRUE(time_of(s, "fluid", &c) > 8 * 240000);
}

/* S = 240,000. Ranks of a torus 4 x 4 in any order, and of half of a mesh: a cycle of neighbours is
 * found, so 2 (n - 1) (500 + 24,000 / n): 30 * 2000 and 14 * 3500. */
TEST(rings_follow_the_topology)
{
    auto_system *torus = generated("torus", (int[]){4, 4}, 2);
    auto_system *mesh = generated("mesh", (int[]){4, 4}, 2);
    int32_t nodes[16];
    for (int i = 0; i < 16; i++)
        nodes[i] = torus->accel_node[i * 7 % 16];
    th_collective c = collective(torus, TH_ALL_REDUCE, "topology_ring", 240000);
    c.rank_node = nodes;
    CU_ASSERT_EQUAL(time_of(torus, "fluid", &c), 60000);
    c.algorithm = th_algorithm_find("ring");
    CU_ASSERT_TRUE(time_of(torus, "fluid", &c) > 60000);
    c.algorithm = th_algorithm_find("topology_ring");
    c.n_ranks = 8;
    for (int i = 0; i < 8; i++)
        nodes[i] = mesh->accel_node[4 + i * 3 % 8];
    CU_ASSERT_EQUAL(time_of(mesh, "fluid", &c), 49000);
}

/* On a torus of two equal dimensions with messages so large that latency is nothing, the second
 * dimension idles while the first works: with chunks both work at once, and all is done sooner. */
TEST(chunks_keep_several_dimensions_busy)
{
    auto_system *torus = generated("torus", (int[]){4, 4}, 2);
    th_collective c = collective(torus, TH_ALL_REDUCE, "hierarchical", 240000000);
    double whole = time_of(torus, "fluid", &c);
    c.chunks = 8;
    CU_ASSERT_TRUE(time_of(torus, "fluid", &c) < 0.9 * whole);
}

/* 240,000 bytes in k chunks: up to the switch, one behind the other, and the last down again:
 * (k + 1) (500 + 24,000/k), where a ring needs 2 * 7/8 of 24,000 at the least. Three planes carry a
 * third each. Many chunks of much data: S/bw and little more. */
TEST(switches_match_the_closed_form)
{
    auto_system *star = of_size("star", 8), *planes = three_planes();
    let_switches_reduce(star, -1);
    th_collective c = collective(star, TH_ALL_REDUCE, "in_switch", 240000);
    for (c.chunks = 1; c.chunks <= 16; c.chunks *= 2)
        CU_ASSERT_EQUAL(time_of(star, "fluid", &c), (c.chunks + 1) * (500 + 24000 / c.chunks));
    c.kind = TH_BROADCAST;
    c.chunks = 8;
    CU_ASSERT_EQUAL(time_of(star, "fluid", &c), 9 * 3500);
    c.kind = TH_REDUCE;
    CU_ASSERT_EQUAL(time_of(star, "fluid", &c), 9 * 3500);
    c = collective(planes, TH_ALL_REDUCE, "in_switch", 240000);
    CU_ASSERT_EQUAL(time_of(planes, "fluid", &c), 2 * 8500);
    c = collective(star, TH_ALL_REDUCE, "in_switch", 240000000);
    c.chunks = 200;
    CU_ASSERT_TRUE(time_of(star, "fluid", &c) < 1.02 * 24000000);
}

/* A star of 8: n c / R is 8 * 30,000 / 200 = 1200 ns at 200 B/ns and 8 chunks, which the links'
 * 3500 ns hide but for the last; at 20 B/ns the sums are what takes time. */
TEST(sums_in_switches_take_their_time)
{
    auto_system *star = of_size("star", 8);
    let_switches_reduce(star, -1);
    th_collective c = collective(star, TH_ALL_REDUCE, "in_switch", 240000);
    c.chunks = 8;
    th_node *node = NULL;
    for (int i = 0; i < star->n_nodes; i++)
        node = star->nodes[i].reduces ? &star->nodes[i] : node;
    node->reduction_latency_ps = 700000;
    CU_ASSERT_EQUAL(time_of(star, "fluid", &c), 9 * 3500 + 700);
    CU_ASSERT_EQUAL(time_of(star, "ideal", &c), 9 * 3500 + 700);
    node->reduction_bits_per_s = INT64_C(8) * 200 * 1000000000;
    CU_ASSERT_EQUAL(time_of(star, "fluid", &c), 9 * 3500 + 700 + 1200);
    node->reduction_bits_per_s /= 10;
    CU_ASSERT_EQUAL(time_of(star, "fluid", &c), 2 * 3500 + 8 * 12000 + 700);
    c.kind = TH_REDUCE;
    CU_ASSERT_EQUAL(time_of(star, "fluid", &c), 2 * 3500 + 8 * 12000 + 700);
    c.kind = TH_BROADCAST; /* nothing is added */
    CU_ASSERT_EQUAL(time_of(star, "fluid", &c), 9 * 3500);
}

TAP_MAIN("algorithms")
