/* SPDX-License-Identifier: GPL-3.0-or-later */
/* confine.c - see confine.h. Landlock's rights and their versions: Linux,
 * Documentation/userspace-api/landlock.rst. Rights that the kernel's header does not know yet are
 * defined here; the kernel is asked for its version. */
#include <config.h>
#include "tcl/shell/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tcl.h>
#ifdef HAVE_LINUX_LANDLOCK_H
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* ---- time and memory ---- */

static void say(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

/* Files are replaced whole or not at all, so the process can end anywhere. */
static void end_late(int signal)
{
    (void)signal;
    say("tharsis: the script has used up its processor time (-cpu)\n");
    _exit(EXIT_FAILURE);
}

/* Tcl calls this where it has no memory. */
static void end_without_memory(const char *format, ...)
{
    (void)format;
    say("tharsis: the script has used up its memory (-memory)\n");
    _exit(EXIT_FAILURE);
}

static int limit(int what, int64_t most, int64_t spare)
{
    struct rlimit now;
    if (getrlimit(what, &now) != 0)
        return -1;
    rlim_t soft = (rlim_t)most, hard = (rlim_t)(most + spare);
    if (now.rlim_max != RLIM_INFINITY && hard > now.rlim_max)
        hard = now.rlim_max;
    return setrlimit(what, &(struct rlimit){soft < hard ? soft : hard, hard});
}

static int limit_resources(const th_confinement *c)
{
    enum { SPARE_SECONDS = 2 };
    signal(SIGXCPU, end_late);
    Tcl_SetPanicProc(end_without_memory);
    int failed = limit(RLIMIT_CPU, c->cpu_seconds, SPARE_SECONDS) || limit(RLIMIT_CORE, 0, 0);
#ifndef __SANITIZE_ADDRESS__ /* it reserves more addresses than there is memory */
    failed = failed || limit(RLIMIT_AS, c->memory_bytes, 0);
#endif
    return failed ? -1 : 0;
}

/* ---- files ---- */

#ifdef HAVE_LINUX_LANDLOCK_H
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#define TCP_BIND    (1ULL << 0)
#define TCP_CONNECT (1ULL << 1)

enum { VERSION_REFER = 2, VERSION_TRUNCATE = 3, VERSION_TCP = 4 };

/* Version 4 of Landlock has two sets of rights; older headers know the first. */
typedef struct {
    uint64_t files, network;
} handled;

static const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t of_a_file = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                  LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE;

/* All rights of a version: what is not granted is refused. */
static uint64_t all_rights(int version)
{
    return (LANDLOCK_ACCESS_FS_REFER - 1) |
           (version >= VERSION_REFER ? LANDLOCK_ACCESS_FS_REFER : 0) |
           (version >= VERSION_TRUNCATE ? LANDLOCK_ACCESS_FS_TRUNCATE : 0);
}

static uint64_t writing_rights(int version)
{
    return all_rights(version) &
           ~(uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                       LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                       LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM);
}

/* Grants rights at a path. 0; 1: there is no such path; or -1. */
static int grant(int rules, const char *path, uint64_t rights)
{
    struct stat s;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return 1;
    if (fstat(fd, &s) == 0 && !S_ISDIR(s.st_mode))
        rights &= of_a_file;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
    long failed = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(fd);
    return failed ? -1 : 0;
}

static int grant_all(int rules, const th_confinement *c, int version)
{
    static const char *const readable[] = {"/usr",
                                           "/lib",
                                           "/lib64",
                                           "/etc/ld.so.cache",
                                           "/etc/localtime",
                                           "/sys/devices/system/cpu",
                                           "/dev/urandom",
                                           TH_SOURCE_DIR "/topology",
                                           TH_SOURCE_DIR "/workloads",
                                           TH_SOURCE_DIR "/predictor",
                                           TH_SOURCE_DIR "/scripts",
                                           TH_DATA_DIR};
    bool has_failed =
        grant(rules, "/dev/null",
              of_a_file & all_rights(version) & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE) < 0;
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
        has_failed |= grant(rules, readable[i], reading) < 0;
    if (c->script)
        has_failed |= grant(rules, c->script, reading) < 0;
    return has_failed || grant(rules, c->folder, writing_rights(version)) != 0 ? -1 : 0;
}

static int confine_files(const th_confinement *c)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return -1;
    handled all = {all_rights((int)version), version >= VERSION_TCP ? TCP_BIND | TCP_CONNECT : 0};
    size_t size = version >= VERSION_TCP ? sizeof all : sizeof all.files;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
    bool is_confined = rules >= 0 && grant_all(rules, c, (int)version) == 0 &&
                       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                       syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    int error = errno;
    if (rules >= 0)
        close(rules);
    errno = error;
    return is_confined ? 0 : -1;
}
#else
static int confine_files(const th_confinement *c)
{
    (void)c;
    errno = ENOSYS;
    return -1;
}
#endif

int th_confine(const th_confinement *c, th_error *err)
{
    struct stat s;
    if (stat(c->folder, &s) != 0 || !S_ISDIR(s.st_mode))
        return th_error_set(err, "TCL-0992", "-folder \"%s\": is no folder", c->folder);
    if (limit_resources(c) == 0 && confine_files(c) == 0)
        return 0;
    return th_error_set(err, "TCL-0991",
                        "-safe: the kernel does not limit this process (%s): Linux 5.13 or later "
                        "with Landlock was expected",
                        strerror(errno));
}
