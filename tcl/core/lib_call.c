/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib_call.c - commands that are procedures of lib/: NAME of the table is ::tharsis::lib::NAME.
 *   th_lib_run: the row's options -> a dict -> the procedure -> its result, of a report a
 *   description that becomes tables -> printed
 * The procedure gets the options that were given, checked, without their "-": a flag is 1, a time
 * ps, a bandwidth bits per second, a size bytes, a percentage a share of 1, a list of objects their
 * names. It fails as a core command does, by an error whose
 * code is {THARSIS AREA NUMBER TEXT}; any other error is one of lib/ itself. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "session/store.h"
#include "tcl/core/lib_report.h"
#include "tcl/objects/object_name.h"
#include "tcl/safe_interp.h"
#include "tcl/tcl_session.h"

enum { WORDS_MAX = 4 }; /* of a procedure */

const th_call *th_lib_caller(const th_call *c)
{
    const th_call *caller = th_tcl_of(c->session)->lib_call;
    return caller ? caller : c;
}

static Tcl_Obj *names_of_objects(const th_call *c, const th_value *v)
{
    Tcl_Obj *names = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < v->n; i++)
        th_lib_append(names, th_object_name(c->session, v->objects[i]));
    return names;
}

static Tcl_Obj *value_of(const th_call *c, const th_option *o, const th_value *v)
{
    bool is_number = o->kind <= TH_OPTION_BYTES && o->kind != TH_OPTION_TEXT && o->most == 0;
    if (o->kind == TH_OPTION_PERCENT && o->most == 0)
        return Tcl_NewDoubleObj(v->real);
    if (o->kind == TH_OPTION_CHOICE && o->most == 0)
        return th_lib_text(th_option_choice(o, (int)v->number));
    if (o->kind == TH_OPTION_OBJECT && o->most > 0)
        return names_of_objects(c, v);
    return is_number ? Tcl_NewWideIntObj(v->number) : v->word;
}

static Tcl_Obj *options_of(const th_call *c)
{
    Tcl_Obj *all = Tcl_NewDictObj();
    const th_option *options = c->command->options;
    for (int i = 0; options && options[i].name; i++)
        if (th_call_has(c, i))
            Tcl_DictObjPut(NULL, all, th_lib_text(options[i].name + 1),
                           value_of(c, &options[i], &c->option[i]));
    Tcl_Obj *words = Tcl_NewListObj(0, NULL);
    for (int i = 0, n_kinds = 0; i < c->n_words; i++) {
        n_kinds += c->command->kinds && n_kinds == i && c->command->kinds[i].name;
        th_lib_append(words,
                      i < n_kinds ? value_of(c, &c->command->kinds[i], &c->word[i]) : c->words[i]);
    }
    Tcl_DictObjPut(NULL, all, th_lib_text("words"), words);
    return all;
}

int th_lib_fault(th_call *c, const char *what)
{
    return th_error_set(&c->err, "TCL-1722", "a fault of Tharsis itself, in lib/: %s", what);
}

int th_lib_take_error(th_call *c, int code)
{
    enum { WORDS = 4 }; /* THARSIS AREA NUMBER TEXT */
    char id[TH_ERROR_ID_MAX];
    int number;
    Tcl_Size n = 0;
    Tcl_Obj **word, *list = NULL, *key = th_lib_text("-errorcode");
    Tcl_Obj *how = Tcl_GetReturnOptions(c->interp, code);
    if (Tcl_Canceled(c->interp, 0) == TCL_ERROR)
        th_error_interrupted(&c->err, "");
    else if (Tcl_DictObjGet(NULL, how, key, &list) == TCL_OK && list &&
             Tcl_ListObjGetElements(NULL, list, &n, &word) == TCL_OK && n == WORDS &&
             strcmp(Tcl_GetString(word[0]), "THARSIS") == 0 &&
             Tcl_GetIntFromObj(NULL, word[2], &number) == TCL_OK &&
             snprintf(id, sizeof id, "%s-%04d", Tcl_GetString(word[1]), number) < (int)sizeof id)
        th_error_set(&c->err, id, "%s", Tcl_GetString(word[WORDS - 1]));
    else
        th_lib_fault(c, Tcl_GetStringResult(c->interp));
    Tcl_DecrRefCount(key);
    Tcl_DecrRefCount(how);
    Tcl_ResetResult(c->interp); /* the traceback through lib/ */
    return -1;
}

int th_lib_call(th_call *c, const char *procedure, int n, Tcl_Obj *const *words)
{
    th_tcl_session *t = th_tcl_of(c->session);
    const th_call *outer = t->lib_call;
    th_store *outer_store = t->store;
    Tcl_Obj *all[1 + WORDS_MAX] = {Tcl_ObjPrintf("::tharsis::lib::%s", procedure)};
    for (int i = 0; i < n; i++)
        all[1 + i] = words[i];
    t->lib_call = c;
    t->store = NULL;
    int code = th_eval_words(c->interp, 1 + n, all);
    th_store_close(t->store);
    t->store = outer_store;
    Tcl_DeleteCommand(c->interp, TH_WHERE_INTERP);
    t->lib_call = outer;
    return code == TCL_OK ? 0 : th_lib_take_error(c, code);
}

int th_lib_run(th_call *c)
{
    Tcl_Obj *options = options_of(c);
    th_tcl_of(c->session)->was_stopped = false;
    if (th_lib_call(c, c->command->name, 1, &options) != 0)
        return -1;
    if (th_tcl_of(c->session)->was_stopped)
        return th_call_cancel(c, Tcl_GetStringResult(c->interp));
    return c->command->is_report ? th_lib_report(c, Tcl_GetObjResult(c->interp)) : 0;
}

/* Prints a text, or writes it to a file, where it has a path. */
static int put_out(th_call *c, Tcl_Obj *path, Tcl_Obj *text)
{
    th_strbuf bytes = TH_STRBUF_INIT;
    if (Tcl_GetString(path)[0] == '\0')
        return th_session_print(c->session, Tcl_GetString(text), &c->err);
    th_strbuf_add(&bytes, Tcl_GetString(text));
    int failed = th_session_write_file(c->session, Tcl_GetString(path), false, &bytes, &c->err);
    th_strbuf_clear(&bytes);
    return failed;
}

int th_lib_run_help(th_call *c)
{
    Tcl_Obj *texts, **x, *options = options_of(c);
    if (th_lib_call(c, "help", 1, &options) != 0)
        return -1;
    Tcl_IncrRefCount(texts = Tcl_GetObjResult(c->interp));
    int failed = 0, n = th_lib_elements(texts, -1, &x);
    for (int i = 0; !failed && i + 1 < n; i += 2)
        failed = put_out(c, x[i], x[i + 1]);
    Tcl_DecrRefCount(texts);
    Tcl_ResetResult(c->interp);
    return failed;
}

int th_lib_read(th_call *c, const char *procedure, int n, Tcl_Obj *const *words, th_strbuf *text,
                th_strbuf *notes)
{
    Tcl_Obj **part;
    if (th_lib_call(c, procedure, n, words) != 0)
        return -1;
    if (th_lib_elements(Tcl_GetObjResult(c->interp), 2, &part) < 0)
        return th_lib_fault(c, "a reader");
    th_strbuf_add(text, Tcl_GetString(part[0]));
    th_strbuf_add(notes, Tcl_GetString(part[1]));
    Tcl_ResetResult(c->interp);
    return text->failed || notes->failed ? th_error_no_memory(&c->err) : 0;
}
