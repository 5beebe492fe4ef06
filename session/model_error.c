/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_error.c - see model_error.h. An error is that of a total against a measurement: of a
 * network on an accelerator, of an operation on links. Agreement with another simulator is none. */
#include <config.h>
#include "session/model_error.h"
#include <string.h>

#define OF_CONVOLUTIONS 1u << TH_LAYER_CONV

const th_model_error th_model_errors[] = {
    {"tiled", false, 2.9, "tiled.md", "whole convolutions", OF_CONVOLUTIONS, true},
    {"winograd", false, 2.0, "winograd.md", "whole convolutions", OF_CONVOLUTIONS, true},
    {"systolic", false, -1, "systolic.md", NULL, 0, false},
    {"systolic_vec", false, -1, "systolic_vec.md", NULL, 0, false},
    {"serial_tiled", false, -1, "serial_tiled.md", NULL, 0, false},
    {"gemv", false, -1, "gemv.md", NULL, 0, false},
    {"roofline", false, -1, "roofline.md", NULL, 0, false},
    {"learned", false, 6.0, "learned.md", "convolutions and dense layers",
     OF_CONVOLUTIONS | 1u << TH_LAYER_FC, false},
    {"table", false, 0, "table.md", NULL, 0, false},
    {"script", false, -1, "script.md", NULL, 0, false},
    {"fluid", true, 13.1, "network.md", "all-reduces of 2 to 8 ranks", 0, false},
    {"ideal", true, -1, "network.md", NULL, 0, false},
    {"packet", true, -1, "packet.md", NULL, 0, false},
    {"astra_aware", true, -1, "astra.md", NULL, 0, false},
    {"astra_unaware", true, -1, "astra.md", NULL, 0, false},
    {NULL, false, 0, NULL, NULL, 0, false},
};
enum { FLUID_RANKS_MAX = 8, FLUID_BYTES_MIN = 2 << 10, FLUID_BYTES_MAX = 64 << 20 };

/* Its place in the table; -1: it is not there. */
static int place_of(const char *model, bool is_network)
{
    for (int i = 0; th_model_errors[i].model; i++)
        if (th_model_errors[i].is_network == is_network &&
            strcmp(th_model_errors[i].model, model) == 0)
            return i;
    return -1;
}

/* Every design and every network has its place. */
static void add_use(th_models *models, int place, bool is_measured)
{
    models->used |= 1u << place;
    if (!is_measured)
        models->outside |= 1u << place;
}

/* The designs of the set that run the layer. */
static void add_designs(const th_session *s, int layer, const th_result *r, th_models *models)
{
    const th_layer *l = &s->workload->layers[layer];
    const th_set *set = &s->mapping->sets[s->mapping->set_of[layer]];
    for (int k = 0; th_layer_has_macs(l) && k < set->n_accels; k++) {
        const th_design_block *design = &s->system->designs[th_set_design(set, k, s->system)];
        int place = place_of(design->type, false);
        const th_model_error *e = &th_model_errors[place];
        bool is_of_kind = e->kinds == 0 || e->kinds >> l->kind & 1u;
        if (r->accels[set->accels[k]].n_tasks > 0)
            add_use(models, place, is_of_kind && (!e->is_whole || set->n_accels == 1));
    }
}

/* Has the network moved nothing but what the error of fluid was measured on? */
static bool moves_as_measured(const th_program *p)
{
    for (int32_t i = 0; i < p->n_tasks; i++) {
        const th_task *t = &p->tasks[i];
        const th_collective *c =
            t->kind == TH_TASK_COLLECTIVE ? &p->collectives[t->collective] : NULL;
        if ((t->kind == TH_TASK_TRANSFER && t->bytes > 0) ||
            (c && (c->kind != TH_ALL_REDUCE || c->n_ranks > FLUID_RANKS_MAX ||
                   c->bytes < FLUID_BYTES_MIN || c->bytes > FLUID_BYTES_MAX)))
            return false;
    }
    return true;
}

th_models th_models_of(const th_session *s, const th_result *r)
{
    th_models models = {0, 0};
    for (int l = 0; s->mapping && s->workload && !s->hand_built && l < s->workload->n_layers; l++)
        add_designs(s, l, r, &models);
    if (r->moved_bytes > 0) {
        int network = place_of(th_simulation_ran(s->simulation).network->name, true);
        add_use(&models, network,
                !th_model_errors[network].range || moves_as_measured(s->simulation->program));
    }
    return models;
}

th_models th_models_union(th_models a, th_models b)
{
    return (th_models){a.used | b.used, a.outside | b.outside};
}

double th_models_error(th_models models)
{
    double most = 0;
    for (int i = 0; th_model_errors[i].model; i++)
        if ((models.used & ~models.outside) >> i & 1u && th_model_errors[i].percent > most)
            most = th_model_errors[i].percent;
    return most;
}

void th_models_describe(th_models models, th_strbuf *out)
{
    const char *before = "";
    for (int i = 0; th_model_errors[i].model; i++) {
        const th_model_error *e = &th_model_errors[i];
        if (!(models.used >> i & 1u))
            continue;
        th_strbuf_printf(out, "%s%s%s", before, e->model, e->is_network ? " network" : "");
        if (e->percent < 0)
            th_strbuf_add(out, " unknown");
        else if (models.outside >> i & 1u)
            th_strbuf_printf(out, " unknown (%g %% on %s)", e->percent, e->range);
        else
            th_strbuf_printf(out, " %g %%", e->percent);
        before = ", ";
    }
}
