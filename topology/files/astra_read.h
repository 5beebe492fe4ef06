/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_read.h - reads a system from the two files of ASTRA-sim; docs/formats.md lists the keys. */
#ifndef TH_TOPOLOGY_FILES_ASTRA_READ_H
#define TH_TOPOLOGY_FILES_ASTRA_READ_H
#include "topology/files/astra.h"

/* A finished system of at most max_links links with its astra block, named after its dimensions
 * ("astra_ring4_switch8"), or NULL with FILE:LINE in err. All accelerators are equal and do not
 * affect ASTRA-sim's network times: local memory of local-mem-bw, and a roofline of peak-perf (see
 * astra_read.c). */
th_system *th_system_read_astra(const char *network_path, const char *system_path, int max_links,
                                th_error *err);

/* private to the reader: one file each into its part of *out. 0 or -1. */
int th_astra_read_network(const char *path, th_astra *out, th_error *err);
/* After the network, because implementations are per dimension. *peak_tflops is unchanged if the
 * file has none. */
int th_astra_read_system(const char *path, th_astra *out, double *peak_tflops, th_error *err);

enum { TH_ASTRA_FILE_MAX = 256 * 1024 }; /* bytes of either file */

#endif
