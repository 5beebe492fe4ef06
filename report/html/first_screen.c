/* SPDX-License-Identifier: GPL-3.0-or-later */
/* first_screen.c - what a page opens with: four large figures, the verdict in one sentence, and the
 * time breakdown of the critical path as a stacked bar with a key. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include "report/html/parts.h"
#include "report/table/report_scale.h"

/* ---- figures ---- */

/* "1.717" and "ms": four significant digits, in the unit that reports would take. */
static void format_value(th_kind kind, double value, char *out, size_t size, const char **unit)
{
    double divisor;
    *unit = th_kind_unit(kind, value, &divisor);
    double shown = value / divisor;
    int before = shown >= 1 ? (int)floor(log10(shown)) + 1 : 1;
    snprintf(out, size, "%.*f", before < 4 ? 4 - before : 0, shown);
}

/* Four significant digits. */
static void add_time(th_strbuf *out, th_time ps)
{
    char text[64];
    const char *unit;
    format_value(TH_KIND_TIME, (double)ps, text, sizeof text, &unit);
    th_strbuf_printf(out, "%s&#8239;", text);
    th_html_unit(out, unit);
}

static void begin_figure(th_strbuf *out, const char *name)
{
    th_strbuf_printf(out, "<div><dt>%s</dt><dd class=\"big\">", name);
}

static void end_figure(th_strbuf *out)
{
    th_strbuf_add(out, "</dd></div>\n");
}

/* value <= 0: unknown. */
static void add_value(th_strbuf *out, th_kind kind, double value)
{
    char text[64];
    const char *unit;
    if (value <= 0) {
        th_strbuf_add(out, "&ndash;");
        return;
    }
    format_value(kind, value, text, sizeof text, &unit);
    th_html_digits(out, text);
    th_strbuf_add(out, "<span class=\"unit-of\">");
    th_html_unit(out, unit);
    th_strbuf_add(out, "</span>");
}

/* The small line below a figure follows. */
static void begin_remark(th_strbuf *out)
{
    th_strbuf_add(out, "</dd><dd class=\"remark\">");
}

static void add_time_figure(const th_verdict *v, th_strbuf *out)
{
    bool has_latency = v->latency_ps > 0;
    begin_figure(out, has_latency ? "Latency" : "Makespan");
    add_value(out, TH_KIND_TIME, (double)(has_latency ? v->latency_ps : v->elapsed_ps));
    begin_remark(out);
    if (v->is_done && !has_latency) {
        th_strbuf_add(out, "from the first task to the last");
    } else {
        th_strbuf_add(out, v->is_done ? "makespan " : "not done, stopped at ");
        add_time(out, v->elapsed_ps);
        if (v->is_done)
            th_strbuf_printf(out, ", %d input%s", (int)v->n_inputs, v->n_inputs == 1 ? "" : "s");
    }
    end_figure(out);
}

static void add_tokens_figure(const th_verdict *v, th_strbuf *out)
{
    begin_figure(out, "Tokens per second");
    add_value(out, TH_KIND_RATE, v->tokens_per_s);
    begin_remark(out);
    th_strbuf_add(out, "in a step of training");
    end_figure(out);
}

/* Samples per second; of a hand-built program, bytes. */
static void add_rate_figure(const th_verdict *v, th_strbuf *out)
{
    begin_figure(out, v->is_hand_built ? "Moved over the network" : "Samples per second");
    if (v->is_hand_built)
        add_value(out, TH_KIND_BYTES, (double)v->moved_bytes);
    else
        add_value(out, TH_KIND_RATE, v->samples_per_s);
    begin_remark(out);
    if (v->is_hand_built)
        th_strbuf_add(out, "arrived by the end");
    else
        th_strbuf_printf(out, "batch %d", (int)v->batch);
    end_figure(out);
}

static void add_link_figure(const th_verdict *v, th_strbuf *out)
{
    begin_figure(out, "Busiest link");
    th_strbuf_printf(out, "%.1f<span class=\"unit-of\">%%</span>", 100 * v->link_load);
    begin_remark(out);
    th_html_text(out, v->link[0] != '\0' ? v->link : "nothing was carried");
    end_figure(out);
}

/* How far the makespan is above the lower bound: in percent, or above ten times as a factor. */
static void add_gap_figure(const th_verdict *v, th_strbuf *out)
{
    static const double FACTOR_FROM = 10;
    bool is_known = v->is_done && v->bound_ps > 0;
    double gap = is_known ? (double)v->elapsed_ps / (double)v->bound_ps - 1 : 0;
    begin_figure(out, "Gap to the lower bound");
    if (!is_known)
        th_strbuf_add(out, "&ndash;");
    else if (gap < FACTOR_FROM)
        th_strbuf_printf(out, "%.1f<span class=\"unit-of\">%%</span>", 100 * gap);
    else
        th_strbuf_printf(out, "&#215;&#8239;%.3g", gap + 1);
    begin_remark(out);
    if (is_known) {
        th_strbuf_add(out, gap < FACTOR_FROM ? "above " : "the bound is ");
        add_time(out, v->bound_ps);
        th_strbuf_add(out, ", by ");
        th_html_text(out, v->bound);
    } else {
        th_strbuf_add(out, v->is_done ? "no bound is known" : "known at the end of the run");
    }
    end_figure(out);
}

static void add_limit_figure(const th_verdict *v, th_strbuf *out)
{
    int part = th_verdict_limit(v);
    begin_figure(out, "Limited by");
    th_strbuf_add(out, part < 0 ? "&ndash;" : th_verdict_part_name(v, part));
    begin_remark(out);
    if (part >= 0)
        th_strbuf_printf(out, "%.0f&#160;%% of the critical path", 100 * th_verdict_share(v, part));
    else
        th_strbuf_add(out, "no task has ended");
    end_figure(out);
}

void th_html_figures(const th_verdict *v, th_strbuf *out)
{
    th_strbuf_add(out, "<dl class=\"figures\">\n");
    add_time_figure(v, out);
    if (v->tokens_per_s > 0)
        add_tokens_figure(v, out);
    else
        add_rate_figure(v, out);
    if (!v->is_hand_built && v->bound_ps != TH_BOUND_NOT_COMPUTED)
        add_gap_figure(v, out);
    else if (v->merged_ranks == 0) /* else its messages are on no link */
        add_link_figure(v, out);
    add_limit_figure(v, out);
    th_strbuf_add(out, "</dl>\n");
}

/* ---- the bar ---- */

void th_html_breakdown(const th_verdict *v, th_time longest_ps, th_strbuf *out)
{
    double all = longest_ps > 0 ? (double)longest_ps : 1;
    th_strbuf_add(out, "<div class=\"stack\" role=\"img\" aria-label=\"Time breakdown of the "
                       "critical path\">");
    for (int p = 0; p < TH_N_PATH_PARTS; p++)
        if (v->part_ps[p] > 0)
            th_strbuf_printf(out, "<i class=\"part-%d\" style=\"width: %.3f%%\"></i>", p,
                             100 * (double)v->part_ps[p] / all);
    th_strbuf_add(out, "</div>\n<ul class=\"legend\">\n");
    for (int p = 0; p < TH_N_PATH_PARTS; p++) {
        if (v->part_ps[p] <= 0)
            continue;
        th_strbuf_printf(out, "<li><i class=\"part-%d\"></i>%s %.1f&#160;%%, ", p,
                         th_verdict_part_name(v, p), 100 * th_verdict_share(v, p));
        add_time(out, v->part_ps[p]);
        th_strbuf_add(out, "</li>\n");
    }
    th_strbuf_add(out, "</ul>\n");
}

void th_html_sentence(const th_strbuf *sentence, th_strbuf *out)
{
    th_strbuf_add(out, "<p class=\"verdict\">");
    th_html_text(out, sentence->text);
    th_strbuf_add(out, "</p>\n");
    out->failed |= sentence->failed;
}

/* ---- of the page's run ---- */

/* The largest lower bound: the total of the table of bounds. */
static void take_bound(const th_report *bounds, th_verdict *v)
{
    enum { MAKESPAN = 1, LIMITED_BY = 4 };
    v->bound_ps = 0;
    if (!bounds || !bounds->first || !bounds->first->total)
        return;
    v->bound_ps = bounds->first->total[MAKESPAN].whole;
    snprintf(v->bound, sizeof v->bound, "%s", bounds->first->total[LIMITED_BY].text);
}

int th_html_first_screen(th_html *p)
{
    th_verdict v;
    th_strbuf sentence = TH_STRBUF_INIT;
    if (th_verdict_find(p->session, &v, p->err) != 0)
        return -1;
    take_bound(p->bounds, &v);
    th_html_figures(&v, p->out);
    th_verdict_sentence(&v, &sentence);
    th_html_sentence(&sentence, p->out);
    th_html_breakdown(&v, v.elapsed_ps, p->out);
    th_strbuf_clear(&sentence);
    return 0;
}
