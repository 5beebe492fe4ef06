/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.c - the table of algorithms, and what they share. */
#include <config.h>

#include "sim/collective/collective.h"

const char *const th_collective_names[TH_N_COLLECTIVES + 1] = {
    [TH_ALL_REDUCE] = "all_reduce", [TH_ALL_GATHER] = "all_gather",
    [TH_REDUCE_SCATTER] = "reduce_scatter", [TH_ALL_TO_ALL] = "all_to_all",
    [TH_BROADCAST] = "broadcast", [TH_REDUCE] = "reduce",
    [TH_GATHER] = "gather", [TH_SCATTER] = "scatter",
    [TH_BARRIER] = "barrier", [TH_SEND_RECV] = "send_recv",
    [TH_USER_SCHEDULE] = "schedule", [TH_N_COLLECTIVES] = NULL,
};
