/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_collective.c - collectives: checks, what algorithms do to data, times by hand. */
#include <config.h>
#include "sim/replay/replay.h"
#include "tests/unit/collective_help.h"
#include "tests/unit/collective_run.h"

/* --- what algorithms do to data --------------------------------------------------------------- */

static bool takes_root(int kind)
{
    return kind == TH_BROADCAST || kind == TH_REDUCE || kind == TH_GATHER || kind == TH_SCATTER;
}

static void assert_right(const th_collective *c, const th_system *s, uint64_t seed)
{
    const char *wrong = collective_wrong(c, s, seed, NULL);
    char text[500] = "";
    if (wrong && strncmp(wrong, "COLL-0021", 9) != 0) /* in_switch: no switch here reduces */
        snprintf(text, sizeof text, "%s by %s, %d ranks, root %d, %lld bytes, %d chunks: %s",
                 th_collective_names[c->kind], c->algorithm->name, c->n_ranks, c->root,
                 (long long)c->bytes, c->chunks, wrong);
    TAP_ASSERT_TEXT(text, "");
}

static void try_sizes(th_collective *c, const th_system *s)
{
    static const int64_t sizes[] = {0, 1, 7, 24, 61};
    static const int32_t chunks[] = {1, 2, 5};
    enum { SIZES = 5, CHUNKS = 3, SEEDS = 3 };
    for (int i = c->n_ranks % TAP_STRIDE; i < SIZES * CHUNKS * SEEDS; i += TAP_STRIDE) {
        c->bytes = sizes[i / SEEDS / CHUNKS];
        c->chunks = chunks[i / SEEDS % CHUNKS];
        assert_right(c, s, (uint64_t)(i % SEEDS * c->n_ranks));
    }
}

static void try_roots(const th_algorithm *a, int kind, int n, const th_system *s)
{
    th_collective c = collective(kind, a->name, n, 0);
    for (c.root = 0; c.root < (takes_root(kind) ? n : 1); c.root += 1 + n / 3)
        try_sizes(&c, s);
}

/* Every algorithm, every kind that it can do, groups of 1 .. 17, sizes below, at and above the
 * number of ranks, in chunks, messages in orders drawn at random. */
TEST(every_rank_ends_with_the_right_data)
{
    auto_system *s = of_size("ring", MANY);
    for (int i = 0; th_algorithms[i]; i++)
        for (int kind = 0; kind < TH_USER_SCHEDULE; kind++)
            for (int n = kind == TH_SEND_RECV ? 2 : 1; n <= (kind == TH_SEND_RECV ? 2 : MANY); n++)
                if (th_algorithms[i]->kinds >> kind & 1u)
                    try_roots(th_algorithms[i], kind, n, s);
}

/* Three islands of four, of which ranks take all, or some, in any order: every rank as the root. */
TEST(trees_of_islands_are_right)
{
    static const int kinds[] = {TH_ALL_REDUCE, TH_BROADCAST, TH_REDUCE};
    auto_system *s = generated("islands", (int[]){3, 4}, 2);
    int32_t nodes[12];
    for (int n = 2; n <= 12; n++)
        for (int k = 0; k < 3; k++)
            for (int step = 1; step <= 5; step += 4) { /* no rank twice */
                th_collective c = collective(kinds[k], "topology_tree", n, 0);
                for (int i = 0; i < n; i++)
                    nodes[i] = s->accel_node[(i * step + k) % 12];
                c.rank_node = nodes;
                for (c.root = 0; c.root < (takes_root(c.kind) ? n : 1); c.root += TAP_STRIDE)
                    try_sizes(&c, s);
            }
}

/* Every algorithm that can: sizes drawn at random, some of them 0. */
TEST(uneven_all_to_all_is_right)
{
    auto_system *s = of_size("ring", MANY);
    auto_rng *random = th_random_stream(5, "pairs", 0);
    int64_t pairs[7 * 7];
    int tried = 0;
    for (int i = 0; th_algorithms[i]; i++)
        for (int n = 2; n <= 7 && th_algorithms[i]->kinds >> TH_ALL_TO_ALL & 1u; n++, tried++) {
            th_collective c = collective(TH_ALL_TO_ALL, th_algorithms[i]->name, n, 0);
            for (int j = 0; j < n * n; j++)
                pairs[j] = pick(random, 0, 2) ? pick(random, 1, 9) : 0;
            c.pair_bytes = pairs;
            assert_right(&c, s, (uint64_t)n);
        }
    CU_ASSERT_TRUE(tried >= 12);
}

/* The interpreter finds what is wrong: a ring whose last round is missing, one that adds where it
 * should replace, one that waits for a message too many. */
static int mutation;

static bool mutated_step(const th_collective_schedule *x, int32_t p, int32_t thread, int64_t step,
                         th_collective_step *out)
{
    const th_algorithm *ring = th_algorithm_find("ring");
    if (!ring->get_step(x, p, thread, step, out) ||
        (mutation == 0 && step == 2 * x->n_participants - 3))
        return false;
    if (mutation == 1 && step == 2 * x->n_participants - 4)
        out->reduces = true;
    if (mutation == 2 && step > 0)
        out->wait_count++;
    if (mutation == 3 && step == 1 && p == 2)
        out->wait_port = -1;
    return true;
}

TEST(the_interpreter_finds_mistakes)
{
    static const char *const found[] = {"lacks", "wrong word", "never gets past", "wrong word"};
    auto_system *s = of_size("ring", 5);
    th_algorithm mutated = *th_algorithm_find("ring");
    mutated.get_step = mutated_step;
    th_collective c = collective(TH_ALL_REDUCE, "ring", 5, 15);
    c.algorithm = &mutated;
    for (mutation = 0; mutation < 4; mutation++) {
        const char *wrong = NULL;
        for (uint64_t seed = 0; seed < 8 && !wrong; seed++)
            wrong = collective_wrong(&c, s, seed, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(wrong);
        if (mutation > 0) /* at 0 every rank holds a word everywhere from the start */
            CU_ASSERT_PTR_NOT_NULL(strstr(wrong, found[mutation]));
    }
    mutation = 4;
    CU_ASSERT_PTR_NULL(collective_wrong(&c, s, 1, NULL));
}

/* --- times ------------------------------------------------------------------------------------ */

/* 2 (n - 1) (S/(n bw) + L): n pieces of 30,000 bytes at 10 bytes per ns take 3 us each. Both ways,
 * each half as long. Chunks side by side share the links and lose nothing. */
TEST(ring_all_reduce_matches_the_closed_form)
{
    static const char *const networks[] = {"fluid", "ideal"};
    for (int i = 0; i < 2; i++)
        for (int n = 2; n <= 16; n++) {
            auto_system *s = of_size("ring", n);
            th_collective c = collective(TH_ALL_REDUCE, "ring", n, 30000 * n);
            CU_ASSERT_EQUAL(time_of(s, networks[i], &c), 2 * (n - 1) * INT64_C(3500000));
            c.chunks = 3;
            if (i == 0)
                CU_ASSERT_EQUAL(time_of(s, networks[i], &c), 2 * (n - 1) * INT64_C(3500000));
            c.chunks = 1;
            c.delay_ps = 700;
            CU_ASSERT_EQUAL(time_of(s, networks[i], &c), 2 * (n - 1) * INT64_C(3500700));
            c.delay_ps = 0;
            c.algorithm = th_algorithm_find("ring_bidirectional");
            if (n > 2)
                CU_ASSERT_EQUAL(time_of(s, networks[i], &c), 2 * (n - 1) * INT64_C(2000000));
        }
}

/* (n - 2 + chunks) (L + S/(chunks bw)): 60,000 bytes in 4 chunks: 1500 ns each and 500 ns. */
TEST(chains_match_the_closed_form)
{
    auto_system *s = of_size("ring", 6);
    static const int kinds[] = {TH_BROADCAST, TH_REDUCE};
    for (int i = 0; i < 2; i++) {
        th_collective c = collective(kinds[i], "ring", 6, 60000);
        c.root = 4;
        CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 5 * INT64_C(6500000));
        c.chunks = 4;
        CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 8 * INT64_C(2000000));
    }
}

/* One message on one link: 70,000 bytes, 7 us and 500 ns; a group of one has nothing to do. */
TEST(single_link_matches_the_closed_form)
{
    auto_system *s = of_size("ring", 3);
    th_collective c = collective(TH_SEND_RECV, "direct", 2, 70000);
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 7500000);
    c = collective(TH_BROADCAST, "direct", 2, 70000);
    CU_ASSERT_EQUAL(time_of(s, "ideal", &c), 7500000);
    c = collective(TH_ALL_REDUCE, "ring", 1, 70000);
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 0);
}

/* Fully connected, a link per pair: direct takes one message's time per phase, pairwise one per
 * round. 5 ranks, pieces of 20,000 bytes: 2 us and 500 ns. */
TEST(direct_and_pairwise_match_the_closed_form)
{
    auto_system *s = of_size("fully_connected", 5);
    th_collective c = collective(TH_ALL_TO_ALL, "direct", 5, 100000);
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 2500000);
    c.algorithm = th_algorithm_find("pairwise");
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 4 * 2500000);
    c = collective(TH_ALL_REDUCE, "direct", 5, 100000);
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 2 * 2500000);
    c.algorithm = th_algorithm_find("pairwise");
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 8 * 2500000);
    c = collective(TH_BARRIER, "direct", 5, 0);
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 500000);
}

/* --- what goes wrong -------------------------------------------------------------------------- */

static void assert_refused(const th_collective *c, const th_system *s, const char *id)
{
    th_error e = {"", ""};
    th_collective_schedule x;
    CU_ASSERT_EQUAL(th_collective_schedule_init(&x, c, s, &e), -1);
    TAP_ASSERT_TEXT(e.id, id);
}

TEST(bad_collectives_are_refused)
{
    auto_system *s = of_size("star", 4);
    const th_collective good = collective(TH_ALL_TO_ALL, "direct", 4, 100);
    int32_t nodes[] = {0, 1, 2, 3};
    int64_t pairs[16] = {0};
    int hub = 0;
    while (s->nodes[hub].kind != TH_NODE_SWITCH)
        hub++;
#define REFUSED(id, ...)                                                                           \
    do {                                                                                           \
        th_collective c = good;                                                                    \
        c.rank_node = nodes;                                                                       \
        __VA_ARGS__;                                                                               \
        assert_refused(&c, s, id);                                                                 \
    } while (0)
    REFUSED("COLL-0001", nodes[2] = 99);
    REFUSED("COLL-0002", nodes[2] = hub);
    REFUSED("COLL-0004", nodes[2] = 0);
    nodes[2] = 2;
    REFUSED("COLL-0003", c.n_ranks = 0);
    REFUSED("COLL-0003", c.n_ranks = 99);
    REFUSED("COLL-0005", c.kind = TH_BROADCAST; c.pair_bytes = pairs);
    REFUSED("COLL-0006", c.pair_bytes = pairs; pairs[3] = -1);
    REFUSED("COLL-0006", c.pair_bytes = pairs; pairs[3] = pairs[4] = INT64_MAX);
    REFUSED("COLL-0007", c.n_dims = 2; c.dims[0] = 2; c.dims[1] = 3);
    REFUSED("COLL-0007", c.n_dims = 9);
    REFUSED("COLL-0008", c.bytes = -1);
    REFUSED("COLL-0009", c.root = 4);
    REFUSED("COLL-0010", c.chunks = 0);
    REFUSED("COLL-0011", c.delay_ps = -1);
    REFUSED("COLL-0012", c.kind = TH_SEND_RECV);
    REFUSED("COLL-0013", c.algorithm = NULL);
    REFUSED("COLL-0014", c.algorithm = th_algorithm_find("ring"));
#undef REFUSED
    CU_ASSERT_PTR_NULL(th_algorithm_find("rings"));
}

static int prepare_too_many(th_collective_schedule *x, th_error *err)
{
    return th_collective_schedule_set_ranks(x, 1, INT32_MAX, err);
}

/* Ports beyond what numbers of flows can tell apart, numbers that are all taken by tasks, and
 * counts beyond 2^31. */
TEST(too_many_messages_are_refused)
{
    auto_system *s = of_size("ring", 4);
    th_collective c = collective(TH_BROADCAST, "ring", 4, 100);
    th_algorithm wide = *c.algorithm;
    th_error e = {"", ""};
    th_task t = {.kind = TH_TASK_COLLECTIVE};
    th_program p = {.tasks = &t, .n_tasks = INT32_MAX - 3, .collectives = &c, .n_collectives = 1};
    th_replay *r = th_replay_new(&(th_tuner_context){.system = s});
    CU_ASSERT_EQUAL(th_replay_load(r, &p, true, &e), 0);
    CU_ASSERT_EQUAL(th_replay_start(r, 0, &e), -1);
    TAP_ASSERT_TEXT(e.id, "SIM-0011");
    CU_ASSERT_TRUE(th_replay_is_idle(r) && th_replay_report_deadlock(r, &e) == 0);
    th_replay_free(r);
    wide.prepare = prepare_too_many;
    c.algorithm = &wide;
    assert_refused(&c, s, "COLL-0015");
    th_system_free(s);
    s = of_size("star", 1 << 15);
    int32_t *nodes = th_alloc_array((size_t)s->n_accels, sizeof *nodes);
    for (int32_t i = 0; i < s->n_accels; i++)
        nodes[i] = i;
    c = collective(TH_GATHER, "ring", s->n_accels, 100);
    c.rank_node = nodes;
    c.chunks = TH_CHUNKS_MAX;
    assert_refused(&c, s, "COLL-0019");
    th_free(nodes);
}

/* A collective whose last message nobody sends is named, with who waits for what. */
TEST(a_stuck_collective_is_named)
{
    auto_system *s = of_size("ring", 5);
    th_algorithm mutated = *th_algorithm_find("ring");
    th_collective c = collective(TH_ALL_REDUCE, "ring", 5, 15);
    auto_program *p = th_program_new(NULL);
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    auto_machine *m = th_machine_new(s, w, NULL, NULL);
    th_error e = {"", ""};
    mutation = 2;
    mutated.get_step = mutated_step;
    c.algorithm = &mutated;
    add_collective(p, &c);
    CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_ERROR);
    TAP_ASSERT_ERROR(e, "SIM-0010",
                     "task/0: all_reduce of 5 ranks by ring can never end: rank 0, thread 0 "
                     "waits in step 1 for message 2 at port 0, where 1 came in");
}

TAP_MAIN("collective")
