/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_list.h - the named studies of a session, and the construction of a study from the words of
 * create_study. A study is stored in its file; the session stores the path. */
#ifndef TH_TCL_STUDY_STUDY_LIST_H
#define TH_TCL_STUDY_STUDY_LIST_H
#include "study/store.h"
#include "tcl/tcl_session.h"

typedef struct th_studies th_studies;

void th_studies_free(th_studies *all); /* accepts NULL */
/* Registers the file under the name. is_own: its script is one that this session was given, and not
 * only what stood in the file. 0, or -1: memory is out. */
int th_studies_add(th_session *s, const char *name, const char *path, bool is_own, th_error *err);
bool th_studies_is_own(const th_session *s, const char *name);
const char *th_studies_name(const th_session *s, size_t i); /* NULL after the last */
/* The file of a study, opened; NULL with near misses in err. */
th_store *th_studies_open(th_session *s, const char *name, th_error *err);

/* A safe interpreter for the expressions of -where, a child of parent, so that cancelling parent
 * also ends an expression. Delete it before another one is made. NULL: error in err. */
Tcl_Interp *th_study_where_interp(Tcl_Interp *parent, th_error *err);

/* The options of create_study as words; NULL: not given. */
typedef struct th_study_words {
    const char *name;
    Tcl_Obj *parameters, *zip, *metrics;
    const char *where, *script;
    int64_t seed;
} th_study_words;

/* NULL: err says why. */
th_study *th_study_of_words(const th_study_words *w, th_error *err);
/* The cells for which -where holds; the caller frees *cells. 0 or -1. */
int th_study_cells(th_session *s, const th_study *study, int64_t **cells, int64_t *n,
                   th_error *err);

#endif
