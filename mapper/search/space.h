/* SPDX-License-Identifier: GPL-3.0-or-later */
/* space.h - which mappings a search may make (docs/models/search.md, "Spaces").
 * basic: members in the order of the system, shares equal or in proportion to speed, one chunk, one
 * copy of each layer.
 * full: any order, any shares of unlike accelerators, chunks up to the option, copies. What a
 * partial mapping gives is as it gives it. */
#ifndef TH_MAPPER_SEARCH_SPACE_H
#define TH_MAPPER_SEARCH_SPACE_H
#include "mapper/search/partition/partition.h"
#include "mapper/search/search_options.h"

/* "basic"; "full, up to 4 chunks". */
const char *th_space_describe(th_space space, int chunks);

/* Moves the mapping into basic, under the constraints of the partitioner's problem; layers that had
 * copies do not fit their sets then. 0 or -1. */
int th_space_make_basic(th_partitioner *partitioner, th_mapping *m, th_error *err);

#endif
