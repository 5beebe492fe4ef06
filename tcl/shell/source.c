/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.c - see source.h. */
#include <config.h>
#include "tcl/shell/source.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "tcl/command.h"

/* An echoed file while its commands run. */
typedef struct th_echo {
    Tcl_Interp *interp;
    Tcl_Obj *file;
    const char *prompt;
    int line; /* the first of the present command, from 1 */
} th_echo;

static void print(const char *before, const char *text)
{
    Tcl_Channel out = Tcl_GetStdChannel(TCL_STDOUT);
    if (!out)
        return;
    Tcl_WriteChars(out, before, -1);
    Tcl_WriteChars(out, text, -1);
    Tcl_WriteChars(out, "\n", 1);
    Tcl_Flush(out);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* Prints one whole command, runs it and prints its result. */
static int run_command(const th_echo *e, Tcl_Obj *command)
{
    if (is_blank(Tcl_GetString(command)))
        return TCL_OK;
    print(e->prompt, Tcl_GetString(command));
    int code = Tcl_EvalEx(e->interp, Tcl_GetString(command), -1, 0);
    const char *result = Tcl_GetStringResult(e->interp);
    if (code == TCL_OK && result[0] != '\0')
        print("", result);
    if (code == TCL_ERROR)
        Tcl_AppendObjToErrorInfo(
            e->interp, Tcl_ObjPrintf("\n    (file \"%s\" line %d)", Tcl_GetString(e->file),
                                     e->line + Tcl_GetErrorLine(e->interp) - 1));
    return code;
}

/* Runs the text command by command. A part that is not closed at the end is run too, which says
 * what is missing. */
static int run_text(th_echo *e, const char *text)
{
    Tcl_Obj *command = Tcl_NewObj();
    int code = TCL_OK, line = 1;
    Tcl_IncrRefCount(command);
    e->line = 1;
    for (size_t n; code == TCL_OK && *text != '\0'; text += n + (text[n] == '\n'), line++) {
        n = strcspn(text, "\n");
        if (Tcl_GetCharLength(command) > 0)
            Tcl_AppendToObj(command, "\n", 1);
        else
            e->line = line;
        Tcl_AppendToObj(command, text, (int)n);
        bool is_last = text[n] == '\0' || text[n + 1] == '\0';
        if (!is_last && !Tcl_CommandComplete(Tcl_GetString(command)))
            continue;
        code = run_command(e, command);
        Tcl_DecrRefCount(command);
        command = Tcl_NewObj();
        Tcl_IncrRefCount(command);
    }
    Tcl_DecrRefCount(command);
    return code == TCL_RETURN ? TCL_OK : code;
}

/* The text of the file, referenced; NULL with Tcl's error. */
static Tcl_Obj *read_all(Tcl_Interp *interp, Tcl_Obj *file)
{
    Tcl_Channel channel = Tcl_FSOpenFileChannel(interp, file, "r", 0);
    if (!channel)
        return NULL;
    Tcl_SetChannelOption(NULL, channel, "-encoding", "utf-8");
    Tcl_Obj *text = Tcl_NewObj();
    Tcl_IncrRefCount(text);
    bool is_read = Tcl_ReadChars(channel, text, -1, 0) >= 0;
    Tcl_Close(NULL, channel);
    if (is_read)
        return text;
    Tcl_SetObjResult(interp, Tcl_ObjPrintf("couldn't read file \"%s\": %s", Tcl_GetString(file),
                                           Tcl_PosixError(interp)));
    Tcl_DecrRefCount(text);
    return NULL;
}

/* "info script ?NAME?"; its result is referenced. */
static Tcl_Obj *info_script(Tcl_Interp *interp, Tcl_Obj *name)
{
    Tcl_Obj *words = Tcl_NewListObj(0, NULL);
    Tcl_IncrRefCount(words);
    Tcl_ListObjAppendElement(NULL, words, Tcl_NewStringObj("::info", -1));
    Tcl_ListObjAppendElement(NULL, words, Tcl_NewStringObj("script", -1));
    if (name)
        Tcl_ListObjAppendElement(NULL, words, name);
    Tcl_InterpState saved = Tcl_SaveInterpState(interp, TCL_OK);
    Tcl_EvalObjEx(interp, words, 0);
    Tcl_Obj *result = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(result);
    Tcl_RestoreInterpState(interp, saved);
    Tcl_DecrRefCount(words);
    return result;
}

static int echo(Tcl_Interp *interp, Tcl_Obj *file, const char *prompt)
{
    Tcl_Obj *text = read_all(interp, file);
    if (!text)
        return TCL_ERROR;
    Tcl_Obj *outer = info_script(interp, NULL);
    Tcl_DecrRefCount(info_script(interp, file));
    th_echo e = {.interp = interp, .file = file, .prompt = prompt};
    int code = run_text(&e, Tcl_GetString(text));
    Tcl_DecrRefCount(info_script(interp, outer));
    Tcl_DecrRefCount(outer);
    Tcl_DecrRefCount(text);
    if (code == TCL_OK)
        Tcl_ResetResult(interp);
    return code;
}

/* Tcl's own source runs without a level of C between, so that coroutines may yield in the file. */
static int source_nr(ClientData prompt, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    if (objc == 3 && strcmp(Tcl_GetString(objv[1]), "-echo") == 0)
        return echo(interp, objv[2], prompt);
    Tcl_Obj *command = Tcl_NewListObj(objc, objv);
    Tcl_Obj *name = Tcl_NewStringObj("::tharsis::Source", -1);
    Tcl_ListObjReplace(NULL, command, 0, 1, 1, &name);
    return Tcl_NREvalObj(interp, command, 0);
}

static int source_cmd(ClientData prompt, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    return Tcl_NRCallObjProc(interp, source_nr, prompt, objc, objv);
}

int th_source_create(Tcl_Interp *interp, const char *prompt)
{
    if (Tcl_Eval(interp, "rename ::source ::tharsis::Source") != TCL_OK)
        return TCL_ERROR;
    Tcl_NRCreateCommand(interp, "::source", source_cmd, source_nr, (ClientData)prompt, NULL);
    return TCL_OK;
}
