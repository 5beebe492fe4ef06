/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_read.c - see table_read.h. */
#include <config.h>
#include <jansson.h>
#include <string.h>
#include <yaml.h>
#include "base/files/csv.h"
#include "base/files/text_file.h"
#include "base/names.h"
#include "tcl/core/lib_report.h"
#include "tcl/core/table_read.h"

/* Bytes that are no UTF-8 become characters of Latin-1, and characters of four bytes what Tcl has
 * for them: on others "string tolower" of Tcl 8.6 writes behind its end. */
static Tcl_Obj *text_of(const char *text)
{
    size_t n = 0;
    while ((signed char)text[n] > 0)
        n++;
    if (text[n] == '\0')
        return Tcl_NewStringObj(text, (int)n);
    Tcl_DString valid;
    Tcl_Encoding utf8 = Tcl_GetEncoding(NULL, "utf-8");
    Tcl_ExternalToUtfDString(utf8, text, -1, &valid);
    Tcl_Obj *made = Tcl_NewStringObj(Tcl_DStringValue(&valid), Tcl_DStringLength(&valid));
    Tcl_DStringFree(&valid);
    Tcl_FreeEncoding(utf8);
    return made;
}

/* ---- CSV ---- */

static Tcl_Obj *read_csv(const char *path, char *text, bool has_lines, Tcl_Obj **about,
                         th_error *err)
{
    th_csv csv = th_csv_open(path, text);
    Tcl_Obj *rows = Tcl_NewListObj(0, NULL);
    int status;
    while ((status = th_csv_next(&csv, err)) > 0) {
        Tcl_Obj *row = Tcl_NewListObj(0, NULL);
        if (has_lines)
            th_lib_append(row, Tcl_NewIntObj(csv.line));
        for (int f = 0; f < csv.n_fields; f++)
            th_lib_append(row, text_of(csv.field[f]));
        th_lib_append(rows, row);
    }
    if (status == 0 && about)
        *about = Tcl_NewIntObj(!csv.rest && csv.line > 0);
    th_csv_clear(&csv);
    if (status == 0)
        return rows;
    Tcl_DecrRefCount(rows);
    return NULL;
}

Tcl_Obj *th_table_columns(const char *path, char *text, const char *const *names, int n_required,
                          th_strbuf *notes, th_error *err)
{
    th_csv csv = th_csv_open(path, text);
    Tcl_Obj *rows = Tcl_NewListObj(0, NULL);
    int n = 0, status = th_csv_first(&csv, err);
    while (names[n])
        n++;
    int place[n + 1];
    if (status == 0)
        status = th_csv_place(&csv, names, n_required, place, notes, err);
    while (status == 0 && (status = th_csv_row(&csv, err)) > 0) {
        Tcl_Obj *row = TH_LIB_LIST(Tcl_NewIntObj(csv.line));
        for (int i = 0; i < n; i++)
            th_lib_append(row, text_of(place[i] < 0 ? "" : csv.field[place[i]]));
        th_lib_append(rows, row);
        status = 0;
    }
    th_csv_note_cut(&csv, notes);
    th_csv_clear(&csv);
    if (status == 0)
        return rows;
    Tcl_DecrRefCount(rows);
    return NULL;
}

static Tcl_Obj *told(bool is_told, const char *kind, Tcl_Obj *value)
{
    return is_told ? Tcl_NewListObj(2, (Tcl_Obj *[]){text_of(kind), value}) : value;
}

/* ---- JSON ---- */

/* The kinds behind ";NAME:" in the members; NULL: it is not there. */
static const char *kinds_of(const char *members, const char *name)
{
    char key[60]; /* longer than any of them */
    snprintf(key, sizeof key, ";%s:", name);
    const char *at = strstr(members, key);
    return at ? at + strlen(key) : NULL;
}

/* That a value, or an element of it, is of another kind; NULL: it is not. jansson bounds the
 * depth. */
static Tcl_Obj *fault_of(const char *name, const json_t *value, const char *kinds)
{
    static const char *const known[] = {"object", "list",  "text",  "number",
                                        "number", "truth", "truth", "null"}; /* as json_type */
    const char *kind = known[json_typeof(value)];
    int n = (int)strcspn(kinds, " ;");
    if (strncmp(kind, kinds, (size_t)n) != 0)
        return Tcl_ObjPrintf("%s: must be of kind %.*s, not %s", name, n, kinds, kind);
    Tcl_Obj *fault = NULL;
    for (size_t i = 0; kinds[n] == ' ' && !fault && i < json_array_size(value); i++) {
        char element[60];
        snprintf(element, sizeof element, "%s[%zu]", name, i);
        fault = fault_of(element, json_array_get(value, i), kinds + n + 1);
    }
    return fault;
}

static Tcl_Obj *of_json(const json_t *value, const char *only, bool is_told)
{
    const char *key;
    json_t *member;
    size_t i;
    Tcl_Obj *made;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        made = Tcl_NewDictObj();
        json_object_foreach((json_t *)value, key, member)
        {
            const char *kinds = only ? kinds_of(only, key) : "";
            Tcl_Obj *fault = only && kinds ? fault_of(key, member, kinds) : NULL;
            if (kinds)
                Tcl_DictObjPut(NULL, made, text_of(fault ? "" : key),
                               fault ? fault : of_json(member, only, is_told));
        }
        return told(is_told, "object", made);
    case JSON_ARRAY:
        made = Tcl_NewListObj(0, NULL);
        json_array_foreach(value, i, member) th_lib_append(made, of_json(member, only, is_told));
        return told(is_told, "list", made);
    case JSON_STRING:
        return told(is_told, "text", text_of(json_string_value(value)));
    case JSON_INTEGER:
        return told(is_told, "number", Tcl_NewWideIntObj(json_integer_value(value)));
    case JSON_REAL:
        return told(is_told, "number", Tcl_NewDoubleObj(json_real_value(value)));
    case JSON_TRUE:
    case JSON_FALSE:
        return told(is_told, "truth", Tcl_NewIntObj(json_is_true(value)));
    case JSON_NULL:
        break;
    }
    return told(is_told, "null", Tcl_NewObj());
}

Tcl_Obj *th_table_json(const char *path, const th_strbuf *text, const char *only, bool is_told,
                       th_error *err)
{
    json_error_t problem;
    size_t flags = only ? 0 : JSON_REJECT_DUPLICATES;
    json_t *root = json_loadb(text->text, text->length, flags, &problem);
    if (!root) {
        th_error_set(err, "TCL-1840", "%s:%d: not JSON: %s", path,
                     problem.line > 0 ? problem.line : 1, problem.text);
        return NULL;
    }
    if (only && json_is_array(root)) /* the first member */
        root = json_pack("{s#:o}", only + 1, (int)strcspn(only, ":") - 1, root);
    Tcl_Obj *made = root ? of_json(root, only, is_told) : NULL;
    if (!made)
        th_error_no_memory(err);
    json_decref(root);
    return made;
}

/* ---- YAML ---- */

/* An alias stands for all of its anchor: what they make together is bounded. */
enum { MOST_NODES = 1 << 24, DEEPEST = 1000 };

typedef struct {
    const char *path;
    yaml_parser_t parser;
    yaml_document_t document;
    int n_nodes; /* MOST_NODES: the walk has failed */
    th_error *err;
} yaml_walk;

static Tcl_Obj *of_yaml(yaml_walk *w, int index, bool is_told, int depth);

static void put_pair(yaml_walk *w, const yaml_node_pair_t *p, bool is_told, int depth,
                     Tcl_Obj *made)
{
    Tcl_Obj *key = of_yaml(w, p->key, false, depth), *before = NULL;
    Tcl_IncrRefCount(key);
    Tcl_DictObjGet(NULL, made, key, &before);
    if (before && w->n_nodes < MOST_NODES) {
        const yaml_node_t *n = yaml_document_get_node(&w->document, p->key);
        th_error_set(w->err, "TCL-2383", "%s:%d: key \"%.60s\" is given twice", w->path,
                     (int)n->start_mark.line + 1, Tcl_GetString(key));
        w->n_nodes = MOST_NODES;
    }
    Tcl_DictObjPut(NULL, made, key, of_yaml(w, p->value, is_told, depth));
    Tcl_DecrRefCount(key);
}

static Tcl_Obj *of_yaml(yaml_walk *w, int index, bool is_told, int depth)
{
    const yaml_node_t *n = yaml_document_get_node(&w->document, index);
    const char *kind = "object";
    Tcl_Obj *made = Tcl_NewObj();
    if (w->n_nodes == MOST_NODES) {
        kind = "null";
    } else if (++w->n_nodes == MOST_NODES || depth > DEEPEST) {
        th_error_set(w->err, "TCL-1841",
                     "%s: aliases or depth make it too large: %d nodes, %d deep", w->path,
                     (int)MOST_NODES, (int)DEEPEST);
        w->n_nodes = MOST_NODES; /* ends the walk */
    } else if (n->type == YAML_SCALAR_NODE) {
        kind = "scalar";
        Tcl_SetStringObj(made, (const char *)n->data.scalar.value, (int)n->data.scalar.length);
    } else if (n->type == YAML_SEQUENCE_NODE) {
        kind = "list";
        for (const int *item = n->data.sequence.items.start; item < n->data.sequence.items.top;
             item++)
            th_lib_append(made, of_yaml(w, *item, is_told, depth + 1));
    } else if (n->type == YAML_MAPPING_NODE) {
        for (const yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top;
             p++)
            put_pair(w, p, is_told, depth + 1, made);
    }
    return told(is_told, kind, made);
}

/* The next document, which is empty behind the last one. 0 or -1. */
static int load(yaml_walk *w)
{
    if (yaml_parser_load(&w->parser, &w->document))
        return 0;
    return th_error_set(w->err, "TCL-1842", "%s:%d: not YAML: %s", w->path,
                        (int)w->parser.problem_mark.line + 1,
                        w->parser.problem ? w->parser.problem : "unreadable");
}

/* Behind the document there is nothing: what another one says is not dropped in silence. */
static int expect_end(yaml_walk *w)
{
    if (load(w))
        return -1;
    const yaml_node_t *root = yaml_document_get_root_node(&w->document);
    int status =
        root ? th_error_set(w->err, "TCL-2384", "%s:%d: a second document: the file must hold one",
                            w->path, (int)root->start_mark.line + 1)
             : 0;
    yaml_document_delete(&w->document);
    return status;
}

static Tcl_Obj *read_yaml(const char *path, const th_strbuf *text, bool is_told, th_error *err)
{
    yaml_walk w = {.path = path, .err = err};
    Tcl_Obj *made = NULL;
    if (!yaml_parser_initialize(&w.parser)) {
        th_error_no_memory(err);
        return NULL;
    }
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text->text, text->length);
    if (load(&w) == 0) {
        bool has_root = yaml_document_get_root_node(&w.document);
        made = has_root ? of_yaml(&w, 1, is_told, 0) : told(is_told, "null", Tcl_NewObj());
        yaml_document_delete(&w.document);
        if (w.n_nodes == MOST_NODES || (has_root && expect_end(&w))) {
            Tcl_DecrRefCount(made);
            made = NULL;
        }
    }
    yaml_parser_delete(&w.parser);
    return made;
}

Tcl_Obj *th_table_read(const char *path, th_table_format format, bool is_told, size_t size_max,
                       Tcl_Obj **about, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    Tcl_Obj *made = NULL;
    if (th_text_file_read(path, size_max, &text, err) == 0) {
        made = format == TH_TABLE_CSV    ? read_csv(path, text.text, is_told, about, err)
               : format == TH_TABLE_JSON ? th_table_json(path, &text, NULL, is_told, err)
                                         : read_yaml(path, &text, is_told, err);
        if (made && about && format != TH_TABLE_CSV)
            *about = text_of(text.text);
    }
    th_strbuf_clear(&text);
    return made;
}
