/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_page.c - the page of a run, and which sections it has: those that apply (a hand-built program
 * has no layers). */
#include <config.h>
#include "base/alloc.h"
#include "render/html/parts.h"
#include "session/sections/sections.h"
#include "session/sections/verdict.h"

/* Rows of a table at most, and spans; the reports print all. */
enum { PATH_MAX_ROWS = 200, CONTENTION_MAX_ROWS = 20, FAULTS_MAX_ROWS = 1000, SPANS_MAX = 100000 };

/* ---- sections made of several tables, or with options ---- */

/* The step, its kernels and its stages. */
static int section_training(th_session *s, th_report *r, th_error *err)
{
    return th_section_training(s, r, err) != 0 ? -1 : th_section_stages(s, r, err);
}

static int section_path(th_session *s, th_report *r, th_error *err)
{
    if (s->hand_built && s->hand_built->step && th_section_path_groups(s, r, err) != 0)
        return -1;
    return th_section_path(s, r, PATH_MAX_ROWS, err) != 0 || th_section_path_parts(s, r, err) != 0
               ? -1
               : th_section_contention(s, r, CONTENTION_MAX_ROWS, err);
}

static int section_faults(th_session *s, th_report *r, th_error *err)
{
    return th_section_faults(s, r, FAULTS_MAX_ROWS, err);
}

static int section_bounds(th_session *s, th_report *r, th_error *err)
{
    return th_section_bounds(s, r, true, err);
}

static int section_mapping(th_session *s, th_report *r, th_error *err)
{
    return th_section_sets(s, r, err) != 0 ? -1 : th_section_layers(s, r, true, err);
}

static int section_links(th_session *s, th_report *r, th_error *err)
{
    int failed = th_section_links(s, r, true, err);
    if (failed || !r->first)
        return failed;
    int load = th_table_column(r->first, "-sort_by", "load", err);
    if (load >= 0)
        th_table_sort(r->first, load);
    return load < 0 ? -1 : 0;
}

static int section_search(th_session *s, th_report *r, th_error *err)
{
    return th_section_search(s, r, err) != 0 ? -1 : th_section_convergence(s, r, err);
}

typedef struct th_page_section {
    const char *id, *title;
    bool is_there;
    th_section make; /* NULL: the report of this name that the session keeps */
} th_page_section;

static int add_section(th_session *s, const th_page_section *x, th_strbuf *out, th_error *err)
{
    th_report *made = x->make ? th_report_new("page", "") : NULL;
    th_report *r = x->make ? made : th_session_kept_report(s, x->id);
    int failed = r ? 0 : th_error_no_memory(err);
    if (made)
        failed = x->make(s, r, err);
    if (!failed)
        failed = th_html_section(x->id, x->title, r, out, err);
    th_report_free(made);
    return failed;
}

static int add_sections(th_session *s, const th_result *x, th_strbuf *out, th_error *err)
{
    const th_program *p = s->simulation->program;
    bool is_mapped = s->mapping, is_step = s->hand_built && s->hand_built->step;
    const th_page_section sections[] = {
        {"faults", "Faults", s->events.n > 0, section_faults},
        {"training", "Training step", is_step && x->is_done, section_training},
        {"figures", "Figures", true, th_section_summary},
        {"bounds", "Bounds", is_mapped, section_bounds},
        {"advice", "Advice", th_session_kept_report(s, "advice"), NULL},
        {"sensitivity", "Sensitivity", th_session_kept_report(s, "sensitivity"), NULL},
        {"jobs", "Jobs", p->n_jobs > 0, th_section_jobs},
        {"path", "Critical path", true, section_path},
        {"layers", "Layers", is_mapped, th_section_layer_figures},
        {"mapping", "Mapping", is_mapped, section_mapping},
        {"utilization", "Accelerators", is_mapped, th_section_accels},
        {"links", "Links", !is_step || !s->hand_built->step->is_merged, section_links},
        {"collectives", "Collectives", p->n_collectives > 0, th_section_collectives},
        {"energy", "Energy", x->has_energy, th_section_energy},
        {"memory", "Memory", is_mapped || is_step,
         is_step ? th_section_step_memory : th_section_memory},
        {"search", "Search", is_mapped && s->search.n_improvements > 0, section_search},
    };
    int failed = 0;
    th_strbuf_add(out, ",\n\"sections\":[");
    for (size_t i = 0; !failed && i < sizeof sections / sizeof *sections; i++)
        if (sections[i].is_there)
            failed = add_section(s, &sections[i], out, err);
    th_strbuf_add(out, "]");
    return failed;
}

/* ---- the page ---- */

/* The lines on top of every report, and what tells inputs of one name apart. */
static int add_head(th_session *s, th_report *r, th_strbuf *out, th_error *err)
{
    char system[20], workload[20];
    if (th_session_input_digests(s, system, workload, sizeof system) != 0)
        return th_error_no_memory(err);
    if (th_section_head(s, r, err) != 0)
        return -1;
    const char *name = s->hand_built ? s->hand_built->name : s->workload->name;
    th_html_field(out, "title", th_report_printf(r, "%s on %s", name, s->system->name));
    th_report_head_line(r, "digests",
                        s->workload
                            ? th_report_printf(r, "system %s, workload %s", system, workload)
                            : th_report_printf(r, "system %s", system));
    th_html_head(r, out);
    return th_report_state(r, err);
}

int th_html_run(th_session *s, const char *name, int64_t spans, th_strbuf *out, th_error *err)
{
    const th_result *x = th_simulation_result(s->simulation, err);
    th_strbuf_add(out, "{");
    th_html_field(out, "name", name);
    if (!x || th_verdict_add(s, out, err) != 0 || th_html_spans(s, x, spans, out, err) != 0)
        return -1;
    th_strbuf_add(out, "}");
    return 0;
}

static int add_all(th_session *s, th_report *head, th_strbuf *out, th_error *err)
{
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x || add_head(s, head, out, err) != 0 || th_html_topology(s, x, out, err) != 0 ||
        add_sections(s, x, out, err) != 0)
        return -1;
    th_strbuf_add(out, ",\n\"runs\":[");
    int failed = th_html_run(s, "", SPANS_MAX, out, err);
    th_strbuf_add(out, "]");
    return failed;
}

int th_html_page(th_session *s, th_strbuf *out, th_error *err)
{
    th_strbuf document = TH_STRBUF_INIT;
    th_report *head = th_report_new("page", "");
    int failed = head ? add_all(s, head, &document, err) : th_error_no_memory(err);
    if (!failed)
        failed = th_html_write(&document, out, err);
    th_report_free(head);
    th_strbuf_clear(&document);
    return failed;
}
