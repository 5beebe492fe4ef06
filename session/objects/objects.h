/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objects.h - objects that scripts name: accel/3, link/3_4, node/host, layer/conv4_2, task/118. A
 * name is valid as long as the system, workload and program of the session; an object is plain
 * data. */
#ifndef TH_SESSION_OBJECTS_OBJECTS_H
#define TH_SESSION_OBJECTS_OBJECTS_H
#include "session/table/quantity.h"
#include "session/session.h"

typedef enum {
    TH_CLASS_ACCEL,
    TH_CLASS_LINK,
    TH_CLASS_NODE,
    TH_CLASS_LAYER,
    TH_CLASS_TASK,
    TH_N_CLASSES
} th_class;

typedef struct th_object {
    th_class class;
    int32_t index; /* accelerator, link, node, layer or task number */
} th_object;

const char *th_class_name(th_class class); /* "accel" */
/* What the class needs: a system, a workload, or a lowered program (created if missing). */
int th_class_need(th_session *s, th_class class, th_error *err);
int32_t th_class_count(const th_session *s, th_class class);

/* The name in the system or workload, "3"; NULL for a task. */
const char *th_object_stored_name(const th_session *s, th_object o);
/* The part after the slash, valid as long as the object (a task's: until the next call). */
const char *th_object_short_name(th_session *s, th_object o);
/* Reads "accel/3"; -1 with near misses. Names of nodes and links are found in O(1). */
int th_object_parse(th_session *s, const char *text, th_object *out, th_error *err);

/* The object of the class with this name, or task of this number; -1: there is none. */
int32_t th_object_find(const th_session *s, th_class class, const char *name);
/* Reads the number of a task. */
int th_object_parse_task(const th_session *s, const char *number, th_object *out, th_error *err);
/* Sets the error for an unknown name, with near misses. Returns -1. */
int th_object_unknown(const th_session *s, th_class class, const char *name, th_error *err);

/* Reads a node: "host", "node/host", "accel/3". Its number, or -1 with near misses. */
int th_node_parse(th_session *s, const char *text, th_error *err);

/* Are the objects related: a link of an accelerator, a task of a layer, an accelerator of a
 * task? */
bool th_objects_touch(th_session *s, th_object a, th_object b);

/* What a figure of accelerators, links, layers and runs is a figure of: the run, then save_run
 * keeps it; what was run, of which saved runs have names and digests; or the moment, of which a
 * finished run has none. */
typedef enum { TH_OF_RUN, TH_OF_INPUT, TH_OF_MOMENT } th_figure_of;

/* attributes.c: attributes of a class are numbered from 0. */
typedef struct th_attribute th_attribute;
struct th_attribute {
    const char *name; /* NULL ends a class */
    th_kind kind;
    const char *help;
    const char *(*choice)(
        int i);          /* of a text: the i-th value, NULL after the last; NULL: any text */
    const char *heading; /* in tables; NULL: the name, with blanks */
    th_figure_of of;
    bool is_detail; /* of the run: by default in csv and json alone, and not in report_diff */
    /* Its value now, of the object of this number; NULL: th_figures has a row. */
    th_quantity (*get)(th_session *s, int index, const th_attribute *a);
    uint16_t at, size; /* for get: where the value lies in a structure, and its bytes; or a part */
    uint32_t changes;  /* bits of th_record_kind (sim/observe/event_recorder.h) at which it can
                          change; 0: it stays */
};

const th_attribute *th_attributes_of(th_class class);
/* The number of an attribute by name, -1 with near misses. */
int th_attribute_find(th_class class, const char *name, th_error *err);
/* Its value now. Text is valid until the next call. 0 or -1. */
int th_attribute_get(th_session *s, th_object o, int attribute, th_quantity *out, th_error *err);

/* "conv2_1 on accel/0", "conv2_1: host -> 3". */
void th_task_describe(const th_session *s, const th_task *t, th_strbuf *out);
/* The name of the node of an execution trace that a task of the program is. NULL: it is none. */
const char *th_task_trace_name(const th_session *s, const th_task *t);

#endif
