/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figures.h - every class of figures as rows and columns: what `query` reads. The columns are the
 * number of the row (id), and its attributes, which are those of get_property where the class has
 * objects; what ends in _id is the number of a row of another class.
 *   need -> (count -> (row | get)*)*, valid until the session changes */
#ifndef TH_SESSION_OBJECTS_FIGURES_H
#define TH_SESSION_OBJECTS_FIGURES_H
#include "session/objects/objects.h"

enum { TH_FIGURES_MAX = 64 }; /* attributes of a class */

typedef struct th_figures {
    const char *name; /* "tasks" */
    /* What there must be, as the commands ask for that return these objects; 0 or -1. Then: how
     * many rows there are. */
    int (*need)(th_session *s, th_error *err);
    int32_t (*count)(const th_session *s);
    const th_attribute *attributes;
    /* Of saved runs: behind these, those of this class that are of the run; NULL: none. */
    const th_attribute *saves;
    /* All attributes of a row; NULL: each has its own function (th_attribute). Texts are valid
     * until the next call. s->text.scratch.failed: memory was out. */
    void (*row)(th_session *s, int32_t row, th_quantity *cells);
    const th_attribute *keys; /* without row: numbers of other rows, which come first; NULL: none */
} th_figures;

extern const th_figures *const th_figure_classes[]; /* ends in NULL */

int th_figures_n_keys(const th_figures *f);
/* The column of this number, by its name without a unit: "start"; the name is NULL behind the
 * last. */
th_attribute th_figures_column(const th_figures *f, int column);
/* The attribute or key of this name in the class of this name; its name is NULL: none. */
th_attribute th_figures_find(const char *class, const char *name);
/* Its name with its unit: "start_ps". A keyword of SQL without unit ends in _id (a number) or _name
 * (a text). */
enum { TH_FIGURE_NAME_MAX = 64 };
const char *th_figures_name(const th_attribute *column, bool is_keyword,
                            char out[static TH_FIGURE_NAME_MAX]);
/* "ps", "bits_per_s", "of 1", "number", "text". */
const char *th_figures_unit(th_kind kind);

/* program_figures.c, stage_figures.c, run_figures.c: those without objects; of run there is one
 * row. */
extern const th_figures th_figures_of_messages, th_figures_of_dependencies, th_figures_of_sets,
    th_figures_of_models, th_figures_of_stages, th_figures_of_ranks, th_figures_of_jobs,
    th_figures_of_search, th_figures_of_run;
extern const th_attribute th_run_attributes[];
/* 0, or -1: nothing is lowered or built whose tasks have figures. */
int th_figures_need_tasks(th_session *s, th_error *err);
/* Two texts of a row, which lie in the session's scratch; they are cleared. */
void th_put_texts(th_session *s, th_strbuf *a, th_strbuf *b, th_quantity *cells);
/* The name of the i-th one that saved runs keep and that is a number; NULL after the last. */
const char *th_run_figure_name(int i);
/* saved_run_figures.c: of saved runs, by th_saved_class, and their property events. */
extern const th_figures th_figures_of_saved[TH_N_SAVED], th_figures_of_saved_changes;
/* Keeps the present run, which has finished, under a name. NULL: memory is out. */
th_saved_run *th_saved_run_of(th_session *s, const char *name);
/* A figure of saved_runs by its name. */
th_quantity th_saved_run_figure(const th_saved_run *run, const char *name);

#endif
