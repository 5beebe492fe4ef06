/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "predictor/op/members.h"

int th_op_member_field(th_op_kind k)
{
    return k == TH_OP_MATMUL ? (int)TH_OP_ROWS : k == TH_OP_ATTENTION ? (int)TH_OP_KEYS : -1;
}

int32_t th_op_member_min(th_op_kind k)
{
    return k == TH_OP_ATTENTION;
}

static int check_member(const th_op *op, int32_t number, int32_t i, th_error *err)
{
    bool is_causal = op->kind == TH_OP_ATTENTION && op->x[TH_OP_CAUSAL];
    int32_t least = is_causal ? op->x[TH_OP_ROWS] : th_op_member_min(op->kind);
    if (number >= least && number <= TH_OP_EXTENT_MAX)
        return 0;
    return th_error_set(err, "PRED-0178", "%s: member %d: %s %d: must be %d to %d%s",
                        th_op_kind_name(op->kind), i + 1,
                        th_op_field_name((th_op_field)th_op_member_field(op->kind)), number, least,
                        TH_OP_EXTENT_MAX, is_causal ? ", where it is causal" : "");
}

int th_op_set_members(th_op *op, const int32_t *member, int32_t n, th_error *err)
{
    int field = th_op_member_field(op->kind);
    int64_t sum = 0;
    if (field < 0)
        return th_error_set(err, "PRED-0179",
                            "members: %s has none: must be matmul (rows of each) or attention "
                            "(keys of each)",
                            th_op_kind_name(op->kind));
    for (int32_t i = 0; i < n; i++) {
        if (check_member(op, member[i], i, err))
            return -1;
        sum += member[i];
    }
    op->x[TH_OP_BATCH] = n;
    op->x[field] = sum < n ? 1 : (int32_t)((sum + n - 1) / n);
    return 0;
}
