/* SPDX-License-Identifier: GPL-3.0-or-later */
/* virtual_channels.h - which class of virtual channels a packet takes on each link of its route, so
 * that finite buffers cannot deadlock. new -> (classes | cycle)* -> free */
#ifndef TH_SIM_NETWORK_PACKET_VIRTUAL_CHANNELS_H
#define TH_SIM_NETWORK_PACKET_VIRTUAL_CHANNELS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "topology/system.h"

typedef struct th_channels th_channels;

/* ends_wait: a packet waits in a buffer at the end of its last link as well; else what arrives is
 * taken at once. Looks at the routes among all accelerators, hosts and switches that reduce; of
 * systems with more than TH_CHANNELS_ALL_PAIRS pairs of them, at pairs drawn by a fixed rule, until
 * their routes have TH_CHANNELS_LINKS links in all. s must outlive it. NULL: memory is out. */
enum { TH_CHANNELS_ALL_PAIRS = 1 << 18, TH_CHANNELS_LINKS = 1 << 22, TH_CHANNELS_SPARE = 2 };
th_channels *th_channels_new(const th_system *s, bool ends_wait, th_error *err);
void th_channels_free(th_channels *c); /* accepts NULL */

/* Classes that the routes looked at need; 1: they cannot deadlock. TH_CHANNELS_SPARE more where not
 * all have been looked at, for the others. */
int th_channels_needed(const th_channels *c);

/* The class on each of the n links of a route, into class_of. Returns the number of classes that it
 * needs: no more than th_channels_needed, but for a route that has not been looked at. */
int th_channels_classes(const th_channels *c, const int *links, int n, uint8_t *class_of);

/* A route that leaves so many of the classes over may begin in any of these: raises the n classes
 * of the pair's route by 0 to n_left. The pair decides by a hash, so that no class is left to few
 * packets (on a torus most routes need one of two). */
void th_channels_spread(int n_left, int src, int dst, uint8_t *class_of, int n);

/* A cycle of links each of whose buffers can wait for the next one's, as "a -> b -> a". Into
 * out[size], returned; empty when there is none. */
char *th_channels_cycle(const th_channels *c, char *out, size_t size);

#endif
