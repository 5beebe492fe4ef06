/* SPDX-License-Identifier: GPL-3.0-or-later */
/* condition.c - see condition.h.
 * A recursive-descent parser writes the tree into an array, with operands before their operators;
 * holds evaluates it in one pass from first to last.
 *   any  := all { "||" all }
 *   all  := one { "&&" one }
 *   one  := "!" one | "(" any ")" | OBJECT.ATTRIBUTE OP LITERAL
 * In a filter the object is left open; it is given when the condition is evaluated. */
#include <config.h>
#include "tcl/objects/condition.h"
#include <ctype.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "tcl/objects/comparison.h"

enum { NODES_MAX = 64, DEPTH_MAX = 16 };

typedef enum { NODE_TEST, NODE_AND, NODE_OR, NODE_NOT } node_kind;

typedef struct node {
    node_kind kind;
    int left, right; /* of AND, OR; left alone of NOT */
    th_object object;
    int attribute;
    th_operator op;
    th_quantity literal;
    char *text; /* owned text of literal */
} node;

struct th_condition {
    node nodes[NODES_MAX];
    int n;
};

typedef struct parser {
    th_session *session;
    const char *all, *next;
    th_condition *out;
    th_class class; /* of a filter; TH_N_CLASSES: objects are named */
    int depth;
    th_error *err;
} parser;

void th_condition_free(th_condition *c)
{
    for (int i = 0; c && i < c->n; i++)
        th_free(c->nodes[i].text);
    th_free(c);
}

/* ---- words ---- */

static void skip_space(parser *p)
{
    while (isspace((unsigned char)*p->next))
        p->next++;
}

static bool takes(parser *p, const char *sign)
{
    skip_space(p);
    if (strncmp(p->next, sign, strlen(sign)) != 0)
        return false;
    p->next += strlen(sign);
    return true;
}

static int expected(parser *p, const char *what)
{
    skip_space(p);
    return th_error_set(p->err, "TCL-0397", "condition \"%.200s\": at \"%.40s\": expected %s",
                        p->all, p->next, what);
}

/* Reads up to white space or an operator; the copy is freed with th_free. Empty: no word. NULL:
 * memory is out. */
static char *take_word(parser *p, const char *signs)
{
    skip_space(p);
    size_t n = 0;
    if (*p->next == '"') {
        n = strcspn(p->next + 1, "\"");
        char *quoted = th_alloc_zero(n + 1, 1);
        if (quoted)
            memcpy(quoted, p->next + 1, n);
        p->next += n + 1 + (p->next[n + 1] == '"');
        return quoted;
    }
    while (p->next[n] != '\0' && !isspace((unsigned char)p->next[n]) && !strchr(signs, p->next[n]))
        n++;
    char *word = th_alloc_zero(n + 1, 1);
    if (word)
        memcpy(word, p->next, n);
    p->next += n;
    return word;
}

/* ---- the tree ---- */

static int add_node(parser *p, const node *n)
{
    if (p->out->n == NODES_MAX)
        return th_error_set(p->err, "TCL-0398", "condition \"%.40s...\": has more than %d parts",
                            p->all, (int)NODES_MAX);
    p->out->nodes[p->out->n] = *n;
    return p->out->n++;
}

static bool is_filter(const parser *p)
{
    return p->class != TH_N_CLASSES;
}

/* "link/3_4.1.bytes": the attribute follows the last dot. */
static int parse_path(parser *p, char *path, node *n)
{
    if (is_filter(p)) {
        n->object = (th_object){p->class, 0};
        return (n->attribute = th_attribute_find(p->class, path, p->err)) < 0 ? -1 : 0;
    }
    char *dot = strrchr(path, '.');
    if (!dot)
        return expected(p, "OBJECT.ATTRIBUTE before that");
    *dot = '\0';
    if (th_object_parse(p->session, path, &n->object, p->err) != 0)
        return -1;
    n->attribute = th_attribute_find(n->object.class, dot + 1, p->err);
    return n->attribute < 0 ? -1 : 0;
}

/* The longer ones first: <= is not <. */
static int parse_operator(parser *p, node *n)
{
    static const th_operator order[] = {TH_OP_EQUAL,         TH_OP_UNEQUAL, TH_OP_LESS_EQUAL,
                                        TH_OP_GREATER_EQUAL, TH_OP_LIKE,    TH_OP_LESS,
                                        TH_OP_GREATER};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (takes(p, th_operator_names[order[i]])) {
            n->op = order[i];
            return 0;
        }
    return expected(p, "== != < <= > >= or =~");
}

static int parse_literal(parser *p, node *n)
{
    th_error why;
    const th_attribute *a = &th_attributes_of(n->object.class)[n->attribute];
    skip_space(p);
    bool is_quoted = *p->next == '"';
    n->text = take_word(p, ")&|");
    if (!n->text)
        return th_error_no_memory(p->err);
    if (n->text[0] == '\0' && !is_quoted)
        return expected(p, "a value");
    if (th_literal_parse(a, n->op, n->text, &n->literal, &why) != 0)
        return th_error_set(p->err, "TCL-0399", "condition \"%.200s\": %s", p->all, why.text);
    return 0;
}

static int parse_test(parser *p)
{
    node n = {.kind = NODE_TEST};
    char *path = take_word(p, "=!<>&|()");
    if (!path)
        return th_error_no_memory(p->err);
    int failed = path[0] != '\0' ? parse_path(p, path, &n)
                                 : expected(p, is_filter(p) ? "ATTRIBUTE" : "OBJECT.ATTRIBUTE");
    th_free(path);
    if (!failed && parse_operator(p, &n) == 0 && parse_literal(p, &n) == 0 &&
        (failed = add_node(p, &n)) >= 0)
        return failed;
    th_free(n.text);
    return -1;
}

static int parse_any(parser *p);

static int parse_one(parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return th_error_set(p->err, "TCL-0400", "condition \"%.40s...\": is nested deeper than %d",
                            p->all, (int)DEPTH_MAX);
    int part;
    if (takes(p, "!")) {
        part = parse_one(p);
        part = part < 0 ? -1 : add_node(p, &(node){.kind = NODE_NOT, .left = part});
    } else if (takes(p, "(")) {
        part = parse_any(p);
        if (part >= 0 && !takes(p, ")"))
            part = expected(p, "\")\"");
    } else {
        part = parse_test(p);
    }
    p->depth--;
    return part;
}

/* Operands joined by the same operator. */
static int parse_row(parser *p, int (*part)(parser *), const char *sign, node_kind kind)
{
    int left = part(p);
    while (left >= 0 && takes(p, sign)) {
        int right = part(p);
        left = right < 0 ? -1 : add_node(p, &(node){.kind = kind, .left = left, .right = right});
    }
    return left;
}

static int parse_all(parser *p)
{
    return parse_row(p, parse_one, "&&", NODE_AND);
}

static int parse_any(parser *p)
{
    return parse_row(p, parse_all, "||", NODE_OR);
}

th_condition *th_condition_compile(th_session *s, const char *text, th_error *err)
{
    return th_condition_compile_of(s, TH_N_CLASSES, text, err);
}

th_condition *th_condition_compile_of(th_session *s, th_class class, const char *text,
                                      th_error *err)
{
    parser p = {.session = s, .class = class, .all = text, .next = text, .err = err};
    p.out = th_alloc_zero(1, sizeof *p.out);
    if (!p.out) {
        th_error_no_memory(err);
        return NULL;
    }
    int root = parse_any(&p);
    skip_space(&p);
    if (root >= 0 && *p.next != '\0')
        root = expected(&p, "&& or ||, or the end");
    if (root >= 0)
        return p.out;
    th_condition_free(p.out);
    return NULL;
}

static int find_operator(const char *text, th_operator *out, th_error *err)
{
    for (int i = 0; th_operator_names[i]; i++)
        if (strcmp(th_operator_names[i], text) == 0) {
            *out = (th_operator)i;
            return 0;
        }
    return th_error_unknown(err, "TCL-0080", "operator", text, th_operator_names);
}

th_condition *th_condition_compare(th_class class, const char *attribute, const char *op,
                                   const char *literal, th_error *err)
{
    node n = {.kind = NODE_TEST, .object = {class, 0}};
    if ((n.attribute = th_attribute_find(class, attribute, err)) < 0 ||
        find_operator(op, &n.op, err) != 0)
        return NULL;
    const th_attribute *a = &th_attributes_of(class)[n.attribute];
    th_condition *c = th_alloc_zero(1, sizeof *c);
    if (c && (n.text = th_alloc_string(literal))) {
        c->nodes[c->n++] = n;
        if (th_literal_parse(a, n.op, n.text, &c->nodes[0].literal, err) == 0)
            return c;
    } else {
        th_error_no_memory(err);
    }
    th_condition_free(c);
    return NULL;
}

/* ---- evaluation ---- */

/* 1, 0 or -1. */
static int test_holds(const node *n, th_session *s, th_object o, th_error *err)
{
    th_quantity value;
    if (o.class == TH_CLASS_TASK && o.index >= th_class_count(s, TH_CLASS_TASK))
        return 0; /* of an earlier program */
    if (th_attribute_get(s, o, n->attribute, &value, err) != 0)
        return -1;
    return th_comparison_holds(&value, n->op, &n->literal);
}

/* of: the object of a filter; NULL: the objects are named. A comparison that cannot be made is
 * false for is[]; in a filter the whole evaluation fails. */
static int evaluate(const th_condition *c, th_session *s, const th_object *of, th_error *err)
{
    bool is[NODES_MAX];
    for (int i = 0; i < c->n; i++) {
        const node *n = &c->nodes[i];
        int test = n->kind == NODE_TEST ? test_holds(n, s, of ? *of : n->object, err) : 0;
        if (test < 0 && of)
            return -1;
        switch (n->kind) {
        case NODE_TEST:
            is[i] = test > 0;
            break;
        case NODE_AND:
            is[i] = is[n->left] && is[n->right];
            break;
        case NODE_OR:
            is[i] = is[n->left] || is[n->right];
            break;
        case NODE_NOT:
            is[i] = !is[n->left];
            break;
        }
    }
    return is[c->n - 1];
}

bool th_condition_holds(const th_condition *c, th_session *s)
{
    return evaluate(c, s, NULL, NULL) > 0;
}

int th_condition_holds_of(const th_condition *c, th_session *s, th_object o, th_error *err)
{
    return evaluate(c, s, &o, err);
}

static unsigned kinds_of(const node *n)
{
    return n->kind == NODE_TEST ? th_attributes_of(n->object.class)[n->attribute].changes : 0;
}

unsigned th_condition_kinds(const th_condition *c)
{
    unsigned kinds = 0;
    for (int i = 0; i < c->n; i++)
        kinds |= kinds_of(&c->nodes[i]);
    return kinds;
}

bool th_condition_links(const th_condition *c, bool *is_named)
{
    bool only_links = true;
    for (int i = 0; i < c->n; i++) {
        const node *n = &c->nodes[i];
        if (!(kinds_of(n) >> TH_RECORD_LINK & 1u))
            continue;
        if (n->object.class == TH_CLASS_LINK)
            is_named[n->object.index] = true;
        else
            only_links = false;
    }
    return only_links;
}

bool th_condition_is_about(const th_condition *c, const th_event_record *record)
{
    for (int i = 0; i < c->n; i++) {
        const node *n = &c->nodes[i];
        if (!(kinds_of(n) >> record->kind & 1u))
            continue;
        if (record->kind != TH_RECORD_LINK || n->object.class != TH_CLASS_LINK ||
            n->object.index == record->object)
            return true;
    }
    return false;
}

th_object th_condition_object(const th_condition *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->nodes[i].kind == NODE_TEST)
            return c->nodes[i].object;
    return (th_object){TH_CLASS_ACCEL, 0};
}

bool th_condition_names_tasks(const th_condition *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->nodes[i].kind == NODE_TEST && (c->nodes[i].object.class == TH_CLASS_TASK ||
                                              c->nodes[i].object.class == TH_CLASS_LAYER))
            return true;
    return false;
}
