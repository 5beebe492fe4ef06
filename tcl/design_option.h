/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_option.h - "-design {KEY VALUE ...}" of read_system and create_system: a design from
 * Tcl. */
#ifndef TH_TCL_DESIGN_OPTION_H
#define TH_TCL_DESIGN_OPTION_H
#include "tcl/command.h"
#include "topology/system.h"

/* If the name is new, the design is added and every accelerator of s can be configured with it; if
 * it exists, its keys are changed. The keys themselves are not checked here. 0 or -1. */
int th_design_option_apply(const th_value *list, th_system *s, th_error *err);
/* "-designs {NAME ...}": every accelerator can be configured with these designs only, those of them
 * that it has. 0 or -1. */
int th_design_option_keep(const th_value *names, th_system *s, th_error *err);
/* Has -design added the design, or changed its keys? */
bool th_design_option_gave(const th_design_block *d);

#endif
