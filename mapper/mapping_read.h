/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_read.h - reads a mapping from a libconfig file; docs/formats.md has the grammar. */
#ifndef TH_MAPPER_MAPPING_READ_H
#define TH_MAPPER_MAPPING_READ_H
#include "mapper/constraints.h"

/* A checked mapping for this system and workload, or NULL with FILE:LINE in err. */
th_mapping *th_mapping_read(const char *path, const th_system *s, const th_workload *w,
                            th_error *err);
th_mapping *th_mapping_read_text(const char *text, const char *name, const th_system *s,
                                 const th_workload *w, th_error *err);

/* Reads a partial mapping into c, replacing an earlier one: sets may have no design, layers no
 * split, and layers may be missing. 0, or -1: c is unchanged. */
int th_mapping_read_partial(const char *path, const th_system *s, const th_workload *w,
                            th_constraints *c, th_error *err);
int th_mapping_read_partial_text(const char *text, const char *name, const th_system *s,
                                 const th_workload *w, th_constraints *c, th_error *err);

#endif
