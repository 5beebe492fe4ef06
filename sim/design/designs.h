/* SPDX-License-Identifier: GPL-3.0-or-later */
/* designs.h - the rows of the design table, one per file of this folder. */
#ifndef TH_SIM_DESIGN_DESIGNS_H
#define TH_SIM_DESIGN_DESIGNS_H
#include "sim/design/design.h"

/* energy_keys.c: the keys that every design has besides its own, and what they say; value and text are
 * by their places in the table. 0 or -1. */
extern const th_design_key th_energy_keys[];
int th_energy_configure(const th_design_block *b, const double *value, const char *const *text,
                        th_design_energy *out, th_error *err);

extern const th_design_type th_design_tiled;
extern const th_design_type th_design_systolic;
extern const th_design_type th_design_systolic_vec;
extern const th_design_type th_design_winograd;
extern const th_design_type th_design_roofline;
extern const th_design_type th_design_serial_tiled;
extern const th_design_type th_design_gemv;
extern const th_design_type th_design_table;
extern const th_design_type th_design_script;

#endif
