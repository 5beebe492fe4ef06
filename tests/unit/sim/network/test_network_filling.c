/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_network_filling.c - random flows, and engines beside them, against progressive filling done
 * naively. */
#include <config.h>
#include "tests/unit/network_help.h"
#include "topology/routing/route.h"

/* --- progressive filling, naively ------------------------------------------------------------- */

enum { FLOWS_MAX = 200, MEDIA_MAX = 400, HOPS_MAX = 40 };
typedef struct {
    int n, medium[HOPS_MAX];
    double rate;
    bool fixed;
} naive_flow;

/* Rates of the flows for which in[i] holds. */
static void naive_rates(const double *capacity, int n_media, naive_flow *f, const bool *in, int n)
{
    static double left[MEDIA_MAX];
    static int users[MEDIA_MAX];
    memcpy(left, capacity, (size_t)n_media * sizeof *left);
    for (int i = 0; i < n; i++) {
        f[i].fixed = !in[i];
        f[i].rate = 0;
    }
    for (;;) {
        int best = -1;
        memset(users, 0, sizeof users);
        for (int i = 0; i < n; i++)
            for (int h = 0; !f[i].fixed && h < f[i].n; h++)
                users[f[i].medium[h]]++;
        for (int m = 0; m < n_media; m++)
            if (users[m] && (best < 0 || left[m] / users[m] < left[best] / users[best]))
                best = m;
        if (best < 0)
            return;
        double share = left[best] / users[best];
        for (int i = 0; i < n; i++) {
            bool uses = false;
            for (int h = 0; h < f[i].n; h++)
                uses |= f[i].medium[h] == best;
            if (f[i].fixed || !uses)
                continue;
            f[i].fixed = true;
            f[i].rate = share;
            for (int h = 0; h < f[i].n; h++)
                left[f[i].medium[h]] -= share;
        }
    }
}

/* Links of the route, and the DRAM at both ends, whatever it is (medium n_media + accelerator). */
static naive_flow naive_route(const th_system *s, int src, int dst)
{
    naive_flow f = {0};
    int links[TH_ROUTE_MAX], n = th_route(s, src, dst, links);
    for (int i = 0; i < n; i++)
        f.medium[f.n++] = s->links[links[i]].medium;
    f.medium[f.n++] = s->n_media + s->nodes[src].accel;
    f.medium[f.n++] = s->n_media + s->nodes[dst].accel;
    return f;
}

static th_time latency(const th_system *s, int src, int dst)
{
    th_route_summary r;
    th_route_summarize(s, src, dst, &r);
    return r.latency_ps;
}

/* The ends of the transfers, in doubles. */
static void naive_run(const th_system *s, const double *capacity, const transfer *t, int n,
                      double *end)
{
    static naive_flow f[FLOWS_MAX];
    bool active[FLOWS_MAX] = {false}, over[FLOWS_MAX] = {false};
    double left[FLOWS_MAX], now = 0;
    for (int i = 0; i < n; i++) {
        f[i] = naive_route(s, t[i].src, t[i].dst);
        left[i] = (double)t[i].bytes;
    }
    for (;;) {
        double next = INFINITY;
        int which = -1;
        naive_rates(capacity, s->n_media + s->n_accels, f, active, n);
        for (int i = 0; i < n; i++) {
            double at = over[i]     ? INFINITY
                        : active[i] ? now + left[i] / f[i].rate * 1e12
                                    : (double)(t[i].at + latency(s, t[i].src, t[i].dst));
            if (at < next) {
                next = at;
                which = i;
            }
        }
        if (which < 0)
            return;
        for (int i = 0; i < n; i++)
            if (active[i])
                left[i] -= f[i].rate * (next - now) * 1e-12;
        over[which] = active[which];
        if (active[which])
            end[which] = next;
        active[which] = !active[which];
        now = next;
    }
}

/* A tree with some more cables, of random widths and latencies, DRAMs from tight to wide. */
static th_system *random_system(gsl_rng *r, int n)
{
    th_system *s = new_system(n, 1);
    for (int i = 1; i < n; i++)
        th_system_add_cable(
            s, i, (int)pick(r, 0, i - 1),
            th_cable_symmetric(pick(r, 1, 16) * GB / 4, pick(r, 0, 2000000), pick(r, 0, 1)), NULL);
    for (int i = 0; i < n / 2; i++) {
        int a = (int)pick(r, 0, n - 1), b = (int)pick(r, 0, n - 1);
        if (a != b)
            th_system_add_cable(
                s, a, b,
                th_cable_symmetric(pick(r, 1, 16) * GB / 4, pick(r, 0, 2000000), pick(r, 0, 1)),
                NULL);
    }
    for (int i = 0; i < n; i++)
        s->nodes[i].a.dram_bits_per_s = pick(r, 0, 2) ? pick(r, 1, 60) * GB / 2 : 1000 * GB;
    finish(s);
    return s;
}

static void capacities(const th_system *s, double *capacity)
{
    for (int m = 0; m < s->n_media; m++)
        capacity[m] = (double)s->media[m].bits_per_s / 8;
    for (int a = 0; a < s->n_accels; a++)
        capacity[s->n_media + a] = (double)s->nodes[s->accel_node[a]].a.dram_bits_per_s / 8;
}

static double moved;

/* Integrates what the accelerators draw. */
static void integrate(th_network *n, th_time now, th_time next)
{
    if (next == TH_TIME_MAX)
        return;
    for (int a = 0; a < n->system->n_accels; a++)
        moved += th_network_dram_demand(n, a) * (double)(next - now) * 1e-12;
}

/* Ends agree to some ps per flow (each end is rounded up to one); what accelerators drew is what
 * was sent and received; the links carried it. */
TEST(random_flows_agree_with_naive_filling)
{
    auto_rng *r = th_random_stream(41, "flows", 0);
    for (int round = 0; round < 60; round++) {
        auto_system *s = random_system(r, (int)pick(r, 2, 12));
        transfer t[FLOWS_MAX];
        double end[FLOWS_MAX], capacity[MEDIA_MAX], bytes = 0;
        int n = (int)pick(r, 1, 120), wrong = 0;
        th_time at = 0;
        int64_t hops = 0, carried = 0;
        for (int i = 0; i < n; i++) {
            int src = (int)pick(r, 0, s->n_nodes - 1), dst = (int)pick(r, 0, s->n_nodes - 2),
                links[TH_ROUTE_MAX];
            t[i] = (transfer){at, src, dst < src ? dst : dst + 1, pick(r, 1, 100000), 0};
            at += pick(r, 0, 3) ? pick(r, 0, 20000000) : 0;
            bytes += 2 * (double)t[i].bytes;
            hops += t[i].bytes * th_route(s, t[i].src, t[i].dst, links);
        }
        capacities(s, capacity);
        naive_run(s, capacity, t, n, end);
        auto_network *net = th_network_find("fluid")->create(s, &defaults, NULL);
        net->type->reset(net);
        moved = 0;
        drive_network(net, t, n, integrate);
        for (int i = 0; i < n; i++)
            wrong += t[i].end < 0 || fabs((double)t[i].end - end[i]) > 20.0 * n;
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_DOUBLE_EQUAL(moved, bytes, 2 + 0.1 * n);
        static int64_t on_link[MEDIA_MAX];
        memset(on_link, 0, sizeof on_link);
        for (int i = 0; i < n; i++) {
            int links[TH_ROUTE_MAX], hop = th_route(s, t[i].src, t[i].dst, links);
            while (--hop >= 0)
                on_link[links[hop]] += t[i].bytes;
        }
        for (int l = 0; l < s->n_links; l++) {
            carried += net->link_bytes[l];
            CU_ASSERT_EQUAL(net->link_bytes[l], on_link[l]);
        }
        CU_ASSERT_EQUAL(carried, hops);
    }
}

/* --- one instant: flows and engines together -------------------------------------------------- */

typedef struct {
    unsigned mask;
    double port[TH_N_ENGINES];
} demand;

/* Fair shares of what flows leave of a DRAM, each engine behind its port. */
static void fair_rest(double left, const demand *d, double *rate)
{
    unsigned open = d->mask;
    while (open) {
        int n = 0, least = -1;
        for (int e = 0; e < TH_N_ENGINES; e++) {
            n += open >> e & 1;
            if (open >> e & 1 && (least < 0 || d->port[e] < d->port[least]))
                least = e;
        }
        rate[least] = d->port[least] < left / n ? d->port[least] : left / n;
        left -= rate[least];
        open &= ~(1u << least);
    }
}

/* The one problem: links, every DRAM, every engine behind its port. Draws into draw, engines' rates
 * into rate. */
static void naive_instant(const th_system *s, const transfer *t, int n, const demand *d,
                          double *draw, double *rate)
{
    static naive_flow f[FLOWS_MAX];
    bool in[FLOWS_MAX];
    double capacity[MEDIA_MAX];
    int media = s->n_media + s->n_accels, all = n;
    capacities(s, capacity);
    for (int i = 0; i < n; i++) {
        f[i] = naive_route(s, t[i].src, t[i].dst);
        in[i] = true;
    }
    for (int a = 0; a < s->n_accels; a++) {
        for (int e = 0; e < TH_N_ENGINES; e++) {
            capacity[media] = d[a].port[e];
            in[all] = d[a].mask >> e & 1;
            f[all++] = (naive_flow){.n = 2, .medium = {media++, s->n_media + a}};
        }
    }
    naive_rates(capacity, media, f, in, all);
    memset(draw, 0, (size_t)s->n_accels * sizeof *draw);
    for (int i = 0; i < n; i++) {
        draw[s->nodes[t[i].src].accel] += f[i].rate;
        draw[s->nodes[t[i].dst].accel] += f[i].rate;
    }
    for (int i = n; i < all; i++)
        rate[i - n] = f[i].rate;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-3;
}

/* Engines of an accelerator that is not shared get what the pipeline computes from the draw: the
 * same. */
static int compare_instant(th_network *n, const demand *d, const double *draw, const double *rate)
{
    int wrong = 0;
    for (int a = 0; a < n->system->n_accels; a++) {
        double own[TH_N_ENGINES] = {0};
        fair_rest((double)n->system->nodes[a].a.dram_bits_per_s / 8 - draw[a], &d[a], own);
        wrong += !near(th_network_dram_demand(n, a), draw[a]);
        for (int e = 0; e < TH_N_ENGINES; e++) {
            if (d[a].mask >> e & 1)
                wrong += !near(n->is_shared[a] ? n->engine_rate[a * TH_N_ENGINES + e] : own[e],
                               rate[a * TH_N_ENGINES + e]);
        }
    }
    return wrong;
}

TEST(rates_with_engines_agree_with_naive_filling)
{
    auto_rng *r = th_random_stream(43, "engines", 0);
    int shared = 0, wrong = 0, all = 0;
    for (int round = 0; round < 400; round++) {
        auto_system *s = random_system(r, (int)pick(r, 2, 10));
        transfer t[FLOWS_MAX];
        demand d[16];
        double draw[16], rate[16 * TH_N_ENGINES];
        int n = (int)pick(r, 1, 60);
        auto_network *net = th_network_find("fluid")->create(s, &defaults, NULL);
        auto_events *q = th_events_new();
        th_event e;
        net->type->reset(net);
        for (int i = 0; i < n; i++) {
            int src = (int)pick(r, 0, s->n_nodes - 1), dst = (int)pick(r, 0, s->n_nodes - 2);
            t[i] = (transfer){0, src, dst < src ? dst : dst + 1, 1000000000000, 0};
            net->type->start(net, q, 0, i, &(th_message){t[i].src, t[i].dst, t[i].bytes, 0});
        }
        while (th_events_pop(q, &e)) /* all enter; an instant is enough here */
            CU_ASSERT_FALSE(net->type->event(net, q, 0, &e));
        for (int again = 0; again < 3; again++) { /* engines come and go */
            for (int a = 0; a < s->n_accels; a++) {
                if (again == 0)
                    for (int i = 0; i < TH_N_ENGINES; i++)
                        d[a].port[i] = (double)pick(r, 1, 200) * 0.1e9;
                d[a].mask = (unsigned)pick(r, 0, 7);
                if (net->is_shared[a])
                    CU_ASSERT_EQUAL(net->type->demand(net, a, d[a].mask, d[a].port), 0);
                shared += net->is_shared[a];
                all++;
            }
            CU_ASSERT_EQUAL(net->type->settle(net, q, 0), 0);
            naive_instant(s, t, n, d, draw, rate);
            wrong += compare_instant(net, d, draw, rate);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(shared > all / 10 && shared < all); /* both kinds were there */
}

TAP_MAIN("network_filling")
