/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_call.c - see report_call.h. */
#include <config.h>
#include "tcl/report_call.h"
#include "tcl/tcl_session.h"
#include "base/alloc.h"
#include "report/session/saved_run.h"

th_format th_report_format(const th_call *c)
{
    return (th_format)th_call_number(c, REPORT_FORMAT, TH_FORMAT_TEXT);
}

/* With the head. NULL: memory is out. */
th_report *th_report_of_call(th_call *c, const char *name, const char *title)
{
    th_report *r = th_report_new(name, title);
    if (!r)
        th_error_no_memory(&c->err);
    else
        th_section_head(c->session, r, &c->err);
    return r;
}

int th_report_arrange(th_call *c, th_table *t)
{
    if (th_call_has(c, REPORT_SORT_BY)) {
        int column = th_table_column(t, th_call_text(c, REPORT_SORT_BY, ""), &c->err);
        if (column < 0)
            return -1;
        th_table_sort(t, column);
    }
    if (th_call_has(c, REPORT_LIMIT))
        th_table_limit(t, c->option[REPORT_LIMIT].number);
    return 0;
}

/* To standard output, into a file, or as the result. */
static int deliver(th_call *c, th_report *r)
{
    th_strbuf text = TH_STRBUF_INIT;
    r->units = c->session->units;
    int failed = th_report_render(r, th_report_format(c), &text, &c->err);
    if (!failed && c->redirect)
        failed = th_session_write_file(c->session, Tcl_GetString(c->redirect), c->append, &text,
                                       &c->err);
    else if (!failed && th_call_has(c, REPORT_RETURN_STRING))
        th_call_return_text(c, text.text);
    else if (!failed)
        failed = th_session_print(c->session, text.text, &c->err);
    th_strbuf_clear(&text);
    return failed;
}

/* section_failed: what the sections returned. Frees r. */
int th_report_finish(th_call *c, th_report *r, int section_failed, th_table *arranged)
{
    int failed = section_failed;
    if (!failed && arranged)
        failed = th_report_arrange(c, arranged);
    if (!failed)
        failed = deliver(c, r);
    th_report_free(r);
    return failed;
}

int th_report_run(th_call *c, const char *name, const char *title, th_section section,
                  bool is_table)
{
    if (th_session_need_run(c->session, &c->err) != 0)
        return -1;
    th_report *r = th_report_of_call(c, name, title);
    if (!r)
        return -1;
    int failed = section(c->session, r, &c->err);
    return th_report_finish(c, r, failed, is_table ? r->first : NULL);
}

int th_saved_runs_parse(th_session *s, Tcl_Obj *list, th_runs *out, th_error *err)
{
    enum { RUNS_MAX = 1000 };
    Tcl_Obj **words;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, list, &n, &words) != TCL_OK || n > RUNS_MAX)
        return th_error_set(err, "TCL-0122", "\"%.100s\": must be a list of saved runs",
                            Tcl_GetString(list));
    out->all = th_alloc_array((size_t)n + 1, sizeof *out->all);
    if (!out->all)
        return th_error_no_memory(err);
    for (out->n = 0; out->n < n; out->n++) {
        th_saved_run *run = th_saved_run_find(s, Tcl_GetString(words[out->n]), err);
        if (!run)
            return -1;
        out->all[out->n] = run;
    }
    return 0;
}
