/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <pthread.h>
#include "base/alloc.h"
#include "sim/machine/machine.h"
#include "sim/pipeline/completion_cache.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

enum { N = 3000 };

/* Digests with equal first words, and with equal last ones; neighbours in the table either way. */
static void digest_of(int i, uint64_t digest[2])
{
    digest[0] = (uint64_t)(i / 3) * 7;
    digest[1] = (uint64_t)(i % 3);
}

static int count_known(const th_completion_cache *k)
{
    int n = 0;
    for (int i = 0; i < N; i++) {
        uint64_t digest[2];
        digest_of(i, digest);
        const th_compute_completion *e = th_completion_cache_find(k, digest);
        CU_ASSERT_TRUE(!e || (e->end == 10 + i && e->stats.busy_ps == 5 * i));
        n += e != NULL;
    }
    return n;
}

static int keep(th_completion_cache *k, int i)
{
    uint64_t digest[2];
    digest_of(i, digest);
    th_compute_completion e = {.end = 10 + i, .stats.busy_ps = 5 * i};
    return th_completion_cache_add(k, digest, &e);
}

TEST(finds_what_was_kept)
{
    auto_completion_cache *k = th_completion_cache_new(N);
    CU_ASSERT_EQUAL(count_known(k), 0);
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL(keep(k, i), 0);
    CU_ASSERT_EQUAL(count_known(k), N);
    th_completion_cache_free(NULL);
}

/* 3000 = 29 * 101 + 71: after every 101 all are forgotten. */
TEST(forgets_when_it_is_full)
{
    auto_completion_cache *k = th_completion_cache_new(101);
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL(keep(k, i), 0);
    CU_ASSERT_EQUAL(count_known(k), 71);
}

/* 101 are kept, and found, until they are trimmed. */
TEST(shared_ones_stay_until_they_are_trimmed)
{
    auto_completion_cache *k = th_completion_cache_new(101);
    uint64_t digest[2];
    th_completion_cache_share(k);
    th_completion_cache_trim(k);
    for (int i = 0; i < 300; i++)
        CU_ASSERT_EQUAL(keep(k, i), 0);
    CU_ASSERT_EQUAL(count_known(k), 101);
    digest_of(5, digest);
    const th_compute_completion *fifth = th_completion_cache_find(k, digest);
    CU_ASSERT_EQUAL(keep(k, 5), 0); /* again: the first one stays */
    CU_ASSERT_PTR_EQUAL(th_completion_cache_find(k, digest), fifth);
    th_completion_cache_trim(k);
    CU_ASSERT_EQUAL(count_known(k), 0);
    for (int i = 0; i < 50; i++)
        CU_ASSERT_EQUAL(keep(k, i), 0);
    th_completion_cache_trim(k); /* there is room */
    CU_ASSERT_EQUAL(count_known(k), 50);
}

static void *keep_all(void *k)
{
    uint64_t digest[2];
    void *failed = NULL;
    for (int i = 0; i < N; i++) {
        digest_of(i, digest);
        if (keep(k, i) || th_completion_cache_find(k, digest)->end != 10 + i)
            failed = k;
    }
    return failed;
}

TEST(several_threads_keep_at_once)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    auto_completion_cache *k = th_completion_cache_new(2 * N);
    th_completion_cache_share(k);
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, keep_all, k), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        CU_ASSERT_PTR_NULL(failed);
    }
    CU_ASSERT_EQUAL(count_known(k), N);
}

TEST(no_memory_leaves_it_as_it_was)
{
    int64_t live = th_alloc_live();
    th_completion_cache *k = th_completion_cache_new(N);
    int failed = 0;
    for (int i = 0; i < 200; i++) {
        th_alloc_fail_at(1);
        failed += keep(k, i) != 0;
        th_alloc_fail_at(0);
        if (count_known(k) == i)
            CU_ASSERT_EQUAL(keep(k, i), 0);
    }
    CU_ASSERT_TRUE(failed >= 2 && count_known(k) == 200);
    th_completion_cache_free(k);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

/* --- what the digest stands for --- */

static const char pair_text[] =
    "name = \"pair\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"200MHz\"; "
    "macs_per_cycle = 64; } ); accelerators = ( { names = [\"0\", \"1\"]; dram = { capacity = "
    "\"1GiB\"; bandwidth = \"16GB/s\"; latency = \"100ns\"; burst = \"64B\"; }; vector = { clock "
    "= \"200MHz\"; elements_per_cycle = 64; }; designs = [\"d\"]; } ); links = ( { between = "
    "[\"0\", \"1\"]; bandwidth = \"3GB/s\"; latency = \"200ns\"; duplex = \"full\"; }, { between "
    "= [\"0\", \"1\"]; bandwidth = \"3GB/s\"; latency = \"200ns\"; duplex = \"full\"; } );";

enum { SHARDS = 4, FLOWS = 3 };

/* What a compute task runs, at which clock, and what moves through its DRAM meanwhile. */
typedef struct {
    int32_t cost;
    double clock, bandwidth; /* times what the system says */
    th_time release[FLOWS];
    int64_t bytes[FLOWS];
} scene;

/* The first two take as long as each other alone: one reads twice what it writes, the other the
 * reverse. */
static void look_up_shards(th_compute_cost_cache *costs)
{
    th_shard s[SHARDS];
    for (int i = 0; i < SHARDS; i++) {
        s[i] = conv_shard(1, 1000, 1000, 1, 8, 1);
        if (i < 3)
            s[i].kind = TH_LAYER_ELEMENTWISE;
    }
    s[0].precision[TH_TENSOR_INPUT] = s[1].precision[TH_TENSOR_OUTPUT] = TH_FP32;
    s[2].dim[TH_DIM_W] = s[2].in_w = 12;
    for (int i = 0; i < SHARDS; i++)
        CU_ASSERT_EQUAL(th_compute_cost_lookup(costs, 0, 0, &s[i], NULL), i);
    CU_ASSERT_EQUAL(th_compute_cost_get(costs, 0)->collapsed_ps,
                    th_compute_cost_get(costs, 1)->collapsed_ps);
}

/* The end of the compute task, and how long its accelerator is busy, in *busy. */
static th_time play(th_machine *m, th_program *p, const th_system *s, const scene *at,
                    th_time *busy)
{
    const th_property_event clock = {.kind = TH_PROPERTY_FREQUENCY, .factor = at->clock};
    const th_property_event bandwidth = {.kind = TH_PROPERTY_BANDWIDTH, .factor = at->bandwidth};
    th_task task = {.kind = TH_TASK_COMPUTE, .node = s->accel_node[0], .peer = -1, .layer = -1};
    task.compute_cost = at->cost;
    th_program_clear(p);
    th_program_add(p, &task, NULL);
    for (int i = 0; i < FLOWS; i++) {
        task = (th_task){.kind = TH_TASK_TRANSFER, .layer = -1, .bytes = at->bytes[i]};
        task.node = s->accel_node[i % 2];
        task.peer = s->accel_node[1 - i % 2];
        task.release_ps = at->release[i];
        th_program_add(p, &task, NULL);
    }
    CU_ASSERT_EQUAL_FATAL(th_program_finish(p, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, p, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_add_property_event(m, &clock, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_add_property_event(m, &bandwidth, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
    *busy = th_machine_accel(m, 0).stats.busy_ps;
    return th_machine_times(m)[0].end_ps;
}

static void change(gsl_rng *r, scene *at)
{
    static const double clocks[] = {1, 0.5, 0.75, 2};
    const int flow = (int)pick(r, 0, FLOWS - 1);
    switch (pick(r, 0, 4)) {
    case 0:
        at->cost = (int32_t)pick(r, 0, SHARDS - 1);
        break;
    case 1:
        at->clock = clocks[pick(r, 0, 3)];
        break;
    case 2:
        at->release[flow] = 1000 * pick(r, 0, 3000);
        break;
    case 3:
        at->bandwidth = clocks[pick(r, 0, 2)];
        break;
    default: /* the longest outlasts the task */
        at->bytes[flow] = pick(r, 0, 1) ? pick(r, 64, 8000) : pick(r, 0, 1) * 100000;
    }
}

/* A machine whose cache has seen others: a task ends when it does on a new one, whichever the cost,
 * the clock, and the times and rates of transfers. */
TEST(every_thing_of_a_history_is_in_the_digest)
{
    enum { STEPS = TAP_REPEATS(1200) };
    auto_rng *r = th_random_stream(51, "histories", 0);
    auto_system *s = system_of(pair_text);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    auto_program *p = th_program_new(NULL);
    auto_machine *asked = th_machine_new(s, costs, NULL, NULL);
    scene at = {.clock = 1, .bandwidth = 1, .bytes = {4000}};
    int64_t n_expanded = 0;
    int n_wrong = 0;
    look_up_shards(costs);
    for (int i = 0; i < STEPS; i++) {
        th_time busy, busy_alone;
        th_machine *alone = th_machine_new(s, costs, NULL, NULL);
        th_time end = play(asked, p, s, &at, &busy);
        n_wrong += end != play(alone, p, s, &at, &busy_alone) || busy != busy_alone;
        th_result run;
        CU_ASSERT_EQUAL_FATAL(th_machine_result(alone, &run, NULL), 0);
        n_expanded += run.n_expanded;
        th_result_clear(&run);
        th_machine_free(alone);
        change(r, &at);
    }
    printf("# %lld of %d tasks have a history\n", (long long)n_expanded, STEPS);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(2 * n_expanded > STEPS);
}

TAP_MAIN("completion_cache")
