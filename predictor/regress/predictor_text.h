/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_text.h - private to the code that reads and writes the parts of predictors. One
 * function does both: it reads a text or, where out is there, writes one.
 *   line | open -> more ... -> close, for every line
 * A format has words, blanks, and values by their addresses:
 *   %d int32_t   %z size_t   %x uint64_t, in hexadecimal   %f double   %g float
 *   %e double to 6 digits, "-" for INFINITY   %s char[TH_TEXT_WORD_MAX]
 * Numbers have as many digits as bring them back exactly; what is read is finite. " #" begins a
 * remark. */
#ifndef TH_PREDICTOR_REGRESS_PREDICTOR_TEXT_H
#define TH_PREDICTOR_REGRESS_PREDICTOR_TEXT_H
#include <stdbool.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "predictor/regress/mlp.h"
#include "predictor/regress/trees.h"

#define PREDICTOR_MAGIC "tharsis-predictor"
/* Changes with the format, and with terms and features: their order is part of a model. */
enum { PREDICTOR_VERSION = 10 };
enum { TH_TEXT_WORD_MAX = 48 };

typedef struct th_text_io {
    const char *path; /* what is read */
    char *rest;
    int line;
    th_error *err;
    th_strbuf *out; /* NULL: the text is read */
    char *at;       /* what is left of the line that is read */
} th_text_io;

/* All: 0, or -1 with "is no line of a predictor". Writing fails by out alone. */
int th_text_fail(const th_text_io *io);
/* Does what was read hold? */
int th_text_check(const th_text_io *io, bool holds);
int th_text_open(th_text_io *io, const char *format, ...);
int th_text_more(th_text_io *io, const char *format, ...);
int th_text_close(th_text_io *io, const char *remark); /* NULL: none */
/* A whole line. */
int th_text_line(th_text_io *io, const char *format, ...);
/* The next line that is read, its remark cut off; NULL at the end. */
char *th_text_next(th_text_io *io);

/* parts_text.c. What is read fills what is all zero; what it leaves on failure is to be cleared. */
int th_trees_text(th_text_io *io, int n_features, th_trees *t);
int th_mlp_text(th_text_io *io, int n_features, th_mlp *m);

#endif
