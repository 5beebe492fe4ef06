/* SPDX-License-Identifier: GPL-3.0-or-later */
/* object_name.h - the name of an object as a Tcl value. */
#ifndef TH_TCL_OBJECTS_OBJECT_NAME_H
#define TH_TCL_OBJECTS_OBJECT_NAME_H
#include <tcl.h>
#include "session/objects/objects.h"

Tcl_Obj *th_object_name(const th_session *s, th_object o); /* "accel/3" */

#endif
