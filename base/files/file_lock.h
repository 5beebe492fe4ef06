/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file_lock.h - a lock on bytes of a file, for one writer at a time.
 *   open -> th_file_lock -> ... -> close
 * The lock belongs to the open file description: it excludes another open of the same file, also in
 * this process. The kernel releases it when the descriptor is closed or the process ends in any
 * way. */
#ifndef TH_BASE_FILE_LOCK_H
#define TH_BASE_FILE_LOCK_H
#include <stdint.h>

/* Locks n bytes from start on, n 0: to the end, for writing; they need not be there. Does not wait.
 * 0: locked; 1: another descriptor has the lock; -1: the file system cannot lock, see errno. */
int th_file_lock(int fd, int64_t start, int64_t n);

#endif
