/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_copy.h - copies of systems that can be changed. */
#ifndef TH_TOPOLOGY_FILES_SYSTEM_COPY_H
#define TH_TOPOLOGY_FILES_SYSTEM_COPY_H
#include "topology/system.h"

/* An unfinished copy of a finished system. Who changes a link of one that has a generator sets
 * generator->is_changed. And into a new system all designs of another, and what it says once for
 * all: energy of links, serial transfers, start of collectives. NULL or -1: out of memory. */
th_system *th_system_copy(const th_system *from, th_error *err);
int th_system_copy_designs(th_system *s, const th_system *from, th_error *err);
int th_system_copy_settings(th_system *s, const th_system *from, th_error *err);

#endif
