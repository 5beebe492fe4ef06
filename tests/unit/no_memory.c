/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/no_memory.h"
#include "base/alloc.h"
#include "tests/unit/tap.h"

int fail_each_allocation(int (*attempt)(const void *context, th_error *e), const void *context)
{
    int64_t live = th_alloc_live();
    for (int64_t k = 1, failures = 0;; k += 1 + k / 50) {
        th_error e = {"", ""};
        int64_t calls = th_alloc_calls();
        th_alloc_fail_at(k);
        int failed = attempt(context, &e);
        th_alloc_fail_at(0);
        calls = th_alloc_calls() - calls;
        int is_told = failed ? th_error_is_no_memory(&e) : calls < k;
        if (!is_told || th_alloc_live() != live) {
            printf("# allocation %lld of %lld: %s %s, %lld blocks stay\n", (long long)k,
                   (long long)calls, failed ? e.id : "overlooked", e.text,
                   (long long)(th_alloc_live() - live));
            CU_FAIL("an allocation that fails");
            return (int)failures;
        }
        if (!failed)
            return (int)failures;
        failures++;
    }
}
