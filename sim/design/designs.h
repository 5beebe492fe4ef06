/* SPDX-License-Identifier: GPL-3.0-or-later */
/* designs.h - the table of designs: ROW(NAME) is th_design_NAME, defined in NAME.c. */
#ifndef TH_SIM_DESIGN_DESIGNS_H
#define TH_SIM_DESIGN_DESIGNS_H
#include "sim/design/design.h"

#define TH_DESIGNS(ROW)                                                                            \
    ROW(tiled)                                                                                     \
    ROW(systolic)                                                                                  \
    ROW(systolic_vec)                                                                              \
    ROW(winograd)                                                                                  \
    ROW(roofline)                                                                                  \
    ROW(serial_tiled)                                                                              \
    ROW(gemv)                                                                                      \
    ROW(table)                                                                                     \
    ROW(learned)                                                                                   \
    ROW(script)

#define TH_DECLARE_DESIGN(name) extern const th_design_type th_design_##name;
TH_DESIGNS(TH_DECLARE_DESIGN)
#undef TH_DECLARE_DESIGN

#endif
