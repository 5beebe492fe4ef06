/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_page.c - the page of a run: its title, its head and its sections. Sections that do not apply
 * are left out (a hand-built program has no layers). */
#include <config.h>
#include <string.h>
#include "report/html/html.h"
#include "report/html/parts.h"
#include "report/sections/sections.h"

/* Rows of a table at most; the reports print all. */
enum { PATH_MAX_ROWS = 200, CONTENTION_MAX_ROWS = 20, FAULTS_MAX_ROWS = 1000 };

/* ---- which sections apply ---- */

static bool has_mapping(const th_html *p)
{
    return p->session->mapping;
}

static bool has_search(const th_html *p)
{
    return has_mapping(p) && p->session->search.n_improvements > 0;
}

static bool has_collectives(const th_html *p)
{
    return p->session->simulation->program->n_collectives > 0;
}

static bool has_jobs(const th_html *p)
{
    return p->session->simulation->program->n_jobs > 0;
}

static bool has_faults(const th_html *p)
{
    return p->session->events.n > 0;
}

static bool has_energy(const th_html *p)
{
    return p->result->has_energy;
}

static bool has_advice(const th_html *p)
{
    return th_session_kept_report(p->session, "advice");
}

static bool has_sensitivity(const th_html *p)
{
    return th_session_kept_report(p->session, "sensitivity");
}

/* ---- sections made of tables ---- */

/* The tables of a section; the first sorted by a column, unless that is NULL. */
static int add_tables(th_html *p, th_section section, const char *label, const char *sort_by)
{
    th_report *r = th_report_new("page", "");
    if (!r)
        return th_error_no_memory(p->err);
    int failed = section(p->session, r, p->err);
    if (!failed)
        failed = th_report_state(r, p->err);
    int column = !failed && sort_by ? th_table_column(r->first, "-sort_by", sort_by, p->err) : -1;
    if (column >= 0)
        th_table_sort(r->first, column);
    if (!failed)
        th_html_report(p, r, label);
    th_report_free(r);
    return failed;
}

static int section_path(th_session *s, th_report *r, th_error *err)
{
    return th_section_path(s, r, PATH_MAX_ROWS, err) != 0 || th_section_path_parts(s, r, err) != 0
               ? -1
               : th_section_contention(s, r, CONTENTION_MAX_ROWS, err);
}

static int section_faults(th_session *s, th_report *r, th_error *err)
{
    return th_section_faults(s, r, FAULTS_MAX_ROWS, err);
}

static int section_mapped(th_session *s, th_report *r, th_error *err)
{
    return th_section_layers(s, r, true, err);
}

static int section_jobs(th_session *s, th_report *r, th_error *err)
{
    return th_section_jobs(s, r, err);
}

static int section_links(th_session *s, th_report *r, th_error *err)
{
    return th_section_links(s, r, true, err);
}

static int section_energy(th_session *s, th_report *r, th_error *err)
{
    return th_section_energy(s, r, err);
}

static int write_figures(th_html *p)
{
    return add_tables(p, th_section_summary, "Models", NULL);
}

static int write_bounds(th_html *p)
{
    th_html_report(p, p->bounds, "Lower bounds");
    return 0;
}

/* Is it a line of the head of every report? */
static bool is_common(const char *key)
{
    static const char *const common[] = {"system", "workload", "program", "mapping",
                                         "run",    "changes",  "version", NULL};
    int i = 0;
    while (common[i] && strcmp(common[i], key) != 0)
        i++;
    return common[i];
}

/* A report that the session has kept, with the lines of its head that are its own. */
static int write_kept(th_html *p, const char *name)
{
    th_report *r = th_session_kept_report(p->session, name);
    for (int i = 0; i < r->n_head; i++) {
        if (!r->head[i].is_line || is_common(r->head[i].key))
            continue;
        th_strbuf_printf(p->out, "<p class=\"note\">%s: ", r->head[i].key);
        th_html_text(p->out, r->head[i].value.text);
        th_strbuf_add(p->out, "</p>\n");
    }
    th_html_report(p, r, r->title);
    return 0;
}

static int write_advice(th_html *p)
{
    return write_kept(p, "advice");
}

static int write_sensitivity(th_html *p)
{
    return write_kept(p, "sensitivity");
}

static int write_path(th_html *p)
{
    return add_tables(p, section_path, "Critical path", NULL);
}

static int write_faults(th_html *p)
{
    return add_tables(p, section_faults, "Faults", NULL);
}

static int write_layers(th_html *p)
{
    return add_tables(p, th_section_layer_figures, "Layers", NULL);
}

static int write_mapping(th_html *p)
{
    int failed = add_tables(p, th_section_sets, "Sets of accelerators", NULL);
    th_strbuf_add(p->out, "<h3>Layers</h3>\n");
    return failed ? failed : add_tables(p, section_mapped, "Layers by set and strategy", NULL);
}

static int write_utilization(th_html *p)
{
    return add_tables(p, th_section_accels, "Accelerators", NULL);
}

static int write_links(th_html *p)
{
    return add_tables(p, section_links, "Links", "load");
}

static int write_jobs(th_html *p)
{
    return add_tables(p, section_jobs, "Jobs", NULL);
}

static int write_collectives(th_html *p)
{
    return add_tables(p, th_section_collectives, "Collectives", NULL);
}

static int write_energy(th_html *p)
{
    return add_tables(p, section_energy,
                      !p->session->hand_built ? "Energy by layer" : "Energy by accelerator", NULL);
}

static int write_memory(th_html *p)
{
    return add_tables(p, th_section_memory, "Memory", NULL);
}

static int write_search(th_html *p)
{
    int failed = add_tables(p, th_section_search, "Search", NULL);
    th_strbuf_add(p->out, "<h3>Improvements, by evaluation</h3>\n");
    return failed ? failed
                  : add_tables(p, th_section_convergence, "Improvements, by evaluation", NULL);
}

static const th_html_section sections[] = {
    {"summary", "Summary", NULL, th_html_first_screen},
    {"topology", "System", NULL, th_html_topology},
    {"timeline", "Timeline", NULL, th_html_timeline},
    {"faults", "Faults", has_faults, write_faults},
    {"figures", "Figures", NULL, write_figures},
    {"bounds", "Bounds", has_mapping, write_bounds},
    {"advice", "Advice", has_advice, write_advice},
    {"sensitivity", "Sensitivity", has_sensitivity, write_sensitivity},
    {"jobs", "Jobs", has_jobs, write_jobs},
    {"path", "Critical path", NULL, write_path},
    {"layers", "Layers", has_mapping, write_layers},
    {"mapping", "Mapping", has_mapping, write_mapping},
    {"utilization", "Accelerators", has_mapping, write_utilization},
    {"links", "Links", NULL, write_links},
    {"collectives", "Collectives", has_collectives, write_collectives},
    {"energy", "Energy", has_energy, write_energy},
    {"memory", "Memory", has_mapping, write_memory},
    {"search", "Search", has_search, write_search},
    {NULL, NULL, NULL, NULL},
};

/* ---- title and head ---- */

static int write_title(th_html *p)
{
    const th_session *s = p->session;
    th_html_text(p->out, s->hand_built ? s->hand_built->name : s->workload->name);
    th_strbuf_add(p->out, " on ");
    th_html_text(p->out, s->system->name);
    return 0;
}

/* What tells inputs of one name apart. */
static int add_digests(th_html *p)
{
    char system[20], workload[20];
    int failed = th_session_input_digests(p->session, system, workload, sizeof system);
    th_strbuf_printf(p->out, "<div><dt>digests</dt><dd>system %s", system);
    if (p->session->workload)
        th_strbuf_printf(p->out, ", workload %s", workload);
    th_strbuf_add(p->out, "</dd></div>\n");
    return failed ? th_error_no_memory(p->err) : 0;
}

/* The lines that stand on top of every report, and what tells inputs of one name apart. */
static int write_head(th_html *p)
{
    th_report *r = th_report_new("page", "");
    if (!r)
        return th_error_no_memory(p->err);
    th_section_head(p->session, r, p->err);
    for (int i = 0; i < r->n_head; i++) {
        if (!r->head[i].is_line)
            continue;
        th_strbuf_printf(p->out, "<div><dt>%s</dt><dd>", r->head[i].key);
        th_html_text(p->out, r->head[i].value.text);
        th_strbuf_add(p->out, "</dd></div>\n");
    }
    th_report_free(r);
    return add_digests(p);
}

static const th_html_kind kind = {write_title, write_head, sections};

/* Fills p->bounds. 0 or -1. */
static int find_bounds(th_html *p)
{
    p->bounds = th_report_new("page", "");
    if (!p->bounds)
        return th_error_no_memory(p->err);
    return th_section_bounds(p->session, p->bounds, true, p->err);
}

int th_html_page(th_session *s, th_strbuf *out, th_error *err)
{
    th_html p = {.session = s, .out = out, .err = err};
    p.result = th_simulation_result(s->simulation, err);
    int failed = p.result ? 0 : -1;
    if (!failed && s->mapping)
        failed = find_bounds(&p);
    if (!failed)
        failed = th_html_write(&p, &kind);
    th_report_free(p.bounds);
    return failed;
}
