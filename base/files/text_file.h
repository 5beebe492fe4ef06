/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_file.h - reads a whole file, up to a size limit, for readers that parse in memory. */
#ifndef TH_BASE_TEXT_FILE_H
#define TH_BASE_TEXT_FILE_H
#include "base/error.h"
#include "base/strbuf.h"

/* Adds what the file holds to *text, which then ends in 0. More than size_max bytes are an error,
 * and a zero byte, behind which the rest would be lost. 0; or -1, and *text is to be cleared all
 * the same. */
int th_text_file_read(const char *path, size_t size_max, th_strbuf *text, th_error *err);
/* The same of any bytes. */
int th_file_bytes_read(const char *path, size_t size_max, th_strbuf *bytes, th_error *err);
/* Of "a/b.cfg" the "b", *length bytes. */
const char *th_file_stem(const char *path, int *length);

#endif
