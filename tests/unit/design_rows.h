/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_rows.h - configurations of every design, drawn: what the tests that hold all designs run.
 *
 * A new design adds a row. text: keys of its block, any sensible values. closed: keys for which its
 * closed form must hold. layer: the layers that it runs, where these are not any. */
#ifndef TH_TESTS_UNIT_DESIGN_ROWS_H
#define TH_TESTS_UNIT_DESIGN_ROWS_H
#include <unistd.h>
#include "tests/unit/design_help.h"
#include "tests/unit/learned_help.h"
#include "tests/unit/script_answers.h"

enum { KEYS_MAX = 1000 };
typedef struct design_row {
    const char *type;
    void (*text)(gsl_rng *r, char *out);
    void (*closed)(gsl_rng *r, char *out);
    th_shard (*layer)(gsl_rng *r);
} design_row;

#define PORTS "input_port = %d; weight_port = %d; output_port = %d; "

/* --- tiled ------------------------------------------------------------------------------------ */

static void tiled_closed(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX,
             "clock = \"200MHz\"; tile_k = %d; tile_c = %d; tile_h = %d; tile_w = %d; "
             "clip = false; " PORTS,
             (int)pick(r, 1, 70), (int)pick(r, 1, 20), (int)pick(r, 1, 20), (int)pick(r, 1, 20),
             1 << pick(r, 0, 6), 1 << pick(r, 0, 6), 1 << pick(r, 0, 6));
}

static const char *draw_bool(gsl_rng *r)
{
    return pick(r, 0, 1) ? "true" : "false";
}

static const char *draw_order(gsl_rng *r, char order[6])
{
    strcpy(order, "BHWKC");
    for (int i = 4; i > 0; i--) {
        int other = (int)pick(r, 0, i);
        char kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return pick(r, 0, 2) ? order : "auto";
}

/* Fixed tiles, or sizes of buffers and whatever is open; any order. */
static void tiled_text(gsl_rng *r, char *out)
{
    char order[6];
    bool is_open = pick(r, 0, 1), is_shared = pick(r, 0, 1);
    int kib = 1 << pick(r, 2, 8);
    int n = snprintf(out, KEYS_MAX,
                     "clock = \"200MHz\"; tile_k = %d; tile_c = %d; tile_h = %d; tile_w = %d; "
                     "slots = %d; clip = %s; halo = %s; runs = %s; order = \"%s\"; "
                     "accumulator_bits = %d; " PORTS,
                     (int)pick(r, 1, 70), (int)pick(r, 1, 20), is_open ? 0 : (int)pick(r, 1, 20),
                     (int)pick(r, 1, 20), (int)pick(r, 1, TH_SLOTS_MAX), draw_bool(r), draw_bool(r),
                     draw_bool(r), draw_order(r, order), (int)pick(r, 8, 48), (int)pick(r, 1, 64),
                     (int)pick(r, 1, 64), (int)pick(r, 1, 64));
    if (is_open && is_shared)
        snprintf(out + n, KEYS_MAX - (size_t)n, "buffer = \"%dKiB\"; ", 3 * kib);
    else if (is_open)
        snprintf(out + n, KEYS_MAX - (size_t)n,
                 "input_buffer = \"%dKiB\"; weight_buffer = \"%dKiB\"; "
                 "output_buffer = \"%dKiB\"; ",
                 kib, 2 * kib, 2 * kib);
}

/* --- systolic --------------------------------------------------------------------------------- */

/* Without ports; a slow clock, so that even a memory that is not without limit takes no cycle. */
static void systolic_closed(gsl_rng *r, char *out)
{
    static const char *const flows[] = {"os", "ws", "is"};
    snprintf(out, KEYS_MAX,
             "clock = \"1MHz\"; rows = %d; cols = %d; dataflow = \"%s\"; overlap = %s; buffer = "
             "\"%dKiB\"; ",
             (int)pick(r, 1, 40), (int)pick(r, 1, 40), flows[pick(r, 0, 2)],
             pick(r, 0, 1) ? "true" : "false", 1 << pick(r, 7, 12));
}

static void systolic_text(gsl_rng *r, char *out)
{
    systolic_closed(r, out);
    snprintf(out + strlen(out), KEYS_MAX - strlen(out), "slots = %d; " PORTS, (int)pick(r, 1, 4),
             (int)pick(r, 1, 64), (int)pick(r, 1, 64), (int)pick(r, 1, 64));
}

/* --- systolic_vec ----------------------------------------------------------------------------- */

static void systolic_vec_text(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX,
             "clock = \"200MHz\"; rows = %d; cols = %d; vec = %d; slots = %d; overlap = %s; " PORTS,
             (int)pick(r, 1, 20), (int)pick(r, 1, 20), (int)pick(r, 1, 12),
             (int)pick(r, 1, TH_SLOTS_MAX), pick(r, 0, 1) ? "true" : "false", (int)pick(r, 1, 64),
             (int)pick(r, 1, 64), (int)pick(r, 1, 64));
}

/* A slow clock, so that the ends of requests, rounded up to a picosecond, do not add up to a cycle.
 */
static void systolic_vec_closed(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX,
             "clock = \"1MHz\"; rows = %d; cols = %d; vec = %d; overlap = %s; clip = false; " PORTS,
             (int)pick(r, 1, 20), (int)pick(r, 1, 20), (int)pick(r, 1, 12),
             pick(r, 0, 1) ? "true" : "false", (int)pick(r, 1, 64), (int)pick(r, 1, 64),
             (int)pick(r, 1, 64));
}

/* --- winograd --------------------------------------------------------------------------------- */

static void winograd_text(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX,
             "clock = \"200MHz\"; m = %d; r = 3; pn = %d; pm = %d; weight_buffer = \"%dKiB\"; "
             "slots = %d; " PORTS,
             pick(r, 0, 1) ? 2 : 4, (int)pick(r, 1, 6), (int)pick(r, 1, 12), 1 << pick(r, 0, 8),
             (int)pick(r, 1, TH_SLOTS_MAX), (int)pick(r, 1, 64), (int)pick(r, 1, 64),
             (int)pick(r, 1, 64));
}

static void winograd_closed(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX,
             "clock = \"1MHz\"; m = %d; r = %d; pn = %d; pm = %d; weight_buffer = \"%dKiB\"; clip "
             "= false; " PORTS,
             (int)pick(r, 1, 6), (int)pick(r, 1, 5), (int)pick(r, 1, 6), (int)pick(r, 1, 12),
             (int)pick(r, 15, 120), (int)pick(r, 1, 64), (int)pick(r, 1, 64), (int)pick(r, 1, 64));
}

/* --- roofline --------------------------------------------------------------------------------- */

/* A slow clock, so that the memory takes no cycle; its own bandwidth is held in test_roofline.c. */
static void roofline_closed(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX, "clock = \"1MHz\"; macs_per_cycle = %d; efficiency = %.3f; int8 = %d; ",
             (int)pick(r, 1, 5000), 0.001 * (double)pick(r, 1, 1000), (int)pick(r, 1, 4));
}

static void roofline_text(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX, "clock = \"200MHz\"; macs_per_cycle = %d; efficiency = %.3f; ",
             (int)pick(r, 1, 5000), 0.001 * (double)pick(r, 1, 1000));
    if (pick(r, 0, 1))
        snprintf(out + strlen(out), KEYS_MAX - strlen(out), "bandwidth = \"%dGB/s\"; ",
                 (int)pick(r, 1, 100));
}

/* --- serial_tiled ----------------------------------------------------------------------------- */

static void serial_tiled_text(gsl_rng *r, char *out)
{
    snprintf(
        out, KEYS_MAX,
        "clock = \"200MHz\"; bus_bits = %d; tile_k = %d; tile_c = %d; tile_h = %d; tile_w = %d; ",
        (int)pick(r, 8, 1024), (int)pick(r, 1, 70), (int)pick(r, 1, 20), (int)pick(r, 1, 20),
        (int)pick(r, 1, 20));
    if (pick(r, 0, 1))
        snprintf(out + strlen(out), KEYS_MAX - strlen(out), "throughput = %d000000.0; ",
                 (int)pick(r, 1, 1000000));
}

/* A slow array, so that requests rounded to a picosecond do not add up to a cycle, and a fast bus,
 * so that whole bits per second are near enough. */
static void serial_tiled_closed(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX,
             "clock = \"1GHz\"; bus_bits = %d; tile_k = %d; tile_c = %d; tile_h = %d; tile_w = %d; "
             "input_tile_h = %d; throughput = %d000.0; ",
             (int)pick(r, 2, 64), (int)pick(r, 1, 70), (int)pick(r, 1, 20), (int)pick(r, 1, 20),
             (int)pick(r, 1, 20), (int)pick(r, 1, 25), (int)pick(r, 1, 1000));
}

/* --- gemv ------------------------------------------------------------------------------------- */

static void gemv_text(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX,
             "clock = \"200MHz\"; lanes = %d; gate_lanes = %d; step_latency = %d; "
             "weight_buffer = \"%dKiB\"; slots = %d; " PORTS,
             (int)pick(r, 1, 4096), (int)pick(r, 1, 64), (int)pick(r, 0, 500), 1 << pick(r, 6, 12),
             (int)pick(r, 1, TH_SLOTS_MAX), (int)pick(r, 1, 64), (int)pick(r, 1, 64),
             (int)pick(r, 1, 64));
}

static void gemv_closed(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX,
             "clock = \"1MHz\"; lanes = %d; gate_lanes = %d; step_latency = %d; "
             "weight_buffer = \"%dKiB\"; " PORTS,
             1 << pick(r, 0, 12), (int)pick(r, 1, 64), (int)pick(r, 0, 500), 1 << pick(r, 5, 10),
             (int)pick(r, 1, 64), (int)pick(r, 1, 64), (int)pick(r, 1, 64));
}

/* --- table ------------------------------------------------------------------------------------ */

enum { TIMED_LAYERS = 40 };

static th_shard timed_layer(int64_t number)
{
    auto_rng *r = th_random_stream(43, "timed layers", (uint64_t)number);
    return random_shard(r);
}

static th_shard draw_timed_layer(gsl_rng *r)
{
    return timed_layer(pick(r, 0, TIMED_LAYERS - 1));
}

static char timed_path[64];

static void remove_timed(void)
{
    unlink(timed_path);
}

/* A file of drawn times for these layers, gone when the test ends. */
static void table_text(gsl_rng *r, char *out)
{
    if (timed_path[0] == '\0')
        atexit(remove_timed);
    snprintf(timed_path, sizeof timed_path, "/tmp/design_rows_%ld.csv", (long)getpid());
    FILE *f = fopen(timed_path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fprintf(f, "kind,B,K,C,H,W,R,S,stride,groups,time_ns\n");
    for (int i = 0; i < TIMED_LAYERS; i++) {
        th_shard s = timed_layer(i);
        fprintf(f, "conv,");
        for (int d = 0; d < TH_N_DIMS; d++)
            fprintf(f, "%d,", (int)s.dim[d]);
        fprintf(f, "%d,%d,%d\n", (int)s.stride_h, (int)s.groups, (int)pick(r, 1, 1000000));
    }
    fclose(f);
    snprintf(out, KEYS_MAX, "file = \"%s\"; ", timed_path);
}

/* --- learned ---------------------------------------------------------------------------------- */

static temporary_file learned_model;

static void remove_learned(void)
{
    remove_file(&learned_model);
}

static th_shard draw_learned_layer(gsl_rng *r)
{
    th_shard s = random_shard(r);
    if (pick(r, 0, 2) == 0)
        s.kind = TH_LAYER_MATMUL;
    s.groups = 1;
    s.has_bias = (int16_t)pick(r, 0, 1);
    s.precision[0] = s.precision[1] = s.precision[2] = (int)pick(r, TH_FP32, TH_FP16);
    return s;
}

/* A predictor that is learned once, gone when the test ends. */
static void learned_text(gsl_rng *r, char *out)
{
    static const char *const activations[] = {"none", "relu", "tanh"};
    if (learned_model.path[0] == '\0') {
        learned_model = learned_file();
        atexit(remove_learned);
    }
    snprintf(out, KEYS_MAX,
             "model = \"%s\"; gpu = \"%s\"; activation = \"%s\"; "
             "peak_fp16 = 20000; ",
             learned_model.path, pick(r, 0, 1) ? "small" : "large", activations[pick(r, 0, 2)]);
}

/* --- script ----------------------------------------------------------------------------------- */

static void script_closed(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX, "clock = \"1MHz\"; procedure = \"p\"; " PORTS, (int)pick(r, 1, 64),
             (int)pick(r, 1, 64), (int)pick(r, 1, 64));
}

static void script_text(gsl_rng *r, char *out)
{
    snprintf(out, KEYS_MAX, "clock = \"200MHz\"; procedure = \"p\"; slots = %d; " PORTS,
             (int)pick(r, 1, TH_SLOTS_MAX), (int)pick(r, 1, 64), (int)pick(r, 1, 64),
             (int)pick(r, 1, 64));
}

/* --- the table -------------------------------------------------------------------------------- */

static const design_row design_rows[] = {
    {"tiled", tiled_text, tiled_closed, NULL},
    {"systolic", systolic_text, systolic_closed, NULL},
    {"systolic_vec", systolic_vec_text, systolic_vec_closed, NULL},
    {"winograd", winograd_text, winograd_closed, NULL},
    {"roofline", roofline_text, roofline_closed, NULL},
    {"serial_tiled", serial_tiled_text, serial_tiled_closed, NULL},
    {"gemv", gemv_text, gemv_closed, NULL},
    {"table", table_text, table_text, draw_timed_layer},
    {"learned", learned_text, learned_text, draw_learned_layer},
    {"script", script_text, script_closed, NULL},
    {NULL, NULL, NULL, NULL},
};

static inline const design_row *row_of(const th_design_type *t)
{
    for (const design_row *row = design_rows; row->type; row++)
        if (strcmp(row->type, t->name) == 0)
            return row;
    return NULL;
}

/* A design ready to be asked; free_ready when done. */
typedef struct {
    th_system *system;
    const th_design_type *type;
    th_design_config config;
    th_script_memo *memo;
} ready_design;

static inline ready_design ready_with(const char *type, const char *keys)
{
    ready_design d = {.config = {.data = NULL}};
    const th_script_provider provider = {.check = any_procedure, .answer = answer_anything};
    th_error e = {"", ""};
    char text[KEYS_MAX + 100];
    snprintf(text, sizeof text, "type = \"%s\"; %s", type, keys);
    d.system = system_with(text);
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&d.system->designs[0], &d.type, &d.config, &e), 0);
    d.memo = th_script_memo_new(&provider, NULL);
    CU_ASSERT_EQUAL_FATAL(th_script_connect(d.type, &d.config, d.memo, NULL), 0);
    return d;
}

static inline void free_ready(ready_design *d)
{
    th_design_release(d->type, &d->config);
    th_script_memo_free(d->memo);
    th_system_free(d->system);
}

#endif
