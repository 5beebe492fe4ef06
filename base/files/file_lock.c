/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file_lock.c - see file_lock.h. */
#include <config.h>

#include "base/files/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#ifndef F_OFD_SETLK /* of Linux; elsewhere the lock is the whole process's */
#define F_OFD_SETLK F_SETLK
#endif

int th_file_lock(int fd, int64_t start, int64_t n)
{
    struct flock bytes = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = n};
    if (fcntl(fd, F_OFD_SETLK, &bytes) == 0)
        return 0;
    return errno == EAGAIN || errno == EACCES ? 1 : -1;
}
