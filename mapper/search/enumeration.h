/* SPDX-License-Identifier: GPL-3.0-or-later */
/* enumeration.h - all mappings of a space (space.h), one after the other.
 *   new -> count -> next until *out is NULL -> free */
#ifndef TH_MAPPER_SEARCH_ENUMERATION_H
#define TH_MAPPER_SEARCH_ENUMERATION_H
#include "mapper/search/search.h"

/* Mappings that exhaustive tries at most, and other searches before they search, unless they are
 * told a number of evaluations alone. */
enum { TH_ENUMERATION_MOST = 10 * 1000 * 1000, TH_ENUMERATION_OF_SEARCHES = 4000 };

typedef struct th_enumeration th_enumeration;

/* Of the problem of s, under its constraints; s must outlive it. NULL on failure. */
th_enumeration *th_enumeration_new(th_search *s, th_space space, th_error *err);
void th_enumeration_free(th_enumeration *e); /* accepts NULL */

/* Are there at most so many mappings? 1, 0 or -1. From the next call of next on it begins anew. */
int th_enumeration_fits(th_enumeration *e, int64_t most, th_error *err);
/* How many, where the last fits said 1. */
int64_t th_enumeration_count(const th_enumeration *e);
/* *out: the caller's; NULL after the last. 0 or -1. */
int th_enumeration_next(th_enumeration *e, th_mapping **out, th_error *err);

#endif
