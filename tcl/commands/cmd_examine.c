/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_examine.c - get_property, by its other name examine; report_property. */
#include <config.h>
#include "tcl/command.h"
#include "tcl/core/lib_report.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/object_name.h"
#include "base/interrupt.h"
#include "session/objects/objects.h"
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
        return th_lib_value(q);
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

/* The objects that a pattern means. 0 or -1; the caller clears them. */
static int find_objects(th_call *c, const char *pattern, th_value *out)
{
    static const th_option kind = {"OBJECT", TH_OPTION_OBJECT, "OBJECT", .most = TH_MANY};
    Tcl_Obj *word = Tcl_NewStringObj(pattern, -1);
    *out = (th_value){.word = Tcl_NewListObj(1, &word)};
    Tcl_IncrRefCount(out->word);
    int failed = th_value_resolve(c, &kind, out);
    Tcl_DecrRefCount(out->word);
    return failed;
}

/* Of these objects, the attributes that a name or pattern means. */
static int return_values(th_call *c, const th_value *of, const char *attributes)
{
    Tcl_Obj *lines = Tcl_NewObj();
    th_class class = of->objects[0].class;
    int failed = 0;
    Tcl_SetObjResult(c->interp, lines);
    for (int i = 0; i < of->n && !failed; i++)
        failed = th_interrupt_is_pending() ? th_error_interrupted(&c->err, "nothing is returned")
                                           : add_values(c, of->objects[i], attributes, lines);
    if (failed || Tcl_GetCharLength(lines) > 0)
        return failed;
    if (is_pattern(attributes))
        return th_error_set(&c->err, "TCL-0746", "\"%.100s\": no attribute of %ss matches \"%s\"",
                            th_call_word(c, 0), th_class_name(class), attributes);
    return th_attribute_find(class, attributes, &c->err) < 0 ? -1 : 0;
}

/* "accel/?.state": the last dot is before the attribute, unless no object matches then: names may
 * hold dots, and "layer/l1.0.*" means layers. */
static int examine_pattern(th_call *c)
{
    th_value objects;
    const char *path = th_call_word(c, 0), *dot = strrchr(path, '.'), *attributes = "*";
    Tcl_Obj *name = Tcl_NewStringObj(path, dot ? (int)(dot - path) : -1);
    Tcl_IncrRefCount(name);
    int failed = find_objects(c, Tcl_GetString(name), &objects);
    if (!failed && dot)
        attributes = dot + 1;
    if (failed && dot) {
        th_value_clear(&objects);
        failed = find_objects(c, path, &objects);
    }
    if (!failed)
        failed = return_values(c, &objects, attributes);
    th_value_clear(&objects);
    Tcl_DecrRefCount(name);
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

static const th_option property_words[] = {
    {"OBJECTS", TH_OPTION_OBJECT, "OBJECTS", .least = 1, .most = TH_MANY}, {.name = NULL}};

const th_command th_examine_commands[] = {
    {"get_property", GROUP, "OBJECT?.ATTRIBUTE? ?ATTRIBUTE?", 1, 2, property_options,
     "return one attribute of an object, or all",
     "The attribute is a word of its own, or the end of the path: accel/3.state. Without an "
     "attribute, returns a list of names and values. Both parts of a path may be glob patterns: "
     "link/3_*.queue_depth returns a list of paths and values, one pair per line. Times, sizes and "
     "rates have units and six digits. A value that is not known is empty.",
     .run = run_get_property},
    {.name = "examine", .group = GROUP, .alias_of = "get_property"},
    {"report_property", GROUP, "OBJECTS", 1, 1, th_table_options,
     "print all attributes of objects, and what they mean",
     "The values are those of now, as get_property returns them; a value that is not known yet is "
     "-. In text bandwidths of links and messages stand in bits and in bytes per second.",
     .run = th_lib_run, .kinds = property_words, .is_report = true},
    {.name = NULL},
};
