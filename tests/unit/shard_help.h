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

/* n accelerators cannot split l, of this batch, by the strategy: error id and text (at "file:3: ").
 */
static inline void assert_refused(const th_layer *l, int32_t batch, const char *strategy, int n,
                                  const char *id, const char *text)
{
    th_strategy s = strategy_of(strategy);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_strategy_check(&s, l, batch, n, "file:3: ", &e), -1);
    TAP_ASSERT_TEXT(e.id, id);
    CU_ASSERT_FATAL(strncmp(e.text, "file:3: ", 8) == 0);
    TAP_ASSERT_TEXT(e.text + 8, text);
    CU_ASSERT_FALSE(th_strategy_fits(&s, l, batch, n));
}

#endif
