/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_tuner.c - auto: the fastest algorithm and chunks, by simulating them; interruptions. */
#include <config.h>
#include "sim/collective/algorithms.h"
#include "tests/unit/collective_shapes.h"

/* The fastest of all that can, simulated singly; what it is can be asked for. Small messages go by
 * another one than large ones, and the order of the table decides among equals. */
TEST(auto_is_the_fastest_that_can)
{
    auto_system *s = of_size("star", 8);
    const int64_t sizes[] = {8, 24000, 24000000};
    for (int kind = 0; kind < TH_SEND_RECV; kind++)
        for (size_t i = 0; i < 3; i++) {
            th_collective c = collective(s, kind, "ring", kind == TH_BARRIER ? 0 : sizes[i]);
            double best = 1e30;
            const th_algorithm *first = NULL;
            for (int a = 0; th_algorithms[a]; a++) {
                c.algorithm = th_algorithms[a];
                th_collective_schedule cs;
                if (!(c.algorithm->kinds >> kind & 1u) ||
                    th_collective_schedule_init(&cs, &c, s, NULL))
                    continue;
                th_collective_schedule_clear(&cs);
                double time = time_of(s, "fluid", &c);
                first = time < best ? c.algorithm : first;
                best = time < best ? time : best;
            }
            c.algorithm = NULL;
            CU_ASSERT_EQUAL(time_of(s, "fluid", &c), best);
            CU_ASSERT_PTR_EQUAL(chosen.algorithm, first);
            CU_ASSERT_EQUAL(chosen.chunks, 1);
            c.chunks = 0;
            CU_ASSERT_TRUE(time_of(s, "fluid", &c) <= best);
        }
}

/* The least time of all algorithms with 1, 2, 4 ... 64 chunks, and of auto. More chunks of a ring
 * are parallel streams, whose times differ by the rounding of pieces alone: not counted. */
static void near_the_best(const th_system *s, th_collective *c)
{
    double best = 1e30;
    for (int a = 0; th_algorithms[a]; a++) {
        c->algorithm = th_algorithms[a];
        bool streams = strstr(c->algorithm->name, "ring") && c->kind <= TH_REDUCE_SCATTER;
        th_collective_schedule cs;
        c->chunks = 1;
        if (!(c->algorithm->kinds >> c->kind & 1u) || th_collective_schedule_init(&cs, c, s, NULL))
            continue;
        th_collective_schedule_clear(&cs);
        for (; c->chunks <= (streams ? 1 : 64); c->chunks *= 2) {
            double time = time_of(s, "fluid", c);
            best = time < best ? time : best;
        }
    }
    c->algorithm = NULL;
    c->chunks = 0;
    double time = time_of(s, "fluid", c);
    CU_ASSERT_TRUE(time <= 1.02 * best);
    if (time > 1.02 * best)
        printf("# %s of %d ranks, %lld bytes: auto %.0f ns, best %.0f\n",
               th_collective_names[c->kind], c->n_ranks, (long long)c->bytes, time, best);
}

/* Every kind on several systems, among all accelerators and some in another order. */
TEST(auto_is_near_the_best_of_all)
{
    static const struct {
        const char *topology;
        int dims[2], n_dims;
    } of[] = {{"islands", {2, 4}, 2}, {"torus", {4, 4}, 2}, {"ring", {6}, 1}, {"star", {8}, 1}};
    const int64_t sizes[] = {1 << 10, 1 << 20, 1 << 28};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int tried = (int)i;
        auto_system *s = generated(of[i].topology, of[i].dims, of[i].n_dims);
        int32_t some[16], n = s->n_accels * 3 / 5;
        for (int32_t r = 0; r < n; r++)
            some[r] = s->accel_node[(r * 5 + 3) % s->n_accels];
        for (int kind = 0; kind < TH_BARRIER; kind++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                if (tried++ % TAP_STRIDE != 0)
                    continue;
                th_collective c = collective(s, kind, "ring", sizes[k]);
                near_the_best(s, &c);
                c.rank_node = some;
                c.n_ranks = n;
                near_the_best(s, &c);
            }
    }
}

static int n_asked, stops_at = -1; /* 0: at each asking; -1: at none */

static bool is_interrupted(void)
{
    return ++n_asked == stops_at || stops_at == 0;
}

static const th_machine_options interrupted = {.is_interrupted = is_interrupted};

/* 64 ranks send to each other: more than 4,096 acts, so the machine asks at least thrice. */
TEST(an_interruption_changes_no_time)
{
    auto_system *s = of_size("ring", 64);
    th_collective c = collective(s, TH_ALL_TO_ALL, "direct", 640000);
    double whole = time_of(s, "fluid", &c);
    th_error e = {"", ""};
    auto_costs *w = th_compute_cost_cache_new(s, &e);
    auto_machine *m = th_machine_new(s, w, &interrupted, &e);
    auto_program *p = th_program_new(&e);
    const th_task task = {.kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .layer = -1};
    th_program_add_collective(p, &c, &e);
    th_program_add(p, &task, &e);
    CU_ASSERT_TRUE(!th_program_finish(p, &e) && !th_machine_load(m, p, &e));
    th_machine *other = th_machine_new(s, w, &interrupted, &e);
    n_asked = 0;
    stops_at = 1; /* of a machine that holds nothing yet, while it is loaded */
    CU_ASSERT_EQUAL(th_machine_load(other, p, &e), -1);
    TAP_ASSERT_TEXT(e.id, "BASE-0008");
    th_machine_free(other);
    n_asked = 0;
    CU_ASSERT_EQUAL(th_machine_load(m, p, &e), 0); /* never again */
    CU_ASSERT_EQUAL(n_asked, 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_INTERRUPTED);
    stops_at = 2;
    CU_ASSERT_EQUAL(th_machine_step(m, 1000000, &e), TH_STOP_INTERRUPTED);
    CU_ASSERT_FALSE(th_machine_is_done(m));
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    CU_ASSERT_EQUAL((double)th_machine_now(m) / 1000, whole);
    /* auto: while it chooses */
    stops_at = 0;
    c.algorithm = NULL;
    const th_algorithm *a = NULL;
    int32_t chunks;
    const th_tuner_context tuner = th_machine_tuner_context(m);
    CU_ASSERT_EQUAL(th_tuner_choose(&tuner, &c, &a, &chunks, &e), -1);
    TAP_ASSERT_TEXT(e.id, "BASE-0008");
}

/* A chain of many chunks beats one of few; a group that one algorithm alone refuses has the others;
 * where all refuse, the last says why. */
TEST(auto_chooses_chunks_and_passes_over_refusals)
{
    auto_system *s = of_size("ring", 8);
    th_collective c = collective(s, TH_BROADCAST, "ring", 24000000);
    double whole = time_of(s, "fluid", &c);
    c.chunks = 0;
    CU_ASSERT_TRUE(time_of(s, "fluid", &c) < 0.2 * whole);
    CU_ASSERT_EQUAL(chosen.chunks, 128);
    CU_ASSERT_PTR_EQUAL(chosen.algorithm, th_algorithm_find("ring"));
    c.algorithm = &th_algorithm_in_switch;
    th_error e = {"", ""};
    const th_algorithm *a = NULL;
    int32_t chunks = 0;
    auto_costs *w = th_compute_cost_cache_new(s, &e);
    auto_machine *m = th_machine_new(s, w, NULL, &e);
    const th_tuner_context tuner = th_machine_tuner_context(m);
    CU_ASSERT_EQUAL(th_tuner_choose(&tuner, &c, &a, &chunks, &e), -1);
    TAP_ASSERT_TEXT(e.id, "COLL-0021");
    c.algorithm = NULL;
    c.kind = TH_USER_SCHEDULE;
    CU_ASSERT_EQUAL(th_tuner_choose(&tuner, &c, &a, &chunks, &e), -1);
    TAP_ASSERT_TEXT(e.id, "COLL-0045");
    CU_ASSERT_PTR_NULL(a);
}

static int n_simulators;
static th_simulator counted;
static const th_simulator *real;

static void *create_counted(void *setup, th_error *err)
{
    n_simulators++;
    return real->create(setup, err);
}

/* Chooses an all_reduce among n nodes from `first` on, `step` apart; how many simulators that
 * took. */
static int simulators_for(const th_tuner_context *t, int32_t first, int32_t step, int32_t n,
                          int64_t bytes, const th_algorithm **algorithm)
{
    int32_t nodes[64], chunks = 0;
    for (int32_t i = 0; i < n; i++)
        nodes[i] = t->system->accel_node[first + i * step];
    th_collective c = {.kind = TH_ALL_REDUCE, .rank_node = nodes, .n_ranks = n, .bytes = bytes};
    n_simulators = 0;
    CU_ASSERT_EQUAL(th_tuner_choose(t, &c, algorithm, &chunks, NULL), 0);
    return n_simulators;
}

/* Groups that are alike and a size share a choice; others do not. What was chosen before changes
 * nothing. */
TEST(choices_are_remembered_by_group_and_size)
{
    auto_system *s = generated("islands", (int[]){4, 8}, 2);
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    auto_machine *m = th_machine_new(s, w, NULL, NULL);
    th_tuner_context t = th_machine_tuner_context(m);
    const th_algorithm *island = NULL, *other = NULL;
    real = t.simulator;
    counted = *real;
    counted.create = create_counted;
    t.simulator = &counted;
    CU_ASSERT_EQUAL(simulators_for(&t, 0, 1, 8, 1 << 20, &island), 1);
    CU_ASSERT_EQUAL(simulators_for(&t, 0, 1, 8, 1 << 20, &other), 0);
    CU_ASSERT_PTR_EQUAL(island, other);
    CU_ASSERT_EQUAL(simulators_for(&t, 8, 1, 8, 1 << 20, &other), 0);
    CU_ASSERT_PTR_EQUAL(island, other);
    CU_ASSERT_EQUAL(simulators_for(&t, 0, 4, 8, 1 << 20, &other), 1);
    CU_ASSERT_EQUAL(simulators_for(&t, 0, 1, 8, (1 << 20) + 1, &other), 1);
    for (int64_t bytes = 1000; bytes < 100000000; bytes = bytes * 7 / 3) {
        const th_algorithm *remembered = NULL, *alone = NULL;
        simulators_for(&t, 4, 2, 8, bytes, &remembered);
        th_tuner_context fresh = t;
        fresh.choices = NULL;
        CU_ASSERT_EQUAL(simulators_for(&fresh, 4, 2, 8, bytes, &alone), 1);
        CU_ASSERT_PTR_EQUAL(remembered, alone);
    }
    th_collective_choices_clear(t.choices);
    CU_ASSERT_EQUAL(simulators_for(&t, 0, 1, 8, 1 << 20, &other), 1);
    CU_ASSERT_PTR_EQUAL(island, other);
}

static bool same_key(const th_collective *a, uint64_t a_options, const th_collective *b,
                     uint64_t b_options)
{
    th_collective_choice_key one = th_collective_choices_key(a, a_options),
                             other = th_collective_choices_key(b, b_options);
    return memcmp(&one, &other, sizeof one) == 0;
}

/* Every member of a collective and the options change the key. */
TEST(every_field_changes_the_key)
{
    int32_t nodes[2][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}};
    int64_t pairs[2][16] = {{0, 1}, {0, 2}};
    const th_collective of = {.kind = TH_ALL_TO_ALL,
                              .algorithm = &th_algorithm_direct,
                              .rank_node = nodes[0],
                              .n_ranks = 4,
                              .bytes = 1000,
                              .pair_bytes = pairs[0],
                              .root = 1,
                              .chunks = 2,
                              .dims = {2, 2},
                              .n_dims = 2,
                              .delay_ps = 5};
    th_collective c[13];
    for (int i = 0; i < 13; i++)
        c[i] = of;
    c[1].kind = TH_ALL_REDUCE;
    c[2].algorithm = NULL;
    c[3].algorithm = &th_algorithm_pairwise;
    c[4].rank_node = nodes[1];
    c[5].n_ranks = 3;
    c[6].bytes = 1001;
    c[7].pair_bytes = NULL;
    c[8].pair_bytes = pairs[1];
    c[9].root = 2;
    c[10].chunks = 0;
    c[11].n_dims = 1;
    c[12].delay_ps = 6;
    CU_ASSERT_FALSE(same_key(&of, 1, &of, 2));
    for (int i = 0; i < 13; i++)
        for (int j = 0; j < 13; j++)
            CU_ASSERT_EQUAL(same_key(&c[i], 1, &c[j], 1), i == j);
    c[0].dims[1] = 3;
    CU_ASSERT_FALSE(same_key(&of, 1, &c[0], 1));
}

/* Every option of a network changes the digest of a machine's options. */
TEST(every_option_changes_the_digest)
{
    auto_system *s = of_size("star", 3);
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    th_machine_options o[14] = {{.network = th_network_find("fluid")}};
    for (int i = 1; i < 14; i++)
        o[i] = o[0];
    o[1].network = th_network_find("packet");
    o[2].network_options.weigh_by_latency = true;
    o[3].network_options.solves_uncontended = true;
    o[4].network_options.packet_bytes = 4096;
    o[5].network_options.buffer_bytes = 1 << 20;
    o[6].network_options.n_virtual_channels = 3;
    o[7].network_options.credit_delay_ps = 7;
    o[8].network_options.router_delay_ps = 7;
    o[9].network_options.terminal_bits_per_s = gbps;
    o[10].network_options.n_crossbar_inputs = 7;
    o[11].network_options.allocation_cycle_ps = 7;
    o[12].network_options.may_deadlock = true;
    o[13].always_contended = true;
    uint64_t digest[14];
    for (int i = 0; i < 14; i++) {
        th_machine *m = th_machine_new(s, w, &o[i], NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        digest[i] = th_machine_tuner_context(m).options;
        th_machine_free(m);
        for (int j = 0; j < i; j++)
            CU_ASSERT_NOT_EQUAL(digest[i], digest[j]);
    }
}

/* ns of a collective by auto on a star of n. */
static double on_a_star(int n, int kind, int64_t bytes)
{
    auto_system *s = of_size("star", n);
    th_collective c = collective(s, kind, "ring", bytes);
    c.algorithm = NULL;
    c.chunks = 0;
    return time_of(s, "fluid", &c);
}

/* One rank more on a star never changes auto by more than 1.3 times: here at powers of two and
 * their neighbours, and where the number of messages was once limited. */
TEST(one_rank_more_changes_little)
{
    const int n[] = {16, 32, 181};
    const int64_t sizes[] = {1 << 10, 1 << 20};
    const int kinds[] = {TH_ALL_REDUCE, TH_ALL_TO_ALL, TH_BROADCAST};
    for (size_t i = 0; i < TAP_REPEATS(sizeof n / sizeof *n); i++)
        for (size_t k = 0; k < 3; k++)
            for (size_t j = 0; j < 2; j++) {
                double one = on_a_star(n[i], kinds[k], sizes[j]),
                       other = on_a_star(n[i] + 1, kinds[k], sizes[j]);
                CU_ASSERT_TRUE(other <= 1.3 * one && one <= 1.3 * other);
                if (other > 1.3 * one || one > 1.3 * other)
                    printf("# %s of %lld bytes: %.0f ns among %d, %.0f among %d\n",
                           th_collective_names[kinds[k]], (long long)sizes[j], one, n[i], other,
                           n[i] + 1);
            }
}

/* The case of broadcasts: chunks of less than 4 KiB. */
TEST(short_broadcasts_are_near_the_best)
{
    th_system *s[] = {of_size("line", 16), of_size("hypercube", 4)};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        th_collective c = collective(s[i], TH_BROADCAST, "ring", 8192);
        near_the_best(s[i], &c);
        th_system_free(s[i]);
    }
}

TAP_MAIN("tuner")
