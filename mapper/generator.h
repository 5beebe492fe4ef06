/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generator.h - what made a mapping: the generator of an initial mapping, or the variation operator
 * that changed another mapping. For reports alone. */
#ifndef TH_MAPPER_GENERATOR_H
#define TH_MAPPER_GENERATOR_H

typedef enum th_generator {
    TH_GENERATOR_GIVEN, /* by the user: from a file, or to start from */
    TH_GENERATOR_DYNAMIC_PROGRAMMING,
    TH_GENERATOR_PERTURBED, /* dynamic programming with perturbed estimates */
    TH_GENERATOR_UNIFORM,   /* one split for all layers */
    TH_GENERATOR_BASELINE,
    TH_GENERATOR_RANDOM,
    TH_GENERATOR_CROSSOVER, /* and mutation */
    TH_GENERATOR_MUTATION,
    TH_GENERATOR_PARTITIONING, /* other sets, designs or ranges of layers */
    TH_GENERATOR_OVER_TIME,    /* layers on fewer or more accelerators than others (over_time.c) */
    TH_GENERATOR_LOCAL_MOVE,   /* of polish */
    TH_GENERATOR_ENUMERATION,  /* of exhaustive */
    TH_N_GENERATORS
} th_generator;

extern const char *const th_generator_names[TH_N_GENERATORS];

#endif
