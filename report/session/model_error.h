/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_error.h - by how much the models of designs and networks are known to be off: the one
 * place in the source; the page of each model says the same in its line "Error: ...", and a test
 * holds them equal. */
#ifndef TH_REPORT_SESSION_MODEL_ERROR_H
#define TH_REPORT_SESSION_MODEL_ERROR_H
#include "report/session/session.h"

typedef struct th_model_error {
    const char *model; /* type of a design, or name of a network */
    bool is_network;
    double percent;   /* of a time; less than 0: unknown */
    const char *page; /* in docs/models/, with the source of the number */
} th_model_error;

extern const th_model_error th_model_errors[]; /* ends in model NULL */

/* The models that made the times of a run, as bits by their place in th_model_errors: the designs
 * of its mapping, and the network if anything was moved. */
typedef uint32_t th_models;
th_models th_models_of(const th_session *s, const th_result *r);
/* The largest error that is known among them, in percent; 0: none is known. */
double th_models_error(th_models models);
/* "tiled 2.9 %, systolic unknown, fluid network 13.1 %". */
void th_models_describe(th_models models, th_strbuf *out);

#endif
