/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_objects.c - get_accels, get_links, get_nodes, get_layers, get_tasks. */
#include <config.h>
#include <ctype.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/object_name.h"
#include "tcl/objects/condition.h"
#include "base/interrupt.h"
#include "session/objects/objects.h"

#define GROUP "objects"

enum { GET_FILTER, GET_OF, GET_QUIET };

static const th_option get_options[] = {
    [GET_FILTER] =
        {"-filter", TH_OPTION_TEXT, "{ATTRIBUTE OP LITERAL}",
         "Only objects for which this holds; OP is == != < <= > >= or =~ (glob pattern). Several "
         "are joined by && || ! ( ), as in the conditions of breakpoints. Where none is left, the "
         "list is empty."},
    [GET_OF] = {"-of", TH_OPTION_OBJECT, "OBJECTS", "Only objects related to one of these.",
                .most = TH_MANY},
    [GET_QUIET] = {"-quiet", TH_OPTION_FLAG, NULL,
                   "No error if a pattern, or all together, match nothing."},
    {.name = NULL},
};

/* ---- -filter, -of ---- */

/* A list of three words is one comparison, so that [list design == $name] works for any name. */
static int parse_filter(th_call *c, th_class class, th_condition **out)
{
    Tcl_Obj **words;
    Tcl_Size n;
    th_error e;
    const char *text = th_call_text(c, GET_FILTER, "");
    *out = NULL;
    if (!th_call_has(c, GET_FILTER))
        return 0;
    bool is_list = Tcl_ListObjGetElements(NULL, c->option[GET_FILTER].word, &n, &words) == TCL_OK;
    if (is_list && n < 3 && !strpbrk(text, "=<>"))
        return th_error_set(&c->err, "TCL-0081", "-filter \"%s\": must be {ATTRIBUTE OP LITERAL}",
                            text);
    *out = is_list && n == 3 && !strpbrk(Tcl_GetString(words[0]), "!(")
               ? th_condition_compare(class, Tcl_GetString(words[0]), Tcl_GetString(words[1]),
                                      Tcl_GetString(words[2]), &e)
               : th_condition_compile_of(c->session, class, text, &e);
    return *out ? 0 : th_call_prefix_error(c, "-filter", &e);
}

static bool touches_any(th_session *s, th_object o, const th_value *of)
{
    for (int i = 0; i < of->n; i++)
        if (th_objects_touch(s, o, of->objects[i]))
            return true;
    return !of->word;
}

/* ---- patterns ---- */

/* The words of the call, and the elements of those that are lists, since names have no blanks.
 * Names are looked up first, as lists may be long; only words that are no names are matched against
 * every object. */
typedef struct th_patterns {
    Tcl_Obj *list;
    Tcl_Obj **all;
    Tcl_Size n, n_open;
    Tcl_Size *open; /* indices of the words that are no names */
    bool *is_met;   /* by the name of an object, wanted or not */
    bool *is_named; /* by object */
} th_patterns;

static void drop_patterns(th_patterns *p)
{
    th_free(p->open);
    th_free(p->is_named);
    th_free(p->is_met);
    if (p->list)
        Tcl_DecrRefCount(p->list);
}

/* The pattern without "accel/". */
static const char *bare(const char *pattern, th_class class)
{
    size_t prefix = strlen(th_class_name(class));
    return strncmp(pattern, th_class_name(class), prefix) == 0 && pattern[prefix] == '/'
               ? pattern + prefix + 1
               : pattern;
}

/* A task also matches the name of its layer, which may itself be a number. */
static bool is_layer_of_tasks(const th_session *s, th_class class, const char *name)
{
    return class == TH_CLASS_TASK && s->workload && th_object_find(s, TH_CLASS_LAYER, name) >= 0;
}

static int look_up_names(th_call *c, th_class class, th_patterns *p)
{
    p->open = th_alloc_array((size_t)p->n + 1, sizeof *p->open);
    p->is_met = th_alloc_zero((size_t)p->n + 1, sizeof *p->is_met);
    p->is_named = th_alloc_zero((size_t)th_class_count(c->session, class) + 1, sizeof *p->is_named);
    if (!p->open || !p->is_met || !p->is_named)
        return th_error_no_memory(&c->err);
    for (Tcl_Size i = 0; i < p->n; i++) {
        const char *name = bare(Tcl_GetString(p->all[i]), class);
        int32_t index = th_object_find(c->session, class, name);
        if (index >= 0)
            p->is_named[index] = p->is_met[i] = true;
        if (index < 0 || is_layer_of_tasks(c->session, class, name))
            p->open[p->n_open++] = i;
    }
    return 0;
}

static int take_patterns(th_call *c, th_class class, th_patterns *out)
{
    *out = (th_patterns){.list = Tcl_NewListObj(0, NULL)};
    Tcl_IncrRefCount(out->list);
    for (int i = 0; i < c->n_words; i++) {
        bool is_list = strpbrk(th_call_word(c, i), " \t\n");
        if (is_list && Tcl_ListObjAppendList(NULL, out->list, c->words[i]) != TCL_OK)
            return th_error_set(&c->err, "TCL-0084",
                                "\"%.100s\": must be a pattern, or a list of patterns",
                                th_call_word(c, i));
        if (!is_list)
            Tcl_ListObjAppendElement(NULL, out->list, c->words[i]);
    }
    Tcl_ListObjGetElements(NULL, out->list, &out->n, &out->all);
    return look_up_names(c, class, out);
}

static const char *task_layer(const th_session *s, th_object o)
{
    int32_t layer = o.class == TH_CLASS_TASK ? th_session_program(s)->tasks[o.index].layer : -1;
    return layer >= 0 ? s->workload->layers[layer].name : NULL;
}

static bool matches(th_call *c, th_object o, th_patterns *p)
{
    bool does = p->n == 0 || p->is_named[o.index];
    if (p->n_open == 0)
        return does;
    const char *name = th_object_short_name(c->session, o), *layer = task_layer(c->session, o);
    for (Tcl_Size i = 0; i < p->n_open; i++) {
        const char *pattern = bare(Tcl_GetString(p->all[p->open[i]]), o.class);
        if (Tcl_StringMatch(name, pattern) || (layer && Tcl_StringMatch(layer, pattern)))
            does = p->is_met[p->open[i]] = true;
    }
    return does;
}

/* For a pattern that matched nothing: always -1. Tasks are named by number or by layer. */
static int unmet(th_call *c, th_class class, const char *pattern)
{
    th_object o;
    if (strpbrk(pattern, "*?[\\"))
        return th_error_set(&c->err, "TCL-0085", "no %s matches \"%.100s\"; -quiet ignores it",
                            th_class_name(class), pattern);
    if (class == TH_CLASS_TASK && (!c->session->workload || isdigit((unsigned char)*pattern)))
        return th_object_parse_task(c->session, pattern, &o, &c->err);
    return th_object_unknown(c->session, class == TH_CLASS_TASK ? TH_CLASS_LAYER : class, pattern,
                             &c->err);
}

static int check_all_met(th_call *c, th_class class, const th_patterns *p)
{
    for (Tcl_Size i = 0; i < p->n; i++)
        if (!p->is_met[i])
            return unmet(c, class, bare(Tcl_GetString(p->all[i]), class));
    return 0;
}

typedef struct th_wanted {
    th_patterns patterns;
    th_condition *filter; /* NULL: none */
} th_wanted;

/* 1, 0, or -1 with c->err. */
static int is_wanted(th_call *c, th_object o, th_wanted *w)
{
    if (!matches(c, o, &w->patterns) || !touches_any(c->session, o, &c->option[GET_OF]))
        return 0;
    return w->filter ? th_condition_holds_of(w->filter, c->session, o, &c->err) : 1;
}

/* Appends the names of the requested objects. 0 or -1. */
static int collect(th_call *c, th_class class, th_wanted *w, Tcl_Obj *names)
{
    int32_t n = th_class_count(c->session, class);
    for (int32_t i = 0; i < n; i++) {
        th_object o = {class, i};
        int is = th_interrupt_is_pending() ? th_error_interrupted(&c->err, "nothing is returned")
                                           : is_wanted(c, o, w);
        if (is < 0)
            return -1;
        if (is == 1)
            Tcl_ListObjAppendElement(NULL, names, th_object_name(c->session, o));
    }
    return 0;
}

static int return_wanted(th_call *c, th_class class, th_wanted *w)
{
    Tcl_Size found = 0;
    Tcl_Obj *names = Tcl_NewListObj(0, NULL);
    Tcl_IncrRefCount(names);
    int failed = collect(c, class, w, names);
    Tcl_ListObjLength(NULL, names, &found);
    if (!failed && !th_call_has(c, GET_QUIET))
        failed = check_all_met(c, class, &w->patterns);
    if (!failed && found == 0 && !w->filter && !th_call_has(c, GET_QUIET))
        failed =
            th_error_set(&c->err, "TCL-0083", "there is no such %s; -quiet returns an empty list",
                         th_class_name(class));
    if (!failed)
        Tcl_SetObjResult(c->interp, names);
    Tcl_DecrRefCount(names);
    return failed;
}

/* The class that the command is named after: get_accels. */
static th_class class_of(const th_call *c)
{
    const char *name = c->command->name + strlen("get_");
    th_class class = TH_CLASS_ACCEL;
    while (strncmp(name, th_class_name(class), strlen(th_class_name(class))) != 0)
        class ++;
    return class;
}

static int run_get(th_call *c)
{
    th_class class = class_of(c);
    th_wanted w = {.filter = NULL};
    int failed = -1;
    if ((th_call_has(c, GET_FILTER) || th_call_has(c, GET_OF)) &&
        th_session_make_due_run(c->session, &c->err) != 0)
        return -1;
    if (th_class_need(c->session, class, &c->err) == 0 && parse_filter(c, class, &w.filter) == 0) {
        failed = take_patterns(c, class, &w.patterns) == 0 ? return_wanted(c, class, &w) : -1;
        drop_patterns(&w.patterns);
    }
    th_condition_free(w.filter);
    return failed;
}

#define GET_HELP                                                                                   \
    "Patterns are glob patterns, with or without the class prefix, or lists of them. Names are "   \
    "returned in the order of the system, workload or program. "

const th_command th_object_commands[] = {
    {"get_accels", GROUP, "?PATTERN ...?", 0, -1, get_options, "return accelerators by name",
     GET_HELP, .run = run_get, .ignores_run = true},
    {"get_links", GROUP, "?PATTERN ...?", 0, -1, get_options, "return links by name", GET_HELP,
     .run = run_get, .ignores_run = true},
    {"get_nodes", GROUP, "?PATTERN ...?", 0, -1, get_options,
     "return nodes by name: accelerators, hosts, switches", GET_HELP, .run = run_get,
     .ignores_run = true},
    {"get_layers", GROUP, "?PATTERN ...?", 0, -1, get_options, "return layers by name", GET_HELP,
     .run = run_get},
    {"get_tasks", GROUP, "?PATTERN ...?", 0, -1, get_options,
     "return tasks by number or by their layer",
     GET_HELP "Needs a mapping, which is lowered if nothing has run yet.", .run = run_get,
     .ignores_run = true},
    {.name = NULL},
};
