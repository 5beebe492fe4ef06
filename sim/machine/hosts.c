/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hosts.c - tasks on hosts, one at a time on each.
 *   reset -> (add -> start -> ended)* -> free
 * Invariant: a host that runs nothing and has ready tasks is in startable_hosts until it starts
 * one. */
#include <config.h>

#include <assert.h>
#include <stdlib.h>

#include "sim/machine/machine_state.h"

void th_hosts_free(th_machine *m)
{
    for (int i = 0; m->hosts && i < m->system->n_hosts; i++)
        th_ready_queue_clear(&m->hosts[i].ready);
    th_ready_queue_clear(&m->startable_hosts);
}

void th_hosts_reset(th_machine *m)
{
    th_ready_queue_reset(&m->startable_hosts);
    for (int i = 0; i < m->system->n_hosts; i++) {
        m->hosts[i].task = m->hosts[i].last_task = -1;
        th_ready_queue_reset(&m->hosts[i].ready);
    }
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Hosts are numbered in the order of their nodes. */
static int host_of(const th_machine *m, int32_t task)
{
    const th_system *s = m->system;
    int node = m->program->tasks[task].node;
    const int *found = bsearch(&node, s->host_node, (size_t)s->n_hosts, sizeof node, compare);
    assert(found);
    return (int)(found - s->host_node);
}

int th_hosts_add(th_machine *m, int32_t task)
{
    int host = host_of(m, task);
    th_host_state *h = &m->hosts[host];
    bool is_first = h->task < 0 && h->ready.n == 0;
    return th_ready_queue_add(&h->ready, task) ||
                   (is_first && th_ready_queue_add(&m->startable_hosts, host))
               ? -1
               : 0;
}

int th_hosts_start(th_machine *m, int32_t host, th_error *err)
{
    th_host_state *h = &m->hosts[host];
    int32_t task = th_ready_queue_take(&h->ready);
    bool has_waited = m->tasks.times[task].ready_ps < m->now && h->last_task >= 0;
    h->task = task;
    th_machine_task_starts(m, task, has_waited ? h->last_task : m->tasks.times[task].cause);
    th_event end = {th_time_add(m->now, m->program->tasks[task].delay_ps), TH_PRIORITY_RELEASE,
                    (uint32_t)task, 0, 0};
    return th_events_push(m->events, &end) == TH_NO_EVENT ? th_error_no_memory(err) : 0;
}

int th_hosts_ended(th_machine *m, int32_t task)
{
    int host = host_of(m, task);
    th_host_state *h = &m->hosts[host];
    h->last_task = task;
    h->task = -1;
    return h->ready.n > 0 ? th_ready_queue_add(&m->startable_hosts, host) : 0;
}
