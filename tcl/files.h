/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.h - finds the file that an argument names: as a path; else along $THARSIS_PATH; else in the
 * folder of this kind in the source tree, then in the installation. The extension may be left out
 * everywhere. */
#ifndef TH_TCL_FILES_H
#define TH_TCL_FILES_H
#include "tcl/tcl_session.h"

typedef struct th_file_kind {
    const char *what;            /* for messages: "system" */
    const char *extension;       /* ".cfg" */
    const char *const *folders;  /* below the source tree and the data folder; ends in NULL */
    const char *(*other)(int i); /* names of what is no file, but may be meant; NULL: none */
} th_file_kind;

extern const th_file_kind th_system_file, th_workload_file, th_mapping_file, th_astra_network_file,
    th_astra_system_file, th_onnx_workload_file, th_scalesim_workload_file, th_schedule_file,
    th_devices_file, th_measurements_file, th_predictor_file;

const char *th_pod_name(int i); /* of topology/generate/pods.h; NULL after the last */

/* The path for the C library, referenced: the caller drops it. NULL with near misses in err. */
Tcl_Obj *th_file_find(th_session *s, const th_file_kind *kind, Tcl_Obj *name, th_error *err);

/* The names of files of this kind that need no path, sorted; referenced for the caller. */
Tcl_Obj *th_file_names(th_session *s, const th_file_kind *kind);

#endif
