/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plan.c - plans of layers and edges by hand, of layers with several inputs, classes of equal
 * layers, hosts. */
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

static th_layer layer_of(th_layer_kind kind, int k, int c, int h, int32_t *inputs, int n_inputs)
{
    th_layer l = th_layer_over(kind, 2, c, h, 1, TH_FP16);
    l.name = "x";
    l.dim[TH_DIM_K] = k;
    l.inputs = inputs;
    l.n_inputs = n_inputs;
    return l;
}

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

/* A workload of batch 2 on 4 channels of h rows, in int4. */
static void begin(int h)
{
    sys = system_of(RING("4"));
    net = th_workload_new("n", NULL, &(th_workload_input){2, 4, h, 1, TH_INT4}, NULL);
}

static void add(const char *name, th_layer l)
{
    char own[8];
    snprintf(own, sizeof own, "%s", name);
    l.name = own;
    CU_ASSERT_EQUAL_FATAL(th_workload_add_layer(net, &l, NULL), net->n_layers - 1);
}

static void finish(void)
{
    th_error e = {"", ""};
    if (th_workload_finish(net, &e) || !(plans = th_plans_new(sys, net, &e)))
        bail_out(&e);
}

static th_placed place_input(int layer, int input, const th_set *set, const char *strategy)
{
    th_placed at;
    th_strategy s = strategy_of(strategy);
    CU_ASSERT_EQUAL(th_plans_place(plans, layer, set, &s, &at, NULL), 0);
    at.input = input;
    return at;
}

static th_placed place(int layer, const th_set *set, const char *strategy)
{
    return place_input(layer, 0, set, strategy);
}

TEST(equal_shapes_on_equal_sets_share_a_plan)
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
TEST(designs_share_edges_but_no_layers)
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
TEST(edges_by_hand)
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
    CU_ASSERT_TRUE(e->first_local_of[1] == 1 && e->first_local_of[2] == 2 && e->locals[0] == 0 &&
                   e->locals[1] == 1 && e->n_reuses == 0);
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
    return th_compute_cost_get(th_plans_costs(plans), p->cost[r * p->phases + phase])->collapsed_ps;
}

static th_time max_of(th_time a, th_time b)
{
    return a > b ? a : b;
}

/* Rotating K: 3 of 6 filters of 6 x 9 weights, 324 bytes, 424 ns with the latency; computing 2 x 3
 * x 5 x 10 x 54 = 16,200 steps of 1 ns takes longer. C2: each sends 2 x 3 x 100 x 2 = 1200 bytes of
 * partial sums (the box 2 x 6 x 10 x 10 is cut along H, the first of the longest): 1200 + 100 ns,
 * and adds its half, 600 outputs of 1 ns at least. */
TEST(layers_by_hand)
{
    set_up(RING("4"), NET);
    int32_t accels[] = {2, 3};
    th_set s = {0, 2, accels};
    th_placed a = place(0, &s, "H2 rK"), c = place(0, &s, "C2");
    const th_layer_plan *p = th_plans_layer(plans, &a, 2, NULL);
    CU_ASSERT_TRUE(p->phases == 2 && p->piece_bytes[1] == 324);
    CU_ASSERT_TRUE(p->at[0].ring_from == 1 && p->at[0].ring_to == 1 && p->at[0].reduce_cost == -1);
    CU_ASSERT_TRUE(p->at[0].weight_bytes == 324 + 12 &&
                   p->at[0].buffer_bytes == 324); /* 6 biases */
    CU_ASSERT_TRUE(p->at[1].output_bytes == 2 * 6 * 5 * 10 * 2);
    CU_ASSERT_TRUE(folded(p, 0, 0) >= 16200000 && folded(p, 0, 0) < 18000000);
    CU_ASSERT_EQUAL(th_plans_layer_time(plans, &a, p, NULL, NULL),
                    max_of(folded(p, 0, 0), folded(p, 1, 0)) +
                        max_of(folded(p, 0, 1), folded(p, 1, 1)));
    p = th_plans_layer(plans, &c, 2, NULL);
    CU_ASSERT_TRUE(p->phases == 1 && p->at[0].n_sends == 1 &&
                   p->sends[p->at[0].first_send].to == 1);
    CU_ASSERT_TRUE(p->sends[p->at[1].first_send].bytes == 1200 && p->at[1].buffer_bytes == 1200);
    CU_ASSERT_TRUE(th_box_equal(&p->at[1].held, &(th_box){{0, 0, 5, 0}, {2, 6, 10, 10}}));
    th_time sum = th_compute_cost_get(th_plans_costs(plans), p->at[0].reduce_cost)->collapsed_ps;
    CU_ASSERT_TRUE(sum >= 600000);
    CU_ASSERT_EQUAL(th_plans_layer_time(plans, &c, p, NULL, NULL), folded(p, 0, 0) + 1300000 + sum);
    tear_down();
}

/* Two tensors, x and y, each with 67 readers that all want everything. The first reader of x is the
 * accelerator that also runs readers 1 .. 66, that of y is another one: the last reader of x waits
 * for what came for reader 0, that of y for reader 1. */
TEST(many_readers_of_one_tensor)
{
    auto_strbuf text = TH_STRBUF_INIT;
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
    tear_down();
}

/* Whatever the splits and copies, on one set or from one to another that shares some accelerators
 * with it. */
static void compare_transitions(const char *system)
{
    set_up(system, NET);
    int32_t accels[] = {2, 3, 0, 1}, turned[] = {3, 1, 2, 0};
    const th_set sets[] = {{0, 4, accels}, {0, 4, turned}, {0, 2, accels + 1}};
    int n_longer = 0, n_less = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (size_t j = 0; j < sizeof sets / sizeof *sets; j++) {
            th_strategy *from = NULL, *to = NULL;
            int n = th_strategies_list_copied(&net->layers[0], 2, sets[i].n_accels, true, &from);
            int m = th_strategies_list_copied(&net->layers[1], 2, sets[j].n_accels, true, &to);
            for (int k = 0; k < n * m; k++) {
                th_placed a, b;
                th_plans_place(plans, 0, &sets[i], &from[k / m], &a, NULL);
                th_plans_place(plans, 1, &sets[j], &to[k % m], &b, NULL);
                th_time planned =
                    th_plans_edge_time(plans, th_plans_edge(plans, &a, &b, 1, 2, NULL), NULL);
                CU_ASSERT_EQUAL(th_plans_transition_time(plans, &a, &b, 2, planned, NULL), planned);
                th_time half = th_plans_transition_time(plans, &a, &b, 2, planned / 2, NULL);
                CU_ASSERT_TRUE(half <= planned && half >= planned / 2);
                CU_ASSERT_TRUE(th_plans_transition_bound(plans, &a, &b, 2, NULL) <= planned);
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

TEST(transitions_take_as_long_as_their_plans)
{
    compare_transitions(RING("4"));
}

/* A tensor takes longer than 32 bits of picoseconds. */
TEST(transitions_over_slow_links_take_as_long_as_their_plans)
{
    compare_transitions("name = \"t\"; " MAP_HELP_ACCEL(
        "1GiB") "topology = { type = \"ring\"; dims = "
                "[4]; bandwidth = \"1Mbps\"; latency = \"100ns\"; };");
}

/* The last of four accelerators receives through two links of the ring and one from the host: 18
 * Gb/s. Of 2 images x 6 channels x 10 rows x 10 in int16 it has made 3 rows; the layer cut along K
 * needs the other 7, 1680 bytes, the one cut along H the row above, 240 bytes. */
TEST(a_transition_takes_no_less_than_the_last_position_receives)
{
    set_up(RING("4"), NET);
    int32_t accels[] = {2, 3, 0, 1};
    th_set s = {0, 4, accels};
    th_placed a = place(0, &s, "H4"), b = place(1, &s, "K4"), c = place(1, &s, "H4");
    CU_ASSERT_EQUAL(th_plans_transition_bound(plans, &a, &b, 2, NULL), 746666);
    CU_ASSERT_EQUAL(th_plans_transition_bound(plans, &a, &c, 2, NULL), 106666);
    tear_down();
}

/* Every strategy of every layer: no bound is above the time, which is that of a kept plan; and most
 * bounds know the time but for what positions differ in. */
TEST(no_layer_takes_less_than_its_bound)
{
    set_up(RING("12"), NET);
    int32_t accels[] = {2, 3, 0, 1, 7, 6, 5, 4, 11, 9, 8, 10};
    int n_all = 0, n_equal = 0, n_near = 0;
    for (int l = 0; l < net->n_layers; l++) {
        for (int32_t n = 1; n <= 12; n++) {
            const th_set s = {0, n, accels};
            th_strategy *list = NULL;
            int n_listed = th_strategies_list_copied(&net->layers[l], 2, n, true, &list);
            for (int i = 0; i < n_listed; i++) {
                th_placed at;
                th_error reason;
                th_plans_place(plans, l, &s, &list[i], &at, NULL);
                th_time bound = th_plans_layer_bound(plans, &at, 2, NULL),
                        alone = th_plans_time_alone(plans, &at, 2, NULL, &reason, NULL),
                        time = th_plans_layer_time(plans, &at, th_plans_layer(plans, &at, 2, NULL),
                                                   NULL, NULL);
                CU_ASSERT_TRUE(bound <= time && bound > 0);
                CU_ASSERT_EQUAL(alone, time);
                CU_ASSERT_EQUAL(th_plans_time_alone(plans, &at, 2, NULL, &reason, NULL), time);
                n_all++;
                n_equal += bound == time;
                n_near += bound > time / 2;
            }
            th_free(list);
        }
    }
    printf("# %d strategies, bounds of %d equal, of %d above half\n", n_all, n_equal, n_near);
    CU_ASSERT_TRUE(n_all > 1000 && n_equal > n_all / 4 && n_near > n_all / 2);
    tear_down();
}

TEST(trimmed_plans_are_made_again)
{
    set_up(RING("4"), NET);
    int32_t accels[] = {2, 3, 0};
    th_set s = {0, 3, accels};
    th_placed a = place(0, &s, "H3 rK"), b = place(1, &s, "C3");
    const th_edge_plan *e = th_plans_edge(plans, &a, &b, 1, 2, NULL);
    int32_t n = e->n, costs = th_compute_cost_count(th_plans_costs(plans));
    th_time edge = th_plans_edge_time(plans, e, NULL),
            layer = th_plans_layer_time(plans, &b, th_plans_layer(plans, &b, 2, NULL), NULL, NULL);
    th_plans_trim(plans, 1 << 30);
    CU_ASSERT_PTR_EQUAL(th_plans_edge(plans, &a, &b, 1, 2, NULL), e);
    th_plans_trim(plans, 0);
    e = th_plans_edge(plans, &a, &b, 1, 2, NULL);
    CU_ASSERT_TRUE(e->n == n && th_plans_edge_time(plans, e, NULL) == edge);
    CU_ASSERT_EQUAL(th_plans_layer_time(plans, &b, th_plans_layer(plans, &b, 2, NULL), NULL, NULL),
                    layer);
    CU_ASSERT_EQUAL(th_compute_cost_count(th_plans_costs(plans)), costs);
    tear_down();
}

/* h reaches 0 at 2 Gb/s and 1 through it at 2; i reaches 1 at 3 and 0 through it at 3. Wider first:
 * i for both. Without a host: -1. */
TEST(the_host_is_the_one_with_the_widest_path)
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

/* --- counts --- */

/* Multiply-accumulates of all parts of layer 0. */
static int64_t macs_of_parts(const th_set *set, const char *strategy)
{
    const th_placed at = place(0, set, strategy);
    const th_layer_plan *plan = th_plans_layer(plans, &at, 2, NULL);
    int64_t sum = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    for (int i = 0; i < plan->n * plan->phases; i++)
        sum += th_shard_macs(&th_compute_cost_get(th_plans_costs(plans), plan->cost[i])->shard);
    return sum;
}

/* Up 2, kernel 3 x 1, 5 rows to 11, 4 channels to 6, 2 images: 2 * 4 * 6 * 15 = 720 products, 48
 * for each of the 5 * 3 pairs of rows. Of the 15, H in 4 pieces that end at rows 2, 5, 8 and 11 has
 * 30/11 = 2, 4, 4, 5. */
TEST(parts_of_a_transposed_conv_add_up_to_the_layer)
{
    static const char *const strategies[] = {"H4",       "K2 H2",    "C2 R2",
                                             "H2 K2 rH", "K2 H2 rC", "H3 B1"};
    static const int pairs[] = {2, 4, 4, 5};
    int32_t in[] = {-1}, accels[] = {0, 1, 2, 3};
    begin(5);
    th_layer l = layer_of(TH_LAYER_CONV, 6, 4, 11, in, 1);
    l.precision[TH_TENSOR_INPUT] = TH_INT4;
    l.dim[TH_DIM_R] = 3;
    l.in_h = 5;
    l.up_h = 2;
    l.pad_top = 2;
    add("up", l);
    finish();
    CU_ASSERT_EQUAL(th_layer_macs(&net->layers[0]), 720);
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        th_set s = {0, strategies[i][1] == '3' ? 3 : 4, accels};
        CU_ASSERT_EQUAL(macs_of_parts(&s, strategies[i]), 720);
    }
    th_set four = {0, 4, accels};
    const th_placed at = place(0, &four, "H4");
    const th_layer_plan *plan = th_plans_layer(plans, &at, 2, NULL);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(
            th_shard_macs(&th_compute_cost_get(th_plans_costs(plans), plan->cost[i])->shard),
            48 * pairs[i]);
    tear_down();
}

/* --- edges --- */

/* x: 4 channels of 3 rows, 2 images, int4, from the host. c joins x and x. K2 on accelerators 0 and
 * 1: 0 needs the first input alone, 1 the second: 2 * 4 * 3 half bytes each. */
TEST(a_position_gets_only_the_input_it_needs)
{
    int32_t twice[] = {-1, -1}, channels[] = {4, 4}, accels[] = {0, 1};
    begin(3);
    th_layer c = layer_of(TH_LAYER_CONCAT, 8, 8, 3, twice, 2);
    c.input_channels = channels;
    c.precision[TH_TENSOR_INPUT] = TH_INT4;
    add("c", c);
    finish();
    th_set s = {0, 2, accels};
    const th_placed both[] = {place(0, &s, "K2"), place_input(0, 1, &s, "K2")};
    const th_edge_plan *first = th_plans_edge(plans, NULL, both, 1, 2, NULL),
                       *second = th_plans_edge(plans, NULL, both, 2, 2, NULL);
    CU_ASSERT_TRUE(first->n == 1 && first->deliveries[0].to == 0 &&
                   first->deliveries[0].bytes == 12);
    CU_ASSERT_TRUE(second->n == 1 && second->deliveries[0].to == 1 &&
                   second->deliveries[0].bytes == 12);
    CU_ASSERT_TRUE(second->n_reuses == 0);
    tear_down();
}

/* x times x transposed, 4 channels of 6 rows, H2: position 0 needs rows 0 .. 2 as the first input
 * (2 * 4 * 3 half bytes) and all six as the second: rows 3 .. 5 come, the others are reused. */
TEST(one_tensor_as_two_inputs_comes_once)
{
    int32_t twice[] = {-1, -1}, accels[] = {2, 3};
    begin(6);
    th_layer l = layer_of(TH_LAYER_MATMUL, 6, 4, 6, twice, 2);
    l.is_transposed = true;
    l.precision[TH_TENSOR_INPUT] = l.precision[TH_TENSOR_WEIGHT] = TH_INT4;
    add("p", l);
    finish();
    th_set s = {0, 2, accels};
    const th_placed both[] = {place(0, &s, "H2"), place_input(0, 1, &s, "H2")};
    const th_layer_plan *plan = th_plans_layer(plans, &both[1], 2, NULL);
    CU_ASSERT_PTR_EQUAL(plan, th_plans_layer(plans, &both[0], 2, NULL));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[1].need[0], &(th_box){{0, 0, 3, 0}, {2, 4, 6, 1}}));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[1].need[1], &(th_box){{0, 0, 0, 0}, {2, 4, 6, 1}}));
    CU_ASSERT_TRUE(plan->at[1].weight_bytes == 0);
    const th_edge_plan *first = th_plans_edge(plans, NULL, both, 1, 2, NULL),
                       *second = th_plans_edge(plans, NULL, both, 2, 2, NULL);
    CU_ASSERT_TRUE(first->n == 2 && first->deliveries[0].bytes == 12 &&
                   first->deliveries[1].bytes == 12);
    CU_ASSERT_TRUE(second->n == 2 && second->deliveries[0].bytes == 12 && second->n_reuses == 2);
    CU_ASSERT_TRUE(th_box_equal(&second->boxes[second->deliveries[0].first_box],
                                &(th_box){{0, 0, 3, 0}, {2, 4, 6, 1}}));
    tear_down();
}

/* Layers a and b of 5 rows of 4 channels, and p, their product. */
static void set_up_product(void)
{
    static int32_t in[] = {-1}, both[] = {0, 1};
    begin(5);
    th_layer l = layer_of(TH_LAYER_MATMUL, 4, 4, 5, in, 1), p = l;
    l.precision[TH_TENSOR_INPUT] = TH_INT4;
    p.n_inputs = 2;
    p.inputs = both;
    p.dim[TH_DIM_K] = 5;
    p.is_transposed = true;
    add("a", l);
    add("b", l);
    add("p", p);
    finish();
}

/* The first input of a product, 5 rows of 4 channels, rotates along H over K2: one piece of 2 or 3
 * rows at first. All of the second input's columns of K that the position has stay. */
TEST(the_second_input_stays_while_the_first_rotates)
{
    int32_t accels[] = {0, 2};
    set_up_product();
    th_set s = {0, 2, accels};
    const th_placed at = place(2, &s, "K2 rH");
    const th_layer_plan *plan = th_plans_layer(plans, &at, 2, NULL);
    CU_ASSERT_TRUE(plan->phases == 2 && plan->rotates_input);
    CU_ASSERT_TRUE(th_box_equal(&plan->at[0].need[0], &(th_box){{0, 0, 0, 0}, {2, 4, 2, 1}}));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[1].need[0], &(th_box){{0, 0, 2, 0}, {2, 4, 5, 1}}));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[0].need[1], &(th_box){{0, 0, 0, 0}, {2, 4, 2, 1}}));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[1].need[1], &(th_box){{0, 0, 2, 0}, {2, 4, 5, 1}}));
    CU_ASSERT_TRUE(plan->piece_bytes[0] == 2 * 4 * 2 * 2 && plan->piece_bytes[1] == 2 * 4 * 3 * 2);
    tear_down();
}

/* The same product without a rotation. a and b are equal layers on equal sets, rows 0, 1 and 2 ..
 * 4. The edge from a, the first input, delivers all rows; the edge from b, the second, delivers
 * columns of K, which are rows of b: none. */
TEST(equal_producers_of_different_inputs_have_edges_of_their_own)
{
    int32_t accels[] = {0, 2};
    set_up_product();
    th_set s = {0, 2, accels};
    const th_placed a = place(0, &s, "H2"), b = place(1, &s, "H2"), first = place(2, &s, "K2"),
                    second = place_input(2, 1, &s, "K2");
    const th_edge_plan *from_a = th_plans_edge(plans, &a, &first, 1, 2, NULL),
                       *from_b = th_plans_edge(plans, &b, &second, 1, 2, NULL);
    CU_ASSERT_TRUE(from_a->n == 2 && from_a->deliveries[0].bytes == 2 * 4 * 3 * 2);
    CU_ASSERT_EQUAL(from_b->n, 0);
    tear_down();
}

TAP_MAIN("plan")
