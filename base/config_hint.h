/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_hint.h - what was probably meant where libconfig says no more than "syntax error". */
#ifndef TH_BASE_CONFIG_HINT_H
#define TH_BASE_CONFIG_HINT_H
#include <stddef.h>

/* line: of the error, from 1. Writes ": ..." to out, or "" where nothing is known. */
void th_config_hint(const char *text, int line, char *out, size_t size);

#endif
