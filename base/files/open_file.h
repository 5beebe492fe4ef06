/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open_file.h - the only way to files, and to programs that draw: what a caller may open is data,
 * the policy of this thread, which the dispatcher of commands sets for the time of a command.
 *   th_file_policy_set -> (open | stat | may)* -> th_file_policy_set (the one before)
 * Readers and writers call these functions in the place of open, stat and access, so none of them
 * asks for itself. A library that opens a file by itself (SQLite) is asked about with
 * th_file_may. */
#ifndef TH_BASE_OPEN_FILE_H
#define TH_BASE_OPEN_FILE_H
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

typedef struct th_file_policy {
    bool (*may)(const char *path, bool writes); /* NULL: any file */
    const char *reason;                         /* of a refusal, for messages */
    bool starts_no_programs;                    /* gnuplot, dot */
} th_file_policy;

/* The folders of what comes with Tharsis: of the sources, then of the installation; ends in
 * NULL. */
extern const char *const th_shipped_folders[];
/* Of an interpreter that was made safe: regular files in these folders are read, nothing is
 * written. */
extern const th_file_policy th_shipped_files_only;

/* The policy of this thread from here on; NULL: any file, any program. Returns the one before. */
const th_file_policy *th_file_policy_set(const th_file_policy *p);
const th_file_policy *th_file_policy_now(void);

/* May the file at path, at the end of symbolic links, be opened? If not, errno is EACCES. */
bool th_file_may(const char *path, bool writes);
/* As open(2), with O_CLOEXEC and permissions 0666 for a new file. -1 and errno. */
int th_file_open(const char *path, int flags);
FILE *th_file_stream(const char *path); /* for reading; NULL and errno */
/* As stat(2): 0, or -1 and errno, also of a file that may not be read. */
int th_file_stat(const char *path, struct stat *out);
bool th_file_is_there(const char *path);
/* Why one of these functions failed, by errno: of a refusal, the policy's reason. */
const char *th_file_problem(int error);

#endif
