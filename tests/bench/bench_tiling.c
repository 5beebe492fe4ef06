/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_tiling.c - what the search for tiles takes, and how near it comes to moving every byte
 * once. */
#include <config.h>

#include <stdio.h>

#include "base/random.h"
#include "sim/design/design.h"
#include "sim/pipeline/pipeline.h"
#include "tests/bench/bench.h"

enum { N_SHARDS = 500, ARRAY_K = 64, ARRAY_C = 8, CYCLE_PS = 5000 };

static int32_t below(gsl_rng *r, int n)
{
    return (int32_t)th_random_below(r, (uint64_t)n);
}

/* Convolutions of 1 x 1 to 5 x 5, up to 512 channels, up to 112 x 112 pixels. */
static th_shard random_shard(gsl_rng *r)
{
    int32_t kernel = 1 + 2 * below(r, 3), h = 1 + below(r, 112), w = 1 + below(r, 112);
    int32_t batch = 1 + below(r, 4), k = 1 + below(r, 512);
    return th_bench_conv(batch, k, 1 + below(r, 512), h, w, kernel);
}

/* The longer of computing, channels in whole arrays, and moving every byte once. */
static double least_ps(const th_shard *s, const th_port *memory)
{
    const int32_t *d = s->dim;
    int64_t pixels = (int64_t)d[TH_DIM_B] * d[TH_DIM_H] * d[TH_DIM_W];
    int64_t elements = pixels * (d[TH_DIM_K] + d[TH_DIM_C]) +
                       (int64_t)d[TH_DIM_K] * d[TH_DIM_C] * d[TH_DIM_R] * d[TH_DIM_S];
    double traffic = (double)elements * 2 * 8e12 / (double)memory->bits_per_s;
    int64_t k = (d[TH_DIM_K] + ARRAY_K - 1) / ARRAY_K, c = (d[TH_DIM_C] + ARRAY_C - 1) / ARRAY_C;
    double compute = (double)(pixels * d[TH_DIM_R] * d[TH_DIM_S] * k * c) * CYCLE_PS;
    return traffic > compute ? traffic : compute;
}

static void bench_one(const char *name, th_design_block *block)
{
    const th_port memory = {INT64_C(32000000000), 100000, 64, 1, 0, {0}}; /* 4 GB/s, 100 ns */
    const th_design_type *type;
    th_design_config config;
    th_error e = {0};
    gsl_rng *r = th_random_stream(1, "tiling", 0);
    if (!r || th_design_configure(block, &type, &config, &e))
        th_bench_stop_at(&e);
    double longest = 0, all = 0, over = 0;
    for (int i = 0; i < N_SHARDS; i++) {
        th_shard s = random_shard(r);
        th_schedule schedule;
        th_pipeline p;
        double before = th_bench_cpu_seconds();
        if (type->schedule(&config, &s, &memory, &schedule, &e))
            th_bench_stop_at(&e);
        double took = th_bench_cpu_seconds() - before;
        th_pipeline_start(&p, &schedule, &memory, &(th_pipeline_options){.skip = true});
        over += (double)th_pipeline_finish(&p, &schedule, &memory) / least_ps(&s, &memory);
        all += took;
        longest = took > longest ? took : longest;
    }
    printf("%-28s %8.3f %8.3f %8.3f\n", name, all / N_SHARDS * 1e3, longest * 1e3, over / N_SHARDS);
    th_design_release(type, &config);
    gsl_rng_free(r);
}

void th_bench_tiling(void)
{
    th_param params[] = {{"clock", TH_PARAM_TEXT, 0, "200MHz", 1},
                         {"input_port", TH_PARAM_NUMBER, 40, NULL, 1},
                         {"weight_port", TH_PARAM_NUMBER, 40, NULL, 1},
                         {"output_port", TH_PARAM_NUMBER, 40, NULL, 1},
                         {"array_k", TH_PARAM_NUMBER, ARRAY_K, NULL, 1},
                         {"array_c", TH_PARAM_NUMBER, ARRAY_C, NULL, 1},
                         {"tile_k", TH_PARAM_NUMBER, ARRAY_K, NULL, 1},
                         {"tile_c", TH_PARAM_NUMBER, ARRAY_C, NULL, 1},
                         {"tile_h", TH_PARAM_NUMBER, 7, NULL, 1},
                         {"tile_w", TH_PARAM_NUMBER, 14, NULL, 1},
                         {"order", TH_PARAM_TEXT, 0, "auto", 1},
                         {"buffer", TH_PARAM_TEXT, 0, "512KiB", 1}};
    enum { ALL = sizeof params / sizeof *params, TILE = 6 };
    th_design_block given = {"given", "tiled", params, ALL - 2, "bench", 1};
    th_design_block order = {"order", "tiled", params, ALL, "bench", 1};
    th_param open[ALL];
    int n = 0;
    for (int i = 0; i < ALL; i++)
        if (i < TILE || i >= TILE + 4)
            open[n++] = params[i];
    th_design_block all = {"all", "tiled", open, n, "bench", 1};
    printf("64 x 8 units, 4 GB/s, %d random convolutions; search: CPU ms; time over the longer of\n"
           "computing in whole arrays and moving every byte once\n%-28s %8s %8s %8s\n",
           N_SHARDS, "open", "mean", "longest", "time");
    bench_one("nothing, no sizes", &given);
    bench_one("order, 512 KiB", &order);
    bench_one("order and tile, 512 KiB", &all);
}
