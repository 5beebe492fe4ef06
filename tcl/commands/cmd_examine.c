/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_examine.c - get_property, by its other name examine; report_property. */
#include <config.h>
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/object_name.h"
#include "report/interrupt.h"
#include "report/objects/objects.h"
#include "base/alloc.h"
#include "tcl/report_call.h"
#include <string.h>

#define GROUP "objects"

enum { PROPERTY_EXACT };

static const th_option property_options[] = {
    [PROPERTY_EXACT] = {"-exact", TH_OPTION_FLAG, NULL,
                        "Numbers without units: ps, bytes, bits per second; shares of 1."},
    {.name = NULL},
};

/* The value of the attribute for scripts; absent: the empty string. */
static Tcl_Obj *value_object(const th_call *c, const th_quantity *q)
{
    if (th_call_has(c, PROPERTY_EXACT) && !q->is_absent && q->kind != TH_KIND_TEXT)
        return th_kind_is_real(q->kind) ? Tcl_NewDoubleObj(q->real) : Tcl_NewWideIntObj(q->whole);
    th_strbuf text = TH_STRBUF_INIT;
    if (!q->is_absent)
        th_quantity_format(q, &text);
    Tcl_Obj *value = Tcl_NewStringObj(text.text ? text.text : "", (int)text.length);
    th_strbuf_clear(&text);
    return value;
}

static int return_attribute(th_call *c, th_object o, const char *name)
{
    th_quantity value;
    int attribute = th_attribute_find(o.class, name, &c->err);
    if (attribute < 0 || th_attribute_get(c->session, o, attribute, &value, &c->err) != 0)
        return -1;
    Tcl_SetObjResult(c->interp, value_object(c, &value));
    return 0;
}

static int return_all(th_call *c, th_object o)
{
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    const th_attribute *attributes = th_attributes_of(o.class);
    for (int i = 0; attributes[i].name; i++) {
        th_quantity value;
        if (th_attribute_get(c->session, o, i, &value, &c->err) != 0) {
            Tcl_DecrRefCount(list);
            return -1;
        }
        Tcl_ListObjAppendElement(NULL, list, Tcl_NewStringObj(attributes[i].name, -1));
        Tcl_ListObjAppendElement(NULL, list, value_object(c, &value));
    }
    Tcl_SetObjResult(c->interp, list);
    return 0;
}

/* ---- patterns ---- */

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?[");
}

/* Adds the line "accel/3.state idle", a list of two, for each attribute that the pattern means. 0
 * or -1. */
static int add_values(th_call *c, th_object o, const char *attributes, Tcl_Obj *lines)
{
    const th_attribute *all = th_attributes_of(o.class);
    for (int i = 0; all[i].name; i++) {
        th_quantity value;
        if (!Tcl_StringMatch(all[i].name, attributes))
            continue;
        if (th_attribute_get(c->session, o, i, &value, &c->err) != 0)
            return -1;
        Tcl_Obj *pair[] = {NULL, value_object(c, &value)}, *name = th_object_name(c->session, o);
        Tcl_IncrRefCount(name);
        pair[0] = Tcl_ObjPrintf("%s.%s", Tcl_GetString(name), all[i].name);
        Tcl_Obj *line = Tcl_NewListObj(2, pair);
        Tcl_IncrRefCount(line);
        Tcl_AppendPrintfToObj(lines, "%s%s", Tcl_GetCharLength(lines) > 0 ? "\n" : "",
                              Tcl_GetString(line));
        Tcl_DecrRefCount(line);
        Tcl_DecrRefCount(name);
    }
    return 0;
}

/* The values of the objects of the class that the pattern means, in *lines. Returns how many
 * objects these are, or -1. */
static int32_t add_matching(th_call *c, th_class class, const char *objects, const char *attributes,
                            Tcl_Obj *lines)
{
    int32_t n = 0;
    for (int32_t i = 0; i < th_class_count(c->session, class); i++) {
        th_object o = {class, i};
        if (th_interrupt_is_pending())
            return th_error_interrupted(&c->err, "nothing is returned");
        if (!Tcl_StringMatch(th_object_short_name(c->session, o), objects))
            continue;
        if (add_values(c, o, attributes, lines) != 0)
            return -1;
        n++;
    }
    return n;
}

/* The class that the path begins with; *rest is behind its slash. */
static int parse_class(th_call *c, const char *path, th_class *class, const char **rest)
{
    th_object o;
    for (int k = 0; k < TH_N_CLASSES; k++) {
        size_t length = strlen(th_class_name((th_class)k));
        if (strncmp(path, th_class_name((th_class)k), length) != 0 || path[length] != '/')
            continue;
        *class = (th_class)k;
        *rest = path + length + 1;
        return th_class_need(c->session, *class, &c->err);
    }
    return th_object_parse(c->session, path, &o, &c->err); /* which fails, and says why */
}

/* Have the patterns met objects, and attributes of theirs? */
static int check_examined(th_call *c, th_class class, const char *attributes, int32_t n_objects,
                          bool has_values)
{
    if (n_objects == 0)
        return th_error_set(&c->err, "TCL-0745", "\"%.100s\": no %s matches", th_call_word(c, 0),
                            th_class_name(class));
    if (has_values)
        return 0;
    if (is_pattern(attributes))
        return th_error_set(&c->err, "TCL-0746", "\"%.100s\": no attribute of %ss matches \"%s\"",
                            th_call_word(c, 0), th_class_name(class), attributes);
    return th_attribute_find(class, attributes, &c->err) < 0 ? -1 : 0;
}

/* "accel/?.state": the last dot is before the attribute, unless no object matches then: names may
 * hold dots, and "layer/l1.0.*" means layers. */
static int examine_pattern(th_call *c)
{
    th_class class = TH_CLASS_ACCEL;
    const char *path = th_call_word(c, 0), *dot = strrchr(path, '.'), *rest = "";
    if (parse_class(c, path, &class, &rest) != 0)
        return -1;
    const char *attributes = dot && dot > rest ? dot + 1 : "*";
    Tcl_Obj *lines = Tcl_NewObj(),
            *objects = Tcl_NewStringObj(rest, dot && dot > rest ? (int)(dot - rest) : -1);
    Tcl_IncrRefCount(lines);
    Tcl_IncrRefCount(objects);
    int32_t n = add_matching(c, class, Tcl_GetString(objects), attributes, lines);
    if (n == 0 && dot)
        n = add_matching(c, class, rest, "*", lines);
    int failed = n < 0 ? -1 : check_examined(c, class, attributes, n, Tcl_GetCharLength(lines) > 0);
    if (!failed)
        Tcl_SetObjResult(c->interp, lines);
    Tcl_DecrRefCount(objects);
    Tcl_DecrRefCount(lines);
    return failed;
}

/* "link/3_4.1.bytes": names may hold dots, so the whole is tried as an object first. */
static int run_get_property(th_call *c)
{
    th_object o;
    th_error whole_error;
    const char *path = th_call_word(c, 0), *dot = strrchr(path, '.');
    if (th_object_parse(c->session, path, &o, &whole_error) == 0)
        return c->n_words > 1 ? return_attribute(c, o, th_call_word(c, 1)) : return_all(c, o);
    if (is_pattern(path) && c->n_words == 1)
        return examine_pattern(c);
    if (!dot || c->n_words > 1) {
        c->err = whole_error;
        return -1;
    }
    Tcl_Obj *name = Tcl_NewStringObj(path, (int)(dot - path));
    Tcl_IncrRefCount(name);
    int failed = th_object_parse(c->session, Tcl_GetString(name), &o, &c->err);
    Tcl_DecrRefCount(name);
    return failed ? -1 : return_attribute(c, o, dot + 1);
}

static const th_option report_options[] = {TABLE_OPTIONS, {.name = NULL}};

static const th_option property_words[] = {
    {"OBJECTS", TH_OPTION_OBJECT, "OBJECTS", .least = 1, .most = TH_MANY}, {.name = NULL}};

const th_command th_examine_commands[] = {
    {"get_property", GROUP, "OBJECT?.ATTRIBUTE? ?ATTRIBUTE?", 1, 2, property_options,
     "return an attribute of an object, or all of them",
     "The attribute is a word, or the end of the path: accel/3.state. Without it: a list of names "
     "and values. Both parts of a path may be glob patterns: link/3_*.queue_depth gives a list of "
     "paths and values, a line for each. Times, sizes and rates have units, and six digits. "
     "Unknown values are empty.",
     .run = run_get_property},
    {.name = "examine", .group = GROUP, .alias_of = "get_property"},
    {"report_property", GROUP, "OBJECTS", 1, 1, report_options, "print the attributes of objects",
     "Their values now, as get_property returns them, and what they mean. - is not known yet.",
     .run = th_lib_run, .kinds = property_words, .is_report = true},
    {.name = NULL},
};
