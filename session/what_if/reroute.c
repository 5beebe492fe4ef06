/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reroute.c - see reroute.h.
 *   th_section_why: choose links -> collect their flows -> watch the run again -> for each pair of
 *       nodes: find another route -> simulate the run on a system with it -> a row
 * Another route is one of a pair of nodes alone: it becomes an explicit route of a copy of the
 * system, and everything else stays. */
#include <config.h>
#include "session/what_if/reroute.h"
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/interrupt.h"
#include "session/objects/objects.h"
#include "session/sections/sections.h"
#include "session/contention_run.h"
#include "session/link_flows.h"
#include "session/progress.h"
#include "session/property_events.h"
#include "session/what_if/trials.h"
#include "topology/routing/route.h"

/* ---- another route ---- */

/* The best way to a node so far: links, then the sum of their loads. */
typedef struct way {
    double load;
    int n_links, link; /* link: by which it is reached; -1: not yet */
} way;

static bool may_pass(const th_system *s, int at, int from, int link, int medium)
{
    const th_link *l = &s->links[link];
    return l->from == at && !l->is_dead && l->medium != medium && l->to != from &&
           (at == from || s->nodes[at].forwards);
}

/* One more link for every node at distance n. Returns whether any node was reached. */
static bool spread(const th_system *s, way *ways, int from, int n, int medium, const double *used)
{
    bool any = false;
    for (int l = 0; l < s->n_links; l++) {
        int at = s->links[l].from;
        if (at < 0 || ways[at].n_links != n || (at != from && ways[at].link < 0) ||
            !may_pass(s, at, from, l, medium))
            continue;
        way *w = &ways[s->links[l].to];
        double load = ways[at].load + used[l];
        if (w->link >= 0 && (w->n_links <= n || w->load <= load))
            continue;
        *w = (way){load, n + 1, l};
        any = true;
    }
    return any;
}

/* The route of the fewest links, of those the least loaded, that avoids the medium of a link; used:
 * how loaded each link is. Returns its length, 0: there is none, or -1 with err. */
static int find_route(const th_system *s, int from, int to, int link, const double *used,
                      int *links, th_error *err)
{
    way *ways = th_alloc_array((size_t)s->n_nodes + 1, sizeof *ways);
    int n = 0;
    if (!ways)
        return th_error_no_memory(err);
    for (int i = 0; i < s->n_nodes; i++)
        ways[i] = (way){0, i == from ? 0 : -1, -1};
    while (ways[to].link < 0 && n < TH_ROUTE_MAX &&
           spread(s, ways, from, n, s->links[link].medium, used))
        n++;
    n = ways[to].link >= 0 ? ways[to].n_links : 0;
    for (int i = n, at = to; i-- > 0; at = s->links[links[i]].from)
        links[i] = ways[at].link;
    th_free(ways);
    return n;
}

/* The end of the run if flows from one node to another take this route: *end; -1: the network
 * refuses it. 0 or -1. */
static int run_rerouted(th_session *s, int from, int to, const int *links, int n, th_time *end,
                        th_error *err)
{
    *end = -1;
    th_system *system = th_what_if_rebuild(s->system, err);
    if (!system)
        return -1;
    th_error refused;
    th_simulation *sim = NULL;
    if (th_system_add_route(system, from, to, links, n, &refused) == 0)
        sim = th_what_if_load(s, system, s->mapping, &s->simulation->options, &refused);
    int failed = sim ? th_property_events_repeat(s, sim, TH_TIME_MAX, err) : 0;
    if (sim && !failed)
        *end = th_machine_elapsed(sim->machine);
    th_simulation_free(sim);
    th_system_free(system);
    if (!sim && th_interrupt_is_pending())
        return th_error_interrupted(err, "not all routes were tried");
    return failed;
}

/* ---- flows of a link, by pair ---- */

typedef struct pair_flows {
    int32_t from, to, task, n_tasks; /* task: the first */
    int64_t bytes;
    const th_watched_pair *watched;
} pair_flows;

typedef struct why_link {
    int link;
    pair_flows *pairs;
    size_t n;
    int64_t bytes; /* of all pairs */
} why_link;

static int by_pair(const void *a, const void *b)
{
    const th_link_flow *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static int collect(th_session *s, const th_result *x, why_link *w, th_error *err)
{
    th_link_flows f;
    if (th_link_flows_collect(&f, s->system, s->simulation, x, w->link, err) != 0)
        return -1;
    w->pairs = th_alloc_array(f.n + 1, sizeof *w->pairs);
    if (w->pairs && f.n > 0)
        qsort(f.flows, f.n, sizeof *f.flows, by_pair);
    for (size_t i = 0; w->pairs && i < f.n; i++) {
        const th_link_flow *one = &f.flows[i];
        pair_flows *last = w->n > 0 ? &w->pairs[w->n - 1] : NULL;
        if (!last || last->from != one->from || last->to != one->to) {
            last = &w->pairs[w->n++];
            *last = (pair_flows){.from = one->from, .to = one->to, .task = one->task};
        }
        last->n_tasks++;
        last->bytes += one->bytes;
        w->bytes += one->bytes;
    }
    th_link_flows_clear(&f);
    return w->pairs ? 0 : th_error_no_memory(err);
}

static int by_loss(const void *a, const void *b)
{
    const pair_flows *x = a, *y = b;
    if (x->watched->lost_ps != y->watched->lost_ps)
        return x->watched->lost_ps > y->watched->lost_ps ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

/* ---- the run again, with a probe ---- */

static int watch(th_session *s, th_contention_probe *p, why_link *links, int n, th_error *err)
{
    for (int i = 0; i < n; i++) {
        if (th_contention_probe_watch_link(p, links[i].link))
            return th_error_no_memory(err);
        for (size_t k = 0; k < links[i].n; k++)
            if (th_contention_probe_watch_pair(p, links[i].pairs[k].from, links[i].pairs[k].to))
                return th_error_no_memory(err);
    }
    if (th_probe_run_again(s, p, err))
        return -1;
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < links[i].n; k++)
            links[i].pairs[k].watched =
                th_contention_probe_pair(p, links[i].pairs[k].from, links[i].pairs[k].to);
        if (links[i].n > 1)
            qsort(links[i].pairs, links[i].n, sizeof *links[i].pairs, by_loss);
    }
    return 0;
}

/* ---- the table ---- */

/* "4 5 6": the nodes between the ends, a long way cut short. */
static void describe_route(const th_system *s, const int *links, int n, th_strbuf *out)
{
    enum { NODES = 6 };
    for (int i = 0; i < n - 1; i++) {
        if (i >= NODES && i < n - 2)
            continue;
        th_strbuf_printf(out, "%s%s", i > 0 ? (i == n - 2 && n - 2 > NODES ? " ... " : " ") : "",
                         s->nodes[s->links[links[i]].to].name);
    }
    if (n == 1)
        th_strbuf_add(out, "another link");
}

static void describe_flows(const th_session *s, const pair_flows *f, th_strbuf *out)
{
    const th_program *p = s->simulation->program;
    th_task_describe(s, &p->tasks[f->task], out);
    if (p->tasks[f->task].kind == TH_TASK_COLLECTIVE)
        th_strbuf_printf(out, ": %s -> %s", s->system->nodes[f->from].name,
                         s->system->nodes[f->to].name);
    if (f->n_tasks > 1)
        th_strbuf_printf(out, " +%d", (int)f->n_tasks - 1);
}

static int add_row(th_session *s, th_table *t, const why_link *w, const th_watched_link *seen,
                   const pair_flows *f, const double *used, th_time elapsed_ps, th_error *err)
{
    int links[TH_ROUTE_MAX];
    th_time end_ps = -1;
    th_strbuf what = TH_STRBUF_INIT, via = TH_STRBUF_INIT;
    int n = find_route(s->system, f->from, f->to, w->link, used, links, err);
    if (n < 0 || (n > 0 && run_rerouted(s, f->from, f->to, links, n, &end_ps, err)))
        return -1;
    describe_flows(s, f, &what);
    describe_route(s->system, links, n, &via);
    bool is_shared = seen->longest_to > seen->longest_from, is_known = end_ps >= 0;
    th_table_row(
        t, (th_quantity[]){th_text(s->system->links[w->link].name), th_share(used[w->link]),
                           is_shared ? th_ps(seen->longest_from) : th_absent(TH_KIND_TIME),
                           is_shared ? th_ps(seen->longest_to) : th_absent(TH_KIND_TIME),
                           th_share(th_ratio((double)seen->shared_ps, (double)elapsed_ps)),
                           th_count(seen->peak_flows), th_text(what.text),
                           th_text(s->system->nodes[f->from].name),
                           th_text(s->system->nodes[f->to].name), th_bytes(f->bytes),
                           th_share(th_ratio((double)f->bytes, (double)w->bytes)),
                           th_ps(f->watched->lost_ps), th_text(n > 0 ? via.text : "no other route"),
                           th_ps_or_absent(end_ps),
                           is_known ? th_change(th_ratio((double)end_ps, (double)elapsed_ps) - 1)
                                    : th_absent(TH_KIND_CHANGE)});
    t->report->failed |= what.failed || via.failed;
    th_strbuf_clear(&what);
    th_strbuf_clear(&via);
    return 0;
}

static int add_rows(th_session *s, th_table *t, why_link *links, int n, const double *used,
                    const th_why *w, th_error *err)
{
    const th_result *x = th_simulation_result(s->simulation, err);
    th_contention_probe p;
    th_progress progress = th_progress_start(s->is_quiet);
    int failed = th_contention_probe_init(&p, s->system, NULL, x->elapsed_ps, 1)
                     ? th_error_no_memory(err)
                     : watch(s, &p, links, n, err);
    for (int i = 0; !failed && i < n; i++)
        for (size_t k = 0; !failed && k < links[i].n && (int64_t)k < w->n_flows; k++) {
            if (th_progress_is_due(&progress))
                th_progress_show(&progress, "link %d of %d, flow %zu", i + 1, n, k + 1);
            failed = add_row(s, t, &links[i], &p.links[p.place[links[i].link]], &links[i].pairs[k],
                             used, x->elapsed_ps, err);
        }
    th_progress_end(&progress);
    th_contention_probe_clear(&p);
    return failed;
}

/* The most loaded links that carried something, the lower number first of equals. */
static int choose_links(const th_session *s, const th_result *x, const double *used,
                        const th_why *w, why_link *out)
{
    int n = 0;
    if (w->link >= 0) {
        out[0] = (why_link){.link = w->link};
        return 1;
    }
    for (; n < w->n_links; n++) {
        int best = -1;
        for (int l = 0; l < s->system->n_links; l++) {
            bool is_new = x->links[l].bytes > 0;
            for (int i = 0; i < n && is_new; i++)
                is_new = out[i].link != l;
            if (is_new && (best < 0 || used[l] > used[best]))
                best = l;
        }
        if (best < 0)
            break;
        out[n] = (why_link){.link = best};
    }
    return n;
}

static int explain(th_session *s, th_table *t, const th_result *x, const double *used,
                   const th_why *w, th_error *err)
{
    why_link *links = th_alloc_zero((size_t)w->n_links + 1, sizeof *links);
    if (!links)
        return th_error_no_memory(err);
    int n = choose_links(s, x, used, w, links), failed = 0;
    for (int i = 0; !failed && i < n; i++)
        failed = collect(s, x, &links[i], err);
    if (!failed && n > 0)
        failed = add_rows(s, t, links, n, used, w, err);
    for (int i = 0; i < n; i++)
        th_free(links[i].pairs);
    th_free(links);
    return failed;
}

int th_section_why(th_session *s, th_report *r, const th_why *w, th_error *err)
{
    static const th_column columns[] = {
        {"link", "link", TH_KIND_TEXT},
        {"load", "load", TH_KIND_SHARE},
        {"from_time", "from", TH_KIND_TIME},
        {"to_time", "until", TH_KIND_TIME},
        {"shared", "shared", TH_KIND_SHARE},
        {"max_flows", NULL, TH_KIND_COUNT},
        {"what", "flows", TH_KIND_TEXT},
        {"from", NULL, TH_KIND_TEXT},
        {"to", NULL, TH_KIND_TEXT},
        {"bytes", "carried", TH_KIND_BYTES},
        {"share", "of the link", TH_KIND_SHARE},
        {"lost", "lost", TH_KIND_TIME},
        {"via", "via", TH_KIND_TEXT},
        {"end", "end then", TH_KIND_TIME},
        {"change", "change", TH_KIND_CHANGE},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    const double *used = x ? th_simulation_loads(s->simulation, err) : NULL;
    if (!used)
        return -1;
    th_table *t = th_report_table(r, "why", "Why the most loaded links were slow", columns);
    th_table_note(t, "from_time to_time",
                  "from, until: the longest time with two flows or more on the link");
    th_table_note(t, "shared", "shared: all such time / elapsed time");
    th_table_note(t, "lost", "lost: what flows between these nodes took longer than alone, summed");
    th_table_note(t, "via", "via: another route");
    th_table_note(t, "end change", "end then: of the run, simulated with it");
    return explain(s, t, x, used, w, err);
}
