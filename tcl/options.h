/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - options that several commands share. */
#ifndef TH_TCL_OPTIONS_H
#define TH_TCL_OPTIONS_H
#include "tcl/command.h"
#include "tcl/tcl_session.h"

const char *th_network_name(int i);  /* of th_network_types; NULL after the last */
const char *th_weights_name(int i);  /* equal latency */
const char *th_deadlock_name(int i); /* refuse allow */

/* Rows of an option table, starting at index first: the network and the options of its models. */
enum {
    TH_NETWORK_MODEL,
    TH_NETWORK_WEIGHTS,
    TH_NETWORK_PACKET,
    TH_NETWORK_BUFFER,
    TH_NETWORK_CHANNELS,
    TH_NETWORK_CREDIT,
    TH_NETWORK_ROUTER,
    TH_NETWORK_TERMINAL,
    TH_NETWORK_CROSSBAR,
    TH_NETWORK_CYCLE,
    TH_NETWORK_DEADLOCK,
    TH_N_NETWORK_OPTIONS
};
#define TH_NETWORK_OPTIONS(first)                                                                  \
    [(first) +                                                                                     \
        TH_NETWORK_MODEL] = {"-network", TH_OPTION_CHOICE, "MODEL", "How transfers share links.",  \
                             .choice = th_network_name},                                           \
        [(first) + TH_NETWORK_WEIGHTS] = {"-weights", TH_OPTION_CHOICE, "WEIGHTS",                 \
                                          "fluid: flows share a link equally, or in proportion "   \
                                          "to the latency of their routes.",                       \
                                          .choice = th_weights_name},                              \
        [(first) + TH_NETWORK_PACKET] = {"-packet_bytes", TH_OPTION_BYTES, "SIZE",                 \
                                         "packet: the largest payload of a packet (4096B)."},      \
        [(first) + TH_NETWORK_BUFFER] = {"-buffer_bytes", TH_OPTION_BYTES, "SIZE",                 \
                                         "packet: buffer of each virtual channel at the end of a " \
                                         "link (as much as the link needs)."},                     \
        [(first) +                                                                                 \
            TH_NETWORK_CHANNELS] = {"-virtual_channels",                                           \
                                    TH_OPTION_INTEGER,                                             \
                                    "N",                                                           \
                                    "packet: channels per link (4, or as many as routes need).",   \
                                    0,                                                             \
                                    1000000},                                                      \
        [(first) + TH_NETWORK_CREDIT] = {"-credit_delay", TH_OPTION_TIME, "TIME",                  \
                                         "packet: until a sender learns of free space (0)."},      \
        [(first) + TH_NETWORK_ROUTER] = {"-router_delay", TH_OPTION_TIME, "TIME",                  \
                                         "packet: delay added to the latency of every link (0)."}, \
        [(first) + TH_NETWORK_TERMINAL] = {"-terminal_bandwidth", TH_OPTION_BANDWIDTH,             \
                                           "BANDWIDTH",                                            \
                                           "packet: the rate at which a node can inject, and "     \
                                           "receive, at most (that of its links)."},               \
        [(first) + TH_NETWORK_CROSSBAR] =                                                          \
            {"-crossbar_inputs",                                                                   \
             TH_OPTION_INTEGER,                                                                    \
             "N",                                                                                  \
             "packet: packets that leave the buffers of a link at once (any).",                    \
             0,                                                                                    \
             1000000},                                                                             \
        [(first) + TH_NETWORK_CYCLE] = {"-allocation_cycle", TH_OPTION_TIME, "TIME",               \
                                        "packet: cycle in which routers allocate channels and "    \
                                        "crossbar (0: at once, without loss)."},                   \
        [(first) + TH_NETWORK_DEADLOCK] = {                                                        \
            "-deadlock", TH_OPTION_CHOICE, "WHAT",                                                 \
            "packet: whether routes that can deadlock are refused or simulated.",                  \
            .choice = th_deadlock_name}

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
int th_network_parse(th_call *c, int first, th_run_options *out);
int th_stream_parse(th_call *c, int first, th_run_options *out);

#endif
