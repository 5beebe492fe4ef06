/* SPDX-License-Identifier: GPL-3.0-or-later */
/* designs.c - the table of accelerator designs. */
#include <config.h>

#include "sim/design/designs.h"

#include <string.h>

#define ROW_OF(name) &th_design_##name,
const th_design_type *const th_design_types[] = {TH_DESIGNS(ROW_OF) NULL};
#undef ROW_OF

const th_design_type *th_design_find(const char *name)
{
    for (int i = 0; th_design_types[i]; i++)
        if (strcmp(th_design_types[i]->name, name) == 0)
            return th_design_types[i];
    return NULL;
}
