/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiling.c - searches tiles, loop order and the data that stays on chip, for each layer.
 *
 *   schedule: { for tiles { measure -> for orders { for what stays { fits -> estimate -> keep } } }
 *               -> for the best by estimate { their schedule -> the pipeline } }
 *
 * Tile extents are ceil(E / n), so a loop of n iterations has the smallest remainder. The orders
 * are those that differ in the data that may stay. The pipeline (sim/pipeline/pipeline.h) decides
 * among the TH_FINALISTS_MAX candidates with the least estimates (tiling_estimate.c). Estimates
 * that differ by less than about 0.5 % tie: then less traffic wins, then fewer steps, then the
 * earlier candidate (larger tiles come first). The numbers of tiles tried and of pipeline steps
 * simulated are bounded. What the design fixes is not searched.
 *
 * Not modelled: reuse of input windows between neighbouring tiles (each loads its own); operands
 * that are compressed in DRAM but not on chip. */
#include <config.h>

#include "sim/design/tiling.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "sim/design/finalists.h"
#include "sim/design/tiles.h"
#include "sim/design/tiling_choice.h"

enum {
    TILES_MAX = 1500,
    EXTENTS_MAX = 38,    /* candidates for an extent */
    CHANNEL_EXTENTS = 5, /* for channels, if the design does not fix them */
};

/* Loop orders that the search tries. The loops over pixels (B H W, if there is one group) stay
 * together, or split after B or H. */
static const char *const orders[] = {"BHWKC", "BHWCK", "KBHWC", "KCBHW", "CKBHW", "CBHWK", "BKHWC",
                                     "BKCHW", "BCKHW", "BCHWK", "BHKWC", "BHKCW", "BHCKW", "BHCWK"};
enum { N_ORDERS = sizeof orders / sizeof *orders };

typedef struct {
    th_tiling_problem task;
    th_tiling_candidate kept[TH_FINALISTS_MAX];
    int n_kept;
} search;

static bool fits(const th_tiling *t, const th_residency *const in[TH_N_TENSORS])
{
    int64_t all = 0;
    for (int tensor = 0; tensor < TH_N_TENSORS; tensor++) {
        bool is_sized = t->buffer_bytes[tensor] > 0 || t->shared_bytes > 0;
        if (in[tensor]->stays && !is_sized)
            return false;
        if (t->buffer_bytes[tensor] > 0 && in[tensor]->bytes > t->buffer_bytes[tensor])
            return false;
        all += in[tensor]->bytes;
    }
    return t->shared_bytes == 0 || all <= t->shared_bytes;
}

/* --- the search ------------------------------------------------------------------------------- */

/* Maps times that differ by less than about 0.5 % to the same rank in most cases. */
static double rank_of(double ps)
{
    enum { RANKS_PER_E = 200 };
    return floor(th_log(ps) * RANKS_PER_E);
}

static bool is_better(const th_tiling_candidate *a, const th_tiling_candidate *b)
{
    double a_rank = rank_of(a->ps), b_rank = rank_of(b->ps);
    if (a_rank != b_rank)
        return a_rank < b_rank;
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->steps < b->steps;
}

static void keep(search *f, const th_tiling_candidate *c)
{
    int at = f->n_kept;
    while (at > 0 && is_better(c, &f->kept[at - 1]))
        at--;
    if (at == TH_FINALISTS_MAX)
        return;
    if (f->n_kept < TH_FINALISTS_MAX)
        f->n_kept++;
    memmove(&f->kept[at + 1], &f->kept[at], (size_t)(f->n_kept - 1 - at) * sizeof *f->kept);
    f->kept[at] = *c;
}

/* Tries all sets of data that may stay and fit, largest first. With separate buffers each operand
 * keeps the most that fits, so one set suffices. */
static void try_order(search *f, const th_tile_properties *m, const th_tile *tile,
                      const char *order)
{
    th_residency in[TH_N_TENSORS][TH_RESIDENCIES_MAX];
    th_tiling_choice choice = {.tile = *tile, .order = order};
    int n[TH_N_TENSORS];
    for (int i = 0; i < TH_N_TENSORS; i++)
        n[i] =
            th_tile_residencies(&f->task, order, m->count, (th_tensor)i, m->held_bytes[i], in[i]);
    int n_in = n[TH_TENSOR_INPUT], n_weight = n[TH_TENSOR_WEIGHT], n_sums = n[TH_TENSOR_OUTPUT];
    bool revisits = n_sums > 1;
    for (int i = n_in * n_weight * n_sums - 1; i >= 0; i--) {
        const th_residency *const at[] = {&in[TH_TENSOR_INPUT][i % n_in],
                                          &in[TH_TENSOR_WEIGHT][i / n_in % n_weight],
                                          &in[TH_TENSOR_OUTPUT][i / n_in / n_weight]};
        if (!fits(f->task.t, at))
            continue;
        choice.input_stays = (uint8_t)at[TH_TENSOR_INPUT]->stays;
        choice.weight_stays = (uint8_t)at[TH_TENSOR_WEIGHT]->stays;
        choice.sums_stay = at[TH_TENSOR_OUTPUT]->stays != 0;
        th_tiling_candidate c = th_tiling_choice_estimate(&f->task, m, &choice, revisits);
        keep(f, &c);
        if (f->task.t->shared_bytes == 0)
            return; /* the first that fits keeps the most of every operand */
    }
}

/* True if the orders differ only in loops of one iteration. */
static bool same_order(const char *a, const char *b, const int32_t *count)
{
    for (int i = 0, j = 0;; i++, j++) {
        while (i < TH_N_LOOPS && count[th_order_loop(a, i)] == 1)
            i++;
        while (j < TH_N_LOOPS && count[th_order_loop(b, j)] == 1)
            j++;
        if (i >= TH_N_LOOPS || j >= TH_N_LOOPS)
            return i >= TH_N_LOOPS && j >= TH_N_LOOPS;
        if (a[i] != b[j])
            return false;
    }
}

static void try_tile(search *f, const th_tile *tile)
{
    th_tile_properties m = th_tile_properties_of(&f->task, tile);
    if (f->n_kept == TH_FINALISTS_MAX &&
        rank_of(m.compute_ps) > rank_of(f->kept[TH_FINALISTS_MAX - 1].ps))
        return;
    if (f->task.t->order) {
        try_order(f, &m, tile, f->task.t->order);
        return;
    }
    for (int i = 0; i < N_ORDERS; i++) {
        bool is_new = true;
        for (int before = 0; before < i && is_new; before++)
            is_new = !same_order(orders[before], orders[i], m.count);
        if (is_new)
            try_order(f, &m, tile, orders[i]);
    }
}

/* Candidates for an extent, larger ones first. */
typedef struct {
    int n;
    int64_t extent[EXTENTS_MAX];
} extents;

/* Extents ceil(all / n) from largest down to 1; n grows geometrically so that there are at_most. */
static extents extents_of(int64_t given, int64_t largest, int64_t all, int at_most)
{
    if (given > 0)
        return (extents){1, {given}};
    extents e = {0};
    int64_t pieces = largest > 0 ? th_ceil_div(all, largest) : 1;
    /* Rounding must not make an exact power too small. */
    static const double slack = 1 + 1e-12;
    double growth = th_pow((double)all / (double)pieces, 1.0 / (at_most - 1)) * slack;
    while (pieces < all && e.n < at_most - 1) {
        int64_t extent = th_ceil_div(all, pieces);
        if (e.n == 0 || extent < e.extent[e.n - 1])
            e.extent[e.n++] = extent;
        int64_t next = (int64_t)((double)pieces * growth);
        pieces = next > pieces ? next : pieces + 1;
    }
    if (e.n == 0 || e.extent[e.n - 1] > 1)
        e.extent[e.n++] = 1;
    return e;
}

typedef struct {
    extents k, c, h, w;
} grid;

/* The more extents are searched, the coarser the grid: about TILES_MAX tiles in all. */
static grid make_grid(const th_tiling *t, const th_shard *s)
{
    int channels = (t->tile.k == 0 ? CHANNEL_EXTENTS : 1) * (t->tile.c == 0 ? CHANNEL_EXTENTS : 1);
    int pixels = TILES_MAX / channels;
    if (t->tile.h == 0 && t->tile.w == 0)
        pixels = (int)sqrt((double)pixels);
    pixels = pixels < EXTENTS_MAX ? pixels : EXTENTS_MAX;
    return (grid){extents_of(t->tile.k, t->largest.k, th_group_outputs(s), CHANNEL_EXTENTS),
                  extents_of(t->tile.c, t->largest.c, th_group_inputs(s), CHANNEL_EXTENTS),
                  extents_of(t->tile.h, t->largest.h, s->dim[TH_DIM_H], pixels),
                  extents_of(t->tile.w, t->largest.w, s->dim[TH_DIM_W], pixels)};
}

static void try_grid(search *f, const grid *g)
{
    for (int k = 0; k < g->k.n; k++)
        for (int c = 0; c < g->c.n; c++)
            for (int h = 0; h < g->h.n; h++)
                for (int w = 0; w < g->w.n; w++) {
                    th_tile tile = {g->k.extent[k], g->c.extent[c], g->h.extent[h], g->w.extent[w]};
                    try_tile(f, &tile);
                }
}

static int fail_no_fit(const search *f, const grid *g, th_error *err)
{
    static const char *const names[] = {"input", "weight", "output"};
    static const char *const articles[] = {"an input", "a weight", "an output"};
    const th_tiling *t = f->task.t;
    const th_tile tile = {g->k.extent[g->k.n - 1], g->c.extent[g->c.n - 1], g->h.extent[g->h.n - 1],
                          g->w.extent[g->w.n - 1]};
    th_tile_properties m = th_tile_properties_of(&f->task, &tile);
    int64_t all = 0;
    for (int i = 0; i < TH_N_TENSORS; i++) {
        int slots = i == TH_TENSOR_OUTPUT ? t->slots_out : t->slots_in;
        int64_t bytes = slots * m.held_bytes[i], buffer = t->buffer_bytes[i];
        all += bytes;
        if (buffer > 0 && bytes > buffer)
            return th_error_set(err, "SIM-0055",
                                "%d slots of %s tile of %" PRId64 " bytes (K %" PRId64
                                ", C %" PRId64 ", H %" PRId64 ", W %" PRId64 ") need %" PRId64
                                " bytes more than the %s buffer has",
                                slots, articles[i], m.held_bytes[i], tile.k, tile.c, tile.h, tile.w,
                                bytes - buffer, names[i]);
    }
    return th_error_set(err, "SIM-0056",
                        "slots of input, weight and output tiles of %" PRId64 ", %" PRId64
                        " and %" PRId64 " bytes (K %" PRId64 ", C %" PRId64 ", H %" PRId64
                        ", W %" PRId64 ") need %" PRId64 " bytes more than the buffer has",
                        m.held_bytes[TH_TENSOR_INPUT], m.held_bytes[TH_TENSOR_WEIGHT],
                        m.held_bytes[TH_TENSOR_OUTPUT], tile.k, tile.c, tile.h, tile.w,
                        all - t->shared_bytes);
}

/* Of the kept candidates, the fastest. */
static void simulate_kept(const search *f, th_schedule *out)
{
    th_schedule all[TH_FINALISTS_MAX];
    for (int i = 0; i < f->n_kept; i++)
        th_tiling_choice_schedule(&f->task, &f->kept[i].choice, &all[i]);
    *out = all[th_fastest_schedule(all, f->n_kept, f->task.memory)];
}

int th_tiling_schedule(const th_tiling *t, const th_shard *s, const th_port *memory,
                       th_schedule *out, th_error *err)
{
    search f = {.task = {t, s, memory}};
    grid g = make_grid(t, s);
    try_grid(&f, &g);
    if (f.n_kept == 0)
        return fail_no_fit(&f, &g, err);
    simulate_kept(&f, out);
    return 0;
}
