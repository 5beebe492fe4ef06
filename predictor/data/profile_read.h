/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_read.h - the trace of a profiler as a file of measurements. */
#ifndef TH_PREDICTOR_DATA_PROFILE_READ_H
#define TH_PREDICTOR_DATA_PROFILE_READ_H
#include <stdbool.h>
#include "predictor/data/measurements.h"

/* Does the text begin as JSON? */
bool th_profile_is(const char *text);
/* Replaces the text, a Chrome trace with the operators and kernels of PyTorch's profiler, by lines
 * of format tharsis: a row for each operator whose kind and shapes are known, the time that of its
 * kernels. Notes what was left out. 0, or -1 and the text may only be cleared. */
int th_profile_rows(const th_measurement_source *s, th_strbuf *text, th_error *err);

#endif
