/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_given.c - what map_workload is given of mappings: designs, one to start from, and
 * constraints. */
#include <config.h>
#include "tcl/commands/map_call.h"
#include <string.h>
#include "base/alloc.h"
#include "mapper/mapping_read.h"
#include "mapper/search/partition/sets.h"

/* --- designs --- */

static bool can_all_take(const th_system *s, const char *name)
{
    int design = th_system_find_design(s, name);
    bool all = design >= 0;
    for (int32_t a = 0; all && a < s->n_accels; a++)
        all = th_set_supports_design(s, &(th_set){design, 1, &a, NULL}, design);
    return all;
}

/* All accelerators of out->system, nodes of which are copied, take the designs that are named. With
 * a design that all can take no search makes sets in which each has its own. */
static int restrict_designs(th_call *c, th_map_given *out)
{
    th_system *s = &out->system;
    Tcl_Obj **words = c->option[MAP_DESIGNS].words;
    int n = c->option[MAP_DESIGNS].n;
    if (!th_call_has(c, MAP_DESIGNS))
        return 0;
    th_node *nodes = th_alloc_array((size_t)s->n_nodes, sizeof *nodes);
    out->designs = th_alloc_array((size_t)n, sizeof *out->designs);
    if (!nodes || !out->designs) {
        th_free(nodes);
        th_free(out->designs);
        out->designs = NULL;
        return th_error_no_memory(&c->err);
    }
    s->nodes = memcpy(nodes, s->nodes, (size_t)s->n_nodes * sizeof *nodes);
    for (int i = 0; i < n; i++) {
        const char *name = Tcl_GetString(words[i]);
        if (!can_all_take(c->session->system, name))
            return th_error_set(
                &c->err, "TCL-1204",
                "-designs \"%.60s\": must be a design that all accelerators can take", name);
        out->designs[i] = th_system_find_design(s, name);
    }
    for (int a = 0; a < s->n_accels; a++) {
        s->nodes[s->accel_node[a]].a.designs = out->designs;
        s->nodes[s->accel_node[a]].a.n_designs = n;
    }
    return 0;
}

/* Sets in which each accelerator has its own design take the first of -designs. */
static void settle_designs(const th_map_given *g, th_mapping *m)
{
    for (int i = 0; g->designs && m && i < m->n_sets; i++)
        if (m->sets[i].design == TH_DESIGN_OWN)
            m->sets[i].design = g->designs[0];
}

/* --- a mapping to start from --- */

/* Searches keep the chunks of a mapping that they start from. */
static int check_chunks(th_call *c, const char *option, const th_mapping *start)
{
    const int64_t most = th_call_number(c, MAP_CHUNKS, TH_SHARD_CHUNKS_MAX);
    for (int l = 0; l < start->n_layers; l++)
        if (th_shard_chunks(&start->strategy[l]) > most)
            return th_error_set(&c->err, "TCL-1201",
                                "%s: layer \"%.60s\" is computed in %d chunks: must have at most "
                                "the %d of -chunks",
                                option, c->session->workload->layers[l].name,
                                (int)th_shard_chunks(&start->strategy[l]), (int)most);
    return 0;
}

/* The checkpoint, if there is one; *out is NULL where there is none of both. */
static int read_start(th_call *c, const th_system *system, th_mapping **out)
{
    th_session *s = c->session;
    if (th_map_checkpoint_read(c, system, out) != 0)
        return -1;
    if (*out)
        return check_chunks(c, "-checkpoint", *out);
    if (!th_call_has(c, MAP_START))
        return 0;
    if (c->option[MAP_START].is_name) {
        if (th_session_need_mapping(s, &c->err) != 0)
            return -1;
        *out = th_mapping_copy(s->mapping);
        if (!*out)
            return th_error_no_memory(&c->err);
        return th_mapping_check(*out, system, s->workload, &c->err) ||
                       check_chunks(c, "-start", *out)
                   ? -1
                   : 0;
    }
    *out = th_mapping_read(c->option[MAP_START].path, system, s->workload, &c->err);
    return *out ? check_chunks(c, "-start", *out) : -1;
}

/* --- constraints --- */

typedef int restrict_layers(th_constraints *c, const th_system *s, const th_workload *w,
                            const char *layers, const char *accels, th_error *err);

/* Pairs of patterns. */
static int read_pairs(th_call *c, int option, restrict_layers *restrict_to, th_constraints *to)
{
    const th_session *s = c->session;
    Tcl_Obj **words = c->option[option].words;
    th_error e;
    for (int i = 0; i < c->option[option].n; i++)
        if (restrict_to(to, s->system, s->workload, Tcl_GetString(words[2 * i]),
                        Tcl_GetString(words[2 * i + 1]), &e) != 0)
            return th_call_prefix_error(c, th_map_options[option].name, &e);
    return 0;
}

static int read_partial(th_call *c, const th_system *system, th_constraints *to)
{
    th_session *s = c->session;
    if (!th_call_has(c, MAP_COMPLETE))
        return 0;
    return th_mapping_read_partial(c->option[MAP_COMPLETE].path, system, s->workload, to, &c->err);
}

/* *out is NULL where there are none. */
static int read_constraints(th_call *c, const th_system *system, th_constraints **out)
{
    const th_session *s = c->session;
    *out = NULL;
    if (!th_call_has(c, MAP_ALLOW) && !th_call_has(c, MAP_FORBID) && !th_call_has(c, MAP_COMPLETE))
        return 0;
    *out = th_constraints_new(s->system, s->workload);
    if (!*out)
        return th_error_no_memory(&c->err);
    if (read_pairs(c, MAP_ALLOW, th_constraints_allow, *out) == 0 &&
        read_pairs(c, MAP_FORBID, th_constraints_forbid, *out) == 0 &&
        read_partial(c, system, *out) == 0 &&
        th_constraints_validate(*out, s->system, s->workload, &c->err) == 0)
        return 0;
    th_constraints_free(*out);
    *out = NULL;
    return -1;
}

int th_map_given_read(th_call *c, th_map_given *out)
{
    *out = (th_map_given){.system = *c->session->system};
    if (restrict_designs(c, out) != 0 || read_start(c, &out->system, &out->start) != 0 ||
        read_constraints(c, &out->system, &out->constraints) != 0)
        return -1;
    settle_designs(out, out->start);
    settle_designs(out, out->constraints ? out->constraints->partial : NULL);
    return 0;
}

void th_map_given_clear(th_map_given *g)
{
    th_mapping_free(g->start);
    th_constraints_free(g->constraints);
    if (g->designs)
        th_free(g->system.nodes);
    th_free(g->designs);
}
