/* SPDX-License-Identifier: GPL-3.0-or-later */
/* warning.c - see warning.h. */
#include <config.h>
#include "tcl/warning.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "base/strbuf.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* As area and number: the whole id is written only where the warning is issued, so that a search
 * for it finds that place. */
static const struct {
    const char *area;
    int number;
} warnings[] = {
    {"TCL", 72},   /* parameters too large for the system, however they are spread */
    {"TCL", 78},   /* a layer that cannot be split into pieces that fit */
    {"TCL", 79},   /* a large system */
    {"TCL", 276},  /* nodes that were read as copies */
    {"TCL", 300},  /* an option that changes nothing for a baseline */
    {"TCL", 301},  /* a baseline that ended with its budget */
    {"TCL", 329},  /* an operation by the data sheet alone */
    {"TCL", 330},  /* a layer outside the range of training */
    {"TCL", 352},  /* a network outside that range */
    {"TCL", 362},  /* what the reader of a file left out */
    {"TCL", 422},  /* changes that a new run drops */
    {"TCL", 804},  /* a trace that does not come to its end */
    {"TCL", 810},  /* dependencies that ASTRA-sim does not know */
    {"TCL", 998},  /* a trace of a run that has ended */
    {"TCL", 1202}, /* a design of -design that the mapping does not use */
    {"TCL", 1205}, /* fewer images that are predicted to take longer */
    {"TCL", 1206}, /* the interval of a GPU that was not measured */
    {"TCL", 1460}, /* an efficiency above 1 */
    {"TCL", 1461}, /* measured messages too small for a bandwidth */
    {"TCL", 1480}, /* shapes stated in a file that are not so */
    {"TCL", 1481}, /* inputs of nodes that no layer reads */
    {"TCL", 1482}, /* a model of a newer version of ONNX */
    {"TCL", 1520}, /* a plan that fits within the error of the estimate */
    {"TCL", 2504}, /* nodes that make nothing, as their inputs are empty */
    {"TCL", 3035}, /* a step of an accelerator without measured runs */
    {"TCL", 3140}, /* layers that no accelerator can run */
    {"TCL", 3141}, /* layers that some accelerators cannot run */
    {"TCL", 3142}, /* how many more of these there are */
    {"TCL", 3146}, /* a change at the end of the run */
    {"STUDY", 90}, /* points that failed */
};
enum { N_WARNINGS = sizeof warnings / sizeof *warnings, ID_MAX = 16 };
_Static_assert((int)N_WARNINGS <= (int)TH_WARNINGS_MAX, "see session.h");

const char *th_warning_id(int i, char *out, size_t size)
{
    if (i >= N_WARNINGS)
        return NULL;
    snprintf(out, size, "%s-%04d", warnings[i].area, warnings[i].number);
    return out;
}

static int position(const char *id)
{
    char text[ID_MAX];
    for (int i = 0; i < N_WARNINGS; i++)
        if (strcmp(th_warning_id(i, text, sizeof text), id) == 0)
            return i;
    return -1;
}

int th_warning_find(const char *id, th_error *err)
{
    char text[N_WARNINGS][ID_MAX];
    const char *names[N_WARNINGS + 1];
    int i = position(id);
    if (i >= 0)
        return i;
    for (i = 0; i < N_WARNINGS; i++)
        names[i] = th_warning_id(i, text[i], sizeof text[i]);
    names[i] = NULL;
    return th_error_unknown(err, "TCL-0610",
                            "only warnings can be suppressed, and this is no warning:", id, names);
}

void th_warn_of(const th_call *c, const th_error *e)
{
    int i = position(e->id);
    if (th_tcl_of(c->session)->is_item || (i >= 0 && th_tcl_of(c->session)->is_suppressed[i]))
        return;
    Tcl_Channel err = Tcl_GetStdChannel(TCL_STDERR);
    if (!err)
        return;
    Tcl_Obj *line = Tcl_ObjPrintf("Warning %s: %s: %s\n", e->id, c->command->name, e->text);
    Tcl_IncrRefCount(line);
    Tcl_WriteObj(err, line);
    Tcl_Flush(err);
    Tcl_DecrRefCount(line);
}

void th_warn(const th_call *c, const char *id, const char *format, ...)
{
    th_error e;
    char text[TH_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    th_print_list(text, sizeof text, format, args);
    va_end(args);
    th_error_set(&e, id, "%s", text);
    th_warn_of(c, &e);
}

void th_warn_notes(const th_call *c, const char *file, bool has_failed, th_strbuf *notes)
{
    if (!has_failed && notes->length > 0)
        th_warn(c, "TCL-0362", "%s: %s", file, notes->text);
    th_strbuf_clear(notes);
}
