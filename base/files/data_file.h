/* SPDX-License-Identifier: GPL-3.0-or-later */
/* data_file.h - finds files that other files name. */
#ifndef TH_BASE_DATA_FILE_H
#define TH_BASE_DATA_FILE_H
#include "base/error.h"
#include "base/strbuf.h"

typedef struct th_data_file {
    const char *name, *extension; /* which may be left out of the name: ".model" */
    const char *beside;           /* the file that names it; NULL: none */
    const char *folder; /* of the source tree and of the installed data: "predictor/models" */
} th_data_file;

/* Adds its path to *out: beside the file that names it (or as it stands, if it begins with a
 * slash), along $THARSIS_PATH, in the folder of the source tree, in that of the installation; the
 * first that is there. 0; 1: nowhere; -1: memory is out. */
int th_data_file_find(const th_data_file *f, th_strbuf *out);
/* The same of a file that comes with Tharsis: nowhere is an error. 0, or -1. */
int th_data_file_need(const th_data_file *f, th_strbuf *out, th_error *err);
/* Adds the data folder of an installation that was unpacked elsewhere than it was built for:
 * share/tharsis above the program or library that holds this code. False: there is none. */
bool th_data_file_moved_folder(th_strbuf *out);

#endif
