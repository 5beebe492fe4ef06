/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_plan.c - the plans of the layers and tensors of one mapping, which emit.c and
 * lower_serial.c turn into tasks.
 *   begin -> number_sets -> plan -> begin_pass* */
#include <config.h>

#include "base/alloc.h"
#include "mapper/lower/lower_state.h"

void th_lower_begin(th_lower *l)
{
    if (!th_plans_are_shared(l->plans)) /* else the evaluation pool trims them between batches */
        th_plans_trim(l->plans, TH_PLANS_LIMIT);
}

int th_lower_number_sets(th_lower *l, const th_mapping *m, th_error *err)
{
    size_t n = (size_t)m->n_sets;
    if (th_grow(&l->planned.set_id, &l->planned.set_capacity, n, sizeof *l->planned.set_id) ||
        th_grow(&l->planned.members_id, &l->planned.members_capacity, n,
                sizeof *l->planned.members_id))
        return th_error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (th_plans_set_ids(l->plans, &m->sets[i], &l->planned.set_id[i],
                             &l->planned.members_id[i], err))
            return -1;
    return 0;
}

static void place(th_lower *l, const th_mapping *m, int first, int last)
{
    int32_t n = 0;
    for (int i = first; i <= last; i++) {
        int32_t set = m->set_of[i];
        l->planned.placed[i] = (th_placed){.layer = i,
                                           .set = &m->sets[set],
                                           .set_id = l->planned.set_id[set],
                                           .members_id = l->planned.members_id[set],
                                           .strategy = m->strategy[i]};
        l->emission.first_final[i] = n;
        n += m->sets[set].n_accels * th_shard_chunks(&m->strategy[i]);
    }
    l->emission.first_final[last + 1] = n;
}

static int plan_consumers(th_lower *l, int tensor, int32_t batch, th_error *err)
{
    int32_t first = l->graph.edge_start[tensor + 1], end = l->graph.edge_start[tensor + 2];
    const th_placed *producer = tensor < 0 ? NULL : &l->planned.placed[tensor];
    for (int32_t e = first; e < end; e++) {
        l->planned.consumers[e - first] = l->planned.placed[l->graph.edges[e].consumer];
        l->planned.consumers[e - first].input = l->graph.edges[e].input;
    }
    for (int32_t e = first; e < end; e++) {
        int32_t shared = l->graph.edges[e].first;
        l->graph.edges[e].plan =
            th_plans_edge(l->plans, producer, l->planned.consumers + (shared - first),
                          e - shared + 1, batch, err);
        if (!l->graph.edges[e].plan)
            return -1;
    }
    return 0;
}

static int plan_batch(th_lower *l, int first, int last, int32_t batch, th_error *err)
{
    for (int i = first > 0 ? first - 1 : 0; i <= last; i++) {
        l->planned.layer_plan[i] = th_plans_layer(l->plans, &l->planned.placed[i], batch, err);
        if (!l->planned.layer_plan[i])
            return -1;
    }
    for (int t = first - 1; t < last; t++)
        if (plan_consumers(l, t, batch, err))
            return -1;
    return 0;
}

int th_lower_plan(th_lower *l, const th_mapping *m, int first, int last, int32_t batch,
                  th_error *err)
{
    place(l, m, first > 0 ? first - 1 : 0, last);
    if (th_grow(&l->emission.final, &l->emission.final_capacity,
                (size_t)l->emission.first_final[last + 1] + 1, sizeof *l->emission.final))
        return th_error_no_memory(err);
    return plan_batch(l, first, last, batch, err);
}

int th_lower_begin_pass(th_lower *l, int32_t pass, th_error *err)
{
    l->passes.start[pass] = l->emission.program->n_tasks;
    return l->is_interrupted && l->is_interrupted()
               ? th_error_interrupted(err, "nothing was lowered")
               : 0;
}
