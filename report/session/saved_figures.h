/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_figures.h - figures of accelerators, links and layers in a saved run, for report_diff.
 *   of -> read only -> free */
#ifndef TH_REPORT_SESSION_SAVED_FIGURES_H
#define TH_REPORT_SESSION_SAVED_FIGURES_H
#include "report/table/quantity.h"
#include "report/session/session.h"

typedef enum { TH_SAVED_LAYERS, TH_SAVED_ACCELS, TH_SAVED_LINKS, TH_N_SAVED } th_saved_class;

enum { TH_SAVED_FIGURES_MAX = 5 };

/* One layer, accelerator or link. Names are unique in their class. */
typedef struct th_saved_object {
    const char *name;
    th_quantity
        figure[TH_SAVED_FIGURES_MAX]; /* in the order of th_saved_figure_names; absent: not known */
} th_saved_object;

typedef struct th_saved_figures {
    char system[20], workload[20]; /* digests of what they hold; "-": a hand-built program */
    th_saved_object *objects[TH_N_SAVED];
    int n[TH_N_SAVED];
    char *page; /* what a page of two runs shows besides: report/html/html.h. Owned; NULL: none */
    struct th_arena *arena; /* private */
} th_saved_figures;

/* Names of the figures of a class; NULL after the last. Times come first, then bytes, then
 * energy. */
extern const char *const th_saved_figure_names[TH_N_SAVED][TH_SAVED_FIGURES_MAX + 1];

/* Figures of the present run, which has finished. NULL: memory is out. */
th_saved_figures *th_saved_figures_of(const th_session *s, const th_result *r);
void th_saved_figures_free(th_saved_figures *f); /* accepts NULL */

#endif
