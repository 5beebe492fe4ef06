/* SPDX-License-Identifier: GPL-3.0-or-later */
/* together.c - many messages that start together, and alone: alike ones are followed once.
 *   routes -> classes of alike messages and of alike media -> times of classes -> statistics
 *
 * Messages are alike if they are as long and as late and cross media that are alike; media are
 * alike if they are as wide and carry as many messages of each class. These classes are found by
 * refinement (the coarsest equitable partition of the graph of messages and media), with digests of
 * 128 bits. Filling gives alike messages equal rates at every step, so one of each class tells when
 * all of it end: to the picosecond what fluid.c finds message by message, with the same sums,
 * levels and ends. An all_to_all of 1,440 accelerators in racks has two classes. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/kernel/fluid_time.h"
#include "sim/network/fluid/fluid.h"
#include "sim/network/fluid/maxmin_state.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

enum { CLASSES_MAX = 64, SMALLEST_MEAN = 8 }; /* else there is little to gain */

/* Of two media with levels that are equal but for rounding, fluid.c may take another one: within a
 * second that is no picosecond. */
static const th_time longest_ps = TH_PS_PER_S;

typedef struct digest {
    uint64_t half[2];
} digest;

/* A class of messages. */
typedef struct alike {
    int64_t n, padded;
    th_time begins, ends, earliest; /* to share media; of all of them; alone */
    th_double_double left;          /* bytes * TH_PS_PER_S */
    double level;                   /* bytes/s of each */
    bool shares, is_open;           /* media now; has no level yet */
} alike;

/* A class of media. */
typedef struct width {
    int64_t n, n_open; /* of them; messages on each that are open */
    double capacity;
    __int128 residual;
} width;

typedef struct together {
    th_fluid *f;
    const th_message *message;
    size_t n, room;
    int32_t *first, *link; /* by message, and n: its links in link */
    digest *of_message, *of_medium, *sum;
    int32_t *class_of_message, *class_of_medium; /* of no message: -1 */
    int32_t n_alike, n_widths;
    alike alike[CLASSES_MAX];
    width width[CLASSES_MAX];
    int64_t (*load)[CLASSES_MAX]; /* by class of messages and of media: messages on each */
    th_map *numbers;              /* scratch */
    th_memory memory;
} together;

static int32_t medium_of(const together *x, int32_t hop)
{
    return x->f->head.system->links[x->link[hop]].medium;
}

/* --- classes ---------------------------------------------------------------------------------- */

static void chain(digest *d, const uint64_t word[2])
{
    for (int i = 0; i < 2; i++)
        d->half[i] = th_hash_word(d->half[i], word[i]);
}

static void add(digest *sum, const digest *d)
{
    sum->half[0] += d->half[0];
    sum->half[1] += d->half[1];
}

static digest digest_of(int64_t a, int64_t b)
{
    digest d = {{1, 2}};
    chain(&d, (const uint64_t[]){(uint64_t)a, (uint64_t)a});
    chain(&d, (const uint64_t[]){(uint64_t)b, (uint64_t)b});
    return d;
}

/* 1, 0: some message has no route or may be divided into stripes, or -1. */
static int find_routes(together *x)
{
    const th_system *s = x->f->head.system;
    int links[TH_ROUTE_MAX];
    size_t n_hops = 0;
    for (size_t i = 0; i < x->n; i++) {
        const th_message *m = &x->message[i];
        int n = th_route(s, m->src, m->dst, links);
        th_time late = m->delay_ps;
        if (n < 0 || th_is_striped(s, m->bytes))
            return n == TH_NO_MEMORY ? -1 : 0;
        if (n_hops + (size_t)n > INT32_MAX ||
            th_grow(&x->link, &x->room, n_hops + (size_t)n + 1, sizeof *x->link))
            return -1;
        for (int k = 0; k < n; k++) {
            x->link[n_hops++] = links[k];
            late = th_time_add(late, s->links[links[k]].latency_ps);
        }
        x->first[i + 1] = (int32_t)n_hops;
        x->of_message[i] = digest_of(late, th_message_padded(m));
    }
    return 1;
}

/* The class of a digest, a new one if it has none; -1: memory is out, or there are too many. */
static int32_t number_of(th_map *numbers, const digest *d, int32_t *n)
{
    int64_t number = *n;
    if (th_map_get(numbers, d, sizeof *d, &number))
        return (int32_t)number;
    return *n >= CLASSES_MAX || th_map_put(numbers, d, sizeof *d, number) ? -1 : (*n)++;
}

/* Messages by their media, then media by what is on them. 1: there are no more classes of media
 * than before; 0; -1: memory is out, or there are too many. */
static int refine(together *x)
{
    const int32_t n_media = x->f->head.system->n_media, before = x->n_widths;
    memset(x->sum, 0, (size_t)n_media * sizeof *x->sum);
    for (size_t i = 0; i < x->n; i++) {
        digest of_media = {{0, 0}};
        for (int32_t h = x->first[i]; h < x->first[i + 1]; h++)
            add(&of_media, &x->of_medium[medium_of(x, h)]);
        chain(&x->of_message[i], of_media.half);
        for (int32_t h = x->first[i]; h < x->first[i + 1]; h++)
            add(&x->sum[medium_of(x, h)], &x->of_message[i]);
    }
    x->n_widths = 0;
    th_map_clear(x->numbers);
    for (int32_t m = 0; m < n_media; m++) {
        bool is_used = (x->sum[m].half[0] | x->sum[m].half[1]) != 0;
        chain(&x->of_medium[m], x->sum[m].half);
        x->class_of_medium[m] =
            is_used ? number_of(x->numbers, &x->of_medium[m], &x->n_widths) : -1;
        if (is_used && x->class_of_medium[m] < 0)
            return -1;
    }
    return x->n_widths == before;
}

/* Classes and how many are in each. 1, 0: too many, or -1. */
static int find_classes(together *x)
{
    const th_system *s = x->f->head.system;
    int is_stable = 0;
    for (int m = 0; m < s->n_media; m++)
        x->of_medium[m] = digest_of(0, s->media[m].bits_per_s);
    while (is_stable == 0)
        is_stable = refine(x);
    if (is_stable < 0)
        return 0;
    th_map_clear(x->numbers);
    for (size_t i = 0; i < x->n; i++) {
        int32_t c = x->class_of_message[i] = number_of(x->numbers, &x->of_message[i], &x->n_alike);
        if (c < 0)
            return 0;
        x->alike[c].n++;
        for (int32_t h = x->first[i]; h < x->first[i + 1]; h++)
            x->load[c][x->class_of_medium[medium_of(x, h)]]++;
    }
    return (size_t)x->n_alike * SMALLEST_MEAN <= x->n;
}

/* Fills in a class from one of its messages, the i-th. */
static void describe(const together *x, alike *a, size_t i)
{
    const th_system *s = x->f->head.system;
    int64_t bits = INT64_MAX;
    a->begins = x->message[i].delay_ps;
    for (int32_t h = x->first[i]; h < x->first[i + 1]; h++) {
        int64_t here = s->media[medium_of(x, h)].bits_per_s;
        bits = here < bits ? here : bits;
        a->begins = th_time_add(a->begins, s->links[x->link[h]].latency_ps);
    }
    a->padded = x->first[i] < x->first[i + 1] ? th_message_padded(&x->message[i]) : 0;
    a->left = th_dd_product((double)a->padded, (double)TH_PS_PER_S);
    a->earliest = th_time_add(a->begins, th_duration_ps(a->padded, bits));
    a->ends = a->padded > 0 ? TH_TIME_MAX : a->begins;
}

/* What each class is. 1; 0: media have no capacity. */
static int describe_classes(together *x)
{
    bool has_capacity = true;
    for (int m = 0; m < x->f->head.system->n_media; m++) {
        width *w = x->class_of_medium[m] >= 0 ? &x->width[x->class_of_medium[m]] : NULL;
        if (!w)
            continue;
        w->n++;
        w->capacity = x->f->shares->capacity[m];
        has_capacity &= w->capacity > 0;
    }
    for (size_t i = x->n; i-- > 0;)
        if (x->alike[x->class_of_message[i]].earliest == 0)
            describe(x, &x->alike[x->class_of_message[i]], i);
    for (int32_t c = 0; c < x->n_alike; c++)
        for (int32_t k = 0; k < x->n_widths; k++)
            x->load[c][k] /= x->width[k].n;
    return has_capacity;
}

/* --- times ------------------------------------------------------------------------------------ */

static void open_all(together *x)
{
    for (int32_t k = 0; k < x->n_widths; k++) {
        width *w = &x->width[k];
        w->residual = th_maxmin_fixed(x->f->shares, w->capacity);
        w->n_open = 0;
        for (int32_t c = 0; c < x->n_alike; c++)
            w->n_open += x->alike[c].shares ? x->load[c][k] : 0;
    }
    for (int32_t c = 0; c < x->n_alike; c++)
        x->alike[c].is_open = x->alike[c].shares;
}

/* The media that are full first if all that is open gets the same; -1: nothing is open. */
static int32_t full_first(const together *x, double *level)
{
    int32_t full = -1;
    for (int32_t k = 0; k < x->n_widths; k++) {
        const width *w = &x->width[k];
        if (w->n_open == 0)
            continue;
        double here = th_maxmin_amount(x->f->shares, w->residual) / (double)w->n_open;
        if (full < 0 || here < *level) {
            full = k;
            *level = here;
        }
    }
    return full;
}

/* Progressive filling, as maxmin_fill.c. */
static void share(together *x)
{
    double level = 0;
    open_all(x);
    for (int32_t full = full_first(x, &level); full >= 0; full = full_first(x, &level))
        for (int32_t c = 0; c < x->n_alike; c++) {
            alike *a = &x->alike[c];
            if (!a->is_open || x->load[c][full] == 0)
                continue;
            a->is_open = false;
            a->level = level > 0 ? level : 0;
            for (int32_t k = 0; k < x->n_widths; k++) {
                x->width[k].residual -= th_maxmin_fixed(x->f->shares, a->level) * x->load[c][k];
                x->width[k].n_open -= x->load[c][k];
            }
        }
}

/* When a class begins to share media or ends next. */
static th_time next_time(const together *x, th_time now)
{
    th_time next = TH_TIME_MAX;
    for (int32_t c = 0; c < x->n_alike; c++) {
        const alike *a = &x->alike[c];
        th_time at = a->padded == 0 ? TH_TIME_MAX : a->shares ? a->ends : a->begins;
        if ((a->shares || a->begins > now) && at < next)
            next = at;
    }
    return next;
}

static void advance(together *x, th_time now, th_time next)
{
    for (int32_t c = 0; c < x->n_alike; c++) {
        alike *a = &x->alike[c];
        if (a->shares)
            a->left = th_dd_subtract(a->left, th_dd_times(a->level, next - now));
        if (a->shares && a->ends == next)
            a->shares = false;
        else if (a->padded > 0 && a->begins == next)
            a->shares = true;
    }
    share(x);
    for (int32_t c = 0; c < x->n_alike; c++) {
        alike *a = &x->alike[c];
        if (!a->shares)
            continue;
        a->ends = th_fluid_end_time(a->left, a->level, next);
        a->ends = a->ends > a->earliest ? a->ends : a->earliest;
    }
}

static th_time last_end(together *x)
{
    th_time last = 0, now = -1;
    for (th_time next = next_time(x, now); next < TH_TIME_MAX; next = next_time(x, now)) {
        advance(x, now, next);
        now = next;
    }
    for (int32_t c = 0; c < x->n_alike; c++)
        last = x->alike[c].ends > last ? x->alike[c].ends : last;
    return last;
}

/* As th_network_link_enter and _leave of each message; the links are idle. */
static void count_links(const together *x)
{
    th_network *n = &x->f->head;
    for (size_t i = 0; i < x->n; i++) {
        th_time end = x->alike[x->class_of_message[i]].ends;
        for (int32_t h = x->first[i]; h < x->first[i + 1]; h++) {
            int32_t l = x->link[h];
            n->link_bytes[l] = th_bytes_add(n->link_bytes[l], x->message[i].bytes);
            n->link_flow_ps[l] += (uint64_t)end;
            n->link_busy_ps[l] = end > n->link_busy_ps[l] ? end : n->link_busy_ps[l];
            n->link_peak_flows[l]++;
        }
    }
}

/* --- all -------------------------------------------------------------------------------------- */

static int take_memory(together *x)
{
    size_t n = x->n + 1, media = (size_t)x->f->head.system->n_media + 1;
    x->first = th_memory_take(&x->memory, n, sizeof *x->first);
    x->of_message = th_memory_take(&x->memory, n, sizeof *x->of_message);
    x->class_of_message = th_memory_take(&x->memory, n, sizeof *x->class_of_message);
    x->of_medium = th_memory_take(&x->memory, media, sizeof *x->of_medium);
    x->sum = th_memory_take(&x->memory, media, sizeof *x->sum);
    x->class_of_medium = th_memory_take(&x->memory, media, sizeof *x->class_of_medium);
    x->load = th_memory_take(&x->memory, CLASSES_MAX, sizeof *x->load);
    x->numbers = th_map_new();
    return x->memory.is_out || !x->numbers ? -1 : 0;
}

int th_fluid_together(th_network *n, const th_message *m, int32_t count, th_time limit,
                      th_time *end)
{
    together *x = th_alloc_zero(1, sizeof *x);
    th_fluid *f = (th_fluid *)n;
    if (!x)
        return -1;
    *x = (together){.f = f, .message = m, .n = (size_t)count};
    bool is_plain = !f->weigh_by_latency && !f->uncontended.is_disabled && !f->loss &&
                    f->head.detours.n_avoided == 0;
    int done = !is_plain ? 0 : take_memory(x) ? -1 : find_routes(x);
    done = done > 0 ? find_classes(x) : done;
    done = done > 0 ? describe_classes(x) : done;
    *end = done > 0 ? last_end(x) : 0;
    if (*end > longest_ps)
        done = 0;
    if (done > 0 && *end <= limit)
        count_links(x);
    th_map_free(x->numbers);
    th_free(x->link);
    th_memory_free(&x->memory);
    th_free(x);
    return done;
}
