/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/design_forms.h"
#include "tests/unit/design_help.h"

/* An accelerator in the letters of the cost model; no tiles: m = 0. */
typedef struct {
    double clock_mhz, bus_bits, throughput;
    int m, n, r, c, in_r, in_c;
} accelerator;

static const th_port unlimited = {.bits_per_s = TH_UNLIMITED, .burst_bytes = 1};

static void keys_of(const accelerator *a, char *out, size_t size)
{
    int n = snprintf(out, size, "type = \"serial_tiled\"; clock = \"%.3fMHz\"; bus_bits = %.6f; ",
                     a->clock_mhz, a->bus_bits);
    if (a->throughput > 0)
        n += snprintf(out + n, size - (size_t)n, "throughput = %.1f; ", a->throughput);
    if (a->m > 0)
        n += snprintf(out + n, size - (size_t)n,
                      "tile_k = %d; tile_c = %d; tile_h = %d; tile_w = %d; ", a->m, a->n, a->r,
                      a->c);
    if (a->in_r > 0)
        snprintf(out + n, size - (size_t)n, "input_tile_h = %d; input_tile_w = %d; ", a->in_r,
                 a->in_c);
}

/* The time of a shard, in seconds, and how many requests and steps were rounded to picoseconds. */
static double time_of(const accelerator *a, const th_shard *s, double *rounded)
{
    char keys[800];
    th_pipeline p;
    keys_of(a, keys, sizeof keys);
    th_schedule out = schedule_on(keys, s);
    *rounded = 4 * (double)th_schedule_sum(&out).n_steps;
    th_pipeline_start(&p, &out, &unlimited, &(th_pipeline_options){.skip = true});
    th_time end = th_pipeline_finish(&p, &out, &unlimited);
    if (*rounded < 40000) { /* every event, where there are not too many */
        th_pipeline_start(&p, &out, &unlimited, &(th_pipeline_options){0});
        CU_ASSERT_EQUAL(th_pipeline_finish(&p, &out, &unlimited), end);
    }
    return (double)end * 1e-12;
}

/* The closed form, in seconds. */
static double said_by_the_form(const accelerator *a, const th_shard *s)
{
    char text[1000];
    int n = snprintf(text, sizeof text, "name = \"one\"; designs = ( { name = \"d\"; ");
    keys_of(a, text + n, sizeof text - (size_t)n);
    n = (int)strlen(text);
    snprintf(text + n, sizeof text - (size_t)n, "} );\n" ACCELERATOR);
    auto_system *system = system_of(text);
    const th_design_type *type;
    th_design_config config;
    th_schedule out;
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&system->designs[0], &type, &config, NULL), 0);
    CU_ASSERT_EQUAL(type->schedule(&config, s, &unlimited, &out, NULL), 0);
    return closed_form(type, &config, s) / (double)out.hz;
}

static double over_up(int a, int b)
{
    return ceil((double)a / b);
}

static double max3(double a, double b, double c)
{
    return fmax(a, fmax(b, c));
}

/* T_acc as published, and its extensions to images, groups, rows and gates. */
static double formula(const accelerator *a, const th_shard *s)
{
    double b = th_precision_bits((th_precision)s->precision[0]),
           bus = a->bus_bits * a->clock_mhz * 1e6;
    double th = a->throughput > 0 ? a->throughput : 2.0 * a->m * a->n * a->clock_mhz * 1e6;
    double kernel = (double)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    int batch = s->dim[TH_DIM_B], g = s->groups, k = s->dim[TH_DIM_K] / g, c = s->dim[TH_DIM_C] / g;
    if (s->kind == TH_LAYER_CONV) {
        double in = (a->m * a->n * kernel +
                     (double)a->n * (a->in_r ? a->in_r : a->r) * (a->in_c ? a->in_c : a->c)) *
                    b / bus;
        double comp = 2.0 * a->r * a->c * a->m * a->n * kernel / th,
               out = (double)a->m * a->r * a->c * b / bus;
        return batch * g * over_up(s->dim[TH_DIM_H], a->r) * over_up(s->dim[TH_DIM_W], a->c) *
               over_up(k, a->m) * (over_up(c, a->n) * (in + comp) + out);
    }
    if (s->kind == TH_LAYER_FC) { /* N = C R S inputs, M = K outputs, batch columns */
        double n = c * kernel, m = k;
        return max3((m * n + n * batch) * b / bus, 2 * m * n * batch / th, m * batch * b / bus);
    }
    double h = k, d = c, gates = s->kind == TH_LAYER_LSTM ? 4 : 3;
    return s->dim[TH_DIM_H] * max3((gates * h * (d + h) + d * batch) * b / bus,
                                   2 * gates * h * (d + h) * batch / th, h * batch * b / bus);
}

static bool agrees(const accelerator *a, const th_shard *s)
{
    double rounded, took = time_of(a, s, &rounded), said = formula(a, s);
    return fabs(took - said) <= 1e-9 * said + rounded * 1e-12 &&
           fabs(said_by_the_form(a, s) - said) <= 1e-12 * said;
}

static th_shard random_layer(gsl_rng *r)
{
    static const int kinds[] = {TH_LAYER_CONV, TH_LAYER_FC, TH_LAYER_LSTM, TH_LAYER_GRU};
    int kind = kinds[pick(r, 0, 3)];
    if (kind == TH_LAYER_CONV)
        return random_shard(r);
    bool is_fc = kind == TH_LAYER_FC;
    int kernel = is_fc ? (int)pick(r, 1, 4) : 1;
    th_shard s = conv_shard((int)pick(r, 1, 40), (int)pick(r, 1, 600), (int)pick(r, 1, 600),
                            is_fc ? 1 : (int)pick(r, 1, 30), 1, kernel);
    s.kind = kind;
    s.precision[0] = s.precision[1] = s.precision[2] = (int)pick(r, TH_FP32, TH_INT8);
    return s;
}

/* Any of the three of a maximum may be the largest. Ports are whole bits per second, so buses of
 * 2 Gbit/s and more. */
TEST(the_pipeline_takes_the_published_time)
{
    auto_rng *r = th_random_stream(47, "serial", 0);
    int wrong = 0;
    for (int round = 0; round < 1000; round++) {
        accelerator a = {.clock_mhz = (double)pick(r, 50, 400),
                         .bus_bits = (double)pick(r, 320, 8000) / 8,
                         .m = (int)pick(r, 1, 40),
                         .n = (int)pick(r, 1, 40),
                         .r = (int)pick(r, 1, 20),
                         .c = (int)pick(r, 1, 20)};
        if (pick(r, 0, 1))
            a.throughput = (double)pick(r, 1, 100000) * 1e7;
        if (pick(r, 0, 1)) {
            a.in_r = (int)pick(r, 1, 24);
            a.in_c = (int)pick(r, 1, 24);
        }
        th_shard s = random_layer(r);
        wrong += !agrees(&a, &s);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* 100 MHz, 512 bits, 2*4*2 operations per cycle, tiles 4 x 2 x 5 x 7 from 6 x 8; K 10, C 3, 12 x
 * 9, 3 x 3, fp32: 3*2*3 tiles of 2 steps. t_in = (4*2*9 + 2*48) 32/512 = 10.5 cycles, t_comp 35*9
 * = 315, t_out = 4*35*32/512 = 8.75: 18 (2*325.5 + 8.75) = 11875.5 cycles of 10 ns. */
TEST(tiles_by_hand)
{
    const accelerator a = {100, 512, 0, 4, 2, 5, 7, 6, 8};
    char keys[800];
    double rounded;
    th_shard s = conv_shard(1, 10, 3, 12, 9, 3);
    s.precision[0] = s.precision[1] = s.precision[2] = TH_FP32;
    CU_ASSERT_DOUBLE_EQUAL(time_of(&a, &s, &rounded), 118755e-9, 1e-10);
    keys_of(&a, keys, sizeof keys);
    th_schedule out = schedule_on(keys, &s);
    assert_counts(&out, 1, 3, 2, 3, 2);
    assert_step(&out, 0, 2 * 48 * 4, 4 * 2 * 9 * 4, 2 * 35 * 4 * 2 * 9, 4 * 35 * 4);
    CU_ASSERT_TRUE(out.serial && out.slots_in == 1 && out.hz == 1600000000 &&
                   out.macs_per_cycle == 0.5);
    /* 36 steps of 315 cycles: 2 inputs and 4 sums each, weights 72 per step */
    CU_ASSERT_TRUE(
        out.accesses.input_reads == 36 * 315 * 2 && out.accesses.weight_reads == 36 * 72 &&
        out.accesses.partial_reads == 36 * 315 * 4 && out.accesses.output_writes == 36 * 315 * 4);
    CU_ASSERT_TRUE(out.buffer_bytes[TH_TENSOR_INPUT] == 384 &&
                   out.buffer_bytes[TH_TENSOR_OUTPUT] == 560);
}

/* LSTM D 3, H 5, 7 steps, 2-byte elements, 160 Mbit/s, 1 Gop/s: t_in = (160 + 3) 16/160e6 = 16.3
 * us, 320 operations 0.32 us. All bytes move: 7*(160 + 3)*2 in, 7*10 out. At 0.01 Gop/s 32 us
 * each. */
TEST(recurrence_by_hand)
{
    accelerator a = {10, 16, 1e9, 0, 0, 0, 0, 0, 0};
    char keys[800];
    double rounded;
    th_shard s = conv_shard(1, 5, 3, 7, 1, 1);
    s.kind = TH_LAYER_LSTM;
    CU_ASSERT_DOUBLE_EQUAL(time_of(&a, &s, &rounded), 7 * 16.3e-6, 1e-10);
    keys_of(&a, keys, sizeof keys);
    th_schedule out = schedule_on(keys, &s);
    th_schedule_totals t = th_schedule_sum(&out);
    CU_ASSERT_TRUE(t.input_bytes == 42 && t.weight_bytes == 7 * 320 && t.output_bytes == 70 &&
                   t.cycles == 7 * 320);
    a.throughput = 1e7;
    CU_ASSERT_DOUBLE_EQUAL(time_of(&a, &s, &rounded), 7 * 32e-6, 1e-10);
}

/* 3 images of 6 x 8 times 8 x 16 in 2 groups: 6 products of their own, t_in = (6*4 + 8*4) 16/16 =
 * 56 cycles, 2*6*4*8/8 = 48. With one matrix for all images: rows 18, 2 products of (72 + 32),
 * 144 cycles. */
TEST(two_inputs_are_loaded_for_every_image)
{
    const accelerator a = {100, 16, 8e8, 0, 0, 0, 0, 0, 0};
    double rounded;
    th_shard s = conv_shard(3, 16, 8, 6, 1, 1);
    s.kind = TH_LAYER_MATMUL;
    s.groups = 2;
    CU_ASSERT_DOUBLE_EQUAL(time_of(&a, &s, &rounded), 2 * 144e-8, 1e-11);
    s.n_operands = 2;
    CU_ASSERT_DOUBLE_EQUAL(time_of(&a, &s, &rounded), 6 * 56e-8, 1e-11);
}

TEST(refuses_convolutions_without_tiles)
{
    auto_system *s =
        system_with("type = \"serial_tiled\"; clock = \"1GHz\"; bus_bits = 8;\ntile_k = 3; ");
    const th_design_type *type;
    th_design_config config;
    th_schedule out;
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_design_configure(&s->designs[0], &type, &config, &e), -1);
    TAP_ASSERT_ERROR(
        e, "SIM-0072",
        "test:1: design \"d\": must have throughput, or all of tile_k, tile_c, tile_h and tile_w");
    th_system_free(s);
    s = system_with("type = \"serial_tiled\"; clock = \"1GHz\"; bus_bits = 8; throughput = 1000; ");
    th_shard conv = conv_shard(1, 5, 3, 7, 1, 1);
    CU_ASSERT_EQUAL(th_design_configure(&s->designs[0], &type, &config, &e), 0);
    CU_ASSERT_EQUAL(type->schedule(&config, &conv, &unlimited, &out, &e), -1);
    TAP_ASSERT_ERROR(
        e, "SIM-0073",
        "a convolution on a serial_tiled design without tiles: must have tile_k, tile_c, "
        "tile_h and tile_w");
}

/* --- the library of the comparison, where it is at hand -------------------------------------- */

typedef struct {
    accelerator a;
    char type[8];
} library_entry;

/* A line "key": value of the library. */
static void read_value(const char *line, library_entry *e)
{
    double x;
    if (sscanf(line, " \"throughput\": %lf", &x) == 1)
        e->a.throughput = x * 1e9;
    if (sscanf(line, " \"Freq\": %lf", &x) == 1)
        e->a.clock_mhz = x;
    if (sscanf(line, " \"Bandwidth\": %lf", &x) == 1)
        e->a.bus_bits = x;
    sscanf(line, " \"Tm\": %d", &e->a.m);
    sscanf(line, " \"Tn\": %d", &e->a.n);
    sscanf(line, " \"Tr\": %d", &e->a.r);
    sscanf(line, " \"Tc\": %d", &e->a.c);
    sscanf(line, " \"Tr_\": %d", &e->a.in_r);
    sscanf(line, " \"Tc_\": %d", &e->a.in_c);
    sscanf(line, " \"accType\": \"%7[A-Z]", e->type);
}

static int read_library(const char *folder, library_entry *out, int max)
{
    char path[4096], line[300];
    int n = 0;
    snprintf(path, sizeof path, "%s/h2h/accelerators.json", folder);
    FILE *f = fopen(path, "r");
    out[0] = (library_entry){.type = ""};
    while (f && n < max && fgets(line, sizeof line, f)) {
        read_value(line, &out[n]);
        if (strchr(line, '}') && ++n < max)
            out[n] = (library_entry){.type = ""};
    }
    if (f)
        fclose(f);
    return n;
}

/* A row of layers: the columns LayerType, M, N, R, C, K, then Hidden, Dimen, Iter. */
static bool read_layer(char *line, char *type, th_shard *out)
{
    char *field[16];
    int n = 0;
    for (char *next = line; next && n < 16; n++) {
        field[n] = next;
        next = strchr(next, ',');
        if (next)
            *next++ = '\0';
    }
    if (n < 14 || strcmp(field[3], "LayerType") == 0)
        return false;
    snprintf(type, 8, "%s", field[3]);
    int m = atoi(field[4]), in = atoi(field[5]), r = atoi(field[6]), c = atoi(field[7]),
        k = atoi(field[8]);
    if (strcmp(type, "CNN") == 0) {
        *out = conv_shard(1, m, in, r, c, k);
    } else if (strcmp(type, "FC") == 0) {
        *out = conv_shard(k > 0 ? k : 1, m, in, 1, 1, 1);
        out->kind = TH_LAYER_FC;
    } else {
        *out = conv_shard(1, atoi(field[11]), atoi(field[12]), atoi(field[13]), 1, 1);
        out->kind = TH_LAYER_LSTM;
    }
    out->precision[0] = out->precision[1] = out->precision[2] = TH_FP32;
    return true;
}

/* Every layer of a file on every accelerator of its kind; -1: no such file. */
static int compare_layers(const char *folder, const char *name, const library_entry *library, int n,
                          int *wrong)
{
    char path[4096], line[500], type[8];
    int compared = 0;
    th_shard s;
    snprintf(path, sizeof path, "%s/h2h/%s_layers.csv", folder, name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (!read_layer(line, type, &s))
            continue;
        for (int i = 0; i < n; i++) {
            if (strcmp(library[i].type, type) == 0) {
                *wrong += !agrees(&library[i].a, &s);
                compared++;
            }
        }
    }
    if (f)
        fclose(f);
    return f ? compared : -1;
}

/* The keys say all that the twelve accelerators of the comparison differ in. */
TEST(the_keys_describe_the_library)
{
    static const char *const networks[] = {"casia_surf", "cnn_lstm", "facebag", "vfs"};
    library_entry library[32];
    const char *folder = getenv("THARSIS_REFERENCE");
    int n = folder && *folder ? read_library(folder, library, 31) : 0, wrong = 0;
    if (n == 0) {
        printf("# no reference data: skipped\n");
        return;
    }
    CU_ASSERT_EQUAL(n, 12);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_TRUE(compare_layers(folder, networks[i], library, n, &wrong) > 10);
    CU_ASSERT_EQUAL(wrong, 0);
}

TAP_MAIN("serial_tiled")
