/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tap.h - CUnit tests by name, told in TAP (one line per test, what failed as # lines).
 *
 *   static void counts_live_blocks(void) { CU_ASSERT_EQUAL(th_alloc_live(), 0); }
 *   int main(int argc, char **argv)
 *   {
 *       static const tap_test tests[] = {TAP(counts_live_blocks), TAP_END};
 *       return tap_main("alloc", tests, argc, argv);
 *   }
 * Run by hand, "test_alloc counts_live_blocks" runs that test alone. */
#ifndef TH_TESTS_UNIT_TAP_H
#define TH_TESTS_UNIT_TAP_H
#include <CUnit/CUnit.h>

typedef struct tap_test {
    const char *name;
    void (*run)(void);
} tap_test;

/* Where each run takes ten times as long, with sanitizers and invariant walks, a test of many like
 * cases takes every fourth: these look at how a result is made, and the plain build at all of the
 * results. */
#ifdef TH_PARANOID
enum { TAP_STRIDE = 4 };
#else
enum { TAP_STRIDE = 1 };
#endif
#define TAP_REPEATS(n) (((n) + TAP_STRIDE - 1) / TAP_STRIDE)

#define TAP(function)                                                                              \
    {                                                                                              \
#function, function                                                                        \
    }
#define TAP_END                                                                                    \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

/* Runs the tests in order. Returns 0 once all of them ran, even if some failed (the TAP lines say
 * which, and the harness counts those); a crash or a sanitizer's finding is another status. */
int tap_main(const char *suite, const tap_test *tests, int argc, char **argv);

/* The running test misses a bar by a known amount: the format says "got X, bar Y". Its line becomes
 * "not ok N - NAME # TODO got X, bar Y", which counts apart from failures, unless one of its
 * assertions fails. */
void tap_known_miss(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Asserts that both texts are equal, and shows them where they are not. */
#define TAP_ASSERT_TEXT(got, expected) tap_assert_text((got), (expected), __FILE__, __LINE__)
void tap_assert_text(const char *got, const char *expected, const char *file, int line);

#endif
