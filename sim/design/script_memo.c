/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script_memo.c - see script_memo.h.
 *   find -> known | ask -> check -> known
 * Invariant: a known answer never changes, so a caller may read the result of find without the
 * lock. The memo calls the provider without holding the lock. */
#include <config.h>

#include "sim/design/script_memo.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/shared_map.h"

typedef struct {
    uint64_t digest;
    th_shard shard;
} entry_key;

typedef struct entry {
    struct entry *next;
    th_script_answer answer;
} entry;

struct th_script_memo {
    th_script_provider provider;
    char *text; /* of the procedures */
    uint64_t text_digest;
    th_shared_map *known; /* th_script_answer by key */
    pthread_mutex_t lock; /* of the list */
    entry *entries;
};

/* ---- answers ---- */

const th_script_field th_script_fields[TH_SCRIPT_N_NUMBERS] = {
    [TH_SCRIPT_CYCLES] = {"cycles", true, true, 1, 1e15},
    [TH_SCRIPT_TILES] = {"tiles", false, true, 1, 1e6},
    [TH_SCRIPT_INPUT_BYTES] = {"input_bytes", false, true, 0, 1e15},
    [TH_SCRIPT_WEIGHT_BYTES] = {"weight_bytes", false, true, 0, 1e15},
    [TH_SCRIPT_OUTPUT_BYTES] = {"output_bytes", false, true, 0, 1e15},
    [TH_SCRIPT_MACS_PER_CYCLE] = {"macs_per_cycle", false, false, 1e-3, 1e12},
};

static int check_number(const th_script_answer *a, int i, th_error *err)
{
    const th_script_field *f = &th_script_fields[i];
    double v = a->number[i];
    if (!a->has[i])
        return f->required ? th_error_set(err, "SIM-0093",
                                          "its answer has no \"%s\": must be a dict "
                                          "with at least that",
                                          f->name)
                           : 0;
    if (v >= f->minimum && v <= f->maximum && (!f->is_whole || v == floor(v)))
        return 0;
    return th_error_set(err, "SIM-0094", "%s is %.15g: must be a %snumber in %g .. %g", f->name, v,
                        f->is_whole ? "whole " : "", f->minimum, f->maximum);
}

int th_script_check(const th_script_answer *a, th_error *err)
{
    if (a->cannot[0] != '\0')
        return 0;
    for (int i = 0; i < TH_SCRIPT_N_NUMBERS; i++)
        if (check_number(a, i, err))
            return -1;
    if (a->has[TH_SCRIPT_TILES] && a->number[TH_SCRIPT_TILES] > a->number[TH_SCRIPT_CYCLES])
        return th_error_set(err, "SIM-0095", "%.0f tiles in %.0f cycles: every tile must take one",
                            a->number[TH_SCRIPT_TILES], a->number[TH_SCRIPT_CYCLES]);
    return 0;
}

/* Adds the design, the procedure and the shard of the question to the reason. */
static int add_context(const th_script_question *q, const th_error *reason, th_error *err)
{
    static const char *const kinds[] = {
        [TH_LAYER_CONV] = "conv", [TH_LAYER_FC] = "fc", [TH_LAYER_MATMUL] = "matmul"};
    const int32_t *d = q->shard->dim;
    const char *kind = q->shard->kind <= TH_LAYER_MATMUL ? kinds[q->shard->kind] : "layer";
    return th_error_set(err, reason->id,
                        "design \"%s\": procedure %.60s (%s, batch %d, k %d, c %d, %d x %d, kernel "
                        "%d x %d): %s",
                        q->block->name, q->procedure, kind, (int)d[TH_DIM_B], (int)d[TH_DIM_K],
                        (int)d[TH_DIM_C], (int)d[TH_DIM_H], (int)d[TH_DIM_W], (int)d[TH_DIM_R],
                        (int)d[TH_DIM_S], reason->text);
}

/* ---- the memo ---- */

th_script_memo *th_script_memo_new(const th_script_provider *p, th_error *err)
{
    th_script_memo *m = th_alloc_zero(1, sizeof *m);
    th_shared_map *known = th_shared_map_new();
    if (!m || !known) {
        th_error_no_memory(err);
        th_free(m);
        th_shared_map_free(known);
        return NULL;
    }
    m->provider = *p;
    m->known = known;
    pthread_mutex_init(&m->lock, NULL);
    if (th_script_memo_set_text(m, "", err) == 0)
        return m;
    th_script_memo_free(m);
    return NULL;
}

void th_script_memo_clear(th_script_memo *m)
{
    if (!m)
        return;
    th_shared_map_clear(m->known);
    for (entry *e = m->entries, *next; e; e = next) {
        next = e->next;
        th_free(e);
    }
    m->entries = NULL;
}

void th_script_memo_leave(th_script_memo *m)
{
    if (m)
        m->provider.leave();
}

void th_script_memo_free(th_script_memo *m)
{
    if (!m)
        return;
    th_script_memo_clear(m);
    pthread_mutex_destroy(&m->lock);
    th_shared_map_free(m->known);
    th_free(m->text);
    th_free(m);
}

/* ---- procedures ---- */

int th_script_memo_set_text(th_script_memo *m, const char *text, th_error *err)
{
    size_t n = strlen(text) + 1;
    if (m->text && strcmp(m->text, text) == 0)
        return 0; /* other threads may read it */
    char *copy = th_alloc(n);
    if (!copy)
        return th_error_no_memory(err);
    th_free(m->text);
    m->text = memcpy(copy, text, n);
    m->text_digest = th_hash_text(text, 0);
    return 0;
}

const char *th_script_memo_text(th_script_memo *m, th_error *err)
{
    bool failed = m->provider.take_text && m->provider.take_text(m->provider.context, m, err);
    return failed ? NULL : m->text;
}

static uint64_t digest_of(const th_script_memo *m, const th_design_block *block,
                          const char *procedure)
{
    uint64_t d = th_hash_text(procedure, m->text_digest);
    for (int i = 0; i < block->n_params; i++) {
        const th_param *p = &block->params[i];
        if (th_script_is_own_key(p->key))
            continue;
        d = th_hash(&p->number, sizeof p->number, th_hash_text(p->key, d));
        d = th_hash_text(p->text ? p->text : "", d + (uint64_t)p->kind);
    }
    return d;
}

int th_script_memo_digest(th_script_memo *m, const th_design_block *block, const char *procedure,
                          uint64_t *digest, th_error *err)
{
    th_error reason = {"", ""};
    const char *text = th_script_memo_text(m, &reason);
    if (!text || m->provider.check(text, procedure, &reason))
        return th_error_set(err, reason.id, "%s:%d: design \"%s\": %s", block->file, block->line,
                            block->name, reason.text);
    *digest = digest_of(m, block, procedure);
    return 0;
}

/* ---- questions ---- */

static int ask(th_script_memo *m, const th_script_question *q, th_script_answer *out, th_error *err)
{
    th_error reason = {"", ""};
    if (m->provider.answer(m->provider.context, m->text, q, out, &reason) == 0 &&
        th_script_check(out, &reason) == 0)
        return 0;
    return add_context(q, &reason, err);
}

/* NULL: an error. */
static const th_script_answer *keep(th_script_memo *m, const entry_key *key,
                                    const th_script_answer *answer, th_error *err)
{
    entry *e = th_alloc_zero(1, sizeof *e);
    if (!e) {
        th_error_no_memory(err);
        return NULL;
    }
    e->answer = *answer;
    const th_script_answer *kept = th_shared_map_add(m->known, key, sizeof *key, &e->answer);
    if (kept == &e->answer) {
        pthread_mutex_lock(&m->lock);
        e->next = m->entries;
        m->entries = e;
        pthread_mutex_unlock(&m->lock);
    } else { /* another thread was faster */
        th_free(e);
    }
    if (!kept)
        th_error_no_memory(err);
    return kept;
}

static int fail_cannot(const char *procedure, const char *why, th_error *err)
{
    return th_error_set(err, "SIM-0097", "procedure %s cannot run it: %s", procedure, why);
}

/* NULL: an error. */
static const th_script_answer *ask_and_keep(th_script_memo *m, const entry_key *key,
                                            const th_script_question *q, th_error *err)
{
    th_script_answer answer = {.variant = "", .cannot = ""};
    if (key->digest != digest_of(m, q->block, q->procedure)) {
        th_error_set(err, "SIM-0090", "procedure %s: has changed, restart asks the new one",
                     q->procedure);
        return NULL;
    }
    return ask(m, q, &answer, err) ? NULL : keep(m, key, &answer, err);
}

const th_script_answer *th_script_memo_find(th_script_memo *m, uint64_t digest,
                                            const th_script_question *q, th_error *err)
{
    entry_key key;
    memset(&key, 0, sizeof key);
    key.digest = digest;
    key.shard = *q->shard;
    const th_script_answer *found = th_shared_map_find(m->known, &key, sizeof key);
    if (!found)
        found = ask_and_keep(m, &key, q, err);
    if (found && found->cannot[0] != '\0') {
        fail_cannot(q->procedure, found->cannot, err);
        return NULL;
    }
    return found;
}

bool th_script_is_cause(const th_error *err)
{
    static const char own[] = "SIM-009", interpreter[] = "TCL-";
    th_error cannot;
    fail_cannot("", "", &cannot);
    return (strncmp(err->id, own, sizeof own - 1) == 0 && strcmp(err->id, cannot.id) != 0) ||
           strncmp(err->id, interpreter, sizeof interpreter - 1) == 0 ||
           th_error_is_interrupted(err);
}
