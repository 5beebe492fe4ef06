/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/program/traffic.h"
#include "tests/unit/mesh_load.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

/* A mesh of x * y of ring8's accelerators. */
static th_system *mesh(int x, int y)
{
    const th_topology_options o = {.dims = {x, y},
                                   .n_dims = 2,
                                   .bits_per_s = {8000000000},
                                   .latency_ps = {1000},
                                   .n_bandwidths = 1,
                                   .n_latencies = 1,
                                   .host_latency_ps = -1};
    th_error e = {"", ""};
    auto_system *prototype = shipped_system("ring8");
    th_system *s = th_topology_create("mesh", th_topology_find("mesh"), &o, prototype, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

/* 1 byte/ns in messages of 100 bytes: one in ten cycles of 10 ns, over 20 us: 200 for each node. */
static const th_traffic_options tenth = {.bytes_per_s = 1e9,
                                         .message_bytes = 100,
                                         .cycle_ps = 10000,
                                         .duration_ps = 20000000,
                                         .seed = 1};

static int64_t add(th_program *p, const th_system *s, const char *pattern,
                   const th_traffic_options *options)
{
    th_error e = {"", ""};
    th_traffic_options o = *options;
    o.pattern = th_traffic_find_pattern(pattern);
    CU_ASSERT_PTR_NOT_NULL_FATAL(o.pattern);
    int64_t n = th_traffic_add(p, s, &o, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_EQUAL(n, p->n_tasks);
    return n;
}

/* --- patterns --------------------------------------------------------------------------------- */

/* On 4 x 4, x fastest: where each node sends, from -1 on: nothing. By hand. */
TEST(permutations_are_as_told)
{
    static const struct {
        const char *pattern;
        int to[16];
    } known[] = {
        {"transpose", {-1, 4, 8, 12, 1, -1, 9, 13, 2, 6, -1, 14, 3, 7, 11, -1}},
        {"bit_complement", {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
        {"bit_reverse", {-1, 8, 4, 12, 2, 10, -1, 14, 1, -1, 5, 13, 3, 11, 7, -1}},
        {"shuffle", {-1, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, -1}},
        /* one of four further in both dimensions: ceil(4/2) - 1 = 1 */
        {"tornado", {5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0}},
        {"neighbor", {5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0}},
    };
    auto_system *s = mesh(4, 4);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        auto_program *p = th_program_new(NULL);
        int wrong = 0, sent[16] = {0};
        add(p, s, known[k].pattern, &tenth);
        for (int32_t i = 0; i < p->n_tasks; i++) {
            wrong += p->tasks[i].peer != known[k].to[p->tasks[i].node];
            sent[p->tasks[i].node]++;
        }
        for (int i = 0; i < 16; i++)
            wrong += (sent[i] > 0) != (known[k].to[i] >= 0);
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

/* 5 x 2: two further along the first, none along the second (ceil(2/2) - 1 = 0). */
TEST(tornado_goes_nearly_half_way)
{
    auto_system *s = mesh(5, 2);
    auto_program *p = th_program_new(NULL);
    add(p, s, "tornado", &tenth);
    for (int32_t i = 0; i < p->n_tasks; i++) {
        int from = p->tasks[i].node, to = p->tasks[i].peer;
        CU_ASSERT_TRUE(to / 5 == from / 5 && to % 5 == (from % 5 + 2) % 5);
    }
}

/* 15 others of 16, about 200 messages of each: every pair talks; no node to itself. */
TEST(uniform_and_all_to_all_reach_all_others)
{
    static const char *const patterns[] = {"uniform", "all_to_all"};
    auto_system *s = mesh(4, 4);
    for (int k = 0; k < 2; k++) {
        auto_program *p = th_program_new(NULL);
        int count[16][16] = {{0}};
        add(p, s, patterns[k], &tenth);
        for (int32_t i = 0; i < p->n_tasks; i++)
            count[p->tasks[i].node][p->tasks[i].peer]++;
        for (int a = 0; a < 16; a++)
            for (int b = 0; b < 16; b++) {
                int fewest = count[a][(a + 15) % 16]; /* the last of the turn */
                CU_ASSERT_EQUAL(count[a][b] > 0, a != b);
                if (k == 1 && a != b)
                    CU_ASSERT_TRUE(count[a][b] == fewest || count[a][b] == fewest + 1);
            }
    }
}

/* 40 % to node 3, and of the rest one in 15: 44 % of 15 x 200; node 3 sends to others only. */
TEST(a_hotspot_draws_its_share)
{
    th_traffic_options o = tenth;
    o.hotspot = 3;
    o.hotspot_share = 0.4;
    auto_system *s = mesh(4, 4);
    auto_program *p = th_program_new(NULL);
    int hot = 0, from_others = 0;
    add(p, s, "hotspot", &o);
    for (int32_t i = 0; i < p->n_tasks; i++) {
        from_others += p->tasks[i].node != 3;
        hot += p->tasks[i].peer == 3;
    }
    CU_ASSERT_DOUBLE_EQUAL((double)hot / from_others, 0.4 + 0.6 / 15, 0.04);
}

/* --- processes -------------------------------------------------------------------------------- */

/* 16 x 200 messages in the mean; Poisson has a standard deviation of sqrt(3200) = 57, Bernoulli
 * less. */
TEST(both_processes_keep_the_rate)
{
    auto_system *s = mesh(4, 4);
    for (int k = 0; k < 2; k++) {
        auto_program *p = th_program_new(NULL);
        th_traffic_options o = tenth;
        o.process = k ? TH_TRAFFIC_POISSON : TH_TRAFFIC_BERNOULLI;
        o.start_ps = 5000000;
        o.delay_ps = 77;
        CU_ASSERT_DOUBLE_EQUAL((double)add(p, s, "uniform", &o), 3200, 3 * 57);
        int wrong = 0, off_cycle = 0;
        for (int32_t i = 0; i < p->n_tasks; i++) {
            const th_task *t = &p->tasks[i];
            th_time before = i > 0 ? t[-1].release_ps : o.start_ps;
            wrong += t->release_ps < before || t->release_ps >= o.start_ps + o.duration_ps ||
                     t->bytes != 100 || t->delay_ps != 77 || t->kind != TH_TASK_TRANSFER;
            off_cycle += (t->release_ps - o.start_ps) % o.cycle_ps != 0;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(off_cycle > 0, k == 1);
    }
}

/* Variance of the times between messages of one node: of the exponential, the mean squared. */
TEST(poisson_gaps_are_exponential)
{
    th_traffic_options o = tenth;
    o.process = TH_TRAFFIC_POISSON;
    o.duration_ps = 2000000000; /* 20000 messages of 100 ns */
    auto_system *s = mesh(2, 1);
    auto_program *p = th_program_new(NULL);
    double sum = 0, squares = 0;
    th_time last = 0;
    int n = 0;
    add(p, s, "neighbor", &o);
    for (int32_t i = 0; i < p->n_tasks; i++) {
        if (p->tasks[i].node != 0)
            continue;
        double gap = (double)(p->tasks[i].release_ps - last);
        last = p->tasks[i].release_ps;
        sum += gap;
        squares += gap * gap;
        n++;
    }
    double mean = sum / n;
    CU_ASSERT_DOUBLE_EQUAL(mean, 100000, 3000);
    CU_ASSERT_DOUBLE_EQUAL(sqrt(squares / n - mean * mean) / mean, 1, 0.05);
}

TEST(a_cycle_of_probability_one_is_always_taken)
{
    th_traffic_options o = tenth;
    o.bytes_per_s = 1e10;
    auto_system *s = mesh(2, 2);
    auto_program *p = th_program_new(NULL);
    CU_ASSERT_EQUAL(add(p, s, "uniform", &o), 4 * 2000);
}

static bool same_tasks(const th_program *a, const th_program *b)
{
    return a->n_tasks == b->n_tasks &&
           memcmp(a->tasks, b->tasks, (size_t)a->n_tasks * sizeof *a->tasks) == 0;
}

TEST(a_seed_gives_the_same_messages)
{
    auto_system *s = mesh(4, 4);
    th_program *p[3];
    for (int i = 0; i < 3; i++) {
        th_traffic_options o = tenth;
        o.seed = i < 2 ? 9 : 10;
        p[i] = th_program_new(NULL);
        add(p[i], s, "uniform", &o);
    }
    CU_ASSERT_TRUE(same_tasks(p[0], p[1]));
    CU_ASSERT_FALSE(same_tasks(p[0], p[2]));
    for (int i = 0; i < 3; i++)
        th_program_free(p[i]);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void assert_refused(const th_system *s, th_traffic_options o, const char *id)
{
    th_error e = {"", ""};
    auto_program *p = th_program_new(NULL);
    CU_ASSERT_EQUAL(th_traffic_add(p, s, &o, &e), -1);
    TAP_ASSERT_TEXT(e.id, id);
    CU_ASSERT_EQUAL(p->n_tasks, 0);
}

#define WITH(field, value) (o = tenth, o.field = (value), o)

static int n_asked;

static bool at_the_third_asking(void)
{
    return ++n_asked == 3;
}

/* 6 nodes: asked at the first message of each. */
TEST(an_interruption_adds_nothing)
{
    auto_system *s = mesh(3, 2);
    th_traffic_options o;
    (void)WITH(is_interrupted, at_the_third_asking);
    n_asked = 0;
    assert_refused(s, o, "BASE-0008");
    CU_ASSERT_EQUAL(n_asked, 3);
}

TEST(bad_options_are_refused)
{
    th_traffic_options o;
    auto_system *s = mesh(3, 2), *one = mesh(1, 1);
    assert_refused(one, tenth, "NET-0020");
    assert_refused(s, WITH(bytes_per_s, 0), "NET-0021");
    assert_refused(s, WITH(bytes_per_s, NAN), "NET-0021");
    assert_refused(s, WITH(message_bytes, 0), "NET-0021");
    assert_refused(s, WITH(duration_ps, 0), "NET-0021");
    assert_refused(s, WITH(start_ps, -1), "NET-0021");
    assert_refused(s, WITH(start_ps, TH_TIME_MAX), "NET-0021");
    assert_refused(s, WITH(delay_ps, -1), "NET-0021");
    assert_refused(s, WITH(cycle_ps, 0), "NET-0022");
    assert_refused(s, WITH(bytes_per_s, 1.01e10), "NET-0023");
    o = tenth;
    o.process = TH_TRAFFIC_POISSON;
    o.bytes_per_s = 1e20;
    assert_refused(s, o, "NET-0024");
    o.bytes_per_s = 0.5e9 * o.message_bytes * TH_PS_PER_S / o.duration_ps; /* of each of six */
    assert_refused(s, o, "NET-0024");
    static const char *const patterns[] = {"transpose", "bit_reverse", "shuffle"};
    for (int i = 0; i < 3; i++)
        assert_refused(s, WITH(pattern, th_traffic_find_pattern(patterns[i])), "NET-0025");
    assert_refused(s, WITH(pattern, th_traffic_find_pattern("hotspot")), "NET-0026");
    o.hotspot_share = 0.5;
    o.hotspot = 6;
    o.process = TH_TRAFFIC_BERNOULLI;
    assert_refused(s, o, "NET-0026");
    CU_ASSERT_PTR_NULL(th_traffic_find_pattern("uni"));
}

TEST(every_pattern_is_found_by_its_name)
{
    for (int i = 0; th_traffic_patterns[i]; i++)
        CU_ASSERT_PTR_EQUAL(th_traffic_find_pattern(th_traffic_patterns[i]->name),
                            th_traffic_patterns[i]);
}

/* --- the known answer of the packet network --------------------------------------------------- */

static double latency_at(const mesh_case *k, const th_system *s, const th_compute_cost_cache *w,
                         double load)
{
    /* On a transposed mesh a few links are full before the others, and how late their packets are
     * in the mean depends on how long the traffic goes on. BookSim2's loads are those of 6000
     * cycles. */
    const int cycles = load < 0.05 ? 20000 : k->flits > 1 || load < 0.3 ? 6000 : 3000;
    th_error e = {"", ""};
    mesh_run run = {
        .is = k, .load = load, .warm_cycles = cycles / 2, .measured_cycles = cycles, .seed = 4};
    CU_ASSERT_EQUAL(mesh_replay(&run, s, w, NULL, NULL, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    return run.latency_cycles;
}

/* BookSim2's latencies on the 8 x 8 mesh, up to 0.45 flits per node and cycle. There they grow by a
 * third for a fiftieth more load; without allocation cycles ours would be 17 % less, without a
 * limit of crossbar inputs 22 %. */
TEST(the_mesh_has_the_latencies_of_booksim)
{
    const double within[MESH_N_LOADS] = {0.02, 0.02, 0.02, 0.02, 0.05, 0.12};
    th_error e = {"", ""};
    auto_system *prototype = shipped_system("ring8");
    auto_system *s = mesh_system(prototype, &mesh_cases[0], &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    for (int i = 0; i < MESH_N_LOADS; i += TAP_STRIDE) {
        double booksim = mesh_latency_to_others(mesh_booksim[i].latency);
        double ours = latency_at(&mesh_cases[0], s, w, mesh_load_to_others(mesh_booksim[i].load));
        CU_ASSERT_DOUBLE_EQUAL(ours / booksim, 1, within[i]);
        if (fabs(ours / booksim - 1) > within[i])
            printf("# load %g: %g cycles, not %g\n", mesh_booksim[i].load, ours, booksim);
    }
}

enum { SATURATION_BAR = 6 }; /* percent */

/* Is three times the latency at no load reached between these shares of BookSim2's load? */
static bool saturates_between(const mesh_case *k, const th_system *s, double from, double to)
{
    th_compute_cost_cache *w = th_compute_cost_cache_new(s, NULL);
    double none = latency_at(k, s, w, 0.01), below = latency_at(k, s, w, from * k->saturation),
           above = latency_at(k, s, w, to * k->saturation);
    th_compute_cost_cache_free(w);
    if (below < 3 * none && above > 3 * none)
        return true;
    printf("# %s %s %d: %g, %g and %g cycles\n", k->topology, k->pattern, k->flits, none, below,
           above);
    return false;
}

/* Within the bar; of a case that is known to miss it, not worse by more than a tenth. */
static void check_saturation(const mesh_case *k)
{
    th_error e = {"", ""};
    auto_system *prototype = shipped_system("ring8");
    auto_system *s = mesh_system(prototype, k, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    const double bar = SATURATION_BAR / 100.0, worst = 1.1 * k->known_miss / 100;
    if (k->known_miss > 0) {
        CU_ASSERT_TRUE(saturates_between(k, s, 1 - worst, 1 - bar));
        tap_known_miss("got %d to %g %% below BookSim2, bar %d %%", (int)SATURATION_BAR,
                       100 * worst, (int)SATURATION_BAR);
    } else {
        CU_ASSERT_TRUE(saturates_between(k, s, 1 - bar, 1 + bar));
    }
}

/* Three times the latency at no load is reached within 6 % of where BookSim2's is. */
TEST(meshes_and_tori_saturate_where_booksim_does)
{
    for (int i = 0; i < MESH_N_CASES; i += TAP_STRIDE)
        if (mesh_cases[i].known_miss == 0)
            check_saturation(&mesh_cases[i]);
}

TEST(a_transposed_torus_saturates_where_booksim_does_1_flit)
{
    check_saturation(&mesh_cases[MESH_N_CASES - 2]);
}

TEST(a_transposed_torus_saturates_where_booksim_does_8_flits)
{
    check_saturation(&mesh_cases[MESH_N_CASES - 1]);
}

TAP_MAIN("traffic")
