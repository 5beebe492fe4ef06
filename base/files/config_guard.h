/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_guard.h - rejects texts that libconfig handles badly, and says what was probably meant
 * where libconfig says no more than "syntax error". Used by config_read.c only. */
#ifndef TH_BASE_CONFIG_GUARD_H
#define TH_BASE_CONFIG_GUARD_H
#include <stddef.h>
#include "base/error.h"

enum {
    TH_CONFIG_SIZE_MAX = 4 * 1024 * 1024, /* bytes of a file */
    TH_CONFIG_DEPTH_MAX = 32,             /* groups, lists and arrays within each other */
    TH_CONFIG_TOKEN_MAX = 4096,           /* bytes of a name, number or string */
    TH_CONFIG_MEMBERS_MAX = 256,          /* keys of one group */
};

/* 0 if libconfig may parse these bytes (text[size] is 0), else -1 with 'NAME:LINE: ...'. Syntax is
 * none of its business: what is merely wrong passes, and libconfig refuses it. */
int th_config_guard(const char *text, size_t size, const char *name, th_error *err);

/* line: of the syntax error, from 1. Writes ": ..." to out. */
void th_config_hint(const char *text, int line, char *out, size_t size);

#endif
