/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_unroll.c - a collective and its messages as plain transfers end at the same picosecond. */
#include <config.h>
#include "sim/machine/machine.h"
#include "tests/unit/collective_help.h"
#include "tests/unit/tap.h"
#include "tests/unit/unroll.h"
#include "topology/generate/generate.h"

enum { RANKS_MAX = 16 };

typedef struct {
    th_system *system;
    th_compute_cost_cache *costs;
    th_machine *machine;
} world;

static world new_world(const char *type, int n, const char *network)
{
    auto_system *prototype = shipped_system("npu_v1");
    bool is_grid = strcmp(type, "mesh") == 0 || strcmp(type, "torus") == 0;
    th_topology_options o = {.dims = {is_grid ? 4 : n, n / 4},
                             .n_dims = is_grid ? 2 : 1,
                             .bits_per_s = {INT64_C(80000000000)},
                             .latency_ps = {123457}};
    world w = {.system = th_topology_create("test", th_topology_find(type), &o, prototype, NULL)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(w.system);
    w.costs = th_compute_cost_cache_new(w.system, NULL);
    w.machine = th_machine_new(w.system, w.costs,
                               &(th_machine_options){.network = th_network_find(network)}, NULL);
    return w;
}

static void free_world(world *w)
{
    th_machine_free(w->machine);
    th_compute_cost_cache_free(w->costs);
    th_system_free(w->system);
}
#define auto_world __attribute__((cleanup(free_world))) world

static th_time run(world *w, th_program *p)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_program_finish(p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_load(w->machine, p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(w->machine, TH_TIME_MAX, &e), TH_STOP_DONE);
    TAP_ASSERT_TEXT(e.text, "");
    return th_machine_now(w->machine);
}

static void add_as_a_whole(th_program *p, const th_collective *c)
{
    int32_t number = th_program_add_collective(p, c, NULL);
    th_task t = {
        .kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .collective = number, .layer = -1};
    th_program_add(p, &t, NULL);
}

static void add_unrolled(const th_system *s, th_program *p, const th_collective *c)
{
    th_error e = {"", ""};
    auto_collective_schedule x;
    unrolled_tasks u;
    CU_ASSERT_EQUAL_FATAL(th_collective_schedule_init(&x, c, s, &e), 0);
    CU_ASSERT_EQUAL_FATAL(unroll(&x, p, &u, &e), 0);
}

/* Those n collectives at once. */
static th_time time_of(world *w, const th_collective *c, int n, bool unrolled)
{
    auto_program *p = th_program_new(NULL);
    for (int i = 0; i < n; i++)
        if (unrolled)
            add_unrolled(w->system, p, &c[i]);
        else
            add_as_a_whole(p, &c[i]);
    return run(w, p);
}

/* A group drawn at random, an algorithm and a kind that it can do. */
static th_collective draw(gsl_rng *random, int n_nodes, int32_t *nodes)
{
    int n_algorithms = 0;
    while (th_algorithms[n_algorithms])
        n_algorithms++;
    th_collective c = {.algorithm = th_algorithms[pick(random, 0, n_algorithms - 1)],
                       .rank_node = nodes,
                       .n_ranks = (int32_t)pick(random, 2, n_nodes),
                       .bytes = pick(random, 0, 3) ? pick(random, 0, 1000000) : 0,
                       .chunks = (int32_t)pick(random, 1, 5),
                       .delay_ps = pick(random, 0, 1) * 31415};
    do
        c.kind = (int32_t)pick(random, 0, TH_USER_SCHEDULE - 1);
    while (!(c.algorithm->kinds >> c.kind & 1u));
    if (c.kind == TH_SEND_RECV)
        c.n_ranks = 2;
    c.root = (int32_t)pick(random, 0, c.n_ranks - 1);
    for (int i = 0; i < n_nodes; i++)
        nodes[i] = i;
    for (int i = 0; i < c.n_ranks; i++) {
        int other = (int)pick(random, i, n_nodes - 1), kept = nodes[i];
        nodes[i] = nodes[other];
        nodes[other] = kept;
    }
    return c;
}

/* Those that are refused depend on times; no other reason will do. */
static bool can_be_unrolled(const th_system *s, const th_collective *c)
{
    th_error e = {"", ""};
    th_collective_schedule x;
    unrolled_tasks u;
    th_program *p = th_program_new(NULL);
    if (th_collective_schedule_init(&x, c, s, &e)) {
        th_program_free(p);
        return false;
    }
    bool can = unroll(&x, p, &u, &e) == 0;
    CU_ASSERT_TRUE(can || strcmp(e.id, "TEST-0002") == 0 || strcmp(e.id, "TEST-0003") == 0);
    th_collective_schedule_clear(&x);
    th_program_free(p);
    return can;
}

static void compare(const char *network, uint64_t seed)
{
    static const char *const types[] = {"ring", "mesh", "torus", "fully_connected", "star"};
    auto_rng *random = th_random_stream(seed, "unroll", 0);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        auto_world w = new_world(types[t], RANKS_MAX, network);
        for (int i = 0; i < 60; i++) {
            int32_t nodes[3][RANKS_MAX];
            th_collective c[3];
            int n = (int)pick(random, 1, 3);
            for (int j = 0; j < n; j++)
                do
                    c[j] = draw(random, RANKS_MAX, nodes[j]);
                while (!can_be_unrolled(w.system, &c[j]));
            th_time whole = time_of(&w, c, n, false), unrolled = time_of(&w, c, n, true);
            CU_ASSERT_EQUAL(whole, unrolled);
            if (whole != unrolled)
                printf("# %s: %s by %s, %d ranks, and %d more: %lld, unrolled %lld\n", types[t],
                       th_collective_names[c[0].kind], c[0].algorithm->name, c[0].n_ranks, n - 1,
                       (long long)whole, (long long)unrolled);
        }
    }
}

TEST(unrolled_collectives_take_as_long_under_fluid)
{
    compare("fluid", 1);
}

TEST(unrolled_collectives_take_as_long_under_ideal)
{
    compare("ideal", 2);
}

/* --- what cannot be written out --------------------------------------------------------------- */

static bool shared_step(const th_collective_schedule *x, int32_t p, int32_t thread, int64_t step,
                        th_collective_step *out)
{
    (void)x;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (p == 0 || step > 0)
        return false;
    th_collective_step_send(out, 0, 0, thread, (th_range){0, 1});
    return true;
}

/* Rank 0 waits for one of two messages that come in at port 0. */
static bool any_step(const th_collective_schedule *x, int32_t p, int32_t thread, int64_t step,
                     th_collective_step *out)
{
    (void)x;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (thread > 0 || step > 0)
        return false;
    if (p > 0) {
        th_collective_step_send(out, 0, 0, 0, (th_range){0, 1});
        return true;
    }
    out->wait_port = 0;
    out->wait_count = 1;
    return true;
}

/* Never ends. */
static bool endless_step(const th_collective_schedule *x, int32_t p, int32_t thread, int64_t step,
                         th_collective_step *out)
{
    (void)x;
    (void)step;
    *out = TH_COLLECTIVE_STEP_NONE;
    th_collective_step_send(out, thread, (p + 1) % 3, thread, (th_range){0, 1});
    return true;
}

static int prepare_two(th_collective_schedule *x, th_error *err)
{
    return th_collective_schedule_set_ranks(x, 2, 2, err);
}

TEST(what_cannot_be_written_out_is_refused)
{
    auto_world w = new_world("ring", 3, "fluid");
    int32_t nodes[] = {0, 1, 2};
    static const struct {
        const char *id;
        bool (*get_step)(const th_collective_schedule *, int32_t, int32_t, int64_t,
                         th_collective_step *);
    } cases[] = {{"TEST-0003", shared_step}, {"TEST-0002", any_step}, {"TEST-0001", endless_step}};
    for (int i = 0; i < 3; i++) {
        th_algorithm a = {.name = "odd",
                          .kinds = 1u << TH_BARRIER,
                          .prepare = prepare_two,
                          .get_step = cases[i].get_step};
        th_collective c = {
            .kind = TH_BARRIER, .algorithm = &a, .rank_node = nodes, .n_ranks = 3, .chunks = 1};
        auto_program *p = th_program_new(NULL);
        auto_collective_schedule x;
        unrolled_tasks u;
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_collective_schedule_init(&x, &c, w.system, &e), 0);
        CU_ASSERT_EQUAL(unroll(&x, p, &u, &e), -1);
        TAP_ASSERT_TEXT(e.id, cases[i].id);
    }
}

TAP_MAIN("unroll")
