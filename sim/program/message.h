/* SPDX-License-Identifier: GPL-3.0-or-later */
/* message.h - what one flow of the network carries: a transfer, or a message of a collective. */
#ifndef TH_SIM_PROGRAM_MESSAGE_H
#define TH_SIM_PROGRAM_MESSAGE_H
#include <stdint.h>
#include "base/units.h"

typedef struct th_message {
    int32_t src, dst; /* nodes */
    int64_t bytes;    /* >= 0; 0: the flow takes its latencies only */
    th_time delay_ps; /* >= 0, before its first byte: overhead of software and protocol */
    uint32_t stripe;  /* of a larger one: 1 + where it begins (stripe.h); 0: whole */
} th_message;

#endif
