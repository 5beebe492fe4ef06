/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_call.c - see report_call.h. */
#include <config.h>
#include "tcl/report_call.h"
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "tcl/tcl_session.h"

const th_option th_table_options[] = {TABLE_OPTIONS, {.name = NULL}};

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
        int column = th_table_column(t, "-sort_by", th_call_text(c, REPORT_SORT_BY, ""), &c->err);
        if (column < 0)
            return -1;
        (th_call_has(c, REPORT_INCREASING) ? th_table_sort_up : th_table_sort)(t, column);
    }
    if (th_call_has(c, REPORT_LIMIT))
        th_table_limit(t, c->option[REPORT_LIMIT].number);
    return 0;
}

/* ---- how text is shown ---- */

/* The -fields of the first table. 0 or -1. */
static int select_fields(th_call *c, th_table *t)
{
    const th_value *fields = &c->option[REPORT_FIELDS];
    int columns[TH_COLUMNS_MAX];
    for (int i = 0; i < fields->n; i++)
        if ((columns[i] = th_table_column(t, "-fields", Tcl_GetString(fields->words[i]), &c->err)) <
            0)
            return -1;
    for (int i = 1; i < fields->n; i++) /* by name and by heading */
        for (int k = 0; k < i; k++)
            if (columns[k] == columns[i])
                return th_error_set(&c->err, "TCL-0731", "-fields: \"%.100s\" is given twice",
                                    Tcl_GetString(fields->words[i]));
    th_table_select(t, columns, fields->n);
    return 0;
}

int th_report_check_columns(th_call *c, th_report *r, int section_failed)
{
    int failed = section_failed ? section_failed : th_report_state(r, &c->err);
    if (!failed && th_call_has(c, REPORT_SORT_BY))
        failed =
            th_table_column(r->first, "-sort_by", th_call_text(c, REPORT_SORT_BY, ""), &c->err) < 0;
    if (!failed && th_call_has(c, REPORT_FIELDS))
        failed = select_fields(c, r->first);
    th_report_free(r);
    return failed ? -1 : 0;
}

int th_screen_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long n = columns ? strtol(columns, NULL, 10) : 0;
    if (n == 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    return n >= REPORT_WIDTH_MIN && n <= REPORT_WIDTH_MAX ? (int)n : 0;
}

static th_display display_of(const th_call *c)
{
    bool is_printed = !c->redirect && !th_call_has(c, REPORT_RETURN_STRING);
    return (th_display){
        .width = (int)th_call_number(c, REPORT_WIDTH, is_printed ? th_screen_width() : 0),
        .digits = (int)th_call_number(c, REPORT_DIGITS, 0),
        .has_legend = th_call_has(c, REPORT_LEGEND),
    };
}

/* To standard output, into a file, or as the result. */
static int deliver(th_call *c, th_report *r)
{
    th_strbuf text = TH_STRBUF_INIT;
    r->units = c->session->units;
    r->display = display_of(c);
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
    if (!failed && th_call_has(c, REPORT_FIELDS) && r->first)
        failed = select_fields(c, arranged && !r->first->is_record ? arranged : r->first);
    if (!failed)
        failed = deliver(c, r);
    if (!failed && r->is_kept)
        th_session_keep_report(c->session, r);
    else
        th_report_free(r);
    return failed;
}
