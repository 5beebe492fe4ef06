/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_figures.c - see saved_figures.h. */
#include <config.h>
#include "report/session/saved_figures.h"
#include "base/alloc.h"
#include "base/arena.h"

const char *const th_saved_figure_names[TH_N_SAVED][TH_SAVED_FIGURES_MAX + 1] = {
    [TH_SAVED_LAYERS] = {"active", "energy"},
    [TH_SAVED_ACCELS] = {"busy", "stalled", "idle", "sent", "energy"},
    [TH_SAVED_LINKS] = {"busy", "carried"},
};

static th_quantity energy_of(const th_result *r, const th_energy *e)
{
    return r->has_energy ? th_joules(th_energy_sum(e)) : th_absent(TH_KIND_ENERGY);
}

static void take_layers(const th_session *s, const th_result *r, th_saved_figures *f)
{
    th_saved_object *o = f->objects[TH_SAVED_LAYERS];
    for (int l = 0; l < f->n[TH_SAVED_LAYERS]; l++) {
        bool is_there = l < r->n_layers;
        o[l].name = th_arena_string(f->arena, s->workload->layers[l].name);
        o[l].figure[0] = th_ps(is_there ? r->layers[l].active_ps : 0);
        o[l].figure[1] = is_there ? energy_of(r, &r->layers[l].energy) : th_absent(TH_KIND_ENERGY);
    }
}

static void take_accels(const th_session *s, const th_result *r, th_saved_figures *f)
{
    th_saved_object *o = f->objects[TH_SAVED_ACCELS];
    for (int a = 0; a < r->n_accels; a++) {
        const th_accel_result *x = &r->accels[a];
        o[a].name = th_arena_string(f->arena, s->system->nodes[s->system->accel_node[a]].name);
        o[a].figure[0] = th_ps(x->stats.busy_ps);
        o[a].figure[1] = th_ps(th_stats_occupied(&x->stats) - x->stats.busy_ps);
        o[a].figure[2] = th_ps(x->idle_ps);
        o[a].figure[3] = th_bytes(x->sent_bytes);
        o[a].figure[4] = energy_of(r, &x->energy);
    }
}

static void take_links(const th_session *s, const th_result *r, th_saved_figures *f)
{
    th_saved_object *o = f->objects[TH_SAVED_LINKS];
    for (int l = 0; l < r->n_links; l++) {
        o[l].name = th_arena_string(f->arena, s->system->links[l].name);
        o[l].figure[0] = th_ps(r->links[l].busy_ps);
        o[l].figure[1] = th_bytes(r->links[l].bytes);
    }
}

static int make_room(th_saved_figures *f)
{
    f->arena = th_arena_new();
    for (int c = 0; f->arena && c < TH_N_SAVED; c++)
        if (!(f->objects[c] = th_alloc_zero((size_t)f->n[c] + 1, sizeof *f->objects[c])))
            return -1;
    return f->arena ? 0 : -1;
}

static bool all_named(const th_saved_figures *f)
{
    for (int c = 0; c < TH_N_SAVED; c++)
        for (int i = 0; i < f->n[c]; i++)
            if (!f->objects[c][i].name)
                return false;
    return true;
}

th_saved_figures *th_saved_figures_of(const th_session *s, const th_result *r)
{
    th_saved_figures *f = th_alloc_zero(1, sizeof *f);
    if (!f)
        goto fail;
    f->n[TH_SAVED_LAYERS] = s->workload ? s->workload->n_layers : 0;
    f->n[TH_SAVED_ACCELS] = r->n_accels;
    f->n[TH_SAVED_LINKS] = r->n_links;
    if (make_room(f) != 0 ||
        th_session_input_digests(s, f->system, f->workload, sizeof f->system) != 0)
        goto fail;
    take_layers(s, r, f);
    take_accels(s, r, f);
    take_links(s, r, f);
    if (all_named(f))
        return f;
fail:
    th_saved_figures_free(f);
    return NULL;
}

void th_saved_figures_free(th_saved_figures *f)
{
    if (!f)
        return;
    for (int c = 0; c < TH_N_SAVED; c++)
        th_free(f->objects[c]);
    th_free(f->page);
    th_arena_free(f->arena);
    th_free(f);
}
