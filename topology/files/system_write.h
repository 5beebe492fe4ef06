/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_write.h - writes a system as text for th_system_read. */
#ifndef TH_TOPOLOGY_FILES_SYSTEM_WRITE_H
#define TH_TOPOLOGY_FILES_SYSTEM_WRITE_H
#include "base/strbuf.h"
#include "topology/system.h"

/* The text to write for a text key of a design: its own, or a path that is valid from another
 * folder. It must be valid until the next call. NULL: memory is out. */
typedef const char *th_param_text(void *context, const th_design_block *design,
                                  const th_param *param);

/* Adds the text of a finished system, which reads back to the same nodes, links and routes in the
 * same order. text NULL: texts are written unchanged. Links of a generator that were changed are
 * written as it made them. 0 or -1 (memory). */
int th_system_write(const th_system *s, th_param_text *text, void *context, th_strbuf *out,
                    th_error *err);

#endif
