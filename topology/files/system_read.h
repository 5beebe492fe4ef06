/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_read.h - a system from a libconfig file; the grammar is docs/formats.md. */
#ifndef TH_TOPOLOGY_FILES_SYSTEM_READ_H
#define TH_TOPOLOGY_FILES_SYSTEM_READ_H
#include "topology/system.h"

/* A finished system, or NULL with FILE:LINE in err. A file with exactly one accelerator and neither
 * links nor a topology (npu_v1.cfg) is a system of one node, which create_system -accel copies. */
th_system *th_system_read(const char *path, th_error *err);
/* The same with at most max_links links, at most TH_LINKS_MAX. */
th_system *th_system_read_up_to(const char *path, int max_links, th_error *err);
th_system *th_system_read_text_up_to(const char *text, const char *name, int max_links,
                                     th_error *err);
th_system *th_system_read_text(const char *text, const char *name, th_error *err);

#endif
