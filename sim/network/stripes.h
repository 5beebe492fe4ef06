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

#endif
