/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_product.c - the law of products on tensor cores: tiles in waves over the multiprocessors,
 * operands from memory or the cache, the clock that the board's power leaves.
 *   th_law_product: times_of: { unit_of -> compute_us, memory_us, cast_us } -> terms
 *
 * A library picks, for every shape, the tile and the split of the inner dimension that its
 * heuristic holds for the quickest, so the law takes the least over TILES and splits:
 *   tile   = inner / split * max(operations at the ceiling, operands at the rate of a
 *            multiprocessor, latency of a step) + WAVE + results at EPILOGUE
 *   n      = split / multiprocessors * sum over members of ceil(M / tm) * ceil(N / tn)
 *   waves  = (1 - TAIL) * ceil(n) + TAIL * max(n, 1)
 *   time   = start + sqrt((waves * tile + (split > 1: SPLIT))^2 + memory^2) + cast
 * The root stands between the larger of both (perfect overlap) and their sum. Starts, waves and
 * steps last a number of clocks. Every part grows with M, N and K, and so does the least of them:
 * a larger product allows no tile or split that a smaller one lacks. Of the operations at the
 * data sheet's peak the ceiling leaves less than 1, so that no product is quicker than they are.
 *
 * The constants are fitted to 59,675 products of A100 SXM, H100 SXM, L40S and B200 (aiconfigurator:
 * 30,847 of 16 bits, 21,620 of 8 with the cast of the first factor); those of 4 bits follow from
 * the ratio of 8 to 16. Single precision has no row among them. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"
#include "predictor/law/law_power.h"

enum { OF_16, OF_8, OF_4, N_WIDTHS }; /* bits of a number; OF_16: or more */

/* --- clocks and power ------------------------------------------------------------------------- */

/* Of the peak, for long products that power does not limit. */
static const double CEILING[N_WIDTHS] = {0.96, 0.777, 0.60};
/* The same where the energy of an operation is not known: of the ceiling. */
static const double USUAL = 0.85;

static int width_of(th_op_precision p)
{
    return p == TH_PRECISION_FP8 ? OF_8 : p == TH_PRECISION_FP4 ? OF_4 : OF_16;
}

/* Cores that do far more in a clock than a multiprocessor (a TPU's) take so much larger tiles at a
 * time, and keep their clock. */
static double larger_of(const th_gpu *gpu, th_op_precision p)
{
    enum { OPERATIONS = 8192 };
    const double clocks = gpu->x[TH_GPU_SMS] * gpu->x[TH_GPU_CLOCK];
    return fmax(1, th_gpu_peak(gpu, p) * 1e3 / clocks / OPERATIONS *
                       fmin(1, th_op_precision_bytes(p) / 2));
}

bool th_law_keeps_clock(const th_gpu *gpu)
{
    return larger_of(gpu, th_gpu_nearest_precision(gpu, TH_PRECISION_BF16)) > 1;
}

/* The clock follows the square root of the power that is there for products: between the linear law
 * of one voltage and the cube root where voltage follows the clock. Tensor cores take at their peak
 * the same power in 4, 8 and 16 bits. */
static double ceiling_of(const th_gpu *gpu, th_op_precision p, double larger)
{
    double ceiling = CEILING[width_of(p)], wanted = th_law_products_w(gpu, ceiling);
    if (larger > 1)
        return ceiling;
    if (p == TH_PRECISION_FP32 || !(wanted > 0))
        return USUAL * ceiling;
    return ceiling * th_law_clock(gpu, wanted);
}

/* --- one multiprocessor ----------------------------------------------------------------------- */

/* Clocks: of a kernel's start beside START_US, of a wave, of adding partial sums, of a step. */
static const double START_US = 0.7, START = 2150, WAVE = 900, SPLIT = 6400, STEP = 170;
static const double PAIRED_START = 0.35;     /* of START, of kernels for pairs of multiprocessors */
static const double HALF_FILL = 2400;        /* numbers of a tile that reach half of the ceiling */
static const double TAIL = 0.82;             /* of a wave that is not full, what is lost no time */
enum { CACHE_BYTES = 64, STEP_BYTES = 128 }; /* of a clock; of a step */

/* How fast operands come and results go, in CACHE_BYTES a clock. Synchronous instructions (before
 * Hopper and on consumer cards) leave the store of a tile outside of the next one's products; their
 * kernels of 8 bits keep fewer bytes on the way. */
typedef struct {
    double operands, results;
} rates;
static const rates ASYNCHRONOUS = {2.3, 0.6},
                   SYNCHRONOUS[N_WIDTHS] = {{2.3, 0.14}, {0.353, 0.02}, {0.353, 0.02}};

typedef struct {
    double sms, bytes; /* bytes: of an operand's number */
    double half_fill;
    double per_us, bytes_per_us, store_us; /* operations; operands; numbers of results */
    double step_us;                        /* the least of an inner number */
    double start_us, wave_us, split_us;
    bool is_paired, splits; /* tiles for pairs of multiprocessors; splits of the inner dimension */
} unit;

static unit unit_of(const th_gpu *gpu, th_op_precision p)
{
    int width = width_of(p);
    bool is_asynchronous = gpu->extra[TH_GPU_TENSOR_M] >= 64;
    const rates *r = is_asynchronous ? &ASYNCHRONOUS : &SYNCHRONOUS[width];
    double clocks = gpu->x[TH_GPU_CLOCK], sms = gpu->x[TH_GPU_SMS],
           bytes = th_op_precision_bytes(p);
    double per_us = th_gpu_peak(gpu, p) * 1e3 / sms, larger = larger_of(gpu, p);
    bool is_paired = gpu->extra[TH_GPU_TENSOR_M] >= 256;
    return (unit){.sms = sms,
                  .bytes = bytes,
                  .half_fill = HALF_FILL / larger,
                  .per_us = per_us * ceiling_of(gpu, p, larger),
                  .bytes_per_us = r->operands * CACHE_BYTES * clocks * larger,
                  .store_us = r->results * CACHE_BYTES * clocks * larger / fmax(2, bytes),
                  .step_us = STEP * fmax(bytes, 1) / STEP_BYTES / clocks / larger,
                  .start_us = START_US + START / clocks * (is_paired ? PAIRED_START : 1),
                  .wave_us = WAVE / clocks / larger,
                  .split_us = SPLIT / clocks,
                  .is_paired = is_paired,
                  .splits = width == OF_16};
}

/* --- products --------------------------------------------------------------------------------- */

/* Sides are powers of 2, so quotients by them are products, which are quicker. */
typedef struct {
    double rows, columns, of_rows, of_columns;
} tile;
#define TILE(rows, columns)                                                                        \
    {                                                                                              \
        rows, columns, 1.0 / (rows), 1.0 / (columns)                                               \
    }

static double tiles_of(const th_product_shape *p, const tile *t)
{
    double rows = 0, columns = th_law_ceil(p->columns * t->of_columns);
    if (!p->unequal)
        return p->members * th_law_ceil(p->rows * t->of_rows) * columns;
    for (int i = 0; i < (int)p->members; i++)
        rows += th_law_ceil(p->unequal[i] * t->of_rows);
    return rows * columns;
}

static inline double most_of(double x, double y)
{
    return x > y ? x : y;
}

/* us of tiles that are so many waves, each of fixed_us and number_us for every inner number: the
 * best split. */
static double split_us(const unit *u, double waves, double inner, double number_us, double fixed_us)
{
    enum { SPLIT_MAX = 32, INNER_STEP = 64 };
    double best = INFINITY, steps = inner / INNER_STEP;
    for (int split = 1; split <= SPLIT_MAX; split *= 2, waves *= 2, steps *= 0.5) {
        if (split > 1 && (waves > 2 || !u->splits))
            break;
        double passes = (1 - TAIL) * th_law_ceil(waves) + TAIL * most_of(waves, 1);
        double us = passes * (th_law_ceil(steps) * INNER_STEP * number_us + fixed_us);
        us += split > 1 ? u->split_us : 0;
        best = us < best ? us : best;
    }
    return best;
}

static double compute_us(const th_product_shape *p, const unit *u)
{
    enum { N_TILES = 8 };
    static const tile tiles[N_TILES] = {TILE(256, 256), TILE(256, 128), TILE(128, 256),
                                        TILE(128, 128), TILE(64, 128),  TILE(128, 64),
                                        TILE(64, 64),   TILE(16, 64)};
    static const double SURELY = 1 + 1e-9; /* whatever is rounded */
    double best = INFINITY;
    for (int i = !u->is_paired; i < N_TILES; i++) {
        const tile *t = &tiles[i];
        double area = t->rows * t->columns;
        double number_us = most_of(2 * (area + u->half_fill) / u->per_us,
                                   u->bytes * (t->rows + t->columns) / u->bytes_per_us);
        double waves = tiles_of(p, t) / u->sms;
        number_us = most_of(number_us, u->step_us);
        if (waves * p->inner * number_us > best * SURELY)
            continue; /* no split leaves less than the operations */
        double us = split_us(u, waves, p->inner, number_us, u->wave_us + area / u->store_us);
        best = us < best ? us : best;
    }
    return best;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Of the bandwidths; of the cache's size, what so much data is half gone from; the latency. */
static const double MEMORY = 0.845, CACHE = 0.42, CACHED = 0.76, LATENCY_US = 0.8;
enum { IN_TURN = 6 }; /* weights that take turns in the tables, as layers of a network do */

/* The share of so many bytes that the cache still has from their last use. */
static double cached_share(const th_gpu *gpu, double bytes)
{
    static const double MEGA = 1e6;
    double x = bytes / (gpu->x[TH_GPU_L2] * MEGA * CACHED), square = x * x;
    return 1 / (1 + square * square * square);
}

static double memory_us(const th_op_sizes *s, const th_gpu *gpu)
{
    double memory = gpu->x[TH_GPU_BANDWIDTH] * 1e3 * MEMORY; /* bytes per us */
    double cache = fmax(memory, th_gpu_l2_bandwidth(gpu) * 1e3 * CACHE);
    double rows = s->input + s->output, all = s->weights + rows;
    double here = cached_share(gpu, IN_TURN * s->weights + rows) * s->weights +
                  cached_share(gpu, rows) * rows;
    return LATENCY_US + (all - here) / memory + here / cache;
}

/* --- casts ------------------------------------------------------------------------------------ */

/* The first factor arrives in 16 bits. Its cast to 8 is a kernel of a block per row, which start
 * one by one, or converts as fast as multiprocessors or the memory do. 4 bits have a scale for
 * every 16 numbers beside them; they convert at the memory's rate. */
static double cast_us(double rows, double numbers, th_op_precision p, const th_gpu *gpu)
{
    static const double CAST_START = 6300, ROW = 13.5, NUMBER = 0.61, RATE = 0.836;
    static const double BYTES_8 = 2 + 1, BYTES_4 = 2 + 0.5 + 1 / 16.;
    double clocks = gpu->x[TH_GPU_CLOCK], start = CAST_START / clocks;
    double by_memory = numbers / (gpu->x[TH_GPU_BANDWIDTH] * 1e3 * RATE);
    if (width_of(p) == OF_16)
        return 0;
    if (p == TH_PRECISION_FP4)
        return start + BYTES_4 * by_memory;
    double by_rows = rows * ROW / clocks,
           by_numbers = fmax(numbers * NUMBER / clocks / gpu->x[TH_GPU_SMS], BYTES_8 * by_memory);
    return start + sqrt(by_rows * by_rows + by_numbers * by_numbers);
}

/* --- the law ---------------------------------------------------------------------------------- */

typedef struct {
    double start_ms, compute_ms, memory_ms, cast_ms;
} product_times;

static product_times times_of(const th_product_shape *p, const th_op_sizes *s, const th_gpu *gpu,
                              th_op_precision wanted)
{
    static const double MS_PER_US = 1e-3;
    th_op_precision at = th_gpu_nearest_precision(gpu, wanted);
    unit u = unit_of(gpu, at);
    double rows = s->flops / (2 * p->inner * p->columns),
           numbers = s->input / th_op_precision_bytes(wanted);
    return (product_times){MS_PER_US * u.start_us, MS_PER_US * compute_us(p, &u),
                           MS_PER_US * memory_us(s, gpu),
                           MS_PER_US * cast_us(rows, numbers, at, gpu)};
}

static double work_ms(const product_times *x)
{
    return sqrt(x->compute_ms * x->compute_ms + x->memory_ms * x->memory_ms);
}

static double sheet_ms(const product_times *x)
{
    return x->start_ms + work_ms(x) + x->cast_ms;
}

void th_law_product(const th_op *op, const th_gpu *gpu, th_terms *t)
{
    th_product_shape p = th_product_shape_of(op);
    product_times x = times_of(&p, &t->sizes, gpu, (th_op_precision)op->x[TH_OP_PRECISION]);
    t->sheet_ms = sheet_ms(&x);
    th_terms_one(t, TH_TERM_STEP, x.start_ms, "start");
    th_terms_one(t, TH_TERM_STEP, work_ms(&x), "compute and memory");
    th_terms_one(t, TH_TERM_STEP, x.compute_ms, "compute");
    th_terms_one(t, TH_TERM_STEP, x.memory_ms, "memory");
    th_terms_one(t, TH_TERM_STEP, x.cast_ms, "cast");
}

static product_times grouped(const th_op *op, const int32_t *rows, const th_gpu *gpu)
{
    th_product_shape p = th_product_shape_of(op);
    double all = 0, there = 0;
    for (int i = 0; i < op->x[TH_OP_BATCH]; i++) {
        all += rows[i];
        there += rows[i] > 0;
    }
    p.unequal = rows;
    th_op_sizes s = th_op_sizes_of(op);
    double share = all / ((double)op->x[TH_OP_BATCH] * op->x[TH_OP_ROWS]);
    s.input *= share;
    s.output *= share;
    s.flops *= share;
    s.weights *= there / op->x[TH_OP_BATCH]; /* those of members without rows stay unread */
    return times_of(&p, &s, gpu, (th_op_precision)op->x[TH_OP_PRECISION]);
}

double th_law_grouped_ms(const th_op *op, const int32_t *rows, const th_gpu *gpu)
{
    product_times x = grouped(op, rows, gpu);
    return sheet_ms(&x);
}

double th_law_grouped_work_ms(const th_op *op, const int32_t *rows, const th_gpu *gpu)
{
    product_times x = grouped(op, rows, gpu);
    return work_ms(&x);
}

double th_law_product_ms(const th_gpu *gpu, th_op_precision precision, double members, double rows,
                         double inner, double columns)
{
    enum { RESULT = 2 };
    const double bytes = th_op_precision_bytes(precision);
    const th_product_shape p = {members, rows, inner, columns, NULL};
    const th_op_sizes s = {.input = bytes * members * rows * inner,
                           .weights = bytes * members * inner * columns,
                           .output = fmax(RESULT, bytes) * members * rows * columns,
                           .flops = 2 * members * rows * inner * columns};
    product_times x = times_of(&p, &s, gpu, precision);
    return x.start_ms + work_ms(&x);
}
