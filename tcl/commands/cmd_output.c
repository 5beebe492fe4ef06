/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_output.c - files for other programs: write_results, write_report. Traces are in
 * cmd_trace.c. */
#include <config.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "render/html/html.h"
#include "session/sections/sections.h"
#include "tcl/report_call.h"
#include "tcl/core/lib_report.h"

#define GROUP "output"

/* ---- write_results ---- */

/* All results: the mapping, the run if there is one, the saved runs. */
static int add_sections(th_session *s, th_report *r, th_error *err)
{
    th_section_head(s, r, err);
    if (s->mapping &&
        (th_section_search(s, r, err) != 0 || th_section_sets(s, r, err) != 0 ||
         th_section_layers(s, r, false, err) != 0 || th_section_memory(s, r, err) != 0))
        return -1;
    if (s->simulation && s->simulation->has_begun &&
        (th_section_summary(s, r, err) != 0 || th_section_accels(s, r, err) != 0 ||
         th_section_links(s, r, false, err) != 0 || th_section_collectives(s, r, err) != 0 ||
         th_section_path(s, r, 0, err) != 0 || th_section_path_parts(s, r, err) != 0))
        return -1;
    if (s->mapping && s->simulation && s->simulation->has_begun &&
        th_section_layer_figures(s, r, err) != 0)
        return -1;
    const th_runs runs = {s->saved.all, (int)s->saved.n};
    return runs.n > 0 ? th_section_saved(s, r, &runs, err) : 0;
}

static int text_of_results(th_call *c, th_strbuf *out)
{
    th_session *s = c->session;
    if (!s->mapping && !s->hand_built && s->saved.n == 0)
        return th_error_set(&c->err, "TCL-0130",
                            "nothing to write yet: map_workload or create_program, and run first");
    th_report *r = th_report_new("results", "Results");
    if (!r)
        return th_error_no_memory(&c->err);
    int failed = add_sections(s, r, &c->err);
    if (!failed)
        failed = th_report_render(r, TH_FORMAT_JSON, out, &c->err);
    th_report_free(r);
    return failed;
}

/* ---- write_report ---- */

enum { PAGE_COMPARE, PAGE_STUDY };
static const th_option page_options[] = {
    [PAGE_COMPARE] =
        {"-compare", TH_OPTION_RUNS, "{RUN RUN}", .least = 2, .most = 2, .without = "-study",
         .help = "Two runs that save_run returned, side by side, with their timelines on one "
                 "axis."},
    [PAGE_STUDY] = {"-study", TH_OPTION_TEXT, "STUDY",
                    "The points of a study: a picture with the Pareto front, a table with filters, "
                    "and links to the pages of run_study -pages."},
    {NULL, TH_OPTION_FLAG, NULL, NULL},
};

static int write_study(th_call *c, th_strbuf *text)
{
    Tcl_Obj *words[] = {Tcl_NewStringObj(th_call_text(c, PAGE_STUDY, ""), -1), c->words[0]};
    th_report *r = th_lib_call(c, "study_page", 2, words) == 0
                       ? th_lib_make_report(c, Tcl_GetObjResult(c->interp), false)
                       : NULL;
    int failed = r ? th_html_study(r, text, &c->err) : -1;
    Tcl_ResetResult(c->interp);
    th_report_free(r);
    return failed;
}

static int text_of_page(th_call *c, th_strbuf *text)
{
    th_saved_run **pair = c->option[PAGE_COMPARE].runs.all;
    if (pair)
        return th_html_compare(c->session, pair[0], pair[1], text, &c->err);
    if (th_call_has(c, PAGE_STUDY))
        return write_study(c, text);
    return th_session_need_run(c->session, &c->err) == 0 ? th_html_page(c->session, text, &c->err)
                                                         : -1;
}

const th_command th_output_commands[] = {
    {"write_report", GROUP, "FILE", 1, 1, page_options,
     "write a run, two runs or a study as one HTML page",
     "The page has the main figures and a verdict, a picture of the system with the load of its "
     "links, the timeline, bounds, critical path, layers, mapping, accelerators, memory and "
     "search, in one file that needs no other file and no network. The same run gives the same "
     "bytes. Missing folders are created. Returns FILE.",
     .text = text_of_page, .after_interrupt = "nothing was written"},
    {"write_results", GROUP, "FILE", 1, 1, NULL, "write all results as JSON",
     "The file has the system, workload, search, mapping, memory, the figures of the run, its "
     "critical path, and the saved runs. Names of fields end in their units. Missing folders are "
     "created. Returns FILE.",
     .text = text_of_results, .after_interrupt = "nothing was written"},
    {.name = NULL},
};
