/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.h - "ATTRIBUTE OP LITERAL", in filters and in the conditions of breakpoints. */
#ifndef TH_TCL_COMPARISON_H
#define TH_TCL_COMPARISON_H
#include "tcl/quantity.h"

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

/* The kind of literal that an attribute of this kind is compared with. */
th_kind th_operator_literal(th_operator op, th_kind kind);
/* An absent value compares with nothing: false. */
bool th_comparison_holds(const th_quantity *value, th_operator op, const th_quantity *literal);

#endif
