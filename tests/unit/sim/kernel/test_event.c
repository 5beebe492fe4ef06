/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/kernel/event.h"
#include "base/alloc.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

static int compare(const void *a, const void *b)
{
    const th_event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void assert_pops(th_events *q, const th_event *expected, int n)
{
    th_event e;
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += !th_events_pop(q, &e) || memcmp(&e, &expected[i], sizeof e) != 0;
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_FALSE(th_events_pop(q, &e));
    CU_ASSERT_EQUAL(th_events_count(q), 0);
}

/* Each field decides only when those before it are equal; the argument never does. */
TEST(leaves_in_order_of_time_priority_object_sequence)
{
    const th_event sorted[] = {
        {-3, TH_PRIORITY_SAMPLE, 9, 9, 1}, {7, TH_PRIORITY_PROPERTY, 0xffffffff, 5, 2},
        {7, TH_PRIORITY_START, 2, 8, 3},   {7, TH_PRIORITY_START, 3, 4, 9},
        {7, TH_PRIORITY_START, 3, 6, 2},   {8, TH_PRIORITY_PROPERTY, 0, 0, 0},
    };
    auto_events *q = th_events_new();
    const int order[] = {5, 3, 0, 4, 2, 1};
    for (int i = 0; i < 6; i++)
        CU_ASSERT_TRUE(th_events_push(q, &sorted[order[i]]) >= 0);
    CU_ASSERT_EQUAL(th_events_count(q), 6);
    assert_pops(q, sorted, 6);
    th_events_free(NULL);
}

/* Fields are drawn from few values, so that ties are many; keys differ in the sequence at least. */
TEST(random_orders_of_pushing_leave_sorted)
{
    enum { N = 3000 };
    static th_event all[N], sorted[N];
    auto_rng *r = th_random_stream(11, "event", 0);
    auto_events *q = th_events_new();
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++)
            all[i] = (th_event){pick(r, 0, 40), (uint32_t)pick(r, 0, 6), (uint32_t)pick(r, 0, 3),
                                (uint32_t)i, 5};
        memcpy(sorted, all, sizeof all);
        qsort(sorted, N, sizeof *sorted, compare);
        for (int i = N - 1; i > 0; i--) {
            int j = (int)pick(r, 0, i);
            th_event e = all[i];
            all[i] = all[j];
            all[j] = e;
        }
        for (int i = 0; i < N; i++)
            th_events_push(q, &all[i]);
        assert_pops(q, sorted, N);
    }
}

TEST(cancels_and_reschedules)
{
    auto_events *q = th_events_new();
    th_event e;
    th_event_handle h[6];
    for (int i = 0; i < 6; i++)
        h[i] = th_events_push(q, &(th_event){10 * i, TH_PRIORITY_READY, (uint32_t)i, 0, 0});
    th_events_cancel(q, h[0]);
    th_events_reschedule(q, h[4], 5);  /* earlier */
    th_events_reschedule(q, h[1], 45); /* later */
    th_events_reschedule(q, h[2], 20); /* as it was */
    const uint32_t order[] = {4, 2, 3, 1, 5};
    for (int i = 0; i < 5; i++) {
        CU_ASSERT_TRUE(th_events_peek(q, &e) && e.object == order[i]);
        CU_ASSERT_TRUE(th_events_pop(q, &e) && e.object == order[i]);
    }
    CU_ASSERT_FALSE(th_events_peek(q, &e));
    th_events_push(q, &(th_event){.time = 3});
    th_events_reset(q);
    CU_ASSERT_FALSE(th_events_peek(q, &e));
    CU_ASSERT_EQUAL(th_events_push(q, &(th_event){.time = 4}), 0);
}

/* --- against a list that does everything by looking at all ------------------------------------ */

enum { LIST_MAX = 400 };
static struct {
    th_event e;
    th_event_handle handle;
} list[LIST_MAX];
static int n_list;

static int first_of_list(void)
{
    int best = 0;
    for (int i = 1; i < n_list; i++)
        if (compare(&list[i].e, &list[best].e) < 0)
            best = i;
    return best;
}

static bool handle_is_taken(th_event_handle h)
{
    for (int i = 0; i < n_list; i++)
        if (list[i].handle == h)
            return true;
    return false;
}

/* Anywhere, or (is_rising) almost always later than those before. */
static bool is_rising;

static th_time draw_time(gsl_rng *r, uint32_t number)
{
    return is_rising ? 4 * (th_time)number + pick(r, 0, 9) : pick(r, 0, 60);
}

/* One random operation on both; 0 when they agree. */
static int one_operation(th_events *q, gsl_rng *r, uint32_t number)
{
    int64_t what = pick(r, 0, 9);
    if (n_list == 0 || (what < 4 && n_list < LIST_MAX)) {
        th_event e = {draw_time(r, number), (uint32_t)pick(r, 0, 6), (uint32_t)pick(r, 0, 5),
                      number, number * 7};
        th_event_handle h = th_events_push(q, &e);
        if (h < 0 || handle_is_taken(h))
            return 1;
        list[n_list].e = e;
        list[n_list++].handle = h;
        return 0;
    }
    int i = (int)pick(r, 0, n_list - 1);
    if (what < 6) {
        list[i].e.time = draw_time(r, number);
        th_events_reschedule(q, list[i].handle, list[i].e.time);
        return 0;
    }
    if (what == 6) {
        th_events_cancel(q, list[i].handle);
        list[i] = list[--n_list];
        return 0;
    }
    th_event e;
    i = first_of_list();
    if (!th_events_pop(q, &e) || memcmp(&e, &list[i].e, sizeof e) != 0)
        return 1;
    list[i] = list[--n_list];
    return 0;
}

static void agree_with_a_list(bool rising)
{
    auto_rng *r = th_random_stream(5, "operations", 0);
    auto_events *q = th_events_new();
    int wrong = 0;
    n_list = 0;
    is_rising = rising;
    for (uint32_t i = 0; i < 100000 && !wrong; i++)
        wrong += one_operation(q, r, i) || th_events_count(q) != n_list;
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(a_hundred_thousand_operations_agree_with_a_list)
{
    agree_with_a_list(false);
}

TEST(operations_on_rising_times_agree_with_a_list)
{
    agree_with_a_list(true);
}

/* Events that are pushed and moved again and again while the first stays take no more memory, and
 * all that were pushed in order can be moved into another one. */
TEST(gaps_take_no_memory)
{
    enum { N = 1000 };
    th_events *q = th_events_new();
    th_event_handle handle[N];
    th_event e = {0};
    int64_t calls = 0;
    th_events_push(q, &e);
    for (int round = 0; round < 50; round++) {
        if (round == 10)
            calls = th_alloc_calls();
        for (int i = 0; i < N; i++)
            handle[i] = th_events_push(q, &(th_event){.time = round * N + i + 1});
        for (int i = 0; i < N; i++)
            th_events_reschedule(q, handle[i], (round + 1) * N - i);
        for (int i = 0; i < N; i++)
            th_events_cancel(q, handle[i]);
        CU_ASSERT_EQUAL(th_events_count(q), 1);
    }
    CU_ASSERT_EQUAL(th_alloc_calls(), calls);
    for (int i = 0; i < N; i++)
        handle[i] = th_events_push(q, &(th_event){.time = i + 1});
    for (int i = 0; i < N; i++)
        th_events_reschedule(q, handle[i], N - i);
    for (int i = 0; i <= N; i++)
        CU_ASSERT_TRUE(th_events_pop(q, &e) && e.time == i);
    th_events_free(q);
}

/* Whatever allocation fails: TH_NO_EVENT, what was pending stays, and the next push succeeds. */
TEST(a_push_without_memory_changes_nothing)
{
    for (int64_t k = 1; k < 12; k++) {
        int64_t live = th_alloc_live();
        int failed = 0, pushed = 0;
        th_alloc_fail_at(k);
        th_events *q = th_events_new();
        for (int i = 0; q && i < 100; i++) {
            bool ok = th_events_push(q, &(th_event){100 - i, 2, 3, 4, 5}) != TH_NO_EVENT;
            pushed += ok;
            failed += !ok;
            CU_ASSERT_EQUAL(th_events_count(q), pushed);
        }
        CU_ASSERT_TRUE(failed <= 1);
        th_alloc_fail_at(0);
        th_time last = 0;
        th_event e;
        while (q && th_events_pop(q, &e)) {
            CU_ASSERT_TRUE(e.time > last);
            last = e.time;
        }
        th_events_free(q);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
}

TAP_MAIN("event")
