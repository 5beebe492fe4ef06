/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic.c - synthetic traffic: a table of patterns, and two arrival processes.
 *   th_traffic_add: check -> draw (node by node, each from its own streams) -> sort -> tasks
 * The patterns are the usual ones for comparing networks (W. Dally, B. Towles, "Principles and
 * practices of interconnection networks", 2004, section 3.2). Bernoulli draws once per cycle and
 * node; Poisson adds up -ln(1 - u) x mean and rounds down to a picosecond. Not modelled: bursts,
 * requests that wait for replies, senders that slow down when the network does (open loop: messages
 * queue at their source). */
#include <config.h>

#include "sim/program/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/elementary.h"

/* --- patterns --------------------------------------------------------------------------------- */

static bool is_square(const th_traffic_nodes *t)
{
    return t->side > 0;
}

static bool is_power_of_two(const th_traffic_nodes *t)
{
    return t->bits >= 0;
}

static int any_other(const th_traffic_nodes *t, int from, gsl_rng *r)
{
    int to = (int)th_random_below(r, (uint64_t)t->n - 1);
    return to < from ? to : to + 1;
}

static int next_uniform(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    (void)k;
    return any_other(t, from, r);
}

static int next_transpose(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    (void)k;
    (void)r;
    return from % t->side * t->side + from / t->side;
}

static int next_bit_complement(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    (void)k;
    (void)r;
    return t->n - 1 - from;
}

static int next_bit_reverse(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    int to = 0;
    (void)k;
    (void)r;
    for (int b = 0; b < t->bits; b++)
        to |= (from >> b & 1) << (t->bits - 1 - b);
    return to;
}

static int next_shuffle(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    (void)k;
    (void)r;
    return t->bits > 0 ? (from << 1 | from >> (t->bits - 1)) & (t->n - 1) : from;
}

/* The node whose coordinates are those of from plus an offset, modulo the extents. */
static int shifted(const th_traffic_nodes *t, int from, int (*by)(int size))
{
    int to = 0, below = 1;
    for (int d = 0; d < t->n_dims; d++) {
        int size = t->dims[d], at = from / below % size;
        to += (at + by(size)) % size * below;
        below *= size;
    }
    return to;
}

static int nearly_half(int size)
{
    return (size + 1) / 2 - 1;
}

static int one(int size)
{
    (void)size;
    return 1;
}

static int next_tornado(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    (void)k;
    (void)r;
    return shifted(t, from, nearly_half);
}

static int next_neighbor(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    (void)k;
    (void)r;
    return shifted(t, from, one);
}

static int next_hotspot(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    (void)k;
    return th_random_unit(r) < t->hot_share ? t->hot : any_other(t, from, r);
}

static int next_all_to_all(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r)
{
    (void)r;
    return (from + 1 + (int)(k % (t->n - 1))) % t->n;
}

static const th_traffic_pattern
    uniform = {"uniform", "to any other, equally likely", NULL, NULL, next_uniform},
    transpose = {"transpose", "from (x, y) to (y, x)", "a square", is_square, next_transpose},
    bit_complement = {"bit_complement", "from i to n - 1 - i", NULL, NULL, next_bit_complement},
    bit_reverse = {"bit_reverse", "from i to its bits in reverse", "a power of two",
                   is_power_of_two, next_bit_reverse},
    shuffle = {"shuffle", "from i to its bits turned left by one", "a power of two",
               is_power_of_two, next_shuffle},
    tornado = {"tornado", "nearly half way round every dimension", NULL, NULL, next_tornado},
    neighbor = {"neighbor", "one further in every dimension", NULL, NULL, next_neighbor},
    hotspot = {"hotspot", "a share to one node, the rest uniform", NULL, NULL, next_hotspot},
    all_to_all = {"all_to_all", "to all others in turn", NULL, NULL, next_all_to_all};

const th_traffic_pattern *const th_traffic_patterns[] = {
    &uniform, &transpose, &bit_complement, &bit_reverse, &shuffle,
    &tornado, &neighbor,  &hotspot,        &all_to_all,  NULL};

const th_traffic_pattern *th_traffic_find_pattern(const char *name)
{
    for (int i = 0; th_traffic_patterns[i]; i++)
        if (strcmp(th_traffic_patterns[i]->name, name) == 0)
            return th_traffic_patterns[i];
    return NULL;
}

/* --- what is asked for ------------------------------------------------------------------------ */

static th_traffic_nodes nodes_of(const th_system *s, const th_traffic_options *o)
{
    th_traffic_nodes t = {
        .n = s->n_accels, .bits = -1, .side = -1, .hot = o->hotspot, .hot_share = o->hotspot_share};
    int64_t product = 1;
    for (int d = 0; d < s->n_dims; d++) {
        t.dims[d] = s->dims[d].size;
        product *= s->dims[d].size;
    }
    t.n_dims = s->n_dims;
    if (s->n_dims == 0 || product != t.n) {
        t.n_dims = 1;
        t.dims[0] = t.n;
    }
    for (int b = 0; b < 31; b++)
        if (t.n == INT32_C(1) << b)
            t.bits = b;
    for (int side = 1; side <= t.n / side; side++)
        if (side * side == t.n)
            t.side = side;
    return t;
}

static int check_rate(const th_traffic_options *o, int n_nodes, th_error *err)
{
    enum { MESSAGES_MAX = 1 << 30 }; /* in a program */
    double messages_per_ps = o->bytes_per_s / (double)o->message_bytes / (double)TH_PS_PER_S;
    if (o->process == TH_TRAFFIC_BERNOULLI && o->cycle_ps <= 0)
        return th_error_set(err, "NET-0022", "traffic: cycle of %lld ps: must be positive",
                            (long long)o->cycle_ps);
    /* A tolerance of one in a million: a rate given as a quotient may be rounded up. */
    if (o->process == TH_TRAFFIC_BERNOULLI && messages_per_ps * (double)o->cycle_ps > 1.000001)
        return th_error_set(err, "NET-0023",
                            "traffic: %g messages of %lld bytes per cycle and node: must be one at "
                            "most",
                            messages_per_ps * (double)o->cycle_ps, (long long)o->message_bytes);
    double messages = messages_per_ps * (double)o->duration_ps * n_nodes;
    if (messages > MESSAGES_MAX)
        return th_error_set(err, "NET-0024", "traffic: %.3g messages in all: must be %d at most",
                            messages, MESSAGES_MAX);
    return 0;
}

static int check_options(const th_traffic_nodes *t, const th_traffic_options *o, th_error *err)
{
    if (t->n < 2)
        return th_error_set(err, "NET-0020", "traffic: there must be two accelerators, not %d",
                            t->n);
    if (!(o->bytes_per_s > 0) || o->message_bytes < 1 || o->duration_ps <= 0 || o->start_ps < 0 ||
        o->delay_ps < 0 || o->start_ps > TH_TIME_MAX - o->duration_ps)
        return th_error_set(
            err, "NET-0021",
            "traffic: %g bytes/s of messages of %lld bytes, for %lld ps from %lld ps "
            "on, delay %lld ps: must be positive, start and delay 0 or more",
            o->bytes_per_s, (long long)o->message_bytes, (long long)o->duration_ps,
            (long long)o->start_ps, (long long)o->delay_ps);
    if (o->pattern->can && !o->pattern->can(t))
        return th_error_set(err, "NET-0025",
                            "traffic: pattern %s: the number of accelerators must be %s, not %d",
                            o->pattern->name, o->pattern->wants, t->n);
    if (o->pattern == &hotspot &&
        (o->hotspot < 0 || o->hotspot >= t->n || !(o->hotspot_share > 0) || o->hotspot_share > 1))
        return th_error_set(
            err, "NET-0026",
            "traffic: hotspot %d with a share of %g: must be an accelerator in 0 .. "
            "%d and a share in (0, 1]",
            o->hotspot, o->hotspot_share, t->n - 1);
    return check_rate(o, t->n, err);
}

/* --- drawing ---------------------------------------------------------------------------------- */

typedef struct {
    th_time at;
    int32_t from, to;
} message;

typedef struct {
    message *item;
    size_t n, room;
} message_list;

/* Messages of all nodes, as they are drawn. */
typedef struct {
    const th_traffic_nodes *nodes;
    const th_traffic_options *options;
    message_list list;
    th_error *err;
} drawing;

/* When the next message of a node is released, after *at; false: not within the duration. The first
 * call begins one cycle earlier. */
static bool next_release(const th_traffic_options *o, gsl_rng *r, th_time *at)
{
    th_time end = o->start_ps + o->duration_ps;
    double mean_ps = (double)o->message_bytes / o->bytes_per_s * (double)TH_PS_PER_S;
    if (o->process == TH_TRAFFIC_POISSON) {
        double gap = -th_log(1 - th_random_unit(r)) * mean_ps;
        if (gap >= (double)(end - *at))
            return false;
        *at += (th_time)gap;
        return *at < end;
    }
    double probability = (double)o->cycle_ps / mean_ps;
    while (*at < end - o->cycle_ps) {
        *at += o->cycle_ps;
        if (th_random_unit(r) < probability)
            return true;
    }
    return false;
}

/* Polls is_interrupted once per many messages of a node, also if it sends none of them. */
static int give_up(const drawing *d, int64_t k)
{
    enum { MESSAGES_BETWEEN = 4096 };
    if (!d->options->is_interrupted || k % MESSAGES_BETWEEN != 0 || !d->options->is_interrupted())
        return 0;
    return th_error_interrupted(d->err, "the program is as it was");
}

static int draw_with(drawing *d, int from, gsl_rng *const stream[2])
{
    const th_traffic_options *o = d->options;
    message_list *l = &d->list;
    th_time at = o->start_ps - (o->process == TH_TRAFFIC_BERNOULLI ? o->cycle_ps : 0);
    for (int64_t k = 0; next_release(o, stream[0], &at); k++) {
        int to = o->pattern->next(d->nodes, from, k, stream[1]);
        if (give_up(d, k) != 0)
            return -1;
        if (to == from)
            continue;
        if (th_grow(&l->item, &l->room, l->n + 1, sizeof *l->item))
            return th_error_no_memory(d->err);
        l->item[l->n++] = (message){at, from, to};
    }
    return 0;
}

/* All messages of a node: times from one stream, destinations from another. */
static int draw(drawing *d, int from)
{
    uint64_t seed = d->options->seed, node = (uint64_t)from;
    gsl_rng *stream[] = {th_random_stream(seed, "traffic times", node),
                         th_random_stream(seed, "traffic destinations", node)};
    int failed = !stream[0] || !stream[1] ? th_error_no_memory(d->err) : draw_with(d, from, stream);
    for (int i = 0; i < 2; i++)
        if (stream[i])
            gsl_rng_free(stream[i]);
    return failed;
}

static int by_time(const void *a, const void *b)
{
    const message *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int add_tasks(th_program *p, const th_system *s, const th_traffic_options *o,
                     const message_list *l, th_error *err)
{
    int32_t n_tasks = p->n_tasks, n_inputs = p->n_inputs;
    for (size_t i = 0; i < l->n; i++) {
        const message *m = &l->item[i];
        th_task t = {.kind = TH_TASK_TRANSFER,
                     .node = s->accel_node[m->from],
                     .peer = s->accel_node[m->to],
                     .bytes = o->message_bytes,
                     .release_ps = m->at,
                     .delay_ps = o->delay_ps,
                     .layer = -1};
        if (th_program_add(p, &t, err) < 0) {
            p->n_tasks = n_tasks;
            p->n_inputs = n_inputs;
            return -1;
        }
    }
    return 0;
}

int64_t th_traffic_add(th_program *p, const th_system *s, const th_traffic_options *options,
                       th_error *err)
{
    th_traffic_options o = *options;
    int64_t added = -1;
    int failed = 0;
    if (!o.pattern)
        o.pattern = &uniform;
    th_traffic_nodes t = nodes_of(s, &o);
    if (check_options(&t, &o, err))
        return -1;
    drawing d = {.nodes = &t, .options = &o, .err = err};
    message_list *l = &d.list;
    for (int from = 0; !failed && from < t.n; from++)
        failed = draw(&d, from);
    if (!failed && l->n > (size_t)(INT32_MAX - p->n_tasks))
        failed = th_error_no_memory(err);
    if (!failed && l->n > 1)
        qsort(l->item, l->n, sizeof *l->item, by_time);
    if (!failed && add_tasks(p, s, &o, l, err) == 0)
        added = (int64_t)l->n;
    th_free(l->item);
    return added;
}
