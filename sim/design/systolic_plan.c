/* SPDX-License-Identifier: GPL-3.0-or-later */
/* systolic_plan.c - chooses the order of the folds, the pieces of their streams, and the data that
 * stays on chip.
 *   th_systolic_plan: for both orders of the two loops over folds, for pieces of 1, 1/2, 1/4 ... of
 *   a stream, for every set of data that may stay: schedule, buffer bytes, estimate; of those with
 *   the least estimates the fastest in the pipeline wins (finalists.h)
 *
 * The stream is the innermost loop, so cutting it adds no fill. With refill, the search also tries
 * candidates in which every piece is a fold of its own and the blocks of the inner dimension are
 * innermost: they pay more fills and avoid spilling partial sums. The estimate approximates the
 * pipeline with its slots: per step the maximum of its cycles, its loads and its spilled sums
 * (docs/models/systolic.md), at least all traffic over the bandwidth, plus the first load and the
 * last store. Ties go to the candidate with less traffic, then to the one found first, which has
 * the larger pieces. */
#include <config.h>

#include "base/min_max.h"
#include "sim/design/systolic.h"

#include <math.h>
#include <string.h>

#include "sim/design/finalists.h"
#include "sim/design/tiles.h"
#include "sim/pipeline/pipeline_requests.h"

/* Pieces of a stream have at least one element. The search tries MORE_HALVINGS sizes below the
 * first that fits and no smaller ones, because small pieces cost latency and events. */
enum { MAX_HALVINGS = 40, MORE_HALVINGS = 6, N_ORDERS = 2, N_REFILLING = 2, N_OPTION_SETS = 64 };
enum {
    STAYS_INPUT = 1,
    STAYS_WEIGHT = 2,
    STAYS_SUMS = 4,
    STAYS_ROWS = 8,
    STAYS_CHANNEL = 16,
    STAYS_ALL_WEIGHTS = 32
};

static const uint8_t orders[][N_ORDERS][TH_N_LOOPS] = {
    [TH_SYSTOLIC_OS] = {{TH_LOOP_B, TH_LOOP_W, TH_LOOP_H, TH_LOOP_K, TH_LOOP_C},
                        {TH_LOOP_B, TH_LOOP_W, TH_LOOP_K, TH_LOOP_H, TH_LOOP_C}},
    [TH_SYSTOLIC_WS] = {{TH_LOOP_B, TH_LOOP_W, TH_LOOP_K, TH_LOOP_C, TH_LOOP_H},
                        {TH_LOOP_B, TH_LOOP_W, TH_LOOP_C, TH_LOOP_K, TH_LOOP_H}},
    [TH_SYSTOLIC_IS] = {{TH_LOOP_B, TH_LOOP_W, TH_LOOP_H, TH_LOOP_C, TH_LOOP_K},
                        {TH_LOOP_B, TH_LOOP_W, TH_LOOP_C, TH_LOOP_H, TH_LOOP_K}},
};

/* Loop orders of candidates that refill the array for every piece of a stream: the steps that add
 * to one tile of sums are consecutive. */
static const uint8_t refill_orders[N_REFILLING][TH_N_LOOPS] = {
    {TH_LOOP_B, TH_LOOP_W, TH_LOOP_H, TH_LOOP_K, TH_LOOP_C},
    {TH_LOOP_B, TH_LOOP_W, TH_LOOP_K, TH_LOOP_H, TH_LOOP_C},
};

/* --- estimate --------------------------------------------------------------------------------- */

/* s: its requests have bytes in bursts. dram: seconds of a byte of an engine there, with the
 * efficiency of its largest requests; stores: of a step, on average. */
typedef struct {
    const th_schedule *s;
    double port[TH_N_ENGINES], dram[TH_N_ENGINES], latency, cycle, stores;
} rates;

static void round_to_bursts(th_schedule *s, int64_t burst)
{
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        s->step[mask].input_bytes =
            bytes_in_bursts(s->step[mask].input_bytes, s->run_bytes[TH_ENGINE_INPUT], burst);
        s->step[mask].weight_bytes =
            bytes_in_bursts(s->step[mask].weight_bytes, s->run_bytes[TH_ENGINE_WEIGHT], burst);
    }
    for (unsigned mask = 0; mask < TH_N_STORE_KINDS; mask++) {
        s->output_bytes[mask] =
            bytes_in_bursts(s->output_bytes[mask], s->run_bytes[TH_ENGINE_OUTPUT], burst);
        s->partial_bytes[mask] =
            bytes_in_bursts(s->partial_bytes[mask], s->run_bytes[TH_ENGINE_PARTIAL], burst);
    }
}

static rates rates_of(const th_schedule *s, const th_schedule_totals *t, const th_port *memory)
{
    const int64_t largest[TH_N_ENGINES] = {s->step[0].input_bytes, s->step[0].weight_bytes,
                                           s->partial_bytes[0], s->output_bytes[0]};
    rates k = {.s = s,
               .latency = (double)memory->latency_ps / TH_PS_PER_S,
               .cycle = 1.0 / (double)s->hz,
               .stores = (double)t->n_stores / (double)t->n_steps};
    double dram = memory->bits_per_s == TH_UNLIMITED ? 0 : 8.0 / (double)memory->bits_per_s;
    for (int e = 0; e < TH_N_ENGINES; e++) {
        int64_t run = s->run_bytes[e] > 0 ? s->run_bytes[e] : largest[e];
        k.dram[e] = run > 0 ? dram / th_port_efficiency(memory, run) : dram;
        k.port[e] = k.dram[e];
        if (s->port_bits_per_s[e] > 0)
            k.port[e] = fmax(8.0 / (double)s->port_bits_per_s[e], k.dram[e]);
    }
    return k;
}

/* Seconds of a step that loads these numbers of bytes; the slots allow several requests in flight.
 * sums: bytes of stores and of sums that are read back, per step. */
static double step_seconds(const rates *k, double input, double weight, double sums, double cycles)
{
    double compute = cycles * k->cycle, store = sums * k->port[TH_ENGINE_OUTPUT];
    double load = fmax(input * k->port[TH_ENGINE_INPUT], weight * k->port[TH_ENGINE_WEIGHT]);
    load = fmax(load, input * k->dram[TH_ENGINE_INPUT] + weight * k->dram[TH_ENGINE_WEIGHT] +
                          sums * k->dram[TH_ENGINE_OUTPUT]);
    double in = input + weight > 0 ? (k->latency + load + compute) / k->s->slots_in : 0;
    double out = (k->stores * (k->latency + compute) + store) / k->s->slots_out;
    return fmax(fmax(compute, load), fmax(in, out));
}

/* The fraction of the steps of a kind that load an operand which stays through the loops in
 * `stays`. */
static double share_loading(const th_schedule *s, unsigned mask, unsigned stays)
{
    double share = stays & 1u << TH_LOOP_B ? 1.0 / s->count[TH_LOOP_B] : 1;
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++) {
        if (!(stays >> loop & 1u) || s->count[loop] == 1)
            continue;
        bool is_last = mask >> (loop - TH_LOOP_H) & 1u;
        share *= is_last ? 0 : 1.0 / (s->count[loop] - 1);
    }
    return share;
}

static double seconds_of_kind(const rates *k, unsigned mask, double sums)
{
    const th_step *step = &k->s->step[mask];
    double in = (double)step->input_bytes, weight = (double)step->weight_bytes,
           cycles = (double)step->cycles;
    double a = share_loading(k->s, mask, k->s->input_stays),
           b = share_loading(k->s, mask, k->s->weight_stays);
    double seconds = 0; /* sum over the four cases: loads neither, inputs, weights, both */
    for (int loads = 0; loads < 4; loads++) {
        double share = (loads & 1 ? a : 1 - a) * (loads & 2 ? b : 1 - b);
        if (share > 0)
            seconds +=
                share * step_seconds(k, loads & 1 ? in : 0, loads & 2 ? weight : 0, sums, cycles);
    }
    return seconds * th_steps_of_kind(k->s->count, mask);
}

static double estimate(const th_schedule *plain, const th_port *memory)
{
    th_schedule bursts = *plain;
    const th_schedule *s = &bursts;
    round_to_bursts(&bursts, memory->burst_bytes);
    const th_schedule_totals t = th_schedule_sum(s);
    const rates k = rates_of(s, &t, memory);
    const th_step *first = &s->step[th_first_step(s->count)];
    double stored = (double)t.output_bytes, sums = stored + (double)t.partial_bytes;
    double steps = 0;
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++)
        if (th_steps_of_kind(s->count, mask) > 0)
            steps += seconds_of_kind(&k, mask, sums / (double)t.n_steps);
    double traffic = (double)t.input_bytes * k.dram[TH_ENGINE_INPUT] +
                     (double)t.weight_bytes * k.dram[TH_ENGINE_WEIGHT] +
                     sums * k.dram[TH_ENGINE_OUTPUT];
    double seconds = fmax(fmax(steps, traffic), stored * k.port[TH_ENGINE_OUTPUT]);
    return seconds +
           (double)(first->input_bytes + s->first_row_extra_bytes) * k.dram[TH_ENGINE_INPUT] +
           (double)first->weight_bytes * k.dram[TH_ENGINE_WEIGHT] +
           (double)s->output_bytes[TH_N_STORE_KINDS - 1] * k.port[TH_ENGINE_OUTPUT];
}

/* --- candidates ------------------------------------------------------------------------------ */

/* A fold and a piece of its stream; an order of N_ORDERS or above refills. */
static th_systolic_candidate candidate_of(const th_systolic_layer *l, int order, int64_t piece)
{
    th_systolic_candidate w = {.tile = {1, 1, 1, 1, 1}, .refills = order >= N_ORDERS};
    memcpy(w.order, w.refills ? refill_orders[order - N_ORDERS] : orders[l->flow][order],
           sizeof w.order);
    int64_t rows = l->rows, cols = l->cols;
    w.tile[TH_LOOP_H] = l->flow == TH_SYSTOLIC_OS ? rows : l->flow == TH_SYSTOLIC_WS ? piece : cols;
    w.tile[TH_LOOP_K] = l->flow == TH_SYSTOLIC_IS ? piece : cols;
    w.tile[TH_LOOP_C] = l->flow == TH_SYSTOLIC_OS ? piece : rows;
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
        w.tile[loop] = th_min(l->extent[loop], w.tile[loop]);
    return w;
}

static bool repeats(const th_systolic_layer *l, const th_systolic_candidate *w, int loop)
{
    return th_systolic_count(l, w, loop) > 1;
}

/* The options that change the schedule. Data that stays through the innermost loop always does: it
 * is in the array. */
static unsigned effective_options(const th_systolic_layer *l, const th_systolic_candidate *w)
{
    int innermost = w->order[TH_N_LOOPS - 1];
    bool has_kernel = l->shard->dim[TH_DIM_R] > 1 || l->shard->dim[TH_DIM_S] > 1;
    unsigned open = 0;
    if (innermost != TH_LOOP_K && repeats(l, w, TH_LOOP_K))
        open |= STAYS_INPUT;
    if (innermost != TH_LOOP_H && repeats(l, w, TH_LOOP_H))
        open |= STAYS_WEIGHT;
    if (innermost != TH_LOOP_C && repeats(l, w, TH_LOOP_C))
        open |= STAYS_SUMS;
    if (has_kernel && repeats(l, w, TH_LOOP_H))
        open |= STAYS_ROWS;
    if (has_kernel && repeats(l, w, TH_LOOP_C))
        open |= STAYS_CHANNEL;
    if (l->shares_weights && l->extent[TH_LOOP_B] > 1)
        open |= STAYS_ALL_WEIGHTS;
    return open;
}

static void set_options(th_systolic_candidate *w, unsigned options)
{
    int innermost = w->order[TH_N_LOOPS - 1];
    w->input_stays = options & STAYS_INPUT || innermost == TH_LOOP_K;
    w->weight_stays = options & STAYS_WEIGHT || innermost == TH_LOOP_H;
    w->sums_stay = options & STAYS_SUMS;
    w->keeps_rows = options & STAYS_ROWS;
    w->keeps_channel = options & STAYS_CHANNEL;
    w->all_weights_stay = options & STAYS_ALL_WEIGHTS;
}

static bool fits(const th_systolic_layer *l, const int64_t needs[TH_N_TENSORS])
{
    int64_t all = 0;
    for (int t = 0; t < TH_N_TENSORS; t++) {
        if (needs[t] > l->buffer_bytes[t])
            return false;
        all = th_bytes_add(all, needs[t]);
    }
    return all <= l->all_bytes;
}

typedef struct {
    const th_systolic_layer *l;
    const th_port *memory;
    th_schedule work;
    th_schedule kept[TH_FINALISTS_MAX]; /* the best by estimate, sorted */
    double seconds[TH_FINALISTS_MAX], bytes[TH_FINALISTS_MAX];
    int n_kept;
} search;

/* Faster than number i of the kept ones, or equally fast within the rounding error and with less
 * traffic. */
static bool is_better(const search *x, double seconds, double bytes, int i)
{
    static const double rounding = 1e-9;
    if (seconds < x->seconds[i] * (1 - rounding))
        return true;
    return seconds <= x->seconds[i] * (1 + rounding) && bytes < x->bytes[i];
}

/* Estimates x->work and keeps it if it is among the best. */
static void evaluate(search *x)
{
    const th_schedule_totals t = th_schedule_sum(&x->work);
    double seconds = estimate(&x->work, x->memory);
    double bytes = (double)t.input_bytes + (double)t.weight_bytes + (double)t.partial_bytes +
                   (double)t.output_bytes;
    int at = x->n_kept;
    while (at > 0 && is_better(x, seconds, bytes, at - 1))
        at--;
    if (at == TH_FINALISTS_MAX)
        return;
    x->n_kept += x->n_kept < TH_FINALISTS_MAX;
    for (int i = x->n_kept - 1; i > at; i--) {
        x->kept[i] = x->kept[i - 1];
        x->seconds[i] = x->seconds[i - 1];
        x->bytes[i] = x->bytes[i - 1];
    }
    x->kept[at] = x->work;
    x->seconds[at] = seconds;
    x->bytes[at] = bytes;
}

/* True if one of the n fitting sets keeps all that `options` keeps: `options` can only move more
 * bytes. */
static bool is_subset(unsigned options, const unsigned *fitting, int n)
{
    for (int i = 0; i < n; i++)
        if ((options & ~fitting[i]) == 0)
            return true;
    return false;
}

/* True if any candidate with pieces of this size fits. */
static bool try_pieces(search *x, int order, int64_t piece)
{
    th_systolic_candidate w = candidate_of(x->l, order, piece);
    unsigned open = effective_options(x->l, &w), fitting[N_OPTION_SETS];
    int n = 0;
    for (unsigned options = N_OPTION_SETS; options-- > 0;) {
        if ((options & ~open) || is_subset(options, fitting, n))
            continue;
        set_options(&w, options);
        th_systolic_fill_schedule(x->l, &w, &x->work);
        th_systolic_buffer_bytes(x->l, &w, &x->work, x->work.buffer_bytes);
        if (!fits(x->l, x->work.buffer_bytes))
            continue;
        fitting[n++] = options;
        evaluate(x);
    }
    return n > 0;
}

static void try_order(search *x, int order)
{
    int64_t stream = x->l->extent[th_systolic_stream(x->l->flow)], last = 0;
    int left = MORE_HALVINGS;
    for (int halvings = 0; halvings < MAX_HALVINGS && left > 0; halvings++) {
        int64_t piece = th_ceil_div(stream, (int64_t)1 << halvings);
        if (piece == last)
            break;
        last = piece;
        if (try_pieces(x, order, piece))
            left--;
    }
}

/* --- when nothing fits ------------------------------------------------------------------------ */

static int fail_too_small(const th_systolic_layer *l, th_schedule *s, th_error *err)
{
    static const char *const names[] = {"input", "weight", "output"};
    th_systolic_candidate w = candidate_of(l, 0, 1);
    int64_t needs[TH_N_TENSORS], all = 0;
    char missing[64];
    set_options(&w, 0);
    th_systolic_fill_schedule(l, &w, s);
    th_systolic_buffer_bytes(l, &w, s, needs);
    for (int t = 0; t < TH_N_TENSORS; t++) {
        all = th_bytes_add(all, needs[t]);
        if (needs[t] > l->buffer_bytes[t])
            return th_error_set(
                err, "SIM-0040", "the %s buffer is %s too small: %d slots take %lld bytes of %s",
                names[t], th_format_bytes(needs[t] - l->buffer_bytes[t], missing, sizeof missing),
                (int)l->slots, (long long)needs[t], names[t]);
    }
    return th_error_set(err, "SIM-0041",
                        "the buffer is %s too small: %d slots take %lld bytes of input, %lld of "
                        "weight and %lld of output",
                        th_format_bytes(all - l->all_bytes, missing, sizeof missing), (int)l->slots,
                        (long long)needs[0], (long long)needs[1], (long long)needs[2]);
}

int th_systolic_plan(const th_systolic_layer *l, const th_port *memory, th_schedule *out,
                     th_error *err)
{
    search x = {.l = l, .memory = memory, .work = *out};
    int n_orders = l->may_refill && l->flow != TH_SYSTOLIC_OS ? N_ORDERS + N_REFILLING : N_ORDERS;
    for (int order = 0; order < n_orders; order++)
        try_order(&x, order);
    if (x.n_kept == 0)
        return fail_too_small(l, &x.work, err);
    *out = x.kept[th_fastest_schedule(x.kept, x.n_kept, memory)];
    return 0;
}
