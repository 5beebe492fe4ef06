/* SPDX-License-Identifier: GPL-3.0-or-later */
/* confine.c - see confine.h. Landlock's rights and their versions: Linux,
 * Documentation/userspace-api/landlock.rst. Rights that the kernel's header does not know yet are
 * defined here; the kernel is asked for its version. */
#include <config.h>
#include "tcl/shell/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <tcl.h>
#include "base/files/open_file.h"
#include "base/files/write_file.h"
#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif
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
static void end(const char *why)
{
    th_new_files_end();
    say(why);
    _exit(EXIT_FAILURE);
}

static atomic_bool is_spent;

/* For the thread that watches. */
static void note_late(int signal)
{
    (void)signal;
    atomic_store(&is_spent, true);
}

/* Tcl calls this where it has no memory. */
static void end_without_memory(const char *format, ...)
{
    (void)format;
    end("tharsis: the script has used up its memory (-memory)\n");
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
    signal(SIGXCPU, note_late);
    Tcl_SetPanicProc(end_without_memory);
    int failed = limit(RLIMIT_CPU, c->cpu_seconds, SPARE_SECONDS) || limit(RLIMIT_CORE, 0, 0) ||
                 limit(RLIMIT_FSIZE, c->disk_bytes, 0);
#ifndef __SANITIZE_ADDRESS__ /* it reserves more addresses than there is memory */
    failed = failed || limit(RLIMIT_AS, c->memory_bytes, 0);
#endif
    return failed ? -1 : 0;
}

/* ---- wall time and disk ---- */

static struct {
    int fd; /* of /proc/self/io; -1: the kernel does not count */
    int64_t disk_bytes, wall_seconds;
} watched;

/* The bytes that all threads have written; -1: unknown. */
static int64_t written_bytes(void)
{
    static const char key[] = "wchar: ";
    char text[512];
    ssize_t n = pread(watched.fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strstr(text, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

static void *watch(void *unused)
{
    const struct timespec interval = {0, 50 * 1000 * 1000};
    struct timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const char *why = NULL;
    (void)unused;
    while (!why) {
        nanosleep(&interval, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (atomic_load(&is_spent))
            why = "tharsis: the script has used up its processor time (-cpu)\n";
        else if (now.tv_sec - begin.tv_sec >= watched.wall_seconds)
            why = "tharsis: the script has used up its time (-wall)\n";
        else if (written_bytes() > watched.disk_bytes)
            why = "tharsis: the script has written too much (-disk)\n";
    }
    end(why);
    return NULL;
}

/* 0, or -1: the bytes are not counted, or nobody looks. */
static int start_watch(const th_confinement *c, int io)
{
    pthread_t thread;
    sigset_t all, before;
    watched.fd = io;
    watched.disk_bytes = c->disk_bytes;
    watched.wall_seconds = c->wall_seconds;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        pthread_detach(thread);
    return failed || written_bytes() < 0 ? -1 : 0;
}

/* ---- what Tcl asks about files ---- */

/* What programs need to run. */
static const char *const readable[] = {"/usr",           "/lib",
                                       "/lib64",         "/etc/ld.so.cache",
                                       "/etc/localtime", "/sys/devices/system/cpu",
                                       "/dev/urandom",   NULL};

static struct {
    char folder[PATH_MAX], script[PATH_MAX]; /* real paths; "": none */
} granted;

static bool is_below(const char *file, const char *folder)
{
    char whole[PATH_MAX];
    size_t n = realpath(folder, whole) ? strlen(whole) : 0;
    return n > 0 && strncmp(file, whole, n) == 0 && (file[n] == '/' || file[n] == '\0');
}

/* The real path of the file, or of the last folder on the way that is there. */
static void resolve(const char *path, char whole[PATH_MAX])
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash; !realpath(part, whole); *slash = '\0') {
        slash = strrchr(part, '/');
        if (slash && slash != part)
            continue;
        if (slash || !realpath(".", whole))
            snprintf(whole, PATH_MAX, "/");
        return;
    }
}

bool th_confine_grants(const char *path, bool writes)
{
    (void)writes; /* the kernel knows */
    char whole[PATH_MAX];
    resolve(path, whole);
    bool is = is_below(whole, granted.folder) || strcmp(whole, granted.script) == 0 ||
              strcmp(whole, "/dev/null") == 0;
    for (const char *const *f = th_shipped_folders; *f && !is; f++)
        is = is_below(whole, *f);
    for (const char *const *f = readable; *f && !is; f++)
        is = is_below(whole, *f);
    return is;
}

/* Landlock limits what is opened, made and removed, not what is asked: stat, access, chdir. So all
 * paths elsewhere belong to a file system of Tcl's that has no operations: for every command of
 * Tcl, in every interpreter, there is nothing. */
static int is_elsewhere(Tcl_Obj *path, ClientData *unused)
{
    Tcl_Obj *whole = Tcl_FSGetNormalizedPath(NULL, path);
    *unused = NULL;
    return whole && !th_confine_grants(Tcl_GetString(whole), false) ? TCL_OK : -1;
}

static const Tcl_Filesystem elsewhere = {
    .typeName = "tharsis_elsewhere",
    .structureLength = sizeof elsewhere,
    .version = TCL_FILESYSTEM_VERSION_1,
    .pathInFilesystemProc = is_elsewhere,
};

static void hide_elsewhere(const th_confinement *c)
{
    if (!realpath(c->folder, granted.folder))
        granted.folder[0] = '\0';
    if (!c->script || !realpath(c->script, granted.script))
        granted.script[0] = '\0';
    Tcl_FSRegister(NULL, &elsewhere);
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
    bool has_failed =
        grant(rules, "/dev/null",
              of_a_file & all_rights(version) & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE) < 0;
    for (const char *const *path = readable; *path; path++)
        has_failed |= grant(rules, *path, reading) < 0;
    for (const char *const *folder = th_shipped_folders; *folder; folder++)
        has_failed |= grant(rules, *folder, reading) < 0;
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

/* ---- calls of the kernel ---- */

#ifdef HAVE_SECCOMP
/* Calls that reach other processes, other machines or what belongs to files elsewhere; and those
 * that would get around the others (io_uring, namespaces). */
static const char refused_calls[] =
    "socket socketpair connect bind listen accept accept4 sendto sendmsg sendmmsg kill "
    "tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal pidfd_getfd "
    "ptrace process_vm_readv process_vm_writev process_madvise kcmp fork vfork execve "
    "execveat chmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat "
    "futimesat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr "
    "setxattrat removexattrat io_uring_setup io_uring_enter io_uring_register unshare "
    "setns mount umount2 move_mount open_tree fsopen fspick mount_setattr pivot_root "
    "chroot name_to_handle_at open_by_handle_at bpf perf_event_open userfaultfd keyctl "
    "add_key request_key shmget msgget semget mq_open mq_unlink setpgid setpriority "
    "ioprio_set personality acct quotactl swapon swapoff reboot init_module finit_module "
    "delete_module kexec_load kexec_file_load settimeofday clock_settime adjtimex "
    "clock_adjtime sethostname setdomainname syslog fanotify_init memfd_secret";

static int fill_filter(scmp_filter_ctx filter)
{
    char name[32];
    int length;
    for (const char *at = refused_calls; sscanf(at, "%31s%n", name, &length) == 1; at += length) {
        int call = seccomp_syscall_resolve_name(name);
        /* an older libseccomp does not know a newer call, nor has every processor each */
        if (call >= 0 && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) != 0)
            return -1;
    }
    /* The flags of clone3 lie in memory, where a filter cannot look; the C library then takes
     * clone. Signals within the process (abort) stay. */
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) != 0 ||
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                         SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) != 0 ||
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1,
                         SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid())) != 0 ||
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1,
                         SCMP_A0(SCMP_CMP_NE, 0)) != 0)
        return -1;
    return 0;
}

static int confine_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int failed = !filter || fill_filter(filter) != 0 || seccomp_load(filter) != 0;
    seccomp_release(filter);
    return failed ? -1 : 0;
}
#else
static int confine_calls(void)
{
    return -1;
}
#endif

/* Says what cannot be promised. 0, or -1 where that is not taken. */
static int lacks(const th_confinement *c, const char *what, th_error *err)
{
    if (c->takes_unsafe_kernel) {
        say("tharsis: -safe on this kernel does not limit ");
        say(what);
        say("\n");
        return 0;
    }
    return th_error_set(err, "TCL-0991",
                        "-safe: the kernel does not limit this process: %s (-unsafe_kernel runs "
                        "without that)",
                        what);
}

static char *no_environment[] = {NULL}; /* Tcl needs an array, which clearenv takes away */

int th_confine(const th_confinement *c, th_error *err)
{
    struct stat s;
    if (stat(c->folder, &s) != 0 || !S_ISDIR(s.st_mode))
        return th_error_set(err, "TCL-0992", "-folder \"%s\": is no folder", c->folder);
    if (c->script && stat(c->script, &s) == 0 && !S_ISREG(s.st_mode)) /* no rule holds for it */
        return th_error_set(err, "TCL-2203",
                            "-safe: script \"%s\": must be a regular file; < FILE takes any",
                            c->script);
    int io = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    environ = no_environment;
    hide_elsewhere(c);
    if (limit_resources(c) != 0 && lacks(c, "processor time and memory (setrlimit)", err) != 0)
        return -1;
    if (confine_files(c) != 0 &&
        lacks(c, "files (needs Linux 5.13 or later with Landlock)", err) != 0)
        return -1;
    if (confine_calls() != 0 &&
        lacks(c, "programs, sockets, signals and permissions (needs seccomp)", err) != 0)
        return -1;
    if (start_watch(c, io) != 0 &&
        lacks(c, "wall time and bytes in all (needs /proc/self/io)", err) != 0)
        return -1;
    return 0;
}
