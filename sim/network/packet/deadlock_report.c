/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deadlock_report.c - who waits for whom when packets are left and nothing moves any more.
 *
 * Then every first packet of a buffer waits for room in the next link's buffers, and these are full
 * of packets that wait as well. Following one of them each time leads into a cycle, which is named.
 * A routing with the classes of virtual_channels.c never comes here; one run with may_deadlock can.
 */
#include <config.h>

#include <stdio.h>

#include "base/alloc.h"
#include "sim/network/packet/packet.h"

/* The buffer whose first packet blocks that of buffer; -1: what blocks it is not a buffer. */
static int32_t blocker(const th_packet_network *p, int32_t buffer)
{
    const th_packet *k = &p->packets[p->buffers[buffer].first];
    int32_t hop = p->hops.item[k->hop], link = th_hop_link(hop);
    int32_t of_link = th_packet_first_of_link(p, link), first, end;
    th_packet_channels(p, link, th_hop_class(hop), &first, &end);
    for (int32_t b = of_link + first; b < of_link + end; b++)
        if (p->buffers[b].first >= 0)
            return b;
    return -1;
}

static int32_t first_full(const th_packet_network *p)
{
    for (int32_t b = 0; b < p->n_buffers; b++)
        if (p->buffers[b].first >= 0)
            return b;
    return -1;
}

/* A buffer on the cycle that the first full one leads into; -1: none, or memory is out. */
static int32_t find_cycle(const th_packet_network *p)
{
    uint8_t *was_here = th_alloc_zero((size_t)p->n_buffers + 1, 1);
    int32_t b = was_here ? first_full(p) : -1;
    for (; b >= 0 && !was_here[b]; b = blocker(p, b))
        was_here[b] = 1;
    th_free(was_here);
    return b;
}

static void print_cycle(const th_packet_network *p, int32_t start, char *out, size_t size)
{
    enum { SHOWN = 8 }; /* links: a message is one line */
    const th_system *s = p->head.system;
    int32_t b = start;
    size_t used = 0;
    out[0] = '\0';
    for (int n = 0; b >= 0 && used < size; n++, b = blocker(p, b)) {
        const char *name = n < SHOWN ? s->links[th_packet_link_of(p, b)].name : "...";
        used += (size_t)snprintf(out + used, size - used, "%s%s", n ? " waits for " : "", name);
        if (n == SHOWN || (n > 0 && b == start))
            return;
    }
}

int th_packet_explain_stuck(th_packet_network *p, th_time now)
{
    enum { CYCLE_TEXT = 600, TIME_TEXT = 32 };
    char cycle[CYCLE_TEXT], time[TIME_TEXT];
    print_cycle(p, find_cycle(p), cycle, sizeof cycle);
    return th_error_set(&p->head.why, "NET-0016",
                        "network packet: deadlock at %s: %lld packets wait and none can move: %s",
                        th_format_time(now, time, sizeof time), (long long)p->n_waiting, cycle);
}
