/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accelerator_history.c - the end of a task whose DRAM is also used by flows.
 *
 *   expand -> (change -> schedule_completion)* -> find_completion -> the task ends
 *
 * An expanded task records its demand history: the changes of the DRAM demand of flows. Its end
 * follows from its compute cost and that history, and is computed only when the task could end
 * soon. Until then the end event is at a lower bound, the start plus the busy time of the array. At
 * that event the end is looked up in the completion-time cache, or computed by simulating the tile
 * pipeline over the history. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/machine/accelerator_state.h"

/* The digest begins with numbers that all machines of a completion-time cache share: the compute
 * cost and its time, which is that at the present clock. Two 64-bit chains take the words in
 * different orders. */
void th_history_begin(const th_machine *m, th_accel_state *a)
{
    const th_compute_cost *w = th_accel_cost(m, a);
    const uint64_t number = (uint64_t)w->number, hz = (uint64_t)w->schedule.hz,
                   ps = (uint64_t)w->collapsed_ps;
    a->history.n = a->history.n_applied = 0;
    a->history.digest[0] = th_hash_word(th_hash_word(th_hash_word(0, number), hz), ps);
    a->history.digest[1] = th_hash_word(th_hash_word(th_hash_word(0, ps), hz), number);
}

static void add_to_digest(uint64_t digest[2], const th_demand_change *c)
{
    uint64_t demand;
    memcpy(&demand, &c->bytes_per_s, sizeof demand);
    digest[0] = th_hash_word(th_hash_word(digest[0], (uint64_t)c->at), demand);
    digest[1] = th_hash_word(th_hash_word(digest[1], demand), (uint64_t)c->at);
}

int th_history_add(th_accel_state *a, th_demand_change c)
{
    th_demand_history *h = &a->history;
    if (th_grow(&h->change, &h->capacity, h->n + 1, sizeof *h->change))
        return -1;
    h->change[h->n++] = c;
    add_to_digest(h->digest, &c);
    return 0;
}

void th_history_apply(const th_machine *m, const th_accel_state *a, th_pipeline *p, size_t from)
{
    const th_compute_cost *w = th_accel_cost(m, a);
    const th_demand_history *h = &a->history;
    if (from == 0)
        th_accel_start_pipeline(m, a, p, &(th_pipeline_options){.skip = true});
    for (size_t i = from; i < h->n; i++) {
        th_pipeline_advance(p, &w->schedule, &w->port, h->change[i].at);
        th_pipeline_set_demand(p, &w->port, h->change[i].bytes_per_s);
    }
}

static int post_end(th_machine *m, th_accel_state *a, const th_compute_completion *e, th_error *err)
{
    a->stats_at_end = e->stats;
    return th_accel_set_event(m, a, th_time_add(a->started, e->end), TH_COMPUTE_ENDS, err);
}

static const th_compute_completion *cached_completion(const th_machine *m, const th_accel_state *a)
{
    return a->was_contended ? NULL : th_completion_cache_find(m->completions, a->history.digest);
}

int th_history_find_completion(th_machine *m, th_accel_state *a, th_error *err)
{
    const th_compute_completion *known = cached_completion(m, a);
    if (known)
        return post_end(m, a, known, err);
    const th_compute_cost *w = th_accel_cost(m, a);
    th_history_apply(m, a, a->pipeline, a->history.n_applied);
    a->history.n_applied = a->history.n;
    th_pipeline p = *a->pipeline;
    th_compute_completion e = {.end = th_pipeline_finish(&p, &w->schedule, &w->port)};
    e.stats = p.stats;
    if (!a->was_contended && th_completion_cache_add(m->completions, a->history.digest, &e))
        return th_error_no_memory(err);
    return post_end(m, a, &e, err);
}

/* Before the lower bound of the end, more changes may come, so only the bound is posted. */
int th_history_schedule_completion(th_machine *m, th_accel_state *a, th_error *err)
{
    th_time bound = th_time_add(a->started, th_accel_cost(m, a)->collapsed.busy_ps);
    if (bound > m->now) {
        bool is_posted = a->event != TH_NO_EVENT && a->event_kind == TH_COMPUTE_MAY_END;
        return is_posted ? 0 : th_accel_set_event(m, a, bound, TH_COMPUTE_MAY_END, err);
    }
    const th_compute_completion *known = cached_completion(m, a);
    return known ? post_end(m, a, known, err)
                 : th_accel_set_event(m, a, m->now, TH_COMPUTE_MAY_END, err);
}

int th_history_change(th_machine *m, th_accel_state *a, double demand, th_error *err)
{
    if (th_history_add(a, (th_demand_change){m->now - a->started, demand}))
        return th_error_no_memory(err);
    return th_history_schedule_completion(m, a, err);
}

int th_history_expand(th_machine *m, th_accel_state *a, double demand, th_error *err)
{
    a->mode = TH_ACCEL_EXPANDED;
    m->counts.expansions++;
    th_history_begin(m, a);
    return th_history_change(m, a, demand, err);
}
