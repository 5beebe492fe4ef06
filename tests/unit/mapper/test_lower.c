/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_lower.c - programs and timelines solved by hand; test_lower_random.c does the rest. */
#include <config.h>
#include "mapper/lower/lower.h"
#include "mapper/strategies.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

/* 8 Gb/s = 1 byte per ns, 100 ns; no host. */
#define RING4                                                                                      \
    "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [4]; "           \
                                            "bandwidth = \"8Gbps\"; latency = \"100ns\"; };"

#define CHAIN(BATCH)                                                                               \
    "name = \"n\"; batch = " BATCH "; input = { channels = 6; height = 10; width = 10; }; "        \
    "layers = ( { name = \"a\"; type = \"conv\"; outputs = 6; kernel = 3; padding = 1; },"         \
    "{ name = \"b\"; type = \"conv\"; outputs = 6; kernel = 3; padding = 1; },"                    \
    "{ name = \"c\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; } );"

static th_system *sys;
static th_workload *net;
static th_mapping *map;
static th_lower *lower;
static th_program *program;

static void set_up(const char *system, const char *workload, const char *sets)
{
    sys = system_of(system);
    net = workload_of(workload);
    map = mapping_on(sets, net);
    lower = th_lower_new(sys, net, NULL);
    program = th_program_new(NULL);
    CU_ASSERT_FATAL(lower && program);
}

static void tear_down(void)
{
    th_program_free(program);
    th_lower_free(lower);
    th_mapping_free(map);
    th_workload_free(net);
    th_system_free(sys);
}

static void lower_stream(th_stream s)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_mapping_check(map, sys, net, &e), 0);
    CU_ASSERT_EQUAL(th_lower_program(lower, map, &s, program, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
}

/* Transfers of the program: "LAYER:FROM>TO=BYTES ...". */
static void assert_transfers(const char *expected)
{
    auto_strbuf text = TH_STRBUF_INIT;
    for (int32_t t = 0; t < program->n_tasks; t++) {
        const th_task *x = &program->tasks[t];
        if (x->kind == TH_TASK_TRANSFER)
            th_strbuf_printf(&text, "%s%s:%s>%s=%lld", text.length ? " " : "",
                             net->layers[x->layer].name, sys->nodes[x->node].name,
                             sys->nodes[x->peer].name, (long long)x->bytes);
    }
    TAP_ASSERT_TEXT(text.text ? text.text : "", expected);
}

static th_result replay(void)
{
    th_error e = {"", ""};
    th_result r = {0};
    auto_machine *m = th_machine_new(sys, th_lower_costs(lower), NULL, &e);
    CU_ASSERT_EQUAL(th_machine_load(m, program, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_result(m, &r, &e), 0);
    return r;
}

/* Folded time of the n-th compute task, from the memo. */
static th_time compute_ps(int n)
{
    for (int32_t t = 0; t < program->n_tasks; t++)
        if (program->tasks[t].kind == TH_TASK_COMPUTE && n-- == 0)
            return th_compute_cost_get(th_lower_costs(lower), program->tasks[t].compute_cost)
                ->collapsed_ps;
    return -1;
}

/* --- what travels ----------------------------------------------------------------------------- */

/* Halves of 10 rows; a 3 x 3 kernel lacks one row of the other half: 6 channels x 10 columns x 2
 * bytes = 120. The sets are {2, 0}: position 0 is accelerator 2. */
TEST(halos_travel_between_halves)
{
    set_up(RING4, CHAIN("1"), "20");
    for (int l = 0; l < 3; l++)
        put_layer(map, l, 0, "H2");
    lower_stream(th_stream_single);
    assert_transfers("b:0>2=120 b:2>0=120 c:0>2=120 c:2>0=120");
    tear_down();
}

/* Three of 6 channels each, 3 x 100 x 2 = 600 bytes: everyone needs the other half. Then C2 needs
 * just the channels that it holds, sends partial sums of half of 8 x 100 outputs (rows: the first
 * of the longest dimensions): 800 bytes. */
TEST(channels_are_gathered_and_partial_sums_exchanged)
{
    set_up(RING4, CHAIN("1"), "20");
    put_layer(map, 0, 0, "K2");
    put_layer(map, 1, 0, "K2");
    put_layer(map, 2, 0, "C2");
    lower_stream(th_stream_single);
    assert_transfers("b:0>2=600 b:2>0=600 c:2>0=800 c:0>2=800");
    tear_down();
}

/* K3 of 8 channels behind H2 of another set: the third of 2, 3, 3 channels (cuts 0 2 5 8). b on {1,
 * 3, 0}: every position needs all 6 channels of both halves, 600 bytes each, accelerator 0 has one.
 * c rotates its weights: 6 x 9 x (cuts of 8 in 3: 2, 3, 3) x 2 bytes = 216, 324, 324. */
TEST(sets_of_different_sizes)
{
    set_up(RING4, CHAIN("1"), "130 2");
    put_layer(map, 0, 1, "");
    put_layer(map, 1, 0, "K3");
    put_layer(map, 2, 0, "H3 rK");
    lower_stream(th_stream_single);
    /* b holds 2 channels of 100; c wants rows 0 .. 3, 2 .. 6, 5 .. 9 of the others' 2: 4, 5, 5 rows
     * of 10 x 2 x 2 bytes. Positions 0 1 2 are accelerators 1 3 0. */
    assert_transfers("b:2>1=1200 b:2>3=1200 b:2>0=1200 "
                     "c:3>1=160 c:0>1=160 c:1>3=200 c:0>3=200 c:1>0=200 c:3>0=200 "
                     "c:3>1=324 c:0>3=324 c:1>0=216 c:3>1=324 c:0>3=216 c:1>0=324");
    tear_down();
}

/* --- timelines -------------------------------------------------------------------------------- */

#define ONE(KERNEL, PADDING)                                                                       \
    "name = \"n\"; batch = 1; input = { channels = 40; height = 8; width = 8; }; layers = ( "      \
    "{ name = \"a\"; type = \"conv\"; outputs = 16; kernel = " KERNEL "; padding = " PADDING       \
    "; } );"

/* Four phases of 4 filters. Each piece: 4 x 40 x 9 x 2 = 2880 bytes, x = 2980 ns round the ring. A
 * phase: 4 x 2 x 8 x 360 = 23,040 steps of 1 ns, so c > x and the travel is hidden: 4 c. */
TEST(travel_hides_behind_computing)
{
    set_up(RING4, ONE("3", "1"), "0123");
    put_layer(map, 0, 0, "H4 rK");
    lower_stream(th_stream_single);
    th_time c = compute_ps(0);
    auto_result r = replay();
    CU_ASSERT_TRUE(c >= 23040000);
    CU_ASSERT_EQUAL(r.elapsed_ps,
                    4 * compute_ps(5)); /* inner rows read a row more, and take longest */
    tear_down();
}

/* 4 rows and columns of 8 x 8 in 2 x 2, 1 x 1 kernel, batch 1, rotating C: pieces of 16 x 10 x 2 =
 * 320 bytes, x = 420 ns; a phase is 16 x 4 x 4 x 10 = 2560 steps. On a system of a thousandth of
 * the bandwidth x = 320,100 ns > c: arrivals at x, 2 x, 3 x; the end is 3 x + c. */
TEST(computing_hides_behind_travel)
{
    set_up("name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [4]; "
                                                   "bandwidth = \"8Mbps\"; latency = \"100ns\"; };",
           ONE("1", "0"), "0123");
    put_layer(map, 0, 0, "H2 W2 rC");
    lower_stream(th_stream_single);
    th_time x = 320100000, last = compute_ps(12);
    auto_result r = replay();
    CU_ASSERT_TRUE(last > 2560000 && last < x);
    CU_ASSERT_EQUAL(r.elapsed_ps, 3 * x + last);
    CU_ASSERT_EQUAL(r.accels[2].sent_bytes, 3 * 320);
    tear_down();
}

#define TWO                                                                                        \
    "name = \"n\"; batch = 1; input = { channels = 6; height = 10; width = 10; }; layers = ( "     \
    "{ name = \"a\"; type = \"conv\"; outputs = 6; kernel = 1; },"                                 \
    "{ name = \"b\"; type = \"conv\"; outputs = 6; kernel = 1; } );"

/* Transfers take DRAM from the computes beside them: less than a nanosecond in all. */
#define ASSERT_ABOUT(GOT, EXPECTED) CU_ASSERT_DOUBLE_EQUAL((double)(GOT), (double)(EXPECTED), 1000)

static th_time elapsed(const char *a, const char *b)
{
    put_layer(map, 0, 0, a);
    put_layer(map, 1, 1, b);
    lower_stream(th_stream_single);
    auto_result r = replay();
    return r.elapsed_ps;
}

/* a on accelerator 0, b on 1, 6 x 100 x 2 = 1200 bytes between. In one: a, then x = 1300 ns, then
 * b, c each. In halves of h each, with 700 ns for half of the bytes: the first half of b starts
 * after h + 700, the second after 2 h + 700, when its input and the array come at once. Only a in
 * halves: b waits for both, 2 h + 700. Only b in halves: both of its inputs leave at c, the second
 * after the first, c + 1400. */
TEST(chunks_compute_while_others_travel)
{
    set_up(RING4, TWO, "0 1");
    th_time whole = elapsed("", ""), c = compute_ps(0);
    CU_ASSERT_EQUAL(whole, 2 * c + 1300000);
    th_time halves = elapsed("xH2", "xH2"), h = compute_ps(0);
    assert_transfers("b:0>1=600 b:0>1=600");
    CU_ASSERT_TRUE(h >= 1800000 && 2 * h < c + 100000);
    ASSERT_ABOUT(halves, 3 * h + 700000);
    ASSERT_ABOUT(elapsed("xH2", ""), 2 * h + 700000 + c);
    ASSERT_ABOUT(elapsed("", "xH2"), c + 700000 + 2 * h);
    ASSERT_ABOUT(elapsed("xW2", "xW2"), halves);
    tear_down();
}

/* Rows and columns cross: 300 bytes of each half of a for each half of b. Both columns' halves need
 * both rows' halves. */
TEST(chunks_along_other_dimensions_wait_for_all)
{
    set_up(RING4, TWO, "0 1");
    th_time crossed = elapsed("xH2", "xW2"), h = compute_ps(0);
    assert_transfers("b:0>1=300 b:0>1=300 b:0>1=300 b:0>1=300");
    /* the first half of a sends 300 bytes twice, one after the other, while the second computes;
     * then that sends its own: b's first half starts at 2 h + 400 */
    ASSERT_ABOUT(crossed, 4 * h + 400000);
    tear_down();
}

/* A kernel of 3 rows reads a row of the other chunk, which the accelerator has, and one of the
 * other accelerator: each halo row of 120 bytes is sent once, although two chunks of one position
 * could need it. */
TEST(chunks_share_what_came)
{
    set_up(RING4, CHAIN("1"), "20");
    for (int l = 0; l < 3; l++)
        put_layer(map, l, 0, l == 1 ? "H2 xW2" : "H2 xK2");
    lower_stream(th_stream_single);
    /* half of the channels of 6 (b: columns of 5 + 1) */
    assert_transfers("b:0>2=36 b:0>2=36 b:2>0=36 b:2>0=36 b:0>2=24 b:0>2=24 b:2>0=24 b:2>0=24 "
                     "c:0>2=60 c:0>2=60 c:2>0=60 c:2>0=60");
    tear_down();
}

/* a on accelerator 0, b on 1, x between: 6 x 100 x 2 = 1200 bytes, 1300 ns. With a, b computing for
 * ca < cb: two inputs in flight keep b busy from ca + x on as long as cb > ca + x: input i ends at
 * ca + x + (i + 1) cb. One in flight: (i + 1)(ca + x + cb). */
TEST(a_pipeline_is_as_quick_as_its_slowest_set)
{
    set_up(
        RING4,
        "name = \"n\"; batch = 1; input = { channels = 6; height = 10; width = 10; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 6; kernel = 1; },"
        "{ name = \"b\"; type = \"conv\"; outputs = 6; kernel = 3; padding = 1; } );",
        "0 1");
    put_layer(map, 0, 0, "");
    put_layer(map, 1, 1, "");
    lower_stream((th_stream){.n_inputs = 4, .micro_batches = 1});
    th_time ca = compute_ps(0), cb = compute_ps(1), x = 1300000;
    CU_ASSERT_TRUE(ca >= 3600000 && cb > ca + x);
    auto_result r = replay();
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(r.input_end_ps[i], ca + x + (i + 1) * cb);
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&r) * (double)cb * 1e-12, 1, 1e-9);
    th_result_clear(&r);
    lower_stream((th_stream){.n_inputs = 3, .micro_batches = 1, .in_flight = 1});
    r = replay();
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(r.input_end_ps[i], (i + 1) * (ca + x + cb));
    th_result_clear(&r);
    /* one every 3 (ca + x + cb): each runs alone */
    th_time alone = ca + x + cb;
    lower_stream((th_stream){.n_inputs = 3, .micro_batches = 1, .interval_ps = 3 * alone});
    r = replay();
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(r.input_end_ps[i], (3 * i + 1) * alone);
    tear_down();
}

/* Twelve readings by one layer of two: more than twice the layers. 2 x 3 x 3 elements on the spot,
 * so no transfer, and eleven sums of 18 elements. */
TEST(one_tensor_may_be_read_many_times)
{
    set_up(RING4,
           "name = \"n\"; batch = 1; input = { channels = 2; height = 3; width = 3; }; layers = ( "
           "{ name = \"a\"; type = \"conv\"; outputs = 2; kernel = 1; },"
           "{ name = \"s\"; type = \"add\"; inputs = [\"a\", \"a\", \"a\", \"a\", \"a\", \"a\", "
           "\"a\", \"a\", \"a\", \"a\", \"a\", \"a\"]; } );",
           "0");
    lower_stream(th_stream_single);
    auto_result r = replay();
    CU_ASSERT_TRUE(r.is_done && r.n_tasks == 3 && r.accels[0].sent_bytes == 0);
    tear_down();
}

/* A batch of 5 in 2: 2 images, then 3; in 3: 1, 2, 2. All of one input. */
TEST(micro_batches_differ_by_one_image)
{
    set_up(RING4, CHAIN("5"), "0");
    for (int parts = 2; parts <= 3; parts++) {
        lower_stream((th_stream){.n_inputs = 2, .micro_batches = parts});
        int32_t n = 0, images = 0;
        for (int32_t t = 0; t < program->n_tasks; t++) {
            const th_task *x = &program->tasks[t];
            if (x->kind != TH_TASK_COMPUTE || x->layer != 1)
                continue;
            int32_t b =
                th_compute_cost_get(th_lower_costs(lower), x->compute_cost)->shard.dim[TH_DIM_B];
            CU_ASSERT_EQUAL(b, parts == 2 ? 2 + n % 2 : 1 + (n % 3 > 0));
            CU_ASSERT_EQUAL(x->input, n / parts);
            images += b;
            n++;
        }
        CU_ASSERT_TRUE(n == 2 * parts && images == 10 && program->n_inputs == 2);
    }
    tear_down();
}

TEST(refuses_bad_streams)
{
    static const th_stream bad[] = {
        {0, 0, 1, 0}, {1, 0, 0, 0}, {1, 0, 6, 0}, {-3, 0, 1, 0}, {INT32_MAX, 0, 2, 0}};
    set_up(RING4, CHAIN("5"), "01");
    for (int l = 0; l < 3; l++)
        put_layer(map, l, 0, "B2");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_lower_program(lower, map, &bad[i], program, &e), -1);
        TAP_ASSERT_TEXT(e.id, "MAP-0021");
        CU_ASSERT_EQUAL(program->n_tasks, 0);
    }
    th_error e = {"", ""};
    th_stream s = {.n_inputs = 1, .micro_batches = 3};
    CU_ASSERT_EQUAL(th_lower_program(lower, map, &s, program, &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0003",
                     "micro-batches: layer \"a\": B is split 2 ways, must be 1 .. 1");
    lower_stream((th_stream){.n_inputs = 1, .micro_batches = 2}); /* 2 and 3 images: B2 fits */
    tear_down();
}

/* --- memory ----------------------------------------------------------------------------------- */

#define WITH_HOST(CAPACITY)                                                                        \
    "name = \"t\"; " MAP_HELP_ACCEL(CAPACITY) "topology = { type = \"ring\"; dims = [4]; "         \
                                              "bandwidth = \"8Gbps\"; latency = \"100ns\"; host "  \
                                              "= { bandwidth = \"2Gbps\"; }; };"

/* Two images on accelerator 3. Weights and biases: 2 (324 + 6) + 2 (324 + 6) + 2 (432 + 8) = 2200.
 * Tensors: input 2400 until a; a 2400 until b; b 2400 until c; c 3200 to the end: 4800, 4800, 5600.
 * In all 7800 bytes. */
TEST(memory_by_hand)
{
    set_up(WITH_HOST("7000B"), CHAIN("2"), "3");
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_lower_program(lower, map, &th_stream_single, program, &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0022",
                     "accel/3: 800 bytes too few at layer \"c\": 7800 needed, 2200 of them "
                     "weights, 7000 there");
    CU_ASSERT_EQUAL(program->n_tasks, 0);
    tear_down();
    set_up(WITH_HOST("7800B"), CHAIN("2"), "3");
    lower_stream(th_stream_single);
    CU_ASSERT_TRUE(th_lower_peak_bytes(lower)[3] == 7800 &&
                   th_lower_weight_bytes(lower)[3] == 2200);
    CU_ASSERT_TRUE(th_lower_peak_bytes(lower)[0] == 0);
    /* two inputs at once: 2200 + 2 * 5600 */
    CU_ASSERT_EQUAL(th_lower_program(lower, map, &(th_stream){2, 0, 1, 2}, program, &e), -1);
    TAP_ASSERT_TEXT(e.text,
                    "accel/3: 5600 bytes too few at layer \"c\": 13400 needed, 2200 of them "
                    "weights, 7800 there");
    lower_stream((th_stream){2, 0, 1, 1});
    lower_stream((th_stream){2, 0, 2, 1}); /* halves: 2200 + 2800 */
    CU_ASSERT_EQUAL(th_lower_peak_bytes(lower)[3], 5000);
    tear_down();
}

/* Three images in two: the larger micro-batch counts, 2200 + 2 * 2800 = 7800 and not 5000. */
TEST(memory_holds_the_largest_micro_batch)
{
    set_up(WITH_HOST("7799B"), CHAIN("3"), "3");
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_lower_program(lower, map, &(th_stream){1, 0, 2, 1}, program, &e), -1);
    TAP_ASSERT_TEXT(e.text, "accel/3: 1 bytes too few at layer \"c\": 7800 needed, 2200 of them "
                            "weights, 7799 there");
    tear_down();
}

/* Under SS two of four pieces are there: in hand, and arriving. 16 filters of 40 x 9: a piece of 4
 * is 2880 bytes; 32 bytes of biases; output 16 x 2 x 8 x 2 = 512; input 40 x 3 x 8 x 2 = 1920
 * (outer rows; inner positions 2560). */
TEST(a_rotation_needs_two_pieces)
{
    set_up(WITH_HOST("1GiB"), ONE("3", "1"), "0123");
    put_layer(map, 0, 0, "H4 rK");
    lower_stream(th_stream_single);
    CU_ASSERT_EQUAL(th_lower_weight_bytes(lower)[0], 2880 + 32);
    CU_ASSERT_EQUAL(th_lower_peak_bytes(lower)[0], 2 * 2880 + 32 + 512 + 1920);
    CU_ASSERT_EQUAL(th_lower_peak_bytes(lower)[1], 2 * 2880 + 32 + 512 + 2560);
    put_layer(map, 0, 0, "H4");
    lower_stream(th_stream_single);
    CU_ASSERT_EQUAL(th_lower_peak_bytes(lower)[0], 4 * 2880 + 32 + 512 + 1920);
    tear_down();
}

static int lower_everywhere(const char *wish, th_error *e)
{
    for (int l = 0; l < net->n_layers; l++) {
        map->strategy[l] = strategy_of(wish);
        CU_ASSERT_TRUE(th_strategy_repair(&map->strategy[l], &net->layers[l], 1, 8));
    }
    CU_ASSERT_TRUE(th_mapping_follow(map, net, 1));
    CU_ASSERT_EQUAL(th_mapping_check(map, sys, net, e), 0);
    return th_lower_program(lower, map, &th_stream_single, program, e);
}

/* 89.1 MB of weights, 24 MiB each. */
TEST(resnet101_fits_when_weights_are_cut_or_rotate)
{
    sys = shipped_system("f1_16xlarge_small");
    net = shipped_workload("resnet101");
    map = mapping_on("01234567", net);
    lower = th_lower_new(sys, net, NULL);
    program = th_program_new(NULL);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(lower_everywhere("H4 W2", &e), -1);
    TAP_ASSERT_TEXT(e.id, "MAP-0022");
    CU_ASSERT_EQUAL(lower_everywhere("K8", &e), 0);
    CU_ASSERT_EQUAL(lower_everywhere("H4 W2 rK", &e), 0);
    CU_ASSERT_EQUAL(lower_everywhere("K2 H4 rC", &e), 0);
    tear_down();
}

/* --- failure ---------------------------------------------------------------------------------- */

static int askings;

static bool at_the_third_asking(void)
{
    return ++askings == 3;
}

/* Asked once per pass, and there are six: of the two that were made nothing is left. */
TEST(an_interruption_leaves_nothing_behind)
{
    th_error e = {"", ""};
    set_up(RING4, CHAIN("1"), "20");
    for (int l = 0; l < 3; l++)
        put_layer(map, l, 0, "K2");
    th_lower_set_interrupt_check(lower, at_the_third_asking);
    askings = 0;
    CU_ASSERT_EQUAL(th_lower_program(lower, map, &(th_stream){6, 0, 1, 0}, program, &e), -1);
    TAP_ASSERT_ERROR(e, "BASE-0008", "interrupted; nothing was lowered");
    CU_ASSERT_EQUAL(program->n_tasks, 0);
    th_lower_set_interrupt_check(lower, NULL);
    lower_stream((th_stream){6, 0, 1, 0});
    tear_down();
}

TAP_MAIN("lower")
