/* SPDX-License-Identifier: GPL-3.0-or-later */
/* object_name.c - see object_name.h. */
#include <config.h>
#include "tcl/objects/object_name.h"
#include <stdio.h>

Tcl_Obj *th_object_name(const th_session *s, th_object o)
{
    if (o.class == TH_CLASS_TASK) { /* formatted here: Tcl's printf is slow for millions of names */
        char name[32];
        return Tcl_NewStringObj(name, snprintf(name, sizeof name, "task/%d", (int)o.index));
    }
    return Tcl_ObjPrintf("%s/%s", th_class_name(o.class), th_object_stored_name(s, o));
}
