/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_output.c - files for other programs: write_results, write_report, open_trace, close_trace. */
#include <config.h>
#include "base/alloc.h"
#include "tcl/html/html.h"
#include "tcl/sections.h"

#define GROUP "output"

/* ---- write_results ---- */

/* Everything that is known: the mapping, the run if there is one, the saved runs. */
static int add_sections(th_session *s, th_report *r, th_error *err)
{
    th_section_head(s, r, err);
    if (s->mapping != NULL &&
        (th_section_search(s, r, err) != 0 || th_section_sets(s, r, err) != 0 ||
         th_section_layers(s, r, false, err) != 0 || th_section_memory(s, r, err) != 0))
        return -1;
    if (s->simulation != NULL && s->simulation->has_begun &&
        (th_section_summary(s, r, err) != 0 || th_section_accels(s, r, err) != 0 ||
         th_section_links(s, r, false, err) != 0 || th_section_collectives(s, r, err) != 0 ||
         th_section_path(s, r, 0, err) != 0))
        return -1;
    if (s->mapping != NULL && s->simulation != NULL && s->simulation->has_begun &&
        th_section_layer_figures(s, r, err) != 0)
        return -1;
    return s->n_runs > 0 ? th_section_saved(r, s->runs, (int)s->n_runs, err) : 0;
}

static int run_write_results(th_call *c)
{
    th_session *s = c->session;
    if (s->mapping == NULL && s->made == NULL && s->n_runs == 0)
        return th_error_set(&c->err, "TCL-0130",
                            "nothing to write yet: map_workload or create_program, and run first");
    th_report *r = th_report_new("results", "Results");
    if (r == NULL)
        return th_error_no_memory(&c->err);
    th_strbuf text = TH_STRBUF_INIT;
    int rc = add_sections(s, r, &c->err);
    if (rc == 0)
        rc = th_report_render(r, TH_FORMAT_JSON, &text, &c->err);
    if (rc == 0)
        rc = th_session_write_file(s, th_call_word(c, 0), false, text.text, &c->err);
    if (rc == 0)
        th_call_return_text(c, th_call_word(c, 0));
    th_strbuf_clear(&text);
    th_report_free(r);
    return rc;
}

/* ---- write_report ---- */

static int run_write_report(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    th_strbuf text = TH_STRBUF_INIT;
    int rc = th_html_page(s, &text, &c->err);
    if (rc == 0)
        rc = th_session_write_file(s, th_call_word(c, 0), false, text.text, &c->err);
    if (rc == 0)
        th_call_return_text(c, th_call_word(c, 0));
    th_strbuf_clear(&text);
    return rc;
}

/* ---- traces ---- */

enum { TRACE_FORMAT };

static const char *trace_name(int i)
{
    return th_trace_types[i] != NULL ? th_trace_types[i]->name : NULL;
}

static const th_option trace_options[] = {
    [TRACE_FORMAT] = {"-format", TH_OPTION_CHOICE, "FORMAT", "What is written.",
                      .choice = trace_name},
    {.name = NULL},
};

static int run_open_trace(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_system(s, &c->err) != 0 ||
        (s->made == NULL && th_session_need_workload(s, &c->err) != 0) ||
        th_session_need_no_trace(s, &c->err) != 0 ||
        th_session_make_folder_of(s, th_call_word(c, 0), &c->err) != 0)
        return -1;
    const char *path = Tcl_FSGetNativePath(c->words[0]);
    if (path == NULL)
        return th_error_set(&c->err, "TCL-0131", "\"%s\": is not a file name", th_call_word(c, 0));
    const th_trace_type *type = th_trace_types[th_call_number(c, TRACE_FORMAT, 0)];
    s->trace = th_trace_open(path, type, s->system, s->workload, &c->err);
    if (s->trace == NULL)
        return -1;
    if (s->simulation != NULL)
        th_machine_set_trace(s->simulation->machine, s->trace);
    Tcl_SetObjResult(c->interp, c->words[0]);
    return 0;
}

static int run_close_trace(th_call *c)
{
    th_session *s = c->session;
    if (s->trace == NULL)
        return th_error_set(&c->err, "TCL-0132", "no trace is open");
    if (s->simulation != NULL)
        th_machine_set_trace(s->simulation->machine, NULL);
    th_trace *trace = s->trace;
    s->trace = NULL;
    return th_trace_close(trace, &c->err);
}

const th_command th_output_commands[] = {
    {"open_trace", GROUP, "FILE", 1, 1, trace_options,
     "write every start and end of a task to a file",
     "From now on, and one trace at a time; it refers to system and workload or program, so those "
     "can be "
     "replaced only after "
     "close_trace. "
     "A trace changes no time. Folders that are missing on the way are made. Returns FILE.",
     .run = run_open_trace},
    {"close_trace", GROUP, "", 0, 0, NULL, "finish the trace file", NULL, .run = run_close_trace},
    {"write_report", GROUP, "FILE", 1, 1, NULL, "write the run as one HTML page",
     "Summary, picture of the system with the load of its links, timeline, critical path, layers, mapping, "
     "accelerators, memory and search, in one file that needs no network and no other file. The same run gives "
     "the same bytes. Folders that are missing on the way are made. Returns FILE.",
     .run = run_write_report},
    {"write_results", GROUP, "FILE", 1, 1, NULL, "write all that is known as JSON",
     "System, workload, search, mapping, memory, the figures of the run, its critical path, and "
     "the saved runs; "
     "units stand in the field names. Folders that are missing on the way are made. Returns FILE.",
     .run = run_write_results},
    {.name = NULL},
};
