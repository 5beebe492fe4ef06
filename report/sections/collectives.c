/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.c - the time and bandwidth of each collective of a program. Algorithm bandwidth is S
 * / t. Bus bandwidth is that times the fraction of S that every rank must send over its links at
 * least, so that it is comparable with the bandwidth of links for any number of ranks; the factors
 * are those of nccl-tests (NVIDIA, doc/PERFORMANCE.md). With in-switch reduction, or more than one
 * link per rank, it may exceed the bandwidth of a link. The bound is that of
 * sim/collective/bound.h, for the group alone on the system; over_bound is time / bound - 1. It
 * does not apply to a network without contention; there both are absent. */
#include <config.h>
#include <string.h>
#include "sim/collective/bound.h"
#include "report/objects/objects.h"
#include "report/sections/sections.h"

/* Bytes that each rank must send, as a share of S; 0: not defined. */
static double bus_factor(const th_collective *c)
{
    double n = c->n_ranks, others = (n - 1) / n;
    switch ((th_collective_kind)c->kind) {
    case TH_ALL_REDUCE:
        return 2 * others;
    case TH_ALL_GATHER:
    case TH_REDUCE_SCATTER:
    case TH_ALL_TO_ALL:
    case TH_GATHER:
    case TH_SCATTER:
        return others;
    case TH_BROADCAST:
    case TH_REDUCE:
    case TH_SEND_RECV:
        return n > 1;
    case TH_BARRIER:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return 0;
}

/* Absent if nothing was moved, or in no time. */
static th_quantity bandwidth_of(double bytes, th_time time_ps)
{
    if (bytes <= 0 || time_ps <= 0)
        return th_absent(TH_KIND_BANDWIDTH);
    return th_bandwidth((int64_t)(8 * bytes * (double)TH_PS_PER_S / (double)time_ps + 0.5));
}

static th_quantity over_bound_of(th_time time_ps, th_time bound_ps)
{
    if (time_ps < 0 || bound_ps <= 0)
        return th_absent(TH_KIND_CHANGE);
    return th_change((double)time_ps / (double)bound_ps - 1);
}

/* bound_ps is -1 where there is none. */
static void add_collective(th_table *t, const th_collective *c, int32_t task,
                           const th_task_result *when, th_time bound_ps)
{
    th_time time_ps = when->end_ps >= 0 ? when->end_ps - when->start_ps : -1;
    double bytes = (double)c->bytes, factor = c->pair_bytes ? 0 : bus_factor(c);
    th_table_row(t, (th_quantity[]){th_count(task), th_text(th_collective_names[c->kind]),
                                    th_text(c->algorithm ? c->algorithm->name : "auto"),
                                    th_count(c->n_ranks), th_count(c->chunks), th_bytes(c->bytes),
                                    th_ps_or_absent(when->start_ps), th_ps_or_absent(when->end_ps),
                                    th_ps_or_absent(time_ps), bandwidth_of(bytes, time_ps),
                                    bandwidth_of(factor * bytes, time_ps),
                                    th_ps_or_absent(bound_ps), over_bound_of(time_ps, bound_ps)});
}

/* Has the program collectives of a trace for which system.json names no algorithm of ours? */
static bool chooses_instead(const th_session *s)
{
    const th_program *p = s->simulation->program;
    int32_t i = s->system->astra && s->hand_built && s->hand_built->trace ? 0 : p->n_collectives;
    while (i < p->n_collectives && p->collectives[i].algorithm)
        i++;
    return i < p->n_collectives;
}

int th_section_collectives(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"task", "task", TH_KIND_COUNT},
        {"collective", "collective", TH_KIND_TEXT},
        {"algorithm", "algorithm", TH_KIND_TEXT},
        {"ranks", "ranks", TH_KIND_COUNT},
        {"chunks", NULL, TH_KIND_COUNT},
        {"bytes", "size", TH_KIND_BYTES},
        {"start", NULL, TH_KIND_TIME},
        {"end", NULL, TH_KIND_TIME},
        {"time", "time", TH_KIND_TIME},
        {"algorithm_bandwidth", "algbw", TH_KIND_BANDWIDTH},
        {"bus_bandwidth", "busbw", TH_KIND_BANDWIDTH},
        {"bound", NULL, TH_KIND_TIME},
        {"over_bound", "over bound", TH_KIND_CHANGE},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x)
        return -1;
    const th_program *p = s->simulation->program;
    const th_network_type *network = s->simulation->options.network;
    bool has_contention = !network || strcmp(network->name, "ideal") != 0;
    th_table *t = th_report_table(r, "collectives", "Collectives", columns);
    th_table_wide_range(t);
    if (chooses_instead(s))
        th_table_note(t, "algorithm",
                      "algorithm: the fastest, where system.json names none for all ranks at once");
    th_table_note(t, "algorithm_bandwidth", "algbw: size / time");
    th_table_note(
        t, "bus_bandwidth",
        "busbw: algbw times the share of the size that each rank sends at least; to be held "
        "against nccl-tests only where the links have the rates that messages reach");
    th_table_note(t, "over_bound", "over bound: time / lower bound of the group alone - 1");
    for (int32_t i = 0; i < p->n_tasks; i++) {
        th_time bound_ps;
        if (p->tasks[i].kind != TH_TASK_COLLECTIVE)
            continue;
        const th_collective *c = th_session_collective(s, p->tasks[i].collective);
        bound_ps = -1;
        if (has_contention && th_collective_bound(c, s->system, &bound_ps, err) != 0)
            return -1;
        add_collective(t, c, i, &x->tasks[i], bound_ps);
    }
    return 0;
}
