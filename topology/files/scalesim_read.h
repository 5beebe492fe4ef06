/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scalesim_read.h - reads a system from SCALE-Sim's configuration; docs/formats.md lists the keys.
 */
#ifndef TH_TOPOLOGY_FILES_SCALESIM_READ_H
#define TH_TOPOLOGY_FILES_SCALESIM_READ_H
#include "base/strbuf.h"
#include "topology/system.h"

/* A finished system of one accelerator, named after run_name (else after the file), or NULL with
 * FILE:LINE in err. Its design is a block like any other: not checked here. Of keys and sections
 * that are not read notes tells (base/notes.h); NULL: not wanted. */
th_system *th_system_read_scalesim(const char *path, th_strbuf *notes, th_error *err);

enum { TH_SCALESIM_CONFIG_MAX = 256 * 1024 }; /* bytes of the file */

#endif
