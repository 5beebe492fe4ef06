/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_large_sets.c - sets of 256, 1,024 and 4,096 accelerators: what they take does not depend on
 * their number where each does the same as its like in a small set. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/serialize/serializer.h"
#include "mapper/search/search.h"
#include "tests/unit/search_help.h"

static const int32_t sizes[] = {256, 1024, 4096};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* n accelerators on a switch by links of 1 byte per ns and 100 ns; 1 multiply-accumulate per ns and
 * a DRAM that takes no time. */
static th_system *switched(int32_t n)
{
    char text[1000];
    snprintf(text, sizeof text,
             "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
             "macs_per_cycle = 1; } ); accelerators = ( { dram = { capacity = \"1GiB\"; "
             "bandwidth = \"unlimited\"; latency = \"0ns\"; }; vector = { clock = \"1GHz\"; "
             "elements_per_cycle = 1; }; designs = [\"d\"]; } ); topology = { type = \"star\"; "
             "dims = [%d]; bandwidth = \"8Gbps\"; latency = \"100ns\"; };",
             (int)n);
    return system_of(text);
}

static th_workload *net_of(const char *format, int32_t x)
{
    char text[1000];
    snprintf(text, sizeof text, format, (int)x);
    return workload_of(text);
}

/* All accelerators in one set. */
static th_mapping *mapping_of(const th_system *s, const th_workload *w)
{
    int32_t n = s->n_accels;
    th_mapping *m = th_mapping_new(1, &n, w->n_layers);
    for (int32_t a = 0; a < n; a++)
        m->sets[0].accels[a] = a;
    for (int l = 0; l < w->n_layers; l++)
        m->strategy[l] = th_strategy_single;
    return m;
}

static th_time makespan_of(const th_system *s, const th_workload *w, const th_mapping *m)
{
    th_problem p = problem_of(s, w);
    th_error e = {"", ""};
    th_fitness fitness = {.value = -1};
    th_evaluator *x = th_evaluator_new(&p, &e);
    if (!x || th_evaluator_run(x, m, INFINITY, &fitness, &e))
        bail_out(&e);
    th_evaluator_free(x);
    CU_ASSERT_EQUAL(fitness.fit, TH_FIT);
    return (th_time)fitness.value;
}

/* --- images ------------------------------------------------------------------------------------
 */

/* Three images for two accelerators: who has two takes 2 (2,048 + 1,024) ns. */
TEST(data_parallel_takes_them_all)
{
    for (int i = 0; i < N_SIZES; i++) {
        int32_t n = sizes[i];
        auto_system *s = switched(n);
        auto_workload *w = net_of(
            "name = \"n\"; batch = %d; input = { channels = 8; height = 4; width = 4; }; layers = ("
            "{ name = \"a\"; type = \"conv\"; outputs = 16; },"
            "{ name = \"b\"; type = \"conv\"; outputs = 4; } );",
            n / 2 * 3);
        th_problem p = problem_of(s, w);
        th_error e = {"", ""};
        auto_search *x =
            th_search_new(th_search_find("data_parallel"), &p, &th_search_defaults, &e);
        while (x && !x->done && th_search_iterate(x, &e) == 0)
            ;
        if (!x || !x->best)
            bail_out(&e);
        CU_ASSERT_EQUAL(x->best->sets[0].n_accels, n);
        CU_ASSERT_EQUAL(x->best->strategy[1].split[TH_DIM_B], n);
        CU_ASSERT_EQUAL((th_time)x->best_fitness.value, 6144000);
    }
}

/* --- rows ---------------------------------------------------------------------------------------
 */

/* A row of 8 x 4 each: 16 * 8 * 4 = 512 ns. Then every row of 16 x 4 x 2 bytes goes to both
 * neighbours, which get two of them: 256 ns and two links' 200 ns. Then 4 * 16 * 4 * 9 = 2,304 ns.
 */
TEST(rows_go_to_neighbours)
{
    for (int i = 0; i < N_SIZES; i++) {
        auto_system *s = switched(sizes[i]);
        auto_workload *w =
            net_of("name = \"n\"; batch = 1; element_bytes = 2; input = { channels = 8; height = "
                   "%d; width = 4; }; layers = ( { name = \"a\"; type = \"conv\"; outputs = 16; },"
                   "{ name = \"b\"; type = \"conv\"; outputs = 4; kernel = 3; padding = 1; } );",
                   sizes[i]);
        auto_mapping *m = mapping_of(s, w);
        m->strategy[0].split[TH_DIM_H] = m->strategy[1].split[TH_DIM_H] = sizes[i];
        CU_ASSERT_EQUAL(makespan_of(s, w, m), (512 + 256 + 200 + 2304) * 1000);
    }
}

/* --- weights ------------------------------------------------------------------------------------
 */

/* An image each, and one of 256 outputs in each phase, 1,000 inputs: 1,000 ns, in which its weights
 * of a byte each would travel on in 1,000 + 200 ns. After the first phase each takes that long. */
TEST(weights_rotate_through_hundreds)
{
    auto_system *s = switched(256);
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 256; precision = \"int8\"; input = { channels = 1000; height = 1; "
        "width = 1; }; layers = ( { name = \"f\"; type = \"fc\"; outputs = 256; bias = false; } "
        ");");
    auto_mapping *m = mapping_of(s, w);
    m->strategy[0] = strategy_of("B256 rK");
    CU_ASSERT_EQUAL(makespan_of(s, w, m), (255 * 1200 + 1000) * (th_time)1000);
}

/* --- shares -------------------------------------------------------------------------------------
 */

/* Shares 1, 3, 1, 3 ...: of 8 rows for each pair the first has 2. */
TEST(shares_cut_in_proportion)
{
    for (int i = 0; i < N_SIZES; i++) {
        int32_t n = sizes[i], *shares = th_alloc_zero((size_t)n, sizeof *shares);
        th_layer l = {.kind = TH_LAYER_CONV, .groups = 1, .dim = {1, 1, 1, 4 * n, 1, 1, 1}};
        th_strategy s = th_strategy_single;
        s.split[TH_DIM_H] = n;
        for (int32_t r = 0; r < n; r++)
            shares[r] = r % 2 ? 3 : 1;
        for (int32_t r = 0; r<n; r += n> 256 ? 97 : 1) {
            th_loop_box box = th_shard_loops(&l, 1, &s, shares, r);
            CU_ASSERT_EQUAL(box.lo[TH_DIM_H], r / 2 * 8 + r % 2 * 2);
            CU_ASSERT_EQUAL(box.hi[TH_DIM_H] - box.lo[TH_DIM_H], r % 2 ? 6 : 2);
        }
        th_free(shares);
    }
}

/* The largest shares of a million positions over 2^31 - 1 rows: their product has 65 bits. */
TEST(large_shares_do_not_overflow)
{
    const int32_t n = 1000000, rows = INT32_MAX;
    int32_t *shares = th_alloc_zero((size_t)n, sizeof *shares);
    th_layer l = {.kind = TH_LAYER_CONV, .groups = 1, .dim = {1, 1, 1, rows, 1, 1, 1}};
    th_strategy s = th_strategy_single;
    s.split[TH_DIM_H] = n;
    for (int32_t r = 0; r < n; r++)
        shares[r] = TH_SHARE_MAX;
    th_loop_box last = th_shard_loops(&l, 1, &s, shares, n - 1),
                even = th_shard_loops(&l, 1, &s, NULL, n - 1);
    CU_ASSERT_TRUE(last.lo[TH_DIM_H] == even.lo[TH_DIM_H] && last.hi[TH_DIM_H] == rows);
    th_free(shares);
}

/* --- files and messages -------------------------------------------------------------------------
 */

TEST(mappings_come_back)
{
    for (int i = 0; i < N_SIZES; i++) {
        auto_system *s = switched(sizes[i]);
        auto_workload *w = net_of("name = \"n\"; batch = %d; input = { channels = 8; height = 4; "
                                  "width = 4; }; layers = ( { name = \"a\"; type = \"relu\"; } );",
                                  sizes[i]);
        auto_mapping *m = mapping_of(s, w);
        auto_strbuf text = TH_STRBUF_INIT;
        th_error e = {"", ""};
        m->strategy[0].split[TH_DIM_B] = sizes[i];
        th_mapping_write(m, s, w, &text);
        auto_mapping *read = th_mapping_read_text(text.text, "m", s, w, &e);
        if (!read)
            bail_out(&e);
        auto_serializer out = TH_SERIALIZER_INIT;
        th_serializer_write_mapping(&out, m);
        th_serializer in = th_serializer_reader(out.out.text, out.out.length);
        auto_mapping *sent = th_serializer_read_mapping(
            &in, &(th_serializer_limits){s->n_accels, s->n_designs, w->n_layers});
        CU_ASSERT_TRUE(th_mapping_equal(m, read) && sent && th_mapping_equal(m, sent));
    }
}

/* --- what is too much ---------------------------------------------------------------------------
 */

/* 46,340 squared is just below 2^31. */
TEST(pieces_that_cannot_be_counted_are_refused)
{
    th_layer l = {.kind = TH_LAYER_FC,
                  .groups = 1,
                  .name = (char *)"f",
                  .dim = {1, 65536, 65536, 1, 1, 1, 1}};
    th_error e = {"", ""};
    th_strategy rotating = strategy_of("B46341 rK"), reducing = strategy_of("C46341");
    CU_ASSERT_EQUAL(th_strategy_check(&rotating, &l, 65536, 46341, "", &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0120",
                     "layer \"f\": 46341 accelerators with 46341 rotating pieces each: must "
                     "be 2147483647 at most in all");
    CU_ASSERT_EQUAL(th_strategy_check(&reducing, &l, 1, 46341, "", &e), -1);
    TAP_ASSERT_TEXT(e.text, "layer \"f\": 46341 accelerators with 46341 partial sums each: must be "
                            "2147483647 at most in all");
    CU_ASSERT_FALSE(th_strategy_fits(&reducing, &l, 1, 46341));
    rotating.split[TH_DIM_B] = reducing.split[TH_DIM_C] = 46340;
    CU_ASSERT_TRUE(th_strategy_fits(&rotating, &l, 65536, 46340));
    CU_ASSERT_TRUE(th_strategy_fits(&reducing, &l, 1, 46340));
    th_strategy images = strategy_of("B65536");
    CU_ASSERT_TRUE(th_strategy_fits(&images, &l, 65536, 65536));
}

/* 2^11 layers on 2^20 accelerators: positions of layers are numbered in 31 bits. */
TEST(layers_on_too_many_accelerators_are_refused)
{
    th_system s = {.name = (char *)"s", .n_accels = 1 << 20};
    th_workload w = {.name = (char *)"w", .n_layers = 1 << 11};
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_lower_new(&s, &w, &e));
    TAP_ASSERT_ERROR(e, "MAP-0121",
                     "workload \"w\" on \"s\": 2048 layers on 1048576 accelerators: must be "
                     "2147483647 at most multiplied");
}

TAP_MAIN("large_sets")
