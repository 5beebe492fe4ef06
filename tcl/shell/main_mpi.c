/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main_mpi.c - the program tharsis-mpi: rank 0 runs the script, the other ranks evaluate for its
 * searches and run points of its studies. When a rank is lost or mpirun is interrupted, mpirun ends
 * the other ranks with SIGTERM. Journals are written after every batch, so nothing is left to save;
 * rank 0 prints how to continue. */
#include <config.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <tcl.h>
#include "mapper/pool/pool_mpi.h"
#include "tcl/core/item.h"
#include "tcl/shell/ctrl_c.h"
#include "tcl/shell/shell.h"
#include "tcl/design_script.h"
#include "tcl/stack_guard.h"

static void say_how_to_go_on(void)
{
    static const char text[] =
        "\nError "
        "TCL-0241" /* by itself, for the list of messages */
        ": tharsis-mpi: received SIGTERM (a rank was lost or mpirun stopped): a map_workload with "
        "-checkpoint FILE, and a run_study, continues from there when the same is run again\n";
    const struct timespec until_mpirun_has_read = {0, 300 * 1000 * 1000};
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    nanosleep(&until_mpirun_has_read, NULL); /* unwritten output is lost */
    _exit(1);
}

/* mpirun reads what rank 0 says from a terminal of its own, for which Tcl would end lines with a
 * carriage return. */
static void keep_line_ends(const char *program)
{
    static const int ends[] = {TCL_STDOUT, TCL_STDERR};
    Tcl_FindExecutable(program);
    for (int i = 0; i < 2; i++) {
        Tcl_Channel channel = Tcl_GetStdChannel(ends[i]);
        if (channel)
            Tcl_SetChannelOption(NULL, channel, "-translation", "lf");
    }
}

static void end_all(ClientData unused)
{
    (void)unused;
    th_mpi_end();
}

int main(int argc, char **argv)
{
    static const th_mailbox mailbox = {th_mpi_n_workers, th_mpi_send, th_mpi_receive};
    th_ctrl_c_block(); /* the threads of MPI inherit it */
    if (th_mpi_begin(&argc, &argv) > 0) {
        if (!th_shell_find_tcl(argv[0]))
            return EXIT_FAILURE;
        th_ctrl_c_start(NULL);
        th_stack_guard_install();
        th_items_begin_thread();
        return th_mpi_serve(&th_design_scripts, th_item_serve, NULL) < 0 ? EXIT_FAILURE
                                                                         : EXIT_SUCCESS;
    }
    th_ctrl_c_set_last_words(say_how_to_go_on);
    keep_line_ends(argv[0]);
    Tcl_CreateExitHandler(end_all, NULL);
    int status = th_shell_main(argc, argv, &(th_remote){&th_pool_mpi, &mailbox});
    th_mpi_end();
    return status;
}
