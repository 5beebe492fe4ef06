/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/design_rows.h"

#define ARRAY                                                                                      \
    "clock = \"200MHz\"; tile_k = 8; tile_c = 4; input_port = 8; weight_port = 8; output_port = "  \
    "8; "

static const th_port memory = {16000000000, 100000, 64, 1, 0, {0}}; /* 2 GB/s, 100 ns */

static th_time time_of(const th_schedule *s, const th_port *port)
{
    th_pipeline p;
    th_pipeline_start(&p, s, port, &(th_pipeline_options){.skip = true});
    return th_pipeline_finish(&p, s, port);
}

/* -1: it does not fit. */
static th_time time_with(const char *keys, const th_shard *shard, th_schedule *out)
{
    ready_design d = ready_with("tiled", keys);
    th_error e = {"", ""};
    bool fits = d.type->schedule(&d.config, shard, &memory, out, &e) == 0;
    free_ready(&d);
    return fits ? time_of(out, &memory) : -1;
}

/* --- what stays ------------------------------------------------------------------------------- */

/* K 16, C 8, 6 x 6, 3 x 3, tile 8 x 4 x 3 x 6: counts H 2, K 2, C 2. A tile of inputs is 4*3*6*2 =
 * 144 bytes, of weights 8*4*9*2 = 576, of outputs 8*3*6*2 = 288; all weights 2304, all inputs 576.
 * BHWKC: inputs stay through K with 2 tiles (of C) at hand, weights through H with 4.
 * BCHWK: inputs stay through K with their one tile, weights through H with 2; sums of 4 tiles. */
#define SIX "tile_h = 3; tile_w = 6; "
TEST(operands_stay_where_buffers_hold_them)
{
    static const struct {
        const char *keys;
        int64_t in, weight, partial, out;
    } cases[] = {
        {"", 1152, 4608, 0, 1152},
        {"input_buffer = \"288B\"; ", 576, 4608, 0, 1152},
        {"weight_buffer = \"2303B\"; ", 1152, 4608, 0, 1152},
        {"weight_buffer = \"2304B\"; ", 1152, 2304, 0, 1152},
        {"order = \"BCHWK\"; ", 1152, 4608, 1152, 2304},
        {"order = \"BCHWK\"; accumulator_bits = 32; ", 1152, 4608, 2304, 3456},
        {"order = \"BCHWK\"; input_buffer = \"288B\"; ", 576, 4608, 1152, 2304},
        {"order = \"BCHWK\"; weight_buffer = \"1152B\"; ", 1152, 2304, 1152, 2304},
        {"order = \"BCHWK\"; output_buffer = \"1151B\"; ", 1152, 4608, 1152, 2304},
        {"order = \"BCHWK\"; output_buffer = \"1152B\"; ", 1152, 4608, 0, 1152},
        {"order = \"BCHWK\"; output_buffer = \"1152B\"; accumulator_bits = 24; ", 1152, 4608, 1728,
         2880},
        {"order = \"BCHWK\"; buffer = \"2592B\"; ", 576, 2304, 0, 1152},
        {"order = \"BCHWK\"; buffer = \"2591B\"; ", 576, 2304, 1152, 2304},
    };
    th_shard shard = conv_shard(1, 16, 8, 6, 6, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[KEYS_MAX];
        th_schedule s;
        snprintf(keys, sizeof keys, ARRAY SIX "%s", cases[i].keys);
        CU_ASSERT_TRUE(time_with(keys, &shard, &s) > 0);
        th_schedule_totals t = th_schedule_sum(&s);
        bool is_right = t.input_bytes == cases[i].in && t.weight_bytes == cases[i].weight &&
                        t.partial_bytes == cases[i].partial && t.output_bytes == cases[i].out;
        if (!is_right)
            printf("# %s: %d %d %d %d\n", cases[i].keys, (int)t.input_bytes, (int)t.weight_bytes,
                   (int)t.partial_bytes, (int)t.output_bytes);
        CU_ASSERT_TRUE(is_right);
    }
}

/* Rows of 6 of 13 columns, 2 bytes: inputs have a window of (6-1)2+3 = 13 of 27 columns. Weights
 * lie tile by tile. Whole rows: 3 rows of 13, and of the input 7 of 27. */
TEST(runs_are_rows_of_a_tile)
{
    th_shard shard = conv_shard(1, 16, 8, 13, 13, 3);
    th_schedule s;
    shard.stride_h = shard.stride_w = 2;
    shard.in_h = shard.in_w = 27;
    time_with(ARRAY "tile_h = 3; tile_w = 6; halo = true; runs = true; accumulator_bits = 32; ",
              &shard, &s);
    CU_ASSERT_TRUE(s.run_bytes[TH_ENGINE_INPUT] == 26 && s.run_bytes[TH_ENGINE_WEIGHT] == 0 &&
                   s.run_bytes[TH_ENGINE_PARTIAL] == 24 && s.run_bytes[TH_ENGINE_OUTPUT] == 12);
    time_with(ARRAY "tile_h = 3; tile_w = 13; halo = true; runs = true; ", &shard, &s);
    CU_ASSERT_TRUE(s.run_bytes[TH_ENGINE_INPUT] == 7 * 27 * 2 &&
                   s.run_bytes[TH_ENGINE_OUTPUT] == 3 * 13 * 2);
    time_with(ARRAY "tile_h = 13; tile_w = 13; runs = true; ", &shard, &s);
    CU_ASSERT_TRUE(s.run_bytes[TH_ENGINE_INPUT] == 0 && s.run_bytes[TH_ENGINE_OUTPUT] == 0);
    time_with(ARRAY "tile_h = 3; tile_w = 6; ", &shard, &s);
    CU_ASSERT_TRUE(s.run_bytes[TH_ENGINE_INPUT] == 0 && s.run_bytes[TH_ENGINE_OUTPUT] == 0);
}

/* K 16, C 8, 6 x 6, 3 x 3 in tiles of 8 x 4 x 3 x 6, by the loops: 8 steps of 9*18 = 162 cycles; 4
 * inputs a cycle, 8 sums written and read, but the first of 16*36; weights 8*4*9 a step. */
TEST(accesses_are_counted)
{
    th_shard shard = conv_shard(1, 16, 8, 6, 6, 3);
    th_schedule s;
    time_with(ARRAY SIX, &shard, &s);
    CU_ASSERT_EQUAL(s.accesses.input_reads, 8 * 162 * 4);
    CU_ASSERT_EQUAL(s.accesses.weight_reads, 8 * 8 * 4 * 9);
    CU_ASSERT_EQUAL(s.accesses.output_writes, 8 * 162 * 8);
    CU_ASSERT_EQUAL(s.accesses.partial_reads, 8 * 162 * 8 - 16 * 36);
    CU_ASSERT_TRUE(s.macs_per_cycle == 32 && s.variant == NULL);
    CU_ASSERT_TRUE(s.buffer_bytes[TH_TENSOR_INPUT] == 2 * 144 &&
                   s.buffer_bytes[TH_TENSOR_WEIGHT] == 2 * 576 &&
                   s.buffer_bytes[TH_TENSOR_OUTPUT] == 2 * 288);
}

/* Two images: weights stay through B; a second operand that takes their place differs by image. */
TEST(a_product_of_activations_has_no_weights_to_keep)
{
    th_shard shard = conv_shard(2, 16, 8, 6, 1, 1);
    th_schedule s;
    shard.kind = TH_LAYER_MATMUL;
    for (int operands = 1; operands <= 2; operands++) {
        shard.n_operands = operands;
        time_with(ARRAY SIX "weight_buffer = \"1MiB\"; ", &shard, &s);
        CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, operands * 16 * 8 * 2);
    }
}

/* --- buffers are never too small -------------------------------------------------------------- */

enum { STEPS_MAX = 20000, IDS_MAX = 20000 };

static int64_t id_of(const th_schedule *s, const int32_t *i, unsigned changes)
{
    int64_t id = 0;
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        if (changes >> loop & 1u)
            id = id * s->count[loop] + i[loop];
    return id;
}

static bool has_stayed(const int32_t *i, unsigned stays)
{
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        if (stays >> loop & 1u && i[loop] > 0)
            return true;
    return false;
}

static bool next(const th_schedule *s, int32_t *i)
{
    int place = TH_N_LOOPS - 1;
    while (place >= 0 && ++i[s->order[place]] == s->count[s->order[place]])
        i[s->order[place--]] = 0;
    return place >= 0;
}

/* The most tiles of an operand at hand at once, step by step: from when its request may begin
 * (slots - 1 steps ahead) to the last step that uses it before it is loaded anew. -1: a step has no
 * tile. */
static int64_t most_loaded(const th_schedule *s, unsigned changes, unsigned stays)
{
    static int32_t live[STEPS_MAX + 1], from[IDS_MAX], last[IDS_MAX];
    int32_t i[TH_N_LOOPS] = {0}, j = 0;
    memset(live, 0, sizeof live);
    memset(from, -1, sizeof from);
    do {
        int64_t id = id_of(s, i, changes);
        if (!has_stayed(i, stays)) {
            if (from[id] >= 0)
                live[last[id] + 1]--;
            from[id] = (int32_t)(j - s->slots_in + 1 > 0 ? j - s->slots_in + 1 : 0);
            live[from[id]]++;
        } else if (from[id] < 0)
            return -1;
        last[id] = j++;
    } while (next(s, i));
    for (int id = 0; id < IDS_MAX; id++)
        if (from[id] >= 0)
            live[last[id] + 1]--;
    int64_t now = 0, most = 0;
    for (int32_t at = 0; at < j; at++) {
        now += live[at];
        most = now > most ? now : most;
    }
    return most;
}

/* Sums from the first visit to the last, and until slots_out further visits. */
static int64_t most_summed(const th_schedule *s)
{
    static int32_t live[STEPS_MAX + TH_SLOTS_MAX];
    int32_t i[TH_N_LOOPS] = {0}, j = 0;
    bool revisits = th_schedule_revisits(s), keeps = !revisits || s->sums_stay;
    memset(live, 0, sizeof live);
    do {
        bool is_last = i[TH_LOOP_C] == s->count[TH_LOOP_C] - 1;
        if (!keeps || i[TH_LOOP_C] == 0)
            live[j]++;
        if (!keeps || is_last)
            live[j + (revisits ? s->slots_out : 1 + (s->slots_out - 1) * s->count[TH_LOOP_C])]--;
        j++;
    } while (next(s, i));
    int64_t now = 0, most = 0;
    for (int32_t at = 0; at < j; at++) {
        now += live[at];
        most = now > most ? now : most;
    }
    return most;
}

static void random_buffers(gsl_rng *r, char *out)
{
    char order[6];
    int n = snprintf(out, KEYS_MAX,
                     ARRAY "order = \"%s\"; slots_in = %d; slots_out = %d; accumulator_bits = %d; "
                           "tile_h = %d; tile_w = %d; halo = %s; clip = %s; ",
                     draw_order(r, order), (int)pick(r, 1, 4), (int)pick(r, 1, 4),
                     (int)pick(r, 4, 48), (int)(pick(r, 0, 1) * pick(r, 1, 9)),
                     (int)(pick(r, 0, 1) * pick(r, 1, 9)), draw_bool(r), draw_bool(r));
    if (pick(r, 0, 1))
        snprintf(out + n, KEYS_MAX - (size_t)n, "buffer = \"%dB\"; ", 4000 << pick(r, 0, 6));
    else
        snprintf(out + n, KEYS_MAX - (size_t)n,
                 "input_buffer = \"%dB\"; weight_buffer = \"%dB\"; output_buffer = \"%dB\"; ",
                 3000 << pick(r, 0, 6), 3000 << pick(r, 0, 6), 3000 << pick(r, 0, 6));
}

static int64_t bytes_at(const th_schedule *s, unsigned mask, th_tensor tensor)
{
    int64_t out = s->output_bytes[mask & 7u], sums = s->partial_bytes[mask & 7u];
    if (tensor == TH_TENSOR_OUTPUT)
        return out > sums ? out : sums;
    return tensor == TH_TENSOR_INPUT ? s->step[mask].input_bytes : s->step[mask].weight_bytes;
}

/* Of the kinds of step that occur. */
static int64_t largest_of(const th_schedule *s, th_tensor tensor)
{
    int64_t most = 0;
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++) {
        bool occurs = true;
        for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
            occurs &= (m >> (loop - 1) & 1u) || s->count[loop] > 1;
        if (occurs && bytes_at(s, m, tensor) > most)
            most = bytes_at(s, m, tensor);
    }
    return most;
}

TEST(what_is_at_hand_fits)
{
    auto_rng *r = th_random_stream(53, "fits", 0);
    const unsigned pixels = 1u << TH_LOOP_B | 1u << TH_LOOP_H | 1u << TH_LOOP_W;
    int wrong = 0, n_run = 0, n_stays = 0;
    for (int round = 0; round < 500; round++) {
        char keys[KEYS_MAX];
        th_shard shard = random_shard(r);
        random_buffers(r, keys);
        ready_design d = ready_with("tiled", keys);
        th_schedule s;
        th_error e = {"", ""};
        int status = d.type->schedule(&d.config, &shard, &memory, &s, &e);
        if (status == 0 && th_schedule_sum(&s).n_steps < STEPS_MAX) {
            unsigned weights = 1u << TH_LOOP_K | 1u << TH_LOOP_C;
            weights |= shard.groups > 1 ? 1u << TH_LOOP_B : 0u;
            const int64_t tiles[] = {most_loaded(&s, pixels | 1u << TH_LOOP_C, s.input_stays),
                                     most_loaded(&s, weights, s.weight_stays), most_summed(&s)};
            for (int i = 0; i < TH_N_TENSORS; i++)
                wrong +=
                    tiles[i] < 0 || tiles[i] * largest_of(&s, (th_tensor)i) > s.buffer_bytes[i];
            n_run++;
            n_stays += s.input_stays || s.weight_stays || s.sums_stay;
        }
        wrong += status && strcmp(e.id, "SIM-0055") != 0 && strcmp(e.id, "SIM-0056") != 0;
        free_ready(&d);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(n_run > 250 && n_stays > 100);
}

/* --- the search ------------------------------------------------------------------------------- */

static void nth_order(int n, char *out)
{
    char left[] = "BHWKC";
    for (int i = 0, radix = 24; i < TH_N_LOOPS; i++) {
        int at = n / radix;
        out[i] = left[at];
        memmove(&left[at], &left[at + 1], strlen(&left[at]));
        n %= radix;
        radix /= i < 4 ? 4 - i : 1;
    }
    out[TH_N_LOOPS] = 0;
}

/* The fastest of all tiles and all 120 orders. */
static th_time best_of_all(const char *buffers, const th_shard *shard, int max_h, int max_w)
{
    th_time best = TH_TIME_MAX;
    for (int n = 0; n < 120; n++) {
        char keys[KEYS_MAX], order[TH_N_LOOPS + 1];
        nth_order(n, order);
        for (int h = 1; h <= max_h; h++)
            for (int w = 1; w <= max_w; w++) {
                th_schedule s;
                snprintf(keys, sizeof keys, ARRAY "tile_h = %d; tile_w = %d; order = \"%s\"; %s", h,
                         w, order, buffers);
                th_time took = time_with(keys, shard, &s);
                best = took >= 0 && took < best ? took : best;
            }
    }
    return best;
}

TEST(the_search_is_near_the_best_of_all)
{
    static const struct {
        int b, k, c, h, w, kernel;
        const char *buffers;
    } cases[] = {
        {1, 32, 16, 6, 4, 3,
         "input_buffer = \"1KiB\"; weight_buffer = \"2KiB\"; output_buffer = \"512B\"; "},
        {1, 32, 16, 4, 5, 1, "buffer = \"2KiB\"; "},
        {4, 64, 64, 3, 3, 1,
         "input_buffer = \"2KiB\"; weight_buffer = \"1KiB\"; output_buffer = \"4KiB\"; "},
        {3, 100, 200, 1, 1, 1, "buffer = \"4KiB\"; "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        th_shard shard =
            conv_shard(cases[i].b, cases[i].k, cases[i].c, cases[i].h, cases[i].w, cases[i].kernel);
        char keys[KEYS_MAX];
        th_schedule s;
        snprintf(keys, sizeof keys, ARRAY "order = \"auto\"; %s", cases[i].buffers);
        th_time found = time_with(keys, &shard, &s);
        th_time best = best_of_all(cases[i].buffers, &shard, cases[i].h, cases[i].w);
        CU_ASSERT_TRUE(found >= best && (double)found <= 1.05 * (double)best);
    }
}

TEST(the_search_is_deterministic)
{
    auto_rng *r = th_random_stream(59, "again", 0);
    int wrong = 0;
    for (int round = 0; round < 50; round++) {
        char keys[KEYS_MAX];
        th_schedule a, b;
        th_shard shard = random_shard(r);
        random_buffers(r, keys);
        bool fits = time_with(keys, &shard, &a) >= 0;
        wrong += (time_with(keys, &shard, &b) >= 0) != fits;
        if (!fits)
            continue;
        wrong += memcmp(a.count, b.count, sizeof a.count) != 0;
        wrong += memcmp(a.order, b.order, sizeof a.order) != 0;
        wrong += a.input_stays != b.input_stays || a.weight_stays != b.weight_stays;
        wrong += a.sums_stay != b.sums_stay;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Channels too: the array is an upper bound, and a layer that has fewer channels gets fewer. */
TEST(channels_are_chosen_up_to_the_array)
{
    th_shard shard = conv_shard(1, 24, 3, 16, 16, 3);
    th_schedule s;
    const char *keys = "clock = \"200MHz\"; array_k = 16; array_c = 8; input_port = 64; "
                       "weight_port = 64; output_port = 64; order = \"auto\"; buffer = \"64KiB\"; ";
    CU_ASSERT_TRUE(time_with(keys, &shard, &s) > 0);
    CU_ASSERT_TRUE(s.count[TH_LOOP_C] == 1 && s.count[TH_LOOP_K] == 2);
    CU_ASSERT_EQUAL(s.macs_per_cycle, 128);
    CU_ASSERT_PTR_NOT_NULL(s.variant);
    /* ceil(24 / 2) = 12 and not 16 + 8 */
    CU_ASSERT_EQUAL(s.step[0].weight_bytes, 12 * 3 * 9 * 2);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void assert_no_fit(const char *keys, const th_shard *shard, const char *id, const char *text)
{
    ready_design d = ready_with("tiled", keys);
    th_error e = {"", ""};
    th_schedule s;
    CU_ASSERT_EQUAL(d.type->schedule(&d.config, shard, &memory, &s, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
    free_ready(&d);
}

/* Tiles as above: 144, 576 and 288 bytes. The smallest tile of 1 x 1 pixel: 8, 576, 16. */
TEST(what_does_not_fit_is_refused)
{
    th_shard shard = conv_shard(1, 16, 8, 6, 6, 3);
    assert_no_fit(ARRAY SIX "weight_buffer = \"1151B\"; ", &shard, "SIM-0055",
                  "2 slots of a weight tile of 576 bytes (K 8, C 4, H 3, W 6) need 1 bytes more "
                  "than the weight buffer has");
    assert_no_fit(ARRAY SIX "output_buffer = \"1KiB\"; accumulator_bits = 32; slots_out = 3; ",
                  &shard, "SIM-0055",
                  "3 slots of an output tile of 576 bytes (K 8, C 4, H 3, W 6) need 704 bytes more "
                  "than the output buffer has");
    assert_no_fit(ARRAY "order = \"auto\"; buffer = \"1000B\"; ", &shard, "SIM-0056",
                  "slots of input, weight and output tiles of 8, 576 and 16 bytes (K 8, C 4, H 1, "
                  "W 1) need 200 bytes more than the buffer has");
}

TAP_MAIN("tiling")
