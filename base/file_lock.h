/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file_lock.h - a lock on bytes of a file, for one writer at a time.
 *   open -> th_file_lock -> ... -> close
 * It belongs to the open file description: another open of the same file is kept out, in this
 * process too. The kernel drops it when the descriptor is closed, and when the process ends,
 * however. */
#ifndef TH_BASE_FILE_LOCK_H
#define TH_BASE_FILE_LOCK_H
#include <stdint.h>

/* Locks n bytes from start on, n 0: to the end, for writing; they need not be there. Does not wait.
 * 0: locked; 1: another descriptor has the lock; -1: the file system cannot lock, see errno. */
int th_file_lock(int fd, int64_t start, int64_t n);

#endif
