/* SPDX-License-Identifier: GPL-3.0-or-later */
/* detour.h - media that no route may take for the time being, and routes round them.
 *
 *   (avoid | crosses | find)* -> clear -> ...
 * A transfer keeps the route of the system's routing as long as that crosses no avoided medium.
 * Otherwise it takes the detour: the fewest links, of those the one whose links have the lowest
 * numbers, first link first; over nodes that forward, on no avoided medium and no dead link.
 * Explicit routes are left only for links with ends. */
#ifndef TH_SIM_NETWORK_DETOUR_H
#define TH_SIM_NETWORK_DETOUR_H
#include <stdbool.h>
#include <stdint.h>
#include "topology/system.h"

typedef struct th_detours {
    bool *is_avoided; /* by medium; NULL: none ever was */
    int32_t n_avoided;
    int32_t *via, *queue; /* scratch, by node: the link that the search took to it, -1: none */
} th_detours;

void th_detours_clear(th_detours *d); /* none is avoided; may be used again */
/* From now on the medium is avoided, or not. 0, or -1: memory is out. */
int th_detours_avoid(th_detours *d, const th_system *s, int32_t medium, bool is_avoided);
/* Does one of these links use an avoided medium? */
bool th_detours_crosses(const th_detours *d, const th_system *s, const int *links, int n);
/* The detour from src to dst into links[TH_ROUTE_MAX]; the number of its links, or TH_NO_PATH. Only
 * after avoid. */
int th_detours_find(th_detours *d, const th_system *s, int src, int dst, int *links);

#endif
