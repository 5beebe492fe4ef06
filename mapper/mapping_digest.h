/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_digest.h - a 128-bit digest of a mapping: its sets, designs, layers and strategies. */
#ifndef TH_MAPPER_MAPPING_DIGEST_H
#define TH_MAPPER_MAPPING_DIGEST_H
#include "mapper/mapping.h"

typedef struct th_mapping_digest {
    uint64_t half[2];
} th_mapping_digest;
th_mapping_digest th_mapping_digest_of(const th_mapping *m);

#endif
