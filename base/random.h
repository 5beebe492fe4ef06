/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.h - named streams of random numbers on GSL's generators.
 * The numbers of a stream depend on (seed, name, index) alone, never on other streams. */
#ifndef TH_BASE_RANDOM_H
#define TH_BASE_RANDOM_H
#include <stdint.h>
#include <gsl/gsl_rng.h>

/* A gsl_rng_taus2 generator, to be freed with gsl_rng_free; NULL: memory is out. */
gsl_rng *th_random_stream(uint64_t seed, const char *name, uint64_t index);
/* Uniform in [0, n), n >= 1. */
uint64_t th_random_below(gsl_rng *r, uint64_t n);
/* Uniform in [0, 1). */
double th_random_unit(gsl_rng *r);

#endif
