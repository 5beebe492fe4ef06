/* SPDX-License-Identifier: GPL-3.0-or-later */
/* members.h - operations whose members are unequal: products with rows of their own (the experts of
 * a mixture), sequences with keys of their own. The operation holds as many members (batch) of the
 * mean, rounded up; their numbers stand beside it. */
#ifndef TH_PREDICTOR_OP_MEMBERS_H
#define TH_PREDICTOR_OP_MEMBERS_H
#include "predictor/op/op.h"

/* What members differ in: rows of a matmul, keys of attention; -1: the kind has no members. */
int th_op_member_field(th_op_kind k);
/* The least number of a member: an expert may have no row, a sequence has a key. */
int32_t th_op_member_min(th_op_kind k);
/* Sets the batch and the mean of member[n], n > 0. 0, or -1: the kind has no members, or one is out
 * of its range; *op is as it was. */
int th_op_set_members(th_op *op, const int32_t *member, int32_t n, th_error *err);

#endif
