/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.h - "ATTRIBUTE OP LITERAL", in filters and in the conditions of breakpoints. */
#ifndef TH_TCL_OBJECTS_COMPARISON_H
#define TH_TCL_OBJECTS_COMPARISON_H
#include "session/objects/objects.h"

typedef enum {
    TH_OP_EQUAL,
    TH_OP_UNEQUAL,
    TH_OP_LESS,
    TH_OP_LESS_EQUAL,
    TH_OP_GREATER,
    TH_OP_GREATER_EQUAL,
    TH_OP_LIKE, /* glob pattern */
    TH_N_OPERATORS
} th_operator;
extern const char *const th_operator_names[TH_N_OPERATORS + 1]; /* ends in NULL */

/* Reads the literal that an attribute is compared with. 0, or -1: the attribute cannot have this
 * value. */
int th_literal_parse(const th_attribute *a, th_operator op, const char *text, th_quantity *out,
                     th_error *err);
/* False for an absent value. */
bool th_comparison_holds(const th_quantity *value, th_operator op, const th_quantity *literal);

#endif
