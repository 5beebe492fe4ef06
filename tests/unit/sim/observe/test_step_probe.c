/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/observe/step_probe.h"
#include "tests/unit/tap.h"

static th_program *three_tasks(void)
{
    th_error err;
    th_program *p = th_program_new(&err);
    for (int i = 0; i < 3; i++)
        th_program_add(p, &(th_task){.kind = TH_TASK_HOST, .node = -1, .layer = -1}, &err);
    th_program_finish(p, &err);
    return p;
}

/* Of the events of tasks 0 and 2 alone, the third stops the run; messages do not count then. */
TEST(counts_events_of_chosen_tasks)
{
    th_error err;
    th_step_probe p;
    const bool chosen[] = {true, false, true};
    auto_program *program = three_tasks();
    CU_ASSERT_EQUAL(
        th_step_probe_init(&p, &(th_step_choice){.tasks = chosen}, 3, NULL, program, 0, &err), 0);
    const th_observer_type *type = p.observer.type;
    type->task_start(&p.observer, 1, 0);
    type->task_start(&p.observer, 2, 1);
    type->message_start(&p.observer, 3, 0, 7, &(th_message){.bytes = 5});
    type->task_end(&p.observer, 4, 0);
    CU_ASSERT_TRUE(p.left == 1 && !p.observer.stops_run);
    type->task_start(&p.observer, 9, 2);
    CU_ASSERT_TRUE(p.left == 0 && p.observer.stops_run);
    CU_ASSERT_TRUE(p.last.at == 9 && p.last.kind == TH_HAPPENED_TASK_START && p.last.object == 2);
    th_step_probe_clear(&p);
}

/* Without a choice, messages count, and the last is kept. */
TEST(counts_messages)
{
    th_error err;
    th_step_probe p;
    auto_program *program = three_tasks();
    th_step_probe_init(&p, &(th_step_choice){.unit = TH_STEP_EVENT}, 2, NULL, program, 0, &err);
    p.observer.type->task_end(&p.observer, 4, 1);
    p.observer.type->message_end(&p.observer, 6, 7, &(th_message){.src = 3, .bytes = 5});
    CU_ASSERT_TRUE(p.left == 0 && p.last.kind == TH_HAPPENED_MESSAGE_END);
    CU_ASSERT_TRUE(p.last.message.src == 3 && p.last.message.bytes == 5 && p.last.at == 6);
    th_step_probe_clear(&p);
}

/* The array computes tiles 1 and 2 at once, then another task begins, and its first tile ends:
 * three tiles. A stall in between is none. */
TEST(counts_tiles_of_one_task_after_the_other)
{
    th_error err;
    th_step_probe p;
    auto_program *program = three_tasks();
    th_step_probe_init(&p, &(th_step_choice){.unit = TH_STEP_TILE}, 3, NULL, program, 0, &err);
    const th_observer_type *type = p.observer.type;
    CU_ASSERT_EQUAL(type->tile_window(&p.observer, 0).until, TH_TIME_MAX);
    type->tiles(&p.observer, 10, 0, &(th_tiles){.done = 2});
    CU_ASSERT_TRUE(p.left == 1 && p.last.tile == 2);
    type->tiles(&p.observer, 11, 0, &(th_tiles){.done = 2, .array = TH_ARRAY_STALLS_INPUT});
    type->task_end(&p.observer, 12, 0);
    type->tiles(&p.observer, 13, 0, &(th_tiles){.done = 0});
    CU_ASSERT_TRUE(p.left == 1 && !p.observer.stops_run);
    type->tiles(&p.observer, 15, 0, &(th_tiles){.done = 1});
    CU_ASSERT_TRUE(p.left == 0 && p.observer.stops_run && p.last.tile == 1 && p.last.at == 15);
    th_step_probe_clear(&p);
}

TAP_MAIN("step_probe")
