/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripes.h - what the machine calls to send through a network: large messages go in stripes
 * (topology/routing/stripe.h), each a flow of its own with the number of the message.
 *   send -> arrives* -> (the last stripe is there) */
#ifndef TH_SIM_NETWORK_STRIPES_H
#define TH_SIM_NETWORK_STRIPES_H
#include "sim/network/network.h"

/* As start and event of the model's row: 0 or -1; has all of the message arrived? */
int th_network_send(th_network *n, th_events *q, th_time now, int32_t number, const th_message *m);
bool th_network_arrives(th_network *n, th_events *q, th_time now, const th_event *e);

/* As th_route, of a stripe (message.h). */
int th_network_route(th_network *n, int src, int dst, uint32_t stripe, int *links);
/* Of a stripe that starts: how long it takes behind its latency when no other message is under way
 * and all have at most `most` bits/s together (they end at once); what its rate is divided by in
 * the sharing of a link (fluid.c), 1 where all are equal, so that they end at once there, too. */
th_time th_network_stripe_ps(const th_network *n, const th_message *m, int64_t most);
double th_network_stripe_weight(const th_network *n, int src, int dst, uint32_t stripe);
/* Routes have changed: messages from now on are divided anew. */
void th_network_stripes_forget(th_network *n);
void th_network_stripes_reset(th_network *n);
void th_network_stripes_free(th_network *n);

#endif
