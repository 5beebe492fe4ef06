/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - when each rank of a trace finished, and what it waits for if it did not. Under
 * ASTRA-sim's networks the times are those of its replay; under the others a rank finishes with its
 * last node, and its exposed time is what its accelerator did not compute. */
#include <config.h>
#include "sim/execution_trace/trace_stuck.h"
#include "report/objects/figures.h"
#include "report/sections/sections.h"

static int add_rows(th_session *s, th_table *t, th_trace_explainer *x, th_error *err)
{
    for (int32_t i = 0; i < s->hand_built->trace->n_ranks; i++) {
        th_rank_times r = th_rank_times_of(s, i);
        const char *why = th_trace_explain_rank(x, i, err);
        if (!why)
            return -1;
        bool is_finished = r.finish_ps >= 0;
        th_quantity cells[] = {
            th_count(i),
            th_text(is_finished ? "finished" : "not_finished"),
            is_finished ? th_ps(r.finish_ps) : th_absent(TH_KIND_TIME),
            is_finished ? th_ps(r.exposed_ps) : th_absent(TH_KIND_TIME),
            th_text(th_report_keep(t->report, why)),
        };
        th_table_row(t, cells);
    }
    return 0;
}

int th_section_ranks(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"rank", "rank", TH_KIND_COUNT},          {"state", "state", TH_KIND_TEXT},
        {"finish", "finish", TH_KIND_TIME},       {"exposed", "exposed", TH_KIND_TIME},
        {"reason", "what is left", TH_KIND_TEXT}, {NULL, NULL, TH_KIND_TEXT},
    };
    th_trace_explainer *x = th_trace_explainer_new(s->hand_built->trace, s->system,
                                                   th_machine_times(s->simulation->machine), err);
    if (!x)
        return -1;
    th_table *t = th_report_table(r, "ranks", NULL, columns);
    th_table_wrap(t);
    int failed = add_rows(s, t, x, err);
    th_trace_explainer_free(x);
    return failed;
}
