/* SPDX-License-Identifier: GPL-3.0-or-later */
/* serializer.c - numbers, texts, fitness and mappings as bytes (serializer.h). */
#include <config.h>

#include "mapper/serialize/serializer.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/min_max.h"

th_serializer th_serializer_reader(const void *bytes, size_t n)
{
    static const unsigned char nothing;
    const unsigned char *at = n > 0 ? bytes : &nothing;
    return (th_serializer){.out = TH_STRBUF_INIT, .at = at, .end = at + n};
}

void th_serializer_clear(th_serializer *w)
{
    th_strbuf_clear(&w->out);
}

bool th_serializer_is_reading(const th_serializer *w)
{
    return w->at;
}

/* --- numbers and texts --- */

/* The next n bytes; NULL, and failed, where fewer are left. */
static const unsigned char *take(th_serializer *w, size_t n)
{
    if (w->failed || n > (size_t)(w->end - w->at)) {
        w->failed = true;
        return NULL;
    }
    w->at += n;
    return w->at - n;
}

void th_serializer_bytes(th_serializer *w, void *bytes, size_t n)
{
    if (!th_serializer_is_reading(w)) {
        th_strbuf_add_bytes(&w->out, bytes, n);
        w->failed |= w->out.failed;
        return;
    }
    const unsigned char *from = take(w, n);
    if (from)
        memcpy(bytes, from, n);
    else
        memset(bytes, 0, n);
}

void th_serializer_byte(th_serializer *w, uint8_t *x)
{
    th_serializer_bytes(w, x, 1);
}

void th_serializer_bool(th_serializer *w, bool *x)
{
    uint8_t byte = *x;
    th_serializer_byte(w, &byte);
    *x = byte == 1;
    w->failed |= byte > 1;
}

/* The low n bytes of x, lowest first. */
static void number(th_serializer *w, uint64_t *x, size_t n)
{
    unsigned char bytes[sizeof *x];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(*x >> 8 * i);
    th_serializer_bytes(w, bytes, n);
    *x = 0;
    for (size_t i = 0; i < n; i++)
        *x |= (uint64_t)bytes[i] << 8 * i;
}

void th_serializer_int(th_serializer *w, int *x)
{
    uint64_t bits = (uint32_t)*x;
    number(w, &bits, sizeof(uint32_t));
    *x = (int32_t)(uint32_t)bits;
}

void th_serializer_int64(th_serializer *w, int64_t *x)
{
    uint64_t bits = (uint64_t)*x;
    number(w, &bits, sizeof bits);
    *x = (int64_t)bits;
}

void th_serializer_double(th_serializer *w, double *x)
{
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    number(w, &bits, sizeof bits);
    memcpy(x, &bits, sizeof bits);
}

void th_serializer_count(th_serializer *w, int32_t *x, int32_t max)
{
    enum { BITS = 7, MORE = 1 << BITS };
    uint32_t left = (uint32_t)*x, sum = 0;
    uint8_t byte = MORE;
    for (int shift = 0; byte & MORE && shift < 31; shift += BITS) {
        byte = (uint8_t)(left % MORE | (left >= MORE ? MORE : 0));
        left /= MORE;
        th_serializer_byte(w, &byte);
        sum |= (uint32_t)(byte % MORE) << shift;
    }
    if (byte & MORE || sum > (uint32_t)max)
        w->failed = true;
    *x = w->failed ? 0 : (int32_t)sum;
}

void th_serializer_text(th_serializer *w, const char **text)
{
    bool is_there = *text;
    int32_t n = is_there ? (int32_t)strlen(*text) + 1 : 0;
    th_serializer_bool(w, &is_there);
    if (!is_there) {
        *text = NULL;
        return;
    }
    th_serializer_count(w, &n, INT32_MAX);
    if (!th_serializer_is_reading(w)) {
        th_strbuf_add_bytes(&w->out, *text, (size_t)n);
        w->failed |= w->out.failed;
        return;
    }
    const unsigned char *from = take(w, (size_t)n);
    w->failed |= n < 1 || (from && memchr(from, 0, (size_t)n) != from + n - 1);
    *text = w->failed ? "" : (const char *)from;
}

/* --- fitness --- */

#if UINTPTR_MAX == UINT64_MAX
/* A new field must be added to the function named here, or ranks would lose it. */
_Static_assert(sizeof(th_metrics) == 32 && sizeof(th_fitness) == 56, "see th_serializer_fitness");
_Static_assert(sizeof(th_set) == 24 && sizeof(th_mapping) == 72, "see set_head, put_queues");
#endif

void th_serializer_fitness(th_serializer *w, th_fitness *f)
{
    uint8_t fit = (uint8_t)f->fit;
    th_serializer_byte(w, &fit);
    if (fit > TH_FIT_INFEASIBLE)
        w->failed = true;
    if (th_serializer_is_reading(w))
        *f = (th_fitness){.fit = w->failed ? TH_FIT_INFEASIBLE : (th_fit)fit, .value = INFINITY};
    th_serializer_int64(w, &f->work);
    if (f->fit != TH_FIT)
        return;
    th_serializer_double(w, &f->value);
    th_serializer_int64(w, &f->metrics.latency_ps);
    th_serializer_int64(w, &f->metrics.interval_ps);
    th_serializer_int64(w, &f->metrics.lateness_ps);
    th_serializer_double(w, &f->metrics.energy_j);
}

/* --- mappings --- */

/* One byte for the rotation or the chunks, of which a strategy has one at most. */
static uint8_t code_of(const th_strategy *s)
{
    return (uint8_t)(s->chunks > 0 ? 1 + TH_N_DIMS * (s->chunks - 1) + s->chunk_dim
                                   : s->rotate - TH_NO_ROTATION);
}

static void decode(uint8_t code, th_strategy *s)
{
    const int32_t chunks = code > 0 ? (code - 1) / TH_N_DIMS + 1 : 1;
    s->rotate = chunks > 1 ? TH_NO_ROTATION : code + TH_NO_ROTATION;
    th_strategy_set_chunks(s, chunks, code > 0 ? (code - 1) % TH_N_DIMS : 0);
}

static void strategy(th_serializer *w, th_strategy *s)
{
    uint8_t code = code_of(s);
    for (int d = 0; d < TH_N_DIMS; d++)
        th_serializer_count(w, &s->split[d], INT32_MAX);
    th_serializer_byte(w, &code);
    w->failed |= code > TH_SHARD_CHUNKS_MAX * TH_N_DIMS;
    decode(w->failed ? 0 : code, s);
    th_serializer_count(w, &s->copies, INT32_MAX);
}

/* number[l]: which of the distinct strategies layer l has; first[i]: the layer that had the i-th
 * first. Returns how many there are. */
static int32_t number_strategies(const th_mapping *m, int32_t *numbers, int32_t *first)
{
    int32_t n = 0;
    for (int l = 0; l < m->n_layers; l++) {
        int32_t i = 0;
        while (i < n && !th_strategy_equal(&m->strategy[first[i]], &m->strategy[l]))
            i++;
        if (i == n)
            first[n++] = l;
        numbers[l] = i;
    }
    return n;
}

/* Size, design and whether there are shares; designs below n_designs. */
static void set_head(th_serializer *w, th_set *set, bool *has_shares,
                     const th_serializer_limits *limits)
{
    int32_t design = set->design - TH_DESIGN_OWN;
    th_serializer_count(w, &set->n_accels, limits->n_accels);
    th_serializer_count(w, &design, limits->n_designs - 1 - TH_DESIGN_OWN);
    th_serializer_bool(w, has_shares);
    set->design = design + TH_DESIGN_OWN;
}

static void numbers(th_serializer *w, int32_t *x, int32_t n, int32_t max)
{
    for (int i = 0; i < n; i++) {
        int32_t copy = x[i]; /* th_serializer_* take pointers to writable data */
        th_serializer_count(w, &copy, max);
        if (th_serializer_is_reading(w))
            x[i] = copy;
    }
}

static const th_serializer_limits no_limits = {INT32_MAX, INT32_MAX - 1, INT32_MAX};

static void write_sets(th_serializer *w, const th_mapping *m)
{
    int32_t n = m->n_sets;
    th_serializer_count(w, &n, INT32_MAX);
    for (int i = 0; i < m->n_sets; i++) {
        th_set set = m->sets[i];
        bool has_shares = set.shares;
        set_head(w, &set, &has_shares, &no_limits);
        numbers(w, set.accels, set.n_accels, INT32_MAX);
        if (has_shares)
            numbers(w, set.shares, set.n_accels, INT32_MAX);
    }
}

/* For systems with serial transfers: a byte of flags, then the queues. */
enum { ACTIVATIONS_CROSS = 1, HAS_QUEUES = 2 };

static void write_queues(th_serializer *w, const th_mapping *m)
{
    uint8_t has =
        (uint8_t)((m->activations_cross ? ACTIVATIONS_CROSS : 0) | (m->order ? HAS_QUEUES : 0));
    th_serializer_byte(w, &has);
    for (int l = 0; m->order && l < m->n_layers; l++) {
        int32_t layer = m->order[l];
        uint8_t weights = m->weights[l];
        th_serializer_count(w, &layer, INT32_MAX);
        th_serializer_byte(w, &weights);
    }
}

static void read_queues(th_serializer *w, th_mapping *m)
{
    uint8_t has = 0;
    th_serializer_byte(w, &has);
    m->activations_cross = has & ACTIVATIONS_CROSS;
    w->failed |= has > (ACTIVATIONS_CROSS | HAS_QUEUES);
    if (!(has & HAS_QUEUES) || w->failed)
        return;
    if (th_mapping_add_queues(m)) {
        w->failed = true;
        return;
    }
    for (int l = 0; l < m->n_layers; l++) {
        th_serializer_count(w, &m->order[l], m->n_layers - 1);
        th_serializer_byte(w, &m->weights[l]);
        w->failed |= m->weights[l] > TH_WEIGHTS_STREAMED;
    }
}

void th_serializer_write_mapping(th_serializer *w, const th_mapping *m)
{
    int32_t *numbers = th_alloc_array((size_t)m->n_layers + 1, 2 * sizeof *numbers);
    if (!numbers) {
        w->failed = true;
        return;
    }
    int32_t *first = numbers + m->n_layers, n = number_strategies(m, numbers, first);
    write_sets(w, m);
    th_serializer_count(w, &n, INT32_MAX);
    for (int i = 0; i < n; i++) {
        th_strategy copy =
            m->strategy[first[i]]; /* th_serializer_* take pointers to writable data */
        strategy(w, &copy);
    }
    for (int l = 0; l < m->n_layers; l++) {
        int32_t set = m->set_of[l];
        th_serializer_count(w, &set, INT32_MAX);
        th_serializer_count(w, &numbers[l], INT32_MAX);
    }
    th_free(numbers);
    write_queues(w, m);
}

/* th_mapping_new needs the sizes of all sets: so the sets are read twice. */
static int32_t *sizes_of_sets(th_serializer *w, int32_t n, const th_serializer_limits *limits)
{
    const unsigned char *start = w->at;
    int32_t *sizes = th_alloc_zero((size_t)n + 1, sizeof *sizes), skipped = 0;
    for (int i = 0; sizes && i < n; i++) {
        bool has_shares = false;
        th_set set = {0};
        set_head(w, &set, &has_shares, limits);
        for (int j = 0; j < set.n_accels * (has_shares ? 2 : 1); j++)
            th_serializer_count(w, &skipped, INT32_MAX);
        sizes[i] = set.n_accels;
    }
    w->at = start;
    return sizes;
}

static void read_set(th_serializer *w, th_set *set, const th_serializer_limits *limits)
{
    bool has_shares = false;
    set_head(w, set, &has_shares, limits);
    numbers(w, set->accels, set->n_accels, limits->n_accels - 1);
    if (!has_shares)
        return;
    set->shares = th_alloc_zero((size_t)set->n_accels + 1, sizeof *set->shares);
    if (set->shares)
        numbers(w, set->shares, set->n_accels, TH_SHARE_MAX);
    else
        w->failed = true;
}

static th_mapping *read_sets(th_serializer *w, const th_serializer_limits *limits)
{
    int32_t n = 0;
    th_serializer_count(w, &n, th_max(limits->n_accels, limits->n_layers)); /* th_mapping_check */
    int32_t *sizes = sizes_of_sets(w, n, limits);
    th_mapping *m = sizes && !w->failed ? th_mapping_new(n, sizes, limits->n_layers) : NULL;
    th_free(sizes);
    w->failed |= !m; /* what follows would be read from the middle of this one */
    for (int i = 0; m && i < n; i++)
        read_set(w, &m->sets[i], limits);
    return m;
}

static void read_layers(th_serializer *w, th_mapping *m)
{
    int32_t n = 0;
    th_serializer_count(w, &n, m->n_layers);
    th_strategy *distinct = th_alloc_zero((size_t)n + 1, sizeof *distinct);
    w->failed |= !distinct || ((n == 0 || m->n_sets == 0) && m->n_layers > 0);
    for (int i = 0; !w->failed && i < n; i++)
        strategy(w, &distinct[i]);
    for (int l = 0; !w->failed && l < m->n_layers; l++) {
        int32_t i = 0;
        th_serializer_count(w, &m->set_of[l], m->n_sets - 1);
        th_serializer_count(w, &i, n - 1);
        m->strategy[l] = distinct[i];
    }
    th_free(distinct);
}

th_mapping *th_serializer_read_mapping(th_serializer *w, const th_serializer_limits *limits)
{
    th_mapping *m = read_sets(w, limits);
    if (m)
        read_layers(w, m);
    if (m)
        read_queues(w, m);
    if (m && !w->failed)
        return m;
    th_mapping_free(m);
    return NULL;
}
