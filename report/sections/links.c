/* SPDX-License-Identifier: GPL-3.0-or-later */
/* links.c - the load of links: the bytes over its medium as a share of what the medium could have
 * carried in the elapsed time. (Busy time says less: a single flow that another link slows down
 * keeps a link busy.) */
#include <config.h>
#include "base/alloc.h"
#include "report/sections/sections.h"

/* Bytes over each medium; NULL when memory is out. */
static int64_t *medium_bytes(const th_system *s, const th_result *x)
{
    int64_t *bytes = th_alloc_zero((size_t)s->n_media + 1, sizeof *bytes);
    for (int l = 0; bytes && l < x->n_links; l++)
        bytes[s->links[l].medium] += x->links[l].bytes;
    return bytes;
}

static double load_of(const th_medium *m, int64_t bytes, th_time elapsed_ps)
{
    double bits = (double)m->bits_per_s * (double)elapsed_ps / (double)TH_PS_PER_S;
    return th_ratio(8 * (double)bytes, bits);
}

double *th_link_loads(const th_system *s, const th_result *x)
{
    int64_t *bytes = medium_bytes(s, x);
    double *loads = th_alloc_array((size_t)s->n_links + 1, sizeof *loads);
    for (int l = 0; bytes && loads && l < s->n_links; l++)
        loads[l] = load_of(&s->media[s->links[l].medium], bytes[s->links[l].medium], x->elapsed_ps);
    if (!bytes) {
        th_free(loads);
        loads = NULL;
    }
    th_free(bytes);
    return loads;
}

int th_link_worst(th_session *s, th_error *err)
{
    const th_result *x = th_simulation_result(s->simulation, err);
    double *loads = x ? th_link_loads(s->system, x) : NULL;
    if (!loads) {
        if (x)
            th_error_no_memory(err);
        return -2;
    }
    int worst = -1;
    for (int l = 0; l < x->n_links; l++)
        if (x->links[l].bytes > 0 && loads[l] > (worst < 0 ? 0 : loads[worst]))
            worst = l;
    th_free(loads);
    return worst;
}
