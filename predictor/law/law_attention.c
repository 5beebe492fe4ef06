/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_attention.c - terms of the time of fused attention (Dao, FlashAttention-2, ICLR 2024).
 *   th_law_attention: kernel_of -> work_of { tile, blocks, split } -> compute | memory -> terms
 *
 * A thread block takes the queries of a tile and walks over the keys that they see, for each pair
 *   clocks = operations / (rate of the tensor cores * ceiling) + softmax
 * of the kernel: the later ones compute the softmax beside the products. Blocks go over the
 * multiprocessors in waves:
 *   block   = keys * tile * clocks of a pair + clocks of a block
 *   shared  = ((1 - WHOLE) * n + WHOLE * ceil(n)) * block, n = blocks / multiprocessors
 *   compute = max(shared, the longest block), memory = bytes / rate of memory or cache
 *   time    = start + (compute^p + memory^p)^(1/p), p between the larger of both and their sum
 * Query heads that share keys are rows of one block. Where few blocks of a decode step would leave
 * multiprocessors idle, the keys are split over several, unless the operation says unsplit. With
 * paged keys and values those of the rows are put into their pages by a kernel before.
 *
 * Constants: fitted by the least mean logarithm of the ratio to 120,000 rows on four GPUs (A100,
 * H100, L40S, B200; engines of 2026), of which those of a kernel follow from the GPUs that run it.
 * Latencies are clocks. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"

static const double START_US = 3.9;
static const double PAGED_US = 2.2, PAGED_CLOCKS = 4270; /* the engine's further kernels */
static const double MEMORY = 0.84, CACHE = 0.18;         /* of the bandwidths of memory and cache */
static const double WHOLE = 0.74;
static const double DECODE_POWER = 1.84, PREFILL_POWER = 1.23;
static const double DIAGONAL = 32;       /* keys of a tile on the diagonal that none of it needs */
static const double SPLIT_CLOCKS = 4460; /* a kernel adds up the parts */
static const double REGROUP_CLOCKS = 8200; /* copies that put heads which share keys together */
static const double WRITE = 0.79;          /* of the bandwidth, into pages */
static const double CAST = 6.9;            /* bytes a clock of a multiprocessor, to fp8 */
static const double CAST_US = 0.8, OPERAND_CASTS_US = 7.4;
static const double TURNED = 1.94;  /* values of fp8 are transposed on their way (Hopper) */
static const double FP8 = 0.84;     /* of the ceiling */
static const double HOT = 0.82;     /* clock of a card that lowers it, where all of it works */
static const double BACKWARD = 2.5; /* operations over those forward: five products for two, and
                                       the softmax's numbers once, as forward */

/* Of latent attention: keys and values are made from the latent by a product, and copied beside
 * each other; a portable kernel takes 16 heads and a quarter of the keys in a block, and waits for
 * each key. */
static const double EXPAND = 0.75, COPIED_BYTES = 3690, LATENT_KEY_CLOCKS = 170;
enum { LATENT_HEADS = 16, LATENT_SPLIT = 4 };

/* As an engine calls it without a graph, its host takes so long. */
static const double HOST_PORTABLE_US = 334, HOST_US = 164, HOST_FP8_US = 49;

/* By kernel: share of the tensor cores' rate, clocks of a softmax's number that products do not
 * hide, clocks of a block of many queries and of one of few. */
typedef struct {
    double ceiling, softmax, block, decode_block;
} kernel_numbers;
static const kernel_numbers numbers_of[TH_N_KERNELS] = {
    [TH_KERNEL_FLASH2] = {0.99, 0.198, 2430, 1810},
    [TH_KERNEL_FLASH3] = {1, 0.057, 7020, 8280},
    [TH_KERNEL_FLASH4] = {0.92, 0.053, 5120, 2560},
    [TH_KERNEL_PORTABLE] = {0.58, 0, 750, 5600},
};

enum { FEW = 8 }; /* rows of a decode step, and of a tile that holds them */
enum { QUERIES = 128, QUERIES_SMALL = 64, KEYS = 128, SPLIT_KEYS = 256, WIDEST = 256 };

/* Tensor cores of 16 rows and many units: 100 KB of shared memory hold half of the tile. */
static bool has_small_tiles(const th_gpu *gpu)
{
    return gpu->extra[TH_GPU_TENSOR_M] == 16 && gpu->x[TH_GPU_CORES] >= 128;
}

/* By the shape of the tensor cores' product: mma, wgmma, tcgen05 (PTX ISA); others' are not known.
 */
static th_op_kernel newest(const th_gpu *gpu)
{
    double rows = gpu->extra[TH_GPU_TENSOR_M], columns = gpu->extra[TH_GPU_TENSOR_N];
    return rows == 64     ? TH_KERNEL_FLASH3
           : rows == 256  ? TH_KERNEL_FLASH4
           : columns == 8 ? TH_KERNEL_FLASH2
                          : TH_KERNEL_PORTABLE;
}

int th_law_check_kernel(const th_op *op, const th_gpu *gpu, th_error *err)
{
    static const double rows[TH_N_KERNELS] = {[TH_KERNEL_FLASH3] = 64, [TH_KERNEL_FLASH4] = 256};
    int32_t asked = op->x[TH_OP_KERNEL];
    if (op->kind != TH_OP_ATTENTION || rows[asked] == 0 ||
        rows[asked] == gpu->extra[TH_GPU_TENSOR_M])
        return 0;
    return th_error_set(err, "PRED-0734",
                        "attention %s: must run on tensor cores of %g rows (tensor_m), which %s "
                        "lacks; its best is %s",
                        th_op_word(TH_OP_KERNEL, asked), rows[asked], gpu->name,
                        th_op_word(TH_OP_KERNEL, (int32_t)newest(gpu)));
}

static bool has_fp8_cache(const th_op *op)
{
    return op->x[TH_OP_KV_PRECISION] == TH_PRECISION_FP8 ||
           (op->x[TH_OP_KV_PRECISION] == 0 && op->x[TH_OP_PRECISION] == TH_PRECISION_FP8);
}

static bool is_decode(const th_op *op)
{
    return op->x[TH_OP_ROWS] <= FEW;
}

/* Are the rows matched against the latent itself? */
static bool is_absorbed(const th_op *op)
{
    return op->x[TH_OP_LATENT] > 0 && op->x[TH_OP_LATENT] == op->x[TH_OP_CHANNELS_OUT];
}

/* The best kernel of each generation lacks something, which a portable one does. */
static th_op_kernel kernel_of(const th_op *op, const th_gpu *gpu)
{
    th_op_kernel asked = (th_op_kernel)op->x[TH_OP_KERNEL], best = newest(gpu);
    int32_t width = op->x[TH_OP_CHANNELS_IN];
    if (asked == TH_KERNEL_CUDNN)
        return best == TH_KERNEL_PORTABLE ? TH_KERNEL_FLASH2 : best;
    if (asked != TH_KERNEL_BEST)
        return asked;
    if (best == TH_KERNEL_FLASH2)
        return has_fp8_cache(op) || is_absorbed(op) ? TH_KERNEL_PORTABLE : best;
    bool is_odd = best == TH_KERNEL_FLASH4 && width > QUERIES && width < WIDEST;
    return op->x[TH_OP_LATENT] == 0 && (width > WIDEST || is_odd) ? TH_KERNEL_PORTABLE : best;
}

typedef struct {
    const th_op *op;
    const th_op_sizes *size;
    const th_gpu *gpu;
    th_op_kernel kernel;
    kernel_numbers numbers;
    bool is_decode, has_fp8;
    double clock; /* 1e3 a us */
    double pair;  /* clocks */
    double keys;  /* that a query sees, in the mean */
    double ms_per_byte;
} work;

static double pair_clocks(const work *w, double products)
{
    const int32_t *x = w->op->x;
    bool is_fp8 = w->has_fp8 && (w->kernel == TH_KERNEL_FLASH3 || w->kernel == TH_KERNEL_FLASH4);
    th_op_precision at = is_fp8 ? TH_PRECISION_FP8 : (th_op_precision)x[TH_OP_PRECISION];
    at = th_gpu_nearest_precision(w->gpu, at);
    double rate = th_gpu_peak(w->gpu, at) * 1e3 / (w->gpu->x[TH_GPU_SMS] * w->gpu->x[TH_GPU_CLOCK]);
    double width = x[TH_OP_CHANNELS_IN] + x[TH_OP_CHANNELS_OUT];
    double few = at == TH_PRECISION_FP8 ? FP8 : 1;
    /* Blackwell Ultra, three times as quick in 4 bits, has twice the exponentials (NVIDIA 2025) */
    bool is_ultra =
        th_gpu_peak(w->gpu, TH_PRECISION_FP4) > 2.5 * th_gpu_peak(w->gpu, TH_PRECISION_FP8);
    return products * 2 * width / (rate * w->numbers.ceiling * few) +
           w->numbers.softmax / (is_ultra ? 2 : 1);
}

/* Bytes of the rows' own keys and values, read once and written into pages. */
static double put_bytes(const th_op *op)
{
    double narrow = th_op_token_bytes(op),
           wide = has_fp8_cache(op) && op->x[TH_OP_PRECISION] != TH_PRECISION_FP8 ? 2 * narrow
                                                                                  : narrow;
    bool is_put = op->x[TH_OP_PAGED] && (op->x[TH_OP_LATENT] == 0 || is_decode(op));
    return is_put ? op->x[TH_OP_BATCH] * (double)op->x[TH_OP_ROWS] * (narrow + wide) : 0;
}

/* What fits into the last-level cache was left there by the kernel before, or by the last run. */
static double ms_per_byte(const work *w)
{
    static const double FITS = 1.03, MIB = 0x1p20, BYTES_PER_MS = 1e6;
    double bytes =
        w->size->input + w->size->weights + w->size->output + (w->is_decode ? 0 : put_bytes(w->op));
    double used = bytes / (w->gpu->x[TH_GPU_L2] * MIB * FITS),
           resident = 1 / (1 + used * used * used);
    double memory = w->gpu->x[TH_GPU_BANDWIDTH] * BYTES_PER_MS * MEMORY,
           cache = th_gpu_l2_bandwidth(w->gpu) * BYTES_PER_MS * CACHE;
    if (th_law_keeps_clock(w->gpu)) /* the rate of its cache is not known */
        cache = fmax(cache, memory);
    return (1 - resident) / memory + resident / cache;
}

/* Cores that do far more in a clock than a multiprocessor (a TPU's) take so many at a time. */
static double larger_of(const th_gpu *gpu, int32_t precision)
{
    static const double OPERATIONS = 8192;
    th_op_precision at = th_gpu_nearest_precision(gpu, (th_op_precision)precision);
    return fmax(1, th_gpu_peak(gpu, at) * 1e3 /
                       (gpu->x[TH_GPU_SMS] * gpu->x[TH_GPU_CLOCK] * OPERATIONS));
}

/* products: so often the two of the forward pass. */
static work work_of(const th_op *op, const th_op_sizes *size, const th_gpu *gpu, double products)
{
    const int32_t *x = op->x;
    work w = {op, size, gpu, kernel_of(op, gpu), .is_decode = is_decode(op)};
    double width = x[TH_OP_CHANNELS_IN] + x[TH_OP_CHANNELS_OUT];
    w.numbers = numbers_of[w.kernel];
    w.numbers.block /= larger_of(gpu, x[TH_OP_PRECISION]);
    w.has_fp8 = has_fp8_cache(op);
    w.clock = gpu->x[TH_GPU_CLOCK];
    w.pair = pair_clocks(&w, products);
    w.keys = size->flops / (2 * width * x[TH_OP_BATCH] * x[TH_OP_HEADS] * x[TH_OP_ROWS]);
    w.ms_per_byte = ms_per_byte(&w);
    return w;
}

/* --- blocks ----------------------------------------------------------------------------------- */

typedef struct {
    double n, split, tile; /* all blocks, of which so many share a tile; its rows */
    double clocks, longest;
} blocks;

/* Do the heads that share keys stand in one block? FlashAttention 2 does so for one query that sees
 * all keys, the others throughout but for the long prompts of Blackwell's. */
static bool is_packed(const work *w)
{
    const int32_t *x = w->op->x;
    if (x[TH_OP_UNSPLIT])
        return false;
    if (w->kernel == TH_KERNEL_FLASH2)
        return w->is_decode && x[TH_OP_HEADS] > x[TH_OP_KV_HEADS] && x[TH_OP_WINDOW] == 0;
    return w->is_decode || w->kernel != TH_KERNEL_FLASH4;
}

static double tile_of(const work *w, double rows)
{
    bool is_flash2 = w->kernel == TH_KERNEL_FLASH2;
    if (w->is_decode)
        return is_flash2 ? QUERIES_SMALL : fmin(th_law_ceil(rows / FEW) * FEW, QUERIES);
    return is_flash2 && has_small_tiles(w->gpu) ? QUERIES_SMALL : QUERIES;
}

/* The kernels of prompts do not split keys, nor FlashAttention 2 those of unpacked heads. */
static double parts_of(const work *w, double n, bool packed)
{
    if (!packed || !w->is_decode)
        return 1;
    double idle = floor(w->gpu->x[TH_GPU_SMS] / n);
    return fmax(1, fmin(idle, floor(w->keys / SPLIT_KEYS)));
}

static blocks blocks_of(const work *w)
{
    const int32_t *x = w->op->x;
    bool packed = is_packed(w);
    double rows = x[TH_OP_ROWS], heads = x[TH_OP_HEADS], window = x[TH_OP_WINDOW];
    if (w->kernel == TH_KERNEL_PORTABLE && is_absorbed(w->op)) {
        double n = x[TH_OP_BATCH] * rows * th_law_ceil(heads / LATENT_HEADS);
        double clocks = w->keys / LATENT_SPLIT * LATENT_KEY_CLOCKS + w->numbers.decode_block;
        return (blocks){n * LATENT_SPLIT, LATENT_SPLIT, LATENT_HEADS, clocks, clocks};
    }
    if (packed) {
        rows *= heads / x[TH_OP_KV_HEADS];
        heads = x[TH_OP_KV_HEADS];
    }
    blocks b = {.tile = tile_of(w, rows)};
    b.n = x[TH_OP_BATCH] * heads * th_law_ceil(rows / fmax(b.tile, w->is_decode ? QUERIES : 0));
    b.split = parts_of(w, b.n, packed);
    b.n *= b.split;
    double keys = w->keys / b.split, most = window > 0 ? window + b.tile : x[TH_OP_KEYS];
    if (w->is_decode) {
        keys = w->kernel == TH_KERNEL_FLASH2 ? th_law_ceil(keys / KEYS) * KEYS : keys;
        b.longest = b.clocks = keys * w->pair * b.tile + w->numbers.decode_block;
        return b;
    }
    b.clocks = (keys + DIAGONAL) * w->pair * b.tile + w->numbers.block;
    b.longest = fmin(most, x[TH_OP_KEYS]) / b.split * w->pair * b.tile + w->numbers.block;
    return b;
}

/* --- time ------------------------------------------------------------------------------------- */

/* Kernels beside that of the attention: keys and values into pages, casts, a latent's expansion. */
static double beside_ms(const work *w)
{
    const int32_t *x = w->op->x;
    double bytes = put_bytes(w->op), ms = bytes * w->ms_per_byte * MEMORY / WRITE;
    bool casts = w->has_fp8 && x[TH_OP_PRECISION] != TH_PRECISION_FP8;
    double token_heads = (double)x[TH_OP_BATCH] * x[TH_OP_ROWS] * x[TH_OP_HEADS];
    double width = x[TH_OP_CHANNELS_IN] + x[TH_OP_CHANNELS_OUT];
    if (casts)
        ms += CAST_US * 1e-3 + bytes / (CAST * w->gpu->x[TH_GPU_SMS] * w->clock * 1e3);
    if (casts && w->kernel != TH_KERNEL_PORTABLE && w->kernel != TH_KERNEL_FLASH2)
        ms += 1.5 * token_heads * width * w->ms_per_byte;
    if (x[TH_OP_LATENT] == 0 || is_absorbed(w->op))
        return ms;
    if (w->kernel == TH_KERNEL_FLASH4) /* reads what the layer's products have written */
        return casts ? ms + OPERAND_CASTS_US * 1e-3 + token_heads * width * w->ms_per_byte : ms;
    th_op_precision at = th_gpu_nearest_precision(w->gpu, (th_op_precision)x[TH_OP_PRECISION]);
    double flops = 2. * x[TH_OP_LATENT] * 2 * x[TH_OP_CHANNELS_OUT];
    return ms + token_heads * (flops / (th_gpu_peak(w->gpu, at) * 1e6 * EXPAND) +
                               COPIED_BYTES / (w->gpu->x[TH_GPU_BANDWIDTH] * 1e6 * MEMORY));
}

static double start_ms(const work *w, const blocks *b)
{
    const int32_t *x = w->op->x;
    double us = START_US, clocks = b->split > 1 ? SPLIT_CLOCKS : 0;
    if (x[TH_OP_PAGED]) {
        us += PAGED_US;
        clocks += PAGED_CLOCKS;
    }
    if (w->kernel == TH_KERNEL_FLASH2 && w->is_decode && is_packed(w) && x[TH_OP_BATCH] > 1 &&
        x[TH_OP_KV_HEADS] > 1)
        clocks += REGROUP_CLOCKS;
    return 1e-3 * (us + clocks / w->clock);
}

static double host_ms(const work *w)
{
    if (w->op->x[TH_OP_LATENT] == 0 || w->kernel == TH_KERNEL_FLASH4)
        return 0;
    double us = newest(w->gpu) == TH_KERNEL_FLASH3 ? HOST_US : HOST_PORTABLE_US;
    return 1e-3 * (us + (w->has_fp8 ? HOST_FP8_US : 0));
}

static double together(double a, double b, double power)
{
    double most = fmax(a, b), least = fmin(a, b);
    return most > 0 ? most * pow(1 + pow(least / most, power), 1 / power) : 0;
}

void th_law_attention(const th_op *op, th_phase phase, const th_gpu *gpu, th_terms *t)
{
    double more = phase == TH_PHASE_BACKWARD ? BACKWARD : 1;
    work w = work_of(op, &t->sizes, gpu, more);
    blocks b = blocks_of(&w);
    double n = b.n / gpu->x[TH_GPU_SMS];
    double hot = gpu->extra[TH_GPU_TENSOR_M] > 0 && th_gpu_throttles(gpu) ? HOT : 1;
    double turned = w.has_fp8 && w.kernel == TH_KERNEL_FLASH3 ? TURNED : 1;
    double ms = 1e-3 / w.clock, longest = b.longest * ms,
           shared = ((1 - WHOLE) * n + WHOLE * th_law_ceil(n)) * b.clocks * ms / hot;
    double bytes = turned * t->sizes.weights + t->sizes.input + t->sizes.output,
           memory = more * bytes * w.ms_per_byte;
    double start = start_ms(&w, &b), least = together(fmax(shared, longest), memory,
                                                      w.is_decode ? DECODE_POWER : PREFILL_POWER) +
                                             beside_ms(&w);
    if (phase == TH_PHASE_CALL) { /* one piece, lest the host's time is fitted to other parts */
        least = fmax(start + least, host_ms(&w));
        start = 0;
    }
    t->sheet_ms = start + least;
    th_terms_one(t, TH_TERM_STEP, start, "start");
    th_terms_one(t, TH_TERM_STEP, least, "blocks or memory");
    th_terms_one(t, TH_TERM_STEP, longest, "longest block");
    th_terms_one(t, TH_TERM_STEP, shared, "all blocks");
    th_terms_one(t, TH_TERM_STEP, memory, "memory");
}
