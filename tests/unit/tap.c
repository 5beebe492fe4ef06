/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tap.c - runs a CUnit suite and prints TAP. */
#include <config.h>
#include "tests/unit/tap.h"
#include <assert.h>
#include <stdarg.h>

static tap_test *tests; /* by line */
static int n_done;
static char known_miss[120]; /* of the running test; "": none */
static const char *skipped;  /* why the running test is skipped; NULL: it is not */

void tap_add(tap_test *test)
{
    tap_test **at = &tests;
    while (*at && (*at)->line < test->line)
        at = &(*at)->next;
    test->next = *at;
    *at = test;
}

static void print_result(const CU_pTest test, const CU_pSuite suite,
                         const CU_pFailureRecord failures)
{
    (void)suite;
    int is_known_miss = !failures && known_miss[0];
    printf("%s %d - %s%s%s\n", failures || is_known_miss ? "not ok" : "ok", ++n_done, test->pName,
           is_known_miss ? " # TODO " : (skipped ? " # SKIP " : ""),
           is_known_miss ? known_miss : (skipped ? skipped : ""));
    known_miss[0] = '\0';
    skipped = NULL;
    for (CU_pFailureRecord f = failures; f; f = f->pNext)
        printf("# %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
    fflush(stdout);
}

static int is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

static int add_tests(CU_pSuite suite, int argc, char **argv)
{
    int n = 0;
    for (const tap_test *t = tests; t; t = t->next) {
        if (!is_wanted(t->name, argc, argv))
            continue;
        if (!CU_add_test(suite, t->name, t->run))
            return -1;
        n++;
    }
    return n;
}

int tap_run(const char *suite_name, int argc, char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    int n = suite ? add_tests(suite, argc, argv) : -1;
    if (n < 0) {
        printf("Bail out! CUnit: %s\n", CU_get_error_msg());
        return 2;
    }
    printf("1..%d\n", n);
    CU_set_test_complete_handler(print_result);
    CU_run_all_tests();
    CU_cleanup_registry();
    return 0;
}

void tap_known_miss(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(known_miss, sizeof known_miss, format, arguments);
    va_end(arguments);
}

void tap_skip(const char *why)
{
    skipped = why;
}

void tap_assert_text(const char *got, const char *expected, const char *file, int line)
{
    int equal = got && expected ? strcmp(got, expected) == 0 : got == expected;
    if (!equal)
        printf("# got:      %s\n# expected: %s\n", got ? got : "(null)",
               expected ? expected : "(null)");
    CU_assertImplementation(equal, (unsigned)line, "texts differ", file, "", CU_FALSE);
}

/* Read by the leak sanitizer. libconfig 1.5 does not free the text in quotes at which it finds a
 * syntax error, in its function strbuf_append. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:strbuf_append\n";
}
