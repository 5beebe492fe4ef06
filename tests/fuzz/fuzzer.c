/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzzer.c - what libFuzzer calls: the target that the environment names, FUZZ_TARGET
 * (tests/fuzz/run.sh). */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_target *target;
    const char *name = getenv("FUZZ_TARGET");
    for (int i = 0; !target && fuzz_targets[i]; i++)
        if (name && strcmp(fuzz_targets[i]->name, name) == 0)
            target = fuzz_targets[i];
    must(target != NULL);
    fuzz_run(target, data, size);
    return 0;
}
