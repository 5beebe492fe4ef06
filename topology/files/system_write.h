/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_write.h - a system as the text that th_system_read takes. */
#ifndef TH_TOPOLOGY_FILES_SYSTEM_WRITE_H
#define TH_TOPOLOGY_FILES_SYSTEM_WRITE_H
#include "base/strbuf.h"
#include "topology/system.h"

/* What a text key of a design is written as: its text, or what stands for it in another folder. The
 * answer must live until the next question. NULL: memory is out. */
typedef const char *th_param_text(void *context, const th_design_block *design,
                                  const th_param *param);

/* Adds the text of a finished system, which reads back to the same nodes, links and routes in the
 * same order. text NULL: texts are as they are. 0, or -1: the system says more than such a file can
 * (ASTRA-sim's). */
int th_system_write(const th_system *s, th_param_text *text, void *context, th_strbuf *out,
                    th_error *err);

#endif
