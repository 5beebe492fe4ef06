/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/observe/contention_probe.h"
#include "tests/unit/tap.h"

enum { LINK = 7, OTHER = 3 };

static th_contention_probe watching(th_time end, int32_t n)
{
    static const th_system system = {.n_links = LINK + 1};
    th_contention_probe p;
    CU_ASSERT_EQUAL(th_contention_probe_init(&p, &system, NULL, end, n), 0);
    CU_ASSERT_EQUAL(th_contention_probe_watch_link(&p, OTHER), 0);
    CU_ASSERT_EQUAL(th_contention_probe_watch_link(&p, LINK), 0);
    return p;
}

static void change(th_contention_probe *p, th_time now, int32_t flows)
{
    p->observer.type->link(&p->observer, now, LINK, flows, 0);
}

/* One flow from 10 to 60 ps, another from 30 to 90; windows of 25 ps: 15, 5 + 2 x 20, 2 x 10 + 15,
 * 15. */
TEST(adds_up_flows_span_by_span)
{
    static const th_time expected[] = {15, 45, 35, 15};
    static const int32_t most[] = {1, 2, 2, 1};
    th_contention_probe p = watching(100, 4);
    CU_ASSERT_TRUE(p.n_windows == 4 && p.window_ps == 25);
    change(&p, 10, 1);
    change(&p, 30, 2);
    change(&p, 60, 1);
    change(&p, 90, 0);
    CU_ASSERT_EQUAL(th_contention_probe_finish(&p, 100), 0);
    const th_probe_window *w = th_contention_probe_windows(&p, LINK),
                          *other = th_contention_probe_windows(&p, OTHER);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_TRUE(w[i].flow_ps == (double)expected[i] && w[i].peak_flows == most[i]);
        CU_ASSERT_TRUE(other[i].flow_ps == 0 && other[i].peak_flows == 0);
    }
    const th_watched_link *l = &p.links[p.place[LINK]];
    CU_ASSERT_TRUE(l->shared_ps == 30 && l->longest_from == 30 && l->longest_to == 60);
    th_contention_probe_clear(&p);
}

/* 103 ps in 4 windows of 26: the last is shorter. What comes later is dropped. */
TEST(covers_what_cannot_be_divided)
{
    th_contention_probe p = watching(103, 4);
    CU_ASSERT_TRUE(p.window_ps == 26 && p.n_windows == 4);
    change(&p, 0, 3);
    change(&p, 103, 3);
    const th_probe_window *last = &th_contention_probe_windows(&p, LINK)[3];
    CU_ASSERT_EQUAL(last->flow_ps, 3 * 25);
    change(&p, 104, 8); /* in the rest of the last window */
    CU_ASSERT_EQUAL(th_contention_probe_finish(&p, 5000), 0);
    CU_ASSERT_TRUE(last->flow_ps == 3 * 26 && last->peak_flows == 3);
    th_contention_probe_clear(&p);
}

/* Time that is too short for as many windows as asked for, or none at all. */
TEST(has_fewer_spans_for_little_time)
{
    th_contention_probe p = watching(3, 20);
    CU_ASSERT_TRUE(p.n_windows == 3 && p.window_ps == 1);
    th_contention_probe_clear(&p);
    p = watching(0, 20);
    CU_ASSERT_TRUE(p.n_windows == 1 && p.window_ps == 1);
    change(&p, 0, 2);
    const th_probe_window *w = th_contention_probe_windows(&p, LINK);
    CU_ASSERT_TRUE(w->peak_flows == 2 && w->flow_ps == 0);
    th_contention_probe_clear(&p);
}

TAP_MAIN("contention_probe")
