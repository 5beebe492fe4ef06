/* SPDX-License-Identifier: GPL-3.0-or-later */
/* serializer_problem.c - a problem for a rank: system and workload as the files that write_system
 * and write_workload make, with what files do not say; stream, network and goal as bytes. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "mapper/serialize/serializer.h"
#include "topology/files/system_copy.h"
#include "topology/files/system_read.h"
#include "topology/files/system_write.h"
#include "topology/generate/generate.h"
#include "workloads/workload_read.h"
#include "workloads/workload_write.h"

#if UINTPTR_MAX == UINT64_MAX
/* Ranks need neither constraints nor scripts, nor whether there are copies. */
_Static_assert(sizeof(th_problem) == 224 && sizeof(th_goal) == 72, "see th_serializer_goal");
#endif

static void small(th_serializer *w, int x, int n, uint8_t *out)
{
    *out = (uint8_t)x;
    th_serializer_byte(w, out);
    if (*out >= n) {
        w->failed = true;
        *out = 0;
    }
}

/* ---- systems ---- */

/* The text of a file; failed: writing it has. */
static int send_text(th_serializer *w, th_strbuf *file, int failed)
{
    const char *text = file->text;
    if (!failed)
        th_serializer_text(w, &text);
    th_strbuf_clear(file);
    return failed;
}

/* What a file cannot say of a generator's links. */
static void changed_links(th_serializer *w, th_system *s)
{
    bool is_changed = s->generator && s->generator->is_changed;
    th_serializer_bool(w, &is_changed);
    if (!is_changed || !s->generator)
        return;
    s->generator->is_changed = true;
    for (int m = 0; m < s->n_media; m++) {
        th_serializer_int64(w, &s->media[m].bits_per_s);
        w->failed |= s->media[m].bits_per_s < 1;
    }
    for (int l = 0; l < s->n_links; l++) {
        th_serializer_int64(w, &s->links[l].latency_ps);
        w->failed |= s->links[l].latency_ps < 0;
    }
}

/* Where its designs came from: tables that they read stand there, and messages name it. The groups
 * of accelerators, which a file may leave to its generator. */
static void send_places(th_serializer *w, const th_system *s)
{
    for (int d = 0; d < s->n_designs; d++) {
        const char *file = s->designs[d].file;
        int line = s->designs[d].line;
        th_serializer_text(w, &file);
        th_serializer_int(w, &line);
    }
    for (int i = 0; i < s->n_nodes; i++) {
        int group = s->nodes[i].group;
        th_serializer_int(w, &group);
    }
}

int th_serializer_send_system(th_serializer *w, const th_system *s, th_error *err)
{
    th_strbuf file = TH_STRBUF_INIT;
    if (send_text(w, &file, th_system_write(s, NULL, NULL, &file, err)) != 0)
        return -1;
    send_places(w, s);
    changed_links(w, (th_system *)s); /* which writing only reads */
    return 0;
}

static int receive_places(th_serializer *w, th_system *s, th_error *err)
{
    for (int d = 0; d < s->n_designs; d++) {
        const char *file = NULL;
        th_serializer_text(w, &file);
        th_serializer_int(w, &s->designs[d].line);
        s->designs[d].file = file ? th_arena_string(s->names.text, file) : NULL;
        if (file && !s->designs[d].file)
            return th_error_no_memory(err);
    }
    for (int i = 0; i < s->n_nodes; i++)
        th_serializer_int(w, &s->nodes[i].group);
    return 0;
}

/* Routes follow from the links: a system with others is finished anew. Takes s; NULL: memory. */
static th_system *finished_anew(th_system *s, th_error *err)
{
    th_system *made = th_system_copy(s, err);
    th_system_free(s);
    if (!made || th_system_finish(made, err) == 0)
        return made;
    th_system_free(made);
    return NULL;
}

th_system *th_serializer_receive_system(th_serializer *w, th_error *err)
{
    const char *text = NULL;
    th_serializer_text(w, &text);
    th_system *s =
        text && !w->failed ? th_system_read_text_up_to(text, "system", TH_LINKS_MAX, err) : NULL;
    bool is_whole = s && receive_places(w, s, err) == 0;
    if (is_whole)
        changed_links(w, s);
    if (is_whole && !w->failed)
        return s->generator && s->generator->is_changed ? finished_anew(s, err) : s;
    if (!text || w->failed)
        th_error_set(err, "MAP-0100", "serialised system: truncated or damaged");
    th_system_free(s);
    return NULL;
}

/* ---- workloads ---- */

int th_serializer_send_workload(th_serializer *w, const th_workload *net, th_error *err)
{
    th_strbuf file = TH_STRBUF_INIT;
    const char *place = net->file;
    if (send_text(w, &file, th_workload_write(net, &file, err)) != 0)
        return -1;
    th_serializer_text(w, &place);
    for (int l = 0; l < net->n_layers; l++) {
        int line = net->layers[l].line;
        th_serializer_int(w, &line);
    }
    return 0;
}

th_workload *th_serializer_receive_workload(th_serializer *w, th_error *err)
{
    const char *text = NULL, *file = NULL;
    th_serializer_text(w, &text);
    th_serializer_text(w, &file);
    th_workload *net =
        text && !w->failed ? th_workload_read_text(text, file ? file : "workload", 0, err) : NULL;
    for (int l = 0; net && l < net->n_layers; l++)
        th_serializer_int(w, &net->layers[l].line);
    if (net && !w->failed)
        return net;
    if (!text || w->failed)
        th_error_set(err, "MAP-0101", "serialised workload: truncated or damaged");
    th_workload_free(net);
    return NULL;
}

/* ---- the rest of a problem ---- */

void th_serializer_stream(th_serializer *w, th_stream *s)
{
    th_serializer_int(w, &s->n_inputs);
    th_serializer_int64(w, &s->interval_ps);
    th_serializer_int(w, &s->micro_batches);
    th_serializer_int(w, &s->in_flight);
}

void th_serializer_network(th_serializer *w, const th_network_type **type, th_network_options *o)
{
    const char *name = *type ? (*type)->name : NULL;
    th_serializer_text(w, &name);
    *type = name ? th_network_find(name) : NULL;
    w->failed |= name && !*type;
    th_serializer_bool(w, &o->weigh_by_latency);
    th_serializer_int64(w, &o->packet_bytes);
    th_serializer_int64(w, &o->buffer_bytes);
    th_serializer_int(w, &o->n_virtual_channels);
    th_serializer_int64(w, &o->credit_delay_ps);
    th_serializer_int64(w, &o->router_delay_ps);
    th_serializer_int64(w, &o->terminal_bits_per_s);
    th_serializer_int(w, &o->n_crossbar_inputs);
    th_serializer_int64(w, &o->allocation_cycle_ps);
    th_serializer_bool(w, &o->may_deadlock);
}

static void objective(th_serializer *w, th_objective *o)
{
    uint8_t x;
    small(w, *o, TH_OBJECTIVE_WEIGHTED + 1, &x);
    *o = (th_objective)x;
}

void th_serializer_goal(th_serializer *w, th_goal *g)
{
    objective(w, &g->objective);
    for (int i = 0; i < TH_N_TERMS; i++)
        th_serializer_double(w, &g->weight[i]);
    th_serializer_count(w, &g->n_front, TH_FRONT_MAX);
    for (int i = 0; i < g->n_front; i++)
        objective(w, &g->front[i]);
    th_serializer_int64(w, &g->deadline_ps);
}
