/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_read.h - a mapping from a libconfig file; the grammar is docs/formats.md. */
#ifndef TH_MAPPER_MAPPING_READ_H
#define TH_MAPPER_MAPPING_READ_H
#include "mapper/mapping.h"

/* A checked mapping for this system and workload, or NULL with FILE:LINE in err. */
th_mapping *th_mapping_read(const char *path, const th_system *s, const th_workload *w,
                            th_error *err);
th_mapping *th_mapping_read_text(const char *text, const char *name, const th_system *s,
                                 const th_workload *w, th_error *err);

#endif
