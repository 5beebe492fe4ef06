/* SPDX-License-Identifier: GPL-3.0-or-later */
/* input_file.c - see input_file.h. One file is written over and over: file systems write a file
 * that is truncated to nothing to the disk when it is closed. */
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

static int open_file(void)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/tharsis_fuzz_XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd >= 0)
        atexit(remove_file);
    return fd;
}

const char *fuzz_input_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0)
        fd = open_file();
    if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size || ftruncate(fd, (off_t)size) != 0)
        abort();
    return path;
}
