/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_lookup.c - what it takes to find a layer shard's work in the compute-cost cache. */
#include <config.h>

#include <stdio.h>

#include "base/random.h"
#include "sim/design/compute_cost.h"
#include "tests/bench/bench.h"

enum { N_SHARDS = 1000, N_DESIGNS = 3, N_LOOKUPS = 5000000 };

static th_shard random_shard(gsl_rng *r)
{
    int32_t size[4];
    for (int i = 0; i < 4; i++)
        size[i] = 1 + (int32_t)th_random_below(r, i < 2 ? 256 : 56);
    return th_bench_conv(1, size[0], size[1], size[2], size[3], 3);
}

void th_bench_lookup(const th_system *s)
{
    static th_shard shards[N_SHARDS];
    th_error e = {0};
    gsl_rng *r = th_random_stream(1, "lookup", 0);
    th_compute_cost_cache *w = th_compute_cost_cache_new(s, &e);
    if (!r || !w)
        th_bench_stop_at(&e);
    double before = th_bench_cpu_seconds();
    for (int i = 0; i < N_SHARDS; i++) {
        shards[i] = random_shard(r);
        for (int d = 0; d < N_DESIGNS; d++)
            if (th_compute_cost_lookup(w, 0, d, &shards[i], &e) < 0)
                th_bench_stop_at(&e);
    }
    double made = th_bench_cpu_seconds();
    int64_t sum = 0; /* used below, so that the compiler keeps the loop */
    for (uint32_t i = 0, next = 1; i < N_LOOKUPS; i++) {
        next = next * 1664525u + 1013904223u; /* Numerical Recipes' generator: any order will do */
        sum +=
            th_compute_cost_lookup(w, (int)(next >> 8) % s->n_accels, (int)(next >> 16) % N_DESIGNS,
                                   &shards[(next >> 4) % N_SHARDS], &e);
    }
    double found = th_bench_cpu_seconds();
    printf("layer lookup, %d compute costs of %s in the cache, at random\n",
           th_compute_cost_count(w), s->name);
    printf("%8.1f us to make one, %8.1f ns to find one (asked: 200 ns; checksum %lld)\n",
           (made - before) / th_compute_cost_count(w) * 1e6, (found - made) / N_LOOKUPS * 1e9,
           (long long)sum);
    th_compute_cost_cache_free(w);
    gsl_rng_free(r);
}
