/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unroll.c - the messages of a collective as transfers.
 *   unroll: count (what comes in where, and from whom) -> add tasks -> add dependencies
 *
 * Every step becomes a host task, its marker, that takes no time: it stands for the instant at
 * which the step has waited and its port is free. It depends on the marker before it in its thread,
 * on what it waits for, and on the transfer before at its port; the transfer depends on it. What is
 * waited for is a count of messages: where one port sends to a port they come in the order of
 * sending, so the last of them will do; where several do, all of them must be meant. */
#include <config.h>
#include "tests/unit/unroll.h"

#include "base/alloc.h"

enum { NOBODY = -1, SEVERAL = -2 };
enum { MESSAGES_MAX = 1 << 24 }; /* that anybody would look at one by one */

/* Of one port, as the receiver's and as the sender's. */
typedef struct {
    int32_t n_in, n_added; /* messages that come in at it; those that have a task already */
    int64_t first_in;      /* in arrivals */
    int32_t sender;        /* port (of all) that sends to it, NOBODY or SEVERAL */
    int32_t thread;        /* that sends at it, likewise */
    int32_t last_out;      /* transfer that went out last, -1: none yet */
} port;

typedef struct {
    const th_collective_schedule *x;
    th_program *program;
    port *ports;       /* by participant, port */
    int32_t *arrivals; /* tasks, by port in the order of sending */
    int64_t n_messages;
    int32_t begin, end;
    int32_t next,
        last_marker; /* adding dependencies: the next task; the marker before in its thread */
} unrolling;

static int32_t port_number(const unrolling *u, int32_t participant, int32_t number)
{
    return participant * u->x->n_ports + number;
}

static void note(int32_t *who, int32_t number)
{
    *who = *who == NOBODY || *who == number ? number : SEVERAL;
}

/* Calls visit for every step of every thread in order; stops at what is not 0. */
static int for_all_steps(unrolling *u,
                         int (*visit)(unrolling *u, int32_t participant, int32_t thread,
                                      int64_t step, const th_collective_step *a, th_error *err),
                         th_error *err)
{
    const th_collective_schedule *x = u->x;
    th_collective_step a;
    for (int32_t p = 0; p < x->n_participants; p++)
        for (int32_t l = 0; l < x->n_threads; l++)
            for (int64_t step = 0; x->algorithm->get_step(x, p, l, step, &a); step++)
                if (visit(u, p, l, step, &a, err))
                    return -1;
    return 0;
}

static int count(unrolling *u, int32_t participant, int32_t thread, int64_t step,
                 const th_collective_step *a, th_error *err)
{
    (void)step;
    if (a->send_port < 0)
        return 0;
    int32_t own = port_number(u, participant, a->send_port);
    port *to = &u->ports[port_number(u, a->to, a->to_port)];
    if (++u->n_messages > MESSAGES_MAX)
        return th_error_set(err, "TEST-0001",
                            "%s of %d ranks by %s: more than %d messages are not written out",
                            th_collective_names[u->x->collective->kind], u->x->collective->n_ranks,
                            u->x->algorithm->name, MESSAGES_MAX);
    to->n_in++;
    note(&to->sender, own);
    note(&u->ports[own].thread, thread);
    return 0;
}

static int make_room(unrolling *u)
{
    size_t n = (size_t)u->x->n_participants * (size_t)u->x->n_ports;
    u->arrivals = th_alloc_array((size_t)u->n_messages + 1, sizeof *u->arrivals);
    int64_t first = 0;
    for (size_t i = 0; i < n; i++) {
        u->ports[i].first_in = first;
        first += u->ports[i].n_in;
    }
    return u->arrivals ? 0 : -1;
}

static int32_t add_host(unrolling *u, th_error *err)
{
    th_task t = {.kind = TH_TASK_HOST, .node = -1, .peer = -1, .compute_cost = -1, .layer = -1};
    return th_program_add(u->program, &t, err);
}

static bool is_message(const unrolling *u, int32_t participant, const th_collective_step *a)
{
    return u->x->node[participant] != u->x->node[a->to];
}

static int32_t add_message(unrolling *u, int32_t from, const th_collective_step *a, th_error *err)
{
    const th_collective_schedule *x = u->x;
    th_task t = {.kind = TH_TASK_TRANSFER,
                 .node = x->node[from],
                 .peer = x->node[a->to],
                 .compute_cost = -1,
                 .bytes = a->padded,
                 .delay_ps = x->collective->delay_ps,
                 .layer = -1};
    return is_message(u, from, a) ? th_program_add(u->program, &t, err) : add_host(u, err);
}

static int add_tasks(unrolling *u, int32_t participant, int32_t thread, int64_t step,
                     const th_collective_step *a, th_error *err)
{
    (void)thread;
    (void)step;
    if (add_host(u, err) < 0)
        return -1;
    if (a->send_port < 0)
        return 0;
    port *to = &u->ports[port_number(u, a->to, a->to_port)];
    int32_t message = add_message(u, participant, a, err);
    u->arrivals[to->first_in + to->n_added++] = message;
    return message < 0 ? -1 : 0;
}

static int wait(const unrolling *u, int32_t participant, int32_t marker,
                const th_collective_step *a, th_error *err)
{
    const port *at = &u->ports[port_number(u, participant, a->wait_port)];
    int32_t n = a->wait_count;
    if (n == 0)
        return 0;
    if (n > at->n_in || (at->sender == SEVERAL && n < at->n_in))
        return th_error_set(err, "TEST-0002",
                            "%s of %d ranks by %s: participant %d waits at port %d for %d of %d "
                            "messages: which ones depends on times",
                            th_collective_names[u->x->collective->kind], u->x->collective->n_ranks,
                            u->x->algorithm->name, participant, a->wait_port, n, at->n_in);
    for (int32_t i = at->sender == SEVERAL ? 0 : n - 1; i < n; i++)
        if (th_program_depend(u->program, marker, u->arrivals[at->first_in + i], err))
            return -1;
    return 0;
}

/* Tasks are met in the order in which add_tasks made them. */
static int depend(unrolling *u, int32_t participant, int32_t thread, int64_t step,
                  const th_collective_step *a, th_error *err)
{
    th_program *p = u->program;
    int32_t marker = u->next++, before = step == 0 ? u->begin : u->last_marker;
    u->last_marker = marker;
    if (th_program_depend(p, marker, before, err) || th_program_depend(p, u->end, marker, err) ||
        (a->wait_port >= 0 && wait(u, participant, marker, a, err)))
        return -1;
    if (a->send_port < 0)
        return 0;
    port *from = &u->ports[port_number(u, participant, a->send_port)];
    int32_t message = u->next++;
    if (from->thread == SEVERAL)
        return th_error_set(err, "TEST-0003",
                            "%s of %d ranks by %s: threads %d and others of participant %d share "
                            "port %d: who comes first depends on times",
                            th_collective_names[u->x->collective->kind], u->x->collective->n_ranks,
                            u->x->algorithm->name, thread, participant, a->send_port);
    if (th_program_depend(p, message, marker, err) || th_program_depend(p, u->end, message, err) ||
        (from->last_out >= 0 && th_program_depend(p, marker, from->last_out, err)))
        return -1;
    if (is_message(u, participant, a))
        from->last_out = message;
    return 0;
}

static int add_all(unrolling *u, th_error *err)
{
    size_t n = (size_t)u->x->n_participants * (size_t)u->x->n_ports;
    u->ports = th_alloc_array(n + 1, sizeof *u->ports);
    if (!u->ports)
        return th_error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        u->ports[i] = (port){.sender = NOBODY, .thread = NOBODY, .last_out = -1};
    if (for_all_steps(u, count, err))
        return -1;
    if (make_room(u))
        return th_error_no_memory(err);
    u->begin = add_host(u, err);
    u->next = u->begin + 1;
    if (u->begin < 0 || for_all_steps(u, add_tasks, err))
        return -1;
    u->end = add_host(u, err);
    if (u->end < 0 || th_program_depend(u->program, u->end, u->begin, err))
        return -1;
    return for_all_steps(u, depend, err);
}

int unroll(const th_collective_schedule *x, th_program *p, unrolled_tasks *out, th_error *err)
{
    unrolling u = {.x = x, .program = p};
    int status = add_all(&u, err);
    th_free(u.ports);
    th_free(u.arrivals);
    if (status == 0)
        *out = (unrolled_tasks){u.begin, u.end, (int32_t)u.n_messages};
    return status;
}
