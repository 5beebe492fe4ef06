/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.c - a library for LD_PRELOAD that writes down what a process does to files with "canary" in
 * their paths, to other processes and to other machines; see policy.test.
 *
 * The file POLICY_LOG gets one line for each call: its name, the path or number, and "done", or the
 * number of the error. It is open before the first script, so that no limit of the process matters.
 * Calls inside of the C library are not
 * seen, so functions of stdio are watched, too. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <utime.h>

static int log_file = -1;

static void __attribute__((constructor)) begin(void)
{
    enum { HIGH = 100 };
    const char *path = getenv("POLICY_LOG");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path,
                                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                  : -1;
    if (fd < 0)
        return;
    log_file = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    close(fd);
}

static void note(const char *call, const char *what, bool is_done)
{
    char line[4200];
    int error = errno;
    int n = snprintf(line, sizeof line, is_done ? "%s %.4000s done\n" : "%s %.4000s %d\n", call,
                     what, error);
    if (log_file >= 0)
        syscall(SYS_write, log_file, line, (size_t)n);
    errno = error;
}

static void note_path(const char *call, const char *path, bool is_done)
{
    if (path && strstr(path, "canary"))
        note(call, path, is_done);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                  \
        va_end(rest);                                                                              \
        int answer = REAL(name)(path, flags, mode);                                                \
        note_path(#name, path, answer >= 0);                                                       \
        return answer;                                                                             \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                  \
        va_end(rest);                                                                              \
        int answer = REAL(name)(folder, path, flags, mode);                                        \
        note_path(#name, path, answer >= 0);                                                       \
        return answer;                                                                             \
    }
OPENAT(openat)
OPENAT(openat64)

#define ON_PATH(type, name, failed, parameters, path, ...)                                         \
    type name parameters                                                                           \
    {                                                                                              \
        type answer = REAL(name)(__VA_ARGS__);                                                     \
        note_path(#name, path, answer != failed);                                                  \
        return answer;                                                                             \
    }
ON_PATH(FILE *, fopen, NULL, (const char *path, const char *how), path, path, how)
ON_PATH(FILE *, fopen64, NULL, (const char *path, const char *how), path, path, how)
ON_PATH(DIR *, opendir, NULL, (const char *path), path, path)
ON_PATH(int, creat, -1, (const char *path, mode_t mode), path, path, mode)
ON_PATH(int, chmod, -1, (const char *path, mode_t mode), path, path, mode)
ON_PATH(int, chown, -1, (const char *path, uid_t u, gid_t g), path, path, u, g)
ON_PATH(int, utime, -1, (const char *path, const struct utimbuf *t), path, path, t)
ON_PATH(int, mkdir, -1, (const char *path, mode_t mode), path, path, mode)
ON_PATH(int, unlink, -1, (const char *path), path, path)
ON_PATH(int, rmdir, -1, (const char *path), path, path)
ON_PATH(int, chdir, -1, (const char *path), path, path)
ON_PATH(int, truncate, -1, (const char *path, off_t n), path, path, n)
ON_PATH(int, rename, -1, (const char *from, const char *to), (strstr(from, "canary") ? from : to),
        from, to)
ON_PATH(int, link, -1, (const char *from, const char *to), from, from, to)
ON_PATH(int, symlink, -1, (const char *to, const char *at), at, to, at)

#define ON_OTHERS(type, name, failed, parameters, what, ...)                                       \
    type name parameters                                                                           \
    {                                                                                              \
        type answer = REAL(name)(__VA_ARGS__);                                                     \
        note(#name, what, answer != failed);                                                       \
        return answer;                                                                             \
    }
ON_OTHERS(int, socket, -1, (int domain, int type, int protocol), "-", domain, type, protocol)
ON_OTHERS(int, connect, -1, (int fd, const struct sockaddr *to, socklen_t n), "-", fd, to, n)
ON_OTHERS(int, kill, -1, (pid_t process, int number), "-", process, number)
ON_OTHERS(pid_t, fork, -1, (void), "-", )
ON_OTHERS(int, execve, 0, (const char *path, char *const *words, char *const *all), path, path,
          words, all)
ON_OTHERS(int, execvp, 0, (const char *path, char *const *words), path, path, words)
ON_OTHERS(FILE *, popen, NULL, (const char *command, const char *how), command, command, how)
ON_OTHERS(int, system, -1, (const char *command), command ? command : "-", command)

#define SPAWN(name)                                                                                \
    int name(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,            \
             const posix_spawnattr_t *attributes, char *const *words, char *const *all)            \
    {                                                                                              \
        int error = REAL(name)(child, path, actions, attributes, words, all);                      \
        note(#name, path, error == 0);                                                             \
        return error;                                                                              \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/* A child of vfork must not return through a function of this library: its caller uses fork. */
pid_t vfork(void)
{
    return fork();
}
