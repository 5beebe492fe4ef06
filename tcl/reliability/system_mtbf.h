/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_mtbf.h - the mean times between failures that the system file states. */
#ifndef TH_TCL_RELIABILITY_SYSTEM_MTBF_H
#define TH_TCL_RELIABILITY_SYSTEM_MTBF_H
#include "session/objects/objects.h"

/* Of an accelerator, a link (its cable) or a node, in us; 0: the file does not say. */
int64_t th_system_mtbf_us(const th_system *s, th_object o);

#endif
