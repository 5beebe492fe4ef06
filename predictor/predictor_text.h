/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_text.h - private to the reader and the writer of predictors. */
#ifndef TH_PREDICTOR_PREDICTOR_TEXT_H
#define TH_PREDICTOR_PREDICTOR_TEXT_H

#define PREDICTOR_MAGIC "tharsis-predictor"
/* Changes with the format, and with terms and features: their order is part of a model. */
enum { PREDICTOR_VERSION = 1 };

#endif
