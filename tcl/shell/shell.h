/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell.h - the shell that the programs tharsis and tharsis-mpi share. */
#ifndef TH_TCL_SHELL_SHELL_H
#define TH_TCL_SHELL_SHELL_H
#include <stdbool.h>
#include "mapper/pool/pool.h"

/* What other processes do for this one. */
typedef struct th_remote {
    const th_pool_type *pool;         /* how searches evaluate; NULL: on threads */
    const struct th_mailbox *mailbox; /* to those that do items (tcl/core/item.h); NULL: nobody */
} th_remote;

/* Before any other function of tcl/, which all call Tcl through the table that this finds. False
 * and a message on standard error where Tcl is too old. */
bool th_shell_find_tcl(const char *program);
/* The exit status where the command line said no more than -help or was wrong; else it ends in
 *
 * Tcl_Exit. */
int th_shell_main(int argc, char **argv, const th_remote *elsewhere);

#endif
