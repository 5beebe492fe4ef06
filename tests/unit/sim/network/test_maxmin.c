/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/network/fluid/maxmin.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

enum { LINKS_MAX = 60, FLOWS_MAX = 300, HOPS_MAX = 12 };

/* The system as the test sees it. */
typedef struct {
    int n_links, n_flows; /* flows: numbers below it, some of them not there */
    double capacity[LINKS_MAX];
    bool is_there[FLOWS_MAX];
    double weight[FLOWS_MAX];
    int32_t count[FLOWS_MAX]; /* equal flows that it stands for */
    int n_hops[FLOWS_MAX];
    int32_t hop[FLOWS_MAX][HOPS_MAX];
    double rate[FLOWS_MAX];
} plain;

/* Progressive filling as it is written in the books: looks at everything, again and again. */
static void fill_plainly(plain *p)
{
    long double left[LINKS_MAX];
    bool open[FLOWS_MAX];
    for (int l = 0; l < p->n_links; l++)
        left[l] = p->capacity[l];
    memcpy(open, p->is_there, sizeof open);
    for (;;) {
        int best = -1;
        long double best_level = INFINITY;
        for (int l = 0; l < p->n_links; l++) {
            long double shares = 0;
            for (int f = 0; f < p->n_flows; f++)
                for (int h = 0; open[f] && h < p->n_hops[f]; h++)
                    shares += p->hop[f][h] == l ? p->count[f] / p->weight[f] : 0;
            long double level = left[l] > 0 ? left[l] / shares : 0;
            if (shares > 0 && level < best_level) {
                best_level = level;
                best = l;
            }
        }
        if (best < 0)
            return;
        for (int f = 0; f < p->n_flows; f++) {
            bool uses = false;
            for (int h = 0; open[f] && h < p->n_hops[f]; h++)
                uses |= p->hop[f][h] == best;
            if (!uses)
                continue;
            open[f] = false;
            p->rate[f] = (double)(best_level / p->weight[f]);
            for (int h = 0; h < p->n_hops[f]; h++)
                left[p->hop[f][h]] -= p->count[f] * best_level / p->weight[f];
        }
    }
}

/* Rates as they should be; levels and bottlenecks that belong to them. What is lost when
 * rates are rounded to doubles is some last places of the greatest capacity. */
static int count_wrong(const th_maxmin *m, plain *p)
{
    int wrong = 0;
    double lost = 0;
    fill_plainly(p);
    for (int l = 0; l < p->n_links; l++)
        lost = fmax(lost, p->capacity[l] * 0x1p-51);
    for (int f = 0; f < p->n_flows; f++) {
        if (!p->is_there[f])
            continue;
        const th_maxmin_flow *w = &m->flow[f];
        double lowest = INFINITY;
        for (int h = 0; h < p->n_hops[f]; h++)
            lowest = fmin(lowest, m->level[p->hop[f][h]]);
        wrong += fabs(w->rate - p->rate[f]) > 1e-9 * p->rate[f] + lost;
        wrong += fabs(w->rate - m->level[m->bottleneck[f]] * w->share) > 1e-15 * w->rate;
        wrong += m->level[m->bottleneck[f]] > lowest * (1 + 1e-12);
    }
    return wrong;
}

static void add_flow(th_maxmin *m, plain *p, int f, double weight, int n, const int32_t *hop)
{
    p->is_there[f] = true;
    p->weight[f] = weight;
    p->count[f] = 1;
    p->n_hops[f] = n;
    memcpy(p->hop[f], hop, (size_t)n * sizeof *hop);
    CU_ASSERT_EQUAL(th_maxmin_add(m, f, weight, hop, n), 0);
}

/* --- by hand ---------------------------------------------------------------------------------- */

/* Links of 10, 4 and 3; flows 0: a b, 1: a, 2: b c, 3: c. Link c gives 1.5 to flows 2 and 3, link b
 * what is left of 4, 2.5, to flow 0, and link a 7.5 to flow 1. Without flow 3, link b is first: 2
 * for flows 0 and 2, and 8 for flow 1. Then link c falls to 1: flow 2 has 1, flow 0 3, flow 1 7. */
TEST(three_links_by_hand)
{
    static plain p = {.n_links = 3, .n_flows = 4, .capacity = {10, 4, 3}};
    const int32_t hops[4][2] = {{0, 1}, {0}, {1, 2}, {2}};
    const int n[] = {2, 1, 2, 1};
    auto_maxmin *m = th_maxmin_new(3, 10);
    for (int l = 0; l < 3; l++)
        th_maxmin_set_capacity(m, l, p.capacity[l]);
    for (int f = 0; f < 4; f++)
        add_flow(m, &p, f, 1, n[f], hops[f]);
    th_maxmin_solve(m);
    CU_ASSERT_TRUE(m->flow[0].rate == 2.5 && m->flow[1].rate == 7.5 && m->flow[2].rate == 1.5 &&
                   m->flow[3].rate == 1.5);
    CU_ASSERT_TRUE(m->bottleneck[0] == 1 && m->bottleneck[2] == 2);
    th_maxmin_clear_changes(m);
    th_maxmin_remove(m, 3);
    th_maxmin_solve(m);
    CU_ASSERT_TRUE(m->flow[0].rate == 2 && m->flow[1].rate == 8 && m->flow[2].rate == 2);
    CU_ASSERT_TRUE(m->changes.n_flows == 1 && m->changes.flow[0] == 2 && m->bottleneck[2] == 1);
    CU_ASSERT_TRUE(isinf(m->level[2]));
    th_maxmin_clear_changes(m);
    th_maxmin_set_capacity(m, 2, 1);
    th_maxmin_solve(m);
    CU_ASSERT_TRUE(m->flow[0].rate == 3 && m->flow[1].rate == 7 && m->flow[2].rate == 1);
}

/* A flow that stands for three equal ones gets what three flows would: a link of 12 with it and one
 * other flow gives 3 to each of the four, and with two of them left 4 to each. */
TEST(equal_flows_are_counted)
{
    static plain p = {.n_links = 1, .n_flows = 2, .capacity = {12}};
    const int32_t link = 0;
    auto_maxmin *m = th_maxmin_new(1, 12);
    th_maxmin_set_capacity(m, 0, 12);
    add_flow(m, &p, 0, 1, 1, &link);
    add_flow(m, &p, 1, 1, 1, &link);
    th_maxmin_set_count(m, 0, 3);
    th_maxmin_solve(m);
    CU_ASSERT_TRUE(m->flow[0].rate == 3 && m->flow[1].rate == 3);
    th_maxmin_clear_changes(m);
    th_maxmin_set_count(m, 0, 2);
    th_maxmin_solve(m);
    CU_ASSERT_TRUE(m->flow[0].rate == 4 && m->flow[1].rate == 4);
}

/* A link of 12: weights 1, 2 and 3 have 12 / (1 + 1/2 + 1/3) = 72/11, and a half and a third of
 * it. */
TEST(shares_are_inverse_to_weights)
{
    static plain p = {.n_links = 1, .n_flows = 3, .capacity = {12}};
    const int32_t link = 0;
    auto_maxmin *m = th_maxmin_new(1, 12);
    th_maxmin_set_capacity(m, 0, 12);
    for (int f = 0; f < 3; f++)
        add_flow(m, &p, f, f + 1, 1, &link);
    th_maxmin_solve(m);
    for (int f = 0; f < 3; f++)
        CU_ASSERT_DOUBLE_EQUAL(m->flow[f].rate, 72.0 / 11 / (f + 1), 1e-14);
}

/* --- against plain filling -------------------------------------------------------------------- */

typedef struct {
    int n_links, n_flows, n_steps;
    int weights;    /* 0: all 1; 1: small integers, so with ties; 2: over many orders */
    int capacities; /* the same for links: 0: all 1e9 */
    int hops;
    int counts;   /* equal flows that one stands for, at most */
    int per_step; /* flows that come or go at once, or change their count */
} shape;

static double pick_amount(gsl_rng *r, int how)
{
    return how == 0 ? 1 : how == 1 ? (double)pick(r, 1, 4) : exp(20 * gsl_rng_uniform(r) - 10);
}

static void step(th_maxmin *m, plain *p, const shape *s, gsl_rng *r)
{
    int n = (int)pick(r, 1, s->per_step);
    for (int i = 0; i < n; i++) {
        int f = (int)pick(r, 0, s->n_flows - 1), l = (int)pick(r, 0, s->n_links - 1);
        if (pick(r, 0, 19) == 0) {
            p->capacity[l] = pick_amount(r, s->capacities) * 1e9;
            th_maxmin_set_capacity(m, l, p->capacity[l]);
        } else if (p->is_there[f] && pick(r, 0, 1) == 0) {
            p->count[f] = (int32_t)pick(r, 1, s->counts);
            th_maxmin_set_count(m, f, p->count[f]);
        } else if (p->is_there[f]) {
            p->is_there[f] = false;
            th_maxmin_remove(m, f);
        } else {
            int32_t hop[HOPS_MAX];
            int hops = (int)pick(r, 1, s->hops);
            for (int h = 0; h < hops; h++)
                hop[h] = (int32_t)pick(r, 0, s->n_links - 1);
            add_flow(m, p, f, pick_amount(r, s->weights), hops, hop);
        }
    }
}

/* A digest of all rates after all steps. */
static uint64_t run(const shape *s, uint64_t seed, int *wrong)
{
    static plain p;
    auto_rng *r = th_random_stream(seed, "maxmin", 0);
    auto_maxmin *m = th_maxmin_new(s->n_links, 1e9);
    uint64_t digest = 0;
    p = (plain){.n_links = s->n_links, .n_flows = s->n_flows};
    for (int l = 0; l < s->n_links; l++) {
        p.capacity[l] = pick_amount(r, s->capacities) * 1e9;
        th_maxmin_set_capacity(m, l, p.capacity[l]);
    }
    for (int i = 0; i < s->n_steps; i++) {
        step(m, &p, s, r);
        th_maxmin_solve(m);
        *wrong += count_wrong(m, &p);
        th_maxmin_clear_changes(m);
        for (int f = 0; f < s->n_flows; f++) {
            uint64_t bits = 0;
            if (p.is_there[f])
                memcpy(&bits, &m->flow[f].rate, sizeof bits);
            digest = (digest ^ bits) * UINT64_C(0x9e3779b97f4a7c15) + 1;
        }
    }
    return digest;
}

TEST(random_histories_agree_with_plain_filling)
{
    int wrong = 0, solved = 0;
    auto_rng *r = th_random_stream(5, "shapes", 0);
    for (uint64_t i = 0; i < 3000; i++) {
        shape s = {.n_links = (int)pick(r, 1, i % 4 ? 8 : 30),
                   .n_flows = (int)pick(r, 1, i % 3 ? 12 : 60),
                   .n_steps = 20,
                   .weights = (int)pick(r, 0, 2),
                   .capacities = (int)pick(r, 0, 2),
                   .hops = (int)pick(r, 1, 6),
                   .counts = i % 7 ? 5 : 1000,
                   .per_step = i % 5 ? 2 : 40};
        int before = wrong;
        uint64_t first = run(&s, i, &wrong), again = run(&s, i, &wrong);
        wrong += first != again;
        solved += 2 * s.n_steps;
        if (wrong != before)
            printf("# seed %d: %d links, %d flows, weights %d, capacities %d\n", (int)i, s.n_links,
                   s.n_flows, s.weights, s.capacities);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(solved >= 100000);
}

TAP_MAIN("maxmin")
