/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_fields.h - the group "plan" of a parallel plan's file as a table of fields of th_plan_file. */
#ifndef TH_TRAINING_PLAN_FIELDS_H
#define TH_TRAINING_PLAN_FIELDS_H
#include "base/fields.h"

extern const th_field th_plan_fields[];

#endif
