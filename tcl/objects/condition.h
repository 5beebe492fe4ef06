/* SPDX-License-Identifier: GPL-3.0-or-later */
/* condition.h - the conditions of breakpoints and filters: a small language, compiled once.
 *   compile -> holds* -> free, or compile_of -> holds_of* -> free
 * condition: comparisons OBJECT.ATTRIBUTE OP LITERAL, joined by && || ! ( ). OP is == != < <= > >=
 * or =~ (glob pattern). A literal is a word, or anything between " ". In a filter ATTRIBUTE stands
 * alone. */
#ifndef TH_TCL_OBJECTS_CONDITION_H
#define TH_TCL_OBJECTS_CONDITION_H
#include "sim/observe/event_recorder.h"
#include "session/objects/objects.h"

typedef struct th_condition th_condition;

/* NULL: err names the word, and what was expected. */
th_condition *th_condition_compile(th_session *s, const char *text, th_error *err);
/* A filter: of the attributes of any object of the class. */
th_condition *th_condition_compile_of(th_session *s, th_class class, const char *text,
                                      th_error *err);
/* A filter of one comparison, whose literal may be any text. */
th_condition *th_condition_compare(th_class class, const char *attribute, const char *op,
                                   const char *literal, th_error *err);
void th_condition_free(th_condition *c); /* accepts NULL */
bool th_condition_holds(const th_condition *c, th_session *s);
/* Evaluates a filter for this object: 1, 0, or -1. */
int th_condition_holds_of(const th_condition *c, th_session *s, th_object o, th_error *err);
/* Bits of th_record_kind at which its value can change. */
unsigned th_condition_kinds(const th_condition *c);
/* The links among its objects: is_named[link] becomes true. False: any link may change its
 * value. */
bool th_condition_links(const th_condition *c, bool *is_named);
/* Can it change at this event? */
bool th_condition_is_about(const th_condition *c, const th_event_record *record);
th_object th_condition_object(const th_condition *c); /* the first object that it names */
bool th_condition_names_tasks(const th_condition *c); /* or layers: deleted with the program */

#endif
