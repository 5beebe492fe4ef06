/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.c - see comparison.h. */
#include <config.h>
#include "tcl/objects/comparison.h"
#include "base/names.h"
#include <string.h>
#include <tcl.h>

const char *const th_operator_names[TH_N_OPERATORS + 1] = {
    [TH_OP_EQUAL] = "==",      [TH_OP_UNEQUAL] = "!=", [TH_OP_LESS] = "<",
    [TH_OP_LESS_EQUAL] = "<=", [TH_OP_GREATER] = ">",  [TH_OP_GREATER_EQUAL] = ">=",
    [TH_OP_LIKE] = "=~"};

int th_literal_parse(const th_attribute *a, th_operator op, const char *text, th_quantity *out,
                     th_error *err)
{
    enum { CHOICES_MAX = 16 };
    const char *names[CHOICES_MAX + 1] = {NULL};
    if (th_quantity_parse(op == TH_OP_LIKE ? TH_KIND_TEXT : a->kind, text, out, err) != 0)
        return -1;
    if (!a->choice || op == TH_OP_LIKE)
        return 0;
    for (int i = 0; i < CHOICES_MAX && (names[i] = a->choice(i)); i++)
        if (strcmp(names[i], text) == 0)
            return 0;
    return th_error_unknown(err, "TCL-0086", a->name, text, names);
}

static bool is_like(const th_quantity *value, const char *pattern)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_quantity_format(value, &text);
    bool matches = text.text && Tcl_StringMatch(text.text, pattern);
    th_strbuf_clear(&text);
    return matches;
}

bool th_comparison_holds(const th_quantity *value, th_operator op, const th_quantity *literal)
{
    if (value->is_absent)
        return false;
    if (op == TH_OP_LIKE)
        return is_like(value, literal->text);
    int order = th_quantity_compare(value, literal);
    switch (op) {
    case TH_OP_EQUAL:
        return order == 0;
    case TH_OP_UNEQUAL:
        return order != 0;
    case TH_OP_LESS:
        return order < 0;
    case TH_OP_LESS_EQUAL:
        return order <= 0;
    case TH_OP_GREATER:
        return order > 0;
    case TH_OP_GREATER_EQUAL:
        return order >= 0;
    case TH_OP_LIKE:
    case TH_N_OPERATORS:
        break;
    }
    return false;
}
