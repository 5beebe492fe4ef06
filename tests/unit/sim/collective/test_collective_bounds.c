/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_collective_bounds.c - on random graphs, with every algorithm: nothing is faster than what
 * each rank's own links allow, and every link carries just the bytes of the messages that take
 * it. */
#include <config.h>
#include "sim/machine/machine.h"
#include "tests/unit/collective_help.h"
#include "tests/unit/tap.h"
#include "topology/routing/route.h"

enum { NODES_MAX = 12 };

/* --- random graphs ---------------------------------------------------------------------------- */

static void must(bool good, const th_error *e)
{
    if (!good) {
        printf("Bail out! %s %s\n", e->id, e->text);
        exit(1);
    }
}

static void connect(th_system *s, gsl_rng *random, int a, int b)
{
    th_error e = {"", ""};
    int64_t bits_per_s = pick(random, 1, 40) * INT64_C(1000000000);
    th_time latency_ps = pick(random, 0, 3) * 250000;
    must(th_system_add_cable(
             s, a, b, th_cable_symmetric(bits_per_s, latency_ps, pick(random, 0, 3) > 0), &e) >= 0,
         &e);
}

/* A tree drawn at random and some cables more; accelerators first, then switches, some of which
 * reduce. */
static th_system *random_system(gsl_rng *random, const th_system *prototype)
{
    th_error e = {"", ""};
    int n_accels = (int)pick(random, 2, 8), n = n_accels + (int)pick(random, 0, 4);
    th_system *s = th_system_new("random", &e);
    for (int i = 0; i < n; i++) {
        char name[20];
        snprintf(name, sizeof name, "%d", i);
        int node =
            th_system_add_node(s, name, i < n_accels ? TH_NODE_ACCEL : TH_NODE_SWITCH, 0, &e);
        must(node == i, &e);
        s->nodes[i].reduces = i >= n_accels && pick(random, 0, 1);
        must(i >= n_accels || !th_system_copy_accel(s, i, prototype, 0, &e), &e);
        if (i > 0)
            connect(s, random, i, (int)pick(random, 0, i - 1));
    }
    for (int64_t more = pick(random, 0, n); more > 0; more--) {
        int a = (int)pick(random, 0, n - 1), b = (int)pick(random, 0, n - 1);
        if (a != b)
            connect(s, random, a, b);
    }
    must(!th_system_finish(s, &e), &e);
    return s;
}

/* Bytes per second of the media at a node, one way. */
static double bandwidth(const th_system *s, int node, bool out)
{
    double sum = 0;
    for (int l = 0; l < s->n_links; l++)
        if ((out ? s->links[l].from : s->links[l].to) == node)
            sum += (double)s->media[s->links[l].medium].bits_per_s / 8;
    return sum;
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* What a rank must at least send and receive. The contribution of a rank to a sum leaves it, or the
 * sum that it has made does. */
typedef struct {
    double out, in;
} least;

static least least_of(const th_collective *c, int32_t rank)
{
    double s = (double)c->bytes, own = (double)th_piece_bytes(c->bytes, rank, c->n_ranks);
    double root_own = (double)th_piece_bytes(c->bytes, c->root, c->n_ranks);
    bool is_root = rank == c->root;
    switch ((th_collective_kind)c->kind) {
    case TH_ALL_REDUCE:
        return (least){s, s};
    case TH_ALL_GATHER:
        return (least){own, s - own};
    case TH_REDUCE_SCATTER:
        return (least){s - own, own};
    case TH_ALL_TO_ALL:
        return (least){s - own, own * (c->n_ranks - 1)};
    case TH_BROADCAST:
        return is_root ? (least){s, 0} : (least){0, s};
    case TH_REDUCE:
        return is_root ? (least){0, s} : (least){s, 0};
    case TH_GATHER:
        return is_root ? (least){0, s - root_own} : (least){own, 0};
    case TH_SCATTER:
        return is_root ? (least){s - root_own, 0} : (least){0, own};
    case TH_SEND_RECV:
        return rank == 0 ? (least){s, 0} : (least){0, s};
    case TH_BARRIER:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return (least){0, 0};
}

/* What all ranks together must send when nobody but they reduces or copies. */
static double least_of_all(const th_collective *c)
{
    double s = (double)c->bytes, sum = 0;
    for (int32_t i = 0; i < c->n_ranks; i++)
        sum += least_of(c, i).out;
    if (c->kind == TH_ALL_REDUCE)
        return 2 * s * (c->n_ranks - 1);
    if (c->kind == TH_ALL_GATHER || c->kind == TH_REDUCE_SCATTER || c->kind == TH_BROADCAST ||
        c->kind == TH_REDUCE)
        return s * (c->n_ranks - 1);
    return sum;
}

/* In picoseconds. */
static double bound_of(const th_system *s, const th_collective *c, bool is_at_endpoints)
{
    double bound = 0, all_out = 0;
    for (int32_t i = 0; i < c->n_ranks; i++) {
        least l = least_of(c, i);
        double out = bandwidth(s, c->rank_node[i], true);
        double in = bandwidth(s, c->rank_node[i], false);
        bound = l.out / out > bound ? l.out / out : bound;
        bound = l.in / in > bound ? l.in / in : bound;
        all_out += out;
    }
    if (is_at_endpoints && least_of_all(c) / all_out > bound)
        bound = least_of_all(c) / all_out;
    return bound * 1e12;
}

/* --- runs ------------------------------------------------------------------------------------- */

static th_result run(const th_system *s, th_program *p)
{
    th_error e = {"", ""};
    th_result r;
    auto_costs *w = th_compute_cost_cache_new(s, &e);
    auto_machine *m = th_machine_new(s, w, NULL, &e);
    must(m && !th_program_finish(p, &e) && !th_machine_load(m, p, &e) &&
             th_machine_run_until(m, TH_TIME_MAX, &e) == TH_STOP_DONE &&
             !th_machine_result(m, &r, &e),
         &e);
    return r;
}

/* What the rules say that goes over every link, and from and to every accelerator. */
typedef struct {
    int64_t *link, *sent, *received;
} account;

static void add_message(const th_system *s, account *a, int src, int dst, int64_t bytes)
{
    int links[TH_ROUTE_MAX];
    if (src == dst)
        return;
    for (int i = 0, n = th_route(s, src, dst, links); i < n; i++)
        a->link[links[i]] += bytes;
    if (s->nodes[src].accel >= 0)
        a->sent[s->nodes[src].accel] += bytes;
    if (s->nodes[dst].accel >= 0)
        a->received[s->nodes[dst].accel] += bytes;
}

static void add_messages(const th_collective_schedule *x, account *a)
{
    th_collective_step does;
    for (int32_t p = 0; p < x->n_participants; p++)
        for (int32_t l = 0; l < x->n_threads; l++)
            for (int64_t i = 0; x->algorithm->get_step(x, p, l, i, &does); i++)
                if (does.send_port >= 0)
                    add_message(x->system, a, x->node[p], x->node[does.to], does.bytes);
}

static void assert_conserved(const th_collective_schedule *x, const th_result *r)
{
    account a = {th_alloc_zero((size_t)r->n_links + 1, sizeof(int64_t)),
                 th_alloc_zero((size_t)r->n_accels, sizeof(int64_t)),
                 th_alloc_zero((size_t)r->n_accels, sizeof(int64_t))};
    int wrong = 0;
    add_messages(x, &a);
    for (int l = 0; l < r->n_links; l++)
        wrong += a.link[l] != r->links[l].bytes;
    for (int i = 0; i < r->n_accels; i++)
        wrong +=
            a.sent[i] != r->accels[i].sent_bytes || a.received[i] != r->accels[i].received_bytes;
    CU_ASSERT_EQUAL(wrong, 0);
    th_free(a.link);
    th_free(a.sent);
    th_free(a.received);
}

static bool try_one(const th_system *s, const th_collective *c)
{
    th_error e = {"", ""};
    th_collective_schedule x;
    if (th_collective_schedule_init(&x, c, s, &e))
        return false; /* not on this graph */
    auto_program *p = th_program_new(NULL);
    th_task t = {.kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .layer = -1};
    t.collective = th_program_add_collective(p, c, NULL);
    th_program_add(p, &t, NULL);
    auto_result r = run(s, p);
    double bound = bound_of(s, c, x.n_participants == c->n_ranks);
    CU_ASSERT_TRUE((double)r.elapsed_ps >= bound * (1 - 1e-9));
    if ((double)r.elapsed_ps < bound * (1 - 1e-9))
        printf("# %s by %s, %d ranks, %lld bytes: %lld ps, bound %.0f\n",
               th_collective_names[c->kind], c->algorithm->name, c->n_ranks, (long long)c->bytes,
               (long long)r.elapsed_ps, bound);
    assert_conserved(&x, &r);
    th_collective_schedule_clear(&x);
    return true;
}

/* A group of some accelerators, every algorithm and kind. Returns how many were run. */
static int try_all(const th_system *s, gsl_rng *random)
{
    int32_t nodes[NODES_MAX];
    int tried = 0;
    for (int i = 0; i < s->n_accels; i++) {
        int64_t at = pick(random, 0, i);
        nodes[i] = nodes[at];
        nodes[at] = s->accel_node[i];
    }
    for (int i = 0; th_algorithms[i]; i++)
        for (int kind = 0; kind < TH_USER_SCHEDULE; kind++) {
            th_collective c = {.kind = kind,
                               .algorithm = th_algorithms[i],
                               .rank_node = nodes,
                               .n_ranks = (int32_t)pick(random, 2, s->n_accels),
                               .bytes = pick(random, 0, 1) ? pick(random, 0, 30)
                                                           : pick(random, 0, 3000000),
                               .chunks = (int32_t)pick(random, 1, 4)};
            if (kind == TH_SEND_RECV)
                c.n_ranks = 2;
            c.root = (int32_t)pick(random, 0, c.n_ranks - 1);
            if (c.algorithm->kinds >> kind & 1u)
                tried += try_one(s, &c);
        }
    return tried;
}

TEST(no_algorithm_beats_the_links)
{
    auto_system *prototype = shipped_system("npu_v1");
    auto_rng *random = th_random_stream(3, "bounds", 0);
    int tried = 0;
    for (int i = 0; i < 60; i++) {
        auto_system *s = random_system(random, prototype);
        tried += try_all(s, random);
    }
    CU_ASSERT_TRUE(tried > 1000);
}

TAP_MAIN("collective_bounds")
