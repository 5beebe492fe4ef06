/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.c - two saved runs on one page: what save_run has kept of them (th_html_keep), their
 * figures side by side, and the tables of report_diff. */
#include <config.h>
#include "base/alloc.h"
#include "render/html/parts.h"
#include "session/sections/sections.h"
#include "session/objects/figures.h"

enum {
    KEPT_SPANS_MAX = 20000, /* of a saved run: some 100 kB */
    ROWS_MAX = 100          /* of a table of differences */
};

char *th_html_keep(th_session *s, const char *name, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    int failed = th_html_run(s, name, KEPT_SPANS_MAX, &text, err);
    char *kept = failed || text.failed ? NULL : th_alloc_string(text.text);
    if (!failed && !kept)
        th_error_no_memory(err);
    th_strbuf_clear(&text);
    return kept;
}

/* What tells the runs apart. */
static void add_runs_head(th_report *r, const th_saved_run *run)
{
    const char *program = th_saved_run_figure(run, "program").text;
    const char *system = th_saved_run_figure(run, "system").text;
    const char *digest = th_saved_run_figure(run, "mapping").text;
    const char *network = th_saved_run_figure(run, "network").text;
    int n_inputs = (int)th_saved_run_figure(run, "inputs").whole;
    th_report_head_line(
        r, run->name,
        program ? th_report_printf(r, "%s on %s, program %s, %s network", program, system, digest,
                                   network)
                : th_report_printf(r, "%s on %s, mapping %s by %s, %s network, %d input%s",
                                   th_saved_run_figure(run, "workload").text, system, digest,
                                   th_saved_run_figure(run, "algorithm").text, network, n_inputs,
                                   n_inputs == 1 ? "" : "s"));
}

/* Figures side by side, and what differs. */
static int add_sections(th_session *s, const th_saved_run *const *runs, th_strbuf *out,
                        th_error *err)
{
    th_report *figures = th_report_new("page", ""), *differences = th_report_new("page", "");
    int failed = figures && differences ? 0 : th_error_no_memory(err);
    th_strbuf_add(out, ",\n\"sections\":[");
    failed = failed || th_section_two_runs(s, figures, runs, err) != 0 ||
             th_html_section("figures", "Figures", figures, out, err) != 0 ||
             th_section_diff(s, differences, runs, ROWS_MAX, err) != 0 ||
             th_html_section("differences", "Differences", differences, out, err) != 0;
    th_strbuf_add(out, "]");
    th_report_free(figures);
    th_report_free(differences);
    return failed ? -1 : 0;
}

static int add_all(th_session *s, const th_saved_run *const *runs, th_report *head, th_strbuf *out,
                   th_error *err)
{
    th_html_field(out, "title", th_report_printf(head, "%s and %s", runs[0]->name, runs[1]->name));
    for (int i = 0; i < 2; i++)
        add_runs_head(head, runs[i]);
    th_report_head_line(head, "version", "tharsis " PACKAGE_VERSION);
    th_html_head(head, out);
    th_strbuf_printf(out, ",\n\"runs\":[%s,\n%s]", runs[0]->page, runs[1]->page);
    return add_sections(s, runs, out, err) != 0 ? -1 : th_report_state(head, err);
}

int th_html_compare(th_session *s, const th_saved_run *a, const th_saved_run *b, th_strbuf *out,
                    th_error *err)
{
    const th_saved_run *runs[] = {a, b};
    th_strbuf document = TH_STRBUF_INIT;
    th_report *head = th_report_new("page", "");
    int failed = head ? add_all(s, runs, head, &document, err) : th_error_no_memory(err);
    if (!failed)
        failed = th_html_write(&document, out, err);
    th_report_free(head);
    th_strbuf_clear(&document);
    return failed;
}
