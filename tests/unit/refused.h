/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refused.h - texts that are refused, listed in a file beside the test:
 *
 *   == READER         which of the test's readers gets the texts below
 *   -- ID message     what it says of
 *   the text          up to the next line that begins with == or --
 *
 * A text has no end of line behind its last line; one that does is followed by an empty line. Lines
 * above the first == are comments. */
#ifndef TH_TESTS_UNIT_REFUSED_H
#define TH_TESTS_UNIT_REFUSED_H
#include "base/error.h"

/* NULL ends a list of readers. read: -1 with an error, or 0 where it takes the text; before: what
 * stands in front of every text, or NULL. */
typedef struct refusing_reader {
    const char *name;
    int (*read)(const char *text, th_error *e);
    const char *before;
} refusing_reader;

/* Asserts that each text of tests/unit/FILE is refused as it says. */
void assert_refusals(const char *file, const refusing_reader *readers);

#endif
