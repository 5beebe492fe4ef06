/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error_text.c - see error_text.h. errorInfo and errorCode of the interpreter may still hold an
 * earlier error, even one that Tcl caught while it started, so the options of the return are
 * read. */
#include <config.h>
#include "tcl/shell/error_text.h"
#include <string.h>
#include "tcl/command.h"

enum { LINES_MAX = 8 }; /* of a stack that is deeper, the innermost */

/* A value of the options of the last return, "" where there is none; referenced. */
static Tcl_Obj *return_option(Tcl_Interp *interp, int code, const char *key)
{
    Tcl_Obj *options = Tcl_GetReturnOptions(interp, code), *word = Tcl_NewStringObj(key, -1);
    Tcl_Obj *value = NULL;
    Tcl_IncrRefCount(options);
    Tcl_IncrRefCount(word);
    if (Tcl_DictObjGet(NULL, options, word, &value) != TCL_OK || !value)
        value = Tcl_NewObj();
    Tcl_IncrRefCount(value);
    Tcl_DecrRefCount(word);
    Tcl_DecrRefCount(options);
    return value;
}

/* '    (procedure "p" line 3)', '    (file "x.tcl" line 7)': the rest of errorInfo repeats the text
 * of the commands. */
static bool is_place(const char *line, size_t length)
{
    static const char begin[] = "    (";
    size_t last = length;
    while (last > 0 && strchr("0123456789)", line[last - 1]))
        last--;
    return strncmp(line, begin, sizeof begin - 1) == 0 && line[length - 1] == ')' && last > 6 &&
           strncmp(line + last - 6, " line ", 6) == 0;
}

static void add_places(Tcl_Obj *text, const char *trace)
{
    int n = 0;
    for (size_t length; *trace != '\0'; trace += length + (trace[length] == '\n')) {
        length = strcspn(trace, "\n");
        if (length == 0 || !is_place(trace, length) || ++n > LINES_MAX)
            continue;
        Tcl_AppendToObj(text, "\n", 1);
        Tcl_AppendToObj(text, trace, (int)length);
    }
    if (n > LINES_MAX)
        Tcl_AppendPrintfToObj(text, "\n    (%d more; tharsis -trace prints all)", n - LINES_MAX);
}

Tcl_Obj *th_error_text(Tcl_Interp *interp, int code, bool is_full)
{
    Tcl_Obj *trace = return_option(interp, code, "-errorinfo");
    bool has_trace = code == TCL_ERROR && Tcl_GetString(trace)[0] != '\0';
    Tcl_Obj *text = Tcl_DuplicateObj(is_full && has_trace ? trace : Tcl_GetObjResult(interp));
    Tcl_IncrRefCount(text);
    if (!is_full)
        add_places(text, Tcl_GetString(trace));
    Tcl_DecrRefCount(trace);
    return text;
}
