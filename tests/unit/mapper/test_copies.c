/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_copies.c - layers in copies: by hand, what they spare their readers, and what is refused.
 * That every reader finds its input, and which copy sends it: test_lower_random. */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/pool_help.h"
#include "tests/unit/random_net.h"
#include "tests/unit/shard_help.h"

/* One multiply-accumulate per ns, memory without time; n of them with links of 1 byte per ns and
 * 100 ns between any two. */
#define FOUR                                                                                       \
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "            \
    "macs_per_cycle = 1; } ); accelerators = ( { count = 4; dram = { capacity = \"1GiB\"; "        \
    "bandwidth = \"unlimited\"; latency = \"0ns\"; }; vector = { clock = \"1GHz\"; "               \
    "elements_per_cycle = 1; }; designs = [\"d\"]; } ); links = ( { all_pairs = [\"0\", \"1\", "   \
    "\"2\", \"3\"]; bandwidth = \"8Gbps\"; latency = \"100ns\"; } );"
#define PRODUCT(NAME, N) "{ name = \"" NAME "\"; type = \"matmul\"; columns = " #N "; }"
#define NET(LAYERS)                                                                                \
    "name = \"n\"; batch = 1; element_bytes = 2; input = { channels = 64; height = 1; width = "    \
    "1; }; layers = ( " LAYERS " );"

static int64_t bytes_moved(const th_system *s, const th_workload *w, const th_mapping *m, int layer)
{
    th_error e = {"", ""};
    int64_t sum = 0;
    auto_lower *lower = th_lower_new(s, w, &e);
    auto_program *p = th_program_new(&e);
    if (th_lower_program(lower, m, &th_stream_single, p, &e))
        bail_out(&e);
    for (int32_t t = 0; t < p->n_tasks; t++)
        sum += p->tasks[t].kind == TH_TASK_TRANSFER && p->tasks[t].layer == layer
                   ? p->tasks[t].bytes
                   : 0;
    return sum;
}

/* 64 -> 64 -> 64 -> 64 channels of a token. Quarters of the first, 1024 ns; three times 16 elements
 * for each copy of the second, over a link each, 132 ns, and 4096 ns; nothing for the quarters of
 * the third, 1024 ns. In two copies of halves the second takes 2048 ns, but then a half is missing,
 * in two quarters of the partner's copy: 164 ns. */
TEST(copies_by_hand)
{
    auto_system *s = system_of(FOUR);
    auto_workload *w = workload_of(NET(PRODUCT("a", 64) "," PRODUCT("b", 64) "," PRODUCT("c", 64)));
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_mapping *m = mapping_on("0123", w);
    put_layer(m, 0, 0, "K4");
    put_layer(m, 1, 0, "c4");
    put_layer(m, 2, 0, "K4");
    CU_ASSERT_EQUAL(makespan_of(&p, m), (1024 + 132 + 4096 + 1024) * 1000);
    CU_ASSERT_TRUE(bytes_moved(s, w, m, 1) == 4 * 96 && bytes_moved(s, w, m, 2) == 0);
    put_layer(m, 1, 0, "K2 c2");
    CU_ASSERT_EQUAL(makespan_of(&p, m), (1024 + 132 + 2048 + 164 + 1024) * 1000);
    CU_ASSERT_EQUAL(bytes_moved(s, w, m, 2), 4 * 64);
}

/* 64 -> 64 -> 8 channels, C halved, in two copies: positions 0 and 2 exchange 32 sums, 1 and 3 as
 * well, and hold the halves that the second layer reads. */
TEST(sums_are_exchanged_within_a_copy)
{
    auto_system *s = system_of(FOUR);
    auto_workload *w = workload_of(NET(PRODUCT("a", 64) "," PRODUCT("b", 8)));
    auto_mapping *m = mapping_on("0123", w);
    put_layer(m, 0, 0, "C2 c2");
    put_layer(m, 1, 0, "C2 c2");
    CU_ASSERT_EQUAL(bytes_moved(s, w, m, 0), 4 * 64);
    CU_ASSERT_EQUAL(bytes_moved(s, w, m, 1), 4 * 8);
    th_error e = {"", ""};
    auto_lower *lower = th_lower_new(s, w, &e);
    auto_program *program = th_program_new(&e);
    CU_ASSERT_EQUAL(th_lower_program(lower, m, &th_stream_single, program, &e), 0);
    for (int32_t t = 0; t < program->n_tasks; t++)
        if (program->tasks[t].kind == TH_TASK_TRANSFER)
            CU_ASSERT_EQUAL((program->tasks[t].node - program->tasks[t].peer) % 2, 0);
    for (int a = 0; a < 4; a++) /* halves of 64 x 64, and of 64 x 8, of two bytes */
        CU_ASSERT_EQUAL(th_lower_weight_bytes(lower)[a], 64 * 64 + 64 * 8);
}

/* A copy per member: readers on the set receive nothing. In copies of n pieces: no more than from n
 * times as many pieces of the same dimension, each of which is a part of what a copy holds. */
TEST(copies_never_move_more)
{
    auto_rng *r = th_random_stream(23, "copies", 0);
    auto_system *s = system_of(RANDOM_TOPOLOGY("type = \"ring\"; dims = [6];"));
    int n_whole = 0, n_pieces = 0, n_less = 0;
    for (int round = 0; round < 4000; round++) {
        auto_workload *w = random_workload(r);
        auto_mapping *m = random_mapping(r, s, w, w->batch);
        int l = (int)pick(r, 0, w->n_layers - 1);
        if (!m)
            continue;
        auto_mapping *copied = th_mapping_copy(m);
        th_set_share(&m->sets[m->set_of[l]], NULL);
        th_set_share(&copied->sets[m->set_of[l]], NULL);
        th_strategy pieces = th_strategy_single, copies = pieces;
        int n = m->sets[m->set_of[l]].n_accels, part = n % 2 ? 1 : n / 2,
            d = (int)pick(r, 0, TH_DIM_W);
        pieces.split[d] = n;
        copies.split[d] = part;
        th_strategy_set_copies(&copies, n / part);
        m->strategy[l] = pieces;
        copied->strategy[l] = copies;
        bool is_read = false, fits = n > 1 && th_strategy_fits(&pieces, &w->layers[l], w->batch, n);
        for (int i = 0; fits && i < w->n_layers; i++) {
            bool reads = false, here = true;
            for (int k = 0; k < w->layers[i].n_inputs; k++) {
                reads |= w->layers[i].inputs[k] == l;
                here &= w->layers[i].inputs[k] == l && m->set_of[i] == m->set_of[l];
            }
            int64_t most = reads && here ? bytes_moved(s, w, m, i) : -1,
                    least = most >= 0 ? bytes_moved(s, w, copied, i) : 0;
            CU_ASSERT_TRUE(most < 0 || least <= most);
            n_less += least < most;
            is_read |= most >= 0;
        }
        n_pieces += is_read;
        n_whole += is_read && part == 1;
    }
    printf("# %d cases, %d of them of whole layers; less in %d\n", n_pieces, n_whole, n_less);
    CU_ASSERT_TRUE(n_pieces > 100 && n_pieces > n_whole + 20 && n_less > 50);
}

/* Outputs of several copies leave once, and energy, memory and work count every copy. */
TEST(every_copy_counts_but_one_leaves)
{
    auto_system *s = system_of(
        "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [4]; "
                                                "bandwidth = \"8Gbps\"; latency = \"100ns\"; host "
                                                "= { bandwidth = \"2Gbps\"; }; };");
    auto_workload *w = workload_of(NET(PRODUCT("a", 48)));
    static const char *const strategies[] = {"c4", "K2 c2", "K4"};
    static const int parts[] = {1, 2, 4};
    for (int i = 0; i < 3; i++) {
        th_error e = {"", ""};
        auto_mapping *m = mapping_on("0123", w);
        put_layer(m, 0, 0, strategies[i]);
        auto_lower *lower = th_lower_new(s, w, &e);
        auto_program *p = th_program_new(&e);
        CU_ASSERT_EQUAL(th_lower_program(lower, m, &th_stream_single, p, &e), 0);
        int64_t left = 0, macs = 0;
        int32_t senders = 0;
        for (int32_t t = 0; t < p->n_tasks; t++) {
            const th_task *x = &p->tasks[t];
            bool leaves = x->kind == TH_TASK_TRANSFER && s->nodes[x->peer].accel < 0;
            left += leaves ? x->bytes : 0;
            senders += leaves;
            if (x->kind == TH_TASK_COMPUTE)
                macs += th_shard_macs(
                    &th_compute_cost_get(th_lower_costs(lower), x->compute_cost)->shard);
        }
        CU_ASSERT_TRUE(left == 96 && senders == parts[i]);
        CU_ASSERT_EQUAL(macs, 4 / parts[i] * 64 * 48);
        CU_ASSERT_EQUAL(th_lower_weight_bytes(lower)[3], 64 * 48 * 2 / parts[i]);
    }
}

/* One copy is none: the same strategy, the same text. */
TEST(one_copy_is_as_without)
{
    auto_system *s = system_of(FOUR);
    auto_workload *w = workload_of(NET(PRODUCT("a", 64)));
    th_error e = {"", ""};
    static const char *const texts[] = {"copies = 1; split = { K = 4; };", "split = { K = 4; };"};
    th_mapping *m[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        auto_strbuf text = TH_STRBUF_INIT;
        th_strbuf_printf(
            &text,
            "sets = ( { design = \"d\"; accelerators = [\"0\", \"1\", \"2\", \"3\"]; } "
            "); layers = ( { name = \"a\"; set = 0; %s } );",
            texts[i]);
        m[i] = th_mapping_read_text(text.text, "m", s, w, &e);
        CU_ASSERT_PTR_NOT_NULL_FATAL(m[i]);
    }
    CU_ASSERT_TRUE(th_mapping_equal(m[0], m[1]));
    th_mapping_free(m[0]);
    th_mapping_free(m[1]);
}

TEST(what_is_refused)
{
    auto_workload *w = workload_of(NET("{ name = \"x\"; type = \"rms_norm\"; }"));
    assert_refused(&w->layers[0], 1, "c4", 8, "MAP-0005",
                   ": the splits and copies make 4 shards for a set of 8 accelerators");
    assert_refused(&w->layers[0], 1, "K2 c4", 8, "MAP-0004",
                   ": a rms_norm layer cannot be split 2 ways along K");
    assert_refused(&w->layers[0], 1, "c4 rK", 4, "MAP-0001",
                   " cannot rotate along K: no operand that is cut along K is the same on several "
                   "accelerators");
}

TAP_MAIN("copies")
