/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_help.c - core commands for help and completion: the command table as data, and what the
 * session has, by beginnings of names. Completion creates nothing: tasks are offered only once the
 * mapping has been lowered. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "session/table/legend.h"
#include "sim/design/design.h"
#include "tcl/core/lib_report.h"
#include "tcl/files.h"
#include "tcl/objects/object_name.h"
#include "tcl/tcl_session.h"

/* ---- the table ---- */

static void put(Tcl_Obj *dict, const char *key, Tcl_Obj *value)
{
    Tcl_DictObjPut(NULL, dict, th_lib_text(key), value);
}

static Tcl_Obj *names_of(const th_option *o)
{
    Tcl_Obj *names = Tcl_NewListObj(0, NULL);
    const char *name;
    for (int i = 0; (name = th_option_choice(o, i)); i++)
        th_lib_append(names, th_lib_text(name));
    return names;
}

static Tcl_Obj *option_of(const th_option *o)
{
    Tcl_Obj *dict = Tcl_NewDictObj();
    put(dict, "name", th_lib_text(o->name));
    put(dict, "value", th_lib_text(o->value));
    put(dict, "form",
        Tcl_ObjPrintf("%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : ""));
    put(dict, "help", th_lib_text(o->help));
    put(dict, "names", names_of(o));
    put(dict, "is_choice", Tcl_NewBooleanObj(o->kind == TH_OPTION_CHOICE));
    put(dict, "is_list", Tcl_NewBooleanObj(o->most > 0));
    put(dict, "is_file", Tcl_NewBooleanObj(o->file));
    return dict;
}

static Tcl_Obj *options_of(const th_option *o)
{
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (; o && o->name; o++)
        th_lib_append(all, option_of(o));
    return all;
}

/* commands: {NAME GROUP SUMMARY ALIAS_OF} of each row of the table. */
static int run_commands(th_call *c)
{
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++)
            TH_LIB_ADD(all, th_lib_text(row->name), th_lib_text(row->group),
                       row->summary ? th_lib_text(row->summary)
                                    : Tcl_ObjPrintf("the same as %s", row->alias_of),
                       th_lib_text(row->alias_of));
    return th_lib_give(c, all);
}

/* command NAME: its row, a dict, of an alias that of its command; empty: there is none. */
static int run_command(th_call *c)
{
    const th_command *row = th_command_find(th_call_word(c, 0));
    Tcl_Obj *dict = Tcl_NewDictObj();
    th_strbuf synopsis = TH_STRBUF_INIT;
    Tcl_SetObjResult(c->interp, dict);
    if (!row)
        return 0;
    th_command_synopsis(row, "\n", &synopsis);
    put(dict, "name", th_lib_text(row->name));
    put(dict, "group", th_lib_text(row->group));
    put(dict, "words", th_lib_text(row->words));
    put(dict, "has_words", Tcl_NewBooleanObj(row->max_words != 0));
    put(dict, "kinds", options_of(row->kinds));
    put(dict, "options", options_of(row->options));
    put(dict, "synopsis", th_lib_text(synopsis.text));
    put(dict, "summary", th_lib_text(row->summary));
    put(dict, "help", th_lib_text(row->help));
    put(dict, "example", th_lib_text(th_example_of(row->name)));
    th_strbuf_clear(&synopsis);
    return synopsis.failed ? th_error_no_memory(&c->err) : 0;
}

/* report_options: what most reports take. */
static int run_report_options(th_call *c)
{
    return th_lib_give(c, options_of(th_table_options));
}

static void put_word(Tcl_Obj *all, const char *kind, const char *of, const char *word)
{
    Tcl_ListObjAppendList(
        NULL, all,
        TH_LIB_LIST(th_lib_text(kind), Tcl_ObjPrintf("%s.%s", of, word), th_lib_text(word)));
}

/* words: KIND PLACE WORD ..., of what is no command, option or value of one. */
static int run_words(th_call *c)
{
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int k = 0; k < TH_N_CLASSES; k++)
        for (const th_attribute *a = th_attributes_of((th_class)k); a->name; a++)
            put_word(all, "Properties", th_class_name((th_class)k), a->name);
    for (const th_design_type *const *d = th_design_types; *d; d++) {
        put_word(all, "Designs", "type", (*d)->name);
        for (const th_design_key *key = (*d)->keys; key->name; key++)
            put_word(all, "Keys of designs", (*d)->name, key->name);
    }
    return th_lib_give(c, all);
}

/* legends COMMAND: of each report that it makes its name, then a list: TABLE COLUMN MEANING, three
 * by three; an empty table stands for all of them. */
static int run_legends(th_call *c)
{
    const char *report;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int i = 0; (report = th_legend_report(th_call_word(c, 0), i)); i++) {
        Tcl_Obj *rows = Tcl_NewListObj(0, NULL);
        for (const th_legend *l = th_legends; l->column; l++)
            if (strcmp(l->report, report) == 0)
                Tcl_ListObjAppendList(NULL, rows,
                                      TH_LIB_LIST(th_lib_text(l->table), th_lib_text(l->column),
                                                  th_lib_text(l->meaning)));
        Tcl_ListObjAppendList(NULL, all, TH_LIB_LIST(th_lib_text(report), rows));
    }
    return th_lib_give(c, all);
}

/* nearest NAME ?NAMES?: the most similar of the names, or of all commands; empty: none is similar.
 */
static int run_nearest(th_call *c)
{
    const char *commands[TH_COMMANDS_MAX + 1], *near;
    Tcl_Obj **words;
    int n = c->n_words > 1 ? th_lib_elements(c->words[1], -1, &words) : 0;
    const char **names = n > 0 ? th_alloc_array((size_t)n, sizeof *names) : NULL;
    if (n > 0 && !names)
        return th_error_no_memory(&c->err);
    for (int i = 0; i < n; i++)
        names[i] = Tcl_GetString(words[i]);
    near = names ? th_name_nearest(th_call_word(c, 0), names, (size_t)n)
                 : th_name_nearest(th_call_word(c, 0), commands, th_command_names(commands));
    th_call_return_text(c, near ? near : "");
    th_free(names);
    return 0;
}

/* ---- what the session has ---- */

enum { OBJECTS_MAX = 500 };

/* Names with a beginning, in a list. */
typedef struct th_offer {
    th_session *session;
    const char *word;
    Tcl_Obj *found;
    int n;
} th_offer;

static void offer(th_offer *o, th_class class, int64_t i)
{
    Tcl_Obj *name = th_object_name(o->session, (th_object){class, (int)i});
    Tcl_IncrRefCount(name);
    if (strncmp(Tcl_GetString(name), o->word, strlen(o->word)) == 0) {
        th_lib_append(o->found, name);
        o->n++;
    }
    Tcl_DecrRefCount(name);
}

/* Tasks: names are numbers, so those with a given beginning are found among millions without a
 * search. */
static void offer_tasks(th_offer *o)
{
    enum { TEN = 10 };
    const char *digits = strchr(o->word, '/') ? strchr(o->word, '/') + 1 : "";
    bool is_number = digits[strspn(digits, "0123456789")] == '\0';
    int64_t n = is_number ? th_class_count(o->session, TH_CLASS_TASK) : 0;
    int64_t first = strtol(digits, NULL, TEN), past = *digits != '\0' && first < n ? first + 1 : n;
    while (first < n && o->n < OBJECTS_MAX) {
        for (int64_t i = first; i < past && i < n && o->n < OBJECTS_MAX; i++)
            offer(o, TH_CLASS_TASK, i);
        if (first <= 0)
            break;
        first *= TEN;
        past *= TEN;
    }
}

static void offer_class(th_offer *o, th_class class)
{
    th_error ignored;
    size_t n = strlen(o->word), length = strlen(th_class_name(class));
    if (strncmp(th_class_name(class), o->word, n < length ? n : length) != 0 ||
        (class == TH_CLASS_TASK && !th_session_program(o->session)) ||
        th_class_need(o->session, class, &ignored) != 0)
        return;
    if (class == TH_CLASS_TASK)
        offer_tasks(o);
    else
        for (int32_t i = 0; i < th_class_count(o->session, class) && o->n < OBJECTS_MAX; i++)
            offer(o, class, i);
}

/* objects WORD: at most 500 that begin so, of the classes that it names or begins to name. */
static int run_objects(th_call *c)
{
    th_offer o = {c->session, th_call_word(c, 0), Tcl_NewListObj(0, NULL), 0};
    for (int k = 0; k < TH_N_CLASSES; k++)
        offer_class(&o, (th_class)k);
    return th_lib_give(c, o.found);
}

/* attributes OBJECT: their names; empty: there is no such object. */
static int run_attributes(th_call *c)
{
    th_object o;
    th_error ignored;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    if (th_object_parse(c->session, th_call_word(c, 0), &o, &ignored) == 0)
        for (const th_attribute *a = th_attributes_of(o.class); a->name; a++)
            th_lib_append(all, th_lib_text(a->name));
    return th_lib_give(c, all);
}

/* files COMMAND NAME: of the kind that its option, or its first word, reads. */
static int run_files(th_call *c)
{
    const th_command *row = th_command_find(th_call_word(c, 0));
    const th_option *lists[] = {row ? row->options : NULL, row ? row->kinds : NULL};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (const th_option *o = lists[k]; o && o->name; o++)
            if (o->file && strcmp(o->name, th_call_word(c, 1)) == 0) {
                Tcl_Obj *names = th_file_names(c->session, o->file);
                Tcl_SetObjResult(c->interp, names);
                Tcl_DecrRefCount(names);
                return 0;
            }
    return 0;
}

/* runs: the names of those that are saved. */
static int run_runs(th_call *c)
{
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (size_t i = 0; i < c->session->saved.n; i++)
        th_lib_append(all, th_lib_text(c->session->saved.all[i]->name));
    return th_lib_give(c, all);
}

/* is_typed: was the present command typed at the prompt? */
static int run_is_typed(th_call *c)
{
    return th_lib_give(c, Tcl_NewBooleanObj(th_session_is_typed(c->session)));
}

const th_command th_core_help_commands[] = {
    TH_CORE_ROW("nearest", "NAME ?NAMES?", 1, 2, run_nearest),
    TH_CORE_ROW("is_typed", "", 0, 0, run_is_typed),
    TH_CORE_ROW("commands", "", 0, 0, run_commands),
    TH_CORE_ROW("command", "NAME", 1, 1, run_command),
    TH_CORE_ROW("report_options", "", 0, 0, run_report_options),
    TH_CORE_ROW("words", "", 0, 0, run_words),
    TH_CORE_ROW("legends", "COMMAND", 1, 1, run_legends),
    TH_CORE_ROW("objects", "WORD", 1, 1, run_objects),
    TH_CORE_ROW("attributes", "OBJECT", 1, 1, run_attributes),
    TH_CORE_ROW("files", "COMMAND NAME", 2, 2, run_files),
    TH_CORE_ROW("runs", "", 0, 0, run_runs),
    {.name = NULL},
};
