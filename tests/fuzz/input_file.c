/* SPDX-License-Identifier: GPL-3.0-or-later */
/* input_file.c - see input_file.h. */
#include <config.h>
#include "tests/fuzz/input_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[4096];

static void remove_file(void)
{
    unlink(path);
}

static FILE *open_file(void)
{
    const char *folder = getenv("TMPDIR");
    if (path[0])
        return fopen(path, "wb");
    snprintf(path, sizeof path, "%s/tharsis_fuzz_XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd >= 0)
        atexit(remove_file);
    return fd >= 0 ? fdopen(fd, "wb") : NULL;
}

const char *fuzz_input_file(const uint8_t *data, size_t size)
{
    FILE *f = open_file();
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
    return path;
}
