/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/design_forms.h"
#include "tests/unit/design_help.h"

enum { CYCLE_PS = 5000 }; /* 200 MHz */

#define ARRAY                                                                                      \
    "type = \"systolic\"; clock = \"200MHz\"; rows = %d; cols = %d; dataflow = \"%s\"; overlap = " \
    "%s; "

static const char *const flows[] = {"os", "ws", "is"};
enum { OS, WS, IS, N_FLOWS };
static const th_port unlimited = {TH_UNLIMITED, 0, 1, 1, 0, {0}};

typedef struct {
    int flow, rows, cols;
    bool overlap;
    char more[300]; /* further keys */
} array;

/* The schedule of a shard on an array; *form its closed form. 0 or -1. */
static int plan(const array *a, const th_shard *shard, const th_port *port, th_schedule *out,
                double *form, th_error *e)
{
    char keys[700];
    const th_design_type *type = NULL;
    th_design_config config;
    snprintf(keys, sizeof keys, ARRAY "%s", a->rows, a->cols, flows[a->flow],
             a->overlap ? "true" : "false", a->more);
    auto_system *s = system_with(keys);
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&s->designs[0], &type, &config, e), 0);
    int failed = type->schedule(&config, shard, port, out, e);
    if (form)
        *form = closed_form(type, &config, shard);
    th_design_release(type, &config);
    return failed;
}

static th_time run(const th_schedule *s, const th_port *port, th_pipeline_stats *stats)
{
    th_pipeline p;
    th_pipeline_start(&p, s, port, &(th_pipeline_options){.skip = true});
    th_time end = th_pipeline_finish(&p, s, port);
    if (stats)
        *stats = p.stats;
    return end;
}

static th_shard matmul_shard(int m, int n, int k)
{
    th_shard s = conv_shard(1, n, k, m, 1, 1);
    s.kind = TH_LAYER_MATMUL;
    s.precision[0] = s.precision[1] = s.precision[2] = TH_INT8;
    return s;
}

static int64_t bigger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- by hand ---------------------------------------------------------------------------------- */

/* M 20, N 7, K 18 on 8 x 4:
 *   os  ceil(20/8) ceil(7/4) = 3*2 = 6 folds of 18 + 8 + 4 - 2 = 28: 168; inputs 20*18*2, weights
 *       18*7*3, outputs 20*7
 *   ws  ceil(18/8) ceil(7/4) = 3*2 = 6 folds of 20 + 16 + 4 - 2 = 38: 228; inputs 20*18*2, weights
 *       18*7, outputs 20*7*3
 *   is  ceil(18/8) ceil(20/4) = 3*5 = 15 folds of 7 + 16 + 4 - 2 = 25: 375; inputs 20*18, weights
 *       18*7*5, outputs 20*7*3
 * overlap: os 5 max(18, 8) + 28 = 118; ws 5 max(20, 8) + 38 = 138; is 14 max(7, 8) + 25 = 137 */
TEST(a_product_by_hand)
{
    static const int64_t cycles[] = {168, 228, 375}, overlapped[] = {118, 138, 137};
    static const th_accesses accesses[] = {
        {720, 378, 0, 140}, {720, 126, 280, 420}, {360, 630, 280, 420}};
    th_shard shard = matmul_shard(20, 7, 18);
    for (int flow = 0; flow < N_FLOWS; flow++) {
        array a = {flow, 8, 4, false, ""};
        th_schedule s;
        th_error e;
        CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
        CU_ASSERT_EQUAL(run(&s, &unlimited, NULL), cycles[flow] * CYCLE_PS);
        CU_ASSERT_EQUAL(memcmp(&s.accesses, &accesses[flow], sizeof s.accesses), 0);
        CU_ASSERT_EQUAL(s.macs_per_cycle, 32);
        a.overlap = true;
        CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
        CU_ASSERT_EQUAL(run(&s, &unlimited, NULL), overlapped[flow] * CYCLE_PS);
    }
}

/* 3 images, 6 filters, 5 channels, 4 x 4 from 6 x 6, 3 x 3, fp16, on 8 x 4. M = 3*16 = 48, N = 6, K
 * = 45: ws 6*2 folds. All inputs stay: each of 3*36*5 elements is loaded once, 3*36*8/9 = 96 by a
 * block of 8. On 96 bytes of input buffer not all can stay; a block of 8 touches (8 + 9 - 1)/9 =
 * 16/9 channels, the last one of 5 touches 1. Rows stay: 3 output pixels need (3*36 - 12) 3/48 = 6
 * new ones, 11 elements, and the first window 12 more, times (5*16/9 + 1)/6 channels in the mean:
 * 20 elements. */
TEST(a_convolution_by_hand)
{
    th_shard shard = conv_shard(3, 6, 5, 4, 4, 3);
    array a = {WS, 8, 4, false, ""};
    th_schedule s;
    th_error e;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_EQUAL(t.cycles, 6 * 2 * (48 + 16 + 4 - 2));
    CU_ASSERT_TRUE(t.weight_bytes == 6 * 45 * 2 && t.output_bytes == 48 * 6 * 2 &&
                   t.partial_bytes == 0);
    CU_ASSERT_TRUE(t.input_bytes == 3 * 36 * 5 * 2 && s.step[TH_LAST_H].input_bytes == 96 * 2);
    CU_ASSERT_EQUAL(s.accesses.input_reads, 48 * 45 * 2);
    strcpy(a.more, "input_buffer = \"96B\"; ");
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    CU_ASSERT_EQUAL(s.count[TH_LOOP_H], 16); /* 48/16 = 3 pixels */
    CU_ASSERT_TRUE(s.step[0].input_bytes == 22 && s.first_row_extra_bytes == 40);
    CU_ASSERT_EQUAL(s.buffer_bytes[TH_TENSOR_INPUT], 2 * 22 + 40);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, t.cycles);
    /* os: a block of 8 pixels is two rows of an image; each loads what is new: 3*36 pixels - 12 in
     * 6 blocks = 16, and the first window 12 more. All K in one piece: 5 channels. */
    a.flow = OS;
    a.more[0] = '\0';
    const th_port slow = {800000000, 0, 1, 1, 0, {0}};
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &slow, &s, NULL, &e), 0);
    t = th_schedule_sum(&s);
    CU_ASSERT_EQUAL(t.cycles, 6 * 2 * (45 + 8 + 4 - 2));
    CU_ASSERT_TRUE(t.input_bytes >= 3 * 36 * 5 * 2 &&
                   t.input_bytes <= 3 * 36 * 5 * 2 + 2 * t.n_steps);
}

/* --- equations -------------------------------------------------------------------------------- */

typedef struct {
    int64_t products, m, n, k, down, across, fold, period, folds;
} equation;

/* Of section "systolic arrays", written down once more; images are one M. */
static equation equation_of(const array *a, const th_shard *s)
{
    equation q = {.products = s->groups,
                  .n = s->dim[TH_DIM_K] / s->groups,
                  .m = (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_H] * s->dim[TH_DIM_W],
                  .k = (int64_t)s->dim[TH_DIM_C] / s->groups * s->dim[TH_DIM_R] * s->dim[TH_DIM_S]};
    int64_t stream = a->flow == OS ? q.k : a->flow == WS ? q.m : q.n;
    q.down = over(a->flow == OS ? q.m : q.k, a->rows);
    q.across = over(a->flow == IS ? q.m : q.n, a->cols);
    q.fold = stream + (a->flow == OS ? 1 : 2) * a->rows + a->cols - 2;
    q.period = bigger(stream, a->rows);
    q.folds = q.products * q.down * q.across;
    return q;
}

static int64_t cycles_of(const array *a, const equation *q)
{
    return a->overlap ? (q->folds - 1) * q->period + q->fold : q->folds * q->fold;
}

static bool accesses_agree(const array *a, const equation *q, const th_accesses *got)
{
    int64_t mk = q->products * q->m * q->k, kn = q->products * q->k * q->n,
            mn = q->products * q->m * q->n;
    return got->input_reads == mk * (a->flow == IS ? 1 : q->across) &&
           got->weight_reads == kn * (a->flow == OS   ? q->down
                                      : a->flow == IS ? q->across
                                                      : 1) &&
           got->output_writes == mn * (a->flow == OS ? 1 : q->down);
}

static array random_array(gsl_rng *r, int flow, bool overlap)
{
    return (array){flow, (int)pick(r, 1, 40), (int)pick(r, 1, 40), overlap, ""};
}

/* Buffers between scarce and plenty; the output buffer holds the sums of all images or not even
 * those of one, so that images are one M. */
static void draw_buffers(gsl_rng *r, array *a, const th_shard *s)
{
    int64_t one = (int64_t)s->dim[TH_DIM_H] * s->dim[TH_DIM_W] * 4;
    switch (pick(r, 0, 3)) {
    case 0:
        break;
    case 1:
        snprintf(a->more, sizeof a->more,
                 "input_buffer = \"%dB\"; weight_buffer = \"%dB\"; slots = %d; ",
                 (int)pick(r, 2000, 60000), (int)pick(r, 2000, 60000), (int)pick(r, 1, 4));
        break;
    case 2: /* at most one filter's sums of one image, or those of all */
        snprintf(a->more, sizeof a->more, "output_buffer = \"%lldB\"; slots = 1; ",
                 (long long)(pick(r, 0, 1) || one < 1200 ? one * 3 * 40 : one - 1));
        break;
    case 3:
        snprintf(a->more, sizeof a->more, "buffer = \"%lldB\"; ",
                 (long long)(one * 3 * 40 + pick(r, 9000, 90000)));
        break;
    }
}

enum { ROUNDS = TAP_REPEATS(1000) };

/* Whatever is cut and whatever stays: ROUNDS layers per dataflow and kind of fill. */
TEST(the_pipeline_takes_the_cycles_of_the_equation)
{
    auto_rng *r = th_random_stream(41, "systolic", 0);
    int wrong = 0, planned = 0, cut = 0, spilled = 0;
    for (int round = 0; planned < ROUNDS * N_FLOWS * 2 && round < 20 * ROUNDS; round++) {
        array a = random_array(r, planned % N_FLOWS, planned / N_FLOWS % 2);
        th_shard shard = random_shard(r);
        th_schedule s;
        th_error e;
        double form;
        draw_buffers(r, &a, &shard);
        if (plan(&a, &shard, &unlimited, &s, &form, &e))
            continue;
        planned++;
        equation q = equation_of(&a, &shard);
        int64_t cycles = cycles_of(&a, &q);
        wrong += run(&s, &unlimited, NULL) != cycles * CYCLE_PS || form != (double)cycles ||
                 th_schedule_sum(&s).cycles != cycles || !accesses_agree(&a, &q, &s.accesses);
        cut += th_schedule_sum(&s).n_steps > q.folds;
        spilled += strstr(s.variant, "spilled") != NULL;
    }
    CU_ASSERT_EQUAL(planned, ROUNDS * N_FLOWS * 2);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(cut > TAP_REPEATS(50) && spilled > TAP_REPEATS(20));
}

/* --- traffic ---------------------------------------------------------------------------------- */

/* Elements that are read at least once; kernels that overlap read every input they reach. */
static int64_t least_input(const th_shard *s)
{
    int64_t h = (int64_t)(s->dim[TH_DIM_H] - 1) * s->stride_h + s->dim[TH_DIM_R];
    int64_t w = (int64_t)(s->dim[TH_DIM_W] - 1) * s->stride_w + s->dim[TH_DIM_S];
    h = h < s->in_h ? h : s->in_h;
    w = w < s->in_w ? w : s->in_w;
    int64_t window = s->dim[TH_DIM_B] * h * w, product = (int64_t)s->dim[TH_DIM_B] *
                                                         s->dim[TH_DIM_H] * s->dim[TH_DIM_W] *
                                                         s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    return s->dim[TH_DIM_C] * (window < product ? window : product);
}

static int64_t weights_of(const th_shard *s)
{
    return (int64_t)s->dim[TH_DIM_K] * s->dim[TH_DIM_C] / s->groups * s->dim[TH_DIM_R] *
           s->dim[TH_DIM_S];
}

/* Plenty of buffer on a slow DRAM: every output is stored once, every weight loaded once, nothing
 * is spilled, and every input is loaded once but for channels that two blocks share. */
TEST(large_buffers_load_everything_once)
{
    const th_port slow = {800000000, 0, 1, 1, 0, {0}};
    auto_rng *r = th_random_stream(43, "systolic once", 0);
    int wrong = 0, twice = 0;
    for (int round = 0; round < ROUNDS; round++) {
        array a = random_array(r, round % N_FLOWS, round & 8);
        th_shard shard = random_shard(r);
        th_schedule s;
        th_error e;
        CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &slow, &s, NULL, &e), 0);
        th_schedule_totals t = th_schedule_sum(&s);
        int64_t outputs = (int64_t)shard.dim[TH_DIM_B] * shard.dim[TH_DIM_K] * shard.dim[TH_DIM_H] *
                          shard.dim[TH_DIM_W];
        int64_t bytes = bytes_of(&shard), input = least_input(&shard) * bytes;
        wrong += t.weight_bytes != weights_of(&shard) * bytes ||
                 t.output_bytes != outputs * bytes || t.partial_bytes != 0 || t.input_bytes < input;
        twice += t.input_bytes > input + 2 * bytes * t.n_steps; /* rounded up twice a step */
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(twice, 0);
}

/* Buffers, ports and DRAM of all sizes: never below the array, nor below traffic over bandwidth; no
 * buffer holds more than its size; smaller buffers never move less. */
TEST(nothing_beats_the_array_or_the_dram)
{
    auto_rng *r = th_random_stream(47, "systolic bounds", 0);
    int wrong = 0, planned = 0;
    for (int round = 0; round < 3 * ROUNDS; round++) {
        array a = random_array(r, round % N_FLOWS, round & 8);
        th_shard shard = random_shard(r);
        th_port port = {
            pick(r, 1, 400) * 100000000, pick(r, 0, 1) * 100000, pick(r, 0, 1) ? 1 : 64, 1, 0, {0}};
        int64_t in = pick(r, 500, 40000), weight = pick(r, 500, 40000), out = pick(r, 500, 80000);
        snprintf(a.more, sizeof a.more,
                 "input_buffer = \"%lldB\"; weight_buffer = \"%lldB\"; output_buffer = \"%lldB\"; "
                 "input_port = %d; weight_port = %d; output_port = %d; slots = %d; ",
                 (long long)in, (long long)weight, (long long)out, (int)pick(r, 1, 64),
                 (int)pick(r, 1, 64), (int)pick(r, 1, 64), (int)pick(r, 1, 3));
        th_schedule s;
        th_error e;
        th_pipeline_stats stats;
        if (plan(&a, &shard, &port, &s, NULL, &e))
            continue;
        planned++;
        th_time end = run(&s, &port, &stats);
        th_schedule_totals t = th_schedule_sum(&s);
        double traffic =
            (double)(t.input_bytes + t.weight_bytes + t.partial_bytes + t.output_bytes);
        wrong += stats.busy_ps != th_cycles_ps(t.cycles, s.hz) || end < stats.busy_ps ||
                 (double)end < traffic * 8e12 / (double)port.bits_per_s - 1;
        wrong += t.weight_bytes < weights_of(&shard) * bytes_of(&shard) ||
                 t.input_bytes < least_input(&shard) * bytes_of(&shard);
        wrong += s.buffer_bytes[0] > in || s.buffer_bytes[1] > weight || s.buffer_bytes[2] > out;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(planned > TAP_REPEATS(1500));
}

/* M 40, N 6, K 16, int8, ws on 8 x 4, 4 slots... K has 2 blocks, N 2. An output buffer of 2 * 5 * 4
 * * 4 = 160 bytes holds two tiles of 5 pixels, and no sums: 16 visits to 8 pixels' worth. Every sum
 * is written and read back once as 4 bytes: 40*6*4 = 960. */
TEST(sums_are_spilled_when_they_do_not_fit)
{
    th_shard shard = matmul_shard(40, 6, 16);
    array a = {WS, 8, 4, false, "output_buffer = \"160B\"; "};
    th_schedule s;
    th_error e;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.partial_bytes == 960 && t.output_bytes == 960 + 240);
    CU_ASSERT_TRUE(s.count[TH_LOOP_H] >= 8 && s.buffer_bytes[TH_TENSOR_OUTPUT] <= 160);
    CU_ASSERT_EQUAL(t.cycles, 4 * (40 + 16 + 4 - 2));
    CU_ASSERT_PTR_NOT_NULL(strstr(s.variant, "spilled"));
    strcpy(a.more, "output_buffer = \"160B\"; sum_bits = 16; ");
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).partial_bytes, 480);
}

/* M 400, N 4, K 16, int8, ws on 8 x 4 with 1000 bytes for sums: K has 2 blocks, so 400*4*4 bytes
 * are written and read back, 8 us at 1.6 GB/s, where 2*(400 + 18) cycles are 4.18 us. Two slots of
 * runs of 400/16 = 25 pixels take 2*25*4*4 = 800 bytes: 2*(400 + 16*18) cycles, nothing spilled,
 * and the array takes its weights in 16 times. Overlapped 32 folds of max(25, 8) and one fill
 * of 18. A memory without limit needs no runs. */
TEST(refills_where_that_is_quicker_than_spilling)
{
    static const th_port slow = {12800000000, 0, 1, 1, 0, {0}};
    th_shard shard = matmul_shard(400, 4, 16);
    array a = {WS, 8, 4, false, "output_buffer = \"1000B\"; "};
    th_schedule s;
    th_error e;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &slow, &s, NULL, &e), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).partial_bytes, 400 * 4 * 4);
    th_time spilling = run(&s, &slow, NULL);
    strcat(a.more, "refill = true; ");
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &slow, &s, NULL, &e), 0);
    CU_ASSERT_TRUE(th_schedule_sum(&s).partial_bytes == 0 && s.count[TH_LOOP_H] == 16);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 2 * (400 + 16 * 18));
    CU_ASSERT_TRUE(s.accesses.weight_reads == 16 * 4 * 16 && s.accesses.input_reads == 400 * 16);
    CU_ASSERT_TRUE(s.buffer_bytes[TH_TENSOR_OUTPUT] == 800 && run(&s, &slow, NULL) < spilling);
    TAP_ASSERT_TEXT(s.variant, "weight-stationary, in runs of pixels");
    a.overlap = true;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &slow, &s, NULL, &e), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 32 * 25 + 18);
    a.overlap = false;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 2 * 418);
    /* is: 400 filters stream, 4 pixels stay */
    shard = matmul_shard(4, 400, 16);
    a.flow = IS;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &slow, &s, NULL, &e), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 2 * (400 + 16 * 18));
    CU_ASSERT_TRUE(s.accesses.weight_reads == 400 * 16 && s.accesses.input_reads == 16 * 4 * 16);
}

/* --- batches, groups, sparsity ---------------------------------------------------------------- */

/* 4 images of 5 x 5, 6 filters, 8 channels 1 x 1, int8, ws on 4 x 8. Sums of an image: 25*6*4 = 600
 * bytes. 2500 bytes hold those of all four: 2 folds of 100 + 14; 1000 bytes those of one: 8 folds
 * of 25 + 14; 300 bytes none: 2 folds again. */
TEST(images_are_one_stream_unless_their_sums_would_leave)
{
    static const int room[] = {2500, 1000, 300};
    static const int64_t cycles[] = {2 * 114, 8 * 39, 2 * 114};
    th_shard shard = conv_shard(4, 6, 8, 5, 5, 1);
    shard.precision[0] = shard.precision[1] = shard.precision[2] = TH_INT8;
    for (int i = 0; i < 3; i++) {
        array a = {WS, 4, 8, false, ""};
        th_schedule s;
        th_error e;
        double form;
        snprintf(a.more, sizeof a.more, "output_buffer = \"%dB\"; slots = 1; ", room[i]);
        CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, &form, &e), 0);
        CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, cycles[i]);
        CU_ASSERT_EQUAL(form, (double)cycles[i]);
        CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 48); /* they stay for all images */
    }
}

/* A product of two activations is another one for every image: 3 of M 6, N 5, K 4 in 2 groups. */
TEST(products_of_activations_stay_apart)
{
    th_shard shard = matmul_shard(6, 10, 8);
    array a = {OS, 4, 4, false, ""};
    th_schedule s;
    th_error e;
    shard.dim[TH_DIM_B] = 3;
    shard.groups = shard.n_operands = 2;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    CU_ASSERT_EQUAL(s.count[TH_LOOP_B], 6);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 6 * 2 * 2 * (4 + 4 + 4 - 2));
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 3 * 10 * 4);
}

/* 2 of 4: K 50 -> 25. ws on 8 x 4, M 9, N 4: 4 folds of 9 + 18. Weights: 100 kept of 8 + 2 bits =
 * 125 bytes in all, each block rounded up (8*4*10/8 = 40, 40, 40, 5). Inputs are read whole. 3 of 4
 * of 50: 38 rows. */
TEST(structured_weights_shorten_the_inner_dimension)
{
    th_shard shard = matmul_shard(9, 4, 50);
    array a = {WS, 8, 4, false, ""};
    th_schedule s;
    th_error e;
    shard.sparse_n = 2;
    shard.sparse_m = 4;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.cycles == 4 * (9 + 16 + 4 - 2) && t.weight_bytes == 125 &&
                   t.input_bytes == 450);
    CU_ASSERT_TRUE(s.accesses.weight_reads == 100 && s.accesses.input_reads == 9 * 25);
    shard.sparse_n = 3;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 5 * 27);
    CU_ASSERT_TRUE(s.accesses.weight_reads == 4 * 38 &&
                   th_schedule_sum(&s).weight_bytes == 4 * 38 * 10 / 8);
}

/* Half of the inputs are not zero: 450 elements, 225 bytes and 450 bits. Cycles stay. */
TEST(density_shrinks_bytes_alone)
{
    th_shard shard = matmul_shard(9, 4, 50);
    array a = {WS, 64, 4, false, ""};
    th_schedule s;
    th_error e;
    shard.density_ppm[TH_TENSOR_INPUT] = 500000;
    CU_ASSERT_EQUAL_FATAL(plan(&a, &shard, &unlimited, &s, NULL, &e), 0);
    CU_ASSERT_TRUE(th_schedule_sum(&s).input_bytes == 225 + 57 &&
                   th_schedule_sum(&s).cycles == 9 + 128 + 4 - 2);
}

/* --- messages --------------------------------------------------------------------------------- */

static void assert_refused(const char *more, const th_shard *shard, const char *id,
                           const char *text)
{
    array a = {OS, 8, 4, false, ""};
    th_schedule s = {.hz = 7};
    th_error e = {"", ""};
    strcpy(a.more, more);
    CU_ASSERT_EQUAL(plan(&a, shard, &unlimited, &s, NULL, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
    CU_ASSERT_EQUAL(s.hz, 7);
}

/* os on 8 x 4, fp16: a tile of one inner element takes 8, 4 and 32 elements; two slots of each. */
TEST(says_which_buffer_is_too_small)
{
    th_shard shard = conv_shard(1, 40, 30, 10, 10, 1), huge = matmul_shard(1 << 20, 4, 4);
    assert_refused("input_buffer = \"30B\"; ", &shard, "SIM-0040",
                   "the input buffer is 2B too small: 2 slots take 32 bytes of input");
    assert_refused("weight_buffer = \"10B\"; slots = 3; ", &shard, "SIM-0040",
                   "the weight buffer is 14B too small: 3 slots take 24 bytes of weight");
    assert_refused("output_buffer = \"100B\"; ", &shard, "SIM-0040",
                   "the output buffer is 28B too small: 2 slots take 128 bytes of output");
    assert_refused("buffer = \"170B\"; ", &shard, "SIM-0041",
                   "the buffer is 6B too small: 2 slots take 32 bytes of input, 16 of weight and "
                   "128 of output");
    huge.dim[TH_DIM_W] = 1 << 12;
    assert_refused("", &huge, "SIM-0042",
                   "a product of 4294967296 x 4 x 4, 1 times: a systolic array takes at most "
                   "2147483647 of each");
}

TAP_MAIN("systolic")
