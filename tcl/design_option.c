/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_option.c - see design_option.h.
 *   list -> name, type -> (find | add to every accelerator) -> keys -> keep those of -designs */
#include <config.h>
#include "tcl/design_option.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"

static const char place[] = "-design"; /* stands for a file's name in messages */

/* The value of a key of the list; NULL: it is not there. */
static const char *find(Tcl_Obj **words, Tcl_Size n, const char *key)
{
    for (Tcl_Size i = 0; i < n; i += 2)
        if (strcmp(Tcl_GetString(words[i]), key) == 0)
            return Tcl_GetString(words[i + 1]);
    return NULL;
}

static int add_to_accelerators(th_system *s, int design, th_error *err)
{
    for (int i = 0; i < s->n_accels; i++) {
        th_accel *a = &s->nodes[s->accel_node[i]].a;
        int *designs = th_realloc_array(a->designs, (size_t)a->n_designs + 1, sizeof *designs);
        if (!designs)
            return th_error_no_memory(err);
        a->designs = designs;
        a->designs[a->n_designs++] = design;
    }
    return 0;
}

/* From here on, messages about the design name the option. */
static int has_moved(th_system *s, int design, th_error *err)
{
    char *file = th_arena_string(s->names.text, place);
    if (!file)
        return th_error_no_memory(err);
    s->designs[design].file = file;
    s->designs[design].line = 1;
    return 0;
}

/* The design that the list is about, or -1. */
static int design_of(th_system *s, const char *name, const char *type, th_error *err)
{
    int design = th_system_find_design(s, name);
    if (design < 0 && !type)
        return th_error_set(err, "TCL-0144",
                            "-design: there is no design \"%s\" to change: a new one needs a type",
                            name);
    if (design >= 0 && type && strcmp(type, s->designs[design].type) != 0)
        return th_error_set(
            err, "TCL-0149",
            "-design: \"%s\" exists with type %s: must have that type, or another name", name,
            s->designs[design].type);
    if (design >= 0)
        return has_moved(s, design, err) != 0 ? -1 : design;
    design = th_system_add_design(s, name, type, place, 1, err);
    return design < 0 || add_to_accelerators(s, design, err) != 0 ? -1 : design;
}

bool th_design_option_gave(const th_design_block *d)
{
    return d->file && strcmp(d->file, place) == 0;
}

/* As in a system file: a number, true or false, or a text. */
static th_param param_of(Tcl_Obj *key, Tcl_Obj *value)
{
    th_param p = {.key = Tcl_GetString(key), .kind = TH_PARAM_NUMBER, .line = 1};
    const char *text = Tcl_GetString(value);
    if (Tcl_GetDoubleFromObj(NULL, value, &p.number) == TCL_OK)
        return p;
    p.number = strcmp(text, "true") == 0;
    p.kind = p.number != 0 || strcmp(text, "false") == 0 ? TH_PARAM_BOOL : TH_PARAM_TEXT;
    if (p.kind == TH_PARAM_TEXT)
        p.text = Tcl_GetString(value);
    return p;
}

int th_design_option_apply(const th_value *list, th_system *s, th_error *err)
{
    Tcl_Obj **words = list->words;
    Tcl_Size n = 2 * list->n;
    if (!find(words, n, "name"))
        return th_error_set(err, "TCL-0147", "-design \"%.60s\": must have a name among its keys",
                            Tcl_GetString(list->word));
    int design = design_of(s, find(words, n, "name"), find(words, n, "type"), err);
    if (design < 0)
        return -1;
    for (Tcl_Size i = 0; i < n; i += 2) {
        th_param p = param_of(words[i], words[i + 1]);
        if (strcmp(p.key, "name") != 0 && strcmp(p.key, "type") != 0 &&
            th_system_set_param(s, design, &p, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_among(const th_value *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(Tcl_GetString(names->words[i]), name) == 0)
            return true;
    return false;
}

static int keep_of(const th_value *names, th_system *s, th_node *node, th_error *err)
{
    int n = 0;
    for (int i = 0; i < node->a.n_designs; i++)
        if (is_among(names, s->designs[node->a.designs[i]].name))
            node->a.designs[n++] = node->a.designs[i];
    if (n == 0)
        return th_error_set(
            err, "TCL-2981", "-designs \"%.60s\": must have a design of accel/%s, such as %s",
            Tcl_GetString(names->word), node->name, s->designs[node->a.designs[0]].name);
    node->a.n_designs = n;
    return 0;
}

int th_design_option_keep(const th_value *names, th_system *s, th_error *err)
{
    for (int i = 0; i < names->n; i++)
        if (th_system_find_design(s, Tcl_GetString(names->words[i])) < 0)
            return th_error_set(err, "TCL-2982",
                                "-designs: there is no design \"%.60s\": must be one of the file, "
                                "such as %s, or that of -design",
                                Tcl_GetString(names->words[i]), s->designs[0].name);
    for (int i = 0; i < s->n_accels; i++)
        if (keep_of(names, s, &s->nodes[s->accel_node[i]], err) != 0)
            return -1;
    return 0;
}
