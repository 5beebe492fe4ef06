/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_read.c - the reader of configuration files: guard, parse, then typed getters.
 *   open -> root -> (check_keys | member | int | string | child | at | as_...)* -> close
 * A th_config_node is libconfig's setting under another name, so that no header depends on
 * libconfig. The file of a node is setting->config, the first field of th_config. Not modelled:
 * writing; libconfig's behaviour when memory runs out while it parses (it does not check). */
#include <config.h>
#include "base/files/config_read.h"
#include "base/alloc.h"
#include "base/files/config_guard.h"
#include "base/names.h"
#include "base/files/text_file.h"
#include <libconfig.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct th_config {
    config_t parsed; /* first: see th_config_file */
    char *name;
};

enum { WHERE_MAX = 200 }; /* bytes of 'key "x"' in a message */

static const config_setting_t *setting_of(const th_config_node *n)
{
    return (const config_setting_t *)n;
}

static const th_config_node *node_of(const config_setting_t *s)
{
    return (const th_config_node *)s;
}

/* ---- opening ---- */

static th_config *parse(const char *text, const char *name, th_error *err)
{
    th_config *c = th_alloc_zero(1, sizeof *c);
    char *copy = th_alloc_string(name);
    if (!c || !copy) {
        th_free(c);
        th_free(copy);
        th_error_no_memory(err);
        return NULL;
    }
    config_init(&c->parsed);
    c->name = copy;
    if (config_read_string(&c->parsed, text) != CONFIG_TRUE) {
        char hint[200];
        int line = config_error_line(&c->parsed);
        const char *problem = config_error_text(&c->parsed);
        hint[0] = '\0';
        if (strcmp(problem, "syntax error") == 0)
            th_config_hint(text, line, hint, sizeof hint);
        th_error_set(err, "BASE-0032", "%s:%d: %s%s", name, line, problem, hint);
        th_config_close(c);
        return NULL;
    }
    return c;
}

th_config *th_config_open(const char *path, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_config *c = NULL;
    if (th_file_bytes_read(path, TH_CONFIG_SIZE_MAX, &text, err) == 0 &&
        th_config_guard(text.text, text.length, path, err) == 0)
        c = parse(text.text, path, err);
    th_strbuf_clear(&text);
    return c;
}

th_config *th_config_open_text(const char *text, const char *name, th_error *err)
{
    if (th_config_guard(text, strlen(text), name, err) != 0)
        return NULL;
    return parse(text, name, err);
}

void th_config_close(th_config *c)
{
    if (!c)
        return;
    config_destroy(&c->parsed);
    th_free(c->name);
    th_free(c);
}

const th_config_node *th_config_root(const th_config *c)
{
    return node_of(config_root_setting(&c->parsed));
}

/* ---- nodes ---- */

th_config_kind th_config_kind_of(const th_config_node *n)
{
    switch (config_setting_type(setting_of(n))) {
    case CONFIG_TYPE_GROUP:
        return TH_CONFIG_GROUP;
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return TH_CONFIG_INT;
    case CONFIG_TYPE_FLOAT:
        return TH_CONFIG_FLOAT;
    case CONFIG_TYPE_BOOL:
        return TH_CONFIG_BOOL;
    case CONFIG_TYPE_STRING:
        return TH_CONFIG_STRING;
    default: /* libconfig's types are no enum: arrays and lists remain */
        return TH_CONFIG_LIST;
    }
}

const char *th_config_key(const th_config_node *n)
{
    return config_setting_name(setting_of(n));
}

const char *th_config_file(const th_config_node *n)
{
    return ((const th_config *)setting_of(n)->config)->name;
}

/* The root has no line of its own in libconfig: it starts with the file. */
int th_config_line(const th_config_node *n)
{
    int line = (int)config_setting_source_line(setting_of(n));
    return line > 0 ? line : 1;
}

int th_config_count(const th_config_node *n)
{
    th_config_kind kind = th_config_kind_of(n);
    return kind == TH_CONFIG_GROUP || kind == TH_CONFIG_LIST ? config_setting_length(setting_of(n))
                                                             : 0;
}

const th_config_node *th_config_at(const th_config_node *n, int i)
{
    return node_of(config_setting_get_elem(setting_of(n), (unsigned)i));
}

const th_config_node *th_config_member(const th_config_node *n, const char *key)
{
    return node_of(config_setting_get_member(setting_of(n), key));
}

/* ---- messages ---- */

static const char *kind_name(th_config_kind kind)
{
    switch (kind) {
    case TH_CONFIG_GROUP:
        return "a group { ... }";
    case TH_CONFIG_LIST:
        return "a list ( ... )";
    case TH_CONFIG_INT:
        return "an integer";
    case TH_CONFIG_FLOAT:
        return "a number with a fraction";
    case TH_CONFIG_BOOL:
        return "true or false";
    case TH_CONFIG_STRING:
        return "a text in quotes";
    }
    return "";
}

/* What a node is to its reader: 'key "x"', 'element 3 of "links"' (from 1 on), 'the file'. */
static const char *describe(const th_config_node *n, char where[WHERE_MAX])
{
    const config_setting_t *s = setting_of(n), *list = config_setting_parent(s);
    const char *key = config_setting_name(s);
    if (key)
        snprintf(where, WHERE_MAX, "key \"%s\"", key);
    else if (!list)
        snprintf(where, WHERE_MAX, "the file");
    else
        snprintf(where, WHERE_MAX, "element %d of \"%s\"", config_setting_index(s) + 1,
                 config_setting_name(list) ? config_setting_name(list) : "a list");
    return where;
}

static int wrong_kind(const th_config_node *n, const char *expected, th_error *err)
{
    char where[WHERE_MAX];
    return th_error_set(err, "BASE-0033", "%s:%d: %s: must be %s, not %s", th_config_file(n),
                        th_config_line(n), describe(n, where), expected,
                        kind_name(th_config_kind_of(n)));
}

/* Finds the member; -1 if it is required and absent. */
static int find_member(const th_config_node *g, const char *key, bool required,
                       const th_config_node **out, th_error *err)
{
    char where[WHERE_MAX];
    if (th_config_kind_of(g) != TH_CONFIG_GROUP)
        return wrong_kind(g, kind_name(TH_CONFIG_GROUP), err);
    *out = th_config_member(g, key);
    if (*out || !required)
        return 0;
    return th_error_set(err, "BASE-0034", "%s:%d: %s: has no key \"%s\"", th_config_file(g),
                        th_config_line(g), describe(g, where), key);
}

/* ---- values of a node ---- */

int th_config_as_int(const th_config_node *n, int64_t min, int64_t max, int64_t *out, th_error *err)
{
    if (th_config_kind_of(n) != TH_CONFIG_INT)
        return wrong_kind(n, "an integer", err);
    char where[WHERE_MAX];
    int64_t value = config_setting_get_int64(setting_of(n));
    if (value < min || value > max)
        return th_error_set(err, "BASE-0035", "%s:%d: %s: must be from %lld to %lld, not %lld",
                            th_config_file(n), th_config_line(n), describe(n, where),
                            (long long)min, (long long)max, (long long)value);
    *out = value;
    return 0;
}

int th_config_as_double(const th_config_node *n, double *out, th_error *err)
{
    th_config_kind kind = th_config_kind_of(n);
    if (kind != TH_CONFIG_INT && kind != TH_CONFIG_FLOAT)
        return wrong_kind(n, "a number", err);
    char where[WHERE_MAX];
    double value = kind == TH_CONFIG_INT ? (double)config_setting_get_int64(setting_of(n))
                                         : config_setting_get_float(setting_of(n));
    if (!isfinite(value))
        return th_error_set(err, "BASE-0036", "%s:%d: %s: must be a finite number",
                            th_config_file(n), th_config_line(n), describe(n, where));
    *out = value;
    return 0;
}

int th_config_as_bool(const th_config_node *n, bool *out, th_error *err)
{
    if (th_config_kind_of(n) != TH_CONFIG_BOOL)
        return wrong_kind(n, "true or false", err);
    *out = config_setting_get_bool(setting_of(n)) == CONFIG_TRUE;
    return 0;
}

int th_config_as_string(const th_config_node *n, const char **out, th_error *err)
{
    if (th_config_kind_of(n) != TH_CONFIG_STRING)
        return wrong_kind(n, "a text in quotes", err);
    *out = config_setting_get_string(setting_of(n));
    return 0;
}

/* A quantity is a text with a unit. A bare integer is parsed alike: the message names the missing
 * unit, and 0 needs none. */
static int as_quantity(const th_config_node *n,
                       int (*parse_text)(const char *, int64_t *, th_error *), int64_t *out,
                       th_error *err)
{
    char digits[24], where[WHERE_MAX];
    const char *text = digits;
    if (th_config_kind_of(n) == TH_CONFIG_INT)
        snprintf(digits, sizeof digits, "%lld", config_setting_get_int64(setting_of(n)));
    else if (th_config_kind_of(n) == TH_CONFIG_STRING)
        text = config_setting_get_string(setting_of(n));
    else
        return wrong_kind(n, "a quantity with its unit in quotes", err);
    th_error inner;
    if (parse_text(text, out, &inner) == 0)
        return 0;
    return th_error_set(err, inner.id, "%s:%d: %s: %s", th_config_file(n), th_config_line(n),
                        describe(n, where), inner.text);
}

int th_config_as_time(const th_config_node *n, th_time *out, th_error *err)
{
    return as_quantity(n, th_parse_time, out, err);
}

int th_config_as_bytes(const th_config_node *n, int64_t *out, th_error *err)
{
    return as_quantity(n, th_parse_bytes, out, err);
}

int th_config_as_bandwidth(const th_config_node *n, int64_t *out, th_error *err)
{
    return as_quantity(n, th_parse_bandwidth, out, err);
}

int th_config_as_frequency(const th_config_node *n, int64_t *out, th_error *err)
{
    return as_quantity(n, th_parse_frequency, out, err);
}

int th_config_as_energy(const th_config_node *n, int64_t *out, th_error *err)
{
    return as_quantity(n, th_parse_energy, out, err);
}

int th_config_as_duration(const th_config_node *n, int64_t *out, th_error *err)
{
    return as_quantity(n, th_parse_duration, out, err);
}

/* ---- members of a group ---- */

int th_config_int(const th_config_node *g, const char *key, bool required, th_int_range range,
                  int64_t *out, th_error *err)
{
    const th_config_node *n;
    if (find_member(g, key, required, &n, err) != 0)
        return -1;
    return n ? th_config_as_int(n, range.min, range.max, out, err) : 0;
}

/* The other types differ in the value alone. */
#define MEMBER(name, type)                                                                         \
    int th_config_##name(const th_config_node *g, const char *key, bool required, type *out,       \
                         th_error *err)                                                            \
    {                                                                                              \
        const th_config_node *n;                                                                   \
        if (find_member(g, key, required, &n, err) != 0)                                           \
            return -1;                                                                             \
        return n ? th_config_as_##name(n, out, err) : 0;                                           \
    }
MEMBER(double, double)
MEMBER(bool, bool)
MEMBER(string, const char *)
MEMBER(time, th_time)
MEMBER(bandwidth, int64_t)
MEMBER(energy, int64_t)
#undef MEMBER

int th_config_child(const th_config_node *g, const char *key, bool required, th_config_kind kind,
                    const th_config_node **out, th_error *err)
{
    const th_config_node *n;
    if (find_member(g, key, required, &n, err) != 0)
        return -1;
    if (n && th_config_kind_of(n) != kind)
        return wrong_kind(n, kind_name(kind), err);
    *out = n;
    return 0;
}

/* ---- unknown keys ---- */

static int unknown_key(const th_config_node *n, const char *const *allowed, size_t n_allowed,
                       th_error *err)
{
    char where[WHERE_MAX];
    const char *near = th_name_nearest(th_config_key(n), allowed, n_allowed);
    th_strbuf list = TH_STRBUF_INIT, question = TH_STRBUF_INIT;
    for (size_t i = 0; i < n_allowed; i++)
        th_strbuf_printf(&list, "%s%s", i ? ", " : "", allowed[i]);
    if (near)
        th_strbuf_printf(&question, ": did you mean \"%s\"?", near);
    describe(node_of(config_setting_parent(setting_of(n))), where);
    th_error_set(err, "BASE-0037", "%s:%d: unknown key \"%s\" in %s%s (one of %s)",
                 th_config_file(n), th_config_line(n), th_config_key(n), where,
                 question.text ? question.text : "", list.text ? list.text : "none");
    th_strbuf_clear(&list);
    th_strbuf_clear(&question);
    return -1;
}

int th_config_check_keys(const th_config_node *g, const char *const *allowed, th_error *err)
{
    size_t n_allowed = 0;
    while (allowed[n_allowed])
        n_allowed++;
    for (int i = 0; i < th_config_count(g); i++) {
        const th_config_node *n = th_config_at(g, i);
        size_t k = 0;
        while (k < n_allowed && strcmp(allowed[k], th_config_key(n)) != 0)
            k++;
        if (k == n_allowed)
            return unknown_key(n, allowed, n_allowed, err);
    }
    return 0;
}
