/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds for every design of the table, on random configurations, layers and memories. */
#include <config.h>
#include "tests/unit/design_rows.h"

enum { CONFIGS = 60, LAYERS_PER_CONFIG = 5, STEPS_MAX = 200000 };

static th_port random_memory(gsl_rng *r)
{
    static const th_dram_efficiency curve = {3, {64, 1024, 65536}, {0.3, 0.7, 0.95}};
    th_port m = {pick(r, 1, 400) * 1000000000,
                 pick(r, 0, 3) * pick(r, 0, 300000),
                 pick(r, 0, 1) ? 1 : 64,
                 1,
                 0,
                 {0}};
    if (pick(r, 0, 2) == 0) {
        m.channels = (int32_t)pick(r, 2, 16);
        m.interleave_bytes = 256;
    }
    if (pick(r, 0, 1))
        m.efficiency = curve;
    if (pick(r, 0, 9) == 0)
        m.bits_per_s = TH_UNLIMITED;
    return m;
}

static th_time run(const th_schedule *s, const th_port *memory, th_pipeline_stats *stats)
{
    th_pipeline p;
    th_pipeline_start(&p, s, memory, &(th_pipeline_options){.skip = true});
    th_time end = th_pipeline_finish(&p, s, memory);
    *stats = p.stats;
    return end;
}

static double bound_of(const th_schedule *s, const th_port *memory, const th_pipeline_stats *stats)
{
    double bytes = (double)(th_stats_read(stats) + stats->moved_bytes[TH_ENGINE_OUTPUT]);
    double traffic = bytes * 8e12 / (double)memory->bits_per_s;
    if (memory->bits_per_s == TH_UNLIMITED)
        traffic = 0;
    double compute = (double)th_schedule_sum(s).cycles * 1e12 / (double)s->hz;
    return traffic > compute ? traffic : compute;
}

/* 0: elapsed is busy and stalls; not below compute, nor below the traffic; what moved is what the
 * schedule says, and more only by bursts; sums are read back as often as they were stored. */
static int faults_of(const th_schedule *s, const th_port *memory)
{
    th_pipeline_stats stats;
    th_time end = run(s, memory, &stats);
    th_schedule_totals t = th_schedule_sum(s);
    th_schedule kept = *s;
    kept.sums_stay = true;
    int64_t reads = t.input_bytes + t.weight_bytes + t.partial_bytes, read = th_stats_read(&stats);
    int64_t stored = stats.moved_bytes[TH_ENGINE_OUTPUT];
    th_time stalls = th_stats_stall_in(&stats) + stats.stall_ps[TH_ENGINE_OUTPUT];
    int faults = stats.busy_ps + stalls != end;
    faults += (double)end < bound_of(s, memory, &stats) * (1 - 1e-9) - 1;
    faults += memory->burst_bytes == 1 ? read != reads || stored != t.output_bytes
                                       : read < reads || stored < t.output_bytes;
    int64_t spilled = t.output_bytes - th_schedule_sum(&kept).output_bytes;
    faults += !s->reads_sums && t.partial_bytes != spilled;
    double busy = (double)t.cycles * 1e12 / (double)s->hz;
    faults += (double)stats.busy_ps < busy - 1 || (double)stats.busy_ps > busy + (double)t.n_steps;
    return faults;
}

/* The design's schedules of some layers; those that it cannot run are passed over. */
static void hold_design(const th_design_type *t, gsl_rng *r, int *wrong, int *n)
{
    char keys[KEYS_MAX];
    row_of(t)->text(r, keys);
    ready_design d = ready_with(t->name, keys);
    for (int layer = 0; layer < LAYERS_PER_CONFIG; layer++) {
        th_shard shard = row_of(t)->layer ? row_of(t)->layer(r) : random_shard(r);
        th_port memory = random_memory(r);
        th_schedule s;
        th_error e = {"", ""};
        if (d.type->schedule(&d.config, &shard, &memory, &s, &e) ||
            th_schedule_sum(&s).n_steps > STEPS_MAX)
            continue;
        int faults = faults_of(&s, &memory);
        if (faults && !*wrong)
            printf("# %s: %s\n", t->name, keys);
        *wrong += faults;
        ++*n;
    }
    free_ready(&d);
}

TEST(time_and_bytes_hold_for_every_design)
{
    for (int i = 0; th_design_types[i]; i++) {
        const th_design_type *t = th_design_types[i];
        auto_rng *r = th_random_stream(61, t->name, 0);
        int wrong = 0, n = 0;
        for (int config = 0; config < CONFIGS; config++)
            hold_design(t, r, &wrong, &n);
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_TRUE(n > CONFIGS * LAYERS_PER_CONFIG / 2);
    }
}

/* With eight slots, no latency and ports as wide as the memory, a large layer takes its compute
 * time where the memory is 64 times as fast, and its traffic where it is as much slower. */
static bool converges(th_schedule s, double memory_speed)
{
    th_pipeline_stats stats;
    th_schedule_totals t = th_schedule_sum(&s);
    double bytes = (double)(t.input_bytes + t.weight_bytes + t.partial_bytes + t.output_bytes);
    double seconds = (double)t.cycles / (double)s.hz;
    th_port memory = {(int64_t)(bytes * 8 / seconds * memory_speed), 0, 1, 1, 0, {0}};
    for (int e = 0; e < TH_N_ENGINES; e++)
        s.port_bits_per_s[e] = 0;
    s.slots_in = s.slots_out = TH_SLOTS_MAX;
    double end = (double)run(&s, &memory, &stats), bound = bound_of(&s, &memory, &stats);
    return end >= bound * (1 - 1e-9) - 1 && end <= 1.02 * bound;
}

TEST(every_design_converges_to_the_roofline)
{
    for (int i = 0; th_design_types[i]; i++) {
        const th_design_type *t = th_design_types[i];
        auto_rng *r = th_random_stream(67, t->name, 0);
        int wrong = 0, n = 0;
        for (int config = 0; config < 30; config++) {
            char keys[KEYS_MAX];
            th_shard large = conv_shard(2, 256, 200, 56, 40, 3);
            th_shard shard = row_of(t)->layer ? row_of(t)->layer(r) : large;
            th_schedule s;
            th_error e = {"", ""};
            row_of(t)->text(r, keys);
            ready_design d = ready_with(t->name, keys);
            bool runs = d.type->schedule(&d.config, &shard, &fast_memory, &s, &e) == 0;
            bool moves = runs && th_schedule_sum(&s).output_bytes > 0;
            if (runs && (s.serial || !moves)) { /* overlaps nothing, so it never comes near */
                runs = false;
                n++;
            }
            for (int fast = 0; runs && fast < 2; fast++) {
                bool is_right = converges(s, fast ? 64 : 1.0 / 64);
                if (!is_right && !wrong)
                    printf("# %s, %s memory: %s\n", t->name, fast ? "fast" : "slow", keys);
                wrong += !is_right;
                n++;
            }
            free_ready(&d);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_TRUE(n > 20);
    }
}

TAP_MAIN("design_properties")
