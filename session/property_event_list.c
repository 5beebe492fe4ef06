/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_event_list.c - see property_event_list.h. */
#include <config.h>
#include "session/property_event_list.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "session/property_events.h"

const th_column th_property_event_list_columns[TH_PROPERTY_EVENT_LIST_COLUMNS + 1] = {
    {"object", NULL, TH_KIND_TEXT}, {"property", NULL, TH_KIND_TEXT},
    {"value", NULL, TH_KIND_TEXT},  {"factor", NULL, TH_KIND_NUMBER},
    {"at", NULL, TH_KIND_TIME},     {"after_event", NULL, TH_KIND_COUNT},
    {"by", NULL, TH_KIND_TEXT},     {NULL, NULL, TH_KIND_TEXT},
};

void th_property_event_list_cells(const th_listed_event *c, th_quantity *cells)
{
    const th_quantity all[TH_PROPERTY_EVENT_LIST_COLUMNS] = {
        th_text(c->object),
        th_text(c->property),
        th_text(c->value),
        th_number(c->factor),
        th_ps(c->at_ps),
        c->after_event >= 0 ? th_count(c->after_event) : th_absent(TH_KIND_COUNT),
        th_text(c->by),
    };
    memcpy(cells, all, sizeof all);
}

/* ---- selection and order ---- */

static th_time effect_of(const th_applied_event *c)
{
    return c->event.at > c->applied_at.now ? c->event.at : c->applied_at.now;
}

typedef struct sortable {
    const th_applied_event *applied;
    size_t place;
} sortable;

static int by_time(const void *x, const void *y)
{
    const sortable *a = x, *b = y;
    th_time p = effect_of(a->applied), q = effect_of(b->applied);
    if (p != q)
        return p < q ? -1 : 1;
    if (a->applied->event.kind != b->applied->event.kind)
        return a->applied->event.kind - b->applied->event.kind;
    if (a->applied->event.object != b->applied->event.object)
        return a->applied->event.object < b->applied->event.object ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* n of them, in order; the caller's. NULL: memory is out. */
static sortable *sorted(const th_session *s, int *n)
{
    sortable *all = th_alloc_array(s->events.n + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; all && i < s->events.n; i++)
        all[(*n)++] = (sortable){&s->events.all[i], i};
    if (*n > 0)
        qsort(all, (size_t)*n, sizeof *all, by_time);
    return all;
}

/* ---- texts ---- */

/* In six digits, or in ps where six digits are not exact. */
static const char *exact_time(th_time ps, char *out, size_t size)
{
    th_time back;
    if (th_parse_time(th_format_time(ps, out, size), &back, NULL) != 0 || back != ps)
        snprintf(out, size, "%" PRId64 "ps", ps);
    return out;
}

/* Of a link whose bandwidth is bits_per_s at a factor of 1. */
static const char *exact_bandwidth(int64_t bits_per_s, double factor, char *out, size_t size)
{
    int64_t back,
        bits = bits_per_s == TH_UNLIMITED ? 0 : (int64_t)llround((double)bits_per_s * factor);
    if ((double)bits / (double)bits_per_s != factor)
        return th_format_factor(factor, out, size);
    if (th_parse_bandwidth(th_format_bandwidth(bits, out, size), &back, NULL) != 0 || back != bits)
        snprintf(out, size, "%" PRId64 "bps", bits);
    return out;
}

/* Copies the buffer to the arena; NULL: memory is out. */
static const char *keep(struct th_arena *arena, th_strbuf *text)
{
    const char *copy = text->failed ? NULL : th_arena_string(arena, text->text);
    th_strbuf_clear(text);
    return copy;
}

const char *th_property_event_object(const th_system *s, const th_property_event *c,
                                     struct th_arena *arena)
{
    th_strbuf name = TH_STRBUF_INIT;
    bool is_link = th_property_is_of_link(c->kind);
    th_strbuf_printf(&name, "%s/%s", is_link ? "link" : "accel",
                     is_link ? s->links[c->object].name : s->nodes[s->accel_node[c->object]].name);
    return keep(arena, &name);
}

const char *th_property_event_value(const th_system *s, const th_property_event *c,
                                    struct th_arena *arena)
{
    char text[64];
    if (c->kind == TH_PROPERTY_ROUTE)
        return c->factor == 0 ? "avoided" : "used";
    if (c->kind == TH_PROPERTY_JITTER) {
        snprintf(text, sizeof text, c->factor > 0 ? "%.9g%% seed %" PRIu64 : "0%%", 100 * c->factor,
                 c->seed);
        return th_arena_string(arena, text);
    }
    if (c->kind == TH_PROPERTY_BANDWIDTH)
        exact_bandwidth(s->media[s->links[c->object].medium].bits_per_s, c->factor, text,
                        sizeof text);
    else
        th_format_factor(c->factor, text, sizeof text);
    return th_arena_string(arena, text);
}

/* The time of the event; empty at the start of the run. */
static void add_position(const th_listed_event *c, th_run_position asked, th_strbuf *text)
{
    char time[64];
    if (c->at_ps > 0 || asked.events > 0 || asked.is_time_complete)
        th_strbuf_printf(text, " at %s", exact_time(c->at_ps, time, sizeof time));
    if (c->after_event >= 0)
        th_strbuf_printf(text, " after event %" PRId64, c->after_event);
}

/* 0, or -1: memory is out. */
static int describe(const th_system *s, const th_applied_event *c, struct th_arena *arena,
                    th_listed_event *out)
{
    static const char *const names[] = {[TH_PROPERTY_BANDWIDTH] = "bandwidth",
                                        [TH_PROPERTY_FREQUENCY] = "clock",
                                        [TH_PROPERTY_ROUTE] = "route",
                                        [TH_PROPERTY_JITTER] = "jitter"};
    th_strbuf text = TH_STRBUF_INIT;
    bool is_between = c->event.at <= c->applied_at.now && !c->applied_at.is_time_complete &&
                      c->applied_at.events > 0;
    *out = (th_listed_event){.object = th_property_event_object(s, &c->event, arena),
                             .property = names[c->event.kind],
                             .value = th_property_event_value(s, &c->event, arena),
                             .factor = c->event.factor,
                             .at_ps = effect_of(c),
                             .after_event = is_between ? c->applied_at.events : -1,
                             .by = c->is_fault ? "inject_fault" : "set_property"};
    if (!out->object || !out->value)
        return -1;
    th_strbuf_printf(&text, "%s%s %s %s", c->is_fault ? "fault " : "", out->object, out->property,
                     out->value);
    add_position(out, c->applied_at, &text);
    out->text = keep(arena, &text);
    return out->text ? 0 : -1;
}

/* ---- the list ---- */

th_property_event_list *th_property_event_list_of(const th_session *s)
{
    int n = 0, failed = -1;
    sortable *all = sorted(s, &n);
    th_property_event_list *l = th_alloc_zero(1, sizeof *l);
    if (l && (l->arena = th_arena_new()))
        l->all = th_arena_alloc(l->arena, ((size_t)n + 1) * sizeof *l->all);
    if (all && l && l->all)
        for (failed = 0; !failed && l->n < n; l->n++)
            failed = describe(s->system, all[l->n].applied, l->arena, &l->all[l->n]);
    th_free(all);
    if (!failed)
        return l;
    th_property_event_list_free(l);
    return NULL;
}

void th_property_event_list_free(th_property_event_list *l)
{
    if (l)
        th_arena_free(l->arena);
    th_free(l);
}

/* ---- a line of it ---- */

/* How many of the first fit in width characters, separated by commas; at least one. */
static int fitting(const th_property_event_list *l, int width)
{
    int n = 0, length = 0;
    while (n < l->n && length <= width) {
        length += (int)strlen(l->all[n].text) + (n > 0 ? 2 : 0);
        n += length <= width || n == 0;
    }
    return n;
}

static uint64_t digest_of(const th_property_event_list *l)
{
    uint64_t digest = 0;
    for (int i = 0; i < l->n; i++)
        digest = th_hash(l->all[i].text, strlen(l->all[i].text), digest);
    return digest;
}

void th_property_event_list_add_line(const th_property_event_list *l, int width, th_strbuf *out)
{
    enum { TAIL = 32 }; /* characters of ", and 12 more (0123456789abcdef)" */
    int n = fitting(l, width);
    if (n < l->n)
        n = fitting(l, width - TAIL);
    for (int i = 0; i < n; i++)
        th_strbuf_printf(out, "%s%s", i > 0 ? ", " : "", l->all[i].text);
    if (n < l->n)
        th_strbuf_printf(out, ", and %d more (%016" PRIx64 ")", l->n - n, digest_of(l));
}
