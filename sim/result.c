/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.c - figures from the times of a run. */
#include <config.h>

#include "sim/result.h"

#include "base/alloc.h"

void th_result_clear(th_result *r)
{
    th_free(r->accels);
    th_free(r->links);
    th_free(r->tasks);
    th_free(r->input_end_ps);
    *r = (th_result){0};
}

int32_t th_throughput_counted(int32_t n, int32_t wave)
{
    int32_t half = n - n / 2, whole = wave > 1 ? half / wave * wave : half;
    return whole > 0 ? whole : n;
}

double th_result_throughput(const th_result *r)
{
    int32_t n = r->n_inputs, counted = th_throughput_counted(n, r->wave);
    th_time last = n > 0 ? r->input_end_ps[n - 1] : 0;
    th_time since = counted < n ? r->input_end_ps[n - counted - 1] : 0;
    return last > since ? counted * (double)TH_PS_PER_S / (double)(last - since) : 0;
}

double th_result_link_utilization(const th_result *r)
{
    double sum = 0;
    int n = 0;
    for (int l = 0; l < r->n_links; l++) {
        sum += (double)r->links[l].busy_ps;
        n += r->links[l].busy_ps > 0;
    }
    return n > 0 && r->elapsed_ps > 0 ? sum / n / (double)r->elapsed_ps : 0;
}

double th_result_accel_utilization(const th_result *r)
{
    double sum = 0;
    for (int a = 0; a < r->n_accels; a++)
        sum += (double)r->accels[a].did.busy_ps;
    return r->n_accels > 0 && r->elapsed_ps > 0 ? sum / r->n_accels / (double)r->elapsed_ps : 0;
}
