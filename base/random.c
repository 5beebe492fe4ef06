/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.c - named streams of random numbers on GSL's generators.
 *
 * A stream is a taus2 (L'Ecuyer: Maximally equidistributed combined Tausworthe generators,
 * Mathematics of Computation 65, 1996) whose three words of state come from a digest of (seed,
 * name, index). gsl_rng_set takes a seed of 32 bits only, with which two of 80,000 streams would
 * probably be equal; the 64 bits of the digest avoid that. The generator is built by hand, because
 * gsl_rng_alloc ends the process when memory is out. */
#include <config.h>
#include "base/random.h"
#include "base/map.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { N_WORDS = 3, WARM_UP = 6 };

/* GSL's state of taus2, the same since its first version: the three components. */
typedef struct taus_state {
    unsigned long word[N_WORDS];
} taus_state;

/* A component is stuck at zero when only its lowest bits are set: the i-th wants more than this. */
static const unsigned long word_min[N_WORDS] = {2, 8, 16};

static gsl_rng *new_generator(void)
{
    gsl_rng *r = malloc(sizeof *r);
    void *state = calloc(1, gsl_rng_taus2->size);
    if (!r || !state) {
        free(r);
        free(state);
        return NULL;
    }
    r->type = gsl_rng_taus2;
    r->state = state;
    return r;
}

gsl_rng *th_random_stream(uint64_t seed, const char *name, uint64_t index)
{
    assert(gsl_rng_taus2->size == sizeof(taus_state));
    gsl_rng *r = new_generator();
    if (!r)
        return NULL;
    taus_state state;
    uint64_t digest = th_hash(name, strlen(name), seed) + index;
    for (unsigned i = 0; i < N_WORDS; i++) {
        digest = th_hash(NULL, 0, digest + i);
        state.word[i] = (digest >> 32) | word_min[i];
    }
    memcpy(r->state, &state, sizeof state);
    for (int i = 0; i < WARM_UP; i++)
        gsl_rng_get(r);
    return r;
}

static uint64_t bits64(gsl_rng *r)
{
    uint64_t high = gsl_rng_get(r);
    return high << 32 | gsl_rng_get(r);
}

/* Rejects the first 2^64 mod n values, so that the rest is a whole number of n's. */
uint64_t th_random_below(gsl_rng *r, uint64_t n)
{
    assert(n >= 1);
    uint64_t surplus = -n % n;
    uint64_t bits;
    do
        bits = bits64(r);
    while (bits < surplus);
    return bits % n;
}

double th_random_unit(gsl_rng *r)
{
    enum { MANTISSA = 53 }; /* bits of a double */
    return (double)(bits64(r) >> (64 - MANTISSA)) * 0x1p-53;
}
