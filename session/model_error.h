/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_error.h - by how much the models of designs and networks are known to be off: the one
 * place in the source; the page of each model says the same in its line "Error: ...", and a test
 * holds them equal. */
#ifndef TH_SESSION_MODEL_ERROR_H
#define TH_SESSION_MODEL_ERROR_H
#include "session/session.h"

typedef struct th_model_error {
    const char *model; /* type of a design, or name of a network */
    bool is_network;
    double percent;   /* of a time; less than 0: unknown */
    const char *page; /* in docs/models/, with the source of the number */
    /* What it was measured on; NULL: on whatever runs. Of a design: these kinds of layers (bits
     * 1 << th_layer_kind; 0: all), each whole on one accelerator if is_whole. */
    const char *range;
    unsigned kinds;
    bool is_whole;
} th_model_error;

extern const th_model_error th_model_errors[]; /* ends in model NULL */

/* The models that made the times of a run: the designs that layers with multiply-accumulates ran
 * on, and the network if anything was moved. */
th_models th_models_of(const th_session *s, const th_result *r);
th_models th_models_union(th_models a, th_models b);
/* The largest error that is known of them where they were used, in percent; 0: none is known. */
double th_models_error(th_models models);
/* "tiled 2.9 %, systolic unknown, fluid network unknown (13.1 % on RANGE)". */
void th_models_describe(th_models models, th_strbuf *out);

#endif
