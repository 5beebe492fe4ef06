/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_packet_periods.c - skipped periods of the packet network: the same picoseconds, ends and
 * statistics as without, at the end and wherever a run stops. */
#include <config.h>
#include "base/alloc.h"
#include "sim/machine/machine_state.h"
#include "sim/program/traffic.h"
#include "tests/unit/packet_help.h"
#include "topology/generate/generate.h"

enum { FLOWS = 24, STOPS = 6, SHOWN = 5, ROUNDS = 60 };

/* What a run shows: its ends in their order, and the links at each stop and at the end. */
typedef struct {
    int ended[FLOWS], n_ended;
    int64_t *shown; /* [STOPS + 1][n_links][SHOWN] */
    int32_t n_skips, n_stopped_in_skip;
} record;

static int64_t skips(const th_network *n)
{
    const th_flow_groups *g = &((const th_packet_network *)n)->groups;
    int64_t all = 0;
    for (size_t i = 0; i < g->n_groups; i++)
        all += g->groups[i]->n_skips;
    return all;
}

static void show(const th_network *n, th_time now, int64_t *out)
{
    for (int l = 0; l < n->system->n_links; l++, out += SHOWN) {
        int64_t flows = n->link_flows[l];
        out[0] = flows;
        out[1] = n->link_bytes[l];
        out[2] = n->link_busy_ps[l] + (flows > 0 ? now - n->link_since[l] : 0);
        out[3] = (int64_t)(n->link_flow_ps[l] + (uint64_t)flows * (uint64_t)now);
        out[4] = n->link_peak_flows[l];
    }
}

static th_time next_time(th_events *q, const transfer *t, th_time now)
{
    th_event e;
    th_time then = th_events_peek(q, &e) ? e.time : TH_TIME_MAX;
    for (int i = 0; i < FLOWS; i++)
        if (t[i].at > now && t[i].at < then)
            then = t[i].at;
    return then;
}

/* As drive_network, with stops, given in ascending order. */
static void drive_with_stops(th_network *n, transfer *t, const th_time *stops, record *r)
{
    th_events *q = th_events_new();
    th_event e;
    int stop = 0, failed = 0;
    for (int i = 0; i < FLOWS; i++)
        t[i].end = -1;
    r->n_ended = 0;
    n->type->reset(n);
    int64_t before = skips(n);
    for (th_time now = 0; now < TH_TIME_MAX && !failed;) {
        while (th_events_peek(q, &e) && e.time == now) {
            th_events_pop(q, &e);
            if (!n->type->event(n, q, now, &e))
                continue;
            t[e.object].end = now;
            r->ended[r->n_ended++] = (int)e.object;
        }
        failed |= begin(n, q, now, t, FLOWS, false) || n->type->settle(n, q, now);
        for (; stop < STOPS && next_time(q, t, now) > stops[stop]; stop++) {
            r->n_stopped_in_skip += ((th_packet_network *)n)->groups.n_suspended > 0;
            int caught_up = n->type->catch_up(n, q, now, stops[stop]);
            failed |= caught_up < 0;
            if (next_time(q, t, now) <= stops[stop])
                break;
            show(n, stops[stop], r->shown + (size_t)stop * (size_t)n->system->n_links * SHOWN);
        }
        now = next_time(q, t, now);
    }
    show(n, 0, r->shown + (size_t)STOPS * (size_t)n->system->n_links * SHOWN);
    r->n_skips += (int32_t)(skips(n) - before);
    CU_ASSERT_EQUAL(failed, 0);
    th_events_free(q);
}

/* Mostly long flows. Half of the systems have equal links, so that periods are short. */
static void random_transfers(gsl_rng *r, transfer *t, int n_nodes, int64_t packet_bytes)
{
    for (int i = 0; i < FLOWS; i++) {
        int64_t most = pick(r, 0, 3) ? 1500 : 20;
        t[i] = (transfer){pick(r, 0, 40) * 9333 * NS, (int)pick(r, 0, n_nodes - 1),
                          (int)pick(r, 0, n_nodes - 1), pick(r, 1, most * packet_bytes), -1};
    }
}

static th_network_options random_options(gsl_rng *r, const th_system *s)
{
    th_network_options o = {.packet_bytes = pick(r, 300, 700),
                            .buffer_bytes = pick(r, 0, 3) * 700,
                            .credit_delay_ps = pick(r, 0, 1) * 70 * NS,
                            .terminal_bits_per_s = pick(r, 0, 2) * GB / 2,
                            .n_crossbar_inputs = (int32_t)pick(r, 0, 2),
                            .allocation_cycle_ps = pick(r, 0, 1) * 30 * NS};
    th_channels *c = th_channels_new(s, o.terminal_bits_per_s > 0, NULL);
    o.n_virtual_channels = th_channels_needed(c) + (int32_t)pick(r, 0, 3);
    th_channels_free(c);
    return o;
}

static th_system *equal_links(gsl_rng *r, int n)
{
    th_system *s = new_system(n, 100);
    for (int i = 0; i < n; i++)
        connect(s, i, (i + 1) % n, GB, 100);
    for (int i = 0; i < n / 3; i++)
        th_system_add_cable(s, i, (i + (int)pick(r, 2, n - 2)) % n,
                            th_cable_symmetric(GB, 50 * NS, pick(r, 0, 1)), NULL);
    return finish(s);
}

static record new_record(const th_system *s)
{
    return (record){.shown =
                        th_alloc_zero((STOPS + 1) * (size_t)s->n_links, SHOWN * sizeof(int64_t))};
}

static int count_differences(const transfer *a, const transfer *b, const record *x, const record *y,
                             const th_system *s)
{
    int different = x->n_ended != y->n_ended;
    for (int i = 0; i < FLOWS; i++)
        different += a[i].end != b[i].end || x->ended[i] != y->ended[i];
    for (size_t i = 0; i < (STOPS + 1) * (size_t)s->n_links * SHOWN; i++)
        different += x->shown[i] != y->shown[i];
    return different;
}

/* Stops in the first half of the time that the slowest flow takes. */
static void random_stops(gsl_rng *r, const transfer *t, th_time *stops)
{
    th_time end = 0, at = 0;
    for (int i = 0; i < FLOWS; i++)
        end = t[i].end > end ? t[i].end : end;
    for (int i = 0; i < STOPS; i++)
        stops[i] = at += pick(r, 1, end / STOPS);
}

TEST(skipped_periods_change_nothing)
{
    gsl_rng *r = th_random_stream(5, "periods", 0);
    static transfer t[FLOWS], again[FLOWS];
    int64_t n_skips = 0, n_stopped = 0;
    for (int round = 0; round < TAP_REPEATS(ROUNDS); round++) {
        int nodes = (int)pick(r, 5, 16);
        th_system *s = round % 2 ? random_system(r, nodes) : equal_links(r, nodes);
        th_network_options o = random_options(r, s);
        th_network *skipping = create(s, &o);
        o.sends_every_packet = true;
        th_network *plain = create(s, &o);
        random_transfers(r, t, nodes, o.packet_bytes);
        memcpy(again, t, sizeof t);
        record a = new_record(s), b = new_record(s);
        th_time stops[STOPS] = {0};
        drive_with_stops(skipping, t, stops, &a);
        random_stops(r, t, stops);
        drive_with_stops(skipping, t, stops, &a);
        drive_with_stops(plain, again, stops, &b);
        CU_ASSERT_EQUAL(count_differences(t, again, &a, &b, s), 0);
        CU_ASSERT_EQUAL(b.n_skips, 0);
        n_skips += a.n_skips;
        n_stopped += a.n_stopped_in_skip;
        th_free(a.shown);
        th_free(b.shown);
        skipping->type->destroy(skipping);
        plain->type->destroy(plain);
        th_system_free(s);
    }
    printf("# %lld skips, %lld stops in them\n", (long long)n_skips, (long long)n_stopped);
    CU_ASSERT_TRUE(n_skips > 10 * TAP_REPEATS(ROUNDS) && n_stopped > TAP_REPEATS(ROUNDS));
    gsl_rng_free(r);
}

/* A message of 300 packets over two links, of which the k-th allocation fails. 0 or -1. */
static int drive_failing(th_network *n, int64_t k)
{
    th_events *q = th_events_new();
    th_event e;
    n->type->reset(n);
    th_alloc_fail_at(k);
    int failed = n->type->start(n, q, 0, 0, &(th_message){0, 2, 150000, 0});
    for (th_time now = 0; !failed; now = e.time) {
        while (th_events_peek(q, &e) && e.time == now) {
            th_events_pop(q, &e);
            n->type->event(n, q, now, &e);
        }
        failed = n->type->settle(n, q, now);
        if (!th_events_peek(q, &e))
            break;
    }
    th_alloc_fail_at(0);
    th_events_free(q);
    return failed;
}

TEST(a_failed_allocation_fails_the_run)
{
    th_system *s = new_system(3, 100);
    connect(s, 0, 1, GB, 100);
    connect(s, 1, 2, GB, 100);
    finish(s);
    const th_network_options o = {.packet_bytes = 500};
    int64_t n_failed = 0, n_skips = 0;
    for (int failed = -1; failed; n_failed++) {
        th_network *n = create(s, &o);
        failed = drive_failing(n, n_failed + 1);
        n_skips = skips(n);
        n->type->destroy(n);
    }
    CU_ASSERT_TRUE(n_failed > 20 && n_skips > 0);
    th_system_free(s);
}

/* --- machines --------------------------------------------------------------------------------- */

static bool is_interrupting;
static bool at_every_poll(void)
{
    return is_interrupting;
}

static const th_observer_type listening = {.restart = NULL};

/* 4 x 3, long messages over 20 ms. */
static th_system *mesh(th_program *p, int64_t message_bytes)
{
    const th_topology_options o = {.dims = {4, 3},
                                   .n_dims = 2,
                                   .bits_per_s = {GB},
                                   .latency_ps = {500 * NS},
                                   .n_bandwidths = 1,
                                   .n_latencies = 1,
                                   .host_latency_ps = -1};
    const th_traffic_options load = {.pattern = th_traffic_find_pattern("uniform"),
                                     .bytes_per_s = 2e8,
                                     .message_bytes = message_bytes,
                                     .cycle_ps = 1000 * NS,
                                     .duration_ps = 20000000 * (th_time)NS,
                                     .seed = 3};
    th_error e = {"", ""};
    th_system *prototype = shipped_system("ring8");
    th_system *s = th_topology_create("mesh", th_topology_find("mesh"), &o, prototype, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_TRUE(th_traffic_add(p, s, &load, &e) > 0);
    CU_ASSERT_EQUAL(th_program_finish(p, &e), 0);
    th_system_free(prototype);
    return s;
}

static th_machine *new_machine(const th_system *s, const th_compute_cost_cache *w,
                               const th_program *p, bool sends_every_packet)
{
    th_error e = {"", ""};
    const th_machine_options o = {.network = th_network_find("packet"),
                                  .network_options.sends_every_packet = sends_every_packet,
                                  .is_interrupted = sends_every_packet ? NULL : at_every_poll};
    th_machine *m = th_machine_new(s, w, &o, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    CU_ASSERT_EQUAL(th_machine_load(m, p, &e), 0);
    return m;
}

static int count_machine_differences(const th_machine *a, const th_machine *b, const th_program *p,
                                     const th_system *s)
{
    const th_task_result *x = th_machine_times(a), *y = th_machine_times(b);
    int different =
        th_machine_now(a) != th_machine_now(b) || th_machine_events(a) != th_machine_events(b);
    for (int32_t t = 0; t < p->n_tasks; t++)
        different += x[t].start_ps != y[t].start_ps || x[t].end_ps != y[t].end_ps;
    for (int l = 0; l < s->n_links; l++) {
        th_link_result i = th_machine_link(a, l), j = th_machine_link(b, l);
        different += i.bytes != j.bytes || i.busy_ps != j.busy_ps || i.flow_ps != j.flow_ps ||
                     i.peak_flows != j.peak_flows;
    }
    return different;
}

/* One of the ways to run on for a while. */
static th_stop move(th_machine *m, int way, th_time until, int64_t steps)
{
    th_error e = {"", ""};
    return way == 0   ? th_machine_step(m, steps, &e)
           : way == 1 ? th_machine_run_bounded(m, until, &e)
                      : th_machine_run_until(m, until, &e);
}

/* Stops by time, by count, by a bound and by interrupts, and an observer that comes and goes. */
TEST(stopped_machines_have_the_state_of_all_packets)
{
    gsl_rng *r = th_random_stream(8, "machine", 0);
    th_error e = {"", ""};
    th_program *p = th_program_new(&e);
    th_system *s = mesh(p, 1000000);
    th_compute_cost_cache *w = th_compute_cost_cache_new(s, &e);
    th_machine *skipping = new_machine(s, w, p, false), *plain = new_machine(s, w, p, true);
    th_observer observer = {.type = &listening};
    th_stop stop = TH_STOP_UNTIL;
    int different = 0, n_stops = 0;
    for (; stop != TH_STOP_DONE && n_stops < 1000; n_stops++) {
        int way = (int)pick(r, 0, 2);
        int64_t steps = pick(r, 1, 5);
        th_time until = th_machine_now(plain) + pick(r, 1, 1000000) * NS;
        CU_ASSERT_EQUAL(th_machine_observe(skipping, pick(r, 0, 3) ? NULL : &observer, &e), 0);
        is_interrupting = pick(r, 0, 1);
        th_stop first = way == 0 ? TH_STOP_UNTIL : move(skipping, way, until, steps);
        is_interrupting = false;
        if (way == 0 || first == TH_STOP_INTERRUPTED)
            move(skipping, way, until, steps);
        stop = move(plain, way, until, steps);
        different += count_machine_differences(skipping, plain, p, s);
    }
    CU_ASSERT_EQUAL(different, 0);
    CU_ASSERT_TRUE(n_stops > 20 && skips(skipping->network) > 20);
    CU_ASSERT_EQUAL(skips(plain->network), 0);
    th_machine_free(skipping);
    th_machine_free(plain);
    th_compute_cost_cache_free(w);
    th_program_free(p);
    th_system_free(s);
    gsl_rng_free(r);
}

TAP_MAIN("packet_periods")
