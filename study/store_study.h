/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_study.h - the definition of a study in its file: the tables study, parameter, value and
 * metric. */
#ifndef TH_STUDY_STORE_STUDY_H
#define TH_STUDY_STORE_STUDY_H
#include <sqlite3.h>
#include "study/study.h"

/* A code of SQLite. */
int th_store_write_study(sqlite3 *db, const th_study *s);
/* The text there, as long as the statement stays at its row. NULL: it is none, or holds a zero. */
const char *th_store_text(sqlite3_stmt *s, int column);
/* NULL: the tables are not as they were written, or memory is out. */
th_study *th_store_read_study(sqlite3 *db, th_error *err);

#endif
