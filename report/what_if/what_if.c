/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if.c - see what_if.h.
 *
 * A system with another bandwidth, latency or capacity is built again, as from a file with that
 * value: routes, tiles and senders follow from the new value. The same holds for the clock of a
 * design that no other accelerator has. If an accelerator shares its design with others, its clock
 * is changed in the machine at time 0, and its tiles stay those of the old clock. */
#include <config.h>
#include "report/what_if/what_if.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "mapper/serialize/serializer.h"

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

enum { CLOCK_TEXT_MAX = 32 };

/* The tables of a system that a change affects; the rest is shared with the original. */
typedef struct tables {
    th_medium *media;
    th_link *links;
    th_node *nodes;
    th_design_block *designs;
    th_param *params; /* of all designs, one behind the other */
    char (*clocks)[CLOCK_TEXT_MAX];
} tables;

static void *copy_of(const void *from, int n, size_t size)
{
    void *to = th_alloc_array((size_t)n + 1, size);
    if (to && n > 0) /* from is NULL where there are none */
        memcpy(to, from, (size_t)n * size);
    return to;
}

/* Copies of the tables; false: memory is out. clear_tables in either case. */
static bool copy_tables(const th_system *s, tables *t)
{
    size_t n_params = 0;
    for (int d = 0; d < s->n_designs; d++)
        n_params += (size_t)s->designs[d].n_params;
    *t = (tables){copy_of(s->media, s->n_media, sizeof *s->media),
                  copy_of(s->links, s->n_links, sizeof *s->links),
                  copy_of(s->nodes, s->n_nodes, sizeof *s->nodes),
                  copy_of(s->designs, s->n_designs, sizeof *s->designs),
                  th_alloc_array(n_params + 1, sizeof *t->params),
                  th_alloc_array((size_t)s->n_designs + 1, sizeof *t->clocks)};
    if (!t->media || !t->links || !t->nodes || !t->designs || !t->params || !t->clocks)
        return false;
    n_params = 0;
    for (int d = 0; d < s->n_designs; d++) {
        size_t n = (size_t)s->designs[d].n_params;
        if (n > 0)
            memcpy(t->params + n_params, s->designs[d].params, n * sizeof *t->params);
        t->designs[d].params = t->params + n_params;
        n_params += n;
    }
    return true;
}

static void clear_tables(tables *t)
{
    th_free(t->media);
    th_free(t->links);
    th_free(t->nodes);
    th_free(t->designs);
    th_free(t->params);
    th_free(t->clocks);
}

static void alter_link(const th_system *s, const tables *t, th_what_if_property what, int32_t link,
                       double by)
{
    int32_t medium = s->links[link].medium;
    if (what == TH_WHAT_IF_BANDWIDTH) /* from what it was: several links may have one medium */
        t->media[medium].bits_per_s = scaled(s->media[medium].bits_per_s, 1 + by);
    else
        t->links[link].latency_ps = scaled(t->links[link].latency_ps, 1 - by);
}

static void alter_accel(th_accel *a, th_what_if_property what, double by)
{
    switch (what) {
    case TH_WHAT_IF_DRAM_BANDWIDTH:
        a->dram_bits_per_s = scaled(a->dram_bits_per_s, 1 + by);
        break;
    case TH_WHAT_IF_DRAM_LATENCY:
        a->dram_latency_ps = scaled(a->dram_latency_ps, 1 - by);
        break;
    case TH_WHAT_IF_MEMORY:
        a->dram_bytes = scaled(a->dram_bytes, 1 + by);
        break;
    case TH_WHAT_IF_CLOCK:
        a->vector_hz = scaled(a->vector_hz, 1 + by);
        break;
    case TH_WHAT_IF_BANDWIDTH:
    case TH_WHAT_IF_LATENCY:
    case TH_N_WHAT_IF_PROPERTIES:
        break;
    }
}

/* The clocks of the designs of these accelerators; a clock that cannot be read stays, and is
 * refused as in the system that has it. */
static void alter_designs(const th_system *s, const tables *t, const th_what_if *w)
{
    for (int d = 0; d < s->n_designs; d++) {
        bool is_theirs = false;
        for (int i = 0; i < w->n; i++)
            is_theirs |= has_design(accel_of(s, w->objects[i]), d);
        th_param *clock = is_theirs ? clock_of(&t->designs[d]) : NULL;
        int64_t hz;
        if (!clock || th_parse_frequency(clock->text, &hz, NULL) != 0)
            continue;
        snprintf(t->clocks[d], sizeof t->clocks[d], "%lldHz", (long long)scaled(hz, 1 + w->by));
        clock->text = t->clocks[d];
    }
}

static void alter(const th_system *s, const tables *t, const th_what_if *w)
{
    bool is_link = th_what_if_is_of_links(w->what);
    for (int i = 0; i < w->n; i++)
        if (is_link)
            alter_link(s, t, w->what, w->objects[i], w->by);
        else
            alter_accel(&t->nodes[s->accel_node[w->objects[i]]].a, w->what, w->by);
    if (w->what == TH_WHAT_IF_CLOCK)
        alter_designs(s, t, w);
}

/* A changed system, finished again. NULL on failure. */
th_system *th_what_if_rebuild(const th_system *s, th_error *err)
{
    th_serializer out = TH_SERIALIZER_INIT;
    th_serializer_write_system(&out, s);
    if (out.failed || out.out.failed) {
        th_serializer_clear(&out);
        th_error_no_memory(err);
        return NULL;
    }
    th_serializer in = th_serializer_reader(out.out.text, out.out.length);
    th_system *made = th_serializer_read_system(&in, err);
    th_serializer_clear(&out);
    return made;
}

th_system *th_what_if_system(const th_system *s, const th_what_if *w, th_error *err)
{
    tables t;
    th_system *made = NULL;
    if (copy_tables(s, &t)) {
        th_system shallow = *s; /* to be read from */
        shallow.media = t.media;
        shallow.links = t.links;
        shallow.nodes = t.nodes;
        shallow.designs = t.designs;
        alter(s, &t, w);
        made = th_what_if_rebuild(&shallow, err);
    } else {
        th_error_no_memory(err);
    }
    clear_tables(&t);
    return made;
}
