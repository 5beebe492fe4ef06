/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_what_if.c - the largest lower bound on systems that each differ in one thing: what would
 * have to change for a shorter makespan to be possible. The run and the mapping are not touched. */
#include <config.h>
#include "report/what_if/bounds_what_if.h"
#include <stdio.h>
#include "base/alloc.h"
#include "report/sections/sections.h"
#include "report/what_if/advice_system.h"
#include "report/what_if/what_if.h"

/* A property of all links or accelerators, by a factor of 1 + by (a latency: 1 - by). */
typedef struct {
    const char *text;
    th_what_if_property what;
    double by;
} change;

static const change changes[] = {
    {"twice the bandwidth of links", TH_WHAT_IF_BANDWIDTH, 1},
    {"no latency of links", TH_WHAT_IF_LATENCY, 1},
    {"twice the bandwidth of DRAM", TH_WHAT_IF_DRAM_BANDWIDTH, 1},
    {"twice the clock", TH_WHAT_IF_CLOCK, 1},
};

/* Does a change of these accelerators' clocks make another system, and not just another run? */
static bool changes_system(const th_system *s, const th_what_if *w)
{
    return w->n > 0 &&
           (w->what != TH_WHAT_IF_CLOCK || th_what_if_is_of_designs(s, w->objects, w->n));
}

/* The system of the session with the change; NULL where it applies to nothing, or on failure. */
static th_system *change_all(const th_session *s, const change *c, th_error *err)
{
    const bool is_of_links = th_what_if_is_of_links(c->what);
    const int32_t all = (int32_t)(is_of_links ? s->system->n_links : s->system->n_accels);
    th_what_if w = {.what = (int32_t)c->what};
    th_system *made = NULL;
    w.objects = th_alloc_array((size_t)all + 1, sizeof *w.objects);
    if (!w.objects) {
        th_error_no_memory(err);
        return NULL;
    }
    for (int32_t i = 0; i < all; i++)
        if (th_what_if_applies(s->system, c->what, i))
            w.objects[w.n++] = i;
    if (changes_system(s->system, &w))
        made = th_what_if_system(s->system, &w, c->by, err);
    th_free(w.objects);
    return made;
}

typedef struct {
    th_session *session;
    th_table *table;
    th_time unchanged_ps;
} rows;

static void add_row(const rows *k, const char *text, const th_bounds *b)
{
    const th_time now = b ? b->makespan_ps[b->largest] : 0;
    const bool is_known = now > 0, is_change = is_known && k->unchanged_ps > 0;
    th_table_row(k->table,
                 (th_quantity[]){th_text(text), is_known ? th_ps(now) : th_absent(TH_KIND_TIME),
                                 is_change ? th_share((double)now / (double)k->unchanged_ps - 1)
                                           : th_absent(TH_KIND_SHARE),
                                 th_text(is_known ? th_limit_name(b->largest) : NULL)});
}

/* Takes the system over; NULL: the change does not apply, unless err has a reason. 0 or -1. */
static int add_changed(const rows *k, const char *text, th_system *changed, th_error *err)
{
    th_bounds b;
    if (!changed) {
        if (th_error_is_no_memory(err))
            return -1;
        add_row(k, text, NULL);
        return 0;
    }
    int failed = th_bounds_of_session(k->session, changed, &b, err);
    if (!failed) {
        add_row(k, text, &b);
        th_bounds_clear(&b);
    }
    th_system_free(changed);
    return failed;
}

/* Events say what they change by number, and media of a larger system may have others. */
static int add_more(const rows *k, th_error *err)
{
    const th_system *s = k->session->system;
    th_system *more =
        k->session->events.n > 0 ? NULL : th_system_with_more(s, s->n_accels - 1, err);
    const int n = more ? more->n_accels - s->n_accels : 1;
    char text[64];
    snprintf(text, sizeof text, "%d accelerator%s more", n, n == 1 ? "" : "s");
    return add_changed(k, text, more, err);
}

int th_section_bounds_what_if(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"change", "change", TH_KIND_TEXT},
        {"makespan", "largest bound", TH_KIND_TIME},
        {"difference", "difference", TH_KIND_SHARE},
        {"limited_by", "limited by", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    th_bounds b;
    rows k = {.session = s};
    if (th_bounds_of_session(s, s->system, &b, err))
        return -1;
    th_bounds_name_run(s, r);
    k.table = th_report_table(r, "what_if", "Bounds with one change", columns);
    k.unchanged_ps = b.makespan_ps[b.largest];
    add_row(&k, "none", &b);
    th_bounds_clear(&b);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        th_error reason = {"", ""};
        if (add_changed(&k, changes[i].text, change_all(s, &changes[i], &reason), &reason))
            return th_error_set(err, reason.id, "%s", reason.text);
    }
    th_table_note(k.table, "difference",
                  "difference: largest bound / that of the system as it is - 1");
    th_error reason = {"", ""};
    return add_more(&k, &reason) ? th_error_set(err, reason.id, "%s", reason.text) : 0;
}
