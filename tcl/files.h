/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.h - where a file argument is looked for.
 *
 * A path, if there is such a file; else along $THARSIS_PATH; else in the folder that the source
 * tree, and then the installation, keeps for this kind. The extension may be left out
 * everywhere. */
#ifndef TH_TCL_FILES_H
#define TH_TCL_FILES_H
#include "tcl/tcl_session.h"

typedef struct th_file_kind {
    const char *what;           /* for messages: "system" */
    const char *extension;      /* ".cfg" */
    const char *const *folders; /* below the source tree and the data folder; ends in NULL */
} th_file_kind;

extern const th_file_kind th_system_file, th_workload_file, th_mapping_file, th_astra_network_file,
    th_astra_system_file, th_onnx_workload_file, th_scalesim_workload_file, th_schedule_file,
    th_devices_file, th_measurements_file, th_predictor_file;

/* The path as the C library takes it, with a reference for the caller to drop; NULL with near
 * misses in err. */
Tcl_Obj *th_file_find(th_session *s, const th_file_kind *kind, Tcl_Obj *name, th_error *err);

/* The names of files of this kind that are found without a path, sorted; referenced for the caller.
 */
Tcl_Obj *th_file_names(th_session *s, const th_file_kind *kind);

#endif
