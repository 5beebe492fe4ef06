/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_lower_random.c - random layers, graphs, shardings and sets, lowered and held against an
 * oracle that keeps book element by element (lower_oracle.h). A failure prints the number of its
 * case; THARSIS_CASE=N runs that one alone. */
#include <config.h>
#include "tests/unit/mapper/lower_oracle.h"
#include "tests/unit/tap.h"

enum {
    CASES = TAP_REPEATS(3000),
    MAPPINGS = 3 /* per case, by one th_lower: its memos must not mix them up */
};

static int n_wrong;
static int n_own, n_shared; /* layers on sets with own designs, with shares */
static int n_chunked, n_chunked_reducing;
static int n_copied, n_copied_parts, n_copied_rotating, n_copied_reducing;
static int n_programs, n_streams, n_rotating, n_reducing, n_products, n_rotating_products, n_up;
static int n_of_kind[TH_LAYER_ATTENTION + 1];

static void count_layer(const th_layer *l, const th_strategy *s)
{
    bool is_product = l->kind == TH_LAYER_MATMUL && l->n_inputs == 2;
    n_of_kind[l->kind]++;
    n_rotating += s->rotate != TH_NO_ROTATION;
    n_reducing += s->split[TH_DIM_C] * s->split[TH_DIM_R] * s->split[TH_DIM_S] > 1;
    n_chunked += s->chunks > 0;
    n_chunked_reducing +=
        s->chunks > 0 && s->split[TH_DIM_C] * s->split[TH_DIM_R] * s->split[TH_DIM_S] > 1;
    n_copied += s->copies > 0;
    n_copied_rotating += s->copies > 0 && s->rotate != TH_NO_ROTATION;
    n_copied_reducing +=
        s->copies > 0 && s->split[TH_DIM_C] * s->split[TH_DIM_R] * s->split[TH_DIM_S] > 1;
    n_copied_parts +=
        s->copies > 0 &&
        s->split[TH_DIM_B] * s->split[TH_DIM_K] * s->split[TH_DIM_H] * s->split[TH_DIM_W] > 1;
    n_products += is_product;
    n_rotating_products += is_product && s->rotate != TH_NO_ROTATION;
    n_up += l->up_h > 1;
}

static bool all_kinds_came(void)
{
    bool all = n_products > TAP_REPEATS(300) && n_rotating_products > TAP_REPEATS(30) &&
               n_up > TAP_REPEATS(300);
    printf("# layers by kind:");
    for (int i = 0; i <= TH_LAYER_ATTENTION; i++) {
        printf(" %d", n_of_kind[i]);
        all &= n_of_kind[i] > TAP_REPEATS(100);
    }
    printf("\n# %d products of two inputs (%d rotating), %d transposed convolutions\n", n_products,
           n_rotating_products, n_up);
    return all;
}

/* What fills a memory adds up to its peak, which some task of its pass meets. */
static int check_peaks(th_lower *lower, const th_mapping *m, const th_stream *stream, int n_accels)
{
    int wrong = 0;
    for (int a = 0; a < n_accels; a++) {
        th_memory_peak p;
        th_peak_place place;
        int64_t sum = 0, weights = 0, peak = th_lower_peak_bytes(lower)[a];
        wrong += th_lower_held(lower, m, stream, a, &p, NULL) != 0;
        for (size_t i = 0; i < p.n; i++) {
            sum += p.held[i].bytes;
            weights += p.held[i].kind == TH_HELD_WEIGHTS ? p.held[i].bytes : 0;
        }
        wrong += sum != peak || weights != th_lower_weight_bytes(lower)[a];
        wrong += th_lower_peak_of(lower, a, &place) != (peak > 0);
        wrong += peak > 0 && (place.first_task < 0 || place.end_task <= place.first_task);
        th_memory_peak_clear(&p);
    }
    return wrong;
}

static void check_mapping(gsl_rng *r, const th_system *s, const th_workload *w, th_lower *lower,
                          th_program *program)
{
    th_stream stream = random_stream(r, w);
    th_mapping *m = random_mapping(r, s, w, w->batch / stream.micro_batches);
    th_error e = {"", ""};
    if (!m)
        return;
    if ((stream.micro_batches == 1 && th_mapping_check(m, s, w, &e)) ||
        th_lower_program(lower, m, &stream, program, &e)) {
        printf("# %s %s\n", e.id, e.text);
        n_wrong++;
    } else {
        n_wrong += th_oracle_check(s, w, m, &stream, lower, program);
        n_wrong += check_peaks(lower, m, &stream, s->n_accels);
        n_programs++;
        n_streams += stream.n_inputs * stream.micro_batches > 1;
        for (int l = 0; l < w->n_layers; l++) {
            const th_set *set = &m->sets[m->set_of[l]];
            n_own += set->design == TH_DESIGN_OWN && set->n_accels > 1;
            n_shared += set->shares && set->n_accels > 1;
            count_layer(&w->layers[l], &m->strategy[l]);
        }
    }
    th_mapping_free(m);
}

static void check_case(th_system *const *systems, int n_systems, int number)
{
    auto_rng *r = th_random_stream(7, "lower", (uint64_t)number);
    th_error e = {"", ""};
    const th_system *s = systems[pick(r, 0, n_systems - 1)];
    auto_workload *w = random_workload(r);
    auto_lower *lower = th_lower_new(s, w, &e);
    auto_program *program = th_program_new(&e);
    if (!lower || !program)
        bail_out(&e);
    for (int i = 0; i < MAPPINGS && n_wrong == 0; i++)
        check_mapping(r, s, w, lower, program);
}

TEST(programs_match_the_oracle)
{
    th_system *systems[] = {
        system_of(RANDOM_TOPOLOGY("type = \"ring\"; dims = [6];")),
        system_of(
            RANDOM_TOPOLOGY("type = \"ring\"; dims = [4]; host = { bandwidth = \"2Gbps\"; };")),
        system_of(RANDOM_TOPOLOGY("type = \"mesh\"; dims = [2, 4];")),
        shipped_system("f1_16xlarge"),
        system_of(
            "name = \"two\"; "
            "designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
            "macs_per_cycle = 1; } ); accelerators = ( { count = 5; dram = { capacity = "
            "\"1GiB\"; bandwidth = \"8GB/s\"; }; vector = { clock = \"1GHz\"; "
            "elements_per_cycle = 1; }; designs = [\"d\"]; } ); hosts = ( \"h\", \"i\" ); "
            "links = ( { all_pairs = [\"0\", \"1\", \"2\", \"3\", \"4\"]; bandwidth = \"8Gbps\"; "
            "latency = \"1us\"; }, { between = [\"h\", \"0\"]; bandwidth = \"2Gbps\"; latency = "
            "\"1us\"; }, { between = [\"i\", \"2\"]; bandwidth = \"3Gbps\"; latency = \"1us\"; }, "
            "{ between = [\"h\", \"i\"]; bandwidth = \"1Gbps\"; latency = \"1us\"; } );"),
    };
    enum { N = sizeof systems / sizeof *systems };
    const char *only = getenv("THARSIS_CASE");
    n_wrong = 0;
    for (int i = only ? atoi(only) : 0; i < CASES && n_wrong == 0; i++) {
        check_case(systems, N, i);
        if (n_wrong > 0)
            printf("# case %d\n", i);
        if (only)
            break;
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    printf("# %d programs, %d streams, %d rotating and %d reducing layers, %d on sets with own "
           "designs, %d with shares\n",
           n_programs, n_streams, n_rotating, n_reducing, n_own, n_shared);
    printf("# %d layers in chunks, %d of them reducing\n", n_chunked, n_chunked_reducing);
    CU_ASSERT_TRUE(only ||
                   (n_chunked > TAP_REPEATS(1000) && n_chunked_reducing > TAP_REPEATS(100)));
    printf("# %d layers in copies: %d of several parts, %d rotating, %d reducing\n", n_copied,
           n_copied_parts, n_copied_rotating, n_copied_reducing);
    CU_ASSERT_TRUE(only ||
                   (n_copied_parts > TAP_REPEATS(500) && n_copied_rotating > TAP_REPEATS(300) &&
                    n_copied_reducing > TAP_REPEATS(300)));
    CU_ASSERT_TRUE(all_kinds_came() || only);
    CU_ASSERT_TRUE(only || (n_programs > 2 * CASES && n_streams > TAP_REPEATS(1000) &&
                            n_rotating > TAP_REPEATS(1000) && n_reducing > TAP_REPEATS(1000) &&
                            n_own > TAP_REPEATS(1000) && n_shared > TAP_REPEATS(1000)));
    for (int i = 0; i < N; i++)
        th_system_free(systems[i]);
}

TAP_MAIN("lower_random")
