/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "mapper/lower/plan.h"
#include "mapper/strategies.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

#define RING(N)                                                                                    \
    "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [" N             \
                                            "]; bandwidth = \"8Gbps\"; latency = \"100ns\"; host " \
                                            "= { bandwidth = \"2Gbps\"; latency = "                \
                                            "\"300ns\"; }; };"

/* Two convolutions of one shape, one of another, on 10 x 10 pixels of 6 channels. */
#define NET                                                                                        \
    "name = \"n\"; batch = 2; input = { channels = 6; height = 10; width = 10; }; layers = ("      \
    "{ name = \"a\"; type = \"conv\"; outputs = 6; kernel = 3; padding = 1; },"                    \
    "{ name = \"b\"; type = \"conv\"; outputs = 6; kernel = 3; padding = 1; },"                    \
    "{ name = \"c\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; } );"

static th_system *sys;
static th_workload *net;
static th_plans *plans;

static void set_up(const char *system, const char *workload)
{
    sys = system_of(system);
    net = workload_of(workload);
    plans = th_plans_new(sys, net, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plans);
}

static void tear_down(void)
{
    th_plans_free(plans);
    th_workload_free(net);
    th_system_free(sys);
}

static th_placed place(int layer, const th_set *set, const char *strategy)
{
    th_placed at;
    th_strategy s = strategy_of(strategy);
    CU_ASSERT_EQUAL(th_plans_place(plans, layer, set, &s, &at, NULL), 0);
    return at;
}

static void equal_shapes_on_equal_sets_share_a_plan(void)
{
    set_up(RING("4"), NET);
    int32_t first[] = {0, 2}, same[] = {0, 2}, other[] = {2, 0};
    th_set s = {0, 2, first}, t = {0, 2, same}, u = {0, 2, other};
    th_placed a = place(0, &s, "H2"), b = place(1, &t, "H2"), c = place(2, &s, "H2"),
              turned = place(0, &u, "H2"), w = place(0, &s, "W2"), r = place(0, &s, "H2 rK");
    CU_ASSERT_TRUE(th_plans_shape_class(plans, 0) == th_plans_shape_class(plans, 1));
    CU_ASSERT_FALSE(th_plans_shape_class(plans, 0) == th_plans_shape_class(plans, 2));
    CU_ASSERT_TRUE(a.set_id == b.set_id && a.set_id != turned.set_id);
    const th_layer_plan *p = th_plans_layer(plans, &a, 2, NULL);
    CU_ASSERT_PTR_EQUAL(th_plans_layer(plans, &b, 2, NULL), p);
    CU_ASSERT_PTR_NOT_EQUAL(th_plans_layer(plans, &c, 2, NULL), p);
    CU_ASSERT_PTR_NOT_EQUAL(th_plans_layer(plans, &turned, 2, NULL), p);
    CU_ASSERT_PTR_NOT_EQUAL(th_plans_layer(plans, &w, 2, NULL), p);
    CU_ASSERT_PTR_NOT_EQUAL(th_plans_layer(plans, &r, 2, NULL), p);
    CU_ASSERT_PTR_NOT_EQUAL(th_plans_layer(plans, &a, 1, NULL), p);
    const th_edge_plan *e = th_plans_edge(plans, &a, &b, 1, 2, NULL);
    CU_ASSERT_PTR_EQUAL(th_plans_edge(plans, &b, &a, 1, 2, NULL), e);
    CU_ASSERT_PTR_NOT_EQUAL(th_plans_edge(plans, NULL, &a, 1, 2, NULL), e);
    CU_ASSERT_PTR_NOT_EQUAL(th_plans_edge(plans, &a, &b, 1, 1, NULL), e);
    CU_ASSERT_PTR_EQUAL(th_plans_layer(plans, &a, 2, NULL), p);
    tear_down();
}

/* What travels does not depend on the design. */
static void designs_share_edges_but_no_layers(void)
{
    sys = shipped_system("f1_16xlarge");
    net = workload_of(NET);
    plans = th_plans_new(sys, net, NULL);
    int32_t accels[] = {1, 3};
    th_set s = {0, 2, accels}, t = {2, 2, accels};
    th_placed a = place(0, &s, "H2"), b = place(1, &s, "K2"), x = place(0, &t, "H2"),
              y = place(1, &t, "K2");
    CU_ASSERT_TRUE(a.set_id != x.set_id && a.members_id == x.members_id);
    CU_ASSERT_PTR_NOT_EQUAL(th_plans_layer(plans, &a, 2, NULL), th_plans_layer(plans, &x, 2, NULL));
    CU_ASSERT_PTR_EQUAL(th_plans_edge(plans, &a, &b, 1, 2, NULL),
                        th_plans_edge(plans, &x, &y, 1, 2, NULL));
    tear_down();
}

/* a H2 -> b H2 with a 3 x 3 kernel: each needs one row of the other's, 2 images x 6 channels x 10
 * columns x 2 bytes = 240 bytes over one link of 8 Gb/s and 100 ns: 240 + 100 ns.
 * From the host: rows 0 .. 5 and 4 .. 9, 1440 bytes each at 2 Gb/s: 5760 + 300 ns. */
static void edges_by_hand(void)
{
    set_up(RING("4"), NET);
    int32_t accels[] = {2, 3};
    th_set s = {0, 2, accels};
    th_placed a = place(0, &s, "H2"), b = place(1, &s, "H2");
    const th_edge_plan *e = th_plans_edge(plans, &a, &b, 1, 2, NULL),
                       *in = th_plans_edge(plans, NULL, &a, 1, 2, NULL);
    CU_ASSERT_TRUE(e->n == 2 && e->deliveries[0].from == 1 && e->deliveries[0].to == 0);
    CU_ASSERT_TRUE(e->deliveries[0].bytes == 240 && e->deliveries[1].bytes == 240);
    CU_ASSERT_TRUE(e->deliveries[1].from_node == 2 && e->deliveries[1].to_node == 3);
    CU_ASSERT_TRUE(th_box_equal(&e->boxes[e->deliveries[0].first_box],
                                &(th_box){{0, 0, 5, 0}, {2, 6, 6, 10}}));
    CU_ASSERT_TRUE(e->local_from[0] == 0 && e->local_from[1] == 1 && e->n_reuses == 0);
    CU_ASSERT_EQUAL(th_plans_edge_time(plans, e, NULL), 340000);
    CU_ASSERT_TRUE(in->n == 2 && in->deliveries[0].from == -1 && in->deliveries[0].bytes == 1440);
    CU_ASSERT_EQUAL(th_plans_edge_time(plans, in, NULL), 6060000);
    CU_ASSERT_EQUAL(th_plans_transition_time(plans, &a, &b, 2, TH_TIME_MAX, NULL), 340000);
    CU_ASSERT_EQUAL(th_plans_transition_time(plans, NULL, &a, 2, TH_TIME_MAX, NULL), 6060000);
    CU_ASSERT_EQUAL(th_plans_host_of(plans, 3), 4);
    tear_down();
}

/* Folded time of a work, from the memo. */
static th_time folded(const th_layer_plan *p, int r, int phase)
{
    return th_compute_cost_get(th_plans_costs(plans), p->work[r * p->phases + phase])->collapsed_ps;
}

static th_time max_of(th_time a, th_time b)
{
    return a > b ? a : b;
}

/* Rotating K: 3 of 6 filters of 6 x 9 weights, 324 bytes, 424 ns with the latency; computing 2 x 3
 * x 5 x 10 x 54 = 16,200 steps of 1 ns takes longer. C2: each sends 2 x 3 x 100 x 2 = 1200 bytes of
 * partial sums (the box 2 x 6 x 10 x 10 is cut along H, the first of the longest): 1200 + 100 ns,
 * and adds its half, 600 outputs of 1 ns at least. */
static void layers_by_hand(void)
{
    set_up(RING("4"), NET);
    int32_t accels[] = {2, 3};
    th_set s = {0, 2, accels};
    th_placed a = place(0, &s, "H2 rK"), c = place(0, &s, "C2");
    const th_layer_plan *p = th_plans_layer(plans, &a, 2, NULL);
    CU_ASSERT_TRUE(p->phases == 2 && p->piece_bytes[1] == 324);
    CU_ASSERT_TRUE(p->at[0].ring_from == 1 && p->at[0].ring_to == 1 && p->at[0].reduce_work == -1);
    CU_ASSERT_TRUE(p->at[0].weight_bytes == 324 + 12 &&
                   p->at[0].buffer_bytes == 324); /* 6 biases */
    CU_ASSERT_TRUE(p->at[1].output_bytes == 2 * 6 * 5 * 10 * 2);
    CU_ASSERT_TRUE(folded(p, 0, 0) >= 16200000 && folded(p, 0, 0) < 18000000);
    CU_ASSERT_EQUAL(th_plans_layer_time(plans, &a, p, NULL),
                    max_of(folded(p, 0, 0), folded(p, 1, 0)) +
                        max_of(folded(p, 0, 1), folded(p, 1, 1)));
    p = th_plans_layer(plans, &c, 2, NULL);
    CU_ASSERT_TRUE(p->phases == 1 && p->at[0].n_sends == 1 &&
                   p->sends[p->at[0].first_send].to == 1);
    CU_ASSERT_TRUE(p->sends[p->at[1].first_send].bytes == 1200 && p->at[1].buffer_bytes == 1200);
    CU_ASSERT_TRUE(th_box_equal(&p->at[1].held, &(th_box){{0, 0, 5, 0}, {2, 6, 10, 10}}));
    th_time sum = th_compute_cost_get(th_plans_costs(plans), p->at[0].reduce_work)->collapsed_ps;
    CU_ASSERT_TRUE(sum >= 600000);
    CU_ASSERT_EQUAL(th_plans_layer_time(plans, &c, p, NULL), folded(p, 0, 0) + 1300000 + sum);
    tear_down();
}

/* Two tensors, x and y, each with 67 readers that all want everything. The first reader of x is the
 * accelerator that also runs readers 1 .. 66, that of y is another one: the last reader of x waits
 * for what came for reader 0, that of y for reader 1. */
static void many_readers_of_one_tensor(void)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_strbuf_add(&text,
                  "name = \"n\"; batch = 1; input = { channels = 2; height = 3; width = 3; }; "
                  "layers = ( { name = \"x\"; type = \"relu\"; }");
    for (int i = 0; i < 67; i++)
        th_strbuf_printf(&text, ", { name = \"r%d\"; type = \"relu\"; inputs = \"x\"; }", i);
    th_strbuf_add(&text, " );");
    set_up(RING("4"), text.text);
    int32_t zero[] = {0}, one[] = {1}, two[] = {2};
    th_set from = {0, 1, zero}, reader = {0, 1, one}, other = {0, 1, two};
    th_placed x = place(0, &from, ""), r[67];
    for (int i = 0; i < 67; i++)
        r[i] = place(i + 1, &reader, "");
    const th_edge_plan *last = th_plans_edge(plans, &x, r, 67, 1, NULL);
    CU_ASSERT_TRUE(last->n == 0 && last->n_reuses == 1 && last->reuses[0].edge == 0);
    r[0] = place(1, &other, "");
    last = th_plans_edge(plans, &x, r, 67, 1, NULL);
    CU_ASSERT_TRUE(last->n == 0 && last->n_reuses == 1 && last->reuses[0].edge == 1);
    th_strbuf_clear(&text);
    tear_down();
}

/* Whatever the splits, on one set or from one to another that shares some accelerators with it. */
static void transitions_take_as_long_as_their_plans(void)
{
    set_up(RING("4"), NET);
    int32_t accels[] = {2, 3, 0, 1}, turned[] = {3, 1, 2, 0};
    const th_set sets[] = {{0, 4, accels}, {0, 4, turned}, {0, 2, accels + 1}};
    int n_longer = 0, n_less = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (size_t j = 0; j < sizeof sets / sizeof *sets; j++) {
            th_strategy *from = NULL, *to = NULL;
            int n = th_strategies_list(&net->layers[0], 2, sets[i].n_accels, &from);
            int m = th_strategies_list(&net->layers[1], 2, sets[j].n_accels, &to);
            for (int k = 0; k < n * m; k++) {
                th_placed a, b;
                th_plans_place(plans, 0, &sets[i], &from[k / m], &a, NULL);
                th_plans_place(plans, 1, &sets[j], &to[k % m], &b, NULL);
                th_time planned =
                    th_plans_edge_time(plans, th_plans_edge(plans, &a, &b, 1, 2, NULL), NULL);
                CU_ASSERT_EQUAL(th_plans_transition_time(plans, &a, &b, 2, planned, NULL), planned);
                th_time half = th_plans_transition_time(plans, &a, &b, 2, planned / 2, NULL);
                CU_ASSERT_TRUE(half <= planned && half >= planned / 2);
                n_less += half < planned;
                n_longer += planned > 340000;
            }
            th_free(from);
            th_free(to);
        }
    }
    CU_ASSERT_TRUE(n_longer > 100 && n_less > 100);
    tear_down();
}

static void trimmed_plans_come_back_alike(void)
{
    set_up(RING("4"), NET);
    int32_t accels[] = {2, 3, 0};
    th_set s = {0, 3, accels};
    th_placed a = place(0, &s, "H3 rK"), b = place(1, &s, "C3");
    const th_edge_plan *e = th_plans_edge(plans, &a, &b, 1, 2, NULL);
    int32_t n = e->n, costs = th_compute_cost_count(th_plans_costs(plans));
    th_time edge = th_plans_edge_time(plans, e, NULL),
            layer = th_plans_layer_time(plans, &b, th_plans_layer(plans, &b, 2, NULL), NULL);
    th_plans_trim(plans, 1 << 30);
    CU_ASSERT_PTR_EQUAL(th_plans_edge(plans, &a, &b, 1, 2, NULL), e);
    th_plans_trim(plans, 0);
    e = th_plans_edge(plans, &a, &b, 1, 2, NULL);
    CU_ASSERT_TRUE(e->n == n && th_plans_edge_time(plans, e, NULL) == edge);
    CU_ASSERT_EQUAL(th_plans_layer_time(plans, &b, th_plans_layer(plans, &b, 2, NULL), NULL),
                    layer);
    CU_ASSERT_EQUAL(th_compute_cost_count(th_plans_costs(plans)), costs);
    tear_down();
}

/* h reaches 0 at 2 Gb/s and 1 through it at 2; i reaches 1 at 3 and 0 through it at 3. Wider first:
 * i for both. Without a host: -1. */
static void the_host_is_the_one_with_the_widest_way(void)
{
    set_up("name = \"two\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
           "macs_per_cycle = 1; } ); accelerators = ( { count = 2; dram = { capacity = \"1GiB\"; "
           "bandwidth = \"8GB/s\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; "
           "designs = [\"d\"]; } ); hosts = ( \"h\", \"i\" ); links = ( "
           "{ between = [\"0\", \"1\"]; bandwidth = \"8Gbps\"; latency = \"1us\"; }, "
           "{ between = [\"h\", \"0\"]; bandwidth = \"2Gbps\"; latency = \"1us\"; }, "
           "{ between = [\"i\", \"1\"]; bandwidth = \"3Gbps\"; latency = \"1us\"; } );",
           NET);
    CU_ASSERT_EQUAL(th_plans_host_of(plans, 0), th_system_find_node(sys, "i"));
    CU_ASSERT_EQUAL(th_plans_host_of(plans, 1), th_system_find_node(sys, "i"));
    tear_down();
    set_up("name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [3]; "
                                                   "bandwidth = \"8Gbps\"; latency = \"1us\"; };",
           NET);
    int32_t accels[] = {1};
    th_set s = {0, 1, accels};
    th_placed a = place(0, &s, "");
    CU_ASSERT_EQUAL(th_plans_host_of(plans, 1), -1);
    CU_ASSERT_EQUAL(th_plans_edge(plans, NULL, &a, 1, 2, NULL)->n, 0);
    tear_down();
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(equal_shapes_on_equal_sets_share_a_plan),
        TAP(designs_share_edges_but_no_layers),
        TAP(edges_by_hand),
        TAP(layers_by_hand),
        TAP(many_readers_of_one_tensor),
        TAP(transitions_take_as_long_as_their_plans),
        TAP(trimmed_plans_come_back_alike),
        TAP(the_host_is_the_one_with_the_widest_way),
        TAP_END,
    };
    return tap_main("plan", tests, argc, argv);
}
