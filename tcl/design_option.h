/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_option.h - "-design {KEY VALUE ...}" of read_system and create_system: a design from Tcl.
 */
#ifndef TH_TCL_DESIGN_OPTION_H
#define TH_TCL_DESIGN_OPTION_H
#include "tcl/command.h"
#include "topology/system.h"

/* A design of a new name is one more that every accelerator of s may be configured with; under the
 * name of one that is there, its keys are changed. The keys themselves are not checked here. 0 or
 * -1. */
int th_design_option_apply(Tcl_Obj *list, th_system *s, th_error *err);

#endif
