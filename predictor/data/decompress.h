/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decompress.h - a text file that may be compressed by xz or gzip. */
#ifndef TH_PREDICTOR_DATA_DECOMPRESS_H
#define TH_PREDICTOR_DATA_DECOMPRESS_H
#include "base/error.h"
#include "base/strbuf.h"

/* Adds what the file holds, unpacked, to *text. What is longer than size_max is refused, packed or
 * not, and what a file of less than 1 MiB unpacks to beyond 24 MiB. 0; or -1, and *text is to be
 * cleared all the same. */
int th_decompress_file(const char *path, size_t size_max, th_strbuf *text, th_error *err);

#endif
