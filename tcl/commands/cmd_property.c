/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_property.c - report_property: attributes of objects, their values and what they mean. */
#include <config.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/object_name.h"
#include "report/objects/objects.h"
#include "tcl/report_call.h"

#define GROUP "objects"

static const th_option property_options[] = {TABLE_OPTIONS, {.name = NULL}};

/* One object needs no column of its own, in text. */
static const th_column one_column[] = {{"object", NULL, TH_KIND_TEXT},
                                       {"attribute", "attribute", TH_KIND_TEXT},
                                       {"value", "value", TH_KIND_TEXT},
                                       {"meaning", "meaning", TH_KIND_TEXT},
                                       {NULL, NULL, TH_KIND_TEXT}};
static const th_column many_columns[] = {{"object", "object", TH_KIND_TEXT},
                                         {"attribute", "attribute", TH_KIND_TEXT},
                                         {"value", "value", TH_KIND_TEXT},
                                         {"meaning", "meaning", TH_KIND_TEXT},
                                         {NULL, NULL, TH_KIND_TEXT}};

static int add_attribute(th_call *c, th_table *t, th_object o, int attribute)
{
    const th_attribute *a = &th_attributes_of(o.class)[attribute];
    th_quantity value;
    th_strbuf text = TH_STRBUF_INIT;
    if (th_attribute_get(c->session, o, attribute, &value, &c->err) != 0)
        return -1;
    th_quantity_format(&value, &text);
    Tcl_Obj *name = th_object_name(c->session, o);
    Tcl_IncrRefCount(name);
    const th_quantity cells[] = {th_text(Tcl_GetString(name)), th_text(a->name),
                                 th_text(text.text ? text.text : ""), th_text(a->help)};
    th_table_row(t, cells);
    Tcl_DecrRefCount(name);
    int failed = text.failed ? th_error_no_memory(&c->err) : 0;
    th_strbuf_clear(&text);
    return failed;
}

static int add_object(th_call *c, th_table *t, th_object o)
{
    int failed = 0;
    for (int i = 0; !failed && th_attributes_of(o.class)[i].name; i++)
        failed = add_attribute(c, t, o, i);
    return failed;
}

static const th_option property_words[] = {
    {"OBJECTS", TH_OPTION_OBJECT, "OBJECTS", .least = 1, .most = TH_MANY}, {.name = NULL}};

static int run_report_property(th_call *c)
{
    const th_value *objects = &c->word[0];
    th_report *r = th_report_of_call(c, "property", "Properties");
    if (!r)
        return -1;
    const char *title =
        objects->n == 1 ? th_report_printf(r, "%s", Tcl_GetString(objects->words[0])) : NULL;
    th_table *t =
        th_report_table(r, "properties", title, objects->n == 1 ? one_column : many_columns);
    th_table_wrap(t);
    int failed = 0;
    for (int i = 0; i < objects->n && failed == 0; i++)
        failed = add_object(c, t, objects->objects[i]);
    return th_report_finish(c, r, failed, t);
}

const th_command th_property_commands[] = {
    {"report_property", GROUP, "OBJECTS", 1, 1, property_options, "print the attributes of objects",
     "Their values now, as get_property returns them, and what they mean. - is not known yet.",
     .run = run_report_property, .kinds = property_words, .is_report = true},
    {.name = NULL},
};
