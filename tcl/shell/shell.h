/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell.h - the shell that the programs tharsis and tharsis-mpi share. */
#ifndef TH_TCL_SHELL_SHELL_H
#define TH_TCL_SHELL_SHELL_H
#include "mapper/pool/pool.h"

/* What other processes do for this one. */
typedef struct th_remote {
    const th_pool_type *pool; /* how searches evaluate; NULL: on threads */
    const struct th_mailbox
        *mailbox; /* to those that do points of studies (study_ranks.h); NULL: nobody */
} th_remote;

/* The exit status where the command line said no more than -help or was wrong; else it ends in
 *
 * Tcl_Exit. */
int th_shell_main(int argc, char **argv, const th_remote *elsewhere);

#endif
