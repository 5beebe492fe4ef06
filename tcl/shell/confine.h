/* SPDX-License-Identifier: GPL-3.0-or-later */
/* confine.h - limits of this process for the script of a stranger, by the kernel: they hold for
 * all threads made later, and nothing lifts them. */
#ifndef TH_TCL_SHELL_CONFINE_H
#define TH_TCL_SHELL_CONFINE_H
#include <stdint.h>
#include "base/error.h"

typedef struct th_confinement {
    const char *folder;   /* what is below it can be read, written and made */
    const char *script;   /* can be read; NULL: none */
    int64_t cpu_seconds;  /* of all threads; then the process ends with status 1 */
    int64_t memory_bytes; /* of addresses */
} th_confinement;

/* Files (Landlock, Linux 5.13 and later): those below the folder; to read also the script, what
 * comes with Tharsis, and what programs need to run (/usr, /lib, ...). No program can be started,
 * no TCP connection made (Linux 6.7 and later). 0, or -1: some limits may hold already. */
int th_confine(const th_confinement *c, th_error *err);

#endif
