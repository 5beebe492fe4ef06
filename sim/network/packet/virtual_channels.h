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

/* Examines the routes among all accelerators, hosts and switches that reduce; of systems with more
 * than TH_CHANNELS_ALL_PAIRS pairs of them, a fixed pseudo-random sample of the pairs, until their
 * routes have TH_CHANNELS_LINKS links in all. waits_at_end: a packet waits in the buffer at the end
 * of its last link; else the destination takes it at once. s must outlive the result. NULL: memory
 * is out. */
enum { TH_CHANNELS_ALL_PAIRS = 1 << 18, TH_CHANNELS_LINKS = 1 << 22, TH_CHANNELS_SPARE = 2 };
th_channels *th_channels_new(const th_system *s, bool waits_at_end, th_error *err);
void th_channels_free(th_channels *c); /* accepts NULL */

/* Classes that the examined routes need, 1: they cannot deadlock; and TH_CHANNELS_SPARE more for
 * the others where only a sample has been examined. */
int th_channels_needed(const th_channels *c);

/* The class on each of the n links of a route, into class_of. Returns the number of classes that it
 * needs: no more than th_channels_needed, but for a route that has not been examined. */
int th_channels_classes(const th_channels *c, const int *links, int n, uint8_t *class_of);

/* Spreads routes over classes: raises the n classes of the pair's route, which leaves n_left
 * classes unused, by a hash of the pair modulo n_left + 1, so that no class carries few packets (on
 * a torus most routes need one class of two). */
void th_channels_spread(int n_left, int src, int dst, uint8_t *class_of, int n);

/* A cycle of links whose buffers can each wait for the next one's, as "a -> b -> a". Into
 * out[size], returned; empty when there is none. */
char *th_channels_cycle(const th_channels *c, char *out, size_t size);

#endif
