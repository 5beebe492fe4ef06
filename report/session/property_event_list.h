/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_event_list.h - what set_property and inject_fault changed in a run, by name, for the
 * heads of reports, for saved runs and for their comparison. of -> read only -> free Changes are
 * equal where their texts are: a text says all that a change is, to the last digit. */
#ifndef TH_REPORT_SESSION_PROPERTY_EVENT_LIST_H
#define TH_REPORT_SESSION_PROPERTY_EVENT_LIST_H
#include "report/table/report.h"
#include "report/session/session.h"

typedef struct th_listed_event {
    const char *object, *property; /* "link/0_1", "bandwidth" */
    const char *value;             /* "50Gbps"; "x0.5", of a clock */
    double factor;                 /* of what the system says; 0: down, dead */
    th_time at_ps;                 /* when it takes effect */
    int64_t after_event;           /* how many program events came before it, where the run stood
                                    * between two of an instant; -1 where not */
    const char *by;                /* "set_property", "inject_fault" */
    const char *text;              /* "fault link/0_1 bandwidth 50Gbps at 40.5us" */
} th_listed_event;

typedef struct th_event_list {
    th_listed_event
        *all; /* by time; at one time links before accelerators, as the system has them */
    int n;
    struct th_arena *arena; /* private */
} th_event_list;

/* Of the present run, or of the next one, while there is none. NULL: memory is out. */
th_event_list *th_event_list_of(const th_session *s);
void th_event_list_free(th_event_list *l); /* accepts NULL */

/* All of them in a line; where that takes more than width characters, the first ones, how many more
 * there are, and a digest of all, so that two lists that differ have lines that differ. Nothing for
 * an empty list. */
void th_event_list_add_line(const th_event_list *l, int width, th_strbuf *out);

/* As a table has them in CSV and JSON; text does not show these columns. */
enum { TH_EVENT_LIST_COLUMNS = 7 };
extern const th_column th_event_list_columns[TH_EVENT_LIST_COLUMNS + 1]; /* ends in an empty one */
/* TH_EVENT_LIST_COLUMNS cells, whose texts are the list's. */
void th_event_list_cells(const th_listed_event *c, th_quantity *cells);

#endif
