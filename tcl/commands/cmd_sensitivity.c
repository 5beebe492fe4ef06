/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_sensitivity.c - report_sensitivity: the gain from more bandwidth, clock or memory, one
 * property at a time.
 *   options -> select properties, objects, groups -> run them all -> a table, the
 *   largest gain first */
#include <config.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "report/objects/objects.h"
#include "tcl/report_call.h"
#include "report/what_if/what_if.h"

enum { BY = REPORT_N_OPTIONS, OF, PROPERTIES, GROUP_BY, REMAP };
enum { ROWS_IN_TEXT = 20 }; /* rows without -limit */
typedef enum { EACH, CLASS, ALL } grouping;

static const char *grouping_name(int i)
{
    static const char *const names[] = {"each", "class", "all", NULL};
    return names[i];
}

static const char *property_name(int i)
{
    return th_what_if_names[i];
}

static const th_option sensitivity_options[] = {
    TABLE_OPTIONS,
    [BY] = {"-by", TH_OPTION_TEXT, "PERCENT",
            "How much more bandwidth, clock or memory, and less latency (10%); less than 0: the "
            "other way."},
    [OF] = {"-of", TH_OPTION_TEXT, "OBJECTS", "Only these links and accelerators."},
    [PROPERTIES] = {"-properties", TH_OPTION_TEXT, "{PROPERTY ...}",
                    "Which of bandwidth, latency (of links), clock, dram_bandwidth, dram_latency "
                    "(of accelerators), and memory, their capacity, with -remap; all but the "
                    "latencies when left out.",
                    .choice = property_name},
    [GROUP_BY] = {"-group", TH_OPTION_CHOICE, "GROUPS",
                  "What changes together: nothing, links (accelerators) of equal properties, or "
                  "all of them.",
                  .choice = grouping_name},
    [REMAP] = {"-remap", TH_OPTION_INTEGER, "N",
               "The workload is mapped anew for the baseline and for each change: a search of N "
               "evaluations that starts from the mapping, with the algorithm and objective that "
               "found it.",
               1, INT32_MAX},
    {.name = NULL},
};

/* ---- options ---- */

typedef struct request {
    double by;
    bool what[TH_N_WHAT_IF_PROPERTIES];
    int64_t remap;        /* 0: the mapping stays */
    bool is_default;      /* the properties are the default ones */
    bool *links, *accels; /* which of them */
    grouping group;
} request;

static int parse_by(th_call *c, double *by)
{
    enum { MOST_PERCENT = 900 };
    const char *text = th_call_text(c, BY, "10%");
    double share;
    if (th_parse_percent(text, &share) == 0 && share > -1 && share <= MOST_PERCENT / 100 &&
        share != 0) {
        *by = share;
        return 0;
    }
    return th_error_set(
        &c->err, "TCL-0702",
        "-by \"%.40s\": must be a percentage as 10%%, above -100%%, at most %d%%, and not 0%%",
        text, (int)MOST_PERCENT);
}

/* The ASTRA-sim network has bandwidths of dimensions, which links only stand for. */
static bool links_matter(const th_session *s)
{
    const th_run_options *o = s->simulation ? &s->simulation->options : &s->defaults;
    return strncmp(o->network->name, "astra", 5) != 0;
}

static int parse_properties(th_call *c, request *q)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (!th_call_has(c, PROPERTIES)) {
        q->what[TH_WHAT_IF_BANDWIDTH] = links_matter(c->session);
        q->what[TH_WHAT_IF_CLOCK] = q->what[TH_WHAT_IF_DRAM_BANDWIDTH] = q->is_default = true;
        q->what[TH_WHAT_IF_MEMORY] = q->remap > 0;
        return 0;
    }
    if (Tcl_ListObjGetElements(NULL, c->option[PROPERTIES].word, &n, &words) != TCL_OK || n < 1)
        return th_error_set(&c->err, "TCL-0703",
                            "-properties \"%.100s\": must be a list of properties",
                            th_call_text(c, PROPERTIES, ""));
    for (Tcl_Size i = 0; i < n; i++) {
        int w = 0;
        while (w < TH_N_WHAT_IF_PROPERTIES &&
               strcmp(th_what_if_names[w], Tcl_GetString(words[i])) != 0)
            w++;
        if (w == TH_N_WHAT_IF_PROPERTIES)
            return th_error_unknown(&c->err, "TCL-0704", "-properties", Tcl_GetString(words[i]),
                                    th_what_if_names);
        if (th_what_if_is_of_links((th_what_if_property)w) && !links_matter(c->session))
            return th_error_set(
                &c->err, "TCL-0709",
                "-properties %s: on the astra networks it belongs to dimensions, not links",
                th_what_if_names[w]);
        if (w == TH_WHAT_IF_MEMORY && q->remap == 0)
            return th_error_set(
                &c->err, "TCL-0719",
                "-properties memory: has no effect on a fixed mapping: needs -remap");
        q->what[w] = true;
    }
    return 0;
}

static int parse_remap(th_call *c, request *q)
{
    q->remap = th_call_number(c, REMAP, 0);
    if (q->remap == 0 || !c->session->hand_built)
        return 0;
    return th_error_set(&c->err, "TCL-0720", "-remap: a hand-built program has no mapping");
}

static int check_latencies(th_call *c, const request *q)
{
    bool any = q->what[TH_WHAT_IF_LATENCY] || q->what[TH_WHAT_IF_DRAM_LATENCY];
    if (!any || q->by < 1)
        return 0;
    return th_error_set(&c->err, "TCL-0705",
                        "-by \"%s\": latencies can only be reduced by less than 100%%",
                        th_call_text(c, BY, ""));
}

static int parse_object(th_call *c, const char *text, request *q)
{
    th_object o;
    if (th_object_parse(c->session, text, &o, &c->err) != 0)
        return th_call_prefix_error(c, "-of", &c->err);
    int accel = o.class == TH_CLASS_ACCEL  ? o.index
                : o.class == TH_CLASS_NODE ? c->session->system->nodes[o.index].accel
                                           : -1;
    if (o.class == TH_CLASS_LINK)
        q->links[o.index] = true;
    else if (accel >= 0)
        q->accels[accel] = true;
    else
        return th_error_set(&c->err, "TCL-0706", "-of \"%.100s\": must be a link or an accelerator",
                            text);
    return 0;
}

static int parse_objects(th_call *c, request *q)
{
    Tcl_Obj **words;
    Tcl_Size n;
    const th_system *s = c->session->system;
    bool all = !th_call_has(c, OF);
    for (int l = 0; l < s->n_links; l++)
        q->links[l] = all;
    for (int a = 0; a < s->n_accels; a++)
        q->accels[a] = all;
    if (all)
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[OF].word, &n, &words) != TCL_OK)
        return th_error_set(&c->err, "TCL-0707", "-of \"%.100s\": must be a list of objects",
                            th_call_text(c, OF, ""));
    for (Tcl_Size i = 0; i < n; i++)
        if (parse_object(c, Tcl_GetString(words[i]), q) != 0)
            return -1;
    return 0;
}

static int parse(th_call *c, request *q)
{
    q->group = (grouping)th_call_number(c, GROUP_BY, EACH);
    return parse_by(c, &q->by) != 0 || parse_remap(c, q) != 0 || parse_properties(c, q) != 0 ||
                   check_latencies(c, q) != 0 || parse_objects(c, q) != 0
               ? -1
               : 0;
}

/* ---- groups ---- */

static bool same_accels(const th_accel *a, const th_accel *b)
{
    if (a->dram_bits_per_s != b->dram_bits_per_s || a->dram_latency_ps != b->dram_latency_ps ||
        a->dram_bytes != b->dram_bytes || a->vector_hz != b->vector_hz ||
        a->n_designs != b->n_designs)
        return false;
    for (int d = 0; d < a->n_designs; d++)
        if (a->designs[d] != b->designs[d])
            return false;
    return true;
}

/* Are two objects in one group? */
static bool belong_together(const th_system *s, th_what_if_property what, grouping group, int32_t a,
                            int32_t b)
{
    const th_link *x = &s->links[a], *y = &s->links[b];
    if (group == ALL)
        return true;
    if (!th_what_if_is_of_links(what))
        return group == CLASS &&
               same_accels(&s->nodes[s->accel_node[a]].a, &s->nodes[s->accel_node[b]].a);
    if (what == TH_WHAT_IF_BANDWIDTH && x->medium == y->medium)
        return true;
    return group == CLASS && s->media[x->medium].bits_per_s == s->media[y->medium].bits_per_s &&
           x->latency_ps == y->latency_ps;
}

/* A search does not see a clock that changes during a run. 1: not the case; 0: these objects are
 * left out; -1: they were requested, which is an error. */
static int can_change(const th_system *s, th_what_if_property what, const int32_t *members, int n,
                      const request *q, th_error *err)
{
    if (what != TH_WHAT_IF_CLOCK || q->remap == 0 || th_what_if_is_of_designs(s, members, n))
        return 1;
    return q->is_default
               ? 0
               : th_error_set(err, "TCL-0721",
                              "-properties clock: accel/%s shares designs with others, which "
                              "-remap needs to change with it: -group class or all, or more of -of",
                              s->nodes[s->accel_node[members[0]]].name);
}

typedef struct grouping_scratch {
    bool *taken;      /* by object */
    int32_t *members; /* of the present group */
} grouping_scratch;

/* The objects of a property, in groups by their first members. */
static int add_groups(const th_system *system, th_what_ifs *w, th_what_if_property what,
                      const request *q, grouping_scratch scratch, th_error *err)
{
    bool *taken = scratch.taken;
    int32_t *members = scratch.members;
    const bool *wanted = th_what_if_is_of_links(what) ? q->links : q->accels;
    int32_t all = th_what_if_is_of_links(what) ? system->n_links : system->n_accels;
    for (int32_t o = 0; o < all; o++)
        taken[o] = !wanted[o] || !th_what_if_applies(system, what, o);
    for (int32_t o = 0; o < all; o++) {
        int n = 0;
        for (int32_t other = o; !taken[o] && other < all; other++)
            if (!taken[other] && (other == o || belong_together(system, what, q->group, o, other)))
                members[n++] = other;
        for (int i = 0; i < n; i++)
            taken[members[i]] = true;
        int can = n > 0 ? can_change(system, what, members, n, q, err) : 0;
        if (can < 0 || (can > 0 && th_what_ifs_add(w, what, members, n, err) != 0))
            return -1;
    }
    return 0;
}

static int add_all(th_session *s, th_what_ifs *w, const request *q, th_error *err)
{
    size_t most = (size_t)(s->system->n_links + s->system->n_accels) + 1;
    bool *taken = th_alloc_zero(most, sizeof *taken);
    int32_t *members = th_alloc_zero(most, sizeof *members);
    int failed = taken && members ? 0 : th_error_no_memory(err);
    for (int what = 0; !failed && what < TH_N_WHAT_IF_PROPERTIES; what++)
        if (q->what[what])
            failed = add_groups(s->system, w, (th_what_if_property)what, q,
                                (grouping_scratch){taken, members}, err);
    th_free(taken);
    th_free(members);
    if (!failed && w->n == 0)
        failed = th_error_set(
            err, "TCL-0708",
            "nothing to change: none of these objects has such a property with a limit");
    return failed;
}

/* ---- the table ---- */

/* "link/0_1", "link/0_1 and 23 more", "all 40 links". */
static const char *name_of(const th_session *s, th_report *r, const th_what_if *w)
{
    const th_system *system = s->system;
    bool is_link = th_what_if_is_of_links((th_what_if_property)w->what);
    const char *class = is_link ? "link" : "accel";
    const char *first = is_link ? system->links[w->objects[0]].name
                                : system->nodes[system->accel_node[w->objects[0]]].name;
    int all = is_link ? system->n_links : system->n_accels;
    if (w->n == 1)
        return th_report_printf(r, "%s/%s", class, first);
    if (w->n == all)
        return th_report_printf(r, "all %d %ss", all, class);
    return th_report_printf(r, "%s/%s +%d", class, first, w->n - 1);
}

static int64_t value_of(const th_system *s, const th_what_if *w, int i)
{
    int32_t o = w->objects[i];
    switch ((th_what_if_property)w->what) {
    case TH_WHAT_IF_BANDWIDTH:
        return s->media[s->links[o].medium].bits_per_s;
    case TH_WHAT_IF_LATENCY:
        return s->links[o].latency_ps;
    case TH_WHAT_IF_DRAM_BANDWIDTH:
        return s->nodes[s->accel_node[o]].a.dram_bits_per_s;
    case TH_WHAT_IF_DRAM_LATENCY:
        return s->nodes[s->accel_node[o]].a.dram_latency_ps;
    case TH_WHAT_IF_MEMORY:
        return s->nodes[s->accel_node[o]].a.dram_bytes;
    case TH_WHAT_IF_CLOCK:
    case TH_N_WHAT_IF_PROPERTIES:
        break;
    }
    return 0;
}

/* The value of the property, or the changed value: "" where members differ; a share for clocks. */
static const char *value_text(const th_session *s, th_report *r, const th_what_if *w, double factor)
{
    char text[64];
    int64_t value = value_of(s->system, w, 0);
    for (int i = 1; i < w->n; i++)
        if (value_of(s->system, w, i) != value)
            return th_report_printf(r, "x%g", factor);
    if (w->what == TH_WHAT_IF_CLOCK)
        return th_report_printf(r, "x%g", factor);
    int64_t changed = (int64_t)llround((double)value * factor);
    if (w->what == TH_WHAT_IF_MEMORY)
        return th_report_printf(r, "%s", th_format_bytes(changed, text, sizeof text));
    bool is_time = w->what == TH_WHAT_IF_LATENCY || w->what == TH_WHAT_IF_DRAM_LATENCY;
    return th_report_printf(r, "%s",
                            is_time ? th_format_time(changed, text, sizeof text)
                                    : th_format_bandwidth(changed, text, sizeof text));
}

static double factor_of(const th_what_if *w, double by)
{
    return w->what == TH_WHAT_IF_LATENCY || w->what == TH_WHAT_IF_DRAM_LATENCY ? 1 - by : 1 + by;
}

static th_quantity change_from(double value, double before)
{
    return before > 0 ? th_change(value / before - 1) : th_absent(TH_KIND_CHANGE);
}

/* An answer of 0 that follows from the mapping alone: it puts nothing on the objects. */
static bool is_blind(const th_what_ifs *all, const th_what_if *w)
{
    return all->remap == 0 && w->n > 0 && w->is_unused;
}

static void add_row(const th_session *s, th_report *r, th_table *t, const th_what_ifs *all,
                    const th_what_if *w)
{
    const th_what_if *base = &all->baseline;
    bool has_throughput = base->throughput_per_s > 0;
    th_quantity cells[] = {
        th_text(w->n > 0 ? name_of(s, r, w) : "baseline"),
        w->n > 0 ? th_text(th_what_if_names[w->what]) : th_absent(TH_KIND_TEXT),
        w->n > 0 ? th_text(value_text(s, r, w, 1)) : th_absent(TH_KIND_TEXT),
        w->n > 0 ? th_text(value_text(s, r, w, factor_of(w, all->by))) : th_absent(TH_KIND_TEXT),
        th_ps(w->end_ps),
        th_ps(base->end_ps - w->end_ps),
        change_from((double)w->end_ps, (double)base->end_ps),
        has_throughput ? th_rate(w->throughput_per_s) : th_absent(TH_KIND_RATE),
        has_throughput ? change_from(w->throughput_per_s, base->throughput_per_s)
                       : th_absent(TH_KIND_CHANGE),
        is_blind(all, w) ? th_text("unused") : th_absent(TH_KIND_TEXT),
        th_count(w->n),
    };
    if (w->n > 0)
        th_table_row(t, cells);
    else
        th_table_total(t, cells);
}

static bool any_blind(const th_what_ifs *all)
{
    bool any = false;
    for (int i = 0; i < all->n; i++)
        any |= is_blind(all, &all->all[i]);
    return any;
}

static int section(th_session *s, th_report *r, const th_what_ifs *w, th_error *err)
{
    const th_column all[] = {
        {"object", "object", TH_KIND_TEXT},
        {"property", "property", TH_KIND_TEXT},
        {"from", NULL, TH_KIND_TEXT},
        {"to", "changed to", TH_KIND_TEXT},
        {"makespan", "makespan", TH_KIND_TIME},
        {"gain", "gain", TH_KIND_TIME},
        {"change", "change", TH_KIND_CHANGE},
        {"throughput", NULL, TH_KIND_RATE},
        {"throughput_change", NULL, TH_KIND_CHANGE},
        {"blind", any_blind(w) ? "blind" : NULL, TH_KIND_TEXT},
        {"objects", NULL, TH_KIND_COUNT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    enum { GAIN = 5 };
    enum { N = sizeof all / sizeof *all - 1 };
    th_column *columns = th_report_columns(r, N);
    if (!columns)
        return th_error_no_memory(err);
    memcpy(columns, all, sizeof all);
    th_table *t = th_report_table(r, "sensitivity", NULL, columns);
    th_table_note(t, "gain", "gain: makespan of the baseline less this one");
    th_table_note(t, "change", "change: this one over the baseline");
    th_table_note(t, "object", "link/A +3: link/A and 3 links like it, changed together");
    if (any_blind(w))
        th_table_note(t, "blind",
                      "blind: the mapping uses none of them, and it stays: only a new mapping "
                      "could gain (-remap, report_advice)");
    for (int i = 0; i < w->n; i++)
        add_row(s, r, t, w, &w->all[i]);
    th_table_sort(t, GAIN);
    add_row(s, r, t, w, &w->baseline);
    return 0;
}

/* ---- the command ---- */

static int simulate(th_call *c, const request *q, th_what_ifs *w)
{
    w->by = q->by;
    w->remap = q->remap;
    if (add_all(c->session, w, q, &c->err) != 0)
        return -1;
    th_report *trial = th_report_new("sensitivity", "Sensitivity");
    if (!trial)
        return th_error_no_memory(&c->err);
    int failed = th_report_check_columns(c, trial, section(c->session, trial, w, &c->err));
    return failed ? -1 : th_what_ifs_run(c->session, w, &c->err);
}

/* Is a clock changed only for some accelerators of a design, so that tiles stay as they are? */
static bool keeps_tiles(const th_session *s, const th_what_ifs *w)
{
    bool any = false;
    for (int i = 0; !any && i < w->n; i++)
        any = w->all[i].what == TH_WHAT_IF_CLOCK &&
              !th_what_if_is_of_designs(s->system, w->all[i].objects, w->all[i].n);
    return any && !s->hand_built;
}

static int report(th_call *c, const th_what_ifs *w)
{
    th_report *r = th_report_of_call(c, "sensitivity", "Sensitivity");
    if (!r)
        return -1;
    th_report_head_line(
        r, "by",
        th_report_printf(r, "%+g %% bandwidth%s or clock, %+g %% latency, one at a time",
                         w->by * 100, w->remap > 0 ? ", memory" : "", -w->by * 100));
    if (w->remap > 0)
        th_report_head_line(
            r, "mapped",
            th_report_printf(r, "anew for each, by %lld evaluations", (long long)w->remap));
    if (w->remap > 0)
        th_report_head_field(r, "remap_evaluations", th_count(w->remap));
    else if (!c->session->hand_built)
        th_report_head_line(r, "remap", "no: the mapping stays (report_advice maps anew)");
    th_report_head_field(r, "by", th_change(w->by));
    if (keeps_tiles(c->session, w)) {
        th_report_head_line(r, "tiles",
                            "of the old clock where designs are shared (-group all: anew)");
        th_report_head_field(r, "tiles_at_shared_designs", th_text("of the old clock"));
    }
    int failed = section(c->session, r, w, &c->err);
    r->is_kept = !failed;
    if (failed || th_call_has(c, REPORT_LIMIT) || th_report_format(c) != TH_FORMAT_TEXT)
        return th_report_finish(c, r, failed, failed ? NULL : r->first);
    failed = th_report_arrange(c, r->first);
    th_table_limit(r->first, ROWS_IN_TEXT);
    return th_report_finish(c, r, failed, NULL);
}

static int run_report_sensitivity(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_program(s, &c->err) != 0)
        return -1;
    request q = {.links = th_alloc_zero((size_t)s->system->n_links + 1, sizeof *q.links),
                 .accels = th_alloc_zero((size_t)s->system->n_accels + 1, sizeof *q.accels)};
    th_what_ifs w = {.n = 0};
    int failed = q.links && q.accels ? parse(c, &q) : th_error_no_memory(&c->err);
    if (!failed)
        failed = simulate(c, &q, &w);
    if (!failed)
        failed = report(c, &w);
    th_what_ifs_clear(&w);
    th_free(q.links);
    th_free(q.accels);
    return failed;
}

const th_command th_sensitivity_commands[] = {
    {"report_sensitivity", "report", "", 0, 0, sensitivity_options,
     "print the gain from more bandwidth, clock or memory",
     "The run is simulated from time 0 to its end with one property changed at a time, on as many "
     "threads as set_threads says; no result depends on their number. Gain: makespan of the "
     "baseline less this one; change: this makespan / the baseline's - 1. The largest gain comes "
     "first, in text twenty of them, without -limit. The mapping stays, except with -remap, and an "
     "answer is blind where the mapping uses none of the objects; all "
     "else follows from the new value, as if the system file had it, except that designs shared "
     "with other accelerators keep the tiles of their old clock: with -group all, tiles are chosen "
     "anew. Links that share a medium change together. Faults of inject_fault happen in every run. "
     "The present run, if there is one, stays where it is; without one, the options of "
     "map_workload hold.",
     .run = run_report_sensitivity, .is_report = true, .not_while_running = true,
     .after_interrupt = "nothing was changed", .needs_every_rank = true},
    {.name = NULL},
};
