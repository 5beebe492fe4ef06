/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.c - two saved runs on one page: figures side by side, a sentence, the time breakdowns on
 * one scale, the timelines on one axis, and the tables of report_diff. What it shows of a run,
 * save_run has kept (th_html_keep). */
#include <config.h>
#include "base/alloc.h"
#include "report/html/parts.h"
#include "report/sections/sections.h"
#include "report/session/saved_figures.h"

enum {
    KEPT_SPANS_MAX = 20000, /* of a saved run: some 100 kB */
    ROWS_MAX = 100          /* of a table of differences */
};

/* ---- what is kept ---- */

int th_html_keep(th_session *s, th_html_kept *out, th_error *err)
{
    const th_result *x = th_simulation_result(s->simulation, err);
    th_strbuf spans = TH_STRBUF_INIT;
    *out = (th_html_kept){.verdict = th_alloc_zero(1, sizeof *out->verdict)};
    int failed = !x ? -1 : out->verdict ? 0 : th_error_no_memory(err);
    if (!failed)
        failed = th_verdict_find(s, out->verdict, err);
    if (!failed)
        failed = th_html_spans(s, x, KEPT_SPANS_MAX, &spans, err);
    if (!failed && (spans.failed || !(out->spans = th_alloc_string(spans.text))))
        failed = th_error_no_memory(err);
    th_strbuf_clear(&spans);
    if (failed)
        th_html_kept_clear(out);
    return failed;
}

void th_html_kept_clear(th_html_kept *k)
{
    th_free(k->verdict);
    th_free(k->spans);
    *k = (th_html_kept){NULL, NULL};
}

void th_html_kept_give(th_html_kept *k, th_saved_run *run)
{
    run->figures->verdict = k->verdict;
    run->figures->spans = k->spans;
    *k = (th_html_kept){NULL, NULL};
}

/* ---- sections ---- */

static const th_verdict *verdict_of(const th_html *p, int i)
{
    return p->runs[i]->figures->verdict;
}

/* Both bars have the width of the longer run. */
static int write_summary(th_html *p)
{
    const th_verdict *a = verdict_of(p, 0), *b = verdict_of(p, 1);
    th_time longest = a->elapsed_ps > b->elapsed_ps ? a->elapsed_ps : b->elapsed_ps;
    th_strbuf sentence = TH_STRBUF_INIT;
    th_verdict_compare(a, p->runs[0]->name, b, p->runs[1]->name, &sentence);
    th_html_sentence(&sentence, p->out);
    th_strbuf_add(p->out, "<div class=\"pair\">\n");
    for (int i = 0; i < 2; i++) {
        th_strbuf_add(p->out, "<div>\n<h3>");
        th_html_text(p->out, p->runs[i]->name);
        th_strbuf_add(p->out, "</h3>\n");
        th_html_figures(verdict_of(p, i), p->out);
        th_strbuf_clear(&sentence);
        th_verdict_sentence(verdict_of(p, i), &sentence);
        th_html_sentence(&sentence, p->out);
        th_strbuf_add(p->out, "</div>\n");
    }
    th_strbuf_add(p->out, "</div>\n");
    for (int i = 0; i < 2; i++) {
        th_strbuf_add(p->out, "<h3>Critical path of ");
        th_html_text(p->out, p->runs[i]->name);
        th_strbuf_add(p->out, "</h3>\n");
        th_html_breakdown(verdict_of(p, i), longest, p->out);
    }
    th_strbuf_clear(&sentence);
    return 0;
}

static int write_timeline(th_html *p)
{
    const char *names[] = {p->runs[0]->name, p->runs[1]->name};
    const char *spans[] = {p->runs[0]->figures->spans, p->runs[1]->figures->spans};
    th_html_spans_block(p->out, names, spans, 2);
    return 0;
}

static int write_report(th_html *p, const char *label,
                        int (*section)(const th_html *p, th_report *r, th_error *err))
{
    th_report *r = th_report_new("page", "");
    if (!r)
        return th_error_no_memory(p->err);
    int failed = section(p, r, p->err);
    if (!failed)
        th_html_report(p, r, label);
    if (!failed)
        failed = th_report_state(r, p->err);
    th_report_free(r);
    return failed;
}

static int section_figures(const th_html *p, th_report *r, th_error *err)
{
    return th_section_two_runs(p->session, r, p->runs, err);
}

static int write_figures(th_html *p)
{
    return write_report(p, "Figures", section_figures);
}

static int section_differences(const th_html *p, th_report *r, th_error *err)
{
    return th_section_diff(p->session, r, p->runs, ROWS_MAX, err);
}

static int write_differences(th_html *p)
{
    return write_report(p, "Inputs that differ", section_differences);
}

/* ---- the page ---- */

static int write_title(th_html *p)
{
    th_html_text(p->out, p->runs[0]->name);
    th_strbuf_add(p->out, " and ");
    th_html_text(p->out, p->runs[1]->name);
    return 0;
}

static int write_head(th_html *p)
{
    for (int i = 0; i < 2; i++) {
        const th_saved_run *run = p->runs[i];
        th_strbuf_add(p->out, "<div><dt>");
        th_html_text(p->out, run->name);
        th_strbuf_add(p->out, "</dt><dd>");
        th_html_text(p->out, run->program ? run->program : run->workload);
        th_strbuf_add(p->out, " on ");
        th_html_text(p->out, run->system);
        th_strbuf_printf(p->out, ", mapping %s by %s, ", run->mapping, run->algorithm);
        th_html_text(p->out, run->network);
        th_strbuf_printf(p->out, " network, %d input%s</dd></div>\n", (int)run->n_inputs,
                         run->n_inputs == 1 ? "" : "s");
    }
    return 0;
}

int th_html_compare(th_session *s, const th_saved_run *a, const th_saved_run *b, th_strbuf *out,
                    th_error *err)
{
    static const th_html_section sections[] = {
        {"summary", "Summary", NULL, write_summary},
        {"timeline", "Timeline", NULL, write_timeline},
        {"figures", "Figures", NULL, write_figures},
        {"differences", "Differences", NULL, write_differences},
        {NULL, NULL, NULL, NULL},
    };
    static const th_html_kind kind = {write_title, write_head, sections};
    th_html p = {.session = s, .runs = {a, b}, .out = out, .err = err};
    return th_html_write(&p, &kind);
}
