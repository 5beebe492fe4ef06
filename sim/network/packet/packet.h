/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet.h - private to the packet network: its state, and what its files share.
 *
 *   packet.c           options, life, start and end of messages, the row of the table
 *   packet_step.c      one time step: arrivals, requests for links, allocation, sending
 *   packet_events.c    the pending events
 *   dram_links.c       the links between DRAMs and the network
 *   virtual_channels.c classes of virtual channels that exclude deadlock
 *   deadlock_report.c  the cycle of buffers in a deadlock
 * All state is indices. Links are those of the system; with terminals, two more for each node
 * follow them, into its router and out of it; then, for each DRAM that is narrower than what leads
 * into the network and out of it, one from it to each of those links and one from each to it, all
 * on one medium. A buffer belongs to one virtual channel at the end of
 * one link; its number is (link << channel_shift) + channel. What requests a link is a requester:
 * the number of a buffer, or n_buffers + link for the messages injected into that link. */
#ifndef TH_SIM_NETWORK_PACKET_PACKET_H
#define TH_SIM_NETWORK_PACKET_PACKET_H
#include "sim/network/models.h"
#include "sim/network/packet/index_set.h"
#include "sim/network/packet/packet_events.h"
#include "sim/network/packet/virtual_channels.h"
#include "sim/network/routes.h"

enum {
    TH_PACKET_BYTES = 4096, /* default: the largest payload that RDMA networks carry */
    TH_PACKET_BYTES_MAX = 1 << 30,
    TH_PACKET_CHANNELS = 4, /* default, or as many as the routes need */
    TH_PACKET_CHANNELS_MAX = 32,
    TH_PACKET_CROSSBAR_MAX = 32,
    /* Default buffer: what a link carries in a round trip, and this number of packets besides. */
    TH_PACKET_BUFFERED = 4
};

typedef enum {
    TH_PACKET_HEAD_ARRIVES, /* object: packet, whose head is at the end of its link */
    TH_PACKET_TAIL_LEAVES,  /* object: link; the last byte of the packet that it sends leaves */
    TH_PACKET_CREDIT,       /* object: buffer; a number of its bytes is free again */
    TH_PACKET_INJECT,       /* object: flow; its first packet may be sent */
    TH_PACKET_READY,        /* object: buffer; its first packet may request its link */
    TH_PACKET_RETRY         /* object: medium; it may request the crossbar again */
} th_packet_event_kind;

/* One link of a route in one integer: the link, the class of virtual channels, is it the last? */
enum {
    TH_HOP_LAST = 1,
    TH_HOP_CLASS_BITS = 5,
    TH_HOP_LINKS_MAX = INT32_MAX >> (TH_HOP_CLASS_BITS + 1)
};

static inline int32_t th_hop(int32_t link, int class)
{
    return link << (TH_HOP_CLASS_BITS + 1) | class << 1;
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
    return hop & TH_HOP_LAST;
}

typedef struct th_packet {
    int32_t next; /* in its buffer, -1: none; of the free packets */
    int32_t flow;
    int32_t hop;    /* the next one, in hops.item */
    int32_t buffer; /* that it is in, or on the way to */
    int32_t bytes;
    bool has_arrived;
    th_time tail; /* when its last byte is where its head is */
} th_packet;

typedef struct th_packet_flow {
    int32_t next;   /* in the injection queue of its first link, -1: none; of the free flows */
    int32_t number; /* the machine's */
    int64_t bytes_to_send;
    int64_t n_to_send;     /* packets */
    int64_t n_undelivered; /* packets */
    th_time end;           /* of the packets delivered so far */
    int32_t first_hop, n_hops;
} th_packet_flow;

typedef struct th_packet_buffer {
    int64_t free_bytes;  /* as far as the sender knows */
    th_time ready_at;    /* from when on its first packet may request its link */
    int32_t first, last; /* packets, -1: none */
} th_packet_buffer;

typedef struct th_packet_link {
    th_time latency_ps;   /* with the router's delay */
    int64_t buffer_bytes; /* of each channel */
    int32_t medium;
    int32_t first_requester, last_requester; /* its request queue, -1: empty */
    int32_t first_flow, last_flow;           /* messages that inject here, -1: none */
    uint8_t next_channel_to_fill;            /* round robin over the buffers at its end */
    uint8_t next_channel_to_read;
} th_packet_link;

typedef struct th_packet_medium {
    th_time busy_until;
    int64_t bits_per_s;
    int32_t buffer_read; /* whose packet it sends, -1: one that is injected */
    int32_t first_link;  /* in links_of_media; n_links of them */
    int32_t n_links;
    int32_t next_link; /* round robin over them */
} th_packet_medium;

/* One input of a router's crossbar: it reads those buffers of one link whose channel is its number
 * modulo the inputs of that link, one packet at a time. */
typedef struct th_crossbar_input {
    th_time busy_until;
    int32_t grant;       /* the one that it accepts in this time step, -1: none */
    int32_t next_medium; /* round robin */
} th_crossbar_input;

/* What a link may send next. */
typedef struct th_packet_grant {
    int32_t link;
    int32_t requester;     /* that sends */
    int32_t queued;        /* the entry of the request queue that represents its input */
    int32_t before_queued; /* the entry before that one, -1: it is the first */
    int32_t buffer;        /* that takes the packet, -1 on the last link */
    int32_t next_link;     /* of the medium, if the grant is accepted */
} th_packet_grant;

typedef struct th_packet_injection {
    int32_t number, slot; /* of the flow */
} th_packet_injection;

/* Options that hold for all links and routers. */
typedef struct th_packet_options {
    int32_t packet_bytes;
    bool has_terminals;
    bool may_deadlock;
    int32_t n_crossbar_inputs; /* of each link; 0: no limit */
    th_time credit_delay_ps;
    th_time allocation_cycle_ps; /* 0: media choose one after the other */
} th_packet_options;

typedef struct th_packet_channels {
    th_channels *classes;
    int32_t n_channels, n_classes;
    int shift; /* the least with 1 << shift >= n_channels */
    uint8_t
        first_of_class[TH_PACKET_CHANNELS_MAX + 1]; /* channels of class c: up to that of c + 1 */
} th_packet_channels;

/* Links, media and routers. */
typedef struct th_packet_fabric {
    int32_t n_links, n_media; /* with those of the terminals and DRAMs */
    int32_t first_dram_link;  /* n_links: no DRAM limits a message */
    int32_t n_buffers;
    th_packet_link *links;
    th_packet_medium *media;
    int32_t *links_of_media;
    th_packet_buffer *buffers;
    th_crossbar_input *inputs; /* link * n_crossbar_inputs + channel % n_crossbar_inputs */
} th_packet_fabric;

/* The links between DRAMs and the network, all those of a DRAM on one medium. */
typedef struct th_packet_drams {
    int32_t *first; /* by node: its first one, from fabric.first_dram_link; -1: it limits nothing */
    int32_t n_links, n_media;
} th_packet_drams;

/* Requests for links. */
typedef struct th_packet_requests {
    int32_t *link;           /* by requester: the link that it requests, -1: none */
    int32_t *next;           /* by requester: the one after it in the request queue of that link */
    th_index_set media;      /* that may send something in this time step */
    th_index_set arrived;    /* buffers whose first packet has arrived in this time step */
    th_packet_grant *grants; /* one per medium; NULL: media choose one after the other */
} th_packet_requests;

typedef struct th_packet_traffic {
    th_blocks hops;
    th_packet_flow *flows; /* by slot */
    th_slots flow_slots;
    th_packet *packets; /* by slot */
    th_slots packet_slots;
    th_packet_injection *injecting; /* flows that begin to inject in this time step */
    size_t n_injecting, injecting_room;
    int64_t n_active;  /* flows that have not ended */
    int64_t n_waiting; /* packets in buffers, and messages that inject */
} th_packet_traffic;

typedef struct th_packet_network {
    th_network head;
    th_packet_options options;
    th_packet_channels channels;
    th_packet_fabric fabric;
    th_packet_drams drams;
    th_packet_requests requests;
    th_packet_traffic traffic;
    th_packet_events events;
    th_event_handle wake; /* event of the next time step, in the machine's queue */
    th_time wake_at;
} th_packet_network;

static inline int32_t th_packet_link_of(const th_packet_network *p, int32_t buffer)
{
    return buffer >> p->channels.shift;
}
static inline int32_t th_packet_channel_of(const th_packet_network *p, int32_t buffer)
{
    return buffer & ((1 << p->channels.shift) - 1);
}
static inline int32_t th_packet_first_buffer(const th_packet_network *p, int32_t link)
{
    return link << p->channels.shift;
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
/* Of a terminal, or between a DRAM and the network. */
static inline bool th_packet_is_terminal(const th_packet_network *p, int32_t link)
{
    return link >= p->head.system->n_links;
}
static inline bool th_packet_is_dram(const th_packet_network *p, int32_t link)
{
    return link >= p->fabric.first_dram_link;
}

/* The channels at the end of link that a packet of this class may use, [first, end). A terminal's
 * buffers cannot be part of a cycle, so a packet may use all of its channels. */
static inline void th_packet_usable_channels(const th_packet_network *p, int32_t link, int class,
                                             int32_t *first, int32_t *end)
{
    bool is_any = th_packet_is_terminal(p, link);
    *first = is_any ? 0 : p->channels.first_of_class[class];
    *end = is_any ? p->channels.n_channels : p->channels.first_of_class[class + 1];
}

static inline bool th_packet_is_injection(const th_packet_network *p, int32_t requester)
{
    return requester >= p->fabric.n_buffers;
}

/* packet_step.c: all time steps up to and including now. 0, or -1: memory is out. */
int th_packet_advance(th_packet_network *p, th_events *q, th_time now);

/* dram_links.c: counts the links, before the fabric is made. 0 or -1. */
int th_dram_links_count(th_packet_network *p, int64_t terminal_bits_per_s);
/* How many links node's DRAM has; that from it to link, and that to it from link: -1: it limits
 * nothing. */
int32_t th_dram_links_of(const th_packet_network *p, int node);
int32_t th_dram_link_from(const th_packet_network *p, int node, int link);
int32_t th_dram_link_to(const th_packet_network *p, int node, int link);

/* deadlock_report.c: fills the head's why: packets wait and no event is pending. Returns -1. */
int th_packet_report_deadlock(th_packet_network *p, th_time now);

#endif
