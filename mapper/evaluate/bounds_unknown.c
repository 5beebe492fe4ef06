/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_unknown.c - which layers and mappings the bounds do not cover, each with its reason. */
#include <config.h>

#include <stdio.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "mapper/evaluate/bounds_state.h"

static int note(th_bound_finder *f, th_unknown_bound gap)
{
    th_bounds *b = f->out;
    size_t capacity = (size_t)b->n_unknown;
    if (th_grow(&b->unknown, &capacity, (size_t)b->n_unknown + 1, sizeof *b->unknown))
        return -1;
    b->unknown[b->n_unknown++] = gap;
    return 0;
}

/* Compute and critical path; a layer bounded by peak rates has no path. */
static int note_layers(th_bound_finder *f, th_limit limit)
{
    int failed = 0;
    for (int l = 0; !failed && l < f->workload->n_layers; l++) {
        const th_layer_floor *x = &f->floor[l];
        th_unknown_bound gap = {limit, l, x->unknown_design, x->unknown};
        if (limit == TH_LIMIT_PATH && x->is_by_rate && x->unknown != TH_UNKNOWN_NO_ACCELERATOR)
            gap = (th_unknown_bound){limit, l, -1, TH_UNKNOWN_SHARD_SIZE};
        if (gap.why != TH_UNKNOWN_NONE)
            failed = note(f, gap);
    }
    return failed;
}

static int note_cut(th_bound_finder *f)
{
    th_bound_physics how = th_bound_physics_of(f->problem);
    th_unknown_reason why = how == TH_BOUND_SERIAL     ? TH_UNKNOWN_SERIAL_TRANSFERS
                            : how == TH_BOUND_NO_LINKS ? TH_UNKNOWN_NETWORK
                                                       : TH_UNKNOWN_NONE;
    return why == TH_UNKNOWN_NONE ? 0 : note(f, (th_unknown_bound){TH_LIMIT_CUT, -1, -1, why});
}

/* Bytes of script designs are as unknown as their cycles. */
int th_bound_list_unknown(th_bound_finder *f)
{
    return note_layers(f, TH_LIMIT_COMPUTE) || note_cut(f) || note_layers(f, TH_LIMIT_PATH) ? -1
                                                                                            : 0;
}

static const char *design_text(const th_unknown_bound *g, const th_system *s, char *out,
                               size_t size)
{
    const th_design_block *d = g->design >= 0 ? &s->designs[g->design] : NULL;
    th_print(out, size, "%.60s (%.20s)", d ? d->name : "-", d ? d->type : "-");
    return out;
}

const char *th_bounds_explain(const th_unknown_bound *g, const th_system *s, char *out, size_t size)
{
    char d[100];
    design_text(g, s, d, sizeof d);
    *out = '\0';
    switch (g->why) {
    case TH_UNKNOWN_NONE:
        break;
    case TH_UNKNOWN_NO_ACCELERATOR:
        snprintf(out, size, "no accelerator can run it");
        break;
    case TH_UNKNOWN_SCRIPT_NOT_CALLABLE:
        snprintf(out, size, "the procedure of design %s cannot be asked", d);
        break;
    case TH_UNKNOWN_SCRIPT_FAILED:
        snprintf(out, size, "the procedure of design %s failed, or would be asked too often", d);
        break;
    case TH_UNKNOWN_NO_PEAK_RATE:
        snprintf(out, size, "no rate is known that no shard exceeds on design %s", d);
        break;
    case TH_UNKNOWN_PARTIAL:
        snprintf(out, size,
                 "known for even cuts and this mapping's on design %s, not for all shares", d);
        break;
    case TH_UNKNOWN_SHARD_SIZE:
        snprintf(out, size, "a shard may be so small that it takes no time");
        break;
    case TH_UNKNOWN_NETWORK:
        snprintf(out, size, "the network follows no links");
        break;
    case TH_UNKNOWN_SERIAL_TRANSFERS:
        snprintf(out, size, "accelerators move data themselves, and may keep it");
        break;
    }
    return out;
}

bool th_bounds_are_partial(const th_bounds *b)
{
    for (int i = 0; i < b->n_unknown; i++)
        if (b->unknown[i].why == TH_UNKNOWN_PARTIAL)
            return true;
    return false;
}

void th_bounds_clear(th_bounds *b)
{
    th_free(b->unknown);
    b->unknown = NULL;
    b->n_unknown = 0;
}
