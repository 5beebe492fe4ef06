/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_file.c - see write_file.h. */
#include <config.h>

#include "base/write_file.h"

#include <errno.h>
#include <unistd.h>

int th_write_all(int fd, const void *bytes, size_t n)
{
    const char *next = bytes;
    while (n > 0) {
        ssize_t done = write(fd, next, n);
        if (done < 0 && errno != EINTR)
            return -1;
        next += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}
