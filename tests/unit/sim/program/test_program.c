/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/program/program.h"
#include "base/alloc.h"
#include "tests/unit/tap.h"

static int32_t add(th_program *p, int32_t input)
{
    return th_program_add(p, &(th_task){.kind = TH_TASK_HOST, .layer = -1, .input = input}, NULL);
}

static void assert_successors(const th_program *p, int32_t task, int n, const int32_t *expected)
{
    CU_ASSERT_EQUAL(p->successor_start[task + 1] - p->successor_start[task], n);
    CU_ASSERT_EQUAL(
        memcmp(p->successors + p->successor_start[task], expected, (size_t)n * sizeof *expected),
        0);
}

/* 0 -> 3, 0 -> 2, 2 -> 3, 0 -> 4, and 3 told of 2 twice: in the order of telling. */
TEST(lists_successors_in_the_order_of_telling)
{
    auto_program *p = th_program_new(NULL);
    for (int32_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(add(p, i % 3), i);
    const int32_t edges[][2] = {{3, 0}, {2, 0}, {3, 2}, {4, 0}, {3, 2}};
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(th_program_depend(p, edges[i][0], edges[i][1], NULL), 0);
    CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
    CU_ASSERT_TRUE(p->n_tasks == 5 && p->n_inputs == 3 && p->n_dependencies == 5);
    assert_successors(p, 0, 3, (const int32_t[]){3, 2, 4});
    assert_successors(p, 1, 0, (const int32_t[]){0});
    assert_successors(p, 2, 2, (const int32_t[]){3, 3});
    assert_successors(p, 4, 0, (const int32_t[]){0});
    CU_ASSERT_EQUAL(
        memcmp(p->n_predecessors, (const int32_t[]){0, 0, 1, 3, 1}, 5 * sizeof(int32_t)), 0);
    th_program_free(NULL);
}

/* Task 2 waits for 0 and 1, and has a collective; cut off again, with its edges and its ranks. */
TEST(is_as_it_was_once_cut)
{
    int32_t nodes[] = {4, 2, 7};
    th_collective c = {.kind = TH_BARRIER, .rank_node = nodes, .n_ranks = 3, .chunks = 1};
    int64_t live = th_alloc_live();
    th_program *p = th_program_new(NULL);
    th_program_clear(p);
    add(p, 0);
    add(p, 1);
    th_program_depend(p, 1, 0, NULL);
    CU_ASSERT_EQUAL(th_program_add_collective(p, &c, NULL), 0);
    th_program_mark mark = th_program_mark_of(p);
    CU_ASSERT_EQUAL(th_program_add_collective(p, &c, NULL), 1);
    add(p, 5);
    th_program_depend(p, 2, 0, NULL);
    th_program_depend(p, 2, 1, NULL);
    th_program_cut(p, mark);
    CU_ASSERT_TRUE(p->n_tasks == 2 && p->n_collectives == 1 && p->n_inputs == 2);
    CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
    assert_successors(p, 0, 1, (const int32_t[]){1});
    assert_successors(p, 1, 0, (const int32_t[]){0});
    CU_ASSERT_EQUAL(p->collectives[0].rank_node[2], 7);
    th_program_free(p);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TEST(is_empty_again_once_cleared)
{
    th_program *p = th_program_new(NULL);
    for (int32_t i = 0; i < 40; i++)
        add(p, i);
    for (int32_t i = 1; i < 40; i++)
        th_program_depend(p, i, i - 1, NULL);
    th_program_finish(p, NULL);
    int64_t calls = th_alloc_calls();
    th_program_clear(p);
    for (int32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(add(p, 6), i);
    th_program_depend(p, 2, 0, NULL);
    th_program_finish(p, NULL);
    CU_ASSERT_TRUE(p->n_tasks == 3 && p->n_inputs == 7 && p->n_dependencies == 1);
    assert_successors(p, 0, 1, (const int32_t[]){2});
    assert_successors(p, 1, 0, (const int32_t[]){0});
    CU_ASSERT_EQUAL(th_alloc_calls(), calls); /* memory is kept */
    th_program_free(p);
}

TEST(any_allocation_may_fail)
{
    int64_t live = th_alloc_live();
    int failures = 0;
    for (int64_t k = 1; k < 60; k++) {
        th_error e = {"", ""};
        th_alloc_fail_at(k);
        th_program *p = th_program_new(&e);
        for (int32_t i = 0; p && i < 100; i++) {
            int32_t n = p->n_tasks;
            if (th_program_add(p, &(th_task){.input = i}, &e) < 0)
                CU_ASSERT_TRUE(p->n_tasks == n && p->n_inputs <= i);
            if (p->n_tasks > 2 && th_program_depend(p, p->n_tasks - 1, 0, &e))
                CU_ASSERT_EQUAL(th_program_depend(p, p->n_tasks - 1, 0, NULL), 0);
        }
        if (p && th_program_finish(p, &e))
            CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
        if (p)
            CU_ASSERT_EQUAL(p->successor_start[1] - p->successor_start[0], p->n_dependencies);
        if (e.id[0])
            TAP_ASSERT_TEXT(e.id, "BASE-0001");
        failures += e.id[0] != 0;
        th_alloc_fail_at(0);
        th_program_free(p);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    CU_ASSERT_TRUE(failures > 10 && failures < 59);
}

static int askings, answer_at;

static bool at_an_asking(void)
{
    return ++askings == answer_at;
}

/* Numbers of tasks and of dependencies have 32 bits: nothing is added, nothing written, at the
 * last. */
TEST(more_than_can_be_numbered_are_refused)
{
    th_error e = {"", ""};
    auto_program *p = th_program_new(NULL);
    add(p, 0);
    p->n_tasks = INT32_MAX;
    CU_ASSERT_EQUAL(th_program_add(p, &(th_task){.kind = TH_TASK_HOST}, &e), -1);
    TAP_ASSERT_TEXT(e.id, "SIM-0230");
    CU_ASSERT_EQUAL(p->n_tasks, INT32_MAX);
    p->n_tasks = 1;
    p->n_dependencies = (int64_t)INT32_MAX + 1;
    CU_ASSERT_EQUAL(th_program_finish(p, &e), -1);
    TAP_ASSERT_ERROR(e, "SIM-0231",
                     "the program has 2147483648 dependencies: must be 2147483647 at most");
    p->n_dependencies = 0;
    CU_ASSERT_EQUAL(th_program_finish(p, &e), 0);
}

/* Asked at the first edge while successors are counted, and while they are written. */
TEST(finishing_may_be_interrupted)
{
    auto_program *p = th_program_new(NULL);
    int32_t a = add(p, 0), b = add(p, 0);
    th_program_depend(p, b, a, NULL);
    th_program_ask(p, at_an_asking);
    for (answer_at = 1; answer_at <= 2; answer_at++) {
        th_error e = {"", ""};
        askings = 0;
        CU_ASSERT_EQUAL(th_program_finish(p, &e), -1);
        TAP_ASSERT_TEXT(e.id, "BASE-0008");
        CU_ASSERT_EQUAL(askings, answer_at);
    }
    th_program_ask(p, NULL);
    CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
    assert_successors(p, a, 1, &b);
}

TAP_MAIN("program")
