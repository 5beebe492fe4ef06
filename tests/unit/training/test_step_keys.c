/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_step_keys.c - what is kept while a step of training is made is kept by all that it depends
 * on: times of collectives, and the parts of computations. */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "training/step_tasks.h"

static th_parallel_plan plan_of(th_degrees n)
{
    return (th_parallel_plan){.n = n,
                              .batch = {.sequence = 1024, .micro_batch = 1, .global_batch = 96},
                              .order = {0, 1, 2, 3},
                              .schedule = th_pipeline_find("1f1b")};
}

/* Kinds, groups and sizes, each after the others: as times that were asked for nothing else. */
TEST(a_collective_is_known_by_all_of_it)
{
    static const th_collective_kind kinds[] = {TH_ALL_REDUCE, TH_ALL_GATHER, TH_ALL_TO_ALL};
    static const int64_t sizes[] = {64000, 64001, 8000000};
    enum { CALLS = 3 * TH_N_GROUPS * 3 };
    th_error err;
    auto_system *s = shipped_system("islands_4x8");
    th_parallel_plan p = plan_of((th_degrees){2, 1, 1, 2, 8, 8, 2, 1, 4});
    p.experts_on_node = 2;
    p.exchanges_by_node = true;
    th_collective_times *asked = th_collective_times_new(s, &p, &err);
    int n_other = 0;
    th_time before = 0;
    for (int i = 0; i < CALLS; i++) {
        const th_collective_kind kind = kinds[i % 3];
        const th_plan_group group = (th_plan_group)(i / 3 % TH_N_GROUPS);
        const int64_t bytes = sizes[i / 3 / TH_N_GROUPS];
        th_collective_times *fresh = th_collective_times_new(s, &p, &err);
        const th_time alone = th_collective_time(fresh, kind, group, bytes, &err);
        CU_ASSERT_TRUE(alone > 0 && alone == th_collective_time(asked, kind, group, bytes, &err));
        n_other += alone != before;
        before = alone;
        th_collective_times_free(fresh);
    }
    CU_ASSERT_TRUE(n_other > CALLS / 2);
    th_collective_times_free(asked);
}

/* A step of 16,384 accelerators has thousands of messages of one size: each size is simulated once,
 * and is no collective of as many bytes. */
TEST(a_message_between_stages_is_simulated_once)
{
    th_error err;
    auto_system *s = shipped_system("islands_4x8");
    th_parallel_plan p = plan_of((th_degrees){2, 4, 1, 1, 4, 1, 1, 0, 1});
    th_collective_times *x = th_collective_times_new(s, &p, &err);
    const th_time first = th_stage_message_time(x, 0, 1, 64000, &err);
    const th_time all_reduce = th_collective_time(x, TH_ALL_REDUCE, TH_GROUP_TENSOR, 64000, &err);
    CU_ASSERT_TRUE(first > 0 && all_reduce > 0 && first != all_reduce);
    CU_ASSERT_TRUE(th_stage_message_time(x, 0, 1, 128000, &err) > first);
    const int64_t calls = th_alloc_calls();
    CU_ASSERT_EQUAL(th_stage_message_time(x, 0, 1, 64000, &err), first);
    CU_ASSERT_EQUAL(th_alloc_calls(), calls);
    th_collective_times_free(x);
}

/* Of every part a picosecond more, and the first again. */
TEST(work_is_known_by_all_of_its_parts)
{
    th_error err;
    th_step_tasks x;
    th_step_work work[TH_N_WORK_PARTS + 2] = {{{0}}};
    auto_system *s = shipped_system("islands_4x8");
    th_parallel_plan p = plan_of((th_degrees){1, 1, 1, 1, 1, 1, 1, 0, 1});
    auto_program *program = th_program_new(&err);
    th_program_clear(program);
    CU_ASSERT_EQUAL_FATAL(th_step_tasks_init(&x, s, &p, true, program, &err), 0);
    for (int i = 0; i < TH_N_WORK_PARTS + 2; i++) {
        for (int part = 0; part < TH_N_WORK_PARTS; part++)
            work[i].ps[part] = 100 + (part == i - 1);
        const int32_t task = program->n_tasks;
        CU_ASSERT_TRUE(th_step_compute(&x, 0, &work[i], TH_STEP_COMPUTE, (th_bundles){0}, &err) >=
                       0);
        CU_ASSERT_EQUAL(memcmp(&x.work[x.work_of[task]], &work[i], sizeof *work), 0);
    }
    CU_ASSERT_EQUAL(x.n_works, TH_N_WORK_PARTS + 1);
    th_step_tasks_clear(&x);
}

TAP_MAIN("step_keys")
