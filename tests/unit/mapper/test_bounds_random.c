/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_bounds_random.c - on random systems of heterogeneous accelerators and of all designs, no
 * shard exceeds the rate of its design, and no mapping is below any bound. A failure prints the
 * number of its case; THARSIS_CASE=N runs that one alone. */
#include <config.h>
#include "mapper/evaluate/bounds_layer.h"
#include "mapper/evaluate/bounds_task.h"
#include "mapper/lower/plan_state.h"
#include "mapper/strategies.h"
#include "tests/unit/mapper/bounds_help.h"
#include "tests/unit/learned_help.h"
#include "tests/unit/random_net.h"

/* --- random systems --------------------------------------------------------------------------- */

enum { KINDS_MAX = 3 };

static const char *const designs[] = {
    "type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 4; bandwidth = \"3GB/s\"",
    "type = \"roofline\"; clock = \"300MHz\"; macs_per_cycle = 16; efficiency = 0.7; zero_skipping "
    "= \"both\"",
    "type = \"tiled\"; clock = \"500MHz\"; tile_k = 2; tile_c = 3; tile_h = 2; tile_w = 3; "
    "input_port = 4; "
    "weight_port = 3; output_port = 2",
    "type = \"systolic\"; clock = \"700MHz\"; rows = 4; cols = 2; dataflow = \"ws\"",
    "type = \"systolic\"; clock = \"700MHz\"; rows = 2; cols = 4; dataflow = \"os\"",
    "type = \"systolic_vec\"; clock = \"400MHz\"; rows = 2; cols = 3; vec = 2; input_port = 3; "
    "weight_port = 2; output_port = 2",
    "type = \"winograd\"; clock = \"500MHz\"; m = 2; r = 3; pn = 1; pm = 2; input_port = 4; "
    "weight_port = 4; "
    "output_port = 4; weight_buffer = \"4KiB\"",
    "type = \"gemv\"; clock = \"600MHz\"; lanes = 6; gate_lanes = 2; weight_buffer = \"1KiB\"; "
    "input_port = 2; "
    "weight_port = 4; output_port = 2",
    "type = \"serial_tiled\"; clock = \"200MHz\"; bus_bits = 32; tile_k = 2; tile_c = 2; tile_h = "
    "2; tile_w = 2",
    "type = \"script\"; procedure = \"p\"; clock = \"100MHz\"",
    "type = \"learned\"; model = \"%s\"; gpu = \"large\"",
    "type = \"table\"; file = \"%s\"",
};
enum { N_DESIGNS = sizeof designs / sizeof *designs };

static void add_design(th_strbuf *t, gsl_rng *r, int number, const char *model, const char *table)
{
    const char *text = designs[pick(r, 0, N_DESIGNS - 1)];
    th_strbuf_printf(t, "%s{ name = \"d%d\"; ", number > 0 ? ", " : "", number);
    if (strstr(text, "learned"))
        th_strbuf_printf(t, "type = \"learned\"; model = \"%s\"; gpu = \"large\"", model);
    else if (strstr(text, "table"))
        th_strbuf_printf(t, "type = \"table\"; file = \"%s\"", table);
    else
        th_strbuf_add(t, text);
    th_strbuf_add(t, "; }");
}

/* Of n accelerators, with designs from the first on. */
static void add_kind(th_strbuf *t, gsl_rng *r, int kind, int n, int first, int n_designs)
{
    static const char *const bandwidths[] = {"unlimited", "1GB/s", "20GB/s"};
    th_strbuf_printf(
        t,
        "%s{ count = %d; dram = { capacity = \"1GiB\"; bandwidth = \"%s\"; latency = \"%dns\"; }; "
        "vector = { clock = \"%dMHz\"; elements_per_cycle = %d; }; designs = [",
        kind > 0 ? ", " : "", n, bandwidths[pick(r, 0, 2)], (int)pick(r, 0, 2) * 30,
        (int)pick(r, 1, 4) * 250, (int)pick(r, 1, 4));
    for (int d = 0; d < n_designs; d++)
        th_strbuf_printf(t, "%s\"d%d\"", d > 0 ? ", " : "", first + d);
    th_strbuf_add(t, "]; }");
}

/* One to three kinds, each of one or two accelerators and designs, round a host. */
static th_system *random_system(gsl_rng *r, const char *model, const char *table)
{
    auto_strbuf text = TH_STRBUF_INIT;
    int n_kinds = (int)pick(r, 1, KINDS_MAX), n_designs[KINDS_MAX], n = 0, n_accels = 0;
    th_strbuf_printf(&text, "name = \"t\"; %s designs = ( ",
                     pick(r, 0, 4) == 0 ? "transfers = \"serial\";" : "");
    for (int k = 0; k < n_kinds; k++) {
        n_designs[k] = (int)pick(r, 1, 2);
        for (int d = 0; d < n_designs[k]; d++)
            add_design(&text, r, n++, model, table);
    }
    th_strbuf_add(&text, " ); accelerators = ( ");
    for (int k = 0, first = 0; k < n_kinds; first += n_designs[k++]) {
        int count = (int)pick(r, 1, 2);
        add_kind(&text, r, k, count, first, n_designs[k]);
        n_accels += count;
    }
    th_strbuf_add(&text, " ); ");
    th_strbuf_printf(&text,
                     "topology = { type = \"fully_connected\"; dims = [%d]; bandwidth = \"8Gbps\"; "
                     "latency = \"100ns\"; host = { bandwidth = \"%dGbps\"; }; };",
                     n_accels, (int)pick(r, 1, 4));
    return system_of(text.text);
}

/* Times of most shards of even cuts of the layers, of which any may be the fastest for its
 * operations. */
static temporary_file table_for(gsl_rng *r, const th_workload *w)
{
    auto_strbuf text = TH_STRBUF_INIT;
    auto_map *known = th_map_new();
    int64_t seen;
    th_strbuf_add(&text, "kind,B,K,C,H,W,R,S,stride,groups,time_ns\nconv,1,1,1,1,1,1,1,9,1,5\n");
    for (int l = 0; l < w->n_layers; l++) {
        const th_layer *x = &w->layers[l];
        const char *kind = x->kind == TH_LAYER_CONV ? "conv" : x->kind == TH_LAYER_FC ? "fc" : NULL;
        for (int n = 1; kind && n <= 4; n++) {
            th_strategy *list;
            int count = th_strategies_list_all(x, w->batch, n, &list);
            for (int i = 0; i < count * n; i++) {
                th_loop_box loops = th_shard_loops(x, w->batch, &list[i / n], NULL, i % n);
                th_shard s = th_plan_shard(x, &loops);
                int32_t key[] = {x->kind,  s.dim[0], s.dim[1], s.dim[2],   s.dim[3],
                                 s.dim[4], s.dim[5], s.dim[6], s.stride_h, s.groups};
                if (th_map_get(known, key, sizeof key, &seen) ||
                    th_map_put(known, key, sizeof key, 1))
                    continue;
                th_strbuf_printf(&text, "%s", kind);
                for (size_t k = 1; k < sizeof key / sizeof *key; k++)
                    th_strbuf_printf(&text, ",%d", (int)key[k]);
                th_strbuf_printf(&text, ",%d\n", (int)pick(r, 1, 500));
            }
            th_free(list);
        }
    }
    return write_text("times.csv", text.text);
}

/* --- no shard exceeds its rate
 * ----------------------------------------------------------------- */

/* One accelerator, whose DRAM is fast enough for the array to count, or slow. */
static th_system *system_of_design(gsl_rng *r, const char *design)
{
    auto_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(
        &text,
        "name = \"t\"; designs = ( { name = \"d\"; %s; } ); accelerators = ( { dram = "
        "{ capacity = \"1GiB\"; bandwidth = \"%dGB/s\"; latency = \"0ns\"; }; vector = { "
        "clock = \"1GHz\"; elements_per_cycle = 3; }; designs = [\"d\"]; } );",
        design, pick(r, 0, 1) ? 1 : 1000);
    return system_of(text.text);
}

/* Queries of heads of one channel or of all, which share one head of keys, and values; some causal,
 * some of these with a window. */
static void put_attention(gsl_rng *r, th_strbuf *text, int channels, int rows)
{
    int heads = pick(r, 0, 1) ? channels : 1;
    th_strbuf_printf(
        text,
        "type = \"slice\"; channels = %d; }, { name = \"v\"; type = \"matmul\"; columns "
        "= %d; }, { name = \"b\"; type = \"fused_attention\"; inputs = [\"input\", "
        "\"a\", \"v\"]; heads = %d; ",
        channels / heads, (int)pick(r, 1, 24), heads);
    if (pick(r, 0, 3) > 0)
        th_strbuf_printf(text, "causal_rows = %d; window = %d; ", rows, (int)pick(r, 1, 2 * rows));
    th_strbuf_add(text, "} );");
}

/* A convolution large enough for arrays to be full, an attention, or what has no
 * multiply-accumulates. */
static th_workload *layer_at_random(gsl_rng *r)
{
    static const char *const others[] = {"relu", "softmax", "layer_norm", "tanh"};
    auto_strbuf text = TH_STRBUF_INIT;
    int groups = pick(r, 0, 3) == 0 ? 2 : 1, c = groups * (int)pick(r, 1, 16);
    int kernel = (int)pick(r, 1, 5), stride = (int)pick(r, 1, 2), rows = (int)pick(r, 5, 20);
    bool is_attention = pick(r, 0, 4) == 0;
    th_strbuf_printf(
        &text,
        "name = \"n\"; batch = %d; element_bytes = 2; input = { channels = %d; height = %d; "
        "width = %d; }; layers = ( { name = \"a\"; ",
        (int)pick(r, 1, 3), c, rows, is_attention ? 1 : (int)pick(r, 5, 20));
    if (is_attention)
        put_attention(r, &text, c, rows);
    else if (pick(r, 0, 4) == 0)
        th_strbuf_printf(&text, "type = \"%s\"; } );", others[pick(r, 0, 3)]);
    else
        th_strbuf_printf(&text,
                         "type = \"conv\"; %soutputs = %d; kernel = %d; stride = %d; padding = %d; "
                         "groups = %d; } );",
                         pick(r, 0, 3) == 0 ? "transposed = true; " : "",
                         groups * (int)pick(r, 1, 24), kernel, stride, (int)pick(r, 0, kernel / 2),
                         groups);
    return workload_of(text.text);
}

/* Any box of the loops, as far as the layer can be split, and its part of the operations. */
static th_loop_box box_at_random(gsl_rng *r, const th_layer *l, double *part)
{
    th_loop_box box = th_layer_loops(l);
    *part = 1;
    for (int d = 0; d < TH_N_DIMS; d++) {
        int32_t extent = box.hi[d];
        if (extent == 1 || !th_layer_can_split(l, (th_dim)d, extent) || pick(r, 0, 1))
            continue;
        box.lo[d] = (int32_t)pick(r, 0, extent - 1);
        box.hi[d] = (int32_t)pick(r, box.lo[d] + 1, extent);
        *part *= (double)(box.hi[d] - box.lo[d]) / extent;
    }
    if (l->kind == TH_LAYER_ATTENTION) {
        int32_t h = l->dim[TH_DIM_H], first = box.lo[TH_DIM_H], end = box.hi[TH_DIM_H];
        *part *= (double)h / (end - first) * (double)th_layer_scores(l, first, end) /
                 (double)th_layer_scores(l, 0, h);
    }
    return box;
}

static int n_boxes, n_close, n_tight;

/* The schedule's time, beside flows that take a part of the DRAM for a while if they are there. */
static th_time time_beside_flows(gsl_rng *r, const th_schedule *s, const th_port *port, bool flows)
{
    th_pipeline p;
    th_time now = 0, pause = (th_time)th_task_least_ps(s, port) / 4;
    th_pipeline_start(&p, s, port, &(th_pipeline_options){.skip = true});
    for (int i = 0; flows && i < 4 && port->bits_per_s != TH_UNLIMITED; i++, now += pause) {
        th_pipeline_advance(&p, s, port, now);
        th_pipeline_set_demand(&p, port, gsl_rng_uniform(r) * 0.9 * (double)port->bits_per_s / 8);
    }
    return th_pipeline_finish(&p, s, port);
}

/* No schedule ends before its bound, whatever flows there are. */
static void check_schedule(gsl_rng *r, const th_schedule *s, const th_port *port)
{
    double least = th_task_least_ps(s, port);
    th_time alone = time_beside_flows(r, s, port, false),
            beside = time_beside_flows(r, s, port, true);
    CU_ASSERT_TRUE((double)alone >= least && (double)beside >= least);
    n_tight += (double)alone <= least * 1.02;
    if ((double)alone < least || (double)beside < least)
        printf("# a schedule takes %lld and %lld ps, not %.3f\n", (long long)alone,
               (long long)beside, least);
}

/* Of the last layer on the system's one accelerator: a box takes its part of what all of the layer
 * takes, in time and in bytes. */
static void check_boxes(gsl_rng *r, const th_system *s, const th_workload *w)
{
    enum { BOXES = 40 };
    const th_problem p = problem_on(s, w, "fluid");
    const int last = w->n_layers - 1;
    const th_layer *l = &w->layers[last];
    th_layer_floor all;
    th_floors f;
    th_error e = {"", ""};
    double ps, part;
    if (th_floors_init(&f, &p, &(th_bounds_scope){.cuts = TH_CUTS_ANY}, &e) ||
        th_floors_layer(&f, last, w->batch, &all, &ps, &e))
        bail_out(&e);
    for (int i = 0; i < BOXES; i++) {
        th_loop_box box = box_at_random(r, l, &part);
        th_shard shard = th_plan_shard(l, &box);
        th_schedule schedule;
        th_port port = th_compute_cost_port(f.costs, 0);
        if (th_compute_cost_schedule(f.costs, 0, 0, &shard, &schedule, &e))
            continue;
        double took = th_task_least_ps(&schedule, &port),
               moved = th_task_least_bytes(&schedule, &port);
        bool holds = took >= part * ps * (1 - 1e-9) && moved >= part * all.dram_bytes * (1 - 1e-9);
        check_schedule(r, &schedule, &port);
        n_boxes++;
        n_close += took <= 1.3 * part * ps;
        if (!holds)
            printf("# %s, %s: %g of it takes %g ps, not %g, moves %g, not %g\n", s->designs[0].type,
                   th_layer_type_name(l), part, took, part * ps, moved, part * all.dram_bytes);
        CU_ASSERT_TRUE(holds);
    }
    th_floors_clear(&f);
}

TEST(no_shard_exceeds_the_rate_of_its_design)
{
    enum { LAYERS = TAP_REPEATS(60) };
    for (int d = 0; d < N_DESIGNS; d++) {
        auto_rng *r = th_random_stream(13, "rates", (uint64_t)d);
        for (int i = 0; i < LAYERS && !strchr(designs[d], '%') && !strstr(designs[d], "script");
             i++) {
            auto_system *s = system_of_design(r, designs[d]);
            auto_workload *w = layer_at_random(r);
            check_boxes(r, s, w);
        }
    }
    printf("# %d boxes, %d of them close to the rate, %d to their bound\n", n_boxes, n_close,
           n_tight);
    CU_ASSERT_TRUE(n_boxes > TAP_REPEATS(10000) && n_close > TAP_REPEATS(500));
}

/* --- no mapping is below any bound
 * ------------------------------------------------------------- */

typedef struct {
    int number;
    const th_problem *problem;
    const char *of; /* which bounds */
} which;

/* Those that work on any system; the others want files of ASTRA-sim. */
static const char *const networks[] = {"fluid", "ideal", "packet"};
enum { N_NETWORKS = sizeof networks / sizeof *networks };

static int n_wrong, n_runs, n_shared, n_known, n_serial, ran_on[N_NETWORKS], ran_with[N_DESIGNS];

static bool is_type(const th_design_block *d, const char *design)
{
    char type[40];
    snprintf(type, sizeof type, "type = \"%s\"", d->type);
    return strstr(design, type) != NULL;
}

/* Which networks and designs have been compared with the bounds. */
static void count_run(const th_problem *p, const th_mapping *m)
{
    int network = 0;
    while (strcmp(networks[network], p->network->name) != 0)
        network++;
    n_runs++;
    n_serial += p->system->transfers_serially;
    ran_on[network] += !p->system->transfers_serially;
    for (int i = 0; i < m->n_sets; i++)
        for (int r = 0; r < m->sets[i].n_accels; r++)
            for (int d = 0; d < N_DESIGNS; d++)
                ran_with[d] += is_type(
                    &p->system->designs[th_set_design(&m->sets[i], r, p->system)], designs[d]);
}

/* Sets whose members cannot all take the design have each its own. */
static void mend_designs(th_mapping *m, const th_system *s)
{
    for (int i = 0; i < m->n_sets; i++)
        if (th_mapping_check_set(m, i, s, "", NULL))
            m->sets[i].design = TH_DESIGN_OWN;
}

static void hold(const which *x, const th_bounds *b, th_time took)
{
    for (int i = 0; i < TH_N_LIMITS; i++) {
        if (took >= b->makespan_ps[i] && took / x->problem->stream.n_inputs >= b->interval_ps[i])
            continue;
        if (n_wrong++ < 10)
            printf("# case %d, %s, %s cuts: %s %lld ps, but took %lld (%s)\n", x->number,
                   x->problem->network->name, x->of, th_limit_name((th_limit)i),
                   (long long)b->makespan_ps[i], (long long)took, b->why[i]);
    }
}

/* A mapping with shares is above the bounds of all cuts, and above those for its own shards; one
 * without is above those of even cuts besides. */
static void check_mapping(which x, const th_bounds *even, const th_bounds *any, th_time took,
                          const th_mapping *m)
{
    th_cuts cuts = th_bounds_cuts_of(m);
    count_run(x.problem, m);
    x.of = "any";
    hold(&x, any, took);
    if (cuts == TH_CUTS_EVEN) {
        x.of = "even";
        hold(&x, even, took);
        return;
    }
    n_shared++;
    auto_bounds own =
        find(x.problem,
             &(th_bounds_scope){.cuts = cuts, .chunks = th_bounds_chunks_of(m), .mapping = m});
    x.of = "own";
    hold(&x, &own, took);
    n_known += own.makespan_ps[TH_LIMIT_COMPUTE] > 0;
}

static void check_case(int number, const char *model)
{
    enum { MAPPINGS = 8 };
    auto_rng *r = th_random_stream(12, "bounds", (uint64_t)number);
    fake f = {0};
    const th_script_provider provider = {.context = &f, .check = any_procedure, .answer = answer};
    th_error e = {"", ""};
    auto_workload *w = random_workload(r);
    auto_file table = table_for(r, w);
    auto_system *s = random_system(r, model, table.path);
    auto_script_memo *memo = th_script_memo_new(&provider, NULL);
    th_problem p = {.system = s,
                    .workload = w,
                    .stream = random_stream(r, w),
                    .network = th_network_find(networks[pick(r, 0, N_NETWORKS - 1)]),
                    .scripts = memo};
    auto_evaluator *v = th_evaluator_new(&p, &e);
    if (!v)
        bail_out(&e);
    const int chunks = TH_SHARD_CHUNKS_MAX;
    auto_bounds even = find(&p, &(th_bounds_scope){.cuts = TH_CUTS_EVEN, .chunks = chunks}),
                any = find(&p, &(th_bounds_scope){.cuts = TH_CUTS_ANY, .chunks = chunks});
    for (int i = 0; i < MAPPINGS; i++) {
        auto_mapping *m = random_mapping(r, s, w, w->batch / p.stream.micro_batches);
        th_fitness fit = {.fit = TH_FIT_INFEASIBLE};
        if (m)
            mend_designs(m, s);
        if (m && th_mapping_check(m, s, w, &e) == 0 && th_evaluator_run(v, m, INFINITY, &fit, &e))
            bail_out(&e);
        if (fit.fit == TH_FIT)
            check_mapping((which){number, &p, NULL}, &even, &any, fit.metrics.latency_ps, m);
    }
}

TEST(no_mapping_is_below_any_bound)
{
    enum { CASES = TAP_REPEATS(1500) };
    temporary_file model = learned_file();
    const char *only = getenv("THARSIS_CASE");
    for (int i = only ? atoi(only) : 0; i < CASES && n_wrong == 0; i++) {
        check_case(i, model.path);
        if (only)
            break;
    }
    printf("# %d runs, %d of them with shares, of %d of which a bound on computing is known\n",
           n_runs, n_shared, n_known);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(only || (n_runs > TAP_REPEATS(2000) && n_shared > TAP_REPEATS(500) &&
                            n_known > n_shared / 2 && n_serial > TAP_REPEATS(100)));
    for (int i = 0; i < N_NETWORKS; i++) {
        printf("# %s: %d runs\n", networks[i], ran_on[i]);
        CU_ASSERT_TRUE(only || ran_on[i] > TAP_REPEATS(20));
    }
    for (int d = 0; d < N_DESIGNS; d++) {
        printf("# %.22s: %d sets\n", designs[d], ran_with[d]);
        CU_ASSERT_TRUE(only || ran_with[d] > TAP_REPEATS(15));
    }
    remove_file(&model);
}

TAP_MAIN("bounds_random")
