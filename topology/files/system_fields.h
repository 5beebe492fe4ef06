/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_fields.h - the groups of a system file as tables of fields (base/files/fields.h). */
#ifndef TH_TOPOLOGY_FILES_SYSTEM_FIELDS_H
#define TH_TOPOLOGY_FILES_SYSTEM_FIELDS_H
#include "base/files/fields.h"

extern const th_field th_dram_fields[], th_vector_fields[], th_accel_fields[]; /* th_accel */
extern const th_field th_host_fields[], th_switch_fields[];                    /* th_node */
extern const th_field th_link_fields[];                                        /* th_cable */
/* th_topology_options; those of bit TH_FIELD_IF_ASKED belong to has_island_options */
extern const th_field th_topology_fields[], th_generated_host_fields[];
extern const th_field th_astra_fields[], th_astra_dim_fields[]; /* th_astra, th_astra_dim */
/* th_system; that of TH_FIELD_IF_ASKED belongs to transfers_serially */
extern const th_field th_system_fields[];

#endif
