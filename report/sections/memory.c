/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c - memory use of each accelerator: its peak, the time of the peak, and the contents. */
#include <config.h>
#include "base/alloc.h"
#include "report/sections/sections.h"

int th_memory_fullest(th_session *s, th_error *err)
{
    const th_simulation *sim = th_session_simulation(s, err);
    int fullest = -1;
    double most = 0;
    if (!sim)
        return -2;
    for (int a = 0; a < s->system->n_accels; a++) {
        th_peak_place p;
        const th_node *node = &s->system->nodes[s->system->accel_node[a]];
        double used = (double)th_lower_peak_bytes(sim->lower)[a] / (double)node->a.dram_bytes;
        if (th_lower_peak_of(sim->lower, a, &p) && used > most) {
            most = used;
            fullest = a;
        }
    }
    return fullest;
}

static void add_held(th_table *t, const char *layer, const th_held *held, int64_t peak)
{
    th_table_row(t, (th_quantity[]){th_text(layer), th_text(th_held_name(held->kind)),
                                    th_bytes(held->bytes),
                                    th_share((double)held->bytes / (double)peak)});
}

/* The weights of all layers in one line. */
static void add_all_weights(th_report *r, th_table *t, const th_memory_peak *p, int64_t peak)
{
    th_held all = {TH_HELD_WEIGHTS, -1, 0};
    int n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->held[i].kind == TH_HELD_WEIGHTS) {
            all.bytes += p->held[i].bytes;
            n++;
        }
    if (n > 0)
        add_held(t, th_report_printf(r, "(%d layer%s)", n, n == 1 ? "" : "s"), &all, peak);
}

int th_section_held(th_session *s, th_report *r, int accel, bool is_merged, th_error *err)
{
    static const th_column columns[] = {
        {"layer", "layer", TH_KIND_TEXT},  {"what", "what", TH_KIND_TEXT},
        {"bytes", "bytes", TH_KIND_BYTES}, {"share", "of peak", TH_KIND_SHARE},
        {NULL, NULL, TH_KIND_TEXT},
    };
    enum { BYTES = 2 };
    th_memory_peak p;
    th_simulation *sim = th_session_simulation(s, err);
    if (!sim || th_lower_held(sim->lower, s->mapping, &sim->options.stream, accel, &p, err) != 0)
        return -1;
    int64_t peak = th_lower_peak_bytes(sim->lower)[accel];
    const char *name = s->system->nodes[s->system->accel_node[accel]].name;
    th_table *t = th_report_table(
        r, "held", th_report_printf(r, "What fills accel/%.60s at its peak", name), columns);
    if (is_merged)
        add_all_weights(r, t, &p, peak);
    for (size_t i = 0; i < p.n; i++)
        if (!is_merged || p.held[i].kind != TH_HELD_WEIGHTS)
            add_held(t, s->workload->layers[p.held[i].layer].name, &p.held[i], peak);
    th_table_total(t, (th_quantity[]){th_text("peak"), th_absent(TH_KIND_TEXT), th_bytes(peak),
                                      th_share(peak > 0 ? 1 : 0)});
    th_table_sort(t, BYTES);
    th_memory_peak_clear(&p);
    return 0;
}
