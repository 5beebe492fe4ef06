/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of docs/models/pipeline.md as a recurrence over the steps of the loop nest, walked one
 * by one, with its own arithmetic; the pipeline must agree to the picosecond. */
#include <config.h>
#include "tests/unit/pipeline_help.h"
#include <stddef.h>

enum { STEPS_MAX = 1 << 16 };

/* --- what a request takes --------------------------------------------------------------------- */

static int64_t in_bursts(int64_t bytes, int64_t burst)
{
    return (bytes + burst - 1) / burst * burst;
}

/* Every run is whole bursts, the last one may be shorter. */
static int64_t moved(int64_t bytes, int64_t run, int64_t burst)
{
    int64_t sum = 0, piece = run > 0 ? run : bytes;
    for (int64_t left = bytes; left > 0; left -= piece)
        sum += in_bursts(min2(piece, left), burst);
    return sum;
}

static long double share_of(const th_dram_efficiency *e, int64_t run)
{
    int i = 0;
    if (e->n == 0)
        return 1;
    while (i < e->n && e->run_bytes[i] < run)
        i++;
    if (i == 0 || i == e->n)
        return e->share[i ? i - 1 : 0];
    long double part = logl((long double)run / (long double)e->run_bytes[i - 1]) /
                       logl((long double)e->run_bytes[i] / (long double)e->run_bytes[i - 1]);
    return e->share[i - 1] * (1 - part) + e->share[i] * part;
}

/* The longer of: through the engine's port, and off the channels at the share that its runs reach.
 */
static th_time move_ps(const th_schedule *s, const th_port *port, int e, int64_t bytes)
{
    int64_t run = s->run_bytes[e], whole = moved(bytes, run, port->burst_bytes);
    long double share = share_of(&port->efficiency, run > 0 && run < bytes ? run : bytes);
    long double channels = port->channels > 1 ? port->channels : 1;
    long double used = channels;
    if (port->channels > 1)
        used = ceill((long double)whole / (long double)port->interleave_bytes);
    if (used > channels)
        used = channels;
    long double ps = 0, bits = 8e12L * (long double)whole;
    if (port->bits_per_s != TH_UNLIMITED)
        ps = bits / share / ((long double)port->bits_per_s * used / channels);
    if (s->port_bits_per_s[e] > 0)
        ps = fmaxl(ps, bits / (long double)s->port_bits_per_s[e]);
    return (th_time)ceill(ps - 1e-3L);
}

/* --- the loop nest, walked -------------------------------------------------------------------- */

typedef struct {
    bool revisits, spills, reads;
    int order[TH_N_LOOPS];
    int64_t n_visits;
    th_time loaded[TH_N_ENGINES], computed; /* of the last request and step */
    th_time busy;
    int64_t bytes[TH_N_ENGINES], moved[TH_N_ENGINES]; /* asked for, and with bursts */
    th_time computed_at[STEPS_MAX];                   /* by step */
    th_time full_at[STEPS_MAX], stored_at[STEPS_MAX]; /* by visit */
    th_time tile_stored[STEPS_MAX];                   /* the last visit to a tile */
} walk;

static walk w;

static bool is_loaded(const int32_t *i, unsigned stays)
{
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        if (stays >> loop & 1 && i[loop] > 0)
            return false;
    return true;
}

static unsigned last_of(const th_schedule *s, const int32_t *i)
{
    unsigned last = 0;
    for (int loop = 1; loop < TH_N_LOOPS; loop++)
        last |= (unsigned)(i[loop] == s->count[loop] - 1) << (loop - 1);
    return last;
}

static int64_t tile_of(const th_schedule *s, const int32_t *i)
{
    return ((i[0] * (int64_t)s->count[1] + i[1]) * s->count[2] + i[2]) * s->count[3] + i[3];
}

static void set_order(const th_schedule *s)
{
    int of_c = 0;
    for (int place = 0; place < TH_N_LOOPS; place++) {
        w.order[place] = s->order[0] == s->order[1] ? place : s->order[place];
        if (w.order[place] == TH_LOOP_C)
            of_c = place;
    }
    w.revisits = false;
    for (int place = of_c + 1; place < TH_N_LOOPS; place++)
        w.revisits |= s->count[TH_LOOP_C] > 1 && s->count[w.order[place]] > 1;
    w.spills = w.revisits && !s->sums_stay;
    w.reads = w.spills || s->reads_sums;
}

/* A finished tile that is not stored at t keeps a serial schedule's loads waiting. */
static th_time after_stores(const th_schedule *s, th_time t)
{
    for (int64_t v = s->serial ? max2(0, w.n_visits - 64) : w.n_visits; v < w.n_visits; v++)
        if (w.full_at[v] <= t && t < w.stored_at[v])
            t = w.stored_at[v];
    return t;
}

static void request(const th_schedule *s, const th_port *port, int e, int64_t bytes,
                    th_time slot_free, th_time ready)
{
    if (bytes == 0) {
        w.loaded[e] = max2(w.loaded[e], slot_free);
        return;
    }
    th_time possible = max2(w.loaded[e], ready);
    th_time begins = e == TH_ENGINE_OUTPUT ? possible : after_stores(s, possible);
    th_time since = begins > possible ? begins : ready;
    w.loaded[e] = max2(begins, since + port->latency_ps) + move_ps(s, port, e, bytes);
    w.bytes[e] += bytes;
    w.moved[e] += moved(bytes, s->run_bytes[e], port->burst_bytes);
}

static void load(const th_schedule *s, const th_port *port, const int32_t *i, int64_t j)
{
    unsigned last = last_of(s, i);
    th_time slot_free = j >= s->slots_in ? w.computed_at[j - s->slots_in] : 0, sums = slot_free;
    int64_t extra = i[TH_LOOP_H] == 0 ? s->first_row_extra_bytes : 0, partial;
    if (i[TH_LOOP_C] == 0) {
        partial = s->reads_sums ? s->output_bytes[last & 7u] : 0;
    } else {
        partial = w.spills ? s->partial_bytes[last & 7u] : 0;
        sums = w.spills ? max2(sums, w.tile_stored[tile_of(s, i)]) : sums;
    }
    request(s, port, TH_ENGINE_INPUT,
            is_loaded(i, s->input_stays) ? s->step[last].input_bytes + extra : 0, slot_free,
            slot_free);
    request(s, port, TH_ENGINE_WEIGHT,
            is_loaded(i, s->weight_stays) ? s->step[last].weight_bytes : 0, slot_free, slot_free);
    if (w.reads)
        request(s, port, TH_ENGINE_PARTIAL, partial, slot_free, sums);
}

static void compute(const th_schedule *s, const th_port *port, const int32_t *i, int64_t j)
{
    unsigned last = last_of(s, i);
    bool is_first = i[TH_LOOP_C] == 0, is_last = i[TH_LOOP_C] == s->count[TH_LOOP_C] - 1;
    th_time start = w.computed;
    for (int e = 0; e < TH_ENGINE_OUTPUT; e++)
        start = max2(start, w.loaded[e]);
    if ((w.revisits || is_first) && w.n_visits >= s->slots_out)
        start = max2(start, w.stored_at[w.n_visits - s->slots_out]);
    th_time cycles = s->step[last].cycles + (j == 0 ? s->start_cycles : 0);
    w.busy += cycles * CYCLE_PS;
    w.computed_at[j] = w.computed = start + cycles * CYCLE_PS;
    if (!w.revisits && !is_last)
        return;
    int64_t spilled = w.spills ? s->partial_bytes[last & 7u] : 0;
    int64_t bytes = is_last ? s->output_bytes[last & 7u] : spilled;
    request(s, port, TH_ENGINE_OUTPUT, bytes, w.computed, w.computed);
    w.full_at[w.n_visits] = w.computed;
    w.stored_at[w.n_visits++] = w.tile_stored[tile_of(s, i)] = w.loaded[TH_ENGINE_OUTPUT];
}

static th_time walk_all(const th_schedule *s, const th_port *port)
{
    int32_t i[TH_N_LOOPS] = {0};
    memset(&w, 0, offsetof(walk, computed_at));
    set_order(s);
    int place = TH_N_LOOPS;
    for (int64_t j = 0; place >= 0; j++) {
        load(s, port, i, j);
        compute(s, port, i, j);
        for (place = TH_N_LOOPS - 1; place >= 0 && ++i[w.order[place]] == s->count[w.order[place]];)
            i[w.order[place--]] = 0;
    }
    return w.loaded[TH_ENGINE_OUTPUT];
}

/* --- the pipeline against it ------------------------------------------------------------------ */

static bool agrees(const th_schedule *s, const th_port *port, bool skip)
{
    th_pipeline_stats stats;
    th_time end = run(s, port, skip, &stats), expected = walk_all(s, port);
    th_schedule_totals t = th_schedule_sum(s);
    return end == expected && stats.busy_ps == w.busy &&
           memcmp(stats.moved_bytes, w.moved, sizeof w.moved) == 0 &&
           t.input_bytes == w.bytes[TH_ENGINE_INPUT] &&
           t.weight_bytes == w.bytes[TH_ENGINE_WEIGHT] &&
           t.partial_bytes == w.bytes[TH_ENGINE_PARTIAL] &&
           t.output_bytes == w.bytes[TH_ENGINE_OUTPUT] && t.n_stores == w.n_visits;
}

/* Fast enough for four ports of 51 Gb/s at a share of 1/4, so that no engine takes from another; a
 * request that lies on one of many channels feels it. */
static th_port unshared_port(gsl_rng *r)
{
    th_port port = {ideal.bits_per_s,
                    pick(r, 0, 2) * pick(r, 0, 400000),
                    pick(r, 0, 1) ? 1 : pick(r, 2, 300),
                    1,
                    0,
                    {0}};
    draw_efficiency(r, &port);
    if (pick(r, 0, 1)) {
        port.bits_per_s = 1000000000000;
        port.channels = (int32_t)pick(r, 2, 128);
        port.interleave_bytes = pick(r, 16, 512);
    }
    if (pick(r, 0, 5) == 0)
        port.bits_per_s = TH_UNLIMITED;
    return port;
}

/* Behind a memory without limit, ports may be missing: such requests take their latency alone. */
static void drop_ports(gsl_rng *r, th_schedule *s, const th_port *port)
{
    for (int e = 0; port->bits_per_s == TH_UNLIMITED && e < TH_N_ENGINES; e++)
        s->port_bits_per_s[e] *= pick(r, 0, 1);
}

TEST(the_pipeline_is_the_recurrence)
{
    auto_rng *r = th_random_stream(7, "max plus", 0);
    int wrong = 0, n_spills = 0;
    for (int round = 0; round < 4000; round++) {
        th_schedule s = random_schedule(r);
        th_port port = unshared_port(r);
        drop_ports(r, &s, &port);
        wrong += !agrees(&s, &port, pick(r, 0, 1));
        n_spills += w.spills;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(n_spills > 500);
}

/* So few tiles inside C that their sums are asked for before they are stored, images whose sums
 * were made elsewhere, and so many iterations of C that periods are jumped. */
TEST(sums_are_read_after_they_are_stored)
{
    auto_rng *r = th_random_stream(8, "sums", 0);
    int wrong = 0, n_spills = 0;
    for (int round = 0; round < 4000; round++) {
        th_schedule s = random_schedule(r);
        const uint8_t order[] = {TH_LOOP_B, TH_LOOP_C, TH_LOOP_H, TH_LOOP_W, TH_LOOP_K};
        const int32_t count[] = {(int32_t)pick(r, 1, 3), (int32_t)pick(r, 1, 3), 1,
                                 (int32_t)pick(r, 1, 2),
                                 (int32_t)(pick(r, 0, 3) ? pick(r, 2, 4) : pick(r, 40, 120))};
        th_port port = unshared_port(r);
        memcpy(s.order, order, sizeof order);
        memcpy(s.count, count, sizeof count);
        s.sums_stay = false;
        s.weight_stays = 31;
        s.input_stays = pick(r, 0, 1) ? 31 : 0;
        s.slots_in = (int32_t)pick(r, 2, TH_SLOTS_MAX);
        port.latency_ps *= pick(r, 0, 8);
        th_pipeline_stats plain, skipped;
        run(&s, &port, false, &plain);
        run(&s, &port, true, &skipped);
        wrong += memcmp(plain.stall_ps, skipped.stall_ps, sizeof plain.stall_ps) != 0;
        wrong += !agrees(&s, &port, true);
        n_spills += w.spills;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(n_spills > 2000);
}

/* Long loops in any place of the order, so that periods are jumped. */
TEST(jumps_keep_the_recurrence)
{
    auto_rng *r = th_random_stream(9, "jumps", 0);
    int wrong = 0;
    for (int round = 0; round < 150; round++) {
        th_schedule s = random_schedule(r);
        th_port port = unshared_port(r);
        drop_ports(r, &s, &port);
        for (int loop = 0; loop < TH_N_LOOPS; loop++)
            s.count[loop] = (int32_t)pick(r, 1, loop == round % TH_N_LOOPS ? 200 : 4);
        wrong += !agrees(&s, &port, true);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TAP_MAIN("pipeline_rules")
