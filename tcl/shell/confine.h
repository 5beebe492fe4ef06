/* SPDX-License-Identifier: GPL-3.0-or-later */
/* confine.h - limits of this process for the script of a stranger, by the kernel: they hold for
 * all threads made later, and nothing lifts them. */
#ifndef TH_TCL_SHELL_CONFINE_H
#define TH_TCL_SHELL_CONFINE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

typedef struct th_confinement {
    const char *folder;       /* what is below it can be read, written and made */
    const char *script;       /* can be read; NULL: none */
    int64_t cpu_seconds;      /* of all threads; then the process ends with status 1 */
    int64_t wall_seconds;     /* the same, by the clock */
    int64_t memory_bytes;     /* of addresses */
    int64_t disk_bytes;       /* written in all, whatever to; looked at 20 times a second */
    bool takes_unsafe_kernel; /* goes on where the kernel lacks a part, and says which */
} th_confinement;

/* Files (Landlock): those below the folder; to read also the script, what comes with Tharsis, and
 * what programs need to run (/usr, /lib, ...). Calls (seccomp): no sockets, no signals to other
 * processes, no programs, no new processes (threads stay), no chmod, chown or utime; fchmod stays,
 * for the files that Tharsis replaces. The environment is emptied. 0, or -1: some limits may hold
 * already. */
int th_confine(const th_confinement *c, th_error *err);
/* Behind it: is the file, at the end of links, or its folder one of those? */
bool th_confine_grants(const char *path, bool writes);

#endif
