/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - options that several commands share. */
#ifndef TH_TCL_OPTIONS_H
#define TH_TCL_OPTIONS_H
#include "tcl/session.h"

const char *th_network_name(int i);   /* of th_network_types; NULL after the last */
const char *th_objective_name(int i); /* latency throughput */

/* Four rows of an option table, from place first on: what comes in, and over what network. */
#define TH_STREAM_OPTIONS(first)                                                                   \
    [(first)] = {"-network", TH_OPTION_CHOICE, "MODEL", "How transfers share links.",              \
                 .choice = th_network_name},                                                       \
    [(first) + 1] = {"-inputs", TH_OPTION_INTEGER,                                                 \
                     "N",       "Inputs of the stream, each a whole batch (1).",                   \
                     1,         1000000},                                                          \
    [(first) + 2] = {"-interval", TH_OPTION_TIME, "TIME",                                          \
                     "Between the arrivals of two inputs (0)."},                                   \
    [(first) + 3] = {                                                                              \
        "-micro_batches", TH_OPTION_INTEGER, "M", "Parts into which every batch is cut (1).", 1,   \
        1000000}

/* What those options say on top of *out; *out is unchanged where they are not given. 0 or -1. */
int th_stream_parse(th_call *c, int first, th_run_options *out);

#endif
