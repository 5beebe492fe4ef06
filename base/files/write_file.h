/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_file.h - bytes on their way into files.
 *   th_replace_file for all that makes the whole of a file; th_append_file for >>;
 *   th_new_files for several files that are replaced all or not at all;
 *   th_write_all for what is written as it happens (logs, traces), to a descriptor of the caller's.
 *
 * A file that is replaced is the old one or the new one, whole, at every moment: the bytes go into
 * a new file in the same folder, reach the disk, and the new file takes the name of the old one.
 * A process that is killed meanwhile can leave that new file, .NAME.PROCESS.NUMBER.new; one that
 * ends itself removes it (th_new_files_end). Permissions are kept, and owner and group where the
 * system lets us; other hard links of the old file keep its bytes. */
#ifndef TH_BASE_WRITE_FILE_H
#define TH_BASE_WRITE_FILE_H
#include <stddef.h>
#include "base/error.h"

/* The file at path, or at the end of symbolic links there, holds these n bytes and no others. What
 * is no regular file (a device, a FIFO), and what /proc names by a descriptor (/dev/stdout), is
 * written in place. 0, or -1: nothing has changed; the message names the file. */
int th_replace_file(const char *path, const void *bytes, size_t n, th_error *err);

/* Several files that are replaced together.
 *   new -> add* -> (keep | free)
 * add writes the bytes into a new file beside the old one; keep gives all of them their names. */
typedef struct th_new_files th_new_files;
th_new_files *th_new_files_new(th_error *err);
/* What is no regular file is refused. 0, or -1: the message names the file. */
int th_new_files_add(th_new_files *f, const char *path, const void *bytes, size_t n, th_error *err);
/* 0, or -1: a folder has changed meanwhile, so that a new file could not take its name; the files
 * that were added before it are replaced. */
int th_new_files_keep(th_new_files *f, th_error *err);
void th_new_files_free(th_new_files *f); /* removes what is not kept; accepts NULL */

/* Before a process ends at a moment that it has not chosen: removes all new files that have no name
 * yet, of all threads; a thread that makes another one waits for ever. Not for signal handlers. */
void th_new_files_end(void);

/* Adds the n bytes to the end of the file at path, which is made if there is none. 0, or -1: a
 * regular file is as long as it was; the message names the file. */
int th_append_file(const char *path, const void *bytes, size_t n, th_error *err);

/* Writes all n bytes where the descriptor stands. 0, or -1 and errno: not all were written. */
int th_write_all(int fd, const void *bytes, size_t n);

#endif
