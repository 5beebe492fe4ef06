/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/observe/link_probe.h"
#include "tests/unit/tap.h"

/* One flow from 10 to 60 ps, another from 30 to 90; windows of 25 ps: 15, 5 + 2 x 20, 2 x 10 + 15,
 * 15. */
TEST(adds_up_flows_span_by_span)
{
    static const th_time expected[] = {15, 45, 35, 15};
    static const int32_t most[] = {1, 2, 2, 1};
    th_link_probe w;
    th_link_probe_init(&w, 7, 100, 4);
    CU_ASSERT_TRUE(w.n_windows == 4 && w.window_ps == 25 && w.link == 7);
    th_link_probe_advance(&w, 10, 1);
    th_link_probe_advance(&w, 30, 1);
    th_link_probe_advance(&w, 60, -1);
    th_link_probe_advance(&w, 90, -1);
    th_link_probe_advance(&w, 100, 0);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_TRUE(w.windows[i].flow_ps == expected[i] && w.windows[i].peak_flows == most[i]);
}

/* 103 ps in 4 windows of 26: the last is shorter. What comes later is dropped. */
TEST(covers_what_cannot_be_divided)
{
    th_link_probe w;
    th_link_probe_init(&w, 0, 103, 4);
    CU_ASSERT_TRUE(w.window_ps == 26 && w.n_windows == 4);
    th_link_probe_advance(&w, 0, 3);
    th_link_probe_advance(&w, 103, 0);
    CU_ASSERT_EQUAL(w.windows[3].flow_ps, 3 * 25);
    th_link_probe_advance(&w, 104, 5); /* in the rest of the last window */
    th_link_probe_advance(&w, 5000, 0);
    CU_ASSERT_EQUAL(w.windows[3].flow_ps, 3 * 26);
    CU_ASSERT_EQUAL(w.windows[3].peak_flows, 3);
}

/* Time that is too short for as many windows as asked for, or none at all. */
TEST(has_fewer_spans_for_little_time)
{
    th_link_probe w;
    th_link_probe_init(&w, 0, 3, 20);
    CU_ASSERT_TRUE(w.n_windows == 3 && w.window_ps == 1);
    th_link_probe_init(&w, 0, 0, 20);
    CU_ASSERT_TRUE(w.n_windows == 1 && w.window_ps == 1);
    th_link_probe_advance(&w, 0, 2);
    CU_ASSERT_TRUE(w.windows[0].peak_flows == 2 && w.windows[0].flow_ps == 0);
}

TAP_MAIN("link_probe")
