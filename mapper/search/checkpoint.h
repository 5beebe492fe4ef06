/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checkpoint.h - digests that identify the search of a journal and the batch of a record. */
#ifndef TH_MAPPER_CHECKPOINT_H
#define TH_MAPPER_CHECKPOINT_H
#include "mapper/search/journal.h"
#include "mapper/search/search_options.h"

/* Digests of all that the result of a search depends on. 0 or -1. */
int th_checkpoint_describe(const th_search_type *type, const th_problem *p,
                           const th_search_options *o, th_journal_header *out, th_error *err);
uint64_t th_checkpoint_batch(th_mapping *const *mappings, int n, double bound);

#endif
