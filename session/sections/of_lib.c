/* SPDX-License-Identifier: GPL-3.0-or-later */
/* of_lib.c - sections of reports that are Tcl (lib/reports.tcl), for pages, pictures and files of
 * results. */
#include <config.h>
#include "session/sections/sections.h"
#include "session/saved_run.h"

static int tables(th_session *s, const char *call, th_report *r, th_error *err)
{
    return s->observer->tables(s, call, r, err);
}

/* The section of this name is the result of a call. */
#define SECTION(name, call)                                                                        \
    int th_section_##name(th_session *s, th_report *r, th_error *err)                              \
    {                                                                                              \
        return tables(s, call, r, err);                                                            \
    }
SECTION(summary, "report_summary {}")
SECTION(accels, "report_utilization {}")
SECTION(layer_figures, "report_layers {}")
SECTION(energy, "report_energy {}")
SECTION(memory, "memory_table")
SECTION(collectives, "report_collectives {}")
SECTION(jobs, "report_jobs {}")
SECTION(sets, "sets_table")
SECTION(training, "training_tables")
SECTION(path_groups, "path_groups")
SECTION(step_memory, "step_memory")
SECTION(stages, "stages_tables")

int th_section_links(th_session *s, th_report *r, bool used_only, th_error *err)
{
    return tables(s, used_only ? "links_table 1" : "links_table 0", r, err);
}

int th_section_layers(th_session *s, th_report *r, bool is_merged, th_error *err)
{
    return tables(s, is_merged ? "mapped_layers 1" : "mapped_layers 0", r, err);
}

/* ---- saved runs ---- */

int th_section_saved(th_session *s, th_report *r, const th_runs *runs, th_error *err)
{
    th_strbuf call = TH_STRBUF_INIT;
    th_strbuf_add(&call, "saved_tables {");
    for (int i = 0; i < runs->n; i++)
        th_strbuf_printf(&call, " %d", th_saved_run_number(s, runs->all[i]));
    th_strbuf_add(&call, "}");
    int failed = call.failed ? th_error_no_memory(err) : tables(s, call.text, r, err);
    th_strbuf_clear(&call);
    return failed;
}

int th_section_two_runs(th_session *s, th_report *r, const th_saved_run *const *pair, th_error *err)
{
    int a = th_saved_run_number(s, pair[0]), b = th_saved_run_number(s, pair[1]);
    return tables(s, th_report_printf(r, "two_runs %d %d", a, b), r, err);
}

int th_section_diff(th_session *s, th_report *r, const th_saved_run *const *pair, int limit,
                    th_error *err)
{
    return tables(s,
                  th_report_printf(r, "diff_tables {%d %d} 1 %d", th_saved_run_number(s, pair[0]),
                                   th_saved_run_number(s, pair[1]), limit),
                  r, err);
}
