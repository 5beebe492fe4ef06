/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_copy.h - copies of systems that can be changed. */
#ifndef TH_TOPOLOGY_FILES_SYSTEM_COPY_H
#define TH_TOPOLOGY_FILES_SYSTEM_COPY_H
#include "topology/system.h"

/* An unfinished copy of a finished system, without its generator; and into a new system all
 * designs, and the energy of links, of another. NULL or -1: out of memory. */
th_system *th_system_copy(const th_system *from, th_error *err);
int th_system_copy_designs(th_system *s, const th_system *from, th_error *err);
int th_system_copy_energy(th_system *s, const th_system *from, th_error *err);

#endif
