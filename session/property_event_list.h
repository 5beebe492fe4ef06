/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_event_list.h - the property events of a run with names, for the heads of reports, saved
 * runs, and their comparison.
 *   of -> read only -> free
 * Events are equal if their texts are: a text contains all of an event. */
#ifndef TH_SESSION_PROPERTY_EVENT_LIST_H
#define TH_SESSION_PROPERTY_EVENT_LIST_H
#include "session/table/report.h"
#include "session/session.h"

typedef struct th_listed_event {
    const char *object, *property; /* "link/0_1", "bandwidth" */
    const char *value;             /* "50Gbps"; "x0.5", of a clock */
    double factor;                 /* relative to the system; 0: down, dead */
    th_time at_ps;                 /* when it takes effect */
    int64_t after_event;           /* program events before it at that time; -1: unknown */
    const char *by;                /* "set_property", "inject_fault" */
    const char *text;              /* "fault link/0_1 bandwidth 50Gbps at 40.5us" */
} th_listed_event;

typedef struct th_property_event_list {
    th_listed_event *all; /* by time, then links before accelerators, in the order of the system */
    int n;
    struct th_arena *arena; /* private */
} th_property_event_list;

/* Events of the present run, or of the next one if there is none. NULL: memory is out. */
th_property_event_list *th_property_event_list_of(const th_session *s);
void th_property_event_list_free(th_property_event_list *l); /* accepts NULL */

/* Of one event, "link/0_1" and "50Gbps", in the arena. NULL: memory is out. */
const char *th_property_event_object(const th_system *s, const th_property_event *c,
                                     struct th_arena *arena);
const char *th_property_event_value(const th_system *s, const th_property_event *c,
                                    struct th_arena *arena);

/* All events in a line. If that takes more than width characters: the first ones, the number of the
 * others, and a digest of all, so that different lists have different lines. Empty for an empty
 * list. */
void th_property_event_list_add_line(const th_property_event_list *l, int width, th_strbuf *out);

/* Columns of a table in CSV and JSON; text does not show them. */
enum { TH_PROPERTY_EVENT_LIST_COLUMNS = 7 };
extern const th_column
    th_property_event_list_columns[TH_PROPERTY_EVENT_LIST_COLUMNS + 1]; /* ends in an empty one */
/* TH_PROPERTY_EVENT_LIST_COLUMNS cells, whose texts are the list's. */
void th_property_event_list_cells(const th_listed_event *c, th_quantity *cells);

#endif
