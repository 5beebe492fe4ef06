/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_read.c - see table_read.h. */
#include <config.h>
#include <jansson.h>
#include <string.h>
#include <yaml.h>
#include "base/files/csv.h"
#include "base/files/text_file.h"
#include "tcl/core/lib_report.h"
#include "tcl/core/table_read.h"

static Tcl_Obj *text_of(const char *text)
{
    return Tcl_NewStringObj(text, -1);
}

/* ---- CSV ---- */

static Tcl_Obj *read_csv(const char *path, char *text, bool has_lines, bool *is_cut, th_error *err)
{
    th_csv csv = th_csv_open(path, text);
    Tcl_Obj *rows = Tcl_NewListObj(0, NULL);
    int status;
    while ((status = th_csv_next(&csv, err)) > 0) {
        Tcl_Obj *row = Tcl_NewListObj(0, NULL);
        if (has_lines)
            Tcl_ListObjAppendElement(NULL, row, Tcl_NewIntObj(csv.line));
        for (int f = 0; f < csv.n_fields; f++)
            Tcl_ListObjAppendElement(NULL, row, text_of(csv.field[f]));
        Tcl_ListObjAppendElement(NULL, rows, row);
    }
    if (is_cut)
        *is_cut = !csv.rest && csv.line > 0;
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
            Tcl_ListObjAppendElement(NULL, row, text_of(place[i] < 0 ? "" : csv.field[place[i]]));
        Tcl_ListObjAppendElement(NULL, rows, row);
        status = 0;
    }
    th_csv_note_cut(&csv, notes);
    th_csv_clear(&csv);
    if (status == 0)
        return rows;
    Tcl_DecrRefCount(rows);
    return NULL;
}

/* ---- JSON ---- */

/* jansson bounds the depth. */
static Tcl_Obj *of_json(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    Tcl_Obj *made;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        made = Tcl_NewDictObj();
        json_object_foreach((json_t *)value, key, member)
            Tcl_DictObjPut(NULL, made, text_of(key), of_json(member));
        return made;
    case JSON_ARRAY:
        made = Tcl_NewListObj(0, NULL);
        json_array_foreach(value, i, member) Tcl_ListObjAppendElement(NULL, made, of_json(member));
        return made;
    case JSON_STRING:
        return text_of(json_string_value(value));
    case JSON_INTEGER:
        return Tcl_NewWideIntObj(json_integer_value(value));
    case JSON_REAL:
        return Tcl_NewDoubleObj(json_real_value(value));
    case JSON_TRUE:
        return Tcl_NewIntObj(1);
    case JSON_FALSE:
        return Tcl_NewIntObj(0);
    case JSON_NULL:
        break;
    }
    return Tcl_NewObj();
}

static Tcl_Obj *read_json(const char *path, const th_strbuf *text, th_error *err)
{
    json_error_t problem;
    json_t *root = json_loadb(text->text, text->length, JSON_REJECT_DUPLICATES, &problem);
    if (!root) {
        th_error_set(err, "TCL-1840", "%s:%d: not JSON: %s", path,
                     problem.line > 0 ? problem.line : 1, problem.text);
        return NULL;
    }
    Tcl_Obj *made = of_json(root);
    json_decref(root);
    return made;
}

/* ---- YAML ---- */

/* An alias stands for all of its anchor: what they make together is bounded. */
enum { MOST_NODES = 1 << 24, DEEPEST = 1000 };

typedef struct {
    yaml_document_t *document;
    int n_nodes;
} yaml_walk;

static Tcl_Obj *of_yaml(yaml_walk *w, int index, int depth)
{
    const yaml_node_t *n = yaml_document_get_node(w->document, index);
    Tcl_Obj *made = Tcl_NewObj();
    if (++w->n_nodes > MOST_NODES || depth > DEEPEST) {
        w->n_nodes = MOST_NODES; /* ends the walk */
    } else if (n->type == YAML_SCALAR_NODE) {
        Tcl_SetStringObj(made, (const char *)n->data.scalar.value, (int)n->data.scalar.length);
    } else if (n->type == YAML_SEQUENCE_NODE) {
        for (const int *item = n->data.sequence.items.start; item < n->data.sequence.items.top;
             item++)
            Tcl_ListObjAppendElement(NULL, made, of_yaml(w, *item, depth + 1));
    } else if (n->type == YAML_MAPPING_NODE) {
        for (const yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top;
             p++)
            Tcl_DictObjPut(NULL, made, of_yaml(w, p->key, depth + 1),
                           of_yaml(w, p->value, depth + 1));
    }
    return made;
}

static Tcl_Obj *walk(const char *path, yaml_document_t *document, th_error *err)
{
    yaml_walk w = {document, 0};
    Tcl_Obj *made = yaml_document_get_root_node(document) ? of_yaml(&w, 1, 0) : Tcl_NewObj();
    if (w.n_nodes < MOST_NODES)
        return made;
    th_error_set(err, "TCL-1841", "%s: aliases or depth make it too large: %d nodes, %d deep", path,
                 (int)MOST_NODES, (int)DEEPEST);
    Tcl_DecrRefCount(made);
    return NULL;
}

static Tcl_Obj *read_yaml(const char *path, const th_strbuf *text, th_error *err)
{
    yaml_parser_t parser;
    yaml_document_t document;
    Tcl_Obj *made = NULL;
    if (!yaml_parser_initialize(&parser)) {
        th_error_no_memory(err);
        return NULL;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->text, text->length);
    if (yaml_parser_load(&parser, &document)) {
        made = walk(path, &document, err);
        yaml_document_delete(&document);
    } else {
        th_error_set(err, "TCL-1842", "%s:%d: not YAML: %s", path,
                     (int)parser.problem_mark.line + 1,
                     parser.problem ? parser.problem : "unreadable");
    }
    yaml_parser_delete(&parser);
    return made;
}

Tcl_Obj *th_table_read(const char *path, th_table_format format, bool has_lines, size_t size_max,
                       bool *is_cut, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    Tcl_Obj *made = NULL;
    if (th_text_file_read(path, size_max, &text, err) == 0)
        made = format == TH_TABLE_CSV    ? read_csv(path, text.text, has_lines, is_cut, err)
               : format == TH_TABLE_JSON ? read_json(path, &text, err)
                                         : read_yaml(path, &text, err);
    th_strbuf_clear(&text);
    return made;
}
