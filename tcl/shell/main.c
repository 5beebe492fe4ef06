/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c - the program tharsis. */
#include <config.h>
#include "tcl/shell/shell.h"

int main(int argc, char **argv)
{
    return th_shell_main(argc, argv, &(th_remote){NULL, NULL});
}
