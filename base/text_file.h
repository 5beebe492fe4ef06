/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_file.h - reads a whole file, up to a size limit, for readers that parse in memory. */
#ifndef TH_BASE_TEXT_FILE_H
#define TH_BASE_TEXT_FILE_H
#include "base/error.h"
#include "base/strbuf.h"

/* Adds what the file holds to *text, a little more than size_max bytes at most: the caller refuses
 * what is longer. 0; or -1, and *text is to be cleared all the same. */
int th_text_file_read(const char *path, size_t size_max, th_strbuf *text, th_error *err);

#endif
