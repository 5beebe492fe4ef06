/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serial transfers and the search h2h, by hand. On accelerator "s" (1 operation and 4 bytes of the
 * bus in a microsecond, tiles of 2 channels out, 1 in, 2 x 2 pixels; the network 1 byte in a
 * microsecond), in us:
 *   c1: 2 x 1 channels, 2 x 2 pixels, kernel 1, reads 1 x 4 x 4
 *       t_in (2 + 4) = 6, t_comp 2 * 2 * 2 * 2 * 1 = 16, t_out 8; T_acc = 1 * (6 + 16) + 8 = 30
 *       weights 2 * 4 B = 8, input 16 * 4 B = 64, output 8 * 4 B = 32
 *   c2: 2 x 2 channels, 1 x 1 pixels, kernel 1, reads 2 x 2 x 2
 *       T_acc = 2 * (6 + 16) + 8 = 52; weights 16, input 32, output 8 */
#include <config.h>
#include "mapper/lower/knapsack.h"
#include "mapper/serialize/serializer.h"
#include "mapper/search/search.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

#define SLOW                                                                                       \
    "{ name = \"s\"; type = \"serial_tiled\"; clock = \"1MHz\"; bus_bits = 32; throughput = "      \
    "1000000; "                                                                                    \
    "tile_k = 2; tile_c = 1; tile_h = 2; tile_w = 2; only = \"conv\"; }"
#define FAST                                                                                       \
    "{ name = \"f\"; type = \"serial_tiled\"; clock = \"1MHz\"; bus_bits = 64; throughput = "      \
    "2000000; "                                                                                    \
    "tile_k = 2; tile_c = 1; tile_h = 2; tile_w = 2; only = \"conv\"; }"
#define ACCEL(NAME, DESIGN, CAPACITY)                                                              \
    "{ name = \"" NAME "\"; designs = [\"" DESIGN "\"]; dram = { capacity = \"" CAPACITY           \
    "\"; bandwidth = \"1TB/s\"; latency = \"0ns\"; burst = \"1B\"; }; "                            \
    "vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; }"
#define REST(LEAVES, LATENCY)                                                                      \
    "transfers = \"serial\"; hosts = ( \"host\" ); links = ( { center = \"host\"; leaves = "       \
    "[" LEAVES "]; bandwidth = \"8Mbps\"; latency = \"" LATENCY "\"; duplex = \"full\"; } );"
#define ONE                                                                                        \
    "name = \"one\"; designs = ( " SLOW " ); accelerators = ( " ACCEL("a", "s", "1MB") " ); "
#define TWO                                                                                        \
    "name = \"two\"; designs = ( " SLOW ", " FAST                                                  \
    " ); accelerators = ( " ACCEL("a", "s", "1MB") ", " ACCEL("b", "s", "1MB") " ); "

#define LAYER(NAME, FROM, K, C, IN)                                                                \
    "{ name = \"" NAME "\"; type = \"conv\"; inputs = \"" FROM "\"; outputs = " #K                 \
    "; in_channels = " #C "; in_height = " #IN "; in_width = " #IN "; stride = 2; bias = false; }"
#define NET(LAYERS)                                                                                \
    "name = \"net\"; shapes = \"free\"; precision = \"fp32\"; "                                    \
    "input = { channels = 1; height = 1; width = 1; }; layers = ( " LAYERS " );"
#define CHAIN LAYER("c1", "input", 2, 1, 4) ", " LAYER("c2", "c1", 2, 2, 2)

enum { US = 1000000 };

/* Ports are whole bits per second, and the bus of 32 Mbit/s is shared in thirds. */
static bool takes(th_time got, double us)
{
    return fabs((double)got - us * US) <= 1e-6 * us * US;
}

static th_search *search_of(const th_system *s, const th_workload *w, int steps)
{
    th_error e = {"", ""};
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_search_options o = th_search_defaults;
    o.steps = steps;
    th_search *found = th_search_new(th_search_find("h2h"), &p, &o, &e);
    if (!found)
        bail_out(&e);
    while (!found->done)
        if (th_search_iterate(found, &e))
            bail_out(&e);
    return found;
}

static th_time time_of_steps(const char *system, const char *net, int steps)
{
    auto_system *s = system_of(system);
    auto_workload *w = workload_of(net);
    auto_search *found = search_of(s, w, steps);
    return (th_time)found->best_fitness.value;
}

static th_fitness fitness_on(const th_system *s, const th_workload *w, const th_mapping *m)
{
    th_error e = {"", ""};
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_fitness f;
    auto_evaluator *evaluator = th_evaluator_new(&p, &e);
    if (!evaluator || th_mapping_check(m, s, w, &e) ||
        th_evaluator_run(evaluator, m, INFINITY, &f, &e))
        bail_out(&e);
    return f;
}

TEST(a_chain_on_one_accelerator)
{
    const char *one = ONE REST("\"a\"", "0ns");
    /* (30 + 8 + 64 + 32) + (52 + 16 + 32 + 8); without 8 + 16; without 32 + 32. */
    CU_ASSERT_TRUE(takes(time_of_steps(one, NET(CHAIN), 1), 242));
    CU_ASSERT_TRUE(takes(time_of_steps(one, NET(CHAIN), 2), 218));
    CU_ASSERT_TRUE(takes(time_of_steps(one, NET(CHAIN), 3), 154));
    CU_ASSERT_TRUE(takes(time_of_steps(one, NET(CHAIN), 0), 154));
}

/* Two layers of 52 + 16 + 32 + 8 with one layer's weights, and room for one unit of weights: it has
 * them for both. What the first makes stays for the second, 8 + 32. */
TEST(shared_weights_are_pinned_once)
{
    const char *room = "name = \"room\"; designs = ( " SLOW
                       " ); accelerators = ( " ACCEL("a", "s", "8000B") " ); " REST("\"a\"", "0ns");
    const char *net =
        NET(LAYER("c1", "input", 2, 2,
                  2) ", { name = \"c2\"; type = \"conv\"; outputs = "
                     "2; in_channels = 2; in_height = 2; in_width = 2; stride = 2; bias = "
                     "false; weights_of = \"c1\"; }");
    CU_ASSERT_TRUE(takes(time_of_steps(room, net, 1), 216));
    CU_ASSERT_TRUE(takes(time_of_steps(room, net, 2), 184));
    CU_ASSERT_TRUE(takes(time_of_steps(room, net, 3), 144));
}

/* Every way of bytes pays the latency once: in and out of c1, in and out of c2. */
TEST(latency_is_paid_per_way)
{
    const char *one = ONE REST("\"a\"", "1us");
    CU_ASSERT_TRUE(takes(time_of_steps(one, NET(CHAIN), 1), 246));
    CU_ASSERT_TRUE(takes(time_of_steps(one, NET(CHAIN), 3), 156)); /* in, and out at the end */
}

/* Both modalities at once, each on an accelerator; nothing moves for the other's sake. */
TEST(modalities_part)
{
    const char *two = TWO REST("\"a\", \"b\"", "0ns");
    const char *net = NET(CHAIN ", " LAYER("d1", "input", 2, 1, 4) ", " LAYER("d2", "d1", 2, 2, 2));
    CU_ASSERT_TRUE(takes(time_of_steps(two, net, 1), 242));
    CU_ASSERT_TRUE(takes(time_of_steps(two, net, 4), 154));
}

/* b is twice as fast. Step 1: c1 on a ends at 134, d1 on b at 15 + 8 + 64 + 32 = 119, c2 there at
 * 134 + 26 + 16 + 32 + 8 (on a: 134 + 108). Step 2: 126 + 66. Step 3: no neighbours of one
 * modality. Step 4: c1 before c2 on b would end c2 at 111 + (15 + 64) + (26 + 8); c2 behind c1 on a
 * ends at (30 + 64) + (52 + 8). */
TEST(a_layer_moves_to_its_producer)
{
    const char *mixed =
        "name = \"mixed\"; designs = ( " SLOW ", " FAST " ); accelerators = ( " ACCEL(
            "a", "s", "1MB") ", " ACCEL("b", "f", "1MB") " ); " REST("\"a\", \"b\"", "0ns");
    const char *net = NET(LAYER("c1", "input", 2, 1, 4) ", " LAYER("c2", "c1", 2, 2, 2) ", " LAYER(
        "d1", "input", 2, 1, 4));
    CU_ASSERT_TRUE(takes(time_of_steps(mixed, net, 1), 216));
    CU_ASSERT_TRUE(takes(time_of_steps(mixed, net, 2), 192));
    CU_ASSERT_TRUE(takes(time_of_steps(mixed, net, 3), 192));
    CU_ASSERT_TRUE(takes(time_of_steps(mixed, net, 4), 154));
}

/* c1 over H: half of the input each, 32; 30; all of its half is needed over there, 16. c2 over K:
 * the half of its input that is not here, 16; 52; one of two channels out, 4. */
TEST(shards_move_what_they_lack)
{
    auto_system *s = system_of(TWO REST("\"a\", \"b\"", "0ns"));
    auto_workload *w = workload_of(NET(CHAIN));
    auto_mapping *m = mapping_on("01", w);
    put_layer(m, 0, 0, "H2");
    put_layer(m, 1, 0, "K2");
    CU_ASSERT_TRUE(takes(fitness_on(s, w, m).metrics.latency_ps, 32 + 30 + 16 + 16 + 52 + 4));
    m->activations_cross = true; /* the own half crosses as well */
    CU_ASSERT_TRUE(takes(fitness_on(s, w, m).metrics.latency_ps, 32 + 30 + 16 + 32 + 52 + 4));
    m->activations_cross = false;
    CU_ASSERT_EQUAL(th_mapping_add_queues(m), 0);
    m->weights[0] = m->weights[1] = TH_WEIGHTS_STREAMED; /* 8 for each replica, 8 for each half */
    CU_ASSERT_TRUE(takes(fitness_on(s, w, m).metrics.latency_ps, 150 + 8 + 8));
}

/* c2 over C: a channel each, T_acc 22 + 8; half a channel lacks, 8, so c1 sends 8; one of two
 * partial sums goes, 4, one comes, 4, and is added within the nanoseconds of the vector unit; 4
 * out. */
TEST(partial_sums_go_up_and_down)
{
    auto_system *s = system_of(TWO REST("\"a\", \"b\"", "0ns"));
    auto_workload *w = workload_of(NET(CHAIN));
    auto_mapping *m = mapping_on("01", w);
    put_layer(m, 0, 0, "H2");
    put_layer(m, 1, 0, "C2");
    th_time expected = (32 + 30 + 8 + 8 + 30 + 4 + 4 + 4) * (th_time)US,
            got = fitness_on(s, w, m).metrics.latency_ps;
    CU_ASSERT_TRUE(got > expected - 100 && got < expected + 100000);
}

/* Even shares of a fast and a slow accelerator, 8 rows each: polish gives the fast one more. */
TEST(polish_moves_shares)
{
    th_error e = {"", ""};
    auto_system *s =
        system_of("name = \"mixed\"; designs = ( " SLOW ", " FAST " ); accelerators = ( " ACCEL(
            "a", "s", "1MB") ", " ACCEL("b", "f", "1MB") " ); " REST("\"a\", \"b\"", "0ns"));
    auto_workload *w = workload_of(NET(LAYER("c1", "input", 2, 8, 32)));
    auto_mapping *m = mapping_on("01", w);
    const int32_t even[] = {100, 100};
    put_layer(m, 0, 0, "H2");
    m->sets[0].design = TH_DESIGN_OWN;
    CU_ASSERT_EQUAL(th_set_share(&m->sets[0], even), 0);
    double before = fitness_on(s, w, m).value;
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_search_options o = th_search_defaults;
    o.start = m;
    o.evaluations = 100;
    auto_search *found = th_search_new(th_search_find("polish"), &p, &o, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    while (!found->done)
        CU_ASSERT_EQUAL_FATAL(th_search_iterate(found, &e), 0);
    CU_ASSERT_TRUE(found->best_fitness.value < before);
    const int32_t *shares = found->best->sets[0].shares;
    CU_ASSERT_TRUE(shares && shares[1] > shares[0]);
}

TEST(the_fullest_knapsack)
{
    const int64_t some[] = {5, 4, 3, 0}, equal[] = {3, 3};
    bool in[4];
    CU_ASSERT_EQUAL(th_knapsack(some, 4, 7, in), 0);
    CU_ASSERT_TRUE(!in[0] && in[1] && in[2] && in[3]);
    CU_ASSERT_EQUAL(th_knapsack(some, 4, 12, in), 0);
    CU_ASSERT_TRUE(in[0] && in[1] && in[2] && in[3]);
    CU_ASSERT_EQUAL(th_knapsack(some, 4, 6, in), 0);
    CU_ASSERT_TRUE(in[0] && !in[1] && !in[2] && in[3]);
    CU_ASSERT_EQUAL(th_knapsack(some, 4, 0, in), 0);
    CU_ASSERT_TRUE(!in[0] && !in[1] && !in[2] && in[3]);
    CU_ASSERT_EQUAL(th_knapsack(equal, 2, 5, in), 0);
    CU_ASSERT_TRUE(in[0] && !in[1]);
}

/* What a mapping says of queues and weights is written and read. */
TEST(queues_are_written_and_read)
{
    th_error e = {"", ""};
    auto_system *s = system_of(TWO REST("\"a\", \"b\"", "0ns"));
    auto_workload *w = workload_of(NET(CHAIN ", " LAYER("d1", "input", 2, 1, 4)));
    auto_mapping *m = mapping_on("0 1", w), *again;
    auto_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL(th_mapping_add_queues(m), 0);
    m->order[0] = 2;
    m->order[1] = 0;
    m->order[2] = 1;
    m->weights[1] = TH_WEIGHTS_PINNED;
    m->weights[2] = TH_WEIGHTS_STREAMED;
    m->activations_cross = true;
    th_mapping_write(m, s, w, &text);
    again = th_mapping_read_text(text.text, "again", s, w, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(again);
    CU_ASSERT_TRUE(th_mapping_equal(m, again));
    auto_mapping *copy = th_mapping_copy(again);
    CU_ASSERT_TRUE(th_mapping_equal(m, copy));
    th_serializer bytes = TH_SERIALIZER_INIT;
    th_serializer_write_mapping(&bytes, m);
    th_serializer back = th_serializer_reader(bytes.out.text, bytes.out.length);
    th_mapping *sent = th_serializer_read_mapping(
        &back, &(th_serializer_limits){s->n_accels, s->n_designs, w->n_layers});
    CU_ASSERT_TRUE(sent && th_mapping_equal(m, sent));
    th_mapping_free(sent);
    th_serializer_clear(&bytes);
    copy->weights[1] = TH_WEIGHTS_AUTO;
    CU_ASSERT_FALSE(th_mapping_equal(m, copy));
}

/* --- what is refused -------------------------------------------------------------------------- */

static void refuse_system(const char *text, const char *id, const char *message)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_system_read_text(text, "test", &e));
    TAP_ASSERT_ERROR(e, id, message);
}

TEST(systems_that_are_refused)
{
    refuse_system(ONE "transfers = \"serail\";", "BASE-0460",
                  "test:1: transfers \"serail\": did you mean \"serial\"? (must be one of "
                  "network, serial)");
    refuse_system(ONE "weight_memory = 0.5;", "TOPO-0191",
                  "test:1: weight_memory: must stand beside transfers = \"serial\"");
    refuse_system(ONE "transfers = \"serial\"; weight_memory = 1.5;", "BASE-0461",
                  "test:1: key \"weight_memory\": must be from 0 to 1, not 1.5");
    refuse_system(ONE "transfers = \"serial\";", "TOPO-0192",
                  "test:1: transfers = \"serial\": must have a host, over which accelerators reach "
                  "each other");
}

static void refuse_mapping(const th_system *s, const th_workload *w, const char *layers,
                           const char *rest, const char *id)
{
    char text[1000];
    th_error e = {"", ""};
    snprintf(text, sizeof text, "sets = ( { design = \"s\"; accelerators = [\"a\"]; } ); %s %s",
             layers, rest);
    CU_ASSERT_PTR_NULL(th_mapping_read_text(text, "m", s, w, &e));
    TAP_ASSERT_TEXT(e.id, id);
}

TEST(mappings_that_are_refused)
{
    auto_system *s = system_of(ONE REST("\"a\"", "0ns"));
    auto_workload *w = workload_of(NET(CHAIN));
    const char *layers = "layers = ( { name = \"c1\"; set = 0; }, { name = \"c2\"; set = 0; } );";
    refuse_mapping(s, w, layers, "order = [\"c1\", \"c1\"];", "MAP-0077");
    refuse_mapping(s, w, layers, "order = [\"c2\", \"c1\"];", "MAP-0078");
    refuse_mapping(s, w, layers, "order = [\"c1\"];", "MAP-0081");
    refuse_mapping(s, w, layers, "order = [\"c1\", \"c3\"];", "MAP-0082");
    refuse_mapping(s, w, layers, "activations = \"nowhere\";", "BASE-0460");
    refuse_mapping(s, w, "layers = ( { name = \"c1\"; set = 0; weights = \"here\"; } );", "",
                   "BASE-0460");
    s->transfers_serially = false;
    refuse_mapping(s, w, layers, "activations = \"network\";", "MAP-0079");
}

static void explain(const th_system *s, const th_workload *w, const th_mapping *m, const char *id,
                    const char *text)
{
    th_error e = {"", ""};
    auto_lower *l = th_lower_new(s, w, &e);
    auto_program *program = th_program_new(&e);
    if (!l || !program)
        bail_out(&e);
    CU_ASSERT_EQUAL(th_lower_program(l, m, &th_stream_single, program, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
}

/* 16 bytes for weights are none: a unit is 4,000 bytes. */
TEST(memory_that_does_not_suffice)
{
    auto_system *s = system_of(TWO REST("\"a\", \"b\"", "0ns"));
    auto_workload *w = workload_of(NET(CHAIN));
    auto_mapping *m = mapping_on("0", w);
    s->nodes[s->accel_node[0]].a.dram_bytes = 100;
    s->nodes[s->accel_node[1]].a.dram_bytes = 100;
    explain(
        s, w, m, "MAP-0086",
        "accel/a: 4 bytes too few: 0 pinned weights and 104 for one layer's run needed, 100 there");
    CU_ASSERT_EQUAL(th_mapping_add_queues(m), 0);
    m->weights[1] = TH_WEIGHTS_PINNED;
    explain(s, w, m, "MAP-0085",
            "accel/a: pinned weights need 4000 bytes more than the 0.5 of its memory that is for "
            "weights");
    th_mapping_free(m);
    m = mapping_on("01", w);
    put_layer(m, 0, 0, "H2 rK");
    put_layer(m, 1, 0, "K2");
    explain(s, w, m, "MAP-0084",
            "layer \"c1\": rotates an operand, which serial transfers do not know");
    put_layer(m, 0, 0, "H2 xW2");
    explain(s, w, m, "MAP-0126", "layer \"c1\": has chunks, which serial transfers do not know");
    put_layer(m, 0, 0, "c2");
    explain(s, w, m, "MAP-0627", "layer \"c1\": has copies, which serial transfers do not know");
}

TEST(searches_that_are_refused)
{
    th_error e = {"", ""};
    auto_system *s = system_of(ONE REST("\"a\"", "0ns"));
    auto_workload *w = workload_of(NET("{ name = \"m\"; type = \"matmul\"; columns = 2; }"));
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_search *found = th_search_new(th_search_find("h2h"), &p, &th_search_defaults, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CU_ASSERT_EQUAL(th_search_iterate(found, &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0191",
                     "h2h: no accelerator can run layer \"m\": layer \"m\": a dense layer on a "
                     "serial_tiled design that runs conv layers only");
    th_search_free(found);
    th_mapping *m = mapping_on("0", w);
    explain(s, w, m, "SIM-0191",
            "layer \"m\": a dense layer on a serial_tiled design that runs conv layers only");
    th_mapping_free(m);
    s->transfers_serially = false;
    CU_ASSERT_PTR_NULL(th_lower_new(s, w, &e));
    TAP_ASSERT_TEXT(e.id, "WORK-0072");
    CU_ASSERT_PTR_NULL(
        th_workload_read_text("shapes = \"loose\"; input = { channels = 1; height = 1; "
                              "width = 1; }; layers = ();",
                              "net", 0, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0460");
}

/* 16 MB at a bit per second take longer than any run: the mapping is infeasible, which is no fault
 * of the search, and what explains it says so. */
TEST(transfers_that_never_end)
{
    th_error e = {"", ""};
    auto_system *s = system_of(
        TWO "transfers = \"serial\"; hosts = ( \"host\" ); links = ( { center = \"host\"; leaves = "
            "[\"a\"]; bandwidth = \"1bps\"; latency = \"1us\"; }, { center = \"host\"; leaves = "
            "[\"b\"]; bandwidth = \"8Gbps\"; latency = \"1us\"; } );");
    auto_workload *w = workload_of(NET(LAYER("c1", "input", 2, 1, 2000)));
    auto_mapping *on_a = mapping_on("0", w), *on_b = mapping_on("1", w);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_fitness f;
    for (int a = 0; a < s->n_accels; a++)
        s->nodes[s->accel_node[a]].a.dram_bytes = 1000000000;
    on_a->sets[0].design = on_b->sets[0].design = TH_DESIGN_OWN;
    auto_evaluator *evaluator = th_evaluator_new(&p, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(evaluator);
    CU_ASSERT_EQUAL(th_evaluator_run(evaluator, on_a, INFINITY, &f, &e), 0);
    CU_ASSERT_EQUAL(f.fit, TH_FIT_INFEASIBLE);
    th_evaluator_explain(evaluator, on_a, &e);
    TAP_ASSERT_ERROR(e, "NET-0037",
                     "16000000 bytes from \"host\" to \"a\" take longer than any run: 106 days");
    CU_ASSERT_EQUAL(th_evaluator_run(evaluator, on_b, INFINITY, &f, &e), 0);
    CU_ASSERT_EQUAL(f.fit, TH_FIT);
}

TAP_MAIN("h2h")
