/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_faults.c - a library for LD_PRELOAD that breaks one call that writes to files; see
 * faults.tcl.
 *
 * Counts the calls that change a file whose path holds FAULT_PATH: opening it to make or empty it,
 * and writing, cutting, syncing, renaming, removing. Call number FAULT_AT fails with FAULT_HOW:
 * "kill" (the process is killed; a write has done half of it then), "SIGTERM" or "SIGHUP" (it is
 * told to end, and goes on meanwhile), the number of an error, or "short" (only writes are counted
 * then; it does half of it, and says so). The file FAULT_MARK is made then. Removing never fails.
 * Calls inside of the C library (stdio) are not seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long n_calls;

static bool is_watched(const char *path)
{
    const char *part = getenv("FAULT_PATH");
    return part && path && strstr(path, part);
}

static bool is_watched_file(int fd)
{
    char link[40], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return is_watched(path);
}

/* 0: the call goes on; 1: it does half of it; -1: it fails, and errno says with what. half: does
 * half of it, before a kill; NULL: it is no write. */
static int strike(bool is_counted, void (*half)(void *), void *call)
{
    const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW"), *mark = getenv("FAULT_MARK");
    if (!is_counted || !at || !how || !mark || (strcmp(how, "short") == 0 && !half) ||
        atomic_fetch_add(&n_calls, 1) + 1 != atol(at))
        return 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0666);
    syscall(SYS_close, fd);
    if (strcmp(how, "kill") == 0) {
        if (half)
            half(call);
        kill(getpid(), SIGKILL);
    }
    if (strncmp(how, "SIG", 3) == 0) {
        const struct timespec meanwhile = {0, 100 * 1000 * 1000};
        kill(getpid(), strcmp(how, "SIGHUP") == 0 ? SIGHUP : SIGTERM);
        nanosleep(&meanwhile, NULL);
        return 0;
    }
    if (strcmp(how, "short") == 0)
        return 1;
    errno = atoi(how);
    return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

typedef struct {
    int fd;
    const void *bytes;
    size_t n;
    off_t at; /* -1: where the file stands */
} writing;

static void write_half(void *call)
{
    const writing *w = call;
    if (w->at < 0)
        syscall(SYS_write, w->fd, w->bytes, w->n / 2);
    else
        REAL(pwrite)(w->fd, w->bytes, w->n / 2, w->at);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    writing w = {fd, bytes, n, -1};
    int struck = strike(is_watched_file(fd), write_half, &w);
    return struck < 0 ? -1 : REAL(write)(fd, bytes, struck ? (n + 1) / 2 : n);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
    writing w = {fd, v[0].iov_base, v[0].iov_len, -1};
    int struck = strike(is_watched_file(fd), write_half, &w);
    if (struck > 0)
        return REAL(write)(fd, v[0].iov_base, (v[0].iov_len + 1) / 2);
    return struck < 0 ? -1 : REAL(writev)(fd, v, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    writing w = {fd, bytes, n, at};
    int struck = strike(is_watched_file(fd), write_half, &w);
    return struck < 0 ? -1 : REAL(pwrite)(fd, bytes, struck ? (n + 1) / 2 : n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    writing w = {fd, bytes, n, at};
    int struck = strike(is_watched_file(fd), write_half, &w);
    return struck < 0 ? -1 : REAL(pwrite64)(fd, bytes, struck ? (n + 1) / 2 : n, at);
}

#define ON_DESCRIPTOR(name, parameters, ...)                                                       \
    int name parameters                                                                            \
    {                                                                                              \
        return strike(is_watched_file(fd), NULL, NULL) ? -1 : REAL(name)(__VA_ARGS__);             \
    }
ON_DESCRIPTOR(fsync, (int fd), fd)
ON_DESCRIPTOR(fdatasync, (int fd), fd)
ON_DESCRIPTOR(ftruncate, (int fd, off_t n), fd, n)
ON_DESCRIPTOR(ftruncate64, (int fd, off64_t n), fd, n)
ON_DESCRIPTOR(fchmod, (int fd, mode_t mode), fd, mode)

int rename(const char *from, const char *to)
{
    return strike(is_watched(to), NULL, NULL) ? -1 : REAL(rename)(from, to);
}

int unlink(const char *path)
{
    const char *how = getenv("FAULT_HOW");
    bool is_counted = how && strcmp(how, "kill") == 0 && is_watched(path);
    return strike(is_counted, NULL, NULL) ? -1 : REAL(unlink)(path);
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                                  \
        va_end(rest);                                                                              \
        bool is_counted = (flags & (O_CREAT | O_TRUNC)) && is_watched(path);                       \
        return strike(is_counted, NULL, NULL) ? -1 : REAL(name)(path, flags, mode);                \
    }
OPEN(open)
OPEN(open64)
