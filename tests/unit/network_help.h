/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network_help.h - small systems, and transfers through a network as the machine has them. */
#ifndef TH_TESTS_UNIT_NETWORK_HELP_H
#define TH_TESTS_UNIT_NETWORK_HELP_H
#include "sim/network/stripes.h"
#include "tests/unit/auto_network.h"
#include "tests/unit/bare_system.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

static const th_network_options defaults;

static inline void finish(th_system *s)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(th_system_finish(s, &e), 0);
}

typedef struct {
    th_time at;
    int src, dst;
    int64_t bytes;
    th_time end; /* -1: has not arrived */
} transfer;

/* Called after every settle. */
typedef void watcher(th_network *n, th_time now, th_time next);

/* Replays the transfers (by time of start) as the machine does: what happens at one instant, then
 * settle. */
static inline void drive_network(th_network *n, transfer *t, int count, watcher *watch)
{
    auto_events *q = th_events_new();
    th_event e;
    int next = 0;
    th_time now = 0;
    for (int i = 0; i < count; i++)
        t[i].end = -1;
    while (next < count || th_events_count(q) > 0) {
        for (; next < count && t[next].at == now; next++)
            CU_ASSERT_EQUAL(
                th_network_send(n, q, now, next,
                                &(th_message){t[next].src, t[next].dst, t[next].bytes, 0, 0}),
                0);
        while (th_events_peek(q, &e) && e.time == now) {
            th_events_pop(q, &e);
            if (th_network_arrives(n, q, now, &e))
                t[e.object].end = now;
        }
        CU_ASSERT_EQUAL(n->type->settle(n, q, now), 0);
        th_time then = next < count ? t[next].at : TH_TIME_MAX;
        if (th_events_peek(q, &e) && e.time < then)
            then = e.time;
        if (watch)
            watch(n, now, then);
        if (then == TH_TIME_MAX)
            break;
        now = then;
    }
}

static inline void drive(const char *model, const th_system *s, transfer *t, int count)
{
    auto_network *n = th_network_find(model)->create(s, &defaults, NULL);
    n->type->reset(n);
    drive_network(n, t, count, NULL);
}

#endif
