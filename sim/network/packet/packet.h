/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet.h - private to the packet network: its state, and its parts.
 *
 *   packet.c        life, messages that come and go, the row of the table
 *   packet_link.c   one instant: what arrives, and what each link sends
 *   deadlock_report.c  who waits for whom when nothing moves any more
 *   packet_time.c   what is to happen when
 * All state is indices. Links are those of the system; with terminals, two more for each node
 * follow them, into its router and out of it. A buffer is that of one virtual channel at the end of
 * one link: its number is (link << channel_shift) + channel. Who asks for a link is an entry in the
 * ring of that link: the number of a buffer, or n_buffers + link for what is injected there. */
#ifndef TH_SIM_NETWORK_PACKET_PACKET_H
#define TH_SIM_NETWORK_PACKET_PACKET_H
#include "sim/network/packet/virtual_channels.h"
#include "sim/network/models.h"
#include "sim/network/packet/packet_time.h"
#include "sim/network/routes.h"

enum {
    TH_PACKET_BYTES = 4096, /* default: the largest payload that RDMA networks carry */
    TH_PACKET_BYTES_MAX = 1 << 30,
    TH_PACKET_CHANNELS = 4, /* default, or as many as the routes need */
    TH_PACKET_CHANNELS_MAX = 32,
    TH_PACKET_CROSSBAR_MAX = 32,
    /* Default buffer: what a link carries in a round trip, and so many packets besides. */
    TH_PACKET_BUFFERED = 4
};

typedef enum {
    TH_PACKET_ARRIVES,  /* object: packet; its head is at the end of its link */
    TH_PACKET_HAS_GONE, /* object: link; the last byte of what it sends has left */
    TH_PACKET_CREDIT,   /* object: buffer; so many bytes of it are free again */
    TH_PACKET_INJECTS,  /* object: flow; its first packet may go */
    TH_PACKET_READY, /* object: buffer; its first packet has a channel and may ask for its link */
    TH_PACKET_RETRY  /* object: medium; it may ask the crossbar again */
} th_packet_happening;

/* One link of a route, in one integer: the link, the class of virtual channels, is it the last? */
enum { TH_HOP_CLASS_BITS = 5, TH_HOP_LINKS_MAX = INT32_MAX >> (TH_HOP_CLASS_BITS + 1) };

static inline int32_t th_hop(int32_t link, int class, bool is_last)
{
    return link << (TH_HOP_CLASS_BITS + 1) | class << 1 | is_last;
}
static inline int32_t th_hop_link(int32_t hop)
{
    return hop >> (TH_HOP_CLASS_BITS + 1);
}
static inline int th_hop_class(int32_t hop)
{
    return hop >> 1 & (TH_PACKET_CHANNELS_MAX - 1);
}
static inline bool th_hop_is_last(int32_t hop)
{
    return hop & 1;
}

typedef struct th_packet {
    th_time tail; /* when its last byte is where its head is */
    int32_t flow;
    int32_t hop;    /* the next one, in hops.item */
    int32_t buffer; /* where it is, or is on the way to */
    int32_t bytes;
    int32_t next; /* in its buffer, or of the free ones; -1: none */
    bool has_arrived;
} th_packet;

typedef struct th_packet_flow {
    int64_t bytes_to_send;
    int64_t n_packets; /* that are not yet through */
    int64_t n_to_send;
    th_time end;
    int32_t number; /* the machine's */
    int32_t first_hop, n_hops;
    int32_t next; /* in the queue of its first link, or of the free ones; -1: none */
} th_packet_flow;

typedef struct th_packet_buffer {
    int64_t free_bytes;  /* as far as the sender knows */
    th_time ready_at;    /* from when on its first packet may ask for its link */
    int32_t first, last; /* packets, -1: none */
} th_packet_buffer;

typedef struct th_packet_link {
    th_time latency_ps;   /* with the router's delay */
    int64_t buffer_bytes; /* of each channel */
    int32_t medium;
    int32_t first_asker, last_asker; /* its ring, -1: nobody */
    int32_t first_flow, last_flow;   /* messages that inject here, -1: none */
    uint8_t next_channel;            /* the one to try first when sending */
    uint8_t next_read;               /* the one to try first when its buffers are read */
} th_packet_link;

typedef struct th_packet_medium {
    th_time busy_until;
    int64_t bits_per_s;
    int32_t known_bytes; /* of the duration below: most packets are of one size */
    th_time known_ps;
    int32_t reads;    /* the buffer whose packet it sends; -1: none, or nobody need know */
    int32_t first, n; /* its links, in links_of_media */
    int32_t turn;     /* the one to try first */
} th_packet_medium;

/* One input of a router's crossbar: it reads the buffers of one link whose channels are its number
 * modulo the inputs of that link. */
typedef struct th_packet_reader {
    th_time busy_until;
    int32_t grant; /* of this instant, -1: none */
    int32_t turn;  /* the medium to serve first */
} th_packet_reader;

/* What a link may send next. */
typedef struct th_packet_grant {
    int32_t link, asker; /* asker: who sends; the ring may hold a fellow of it */
    int32_t standing, before;
    int32_t room; /* buffer that takes it, -1 on the last link */
    int32_t turn; /* the medium's next one */
} th_packet_grant;

typedef struct th_packet_injection {
    int32_t number, slot; /* of the flow */
} th_packet_injection;

typedef struct th_packet_network {
    th_network head;
    th_channels *channels;
    int32_t packet_bytes, n_channels, n_classes, n_buffers;
    int32_t n_links, n_media; /* with those of the terminals */
    bool has_terminals;
    int32_t n_crossbar_inputs;   /* of each link; 0: no limit */
    th_time allocation_cycle_ps; /* 0: media choose one after the other */
    th_packet_reader *readers;   /* link * n_crossbar_inputs + channel % n_crossbar_inputs */
    th_packet_grant *grants;     /* one per medium */
    int channel_shift;           /* the least with 1 << channel_shift >= n_channels */
    /* Channels of class c: first_channel[c] .. first_channel[c + 1] - 1. */
    uint8_t first_channel[TH_PACKET_CHANNELS_MAX + 1];
    th_time credit_delay_ps;
    bool may_deadlock;
    th_packet_link *links;
    th_packet_medium *media;
    int32_t *links_of_media;
    th_packet_buffer *buffers;
    int32_t *wants;      /* by asker: the link that it asks for, -1: none */
    int32_t *next_asker; /* by asker: in the ring of that link */
    th_blocks hops;
    th_packet_flow *flows; /* by slot */
    size_t n_flows, flow_room;
    int32_t free_flow;
    th_packet *packets;
    size_t n_packets, packet_room;
    int32_t free_packet;
    th_instants instants;
    th_small_set arrived;           /* buffers whose first packet has arrived at this instant */
    th_small_set to_try;            /* media that may send something at this instant */
    th_packet_injection *injecting; /* flows that begin to inject at this instant */
    size_t n_injecting, injecting_room;
    int64_t n_active;  /* flows that have not ended */
    int64_t n_waiting; /* packets in buffers, and messages that inject */
    th_event_handle wake;
    th_time wake_at;
} th_packet_network;

static inline int32_t th_packet_link_of(const th_packet_network *p, int32_t buffer)
{
    return buffer >> p->channel_shift;
}
static inline int32_t th_packet_channel_of(const th_packet_network *p, int32_t buffer)
{
    return buffer & ((1 << p->channel_shift) - 1);
}
static inline int32_t th_packet_first_of_link(const th_packet_network *p, int32_t link)
{
    return link << p->channel_shift;
}

/* The links between a node and its router. */
static inline int32_t th_packet_terminal_in(const th_packet_network *p, int32_t node)
{
    return p->head.system->n_links + 2 * node;
}
static inline int32_t th_packet_terminal_out(const th_packet_network *p, int32_t node)
{
    return th_packet_terminal_in(p, node) + 1;
}
static inline bool th_packet_is_terminal(const th_packet_network *p, int32_t link)
{
    return link >= p->head.system->n_links;
}

/* The channels at the end of link that a packet of this class may use, [first, end). Nobody waits
 * for room to inject but the node, so what is injected may use all. */
static inline void th_packet_channels(const th_packet_network *p, int32_t link, int class,
                                      int32_t *first, int32_t *end)
{
    bool is_any = th_packet_is_terminal(p, link);
    *first = is_any ? 0 : p->first_channel[class];
    *end = is_any ? p->n_channels : p->first_channel[class + 1];
}

static inline bool th_packet_is_flow(const th_packet_network *p, int32_t asker)
{
    return asker >= p->n_buffers;
}

/* packet_link.c: all that happens up to and including now. 0, or -1: memory is out. */
int th_packet_advance(th_packet_network *p, th_events *q, th_time now);

/* deadlock_report.c: fills the head's why: packets wait and nothing moves. Returns -1. */
int th_packet_explain_stuck(th_packet_network *p, th_time now);

#endif
