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
    int64_t padded;   /* bytes with what fills it up to the largest of the pieces that it is one of
                       * (sim/collective/collective.h); below bytes: bytes */
    /* Of a stripe of a larger message: 1 + where it begins (stripe.h), else 0; how many it has, and
     * its bytes. */
    uint32_t stripe;
    int32_t n_stripes;
    int64_t whole_bytes;
} th_message;

/* The bytes whose time it takes. */
static inline int64_t th_message_padded(const th_message *m)
{
    return m->padded > m->bytes ? m->padded : m->bytes;
}

#endif
