/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_flows.c - see link_flows.h.
 * Nothing is recorded during a run: routes follow from the system, so they are walked afterwards. */
#include <config.h>
#include "tcl/link_flows.h"
#include "base/alloc.h"
#include "topology/route.h"

static bool route_takes(const th_system *s, int from, int to, int link)
{
    int links[TH_ROUTE_MAX];
    int n = th_route(s, from, to, links);
    for (int i = 0; i < n; i++)
        if (links[i] == link)
            return true;
    return false;
}

static int add(th_link_flows *f, const th_link_flow *flow)
{
    if (th_grow(&f->flows, &f->capacity, f->n + 1, sizeof *f->flows) != 0)
        return -1;
    f->flows[f->n++] = *flow;
    return 0;
}

static int add_transfer(th_link_flows *f, const th_system *s, const th_task *t, int32_t number,
                        int link)
{
    if (!route_takes(s, t->node, t->peer, link))
        return 0;
    return add(f, &(th_link_flow){number, t->node, t->peer, 1, t->bytes});
}

int th_link_flows_collect(th_link_flows *f, const th_system *s, const th_program *p,
                          const th_result *r, int link, th_error *err)
{
    *f = (th_link_flows){NULL, 0, 0};
    for (int32_t t = 0; t < p->n_tasks; t++) {
        int rc = 0;
        if (r->tasks[t].start_ps >= 0 && p->tasks[t].kind == TH_TASK_TRANSFER)
            rc = add_transfer(f, s, &p->tasks[t], t, link);
        if (rc != 0) {
            th_link_flows_clear(f);
            return th_error_no_memory(err);
        }
    }
    return 0;
}

void th_link_flows_clear(th_link_flows *f)
{
    th_free(f->flows);
    *f = (th_link_flows){NULL, 0, 0};
}
