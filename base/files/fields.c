/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fields.c - see fields.h. A value is an int64_t on its way between a group and a structure, but
 * for numbers. */
#include <config.h>
#include "base/files/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/files/config_write.h"
#include "base/names.h"

static const struct {
    int (*read)(const th_config_node *n, int64_t *out, th_error *err);
    void (*put)(th_strbuf *out, int64_t value);
} quantities[] = {
    [TH_FIELD_TIME] = {th_config_as_time, th_config_put_time},
    [TH_FIELD_BYTES] = {th_config_as_bytes, th_config_put_bytes},
    [TH_FIELD_BANDWIDTH] = {th_config_as_bandwidth, th_config_put_bandwidth},
    [TH_FIELD_FREQUENCY] = {th_config_as_frequency, th_config_put_frequency},
    [TH_FIELD_DURATION] = {th_config_as_duration, th_config_put_duration},
};

/* ---- values in structures ---- */

static int64_t value_of(const th_field *f, const void *base)
{
    const char *at = (const char *)base + f->offset;
    int64_t whole = 0;
    int32_t small;
    if (f->size == sizeof whole) {
        memcpy(&whole, at, sizeof whole);
    } else if (f->size == sizeof small) {
        memcpy(&small, at, sizeof small);
        whole = small;
    } else if (f->size == sizeof(bool)) {
        whole = *(const bool *)at;
    }
    return f->flags & TH_FIELD_INVERTED ? !whole : whole;
}

static void set_value(const th_field *f, void *base, int64_t value)
{
    char *at = (char *)base + f->offset;
    const int64_t x = f->flags & TH_FIELD_INVERTED ? !value : value;
    const int32_t small = (int32_t)x;
    if (f->size == sizeof x)
        memcpy(at, &x, sizeof x);
    else if (f->size == sizeof small)
        memcpy(at, &small, sizeof small);
    else if (f->size == sizeof(bool))
        *(bool *)at = x;
}

static double number_of(const th_field *f, const void *base)
{
    double x;
    memcpy(&x, (const char *)base + f->offset, sizeof x);
    return x;
}

bool th_field_is_absent(const th_field *f, const void *base)
{
    if (f->kind == TH_FIELD_NUMBER)
        return number_of(f, base) == (double)f->absent;
    return f->size > 0 && value_of(f, base) == f->absent;
}

/* ---- reading ---- */

int th_config_as_word(const th_config_node *n, const char *key, const char *const *words, int *out,
                      th_error *err)
{
    const char *word;
    char what[TH_ERROR_TEXT_MAX];
    if (th_config_as_string(n, &word, err) < 0)
        return -1;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return 0;
        }
    snprintf(what, sizeof what, "%s:%d: %s", th_config_file(n), th_config_line(n), key);
    return th_error_unknown(err, "BASE-0460", what, word, words);
}

int th_config_word(const th_config_node *g, const char *key, const char *const *words, int *out,
                   th_error *err)
{
    const th_config_node *n = th_config_member(g, key);
    return n ? th_config_as_word(n, key, words, out, err) : 0;
}

/* "above 0 and at most 1", "from 1 to 4", "at least 1" */
static void range_text(const th_field *f, char *out, size_t size)
{
    bool is_above = f->flags & TH_FIELD_ABOVE;
    if (f->max == 0)
        snprintf(out, size, is_above ? "above %g" : "at least %g", f->min);
    else
        snprintf(out, size, is_above ? "above %g and at most %g" : "from %g to %g", f->min, f->max);
}

static bool is_in_range(const th_field *f, double x)
{
    return (f->flags & TH_FIELD_ABOVE ? x > f->min : x >= f->min) && (f->max == 0 || x <= f->max);
}

static int check_range(const th_config_node *n, const th_field *f, double x, th_error *err)
{
    char range[100];
    if (is_in_range(f, x))
        return 0;
    range_text(f, range, sizeof range);
    return th_error_set(err, "BASE-0461", "%s:%d: key \"%s\": must be %s, not %g",
                        th_config_file(n), th_config_line(n), f->key, range, x);
}

static int read_quantity(const th_config_node *n, const th_field *f, int64_t *value, th_error *err)
{
    const char *text = "";
    if (f->flags & TH_FIELD_UNLIMITED && th_config_kind_of(n) == TH_CONFIG_STRING &&
        th_config_as_string(n, &text, err) < 0)
        return -1;
    *value = TH_UNLIMITED;
    return strcmp(text, "unlimited") == 0 ? 0 : quantities[f->kind].read(n, value, err);
}

static int read_number(const th_config_node *n, const th_field *f, void *base, th_error *err)
{
    double x;
    if (th_config_as_double(n, &x, err) < 0 || check_range(n, f, x, err) < 0)
        return -1;
    memcpy((char *)base + f->offset, &x, sizeof x);
    return 0;
}

static int read_field(const th_config_node *n, const th_field *f, void *base, th_error *err)
{
    int64_t value = 0;
    int position = 0;
    bool flag = false;
    int failed;
    if (f->kind == TH_FIELD_NUMBER)
        return read_number(n, f, base, err);
    if (f->kind == TH_FIELD_INT) {
        failed = th_config_as_int(n, (int64_t)f->min, (int64_t)f->max, &value, err);
    } else if (f->kind == TH_FIELD_BOOL) {
        failed = th_config_as_bool(n, &flag, err);
        value = flag;
    } else if (f->kind == TH_FIELD_WORD) {
        failed = th_config_as_word(n, f->key, f->words, &position, err);
        value = position;
    } else {
        failed = read_quantity(n, f, &value, err);
        failed = failed ? failed : check_range(n, f, (double)value, err);
    }
    if (!failed)
        set_value(f, base, value);
    return failed;
}

int th_fields_check_keys(const th_field *fields, const th_config_node *g, th_error *err)
{
    enum { MOST = 64 };
    const char *keys[MOST + 1];
    int n = 0;
    for (const th_field *f = fields; f->key && n < MOST; f++)
        if (n == 0 || strcmp(keys[n - 1], f->key) != 0)
            keys[n++] = f->key;
    keys[n] = NULL;
    return th_config_check_keys(g, keys, err);
}

int th_fields_read(const th_field *fields, const th_config_node *g, void *base, th_error *err)
{
    if (th_fields_check_keys(fields, g, err) < 0)
        return -1;
    for (const th_field *f = fields; f->key; f++) {
        const th_config_node *n = th_config_member(g, f->key);
        const char *missing;
        const double number = (double)f->absent;
        if (!n && f->kind != TH_FIELD_OWN && f->flags & TH_FIELD_REQUIRED)
            return th_config_string(g, f->key, true, &missing, err);
        if (f->kind == TH_FIELD_OWN ? n && f->read && f->read(g, base, err) < 0
                                    : n && read_field(n, f, base, err) < 0)
            return -1;
        if (!n && f->kind == TH_FIELD_NUMBER)
            memcpy((char *)base + f->offset, &number, sizeof number);
        else if (!n && f->kind != TH_FIELD_OWN)
            set_value(f, base, f->absent);
    }
    return 0;
}

int th_fields_read_group(const th_field *fields, const th_config_node *g, const char *key,
                         bool required, void *base, th_error *err)
{
    const th_config_node *n = NULL;
    if (th_config_child(g, key, required, TH_CONFIG_GROUP, &n, err) < 0)
        return -1;
    return n ? th_fields_read(fields, n, base, err) : 0;
}

/* ---- writing ---- */

static void put_value(const th_field *f, const void *base, th_strbuf *out)
{
    if (f->kind == TH_FIELD_OWN)
        f->put(out, base);
    else if (f->kind == TH_FIELD_NUMBER)
        th_config_put_number(out, number_of(f, base));
    else if (f->kind == TH_FIELD_INT)
        th_strbuf_printf(out, "%lld", (long long)value_of(f, base));
    else if (f->kind == TH_FIELD_BOOL)
        th_strbuf_add(out, value_of(f, base) ? "true" : "false");
    else if (f->kind == TH_FIELD_WORD)
        th_config_put_text(out, f->words[value_of(f, base)]);
    else
        quantities[f->kind].put(out, value_of(f, base));
}

void th_fields_write(const th_field *fields, const void *base, th_fields_form form, th_strbuf *out)
{
    const int in_any_case =
        TH_FIELD_REQUIRED | TH_FIELD_ALWAYS | (form.if_asked ? TH_FIELD_IF_ASKED : 0);
    for (const th_field *f = fields; f->key; f++) {
        if ((f->kind == TH_FIELD_OWN && !f->put) ||
            (!(f->flags & in_any_case) && th_field_is_absent(f, base)))
            continue;
        if (f->kind == TH_FIELD_INT || f->kind == TH_FIELD_BYTES)
            if (!is_in_range(f, (double)value_of(f, base))) /* 0: nothing is said */
                continue;
        th_strbuf_printf(out, "%s%s = ", form.before, f->key);
        put_value(f, base, out);
        th_strbuf_add(out, form.after);
    }
}
