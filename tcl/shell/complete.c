/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.c - see complete.h.
 *   Complete: position of the word -> candidates for it -> their common prefix and the candidates
 * Completion creates nothing: tasks are offered only once the mapping has been lowered. */
#include <config.h>
#include "tcl/shell/complete.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/object_name.h"
#include <stdlib.h>
#include <string.h>
#include "tcl/files.h"
#include "tcl/objects/breakpoint.h"
#include "report/objects/objects.h"

enum { DEEPEST = 64, MOST = 500 };

typedef struct th_span {
    const char *text;
    int length;
} th_span;

/* An unfinished command of the line: the number of its words, the first and the last of them.
 * Within braces, which may hold a script or a list, also the command around them. */
typedef struct th_open_command {
    int n_words;
    th_span first, last, outer_first, outer_last;
} th_open_command;

typedef struct th_completion {
    th_session *session;
    Tcl_Interp *interp;
    th_open_command command;
    const th_command *row; /* NULL: none of the table */
    const char *word;
    size_t length;  /* of word */
    Tcl_Obj *found; /* list */
    int n_found;
} th_completion;

/* ---- position of the word ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool ends_word(char c)
{
    return is_blank(c) || strchr("[]{};\n\"", c);
}

/* The nested commands that are unfinished at the end of the text, the innermost last. */
static th_open_command innermost(const char *line, int end)
{
    th_open_command stack[DEEPEST] = {{0}};
    int depth = 0;
    for (int i = 0; i < end;) {
        th_open_command *b = &stack[depth];
        char c = line[i];
        if ((c == '[' || c == '{') && depth + 1 < DEEPEST) {
            stack[++depth] = (th_open_command){0};
            if (c == '{')
                stack[depth].outer_first = b->first, stack[depth].outer_last = b->last;
        } else if ((c == ']' || c == '}') && depth > 0) {
            stack[--depth].n_words++;
        } else if (c == ';' || c == '\n') {
            *b = (th_open_command){0};
        } else if (!ends_word(c)) {
            int from = i;
            while (i < end && !ends_word(line[i]))
                i++;
            b->last = (th_span){line + from, i - from};
            if (b->n_words++ == 0)
                b->first = b->last;
            continue;
        }
        i++;
    }
    return stack[depth];
}

static bool is_word(th_span s, const char *text)
{
    return (size_t)s.length == strlen(text) && strncmp(s.text, text, (size_t)s.length) == 0;
}

static const th_command *row_of(th_span name)
{
    char text[64];
    if (name.length <= 0 || name.length >= (int)sizeof text)
        return NULL;
    memcpy(text, name.text, (size_t)name.length);
    text[name.length] = '\0';
    return th_command_find(text);
}

/* ---- candidates ---- */

static void offer_obj(th_completion *c, Tcl_Obj *candidate)
{
    Tcl_IncrRefCount(candidate);
    if (strncmp(Tcl_GetString(candidate), c->word, c->length) == 0 && c->n_found < MOST) {
        Tcl_ListObjAppendElement(NULL, c->found, candidate);
        c->n_found++;
    }
    Tcl_DecrRefCount(candidate);
}

static void offer(th_completion *c, const char *candidate)
{
    offer_obj(c, Tcl_NewStringObj(candidate, -1));
}

/* The elements of the list that a Tcl command returns, each after a prefix. */
static void offer_of_tcl(th_completion *c, const char *prefix, const char *script)
{
    Tcl_Obj **elements;
    Tcl_Size n;
    if (Tcl_EvalEx(c->interp, script, -1, TCL_EVAL_GLOBAL) == TCL_OK) {
        Tcl_Obj *list = Tcl_GetObjResult(c->interp);
        Tcl_IncrRefCount(list);
        if (Tcl_ListObjGetElements(NULL, list, &n, &elements) == TCL_OK)
            for (Tcl_Size i = 0; i < n; i++)
                offer_obj(c, Tcl_ObjPrintf("%s%s", prefix, Tcl_GetString(elements[i])));
        Tcl_DecrRefCount(list);
    }
    Tcl_ResetResult(c->interp);
}

static void offer_commands(th_completion *c)
{
    if (c->length > 0) {
        offer_of_tcl(c, "", "lsort [info commands]");
        return;
    }
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++)
            offer(c, row->name);
}

static void offer_options(th_completion *c)
{
    for (const th_option *o = c->row->options; o && o->name; o++)
        offer(c, o->name);
    offer(c, "-help");
}

static void offer_choices(th_completion *c, const th_option *o)
{
    const char *name;
    for (int i = 0; (name = th_option_choice(o, i)); i++)
        offer(c, name);
}

/* Tasks: names are numbers, so those with a given beginning are found among millions without a
 * search. */
static void offer_tasks(th_completion *c)
{
    enum { TEN = 10 };
    const char *digits = strchr(c->word, '/') ? strchr(c->word, '/') + 1 : "";
    bool is_number = digits[strspn(digits, "0123456789")] == '\0';
    int64_t n = is_number ? th_class_count(c->session, TH_CLASS_TASK) : 0;
    int64_t first = strtol(digits, NULL, TEN), past = *digits != '\0' && first < n ? first + 1 : n;
    while (first < n && c->n_found < MOST) {
        for (int64_t i = first; i < past && i < n && c->n_found < MOST; i++)
            offer_obj(c, th_object_name(c->session, (th_object){TH_CLASS_TASK, (int)i}));
        if (first <= 0)
            break;
        first *= TEN;
        past *= TEN;
    }
}

/* Objects of the classes that the word names, or begins to name. */
static void offer_objects(th_completion *c)
{
    for (int k = 0; k < TH_N_CLASSES; k++) {
        const char *class = th_class_name((th_class)k);
        size_t length = strlen(class);
        bool may_be = strncmp(class, c->word, c->length < length ? c->length : length) == 0;
        th_error ignored;
        if (!may_be || (k == TH_CLASS_TASK && !th_session_program(c->session)) ||
            th_class_need(c->session, (th_class)k, &ignored) != 0)
            continue;
        if (k == TH_CLASS_TASK) {
            offer_tasks(c);
            continue;
        }
        int32_t n = th_class_count(c->session, (th_class)k);
        for (int32_t i = 0; i < n && c->n_found < MOST; i++)
            offer_obj(c, th_object_name(c->session, (th_object){(th_class)k, i}));
    }
}

/* "accel/3.": its attributes. Names may hold dots, so the object is what stands before the last
 * one. */
static void offer_paths(th_completion *c)
{
    th_object o;
    th_error ignored;
    const char *dot = strrchr(c->word, '.');
    Tcl_Obj *name = Tcl_NewStringObj(c->word, dot ? (int)(dot - c->word) : 0);
    Tcl_IncrRefCount(name);
    if (dot && th_object_parse(c->session, Tcl_GetString(name), &o, &ignored) == 0)
        for (const th_attribute *a = th_attributes_of(o.class); a->name; a++)
            offer_obj(c, Tcl_ObjPrintf("%s.%s", Tcl_GetString(name), a->name));
    Tcl_DecrRefCount(name);
    if (c->n_found == 0)
        offer_objects(c);
}

static void offer_runs(th_completion *c)
{
    for (size_t i = 0; i < c->session->saved.n; i++)
        offer(c, c->session->saved.all[i]->name);
}

/* The names of a dictionary that lib/study.tcl has. */
static void offer_studies(th_completion *c)
{
    Tcl_Interp *interp = th_tcl_of(c->session)->interp;
    Tcl_Obj *studies = Tcl_GetVar2Ex(interp, "::tharsis::lib::studies", NULL, TCL_GLOBAL_ONLY);
    Tcl_Obj *name;
    Tcl_DictSearch search;
    int is_done = 1;
    if (!studies || Tcl_DictObjFirst(NULL, studies, &search, &name, NULL, &is_done) != TCL_OK)
        return;
    for (; !is_done; Tcl_DictObjNext(&search, &name, NULL, &is_done))
        offer(c, Tcl_GetString(name));
    Tcl_DictObjDone(&search);
}

static void offer_breakpoints(th_completion *c)
{
    for (size_t i = 0; i < th_tcl_of(c->session)->n_breakpoints; i++)
        offer(c, th_tcl_of(c->session)->breakpoints[i]->name);
}

/* By the placeholder in the synopsis. Where nothing is offered here, the shell offers files. */
static void offer_named(th_completion *c, const char *synopsis)
{
    static const char *const objects[] = {"OBJECT", "NODE",  "LINK",    "ACCEL",
                                          "TASK",   "LAYER", "PATTERN", "CONDITION"};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (strstr(synopsis, objects[i])) {
            offer_objects(c);
            break;
        }
    if (strstr(synopsis, "RUN"))
        offer_runs(c);
    if (strstr(synopsis, "STUDY"))
        offer_studies(c);
    if (strstr(synopsis, "BREAKPOINT"))
        offer_breakpoints(c);
}

/* Behind an object, its attributes. */
static void offer_attributes(th_completion *c)
{
    th_object o;
    th_error ignored;
    Tcl_Obj *name = Tcl_NewStringObj(c->command.last.text, c->command.last.length);
    Tcl_IncrRefCount(name);
    if (th_object_parse(c->session, Tcl_GetString(name), &o, &ignored) == 0)
        for (const th_attribute *a = th_attributes_of(o.class); a->name; a++)
            offer(c, a->name);
    Tcl_DecrRefCount(name);
}

/* Files of the kind that the command reads. */
static void offer_files(th_completion *c, const th_file_kind *kind)
{
    Tcl_Obj *names = th_file_names(c->session, kind), **name;
    Tcl_Size n;
    Tcl_ListObjGetElements(NULL, names, &n, &name);
    for (Tcl_Size i = 0; i < n; i++)
        offer_obj(c, name[i]);
    Tcl_DecrRefCount(names);
}

/* ---- candidates by position ---- */

/* The option whose value follows this word; NULL: the word is no option. */
static const th_option *option_of(const th_command *row, th_span word)
{
    for (const th_option *o = row ? row->options : NULL; o && o->name; o++)
        if (o->kind != TH_OPTION_FLAG && is_word(word, o->name))
            return o;
    return NULL;
}

static void offer_value(th_completion *c, const th_option *o)
{
    if (o->file)
        offer_files(c, o->file);
    if (o->choice || o->names)
        offer_choices(c, o);
    else if (!o->file && o->value)
        offer_named(c, o->value);
}

/* "-metrics {latency en": an element of a list. false: the braces are those of a script. */
static bool offer_element(th_completion *c)
{
    const th_option *o = option_of(row_of(c->command.outer_first), c->command.outer_last);
    if (!o || (o->most == 0 && !o->choice))
        return false;
    offer_value(c, o);
    return true;
}

static void offer_argument(th_completion *c)
{
    const th_option *o = option_of(c->row, c->command.last);
    const th_option *kinds = c->row->kinds;
    bool takes_attribute = strstr(c->row->words, "ATTRIBUTE");
    if (is_word(c->command.last, ">") || is_word(c->command.last, ">>"))
        return;
    if (o)
        offer_value(c, o);
    else if (c->word[0] == '-')
        offer_options(c);
    else if (strcmp(c->row->name, "help") == 0)
        offer_commands(c);
    else if (kinds && kinds->file)
        offer_files(c, kinds->file);
    else if (takes_attribute && c->command.n_words == 2)
        offer_attributes(c);
    else if (takes_attribute && strchr(c->row->words, '.'))
        offer_paths(c);
    else if (c->length == 0 && c->row->max_words == 0)
        offer_options(c);
    else
        offer_named(c, c->row->words);
}

static void offer_all(th_completion *c)
{
    if (c->word[0] == '$')
        offer_of_tcl(c, "$", "lsort [info globals]");
    else if (offer_element(c))
        return;
    else if (c->command.n_words == 0)
        offer_commands(c);
    else if (c->row)
        offer_argument(c);
    else if (c->length > 0)
        offer_objects(c);
}

/* ---- the answer ---- */

static Tcl_Obj *common_beginning(Tcl_Obj *const *words, Tcl_Size n)
{
    const char *first = Tcl_GetString(words[0]);
    size_t length = strlen(first);
    for (Tcl_Size i = 1; i < n; i++) {
        const char *other = Tcl_GetString(words[i]);
        size_t same = 0;
        while (same < length && first[same] == other[same])
            same++;
        length = same;
    }
    return Tcl_NewStringObj(first, (int)length);
}

/* The word of readline may begin elsewhere than ours: candidates are cut or extended to fit. */
static Tcl_Obj *as_asked(const char *candidate, const char *line, int from, int start)
{
    if (start >= from)
        return Tcl_NewStringObj(candidate + (start - from), -1);
    Tcl_Obj *longer = Tcl_NewStringObj(line + start, from - start);
    Tcl_AppendToObj(longer, candidate, -1);
    return longer;
}

static void answer(th_completion *c, const char *line, int from, int start)
{
    Tcl_Obj **words, *result = Tcl_NewListObj(0, NULL), *asked = Tcl_NewListObj(0, NULL);
    Tcl_Size n;
    Tcl_IncrRefCount(asked);
    Tcl_ListObjGetElements(NULL, c->found, &n, &words);
    for (Tcl_Size i = 0; i < n; i++)
        Tcl_ListObjAppendElement(NULL, asked, as_asked(Tcl_GetString(words[i]), line, from, start));
    Tcl_ListObjGetElements(NULL, asked, &n, &words);
    if (n > 0)
        Tcl_ListObjAppendElement(NULL, result, common_beginning(words, n));
    for (Tcl_Size i = 0; n > 1 && i < n; i++)
        Tcl_ListObjAppendElement(NULL, result, words[i]);
    Tcl_DecrRefCount(asked);
    Tcl_SetObjResult(c->interp, result);
}

static int complete(ClientData session, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    int start, end;
    if (objc != 5) {
        Tcl_WrongNumArgs(interp, 1, objv, "WORD START END LINE");
        return TCL_ERROR;
    }
    const char *line = Tcl_GetString(objv[4]);
    if (Tcl_GetIntFromObj(interp, objv[2], &start) != TCL_OK ||
        Tcl_GetIntFromObj(interp, objv[3], &end) != TCL_OK)
        return TCL_ERROR;
    int length = (int)strlen(line);
    end = end < 0 ? 0 : end > length ? length : end;
    int from = end;
    while (from > 0 && !ends_word(line[from - 1]))
        from--;
    Tcl_Obj *word = Tcl_NewStringObj(line + from, end - from);
    Tcl_IncrRefCount(word);
    th_completion c = {.session = session,
                       .interp = interp,
                       .command = innermost(line, from),
                       .word = Tcl_GetString(word),
                       .length = (size_t)(end - from),
                       .found = Tcl_NewListObj(0, NULL)};
    Tcl_IncrRefCount(c.found);
    c.row = row_of(c.command.first);
    offer_all(&c);
    answer(&c, line, from, start < 0 ? 0 : start > end ? end : start);
    Tcl_DecrRefCount(c.found);
    Tcl_DecrRefCount(word);
    return TCL_OK;
}

void th_complete_create(Tcl_Interp *interp, th_session *s)
{
    Tcl_CreateObjCommand(interp, "::tharsis::Complete", complete, s, NULL);
}
