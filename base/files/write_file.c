/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_file.c - see write_file.h.
 *   th_replace_file: follow links -> make the new file -> fill it -> sync -> rename
 * Where a step fails the new file is removed again. New files are listed while they have no name:
 * state of the process, as its end is. The signal of a file that grows beyond the
 * limit of the process (SIGXFSZ) must be ignored: the write then fails with EFBIG. */
#include <config.h>

#include "base/files/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/open_file.h"
#include "base/strbuf.h"

enum {
    LINKS_MAX = 40,      /* symbolic links in a row, as Linux has it */
    NAME_KEPT_MAX = 200, /* bytes of a name that the new file's has, too: NAME_MAX is 255 */
    TRIES_MAX = 1000,    /* new files that killed processes of the same number left */
};

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

/* By errno. */
static int refuse(const char *path, th_error *err)
{
    return errno == ENOMEM ? th_error_no_memory(err)
                           : th_error_set(err, "BASE-0040", "%s: cannot be written: %s", path,
                                          th_file_problem(errno));
}

/* --- in place --------------------------------------------------------------------------------- */

/* Like th_write_all; but a regular file is cut back to what it was. */
static int append(int fd, const void *bytes, size_t n)
{
    struct stat before;
    if (fstat(fd, &before) != 0)
        return -1;
    if (th_write_all(fd, bytes, n) == 0)
        return 0;
    int error = errno;
    if (S_ISREG(before.st_mode) && ftruncate(fd, before.st_size) != 0)
        error = errno;
    errno = error;
    return -1;
}

int th_append_file(const char *path, const void *bytes, size_t n, th_error *err)
{
    int fd = th_file_open(path, O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0)
        return refuse(path, err);
    int failed = append(fd, bytes, n), error = errno;
    if (close(fd) != 0 && !failed) {
        failed = -1;
        error = errno;
    }
    errno = error;
    return failed ? refuse(path, err) : 0;
}

/* --- where the file is ------------------------------------------------------------------------ */

/* Bytes of the path up to and with the last slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* Links of /proc stand for what processes have open, whatever they say. */
static bool is_of_proc(const char *path)
{
    struct stat link, proc;
    return lstat(path, &link) == 0 && stat("/proc/self", &proc) == 0 && link.st_dev == proc.st_dev;
}

/* What the symbolic link at `path` points to, in *next. 1; 0: there is no link; -1 and errno. */
static int follow_link(const char *path, th_strbuf *next)
{
    char to[PATH_MAX];
    ssize_t n = readlink(path, to, sizeof to);
    if (n < 0)
        return 0;
    if ((size_t)n == sizeof to) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (to[0] != '/')
        th_strbuf_add_bytes(next, path, (size_t)folder_length(path));
    th_strbuf_add_bytes(next, to, (size_t)n);
    errno = ENOMEM;
    return next->failed ? -1 : 1;
}

/* *target: the path at the end of the links. 0; 1: it is to be written in place; -1 and errno. */
static int find_target(const char *path, th_strbuf *target)
{
    struct stat now;
    if (!th_file_may(path, true))
        return -1;
    if (stat(path, &now) == 0 && !S_ISREG(now.st_mode))
        return 1;
    th_strbuf_add(target, path);
    for (int i = 0; i < LINKS_MAX && !target->failed; i++) {
        th_strbuf next = TH_STRBUF_INIT;
        int found = is_of_proc(target->text) ? 0 : follow_link(target->text, &next);
        if (found <= 0) {
            th_strbuf_clear(&next);
            return found == 0 && is_of_proc(target->text) ? 1 : found;
        }
        th_strbuf_clear(target);
        *target = next;
    }
    errno = target->failed ? ENOMEM : ELOOP;
    return -1;
}

/* --- the new file ----------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    const char **names; /* of files that are there, and may be left behind */
    size_t n, capacity;
} unnamed = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Makes the file and lists it; the name must stay until delist. Its descriptor, or -1 and errno. */
static int make_listed(const char *name)
{
    int fd = -1;
    pthread_mutex_lock(&unnamed.lock);
    errno = ENOMEM;
    if (th_grow(&unnamed.names, &unnamed.capacity, unnamed.n + 1, sizeof *unnamed.names) == 0)
        fd = th_file_open(name, O_WRONLY | O_CREAT | O_EXCL);
    if (fd >= 0)
        unnamed.names[unnamed.n++] = name;
    pthread_mutex_unlock(&unnamed.lock);
    return fd;
}

/* Behind renaming or removing it. errno stays. */
static void delist(const char *name)
{
    pthread_mutex_lock(&unnamed.lock);
    for (size_t i = unnamed.n; i-- > 0;)
        if (unnamed.names[i] == name) {
            unnamed.names[i] = unnamed.names[--unnamed.n];
            break;
        }
    if (unnamed.n == 0) {
        th_free(unnamed.names);
        unnamed.names = NULL;
        unnamed.capacity = 0;
    }
    pthread_mutex_unlock(&unnamed.lock);
}

static int give_name(const char *name, const char *target)
{
    int failed = rename(name, target);
    if (!failed)
        delist(name);
    return failed;
}

static void remove_new(const char *name)
{
    unlink(name);
    delist(name);
}

void th_new_files_end(void)
{
    pthread_mutex_lock(&unnamed.lock); /* for ever */
    for (size_t i = 0; i < unnamed.n; i++)
        unlink(unnamed.names[i]);
}

/* Makes a file of a name that is free, which *name is then. Its descriptor, or -1 and errno. */
static int make_new(const char *target, th_strbuf *name)
{
    int folder = folder_length(target), fd = -1;
    errno = EEXIST;
    for (int i = 0; i < TRIES_MAX && fd < 0 && errno == EEXIST; i++) {
        th_strbuf_clear(name);
        th_strbuf_printf(name, "%.*s.%.*s.%ld.%d.new", folder, target, (int)NAME_KEPT_MAX,
                         target + folder, (long)getpid(), i);
        errno = ENOMEM;
        if (!name->failed)
            fd = make_listed(name->text);
    }
    return fd;
}

/* A file that may not be written is not replaced either. 0, or -1 and errno. */
static int take_permissions(int fd, const char *target)
{
    enum { PERMISSIONS = 0777 };
    struct stat old, new;
    if (stat(target, &old) != 0)
        return errno == ENOENT ? 0 : -1;
    if (faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0 || fstat(fd, &new) != 0)
        return -1;
    bool is_other = old.st_uid != new.st_uid || old.st_gid != new.st_gid;
    bool keeps_owner = !is_other || fchown(fd, old.st_uid, old.st_gid) == 0;
    (void)keeps_owner; /* where the system refuses, the new file is the user's own */
    mode_t mode = old.st_mode & PERMISSIONS;
    return (new.st_mode &PERMISSIONS) == mode ? 0 : fchmod(fd, mode);
}

/* Some file systems cannot, and need not. */
static int sync_to_disk(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : -1;
}

/* Closes fd. 0, or -1 and errno. */
static int fill(int fd, const char *target, const void *bytes, size_t n)
{
    int failed = take_permissions(fd, target) || th_write_all(fd, bytes, n) || sync_to_disk(fd);
    int error = errno;
    if (close(fd) != 0 && !failed)
        return -1;
    errno = error;
    return failed ? -1 : 0;
}

/* The bytes in a new file, *name, beside the target. 0, or -1 and errno: there is none. */
static int prepare(const char *target, const void *bytes, size_t n, th_strbuf *name)
{
    int fd = make_new(target, name), failed = fd < 0, error = errno;
    if (fd >= 0 && (failed = fill(fd, target, bytes, n)) != 0) {
        error = errno;
        remove_new(name->text);
    }
    errno = error;
    return failed ? -1 : 0;
}

/* 0, or -1 and errno. */
static int replace(const char *target, const void *bytes, size_t n)
{
    th_strbuf name = TH_STRBUF_INIT;
    int failed = prepare(target, bytes, n, &name), error = errno;
    if (!failed && (failed = give_name(name.text, target)) != 0) {
        error = errno;
        remove_new(name.text);
    }
    th_strbuf_clear(&name);
    errno = error;
    return failed ? -1 : 0;
}

int th_replace_file(const char *path, const void *bytes, size_t n, th_error *err)
{
    th_strbuf target = TH_STRBUF_INIT;
    int found = find_target(path, &target);
    int failed = found == 0 ? replace(target.text, bytes, n) : found;
    int error = errno;
    th_strbuf_clear(&target);
    if (found > 0)
        return th_append_file(path, bytes, n, err);
    errno = error;
    return failed ? refuse(path, err) : 0;
}

/* --- several files ---------------------------------------------------------------------------- */

typedef struct new_file {
    th_strbuf name, target;
} new_file;

struct th_new_files {
    new_file *all; /* from 0 .. n_kept - 1 have their names */
    size_t n, n_kept, capacity;
};

th_new_files *th_new_files_new(th_error *err)
{
    th_new_files *f = th_alloc_zero(1, sizeof *f);
    if (!f)
        th_error_no_memory(err);
    return f;
}

int th_new_files_add(th_new_files *f, const char *path, const void *bytes, size_t n, th_error *err)
{
    new_file fresh = {TH_STRBUF_INIT, TH_STRBUF_INIT};
    if (th_grow(&f->all, &f->capacity, f->n + 1, sizeof *f->all))
        return th_error_no_memory(err);
    int found = find_target(path, &fresh.target);
    if (found > 0)
        errno = EISDIR;
    if (found == 0 && prepare(fresh.target.text, bytes, n, &fresh.name) == 0) {
        f->all[f->n++] = fresh;
        return 0;
    }
    int error = errno;
    th_strbuf_clear(&fresh.name);
    th_strbuf_clear(&fresh.target);
    errno = error;
    return refuse(path, err);
}

int th_new_files_keep(th_new_files *f, th_error *err)
{
    for (; f->n_kept < f->n; f->n_kept++)
        if (give_name(f->all[f->n_kept].name.text, f->all[f->n_kept].target.text) != 0)
            return refuse(f->all[f->n_kept].target.text, err);
    return 0;
}

void th_new_files_free(th_new_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++) {
        if (i >= f->n_kept)
            remove_new(f->all[i].name.text);
        th_strbuf_clear(&f->all[i].name);
        th_strbuf_clear(&f->all[i].target);
    }
    th_free(f->all);
    th_free(f);
}
