/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if.c - see what_if.h.
 *
 * A system with another bandwidth, latency or capacity is built again, as from a file with that
 * value: routes, tiles and senders follow from the new value. The same holds for the clock of a
 * design that no other accelerator has. If an accelerator shares its design with others, its clock
 * is changed in the machine at time 0, and its tiles stay those of the old clock. */
#include <config.h>
#include "session/what_if/what_if.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "topology/files/system_copy.h"
#include "topology/generate/generate.h"

const char *const th_what_if_names[TH_N_WHAT_IF_PROPERTIES + 1] = {
    [TH_WHAT_IF_BANDWIDTH] = "bandwidth",           [TH_WHAT_IF_CLOCK] = "clock",
    [TH_WHAT_IF_DRAM_BANDWIDTH] = "dram_bandwidth", [TH_WHAT_IF_LATENCY] = "latency",
    [TH_WHAT_IF_DRAM_LATENCY] = "dram_latency",     [TH_WHAT_IF_MEMORY] = "memory",
};

bool th_what_if_is_of_links(th_what_if_property what)
{
    return what == TH_WHAT_IF_BANDWIDTH || what == TH_WHAT_IF_LATENCY;
}

static th_accel *accel_of(const th_system *s, int32_t accel)
{
    return &s->nodes[s->accel_node[accel]].a;
}

bool th_what_if_applies(const th_system *s, th_what_if_property what, int32_t object)
{
    switch (what) {
    case TH_WHAT_IF_BANDWIDTH:
        return !s->links[object].is_dead &&
               s->media[s->links[object].medium].bits_per_s < TH_UNLIMITED;
    case TH_WHAT_IF_LATENCY:
        return !s->links[object].is_dead && s->links[object].latency_ps > 0;
    case TH_WHAT_IF_DRAM_BANDWIDTH:
        return accel_of(s, object)->dram_bits_per_s < TH_UNLIMITED;
    case TH_WHAT_IF_DRAM_LATENCY:
        return accel_of(s, object)->dram_latency_ps > 0;
    case TH_WHAT_IF_MEMORY:
        return accel_of(s, object)->dram_bytes < INT64_MAX;
    case TH_WHAT_IF_CLOCK:
    case TH_N_WHAT_IF_PROPERTIES:
        break;
    }
    return true;
}

/* ---- clocks of designs ---- */

bool th_what_if_has(const int32_t *objects, int n, int32_t object)
{
    for (int i = 0; i < n; i++)
        if (objects[i] == object)
            return true;
    return false;
}

static bool has_design(const th_accel *a, int design)
{
    for (int d = 0; d < a->n_designs; d++)
        if (a->designs[d] == design)
            return true;
    return false;
}

/* The key that says a design's clock; NULL: it has none of its own, or more follows from it than
 * time (what was learned of a GPU). */
static th_param *clock_of(const th_design_block *d)
{
    for (int p = 0; p < d->n_params && strcmp(d->type, "learned") != 0; p++)
        if (strcmp(d->params[p].key, "clock") == 0 && d->params[p].kind == TH_PARAM_TEXT)
            return &d->params[p];
    return NULL;
}

bool th_what_if_is_of_designs(const th_system *s, const int32_t *accels, int n)
{
    for (int d = 0; d < s->n_designs; d++) {
        int n_inside = 0, n_outside = 0;
        for (int32_t a = 0; a < s->n_accels; a++)
            if (has_design(accel_of(s, a), d)) {
                bool is_inside = th_what_if_has(accels, n, a);
                n_inside += is_inside;
                n_outside += !is_inside;
            }
        if (n_inside > 0 && (n_outside > 0 || !clock_of(&s->designs[d])))
            return false;
    }
    return true;
}

/* ---- changed systems ---- */

static int64_t scaled(int64_t value, double factor)
{
    double x = (double)value * factor;
    return x < 1                                ? 1
           : x >= (double)(TH_UNLIMITED - 1024) ? TH_UNLIMITED - 1024
                                                : (int64_t)llround(x);
}

th_system *th_what_if_finish(th_system *made, int failed, th_error *err)
{
    if (!made || (!failed && th_system_finish(made, err) == 0))
        return made;
    th_system_free(made);
    return NULL;
}

th_system *th_what_if_rebuild(const th_system *s, th_error *err)
{
    return th_what_if_finish(th_system_copy(s, err), 0, err);
}

/* From what it was: several links may have one medium. */
static void alter_link(const th_system *s, th_system *made, const th_what_if *w, int32_t link)
{
    const int32_t medium = s->links[link].medium;
    if (w->what == TH_WHAT_IF_BANDWIDTH)
        made->media[medium].bits_per_s = scaled(s->media[medium].bits_per_s, 1 + w->by);
    else
        made->links[link].latency_ps = scaled(s->links[link].latency_ps, 1 - w->by);
    if (made->generator)
        made->generator->is_changed = true;
}

static void alter_accel(th_accel *a, const th_what_if *w)
{
    if (w->what == TH_WHAT_IF_DRAM_BANDWIDTH)
        a->dram_bits_per_s = scaled(a->dram_bits_per_s, 1 + w->by);
    else if (w->what == TH_WHAT_IF_DRAM_LATENCY)
        a->dram_latency_ps = scaled(a->dram_latency_ps, 1 - w->by);
    else if (w->what == TH_WHAT_IF_MEMORY)
        a->dram_bytes = scaled(a->dram_bytes, 1 + w->by);
    else if (w->what == TH_WHAT_IF_CLOCK)
        a->vector_hz = scaled(a->vector_hz, 1 + w->by);
}

/* The clocks of the designs of these accelerators; a clock that cannot be read stays, and is
 * refused as in the system that has it. 0 or -1. */
static int alter_designs(const th_system *s, th_system *made, const th_what_if *w, th_error *err)
{
    for (int d = 0; d < s->n_designs; d++) {
        bool is_theirs = false;
        for (int i = 0; i < w->n; i++)
            is_theirs |= has_design(accel_of(s, w->objects[i]), d);
        const th_param *clock = is_theirs ? clock_of(&s->designs[d]) : NULL;
        char text[32];
        int64_t hz;
        if (!clock || th_parse_frequency(clock->text, &hz, NULL) != 0)
            continue;
        snprintf(text, sizeof text, "%lldHz", (long long)scaled(hz, 1 + w->by));
        th_param changed = *clock;
        changed.text = text;
        if (th_system_set_param(made, d, &changed, err) < 0)
            return -1;
    }
    return 0;
}

th_system *th_what_if_system(const th_system *s, const th_what_if *w, th_error *err)
{
    th_system *made = th_system_copy(s, err);
    for (int i = 0; made && i < w->n; i++)
        if (th_what_if_is_of_links(w->what))
            alter_link(s, made, w, w->objects[i]);
        else
            alter_accel(&made->nodes[s->accel_node[w->objects[i]]].a, w);
    int failed = made && w->what == TH_WHAT_IF_CLOCK ? alter_designs(s, made, w, err) : 0;
    return th_what_if_finish(made, failed, err);
}
