/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option_value.c - values of options, and of words that have a kind, checked by their rows.
 *   parse -> (parse_list ->) parse_one    what the text alone tells, before anything else
 *   resolve -> resolve_one                objects, nodes, runs and files, once the run that is due
 *                                         is made
 * One id per kind: command, option, the text, what was expected. */
#include <config.h>
#include "tcl/command.h"
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "base/files/open_file.h"
#include "base/units.h"
#include "session/saved_run.h"
#include "tcl/files.h"

/* ---- names ---- */

const char *th_option_choice(const th_option *o, int i)
{
    return o->names ? o->names[i] : o->choice ? o->choice(i) : NULL;
}

/* The number of the name; -1: it is none of the option's. */
static int find_name(const th_option *o, const char *text)
{
    const char *name;
    for (int i = 0; (name = th_option_choice(o, i)); i++)
        if (strcmp(name, text) == 0)
            return i;
    return -1;
}

static int parse_choice(th_call *c, const th_option *o, const char *text, int64_t *out)
{
    enum { CHOICES_MAX = 64 };
    const char *names[CHOICES_MAX + 1] = {NULL};
    *out = find_name(o, text);
    for (int n = 0; *out < 0 && n < CHOICES_MAX && (names[n] = th_option_choice(o, n)); n++)
        ;
    return *out >= 0 ? 0 : th_error_unknown(&c->err, "TCL-0003", o->name, text, names);
}

/* ---- numbers ---- */

static int parse_integer(th_call *c, const th_option *o, Tcl_Obj *word, th_value *v)
{
    Tcl_WideInt number;
    const char *text = Tcl_GetString(word);
    if (Tcl_GetWideIntFromObj(NULL, word, &number) == TCL_OK && number >= o->minimum &&
        number <= o->maximum) {
        v->number = number;
        return 0;
    }
    if (o->maximum == INT64_MAX)
        return th_error_set(&c->err, "TCL-0004", "%s \"%.40s\": must be an integer, at least %lld",
                            o->name, text, (long long)o->minimum);
    return th_error_set(&c->err, "TCL-0005", "%s \"%.40s\": must be an integer from %lld to %lld",
                        o->name, text, (long long)o->minimum, (long long)o->maximum);
}

/* "above 0%, at most 100%" */
static const char *describe_range(const th_option *o, char *out, size_t size)
{
    bool is_share = o->kind == TH_OPTION_PERCENT;
    const char *unit = is_share ? "%" : "";
    double scale = is_share ? 100 : 1, low = scale * o->low, high = scale * o->high;
    if (o->high == 0)
        snprintf(out, size, "%s %.10g%s", o->range == TH_CLOSED ? "at least" : "above", low, unit);
    else if (o->range == TH_BETWEEN)
        snprintf(out, size, "between %.10g%s and %.10g%s", low, unit, high, unit);
    else if (o->range == TH_ABOVE)
        snprintf(out, size, "above %.10g%s, at most %.10g%s", low, unit, high, unit);
    else
        snprintf(out, size, "from %.10g%s to %.10g%s", low, unit, high, unit);
    return out;
}

static bool is_in_range(const th_option *o, double x)
{
    bool is_above = o->range == TH_CLOSED ? x >= o->low : x > o->low;
    bool is_below = o->high == 0 || (o->range == TH_BETWEEN ? x < o->high : x <= o->high);
    return is_above && is_below && x - x == 0;
}

static int parse_real(th_call *c, const th_option *o, Tcl_Obj *word, double *out)
{
    char range[100];
    const char *text = Tcl_GetString(word);
    bool is_read = o->kind == TH_OPTION_PERCENT ? th_parse_percent(text, out) == 0
                                                : Tcl_GetDoubleFromObj(NULL, word, out) == TCL_OK;
    if (is_read && is_in_range(o, *out))
        return 0;
    return th_error_set(&c->err, "TCL-2320", "%s \"%.40s\": must be a %s, %s", o->name, text,
                        o->kind == TH_OPTION_PERCENT ? "percentage as 5%" : "number",
                        describe_range(o, range, sizeof range));
}

static int parse_duration(th_call *c, const th_option *o, const char *text, double *out)
{
    th_error e;
    if (th_parse_seconds(text, out, &e) != 0)
        return th_call_prefix_error(c, o->name, &e);
    if (is_in_range(o, *out))
        return 0;
    return th_error_set(&c->err, "TCL-2321", "%s \"%.40s\": must be %s above 0", o->name, text,
                        strchr(o->value, '|') ? o->value : "a time");
}

/* ---- quantities ---- */

typedef int parse_text(const char *text, int64_t *out, th_error *err);
typedef char *format_number(int64_t number, char *out, size_t size);

static int parse_quantity(th_call *c, const th_option *o, const char *text, int64_t *out)
{
    parse_text *parse = o->kind == TH_OPTION_TIME        ? th_parse_time
                        : o->kind == TH_OPTION_BANDWIDTH ? th_parse_bandwidth
                                                         : th_parse_bytes;
    format_number *format = o->kind == TH_OPTION_TIME        ? th_format_time
                            : o->kind == TH_OPTION_BANDWIDTH ? th_format_bandwidth
                                                             : th_format_bytes;
    char limit[64];
    th_error e;
    if (parse(text, out, &e) != 0)
        return th_call_prefix_error(c, o->name, &e);
    if (*out < o->minimum)
        return th_error_set(&c->err, "TCL-2322", "%s \"%.40s\": must be %s %s", o->name, text,
                            o->minimum == 1 ? "more than" : "at least",
                            o->minimum == 1 ? "0" : format(o->minimum, limit, sizeof limit));
    if (o->maximum > 0 && *out > o->maximum)
        return th_error_set(&c->err, "TCL-2323", "%s \"%.40s\": must be at most %s", o->name, text,
                            format(o->maximum, limit, sizeof limit));
    return 0;
}

/* ---- a value, and lists of them ---- */

static bool is_looked_up(const th_option *o)
{
    return o->kind >= TH_OPTION_OBJECT;
}

/* What the text alone tells. */
static int parse_one(th_call *c, const th_option *o, Tcl_Obj *word, th_value *v)
{
    const char *text = Tcl_GetString(word);
    bool has_names = o->kind != TH_OPTION_CHOICE && o->kind != TH_OPTION_TEXT && !o->is_pairs;
    if (has_names && (v->number = find_name(o, text)) >= 0) {
        v->is_name = true;
        return 0;
    }
    switch (o->kind) {
    case TH_OPTION_FLAG:
        v->number = 1;
        return 0;
    case TH_OPTION_INTEGER:
        return parse_integer(c, o, word, v);
    case TH_OPTION_TIME:
    case TH_OPTION_BANDWIDTH:
    case TH_OPTION_BYTES:
        return parse_quantity(c, o, text, &v->number);
    case TH_OPTION_CHOICE:
        return parse_choice(c, o, text, &v->number);
    case TH_OPTION_NUMBER:
    case TH_OPTION_PERCENT:
        return parse_real(c, o, word, &v->real);
    case TH_OPTION_DURATION:
        return parse_duration(c, o, text, &v->real);
    case TH_OPTION_TEXT:
    case TH_OPTION_OBJECT:
    case TH_OPTION_NODE:
    case TH_OPTION_RUNS:
    case TH_OPTION_FILE:
        return 0;
    }
    return 0;
}

static int resolve_object(th_call *c, const th_option *o, const char *text, th_object *out)
{
    static const char *const nouns[TH_N_CLASSES] = {
        [TH_CLASS_ACCEL] = "an accelerator", [TH_CLASS_LINK] = "a link", [TH_CLASS_NODE] = "a node",
        [TH_CLASS_LAYER] = "a layer",        [TH_CLASS_TASK] = "a task",
    };
    char wanted[100] = "";
    th_error e;
    if (th_object_parse(c->session, text, out, &e) != 0) {
        c->err = e;
        return o->name[0] == '-' ? th_call_prefix_error(c, o->name, &e) : -1;
    }
    int accel = out->class == TH_CLASS_NODE ? c->session->system->nodes[out->index].accel : -1;
    if (accel >= 0 && (o->classes & TH_BIT(TH_CLASS_ACCEL)) != 0)
        *out = (th_object){TH_CLASS_ACCEL, accel};
    if (o->classes == 0 || (o->classes & TH_BIT(out->class)) != 0)
        return 0;
    for (int k = 0, n = 0; k < TH_N_CLASSES; k++)
        if ((o->classes & TH_BIT(k)) != 0)
            n += snprintf(wanted + n, sizeof wanted - (size_t)n, "%s%s", n > 0 ? " or " : "",
                          nouns[k]);
    return th_error_set(&c->err, "TCL-2324", "%s \"%.100s\": must be %s", o->name, text, wanted);
}

static int resolve_node(th_call *c, const th_option *o, const char *text, int64_t *out)
{
    int node = -1;
    if (th_session_need_system(c->session, &c->err) == 0)
        node = th_node_parse(c->session, text, &c->err);
    *out = node;
    if (node < 0)
        return th_call_prefix_error(c, o->name, &c->err);
    if (o->classes == 0 || c->session->system->nodes[node].kind == TH_NODE_ACCEL)
        return 0;
    return th_error_set(&c->err, "TCL-2325", "%s \"%.100s\": must be an accelerator", o->name,
                        text);
}

/* A file by its path, which is none of the names. */
static int resolve_path(th_call *c, const th_option *o, Tcl_Obj *word, th_value *v)
{
    enum { NAMES_MAX = 32 };
    const char *names[NAMES_MAX + 1] = {NULL}, *path = Tcl_FSGetNativePath(word);
    char what[80];
    if (path && (th_file_is_there(path) || !th_option_choice(o, 0))) {
        v->path = th_alloc_string(path);
        return v->path ? 0 : th_error_no_memory(&c->err);
    }
    for (int i = 0; i < NAMES_MAX && (names[i] = th_option_choice(o, i)); i++)
        ;
    snprintf(what, sizeof what, "%s, a file or a name,", o->name);
    return th_error_unknown(&c->err, "TCL-2333", what, Tcl_GetString(word), names);
}

/* What the session alone tells. */
static int resolve_one(th_call *c, const th_option *o, Tcl_Obj *word, th_value *v)
{
    const char *text = Tcl_GetString(word);
    if (o->kind == TH_OPTION_OBJECT)
        return resolve_object(c, o, text, &v->object);
    if (o->kind == TH_OPTION_NODE)
        return resolve_node(c, o, text, &v->number);
    if (o->kind == TH_OPTION_FILE && !o->file)
        return resolve_path(c, o, word, v);
    if (o->kind != TH_OPTION_FILE)
        return 0;
    Tcl_Obj *path = th_file_find(c->session, o->file, word, &c->err);
    if (!path)
        return -1;
    v->path = th_alloc_string(Tcl_FSGetNativePath(path));
    Tcl_DecrRefCount(path);
    return v->path ? 0 : th_error_no_memory(&c->err);
}

/* "4x4x8" is "4 4 8". */
static bool is_product(const char *text)
{
    enum { DIGITS_MAX = 9 };
    for (;;) {
        size_t n = strspn(text, "0123456789");
        if (n == 0 || n > DIGITS_MAX || (text[n] != 'x' && text[n] != '\0'))
            return false;
        if (text[n] == '\0')
            return true;
        text += n + 1;
    }
}

/* A list of its own, of whose words nobody takes the list away. */
static Tcl_Obj *list_of(const th_option *o, Tcl_Obj *word)
{
    Tcl_Obj *list = Tcl_DuplicateObj(word);
    if (o->is_extents && is_product(Tcl_GetString(word))) {
        char *text = Tcl_GetString(list);
        for (char *x = strchr(text, 'x'); x; x = strchr(x, 'x'))
            *x = ' ';
    }
    return list;
}

/* Splits the list into v->words; n: how many values it has. */
static int split_list(th_call *c, const th_option *o, Tcl_Obj *word, th_value *v)
{
    char counts[60] = "";
    Tcl_Size n = 0;
    int per = o->is_pairs ? 2 : 1, most = o->most > 0 ? o->most : TH_MANY;
    v->list = list_of(o, word);
    Tcl_IncrRefCount(v->list);
    bool is_list = Tcl_ListObjGetElements(NULL, v->list, &n, &v->words) == TCL_OK;
    v->n = (int)n / per;
    if (is_list && n % per == 0 && v->n >= o->least && v->n <= most)
        return 0;
    if (o->least == most)
        snprintf(counts, sizeof counts, " of %d elements", most);
    else if (most < TH_MANY)
        snprintf(counts, sizeof counts, " of %d to %d elements", o->least, most);
    else if (o->least > 0)
        snprintf(counts, sizeof counts, " of at least one element");
    return th_error_set(&c->err, "TCL-2326", "%s \"%.60s\": must be %s, a list%s%s", o->name,
                        Tcl_GetString(word), o->value, o->is_pairs ? " of pairs" : "", counts);
}

static bool is_twice(const th_option *o, const th_value *v, int i)
{
    bool by_index = is_looked_up(o) || o->is_pairs, by_number = o->kind == TH_OPTION_CHOICE;
    for (int k = 0; k < i; k++)
        if (by_index    ? v->indices[k] == v->indices[i]
            : by_number ? v->numbers[k] == v->numbers[i]
                        : strcmp(Tcl_GetString(v->words[k]), Tcl_GetString(v->words[i])) == 0)
            return true;
    return false;
}

/* Element or pair i of a list that was split, by parse_one or resolve_one. */
static int take_element(th_call *c, const th_option *o, th_value *v, int i)
{
    char name[80];
    int64_t first = 0;
    int per = o->is_pairs ? 2 : 1;
    const char *text = Tcl_GetString(v->words[per * i]);
    Tcl_Obj *word = v->words[per * i + per - 1];
    th_value one = {.number = 0};
    th_option element = *o;
    snprintf(name, sizeof name, "%s %s", o->name, text);
    if (o->is_pairs && (o->names || o->choice) && parse_choice(c, o, text, &first) != 0)
        return -1;
    if (o->is_pairs)
        element.name = name;
    if (is_looked_up(o) ? resolve_one(c, &element, word, &one) : parse_one(c, &element, word, &one))
        return -1;
    v->numbers[i] = one.number;
    v->reals[i] = one.real;
    v->objects[i] = one.object;
    v->indices[i] = (int32_t)(o->is_pairs                   ? first
                              : o->kind == TH_OPTION_OBJECT ? one.object.index
                                                            : one.number);
    if (!o->is_distinct || !is_twice(o, v, i))
        return 0;
    return th_error_set(&c->err, "TCL-2327", "%s: \"%.100s\" is given twice", o->name, text);
}

static int take_elements(th_call *c, const th_option *o, th_value *v)
{
    size_t n = (size_t)v->n + 1;
    v->numbers = th_alloc_zero(n, sizeof *v->numbers);
    v->reals = th_alloc_zero(n, sizeof *v->reals);
    v->indices = th_alloc_zero(n, sizeof *v->indices);
    v->objects = th_alloc_zero(n, sizeof *v->objects);
    if (!v->numbers || !v->reals || !v->indices || !v->objects)
        return th_error_no_memory(&c->err);
    for (int i = 0; i < v->n; i++)
        if (take_element(c, o, v, i) != 0)
            return -1;
    return 0;
}

/* ---- patterns of objects ---- */

/* Appends the names of the objects of the class that the pattern matches, by their whole names or
 * without "accel/". Layers and tasks are meant by "layer/" and "task/" alone, accelerators among
 * nodes by "node/". Returns how many, or -1. */
static int append_of_class(th_call *c, th_class class, const char *pattern, Tcl_Obj *names)
{
    th_session *s = c->session;
    size_t length = strlen(th_class_name(class));
    bool is_named = strncmp(pattern, th_class_name(class), length) == 0 && pattern[length] == '/';
    int found = 0;
    if (!is_named && (class == TH_CLASS_LAYER || class == TH_CLASS_TASK))
        return 0;
    if (th_class_need(s, class, &c->err) != 0)
        return -1;
    for (int32_t i = 0; i < th_class_count(s, class); i++) {
        const char *bare = th_object_short_name(s, (th_object){class, i});
        Tcl_Obj *name = Tcl_ObjPrintf("%s/%s", th_class_name(class), bare);
        bool is_hidden = !is_named && class == TH_CLASS_NODE && s->system->nodes[i].accel >= 0;
        Tcl_IncrRefCount(name);
        if (!is_hidden &&
            (Tcl_StringMatch(Tcl_GetString(name), pattern) || Tcl_StringMatch(bare, pattern))) {
            Tcl_ListObjAppendElement(NULL, names, name);
            found++;
        }
        Tcl_DecrRefCount(name);
    }
    return found;
}

static int append_matching(th_call *c, const th_option *o, Tcl_Obj *word, Tcl_Obj *names)
{
    const char *pattern = Tcl_GetString(word);
    th_object exact;
    int n = 0;
    if (!strpbrk(pattern, "*?[") || th_object_parse(c->session, pattern, &exact, NULL) == 0)
        return Tcl_ListObjAppendElement(NULL, names, word);
    for (int k = 0; k < TH_N_CLASSES; k++) {
        int more = o->classes == 0 || (o->classes & TH_BIT(k)) != 0
                       ? append_of_class(c, (th_class)k, pattern, names)
                       : 0;
        if (more < 0)
            return -1;
        n += more;
    }
    return n > 0 ? 0
                 : th_error_set(&c->err, "TCL-2334", "%s \"%.100s\": no object matches", o->name,
                                pattern);
}

/* "8-15": accelerators by number. */
static bool is_range(const char *text, int64_t *first, int64_t *last)
{
    enum { DIGITS_MAX = 9 };
    size_t n = strspn(text, "0123456789"),
           m = text[n] == '-' ? strspn(text + n + 1, "0123456789") : 0;
    if (n == 0 || n > DIGITS_MAX || m == 0 || m > DIGITS_MAX || text[n + 1 + m] != '\0')
        return false;
    *first = strtoll(text, NULL, 10);
    *last = strtoll(text + n + 1, NULL, 10);
    return true;
}

static int append_range(th_call *c, const th_option *o, Tcl_Obj *word, Tcl_Obj *names)
{
    int64_t first, last;
    if (th_session_need_system(c->session, &c->err) != 0)
        return -1;
    const th_system *s = c->session->system;
    const char *text = Tcl_GetString(word);
    if (!is_range(text, &first, &last) || th_object_find(c->session, TH_CLASS_NODE, text) >= 0)
        return Tcl_ListObjAppendElement(NULL, names, word);
    if (first > last || last >= s->n_accels)
        return th_error_set(&c->err, "TCL-0937",
                            "%s \"%.40s\": must be a range within the accelerators, 0-%d", o->name,
                            text, s->n_accels - 1);
    for (; first <= last; first++)
        Tcl_ListObjAppendElement(NULL, names,
                                 Tcl_NewStringObj(s->nodes[s->accel_node[first]].name, -1));
    return 0;
}

/* The list with names in place of patterns and ranges. */
static int expand_patterns(th_call *c, const th_option *o, th_value *v)
{
    Tcl_Obj *names = Tcl_NewListObj(0, NULL);
    int failed = 0;
    Tcl_IncrRefCount(names);
    for (int i = 0; i < v->n && !failed; i++)
        failed =
            (o->kind == TH_OPTION_NODE ? append_range : append_matching)(c, o, v->words[i], names);
    Tcl_DecrRefCount(v->list);
    v->list = names;
    Tcl_ListObjGetElements(NULL, names, &v->n, &v->words);
    return failed;
}

static int find_runs(th_call *c, th_value *v)
{
    v->runs.all = th_alloc_array((size_t)v->n + 1, sizeof(th_saved_run *));
    if (!v->runs.all)
        return th_error_no_memory(&c->err);
    for (; v->runs.n < v->n; v->runs.n++)
        if (!(v->runs.all[v->runs.n] =
                  th_saved_run_find(c->session, Tcl_GetString(v->words[v->runs.n]), &c->err)))
            return -1;
    return 0;
}

static bool is_list(const th_option *o)
{
    return o->most > 0 || o->kind == TH_OPTION_RUNS;
}

int th_value_parse(th_call *c, const th_option *o, Tcl_Obj *word, th_value *v)
{
    int failed = 0;
    if (!is_list(o))
        failed = parse_one(c, o, word, v);
    else if (!is_looked_up(o))
        failed = split_list(c, o, word, v) || take_elements(c, o, v);
    if (!failed)
        v->word = word;
    return failed ? -1 : 0;
}

int th_value_resolve(th_call *c, const th_option *o, th_value *v)
{
    if (!v->word || !is_looked_up(o) || v->is_name)
        return 0;
    if (!is_list(o))
        return resolve_one(c, o, v->word, v);
    if (split_list(c, o, v->word, v) != 0)
        return -1;
    if ((o->kind == TH_OPTION_OBJECT || o->kind == TH_OPTION_NODE) && expand_patterns(c, o, v) != 0)
        return -1;
    return o->kind == TH_OPTION_RUNS ? find_runs(c, v) : take_elements(c, o, v);
}

int th_call_find_runs(th_call *c, int i)
{
    static const th_option runs = {"RUNS", TH_OPTION_RUNS, "RUNS"};
    c->word[i].word = c->words[i];
    return th_value_resolve(c, &runs, &c->word[i]);
}

void th_value_clear(th_value *v)
{
    if (v->list)
        Tcl_DecrRefCount(v->list);
    th_free(v->path);
    th_free(v->numbers);
    th_free(v->reals);
    th_free(v->indices);
    th_free(v->objects);
    th_free(v->runs.all);
}

/* ---- options together ---- */

/* The first of the options that is given; NULL: none is. names: divided by blanks, or that of the
 * first word. */
static const char *first_given(const th_call *c, const char *names)
{
    for (const th_option *o = c->command->options; o && o->name; o++) {
        const char *at = strstr(names, o->name);
        size_t n = strlen(o->name);
        if (at && (at[n] == ' ' || at[n] == '\0') && th_call_has(c, (int)(o - c->command->options)))
            return o->name;
    }
    const th_option *kinds = c->command->kinds;
    return kinds && c->n_words > 0 && strcmp(names, kinds->name) == 0 ? kinds->name : NULL;
}

static int check_together(th_call *c, const th_option *o)
{
    const char *other = o->without ? first_given(c, o->without) : NULL;
    if (other)
        return th_error_set(&c->err, "TCL-2328", "%s and %s exclude each other", o->name, other);
    if (o->with && !first_given(c, o->with))
        return th_error_set(&c->err, "TCL-2329", "%s: needs %s%s", o->name,
                            strchr(o->with, ' ') ? "one of " : "", o->with);
    return 0;
}

int th_options_check_together(th_call *c)
{
    const th_option *options = c->command->options, *kinds = c->command->kinds;
    for (const th_option *o = options; o && o->name; o++) {
        bool is_given = th_call_has(c, (int)(o - options));
        if (o->required && !is_given && !(o->unless && first_given(c, o->unless))) {
            const char *first = o->unless ? o->unless : "", *second = strchr(first, ' ');
            return th_error_set(&c->err, "TCL-0008", "%s %s: is required%s%.*s%s%s", o->name,
                                o->value, *first ? ", or " : "",
                                second ? (int)(second - first) : (int)strlen(first), first,
                                second ? " or" : "", second ? second : "");
        }
        if (is_given && check_together(c, o) != 0)
            return -1;
    }
    for (int i = 0; kinds && kinds[i].name && i < c->n_words; i++)
        if (check_together(c, &kinds[i]) != 0)
            return -1;
    return 0;
}
