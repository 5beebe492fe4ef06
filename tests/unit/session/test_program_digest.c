/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_program_digest.c - the digest of a program, by which checkpoints and comparisons of runs
 * know it, changes with everything that its times depend on. */
#include <config.h>
#include <stddef.h>
#include "base/alloc.h"
#include "session/hand_built.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/schedule_read.h"
#include "tests/unit/tap.h"

static void add(th_hand_built *m, th_task t, const th_collective *c, const th_fixed_work *w,
                int32_t after)
{
    const th_hand_built_task task = {t, c, w, &after, after >= 0};
    CU_ASSERT_TRUE(th_hand_built_add(m, &task, NULL) >= 0);
}

static th_user_schedule *pass_on(void)
{
    th_user_schedule *u =
        th_user_schedule_read_text("ranks = ( { threads = ( ( { send = 1; size = \"10B\"; } ) ); "
                                   "}, { threads = ( ( { recv = 0; "
                                   "size = \"10B\"; } ) ); } );",
                                   "s.cfg", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    return u;
}

/* A computation, a transfer, an all-to-all of uneven sizes, one as a file says, and a placed work
 * and a job that make no sense. */
static th_hand_built *program(void)
{
    int32_t nodes[] = {0, 1, 2};
    int64_t pairs[9] = {0, 5, 6, 7};
    const th_fixed_work work = {.duration_ps = 100, .steady_ps = 3, .operations = 4, .bytes = 5};
    th_hand_built *m = th_hand_built_new("p", NULL);
    th_user_schedule *u = pass_on();
    const th_collective all = {.kind = TH_ALL_TO_ALL,
                               .algorithm = &th_algorithm_direct,
                               .rank_node = nodes,
                               .n_ranks = 3,
                               .bytes = 1000,
                               .pair_bytes = pairs,
                               .chunks = 1,
                               .dims = {3},
                               .n_dims = 1},
                        given = {.kind = TH_USER_SCHEDULE,
                                 .algorithm = &th_algorithm_schedule,
                                 .rank_node = nodes,
                                 .n_ranks = 2,
                                 .bytes = 10,
                                 .schedule = u};
    CU_ASSERT_EQUAL(th_hand_built_keep_schedule(m, u, NULL), 0);
    add(m, (th_task){.kind = TH_TASK_COMPUTE, .peer = -1, .layer = -1}, NULL, &work, -1);
    add(m, (th_task){.kind = TH_TASK_TRANSFER, .peer = 1, .bytes = 9, .layer = -1}, NULL, NULL, 0);
    add(m, (th_task){.kind = TH_TASK_COLLECTIVE, .peer = -1, .layer = -1}, &all, NULL, 1);
    add(m, (th_task){.kind = TH_TASK_COLLECTIVE, .peer = -1, .layer = -1}, &given, NULL, 1);
    m->program->placed = th_alloc_zero(1, sizeof *m->program->placed);
    m->program->n_placed = 1;
    return m;
}

/* Numbers by their place; of 4 or 8 bytes. */
typedef struct {
    size_t at, size;
} number;
#define OF(TYPE, NAME)                                                                             \
    {                                                                                              \
        offsetof(TYPE, NAME), sizeof(((TYPE *)0)->NAME)                                            \
    }
#define COUNT(TABLE) (int)(sizeof(TABLE) / sizeof *(TABLE))

static void check(const th_hand_built *m, void *in, const number *n, int count)
{
    const uint64_t of = th_hand_built_digest(m);
    for (int i = 0; i < count; i++) {
        char *at = (char *)in + n[i].at;
        const int step = n[i].size == sizeof(int64_t) ? 2 : 1;
        if (step == 2)
            ++*(int64_t *)at;
        else
            ++*(int32_t *)at;
        if (th_hand_built_digest(m) == of) {
            printf("# number %d of %d at %zu\n", i, count, n[i].at);
            CU_FAIL("the same digest");
        }
        if (step == 2)
            --*(int64_t *)at;
        else
            --*(int32_t *)at;
    }
    CU_ASSERT_EQUAL(th_hand_built_digest(m), of);
}

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(th_task) == 48 && sizeof(th_collective) == 120 &&
                   sizeof(th_fixed_work) == 40 && sizeof(th_program_job) == 40,
               "one more: has it a row?");
#endif

TEST(every_number_of_a_program_is_in_its_digest)
{
    static const number task[] = {OF(th_task, kind),    OF(th_task, node),
                                  OF(th_task, peer),    OF(th_task, compute_cost),
                                  OF(th_task, bytes),   OF(th_task, release_ps),
                                  OF(th_task, delay_ps)},
                        work[] = {OF(th_fixed_work, duration_ps), OF(th_fixed_work, steady_ps),
                                  OF(th_fixed_work, operations), OF(th_fixed_work, bytes),
                                  OF(th_fixed_work, waiting_ps)},
                        collective[] = {OF(th_collective, kind),    OF(th_collective, bytes),
                                        OF(th_collective, root),    OF(th_collective, chunks),
                                        OF(th_collective, n_dims),  OF(th_collective, delay_ps),
                                        OF(th_collective, dims[0]), OF(th_collective, slowdown)},
                        job[] = {OF(th_program_job, start_ps), OF(th_program_job, first_task),
                                 OF(th_program_job, n_tasks)},
                        placed[] = {OF(th_placed_work, accel), OF(th_placed_work, design),
                                    OF(th_placed_work, shard.dim[3])},
                        step[] = {OF(th_user_schedule_step, peer),
                                  OF(th_user_schedule_step, channel),
                                  OF(th_user_schedule_step, size.bytes),
                                  OF(th_user_schedule_step, size.a),
                                  OF(th_user_schedule_step, size.b),
                                  OF(th_user_schedule_step, at.bytes)},
                        one[] = {{0, sizeof(int32_t)}}, wide[] = {{0, sizeof(int64_t)}};
    th_hand_built *m = program();
    th_program *p = m->program;
    th_program_job jobs[] = {{.name = "j", .n_tasks = 1}};
    p->jobs = jobs;
    p->n_jobs = 1;
    for (int i = 0; i < p->n_tasks; i++)
        check(m, &p->tasks[i], task, COUNT(task));
    for (int i = 0; i < p->n_collectives; i++)
        check(m, &p->collectives[i], collective, i == 0 ? COUNT(collective) : 6);
    check(m, &p->works[0], work, COUNT(work));
    check(m, p->placed, placed, COUNT(placed));
    check(m, jobs, job, COUNT(job));
    for (int i = 0; i < 3; i++)
        check(m, &p->collectives[0].rank_node[i], one, 1);
    for (int i = 0; i < 9; i++)
        check(m, &p->collectives[0].pair_bytes[i], wide, 1);
    for (int i = 0; i < (int)p->n_dependencies; i++) {
        check(m, &p->edge_from[i], one, 1);
        check(m, &p->edge_to[i], one, 1);
    }
    for (int i = 0; i < m->schedules[0]->n_steps; i++)
        check(m, &m->schedules[0]->steps[i], step, COUNT(step));
    const uint64_t of = th_hand_built_digest(m);
    p->collectives[0].algorithm = &th_algorithm_pairwise;
    CU_ASSERT_NOT_EQUAL(th_hand_built_digest(m), of);
    p->jobs = NULL;
    p->n_jobs = 0;
    th_hand_built_free(m);
}

TAP_MAIN("program_digest")
