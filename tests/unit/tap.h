/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tap.h - CUnit tests by name, told in TAP (one line per test, what failed as # lines).
 *
 *   TEST(counts_live_blocks)
 *   {
 *       CU_ASSERT_EQUAL(th_alloc_live(), 0);
 *   }
 *   TAP_MAIN("alloc")
 * Run by hand, "test_alloc counts_live_blocks" runs that test alone. */
#ifndef TH_TESTS_UNIT_TAP_H
#define TH_TESTS_UNIT_TAP_H
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/auto.h"

typedef struct tap_test tap_test;
struct tap_test {
    const char *name;
    void (*run)(void);
    int line;
    tap_test *next;
};

/* Defines a test, which the program runs in the order of the lines of its file. */
#define TEST(function)                                                                             \
    static void function(void);                                                                    \
    __attribute__((constructor)) static void function##_add(void)                                  \
    {                                                                                              \
        static tap_test test = {#function, function, __LINE__, NULL};                              \
        tap_add(&test);                                                                            \
    }                                                                                              \
    static void function(void)

/* Adds a test that lives as long as the program. */
void tap_add(tap_test *test);

/* The main of a program, whose tests share what set_up() makes and puts into static variables: it
 * lasts as long as the program. TAP_MAIN: they share nothing. */
#define TAP_MAIN_WITH(suite, set_up)                                                               \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        set_up();                                                                                  \
        return tap_run(suite, argc, argv);                                                         \
    }
#define TAP_MAIN(suite)                                                                            \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return tap_run(suite, argc, argv);                                                         \
    }

/* Runs the tests, or those that the arguments name. Returns 0 once they ran, even if some failed
 * (the TAP lines say which, and the harness counts those); a crash or a sanitizer's finding is
 * another status. */
int tap_run(const char *suite, int argc, char **argv);

/* Where each run takes ten times as long, with sanitizers and invariant walks, a test of many like
 * cases takes every fourth: these look at how a result is made, and the plain build at all of the
 * results. */
#ifdef TH_PARANOID
enum { TAP_STRIDE = 4 };
#else
enum { TAP_STRIDE = 1 };
#endif
#define TAP_REPEATS(n) (((n) + TAP_STRIDE - 1) / TAP_STRIDE)

/* The running test misses a bar by a known amount: the format says "got X, bar Y". Its line becomes
 * "not ok N - NAME # TODO got X, bar Y", which counts apart from failures, unless one of its
 * assertions fails. */
void tap_known_miss(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The running test cannot run here, for this reason: its line ends with "# SKIP why". */
void tap_skip(const char *why);

/* Asserts that both texts are equal, and shows them where they are not. */
#define TAP_ASSERT_TEXT(got, expected) tap_assert_text((got), (expected), __FILE__, __LINE__)
void tap_assert_text(const char *got, const char *expected, const char *file, int line);

/* Asserts that an error (th_error, base/error.h) has this id and this text. */
#define TAP_ASSERT_ERROR(error, expected_id, expected_text)                                        \
    do {                                                                                           \
        tap_assert_text((error).id, (expected_id), __FILE__, __LINE__);                            \
        tap_assert_text((error).text, (expected_text), __FILE__, __LINE__);                        \
    } while (0)

#endif
