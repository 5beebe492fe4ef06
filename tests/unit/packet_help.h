/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet_help.h - systems, and transfers through the packet network, for its tests. */
#ifndef TH_TESTS_UNIT_PACKET_HELP_H
#define TH_TESTS_UNIT_PACKET_HELP_H
#include "sim/network/packet/packet.h"
#include "tests/unit/auto_network.h"
#include "tests/unit/bare_system.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

#define NS 1000 /* ps */

static inline void connect(th_system *s, int a, int b, int64_t bits_per_s, int latency_ns)
{
    th_system_add_cable(s, a, b, th_cable_symmetric(bits_per_s, (th_time)latency_ns * NS, true),
                        NULL);
}

static inline th_system *finish(th_system *s)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(th_system_finish(s, &e), 0);
    return s;
}

/* Each node sends to the next one only: every route goes round. */
static inline th_system *one_way_ring(int n)
{
    th_system *s = new_system(n, 100);
    for (int i = 0; i < n; i++)
        th_system_add_link(s, i, (i + 1) % n, th_system_add_medium(s, GB, NULL), 100 * NS, NULL);
    return finish(s);
}

typedef struct {
    th_time at;
    int src, dst;
    int64_t bytes;
    th_time end; /* -1: has not begun, -2: has not arrived */
} transfer;

static inline int begin(th_network *n, th_events *q, th_time now, transfer *t, int count,
                        bool backwards)
{
    int failed = 0;
    for (int i = 0; i < count; i++) {
        int k = backwards ? count - 1 - i : i;
        if (t[k].at != now || t[k].end != -1)
            continue;
        t[k].end = -2;
        failed |= n->type->start(n, q, now, k, &(th_message){t[k].src, t[k].dst, t[k].bytes, 0});
    }
    return failed;
}

/* As the machine does: what happens at one instant, then settle. 0, or -1: n->why. */
static inline int drive_network(th_network *n, transfer *t, int count, bool backwards)
{
    th_events *q = th_events_new();
    th_event e;
    int failed = 0;
    for (int i = 0; i < count; i++)
        t[i].end = -1;
    n->type->reset(n);
    for (th_time now = 0; now < TH_TIME_MAX && !failed;) {
        while (th_events_peek(q, &e) && e.time == now) {
            th_events_pop(q, &e);
            if (n->type->event(n, q, now, &e))
                t[e.object].end = now;
        }
        failed = begin(n, q, now, t, count, backwards) || n->type->settle(n, q, now);
        th_time then = th_events_peek(q, &e) ? e.time : TH_TIME_MAX;
        for (int i = 0; i < count; i++)
            if (t[i].at > now && t[i].at < then)
                then = t[i].at;
        now = then;
    }
    th_events_free(q);
    return failed ? -1 : 0;
}

static inline th_network *create(const th_system *s, const th_network_options *o)
{
    th_error e = {"", ""};
    th_network *n = th_network_find("packet")->create(s, o, &e);
    if (!n)
        printf("# %s %s\n", e.id, e.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(n);
    return n;
}

static inline void drive(const th_system *s, const th_network_options *o, transfer *t, int count)
{
    auto_network *n = create(s, o);
    CU_ASSERT_EQUAL(drive_network(n, t, count, false), 0);
}

/* A ring with chords of different speeds and a half-duplex one. */
static inline th_system *random_cables(gsl_rng *r, th_system *s, int n)
{
    for (int i = 0; i < n; i++)
        connect(s, i, (i + 1) % n, pick(r, 1, 4) * GB / 4, (int)pick(r, 0, 300));
    for (int i = 0; i < n / 2; i++) {
        int a = (int)pick(r, 0, n - 1), b = (a + (int)pick(r, 2, n - 2)) % n;
        th_system_add_cable(
            s, a, b, th_cable_symmetric(pick(r, 1, 4) * GB / 4, 50 * NS, pick(r, 0, 1)), NULL);
    }
    return finish(s);
}

static inline th_system *random_system(gsl_rng *r, int n)
{
    return random_cables(r, new_system(n, 100), n);
}

#endif
