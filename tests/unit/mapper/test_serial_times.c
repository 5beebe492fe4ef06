/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_serial_times.c - random mappings of small networks where transfers are serial: every task
 * begins and ends in the picosecond of serial_times.txt, whatever accelerators share: links of
 * their own, one behind a switch, a host with links to all; DRAMs that are slower than links. */
#include <config.h>
#include <inttypes.h>
#include "base/alloc.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

typedef struct {
    th_time end_ps, latency_ps; /* the latter as a search finds it; 0: not asked */
    uint64_t digest;
} line;

static th_system *random_system(gsl_rng *r)
{
    static const char *const dram[] = {"unlimited", "1TB/s", "3GB/s"};
    static const int mbps[] = {1, 7, 1000, 8000, 12345, 64000};
    static const char *const latency[] = {"0ns", "1ns", "333ps", "2us"};
    static const char *const names[] = {"name = \"a0\";", "name = \"a1\";", "name = \"a2\";",
                                        "name = \"a3\";", "count = 1;"};
    auto_strbuf t = TH_STRBUF_INIT;
    enum { STAR, TREE, MESH };
    int n = (int)pick(r, 1, 4), d = (int)pick(r, 0, 2), shape = (int)pick(r, STAR, MESH);
    th_strbuf_printf(&t,
                     "name = \"t\"; transfers = \"serial\"; weight_memory = %.2f; designs = ( "
                     "{ name = \"d0\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 4; "
                     "}, { name = \"d1\"; type = \"serial_tiled\"; clock = \"200MHz\"; bus_bits = "
                     "32; tile_k = 2; tile_c = 2; tile_h = 2; tile_w = 2; } ); accelerators = ( ",
                     (double)pick(r, 0, 4) / 4);
    for (int a = 0; a < n; a++)
        th_strbuf_printf(&t,
                         "%s{ %s dram = { capacity = \"%dkB\"; bandwidth = \"%s\"; "
                         "latency = \"%dns\"; }; vector = { clock = \"250MHz\"; "
                         "elements_per_cycle = 2; }; designs = [\"d0\", \"d1\"]; }",
                         a > 0 ? ", " : "", names[shape == MESH ? 4 : a], pick(r, 0, 1) ? 16 : 1000,
                         dram[d], (int)pick(r, 0, 1) * 30);
    th_strbuf_add(&t, " ); ");
    if (shape == MESH) {
        th_strbuf_printf(&t,
                         "topology = { type = \"fully_connected\"; dims = [%d]; bandwidth = "
                         "\"8Gbps\"; latency = \"100ns\"; host = { bandwidth = \"%dMbps\"; }; };",
                         n, mbps[pick(r, 0, 5)]);
    } else {
        const char *hub = shape == TREE ? "sw" : "host";
        th_strbuf_printf(&t, "hosts = ( \"host\" ); %s links = ( ",
                         shape == TREE ? "switches = ( \"sw\" );" : "");
        for (int a = 0; a < n; a++)
            th_strbuf_printf(&t,
                             "%s{ center = \"%s\"; leaves = [\"a%d\"]; bandwidth = \"%dMbps\"; "
                             "latency = \"%s\"; duplex = \"%s\"; }",
                             a > 0 ? ", " : "", hub, a, mbps[pick(r, 0, 5)], latency[pick(r, 0, 3)],
                             pick(r, 0, 1) ? "full" : "half");
        if (shape == TREE)
            th_strbuf_printf(&t,
                             ", { center = \"host\"; leaves = [\"sw\"]; bandwidth = \"%dMbps\"; "
                             "latency = \"%s\"; duplex = \"full\"; }",
                             mbps[pick(r, 0, 5)], latency[pick(r, 0, 3)]);
        th_strbuf_add(&t, " );");
    }
    return system_of(t.text);
}

static void random_queues(gsl_rng *r, const th_workload *w, th_mapping *m)
{
    if (pick(r, 0, 2) == 0 || th_mapping_add_queues(m))
        return;
    bool *done = th_alloc_zero((size_t)w->n_layers, sizeof *done);
    for (int i = 0; i < w->n_layers;) {
        int l = (int)pick(r, 0, w->n_layers - 1);
        bool ready = !done[l];
        for (int k = 0; k < w->layers[l].n_inputs; k++)
            ready &= w->layers[l].inputs[k] < 0 || done[w->layers[l].inputs[k]];
        if (!ready)
            continue;
        done[l] = true;
        m->order[i++] = l;
    }
    for (int l = 0; l < w->n_layers; l++)
        m->weights[l] = (uint8_t)(pick(r, 0, 3) == 0 ? TH_WEIGHTS_PINNED : pick(r, 0, 1) * 2);
    m->activations_cross = pick(r, 0, 1);
    th_free(done);
}

/* The end of the run, and a digest of layer, begin and end of all its tasks. */
static void run(const th_system *s, const th_program *p, const th_compute_cost_cache *costs,
                line *out)
{
    th_error e = {"", ""};
    th_machine_options o = {.network = NULL};
    th_network_of_mappings(s, &o.network, &o.network_options);
    auto_machine *m = th_machine_new(s, costs, &o, &e);
    if (!m || th_machine_load(m, p, &e) || th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE)
        bail_out(&e);
    const th_task_result *t = th_machine_times(m);
    for (int i = 0; i < p->n_tasks; i++) {
        out->end_ps = t[i].end_ps > out->end_ps ? t[i].end_ps : out->end_ps;
        out->digest = th_hash_word(out->digest, (uint64_t)p->tasks[i].layer);
        out->digest = th_hash_word(out->digest, (uint64_t)t[i].start_ps);
        out->digest = th_hash_word(out->digest, (uint64_t)t[i].end_ps);
    }
}

/* Whatever network is asked for. */
static void find_latency(th_problem *p, const th_mapping *m, line *out)
{
    th_error e = {"", ""};
    th_fitness f;
    auto_evaluator *v = th_evaluator_new(p, &e);
    if (!v || th_evaluator_run(v, m, INFINITY, &f, &e))
        bail_out(&e);
    out->latency_ps = f.metrics.latency_ps;
}

/* A line of zeros: the mapping does not fit. */
static line line_of(int number)
{
    th_error e = {"", ""};
    line out = {0, 0, 0};
    auto_rng *r = th_random_stream((uint64_t)number, "serial", 0);
    auto_system *s = random_system(r);
    auto_workload *w = random_workload(r);
    th_problem problem = {.system = s, .workload = w, .stream = random_stream(r, w)};
    auto_lower *l = th_lower_new(s, w, &e);
    auto_program *p = th_program_new(&e);
    auto_mapping *m = random_mapping(r, s, w, w->batch / problem.stream.micro_batches);
    if (!l || !p)
        bail_out(&e);
    if (m)
        random_queues(r, w, m);
    if (m && th_mapping_check(m, s, w, &e) == 0 &&
        th_lower_program(l, m, &problem.stream, p, &e) == 0) {
        run(s, p, th_lower_costs(l), &out);
        problem.network = th_network_types[number % 3];
        if (problem.stream.n_inputs == 1)
            find_latency(&problem, m, &out);
    }
    return out;
}

/* THARSIS_GOLDEN=FILE writes the numbers there instead. */
TEST(every_task_begins_and_ends_when_it_did)
{
    enum { CASES = 900, RUNS_MIN = 600 };
    const char *top = getenv("srcdir"), *made = getenv("THARSIS_GOLDEN");
    char path[4096];
    int n_runs = 0, n_wrong = 0;
    snprintf(path, sizeof path, "%s/tests/unit/mapper/serial_times.txt", top ? top : ".");
    FILE *file = fopen(made ? made : path, made ? "w" : "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (int i = 0; i < CASES; i++) {
        line x = line_of(i), old = x;
        if (made)
            fprintf(file, "%lld %016llx\n", (long long)x.end_ps, (unsigned long long)x.digest);
        else if (fscanf(file, "%" SCNd64 " %" SCNx64, &old.end_ps, &old.digest) != 2)
            n_wrong++;
        n_runs += x.end_ps > 0;
        bool is_same = x.end_ps == old.end_ps && x.digest == old.digest;
        if (!is_same && n_wrong++ == 0)
            printf("# case %d: ends at %lld ps, ended at %lld\n", i, (long long)x.end_ps,
                   (long long)old.end_ps);
        if (x.latency_ps > 0 && x.latency_ps != x.end_ps && n_wrong++ == 0)
            printf("# case %d: ends at %lld ps, in a search at %lld\n", i, (long long)x.end_ps,
                   (long long)x.latency_ps);
    }
    fclose(file);
    printf("# %d runs\n", n_runs);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_runs > RUNS_MIN);
}

TAP_MAIN("serial_times")
