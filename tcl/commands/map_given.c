/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_given.c - what map_workload is given of mappings: designs, one to start from, and
 * constraints. */
#include <config.h>
#include "tcl/commands/map_call.h"
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "mapper/mapping_read.h"
#include "mapper/search/partition/sets.h"
#include "tcl/files.h"

/* --- designs --- */

static int unknown_design(th_call *c, const char *name)
{
    const th_system *s = c->session->system;
    const char **names = th_alloc_zero((size_t)s->n_designs + 1, sizeof *names);
    if (!names)
        return th_error_no_memory(&c->err);
    for (int d = 0; d < s->n_designs; d++)
        names[d] = s->designs[d].name;
    th_error_unknown(&c->err, "TCL-1203", "-designs", name, names);
    th_free(names);
    return -1;
}

/* Sets those of named, which are by design of the system, that the list names. */
static int read_designs(th_call *c, bool *named)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, c->option[MAP_DESIGNS].word, &n, &words) != TCL_OK || n == 0)
        return unknown_design(c, th_call_text(c, MAP_DESIGNS, ""));
    for (Tcl_Size i = 0; i < n; i++) {
        int design = th_system_find_design(c->session->system, Tcl_GetString(words[i]));
        if (design < 0)
            return unknown_design(c, Tcl_GetString(words[i]));
        named[design] = true;
    }
    return 0;
}

/* Copies the nodes, with designs of their own: out->designs has room for all. 0 or -1. */
static int copy_nodes(const th_system *s, th_map_given *out, th_error *err)
{
    size_t n = 1;
    for (int a = 0; a < s->n_accels; a++)
        n += (size_t)s->nodes[s->accel_node[a]].a.n_designs;
    th_node *nodes = th_alloc_array((size_t)s->n_nodes, sizeof *nodes);
    out->designs = th_alloc_array(n, sizeof *out->designs);
    if (!nodes || !out->designs) {
        th_free(nodes);
        th_free(out->designs);
        out->designs = NULL;
        return th_error_no_memory(err);
    }
    memcpy(nodes, s->nodes, (size_t)s->n_nodes * sizeof *nodes);
    out->system.nodes = nodes;
    return 0;
}

static bool can_all_take(const th_system *s, int design)
{
    for (int32_t a = 0; a < s->n_accels; a++)
        if (!th_set_supports_design(s, &(th_set){design, 1, &a, NULL}, design))
            return false;
    return true;
}

/* A set in which each accelerator has its own design means the first of its list. So that must
 * stay the first, or all can take one design: then no search makes such a set. */
static int check_own(th_call *c, const th_system *restricted)
{
    const th_system *s = c->session->system;
    for (int d = 0; d < s->n_designs; d++)
        if (can_all_take(restricted, d))
            return 0;
    for (int a = 0; a < s->n_accels; a++) {
        const th_node *node = &s->nodes[s->accel_node[a]];
        if (node->a.designs[0] != restricted->nodes[s->accel_node[a]].a.designs[0])
            return th_error_set(&c->err, "TCL-1204",
                                "-designs \"%.60s\": must name one that all accelerators can take, "
                                "or the first of each: \"%.60s\" of accel/%s",
                                th_call_text(c, MAP_DESIGNS, ""),
                                s->designs[node->a.designs[0]].name, node->name);
    }
    return 0;
}

static int restrict_designs(th_call *c, th_map_given *out)
{
    const th_system *s = &out->system;
    if (!th_call_has(c, MAP_DESIGNS))
        return 0;
    bool *named = th_alloc_zero((size_t)s->n_designs + 1, sizeof *named);
    int failed = named ? read_designs(c, named) : th_error_no_memory(&c->err);
    if (!failed)
        failed = copy_nodes(s, out, &c->err);
    int *next = out->designs;
    for (int a = 0; !failed && a < s->n_accels; a++) {
        th_node *node = &s->nodes[s->accel_node[a]];
        int *first = next;
        for (int i = 0; i < node->a.n_designs; i++)
            if (named[node->a.designs[i]])
                *next++ = node->a.designs[i];
        node->a.designs = first;
        node->a.n_designs = (int)(next - first);
        if (next == first)
            failed = th_error_set(&c->err, "TCL-1205",
                                  "-designs \"%.60s\": must name a design that accel/%s can take",
                                  th_call_text(c, MAP_DESIGNS, ""), node->name);
    }
    th_free(named);
    return failed ? -1 : check_own(c, s);
}

/* Of a mapping that is given. */
static int check_designs(th_call *c, const th_map_given *g, int option, const th_mapping *m)
{
    for (int i = 0; m && g->designs && i < m->n_sets; i++) {
        const th_set *set = &m->sets[i];
        for (int r = 0; set->design != TH_DESIGN_ANY && r < set->n_accels; r++) {
            int32_t design = th_set_design(set, r, c->session->system);
            const th_set alone = {design, 1, &set->accels[r], NULL};
            if (!th_set_supports_design(&g->system, &alone, design))
                return th_error_set(&c->err, "TCL-1206",
                                    "%s: set %d has design \"%.60s\": must have one of -designs",
                                    th_map_options[option].name, i,
                                    c->session->system->designs[design].name);
        }
    }
    return 0;
}

/* --- a mapping to start from --- */

/* Searches keep the chunks of a mapping that they start from. */
static int check_chunks(th_call *c, const th_mapping *start)
{
    const int64_t most = th_call_number(c, MAP_CHUNKS, TH_SHARD_CHUNKS_MAX);
    for (int l = 0; l < start->n_layers; l++)
        if (th_shard_chunks(&start->strategy[l]) > most)
            return th_error_set(&c->err, "TCL-1201",
                                "-start: layer \"%.60s\" is computed in %d chunks: must have at "
                                "most the %d of -chunks",
                                c->session->workload->layers[l].name,
                                (int)th_shard_chunks(&start->strategy[l]), (int)most);
    return 0;
}

/* *out is NULL where there is none. */
static int read_start(th_call *c, th_mapping **out)
{
    th_session *s = c->session;
    bool is_current = strcmp(th_call_text(c, MAP_START, ""), "current") == 0;
    *out = NULL;
    if (!th_call_has(c, MAP_START))
        return 0;
    if (is_current) {
        if (th_session_need_mapping(s, &c->err) != 0)
            return -1;
        *out = th_mapping_copy(s->mapping);
        return *out ? 0 : th_error_no_memory(&c->err);
    }
    Tcl_Obj *path = th_file_find(s, &th_mapping_file, c->option[MAP_START].word, &c->err);
    if (!path)
        return -1;
    *out = th_mapping_read(Tcl_FSGetNativePath(path), s->system, s->workload, &c->err);
    Tcl_DecrRefCount(path);
    return *out ? 0 : -1;
}

/* --- constraints --- */

typedef int restrict_layers(th_constraints *c, const th_system *s, const th_workload *w,
                            const char *layers, const char *accels, th_error *err);

/* Pairs of patterns. */
static int read_pairs(th_call *c, int option, restrict_layers *restrict_to, th_constraints *to)
{
    const th_session *s = c->session;
    Tcl_Obj **words;
    int n;
    th_error e;
    if (!th_call_has(c, option))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[option].word, &n, &words) != TCL_OK || n % 2 != 0)
        return th_error_set(&c->err, "TCL-0230",
                            "%s \"%s\": must be a list of layers and accelerators in turn",
                            th_map_options[option].name, th_call_text(c, option, ""));
    for (int i = 0; i < n; i += 2)
        if (restrict_to(to, s->system, s->workload, Tcl_GetString(words[i]),
                        Tcl_GetString(words[i + 1]), &e) != 0)
            return th_call_prefix_error(c, th_map_options[option].name, &e);
    return 0;
}

static int read_partial(th_call *c, th_constraints *to)
{
    th_session *s = c->session;
    if (!th_call_has(c, MAP_COMPLETE))
        return 0;
    Tcl_Obj *path = th_file_find(s, &th_mapping_file, c->option[MAP_COMPLETE].word, &c->err);
    if (!path)
        return -1;
    int failed =
        th_mapping_read_partial(Tcl_FSGetNativePath(path), s->system, s->workload, to, &c->err);
    Tcl_DecrRefCount(path);
    return failed;
}

/* *out is NULL where there are none. */
static int read_constraints(th_call *c, th_constraints **out)
{
    const th_session *s = c->session;
    *out = NULL;
    if (!th_call_has(c, MAP_ALLOW) && !th_call_has(c, MAP_FORBID) && !th_call_has(c, MAP_COMPLETE))
        return 0;
    *out = th_constraints_new(s->system, s->workload);
    if (!*out)
        return th_error_no_memory(&c->err);
    if (read_pairs(c, MAP_ALLOW, th_constraints_allow, *out) == 0 &&
        read_pairs(c, MAP_FORBID, th_constraints_forbid, *out) == 0 && read_partial(c, *out) == 0 &&
        th_constraints_validate(*out, s->system, s->workload, &c->err) == 0)
        return 0;
    th_constraints_free(*out);
    *out = NULL;
    return -1;
}

int th_map_given_read(th_call *c, th_map_given *out)
{
    *out = (th_map_given){.system = *c->session->system};
    if (restrict_designs(c, out) != 0 || read_start(c, &out->start) != 0 ||
        (out->start && check_chunks(c, out->start) != 0) ||
        check_designs(c, out, MAP_START, out->start) != 0 ||
        read_constraints(c, &out->constraints) != 0)
        return -1;
    return check_designs(c, out, MAP_COMPLETE, out->constraints ? out->constraints->partial : NULL);
}

void th_map_given_clear(th_map_given *g)
{
    th_mapping_free(g->start);
    th_constraints_free(g->constraints);
    if (g->designs)
        th_free(g->system.nodes);
    th_free(g->designs);
}
