/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safe_interp.c - see safe_interp.h. */
#include <config.h>
#include "tcl/safe_interp.h"

int th_interp_make_safe(Tcl_Interp *interp)
{
    static const int numbers[] = {TCL_STDIN, TCL_STDOUT, TCL_STDERR};
    enum { N = sizeof numbers / sizeof *numbers };
    Tcl_Channel channels[N];
    for (int i = 0; i < N; i++) /* Tcl_MakeSafe takes them away, and nobody else may use them */
        if ((channels[i] = Tcl_GetStdChannel(numbers[i])))
            Tcl_RegisterChannel(NULL, channels[i]);
    int code = Tcl_MakeSafe(interp);
    for (int i = 0; i < N; i++)
        if (channels[i] && numbers[i] != TCL_STDIN)
            Tcl_RegisterChannel(interp, channels[i]);
    return code;
}
