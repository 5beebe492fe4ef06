/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_file.h - bytes on their way into files. */
#ifndef TH_BASE_WRITE_FILE_H
#define TH_BASE_WRITE_FILE_H
#include <stddef.h>

/* Writes all n bytes where the descriptor stands. 0, or -1 and errno: some of them were not written. */
int th_write_all(int fd, const void *bytes, size_t n);

#endif
