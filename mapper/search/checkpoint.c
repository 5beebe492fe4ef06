/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checkpoint.c - digests for journals.
 * File names and the number of threads are left out, as results do not depend on them. A new
 * option that results depend on must be added to describe_search. */
#include <config.h>

#include "mapper/search/checkpoint.h"

#include <string.h>

#include "base/map.h"
#include "base/text_file.h"
#include "mapper/mapping_digest.h"
#include "mapper/serialize/serializer.h"
#include "sim/design/design.h"
#include "sim/design/script_memo.h"

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(th_search_options) == 112, "see describe_search");
#endif

enum { FILE_BYTES_MAX = 1 << 26 };

/* The digest of what was written; clears the serializer. */
static int digest_of(th_serializer *w, uint64_t *out, th_error *err)
{
    int failed = w->failed ? th_error_no_memory(err) : 0;
    *out = th_hash(w->out.text ? w->out.text : "", w->out.length, 0);
    th_serializer_clear(w);
    *w = (th_serializer){.skips_locations = true};
    return failed;
}

/* --- designs that read files or call scripts --- */

static const char *text_of(const th_design_block *b, const char *key)
{
    for (int i = 0; i < b->n_params; i++)
        if (strcmp(b->params[i].key, key) == 0 && b->params[i].text)
            return b->params[i].text;
    return "";
}

static int add_file(th_serializer *w, const th_design_block *b, th_error *err)
{
    const th_design_type *type;
    th_design_config config;
    if (th_design_configure(b, &type, &config, err))
        return -1;
    th_strbuf text = TH_STRBUF_INIT;
    int failed =
        type->file ? th_text_file_read(type->file(&config), FILE_BYTES_MAX, &text, err) : 0;
    if (!failed && type->file)
        th_serializer_bytes(w, text.text, text.length);
    th_strbuf_clear(&text);
    th_design_release(type, &config);
    return failed;
}

/* A missing procedure is reported when a mapping needs it. */
static int add_script(th_serializer *w, const th_problem *p, const th_design_block *b)
{
    uint64_t digest = 0;
    if (p->scripts)
        th_script_memo_digest(p->scripts, b, text_of(b, "procedure"), &digest, NULL);
    th_serializer_hash(w, &digest);
    return 0;
}

static int describe_designs(th_serializer *w, const th_problem *p, th_journal_header *out,
                            th_error *err)
{
    int failed = 0;
    for (int i = 0; !failed && i < p->system->n_designs; i++) {
        const th_design_block *b = &p->system->designs[i];
        failed = add_file(w, b, err);
        if (!failed && strcmp(b->type, "script") == 0)
            failed = add_script(w, p, b);
    }
    uint64_t *digest = &out->part[TH_JOURNAL_DESIGNS];
    return digest_of(w, digest, failed ? NULL : err) || failed ? -1 : 0;
}

/* --- problem and search --- */

static int describe_problem(th_serializer *w, const th_problem *p, th_journal_header *out,
                            th_error *err)
{
    th_problem copy = *p;
    th_serializer_write_system(w, p->system);
    if (digest_of(w, &out->part[TH_JOURNAL_SYSTEM], err))
        return -1;
    th_serializer_write_workload(w, p->workload);
    if (digest_of(w, &out->part[TH_JOURNAL_WORKLOAD], err))
        return -1;
    th_serializer_stream(w, &copy.stream);
    if (digest_of(w, &out->part[TH_JOURNAL_STREAM], err))
        return -1;
    if (!copy.network)
        copy.network = th_network_types[0];
    th_serializer_network(w, &copy.network, &copy.network_options);
    if (digest_of(w, &out->part[TH_JOURNAL_NETWORK], err))
        return -1;
    th_serializer_goal(w, &copy.goal);
    return digest_of(w, &out->part[TH_JOURNAL_OBJECTIVE], err);
}

static int describe_search(th_serializer *w, const th_search_type *type, const th_problem *p,
                           const th_search_options *o, th_journal_header *out, th_error *err)
{
    const char *name = type->name;
    uint64_t seed = type->is_baseline ? 0 : o->seed,
             constraints = th_constraints_digest(p->constraints);
    int initial = (int)(o->initial == TH_INITIAL_DEFAULT ? type->initial : o->initial);
    int steps = o->steps, chunks = o->chunks;
    bool is_basic = o->space == TH_SPACE_BASIC;
    bool inside = o->sets_inside_groups, keeps_late = o->keep_late;
    bool survives = o->survives;
    double most_loss = o->most_loss;
    double gap = o->stop_gap; /* the lower bound follows from the problem */
    th_serializer_text(w, &name);
    if (digest_of(w, &out->part[TH_JOURNAL_ALGORITHM], err))
        return -1;
    th_serializer_hash(w, &seed);
    if (digest_of(w, &out->part[TH_JOURNAL_SEED], err))
        return -1;
    th_serializer_bool(w, &inside);
    th_serializer_hash(w, &constraints);
    if (digest_of(w, &out->part[TH_JOURNAL_CONSTRAINTS], err))
        return -1;
    th_serializer_int(w, &steps);
    th_serializer_int(w, &chunks);
    th_serializer_int(w, &initial);
    th_serializer_bool(w, &keeps_late);
    th_serializer_double(w, &gap);
    if (is_basic)
        th_serializer_bool(w, &is_basic);
    if (survives) { /* else the digests of checkpoints without it */
        th_serializer_bool(w, &survives);
        th_serializer_double(w, &most_loss);
    }
    if (o->start)
        th_serializer_write_mapping(w, o->start);
    out->evaluations = o->evaluations;
    out->seconds = o->seconds;
    return digest_of(w, &out->part[TH_JOURNAL_OPTIONS], err);
}

int th_checkpoint_describe(const th_search_type *type, const th_problem *p,
                           const th_search_options *o, th_journal_header *out, th_error *err)
{
    th_serializer w = {.skips_locations = true};
    *out = (th_journal_header){0};
    return describe_problem(&w, p, out, err) || describe_search(&w, type, p, o, out, err) ||
                   describe_designs(&w, p, out, err)
               ? -1
               : 0;
}

uint64_t th_checkpoint_batch(th_mapping *const *mappings, int n, double bound)
{
    uint64_t digest = th_hash(&bound, sizeof bound, (uint64_t)n);
    for (int i = 0; i < n; i++) {
        th_mapping_digest d = th_mapping_digest_of(mappings[i]);
        digest = th_hash(d.half, sizeof d.half, digest);
    }
    return digest;
}
