/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design.c - the reader of the keys of accelerator designs. */
#include <config.h>

#include "sim/design/design.h"

#include <math.h>
#include <string.h>

#include "base/names.h"
#include "base/strbuf.h"

enum { TYPES_MAX = 64 }; /* designs listed in a message */

static int fail_unknown_type(const th_design_block *b, th_error *err)
{
    const char *names[TYPES_MAX];
    size_t n = 0;
    th_strbuf list = TH_STRBUF_INIT;
    for (; th_design_types[n] && n < TYPES_MAX; n++) {
        names[n] = th_design_types[n]->name;
        th_strbuf_printf(&list, "%s%s", n ? ", " : "", names[n]);
    }
    const char *near = th_name_nearest(b->type, names, n);
    th_error_set(err, "SIM-0001",
                 "%s:%d: design \"%s\": unknown type \"%s\"%s%s%s: must be one of %s", b->file,
                 b->line, b->name, b->type, near ? " (did you mean \"" : "", near ? near : "",
                 near ? "\"?)" : "", list.text ? list.text : "");
    th_strbuf_clear(&list);
    return -1;
}

static int fail_unknown_key(const th_design_block *b, const th_param *p, const th_design_type *t,
                            th_error *err)
{
    const char *names[2 * TH_DESIGN_KEYS_MAX];
    size_t n = 0;
    for (int i = 0; t->keys[i].name; i++)
        names[n++] = t->keys[i].name;
    for (int i = 0; th_energy_keys[i].name; i++)
        names[n++] = th_energy_keys[i].name;
    const char *near = th_name_nearest(p->key, names, n);
    return th_error_set(err, "SIM-0002",
                        "%s:%d: design \"%s\": unknown key \"%s\" of a %s design%s%s%s", b->file,
                        p->line, b->name, p->key, t->name, near ? ", did you mean \"" : "",
                        near ? near : "", near ? "\"?" : "");
}

static int choice_of(const th_design_key *k, const char *name)
{
    for (int i = 0; k->choices[i]; i++)
        if (strcmp(k->choices[i], name) == 0)
            return i;
    return -1;
}

/* What a value of a kind must be; the parser of a quantity, which returns multiples of `part` base
 * units. */
static const struct {
    const char *text;
    int (*parse)(const char *text, int64_t *out, th_error *err);
    double part;
} kinds[] = {
    [TH_KEY_INTEGER] = {"a whole number", NULL, 0},
    [TH_KEY_NUMBER] = {"a number", NULL, 0},
    [TH_KEY_FREQUENCY] = {"a frequency such as \"200MHz\"", th_parse_frequency, 1},
    [TH_KEY_BYTES] = {"a size such as \"64KiB\"", th_parse_bytes, 1},
    [TH_KEY_BANDWIDTH] = {"a bandwidth such as \"16GB/s\"", th_parse_bandwidth, 1},
    [TH_KEY_BOOL] = {"true or false", NULL, 0},
    [TH_KEY_ENERGY] = {"an energy such as \"0.9pJ\"", th_parse_energy, TH_J_PER_AJ},
    [TH_KEY_POWER] = {"a power such as \"2W\"", th_parse_power, TH_W_PER_NW},
    [TH_KEY_CHOICE] = {"one of", NULL, 0},
    [TH_KEY_TEXT] = {"a text in double quotes", NULL, 0},
    [TH_KEY_FILE] = {"a text in double quotes", NULL, 0},
};

/* Converts to base units; -1 if the value has the wrong kind. */
static int convert(const th_design_key *k, const th_param *p, double *out)
{
    int64_t quantity = 0;
    if (k->kind == TH_KEY_INTEGER || k->kind == TH_KEY_NUMBER || k->kind == TH_KEY_BOOL) {
        bool is_bool = k->kind == TH_KEY_BOOL;
        *out = p->number;
        return p->kind == (is_bool ? TH_PARAM_BOOL : TH_PARAM_NUMBER) &&
                       (k->kind != TH_KEY_INTEGER || p->number == floor(p->number))
                   ? 0
                   : -1;
    }
    if (p->kind != TH_PARAM_TEXT ||
        (kinds[k->kind].parse && kinds[k->kind].parse(p->text, &quantity, NULL)))
        return -1;
    *out =
        k->kind == TH_KEY_CHOICE ? choice_of(k, p->text) : (double)quantity * kinds[k->kind].part;
    return *out >= 0 ? 0 : -1;
}

/* Describes what the value must be, with the names of a choice. */
static void describe(const th_design_key *k, th_strbuf *out)
{
    th_strbuf_printf(out, "%s", kinds[k->kind].text);
    for (int i = 0; k->kind == TH_KEY_CHOICE && k->choices[i]; i++)
        th_strbuf_printf(out, "%s %s", i ? "," : "", k->choices[i]);
}

/* Prints a value as it is in the file. */
static void describe_value(const th_param *p, th_strbuf *out)
{
    switch (p->kind) {
    case TH_PARAM_NUMBER:
        th_strbuf_printf(out, "%.15g", p->number);
        break;
    case TH_PARAM_TEXT:
        th_strbuf_printf(out, "\"%s\"", p->text);
        break;
    case TH_PARAM_BOOL:
        th_strbuf_printf(out, "%s", p->number != 0 ? "true" : "false");
        break;
    }
}

static int fail_kind(const th_design_block *b, const th_design_key *k, const th_param *p,
                     th_error *err)
{
    th_strbuf given = TH_STRBUF_INIT, wanted = TH_STRBUF_INIT;
    describe_value(p, &given);
    describe(k, &wanted);
    th_error_set(err, "SIM-0003", "%s:%d: design \"%s\": %s is %s, must be %s", b->file, p->line,
                 b->name, k->name, given.text ? given.text : "", wanted.text ? wanted.text : "");
    th_strbuf_clear(&given);
    th_strbuf_clear(&wanted);
    return -1;
}

static int read_key(const th_design_block *b, const th_design_key *k, const th_param *p,
                    double *out, th_error *err)
{
    double value = 0;
    if (convert(k, p, &value))
        return fail_kind(b, k, p, err);
    if (k->kind != TH_KEY_CHOICE && k->kind != TH_KEY_TEXT && k->kind != TH_KEY_FILE &&
        !(value >= k->minimum && value <= k->maximum))
        return th_error_set(err, "SIM-0004",
                            "%s:%d: design \"%s\": %s is %.15g, must be in %.15g .. %.15g", b->file,
                            p->line, b->name, k->name, value, k->minimum, k->maximum);
    *out = value;
    return 0;
}

static const th_param *find_param(const th_design_block *b, const char *key)
{
    for (int i = 0; i < b->n_params; i++)
        if (strcmp(b->params[i].key, key) == 0)
            return &b->params[i];
    return NULL;
}

static const th_design_key *find_key(const th_design_key *keys, const char *name)
{
    for (; keys->name; keys++)
        if (strcmp(keys->name, name) == 0)
            return keys;
    return NULL;
}

const th_design_key *th_design_key_find(const th_design_type *type, const char *name)
{
    const th_design_key *key = find_key(type->keys, name);
    return key ? key : find_key(th_energy_keys, name);
}

/* The first key that is missing, what it means, and the names of the others. */
static int missing_keys(const th_design_block *block, const th_design_key *first, th_error *err)
{
    th_strbuf others = TH_STRBUF_INIT;
    for (const th_design_key *key = first + 1; key->name; key++)
        if (key->required && !find_param(block, key->name))
            th_strbuf_printf(&others, "%s%s",
                             others.length > 0 ? ", " : "; also missing: ", key->name);
    th_error_set(err, "SIM-0005", "%s:%d: design \"%s\": key \"%s\" is missing: %s%s", block->file,
                 block->line, block->name, first->name, first->meaning,
                 others.text ? others.text : "");
    th_strbuf_clear(&others);
    return -1;
}

/* Reads values and texts, by the indices of their keys. */
static int read_keys(const th_design_block *block, const th_design_key *keys, double *value,
                     const char **text, th_error *err)
{
    for (int i = 0; keys[i].name; i++) {
        const th_param *p = find_param(block, keys[i].name);
        value[i] = keys[i].default_value;
        if (!p && keys[i].required)
            return missing_keys(block, &keys[i], err);
        if (p && read_key(block, &keys[i], p, &value[i], err))
            return -1;
        text[i] = p ? p->text : NULL;
    }
    return 0;
}

static int read_energy(const th_design_block *block, th_design_energy *out, th_error *err)
{
    double value[TH_DESIGN_KEYS_MAX];
    const char *text[TH_DESIGN_KEYS_MAX];
    return read_keys(block, th_energy_keys, value, text, err)
               ? -1
               : th_energy_configure(block, value, text, out, err);
}

int th_design_configure(const th_design_block *block, const th_design_type **type,
                        th_design_config *out, th_error *err)
{
    const th_design_type *t = th_design_find(block->type);
    th_design_config config = {.data = NULL};
    if (!t)
        return fail_unknown_type(block, err);
    for (int i = 0; !t->takes_parameters && i < block->n_params; i++)
        if (!th_design_key_find(t, block->params[i].key))
            return fail_unknown_key(block, &block->params[i], t, err);
    if (read_keys(block, t->keys, config.value, config.text, err) ||
        read_energy(block, &config.energy, err))
        return -1;
    if (t->prepare && t->prepare(&config, block, err))
        return -1;
    *type = t;
    *out = config;
    return 0;
}

void th_design_release(const th_design_type *type, th_design_config *c)
{
    if (type && type->release)
        type->release(c);
}

int th_design_check_system(const th_system *s, th_error *err)
{
    const th_design_type *type;
    th_design_config config;
    for (int i = 0; i < s->n_designs; i++) {
        if (th_design_configure(&s->designs[i], &type, &config, err))
            return -1;
        th_design_release(type, &config);
    }
    return 0;
}
