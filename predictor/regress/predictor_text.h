/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_text.h - private to the code that reads and writes the parts of predictors. A line is a
 * word and its values; " #" begins a comment. */
#ifndef TH_PREDICTOR_REGRESS_PREDICTOR_TEXT_H
#define TH_PREDICTOR_REGRESS_PREDICTOR_TEXT_H
#include "base/error.h"
#include "base/strbuf.h"
#include "predictor/regress/mlp.h"
#include "predictor/regress/trees.h"

#define PREDICTOR_MAGIC "tharsis-predictor"
/* Changes with the format, and with terms and features: their order is part of a model. */
enum { PREDICTOR_VERSION = 9 };

typedef struct th_text_reader {
    const char *path;
    char *rest;
    int line;
    th_error *err;
} th_text_reader;

int th_text_fail(const th_text_reader *r); /* "is no line of a predictor"; -1 */
/* The next line, ended where its remark begins; NULL at the end. */
char *th_text_line(th_text_reader *r);
/* Whole lines by the formats of scanf. 0, or -1: n_fields were not there. */
int th_text_scan(th_text_reader *r, int n_fields, const char *format, ...)
    __attribute__((format(scanf, 3, 4)));
/* What follows the word that the next line must begin with; NULL: it does not. */
char *th_text_skip(th_text_reader *r, const char *word);
/* The next of numbers divided by blanks; moves *at on. 0 or -1, without a message. */
int th_text_number(char **at, double *out);
/* A line of a word and n numbers. */
int th_text_floats(th_text_reader *r, const char *word, float *x, size_t n);
int th_text_doubles(th_text_reader *r, const char *word, double *x, size_t n);
void th_text_add_floats(const char *word, const float *x, size_t n, th_strbuf *out);
void th_text_add_doubles(const char *word, const double *x, size_t n, th_strbuf *out);

/* parts_text.c. Readers fill what is all zero; what they leave on failure is to be cleared. */
void th_trees_write(const th_trees *t, th_strbuf *out);
int th_trees_read(th_text_reader *r, int n_features, th_trees *out);
void th_mlp_write(const th_mlp *m, th_strbuf *out);
int th_mlp_read(th_text_reader *r, int n_features, th_mlp *out);

#endif
