/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - options that several commands share. */
#ifndef TH_TCL_OPTIONS_H
#define TH_TCL_OPTIONS_H
#include "tcl/command.h"
#include "tcl/tcl_session.h"

const char *th_network_name(int i); /* of th_network_types; NULL after the last */

#define TH_NETWORK_OPTION                                                                          \
    {                                                                                              \
        "-network", TH_OPTION_CHOICE, "MODEL",                                                     \
            "How transfers share links; set_network has the options of the models.",               \
            .choice = th_network_name                                                              \
    }

/* Rows of an option table, starting at index first: the stream of inputs. */
enum { TH_STREAM_PARTS_MAX = 1000000 }; /* inputs of a stream, and micro-batches of each */
enum { TH_STREAM_INPUTS, TH_STREAM_INTERVAL, TH_STREAM_MICRO_BATCHES, TH_N_STREAM_OPTIONS };
#define TH_STREAM_OPTIONS(first)                                                                   \
    [(first) + TH_STREAM_INPUTS] = {"-inputs", TH_OPTION_INTEGER,                                  \
                                    "N",       "Inputs of the stream, each a whole batch (1).",    \
                                    1,         TH_STREAM_PARTS_MAX},                               \
               [(first) + TH_STREAM_INTERVAL] = {"-interval", TH_OPTION_TIME, "TIME",              \
                                                 "Time between the arrivals of two inputs (0)."},  \
               [(first) + TH_STREAM_MICRO_BATCHES] = {"-micro_batches",                            \
                                                      TH_OPTION_INTEGER,                           \
                                                      "M",                                         \
                                                      "Parts into which every batch is cut (1).",  \
                                                      1,                                           \
                                                      TH_STREAM_PARTS_MAX}

/* Changes *out where these options are given. 0 or -1. */
int th_stream_parse(th_call *c, int first, th_run_options *out);

#endif
