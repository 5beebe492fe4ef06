/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deadlock_report.c - the cycle of buffers that wait for each other in a deadlock.
 *
 * In a deadlock the first packet of every non-empty buffer waits for space in the next link's
 * buffers, which are full of waiting packets. Following one of them each time ends in a cycle. With
 * the classes of virtual_channels.c no routing deadlocks; with may_deadlock one can. */
#include <config.h>

#include <stdio.h>

#include "base/alloc.h"
#include "sim/network/packet/packet.h"

/* The buffer whose first packet blocks that of buffer; -1: none does. */
static int32_t blocker(const th_packet_network *p, int32_t buffer)
{
    const th_packet *k = &p->traffic.packets[p->fabric.buffers[buffer].first];
    int32_t hop = p->traffic.hops.item[k->hop], link = th_hop_link(hop);
    int32_t of_link = th_packet_first_buffer(p, link), first, end;
    th_packet_usable_channels(p, link, th_hop_class(hop), &first, &end);
    for (int32_t b = of_link + first; b < of_link + end; b++)
        if (p->fabric.buffers[b].first >= 0)
            return b;
    return -1;
}

static int32_t first_nonempty(const th_packet_network *p)
{
    for (int32_t b = 0; b < p->fabric.n_buffers; b++)
        if (p->fabric.buffers[b].first >= 0)
            return b;
    return -1;
}

/* A buffer on the cycle that the first non-empty buffer leads into; -1: none, or memory is out. */
static int32_t find_cycle(const th_packet_network *p)
{
    uint8_t *visited = th_alloc_zero((size_t)p->fabric.n_buffers + 1, 1);
    int32_t b = visited ? first_nonempty(p) : -1;
    for (; b >= 0 && !visited[b]; b = blocker(p, b))
        visited[b] = 1;
    th_free(visited);
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

int th_packet_report_deadlock(th_packet_network *p, th_time now)
{
    enum { CYCLE_TEXT = 600, TIME_TEXT = 32 };
    char cycle[CYCLE_TEXT], time[TIME_TEXT];
    print_cycle(p, find_cycle(p), cycle, sizeof cycle);
    return th_error_set(&p->head.why, "NET-0016",
                        "network packet: deadlock at %s: %lld packets wait and none can move: %s",
                        th_format_time(now, time, sizeof time), (long long)p->traffic.n_waiting,
                        cycle);
}
