/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shard_help.h - assertions that the tests of shards share. */
#ifndef TH_TESTS_UNIT_SHARD_HELP_H
#define TH_TESTS_UNIT_SHARD_HELP_H
#include "mapper/shard.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

static inline void assert_box(th_box got, th_box expected)
{
    CU_ASSERT_TRUE(th_box_equal(&got, &expected));
}

/* n accelerators cannot split l, of this batch, by the strategy: error id, and the text behind
 * "file:3: layer NAME". */
static inline void assert_refused(const th_layer *l, int32_t batch, const char *strategy, int n,
                                  const char *id, const char *text)
{
    th_strategy s = strategy_of(strategy);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_strategy_check(&s, l, batch, n, "file:3: ", &e), -1);
    char expected[300];
    snprintf(expected, sizeof expected, "file:3: layer \"%s\"%s", l->name, text);
    TAP_ASSERT_ERROR(e, id, expected);
    CU_ASSERT_FALSE(th_strategy_fits(&s, l, batch, n));
}

/* Nor rotate along a dimension (of one letter): no operand is the same on several. */
static inline void assert_cannot_rotate(const th_layer *l, int32_t batch, const char *strategy,
                                        int n, const char *dim)
{
    char text[200];
    snprintf(text, sizeof text,
             " cannot rotate along %s: no operand that is cut along %s is the same on several "
             "accelerators",
             dim, dim);
    assert_refused(l, batch, strategy, n, "MAP-0001", text);
}

#endif
