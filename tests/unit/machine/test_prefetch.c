/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_prefetch.c - weights that are prefetched, by hand; test_replay.c holds random programs. */
#include <config.h>
#include "sim/machine/machine.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include <string.h>

/* One accelerator: DRAM of 16 GB/s and 100 ns, an array of 64 x 64 at 200 MHz, ports that do not
 * matter. */
#define SYSTEM                                                                                     \
    "name = \"one\"; designs = ( { name = \"d\"; type = \"tiled\"; clock = \"200MHz\"; "           \
    "tile_k = 64; tile_c = 64; tile_h = 8; tile_w = 8; input_port = 1000; weight_port = 1000; "    \
    "output_port = 1000; } );\n"                                                                   \
    "accelerators = ( { names = [\"0\"]; dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; "   \
    "latency = \"100ns\"; }; vector = { clock = \"200MHz\"; elements_per_cycle = 64; }; "          \
    "designs = [\"d\"]; prefetch = %s; } ); hosts = ( \"host\" );\n"                               \
    "links = ( { between = [\"0\", \"host\"]; bandwidth = \"1GB/s\"; latency = \"0s\"; } );\n"

typedef struct {
    th_system *system;
    th_compute_cost_cache *costs;
    th_program *program;
    int32_t conv, pool;
} setup;

/* conv: a step of 8192 bytes of input, 8192 of weights, 64 cycles (320 ns), 8192 of output. pool:
 * 64 values in, 64 out, in a cycle. */
static setup set_up(bool prefetch)
{
    char text[2000];
    setup u = {.program = th_program_new(NULL)};
    snprintf(text, sizeof text, SYSTEM, prefetch ? "true" : "false");
    th_shard conv = conv_shard(1, 64, 64, 8, 8, 1), pool = conv_shard(1, 64, 64, 1, 1, 1);
    pool.kind = TH_LAYER_POOL;
    u.system = system_of(text);
    u.costs = th_compute_cost_cache_new(u.system, NULL);
    u.conv = th_compute_cost_lookup(u.costs, 0, 0, &conv, NULL);
    u.pool = th_compute_cost_lookup(u.costs, 0, 0, &pool, NULL);
    return u;
}

static int32_t compute(setup *u, int32_t work, int32_t after)
{
    int32_t t = th_program_add(
        u->program,
        &(th_task){
            .kind = TH_TASK_COMPUTE, .node = 0, .peer = -1, .compute_cost = work, .layer = -1},
        NULL);
    if (after >= 0)
        th_program_depend(u->program, t, after, NULL);
    return t;
}

static int32_t release(setup *u, th_time at)
{
    return th_program_add(
        u->program,
        &(th_task){.kind = TH_TASK_HOST, .node = -1, .peer = -1, .release_ps = at, .layer = -1},
        NULL);
}

/* Every way of running it gives these ends and weight_bytes of weights. */
static void expect_ps(setup *u, const th_time *end_ps, int64_t weight_bytes)
{
    const th_machine_options ways[] = {{0}, {.expand_all = true}, {.no_skip = true}};
    CU_ASSERT_EQUAL(th_program_finish(u->program, NULL), 0);
    for (int i = 0; i < 3; i++) {
        th_machine *m = th_machine_new(u->system, u->costs, &ways[i], NULL);
        th_result r;
        CU_ASSERT_EQUAL(th_machine_load(m, u->program, NULL), 0);
        CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
        CU_ASSERT_EQUAL_FATAL(th_machine_result(m, &r, NULL), 0);
        for (int32_t t = 0; t < r.n_tasks; t++)
            CU_ASSERT_EQUAL(r.tasks[t].end_ps, end_ps[t]);
        CU_ASSERT_EQUAL(r.accels[0].stats.moved_bytes[TH_ENGINE_WEIGHT], weight_bytes);
        th_result_clear(&r);
        th_machine_free(m);
    }
    th_program_free(u->program);
    th_compute_cost_cache_free(u->costs);
    th_system_free(u->system);
}

enum { TASKS_MAX = 8 };

static void expect(setup *u, const int64_t *end_ns, int64_t weight_bytes)
{
    th_time end_ps[TASKS_MAX];
    for (int32_t t = 0; t < u->program->n_tasks; t++)
        end_ps[t] = end_ns[t] * 1000;
    expect_ps(u, end_ps, weight_bytes);
}

/* Alone: latency 100, both operands at 8 GB/s until 1124, array until 1444, latency and store of
 * 512 ns: 2056. */
TEST(without_it_tasks_follow_each_other)
{
    setup u = set_up(false);
    compute(&u, u.conv, compute(&u, u.conv, -1));
    expect(&u, (int64_t[]){2056, 2 * 2056}, 2 * 8192);
}

/* At 1124 the weight engine goes on with the second task's weights, alone until the store moves
 * from 1544 on: by then 6720 bytes are in, the last 1472 share the DRAM until 1728, when 6720 bytes
 * are still to be stored: 2148. The second task loads its inputs alone: 2148 + 100 + 512 + 320 +
 * 100 + 512 = 3692. */
TEST(the_next_weights_come_while_a_task_drains)
{
    setup u = set_up(true);
    compute(&u, u.conv, compute(&u, u.conv, -1));
    expect(&u, (int64_t[]){2148, 3692}, 2 * 8192);
}

/* The accelerator waits for the release at 1000, its weights are in at 612: inputs 1100 .. 1612,
 * array until 1932, store 2032 .. 2544. */
TEST(weights_come_while_nothing_runs)
{
    setup u = set_up(true);
    compute(&u, u.conv, release(&u, 1000000));
    expect(&u, (int64_t[]){1000, 2544}, 8192);
}

/* Released at 300, the weights are half there: 100 + 200 ns at 16 GB/s brought 3200 bytes. From 300
 * on they are alone until the inputs move from 400 on, 3392 bytes to go; at 8 GB/s both until 824,
 * when 4800 bytes of input are left: 1124. Array 1444, store 1544 .. 2056. */
TEST(a_request_on_its_way_goes_on)
{
    setup u = set_up(true);
    compute(&u, u.conv, release(&u, 300000));
    expect(&u, (int64_t[]){300, 2056}, 8192);
}

/* The pool between has no weights and leaves those of the second conv where they are. It is
 * released at 3000, when they are in: 100 + 8 ns for 128 bytes, a cycle of 5, 100 + 8. The conv
 * then is as above without weights: 3221 + 100 + 512 + 320 + 100 + 512. */
TEST(a_task_without_weights_leaves_them_there)
{
    setup u = set_up(true);
    int32_t go = release(&u, 3000000), first = compute(&u, u.conv, -1),
            pool = compute(&u, u.pool, first);
    th_program_depend(u.program, pool, go, NULL);
    compute(&u, u.conv, pool);
    expect(&u, (int64_t[]){3000, 2148, 3221, 3221 + 1544}, 2 * 8192);
}

/* The pool comes first, and what it reads shares the DRAM with the conv's weights: inputs 100 ..
 * 116, array until 121, store 221 .. 237; the weights have 128 + 1680 + 128 bytes then, 1600 more
 * by 337, when the conv's inputs begin to move; the last 4656 at 8 GB/s until 919, 3536 bytes of
 * inputs at 16 until 1140. Array 1460, store 1560 .. 2072. */
TEST(they_come_beside_a_task_without_weights)
{
    setup u = set_up(true);
    compute(&u, u.conv, compute(&u, u.pool, -1));
    expect(&u, (int64_t[]){237, 2072}, 8192);
}

/* Eight steps of 128 bytes in and out and 320 ns each. The weights of the conv begin with the first
 * of them, which therefore moves until 116; the steps end at 116 + 8 * 320 = 2676, the last store
 * is 2776 .. 2784. The conv finds all its weights. */
TEST(they_come_from_the_first_step_of_a_task_without_weights)
{
    setup u = set_up(true);
    th_shard pool = conv_shard(1, 64, 64, 8, 1, 8);
    pool.kind = TH_LAYER_POOL;
    pool.in_h = 8;
    pool.in_w = 1;
    int32_t work = th_compute_cost_lookup(u.costs, 0, 0, &pool, NULL);
    CU_ASSERT_EQUAL(th_compute_cost_get(u.costs, work)->total.n_steps, 8);
    compute(&u, u.conv, compute(&u, work, -1));
    expect(&u, (int64_t[]){2784, 2784 + 1544}, 8192);
}

/* The second operand of a product of activations is there when the release at 1000 says so, and the
 * rows of an embedding are known then: nothing of them comes before. */
TEST(what_follows_from_inputs_is_not_prefetched)
{
    for (int i = 0; i < 2; i++) {
        setup u = set_up(true);
        th_shard s = conv_shard(1, 64, 64, 8, 1, 1);
        s.kind = i ? TH_LAYER_EMBEDDING : TH_LAYER_MATMUL;
        s.n_operands = i ? 1 : 2;
        int32_t number = th_compute_cost_lookup(u.costs, 0, 0, &s, NULL);
        const th_compute_cost *work = th_compute_cost_get(u.costs, number);
        CU_ASSERT_TRUE(work->total.weight_bytes > 0);
        compute(&u, number, release(&u, 1000000));
        expect_ps(&u, (th_time[]){1000000, 1000000 + work->collapsed_ps},
                  work->collapsed.moved_bytes[TH_ENGINE_WEIGHT]);
    }
}

/* The place of a refused work (200 MB of weights at 8 bits a second, of which two slots could come
 * ahead) goes to the next one; that has nothing to prefetch, whatever lies there. */
TEST(a_refused_task_leaves_nothing_to_prefetch)
{
    setup u = set_up(true);
    int64_t *dram = &u.system->nodes[u.system->accel_node[0]].a.dram_bits_per_s, bits_per_s = *dram;
    th_shard endless = conv_shard(1, 10000, 10000, 1, 1, 1);
    th_shard product = conv_shard(1, 64, 64, 8, 1, 1);
    product.kind = TH_LAYER_MATMUL;
    product.n_operands = 2;
    *dram = 8;
    CU_ASSERT_EQUAL(th_compute_cost_lookup(u.costs, 0, 0, &endless, NULL), -1);
    *dram = bits_per_s;
    int32_t number = th_compute_cost_lookup(u.costs, 0, 0, &product, NULL);
    const th_compute_cost *work = th_compute_cost_get(u.costs, number);
    CU_ASSERT_EQUAL(work->prefetch.n, 0);
    compute(&u, number, release(&u, 1000000));
    expect_ps(&u, (th_time[]){1000000, 1000000 + work->collapsed_ps},
              work->collapsed.moved_bytes[TH_ENGINE_WEIGHT]);
}

/* A piece of weights that the others pass on. */
TEST(what_transfers_bring_is_not_prefetched)
{
    setup u = set_up(true);
    int32_t t = compute(&u, u.conv, release(&u, 1000000));
    u.program->tasks[t].weights_arrive = 1;
    expect(&u, (int64_t[]){1000, 1000 + 2056}, 8192);
}

/* Task 2 waits for the release at 10000 and task 3 does not: task 3 overtakes at 2148, and what has
 * been loaded for task 2 is thrown away; it is loaded again from the time on when task 3's own
 * weights are in. 2148 + 1124 = 3272, as task 1 from here on: ends 2148 + 2148. Then task 2: 10000
 * + 1544. */
TEST(an_overtaking_task_throws_them_away)
{
    setup u = set_up(true);
    int32_t go = release(&u, 10000000);
    compute(&u, u.conv, -1);
    int32_t late = compute(&u, u.conv, go), other = compute(&u, u.conv, 1);
    CU_ASSERT_TRUE(late == 2 && other == 3);
    expect(&u, (int64_t[]){10000, 2148, 10000 + 1544, 2 * 2148}, 4 * 8192);
}

TAP_MAIN("prefetch")
