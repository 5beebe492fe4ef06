/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_report.c - report_* commands of the run: what is needed, the sections, where the text goes.
 *   command -> th_report_of_call -> section -> arrange (-sort_by, -limit) -> deliver */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/tcl_session.h"
#include "sim/observe/link_probe.h"
#include "tcl/objects/breakpoint.h"
#include "report/objects/objects.h"
#include "tcl/report_call.h"
#include "report/sections/sections.h"

#define GROUP "report"

static const th_option record_options[] = {RECORD_OPTIONS, {.name = NULL}};
static const th_option table_options[] = {TABLE_OPTIONS, {.name = NULL}};

/* ---- of one section each ---- */

typedef int (*th_section)(th_session *s, th_report *r, th_error *err);

/* A record or a table of the present run. */
static int report_run(th_call *c, const char *name, const char *title, th_section section,
                      bool is_table)
{
    if (th_session_need_run(c->session, &c->err) != 0)
        return -1;
    th_report *r = th_report_of_call(c, name, title);
    if (r == NULL)
        return -1;
    int rc = section(c->session, r, &c->err);
    return th_report_finish(c, r, rc, is_table ? r->first : NULL);
}

static int run_report_summary(th_call *c)
{
    return report_run(c, "summary", "Summary", th_section_summary, false);
}

/* ---- report_utilization ---- */

enum { USE_FROM = REPORT_N_OPTIONS, USE_TO, USE_WINDOWS, USE_WINDOW, USE_OF };
enum { WINDOWS_MAX = 100000 };

static const th_option utilization_options[] = {
    TABLE_OPTIONS,
    [USE_FROM] = {"-from", TH_OPTION_TIME, "TIME", "What was done since this instant (0)."},
    [USE_TO] = {"-to", TH_OPTION_TIME, "TIME", "... and up to this one (where the run stands)."},
    [USE_WINDOWS] = {"-windows", TH_OPTION_INTEGER, "N",
                     "In N windows of equal length, with links.", 1, WINDOWS_MAX},
    [USE_WINDOW] = {"-window", TH_OPTION_TIME, "TIME",
                    "In windows of this length, the last one shorter."},
    [USE_OF] = {"-of", TH_OPTION_TEXT, "OBJECTS", "Only these accelerators and links."},
    {.name = NULL},
};

static int parse_windows(th_call *c, th_windows *x)
{
    th_time now = th_machine_elapsed(c->session->simulation->machine);
    x->from = th_call_number(c, USE_FROM, 0);
    x->to = th_call_number(c, USE_TO, now);
    x->n = th_call_number(c, USE_WINDOWS, 1);
    x->length = th_call_number(c, USE_WINDOW, 0);
    if (x->to > now)
        return th_error_set(&c->err, "TCL-0712", "-to \"%s\": the run has not come so far",
                            th_call_text(c, USE_TO, ""));
    if (x->from >= x->to)
        return th_error_set(&c->err, "TCL-0713",
                            "-from: must be before -to, and before where the run stands");
    if (th_call_has(c, USE_WINDOW) && (x->length == 0 || th_call_has(c, USE_WINDOWS)))
        return th_error_set(&c->err, "TCL-0715",
                            "-window: must be more than 0, and without -windows");
    if (x->length > 0)
        x->n = (x->to - x->from - 1) / x->length + 1;
    if (x->n > WINDOWS_MAX || x->n > x->to - x->from)
        return th_error_set(&c->err, "TCL-0716",
                            "%lld windows: at most %d, of a picosecond or more", (long long)x->n,
                            (int)WINDOWS_MAX);
    return 0;
}

/* Accelerators and links out of -of; all without it. */
static int parse_used(th_call *c, bool *accels, bool *links)
{
    Tcl_Obj **words = NULL;
    Tcl_Size n = 0;
    const th_system *s = c->session->system;
    bool has_of = th_call_has(c, USE_OF);
    for (int a = 0; a < s->n_accels; a++)
        accels[a] = !has_of;
    for (int l = 0; l < s->n_links; l++)
        links[l] = !has_of;
    if (has_of && Tcl_ListObjGetElements(NULL, c->option[USE_OF].word, &n, &words) != TCL_OK)
        return th_error_set(&c->err, "TCL-0717", "-of \"%.100s\": must be a list of objects",
                            th_call_text(c, USE_OF, ""));
    for (Tcl_Size i = 0; i < n; i++) {
        th_object o;
        if (th_object_parse(c->session, Tcl_GetString(words[i]), &o, &c->err) != 0)
            return th_call_blame(c, "-of", &c->err);
        int accel = o.class == TH_CLASS_ACCEL  ? o.index
                    : o.class == TH_CLASS_NODE ? s->nodes[o.index].accel
                                               : -1;
        if (accel < 0 && o.class != TH_CLASS_LINK)
            return th_error_set(&c->err, "TCL-0718",
                                "-of \"%.100s\": must be an accelerator or a link",
                                Tcl_GetString(words[i]));
        if (accel >= 0)
            accels[accel] = true;
        else
            links[o.index] = true;
    }
    return 0;
}

static int report_windows(th_call *c, th_windows *x)
{
    th_report *r = th_report_of_call(c, "utilization", "Utilization");
    if (r == NULL)
        return -1;
    int rc = th_section_windows(c->session, r, x, &c->err);
    return th_report_finish(c, r, rc, r->first);
}

static int run_report_utilization(th_call *c)
{
    th_session *s = c->session;
    bool in_windows = false;
    for (int o = USE_FROM; o <= USE_OF; o++)
        in_windows |= th_call_has(c, o);
    if (!in_windows || th_session_need_run(s, &c->err) != 0)
        return report_run(c, "utilization", "Utilization", th_section_accels, true);
    bool *accels = th_alloc_zero((size_t)s->system->n_accels + 1, sizeof *accels);
    bool *links = th_alloc_zero((size_t)s->system->n_links + 1, sizeof *links);
    th_windows x = {.accels = accels, .links = links, .used_links = !th_call_has(c, USE_OF)};
    int rc = accels != NULL && links != NULL ? 0 : th_error_no_memory(&c->err);
    if (rc == 0)
        rc = parse_windows(c, &x) != 0 || parse_used(c, accels, links) != 0 ||
                     report_windows(c, &x) != 0
                 ? -1
                 : 0;
    th_free(accels);
    th_free(links);
    return rc;
}

static int run_report_layers(th_call *c)
{
    if (c->session->made != NULL)
        return th_error_set(
            &c->err, "TCL-0146",
            "the program \"%.100s\" was made by hand: only a mapped workload has layers",
            c->session->made->name);
    return report_run(c, "layers", "Layers", th_section_layer_figures, true);
}

/* ---- report_energy ---- */

enum { ENERGY_BY = REPORT_N_OPTIONS };
enum { BY_LAYER, BY_ACCEL };

static const char *energy_by(int i)
{
    static const char *const names[] = {"layer", "accel", NULL};
    return names[i];
}

static const th_option energy_options[] = {
    TABLE_OPTIONS,
    [ENERGY_BY] = {"-by", TH_OPTION_CHOICE, "WHAT",
                   "Rows are layers (accelerators, for a program made by hand).",
                   .choice = energy_by},
    {.name = NULL},
};

static int run_report_energy(th_call *c)
{
    th_session *s = c->session;
    int64_t by = th_call_number(c, ENERGY_BY, s->made != NULL ? BY_ACCEL : BY_LAYER);
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    const th_result *x = th_simulation_result(s->simulation, &c->err);
    if (x == NULL)
        return -1;
    if (!x->has_energy)
        return th_error_set(&c->err, "TCL-0196",
                            "the system \"%.100s\" does not say what things cost: mac_energy, "
                            "dram_energy ... of its designs with energy_source, or link_energy",
                            s->system->name);
    if (by == BY_LAYER && s->made != NULL)
        return th_error_set(&c->err, "TCL-0197",
                            "-by layer: the program \"%.100s\" was made by hand: must be accel",
                            s->made->name);
    th_report *r = th_report_of_call(c, "energy", "Energy");
    if (r == NULL)
        return -1;
    int rc = th_section_energy(s, r, by == BY_LAYER, &c->err);
    return th_report_finish(c, r, rc, r->first);
}

/* ---- report_links ---- */

enum { LINKS_USED = REPORT_N_OPTIONS, LINKS_FLOWS, LINKS_OVER_TIME };
enum { FLOWS_IN_TEXT = 10, SPANS = 20 }; /* where no -limit says how many */

static const th_option links_options[] = {
    TABLE_OPTIONS,
    [LINKS_USED] = {"-used", TH_OPTION_FLAG, NULL, "Only links that carried something."},
    [LINKS_FLOWS] = {"-flows", TH_OPTION_TEXT, "LINK",
                     "The flows of this link, in place of those of the one of the greatest load."},
    [LINKS_OVER_TIME] = {"-over_time", TH_OPTION_TEXT, "LINK",
                         "Only how many flows were on this link as time went on, in -limit spans "
                         "(20, at most 64); the run is done once more for it."},
    {.name = NULL},
};

/* The link that an option names, as link/0_1 or 0_1; -2 with c->err. */
static int parse_link(th_call *c, int option)
{
    th_object o;
    const char *name = links_options[option].name, *text = th_call_text(c, option, "");
    int bare = th_system_find_link(c->session->system, text);
    if (bare >= 0)
        return bare;
    int rc = strchr(text, '/') != NULL
                 ? th_object_parse(c->session, text, &o, &c->err)
                 : th_object_unknown(c->session, TH_CLASS_LINK, text, &c->err);
    if (rc != 0) {
        th_call_blame(c, name, &c->err);
        return -2;
    }
    if (o.class == TH_CLASS_LINK)
        return o.index;
    th_error_set(&c->err, "TCL-0158", "%s \"%s\": must be a link", name, text);
    return -2;
}

/* The link whose flows are shown; -1: none is, -2 with c->err. */
static int flows_link(th_call *c)
{
    if (th_call_has(c, LINKS_FLOWS))
        return parse_link(c, LINKS_FLOWS);
    return th_report_format(c) == TH_FORMAT_CSV ? -1 : th_link_worst(c->session, &c->err);
}

static int report_over_time(th_call *c)
{
    int link = parse_link(c, LINKS_OVER_TIME);
    int64_t spans = th_call_number(c, REPORT_LIMIT, SPANS);
    th_report *r = link >= 0 ? th_report_of_call(c, "links", "Links") : NULL;
    if (r == NULL)
        return -1;
    spans = spans < TH_PROBE_SPANS_MAX ? spans : TH_PROBE_SPANS_MAX;
    return th_report_finish(
        c, r, th_section_link_time(c->session, r, link, (int32_t)spans, &c->err), NULL);
}

/* Links by load where nothing else is asked for. */
static int arrange_links(th_call *c, th_table *t)
{
    int load = th_table_column(t, "load", &c->err);
    if (!th_call_has(c, REPORT_SORT_BY))
        th_table_sort(t, load);
    return th_report_arrange(c, t);
}

static int run_report_links(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (th_call_has(c, LINKS_OVER_TIME))
        return report_over_time(c);
    int link = flows_link(c);
    th_report *r = link > -2 ? th_report_of_call(c, "links", "Links") : NULL;
    if (r == NULL)
        return -1;
    int rc = th_section_links(s, r, th_call_has(c, LINKS_USED), &c->err);
    th_table *links = r->first;
    if (rc == 0)
        rc = arrange_links(c, links);
    if (rc == 0 && link >= 0)
        rc = th_section_link_flows(s, r, link, !th_call_has(c, LINKS_FLOWS), &c->err);
    if (rc == 0 && link >= 0 &&
        (th_call_has(c, REPORT_LIMIT) || th_report_format(c) == TH_FORMAT_TEXT))
        th_table_limit(links->next, th_call_number(c, REPORT_LIMIT, FLOWS_IN_TEXT));
    return th_report_finish(c, r, rc, NULL);
}

/* ---- report_latency ---- */

enum { LATENCY_SINCE = REPORT_RETURN_STRING + 1, LATENCY_UNTIL };

static const th_option latency_options[] = {
    RECORD_OPTIONS,
    [LATENCY_SINCE] = {"-since", TH_OPTION_TIME, "TIME",
                       "Transfers that started at this instant or later (0)."},
    [LATENCY_UNTIL] = {"-until", TH_OPTION_TIME, "TIME", "... and before this one."},
    {.name = NULL},
};

static int run_report_latency(th_call *c)
{
    th_session *s = c->session;
    th_time since = th_call_number(c, LATENCY_SINCE, 0);
    th_time until = th_call_number(c, LATENCY_UNTIL, TH_TIME_MAX);
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (until <= since)
        return th_error_set(&c->err, "TCL-0180", "-until: must be later than -since");
    th_report *r = th_report_of_call(c, "latency", "Latency");
    if (r == NULL)
        return -1;
    return th_report_finish(c, r, th_section_latency(s, r, since, until, &c->err), NULL);
}

/* ---- the others ---- */

static int run_report_collectives(th_call *c)
{
    return report_run(c, "collectives", "Collectives", th_section_collectives, true);
}

/* ---- report_critical_path ---- */

enum { PATH_SLACK = REPORT_N_OPTIONS };
enum { SLACKS_IN_TEXT = 20 }; /* where no -limit says how many */

static const th_option path_options[] = {
    TABLE_OPTIONS,
    [PATH_SLACK] =
        {"-slack", TH_OPTION_FLAG, NULL,
         "All tasks that have ended, the least slack first, in the place of the path; in text "
         "20, without -limit."},
    {.name = NULL},
};

/* Rows that are not shown are made only where they are to be sorted. */
static int report_slack(th_call *c, th_report *r)
{
    bool is_text = th_report_format(c) == TH_FORMAT_TEXT, sorts = th_call_has(c, REPORT_SORT_BY);
    int64_t limit = th_call_number(c, REPORT_LIMIT, is_text ? SLACKS_IN_TEXT : INT64_MAX);
    int rc = th_section_slack(c->session, r, sorts ? INT64_MAX : limit, &c->err);
    if (rc == 0)
        rc = th_report_arrange(c, r->first);
    th_table_limit(r->first, limit);
    return th_report_finish(c, r, rc, NULL);
}

static int run_report_critical_path(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (th_call_has(c, REPORT_SORT_BY) && !th_call_has(c, PATH_SLACK))
        return th_error_set(&c->err, "TCL-0700",
                            "-sort_by: is for -slack; the path goes on in time");
    th_report *r = th_report_of_call(c, "critical_path", "Critical path");
    if (r == NULL)
        return -1;
    if (th_call_has(c, PATH_SLACK))
        return report_slack(c, r);
    int rc = th_section_path(s, r, th_call_number(c, REPORT_LIMIT, 0), &c->err);
    if (rc == 0 && th_report_format(c) != TH_FORMAT_CSV)
        rc = th_section_path_parts(s, r, &c->err);
    if (rc == 0 && th_report_format(c) != TH_FORMAT_CSV)
        rc = th_section_held_up(s, r, th_call_number(c, REPORT_LIMIT, 0), &c->err);
    return th_report_finish(c, r, rc, NULL);
}

/* ---- report_memory ---- */

enum { MEMORY_OF = REPORT_N_OPTIONS };
enum { HELD_IN_TEXT = 10 }; /* where no -limit says how many */

static const th_option memory_options[] = {
    TABLE_OPTIONS,
    [MEMORY_OF] = {"-of", TH_OPTION_TEXT, "ACCEL",
                   "What fills this accelerator, in place of the fullest one."},
    {.name = NULL},
};

/* The accelerator whose content is shown; -1: none is, -2 with c->err. */
static int held_accel(th_call *c)
{
    th_session *s = c->session;
    th_peak_place place;
    if (!th_call_has(c, MEMORY_OF))
        return th_report_format(c) == TH_FORMAT_CSV ? -1 : th_memory_fullest(s, &c->err);
    int node = th_node_parse(s, th_call_text(c, MEMORY_OF, ""), &c->err);
    if (node < 0) {
        th_call_blame(c, "-of", &c->err);
        return -2;
    }
    int accel = s->system->nodes[node].accel;
    if (accel >= 0 && th_lower_peak_of(s->simulation->lower, accel, &place))
        return accel;
    th_error_set(
        &c->err, "TCL-0701", "-of \"%.100s\": must be an accelerator that holds something%s",
        th_call_text(c, MEMORY_OF, ""),
        s->system->transfers_serially ? ", on a system whose transfers are not serial" : "");
    return -2;
}

static int run_report_memory(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_mapping(s, &c->err) != 0 || th_session_simulation(s, &c->err) == NULL)
        return -1;
    int accel = held_accel(c);
    th_report *r = accel > -2 ? th_report_of_call(c, "memory", "Memory") : NULL;
    if (r == NULL)
        return -1;
    int rc = th_section_memory(s, r, &c->err);
    th_table *memory = r->first;
    if (rc == 0 && accel >= 0)
        rc = th_section_held(s, r, accel, th_report_format(c) == TH_FORMAT_TEXT, &c->err);
    if (rc == 0 && accel >= 0 &&
        (th_call_has(c, REPORT_LIMIT) || th_report_format(c) == TH_FORMAT_TEXT))
        th_table_limit(memory->next, th_call_number(c, REPORT_LIMIT, HELD_IN_TEXT));
    return th_report_finish(c, r, rc, memory);
}

/* ---- report_breakpoints ---- */

/* A condition or a script, its lines as one. */
static void add_words(th_table *t, const char *name, const char *part, const char *text)
{
    static const char blanks[] = " \t\r\n";
    th_strbuf line = TH_STRBUF_INIT;
    for (text += strspn(text, blanks); *text != '\0'; text += strspn(text, blanks)) {
        size_t n = strcspn(text, blanks);
        th_strbuf_add(&line, line.length > 0 ? " " : "");
        th_strbuf_add_bytes(&line, text, n);
        text += n;
    }
    th_table_row(t, (th_quantity[]){th_text(name), th_text(part), th_text(line.text)});
    t->report->failed |= line.failed;
    th_strbuf_clear(&line);
}

/* Conditions and scripts are longer than columns: of text alone. */
static void add_words_of_breakpoints(const th_session *s, th_report *r)
{
    static const th_column columns[] = {{"name", "name", TH_KIND_TEXT},
                                        {"part", "", TH_KIND_TEXT},
                                        {"text", "text", TH_KIND_TEXT},
                                        {NULL, NULL, TH_KIND_TEXT}};
    th_table *t = th_report_table(r, "words", "When, and what is done then", columns);
    th_table_wrap(t);
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++) {
        const th_breakpoint *b = th_tcl_of(s)->breakpoints[i];
        if (b->text != NULL)
            add_words(t, b->name, "when", b->text);
        if (b->script != NULL)
            add_words(t, b->name, "do", b->script);
    }
}

static bool has_words(const th_session *s)
{
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++)
        if (th_tcl_of(s)->breakpoints[i]->text != NULL ||
            th_tcl_of(s)->breakpoints[i]->script != NULL)
            return true;
    return false;
}

static int run_report_breakpoints(th_call *c)
{
    static const th_column columns[] = {
        {"name", "name", TH_KIND_TEXT},
        {"at", "at", TH_KIND_TIME},
        {"on", "on", TH_KIND_TEXT},
        {"when", NULL, TH_KIND_TEXT},
        {"objects", "of", TH_KIND_COUNT},
        {"enabled", "enabled", TH_KIND_TEXT},
        {"hits", "hits", TH_KIND_COUNT},
        {"once", "once", TH_KIND_TEXT},
        {"continue", "continue", TH_KIND_TEXT},
        {"script", NULL, TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    th_session *s = c->session;
    th_report *r = th_report_of_call(c, "breakpoints", "Breakpoints");
    if (r == NULL)
        return -1;
    th_table *t = th_report_table(r, "breakpoints", NULL, columns);
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++) {
        const th_breakpoint *b = th_tcl_of(s)->breakpoints[i];
        th_table_row(
            t, (th_quantity[]){th_text(b->name), th_ps_or_absent(b->at_ps),
                               b->on >= 0 ? th_text(th_on_name(b->on)) : th_absent(TH_KIND_TEXT),
                               b->text != NULL ? th_text(b->text) : th_absent(TH_KIND_TEXT),
                               b->n_of > 0 ? th_count(b->n_of) : th_absent(TH_KIND_COUNT),
                               th_text(b->is_disabled ? "no" : "yes"), th_count(b->hits),
                               th_text(b->is_once ? "yes" : "no"),
                               th_text(b->goes_on ? "yes" : "no"), th_text(b->script)});
    }
    if (th_report_format(c) == TH_FORMAT_TEXT && has_words(s))
        add_words_of_breakpoints(s, r);
    return th_report_finish(c, r, 0, t);
}

const th_command th_report_commands[] = {
    {"report_summary", GROUP, "", 0, 0, record_options,
     "print latency, throughput, work and traffic of the run",
     "Makespan is the time to the end of the run. Latency is the mean time from the arrival of an "
     "input, a whole batch, to its end. Throughput is that of the steady state, (N - N/2) / (t_N - "
     "t_N/2) batches per second, in samples: times the batch, or where several networks share the "
     "system times the sum of their batches. Text has batches per second where that is more than "
     "one; csv and json always. Latency and multiply-accumulates are those of inputs that are "
     "through.",
     .run = run_report_summary, .is_report = true},
    {"report_utilization", GROUP, "", 0, 0, utilization_options,
     "print where the time of each accelerator went",
     "Busy, stalled on input, stalled on output and idle add up to the elapsed time; csv and json "
     "part the stalls on input by operand. With -from, -to, -windows, -window or -of the same in "
     "windows "
     "of time, to the picosecond, and below it the links: busy, idle, and the mean number of "
     "flows; the run is "
     "done once more for it, and stays where it is. Without -of, links that were idle in a window "
     "are "
     "left out of it.",
     .run = run_report_utilization, .is_report = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS},
    {"report_layers", GROUP, "", 0, 0, table_options,
     "print what each layer took, and what bounds it",
     "A layer is active while any task of it runs, transfers of its inputs too. Busy, stalled on "
     "input, weight, partial sums and output, and idle are times of its accelerators together: "
     "they "
     "add up to active times accels. In text, stalls on partial sums are there where there are "
     "any, "
     "and then idle only where it is not 0. Of peak is MACs over those that the arrays could have "
     "done while the layer was active; MACs count as if dense and direct, so where zeros are "
     "skipped "
     "or Winograd saves it may exceed 100 % and x roof stay below 1. Bound is what took longest: "
     "computing, the DRAM at "
     "its bandwidth, a port, or waiting. x roof is active over max(MACs / peak, DRAM bytes / "
     "bandwidth), both shared evenly among its accelerators. csv and json tell more: cycles, "
     "traffic of each operand, accesses to buffers on chip.",
     .run = run_report_layers, .is_report = true},
    {"report_energy", GROUP, "", 0, 0, energy_options,
     "print the joules that a run took, by what took them",
     "Multiply-accumulates, operations of the vector unit, bytes of buffers on chip, bytes of DRAM "
     "(of transfers too), static power, bytes on links. A layer has what its tasks took, and "
     "static "
     "power while they ran; the rest is that of idle accelerators, weights loaded in vain, and "
     "what "
     "belongs to no layer. Only where the system file says what things cost.",
     .run = run_report_energy, .is_report = true},
    {"report_links", GROUP, "", 0, 0, links_options,
     "print what links carried, and who shared the worst",
     "Load is what went over the link's medium, as a share of what it could have carried so far; "
     "busy is the time with anything on it; flows (packets, on a packet network) are the mean "
     "number while it was busy and the most at once, queue those beyond the first, over all the "
     "time. Links come by load unless -sort_by says otherwise. "
     "Below, the flows over the link of the greatest load: transfers one by one, collectives as "
     "the messages between two nodes; in text the ten largest, without -limit. In csv, only with "
     "-flows. On an ideal network, where nothing waits, load may exceed 100 %.",
     .run = run_report_links, .is_report = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS},
    {"report_latency", GROUP, "", 0, 0, latency_options,
     "print how long transfers took, from start to end",
     "Of those that started between -since and -until: warming up and draining can be left out. "
     "Percentiles are by nearest rank. Last, the rate at which bytes arrived in that span.",
     .run = run_report_latency, .is_report = true},
    {"report_collectives", GROUP, "", 0, 0, table_options,
     "print how quick each collective operation was",
     "rate is size / time, the algorithm bandwidth; bus is that times the share of the size that "
     "each rank "
     "must send at least: 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter, "
     "all_to_all, gather and scatter, 1 for broadcast, reduce and send_recv. excess is the time "
     "over the lower bound of any algorithm on these links, had it them for itself, which csv and "
     "json give too; there is none on an ideal network, which no link holds up.",
     .run = run_report_collectives, .is_report = true},
    {"report_memory", GROUP, "", 0, 0, memory_options,
     "print how full each memory gets, and of what",
     "Weights are there from the start; inputs from the end of their producer to their last "
     "reader; "
     "outputs until their last reader is done; each for all inputs in flight. Layer is where most "
     "is held, "
     "and at the time when the run came to it: when its first task on the accelerator began, of "
     "the first "
     "pass with which so many are in flight. Below, what fills the fullest accelerator then, the "
     "largest "
     "first; in text the ten largest, without -limit, and all weights in one line. In csv, only "
     "with -of.",
     .run = run_report_memory, .is_report = true},
    {"report_critical_path", GROUP, "", 0, 0, path_options,
     "print what the makespan is made of, or all slacks",
     "From the task that ended last back through what each waited for last. Cause says what that "
     "was: "
     "data, a predecessor; engine, the task before it on its accelerator or host, while it was "
     "ready "
     "itself; an arrival; or begin, nothing. After is that task. Wait is the time from its end to "
     "the "
     "start; waits and durations add up to the makespan, to the picosecond. Slack is how much "
     "later a "
     "task could have ended without moving the end, all tasks lasting as long as they did, in the "
     "order in which accelerators and hosts ran them: 0 on the path. Below, what the time of the "
     "path "
     "went to; held_up is what transfers and computes took longer than they would alone, and the "
     "last "
     "table says who was there then. csv and "
     "json give these parts of every task, who held it up, and how long it was ready before it "
     "started "
     "(queued). With "
     "-limit the longest N tasks have a line of their own and the others are folded.",
     .run = run_report_critical_path, .is_report = true},
    {"report_breakpoints", GROUP, "", 0, 0, table_options, "print all breakpoints", NULL,
     .run = run_report_breakpoints, .is_report = true},
    {.name = NULL},
};
