/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script_memo.c - see script_memo.h.
 *   find -> known | recorded as needed | (ask -> check -> known)
 *   fill -> for all recorded questions, in order: ask -> check -> known, or failed and stop
 *   renew -> the next find of every question asks again
 * Invariant: an answer never changes, so a caller may read the result of find without the lock; one
 * that is another after renew has an entry of its own, and the former stays until clear.
 * The memo calls the provider without holding the lock. */
#include <config.h>

#include "sim/design/script_memo.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

typedef enum { FORGOTTEN, NEEDED, KNOWN, FAILED } entry_state;

typedef struct {
    uint64_t digest;
    th_shard shard;
} entry_key;

typedef struct {
    entry_key key;
    entry_state state;
    int64_t round;               /* of the memo, when the state was set */
    th_script_question question; /* valid while NEEDED; its shard is key.shard */
    bool has_answer;             /* maybe of an earlier round */
    th_script_answer answer;
    th_error failure;
} entry;

struct th_script_memo {
    th_script_provider provider;
    pthread_mutex_t lock;
    th_map *numbers; /* by key */
    entry **entries; /* each allocated on its own, so that answers never move */
    size_t n, capacity;
    int64_t round; /* how often it was renewed */
    bool deferred;
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

static int ask(th_script_memo *m, const th_script_question *q, th_script_answer *out, th_error *err)
{
    th_script_answer answer = {.variant = "", .cannot = ""};
    th_error reason = {"", ""};
    if (m->provider.answer(m->provider.context, q, &answer, &reason) ||
        th_script_check(&answer, &reason))
        return add_context(q, &reason, err);
    *out = answer;
    return 0;
}

/* ---- the memo ---- */

th_script_memo *th_script_memo_new(const th_script_provider *p, th_error *err)
{
    th_script_memo *m = th_alloc_zero(1, sizeof *m);
    th_map *numbers = th_map_new();
    if (!m || !numbers) {
        th_error_no_memory(err);
        th_free(m);
        th_map_free(numbers);
        return NULL;
    }
    m->provider = *p;
    m->numbers = numbers;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void th_script_memo_clear(th_script_memo *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        th_free(m->entries[i]);
    m->n = 0;
    th_map_clear(m->numbers);
}

void th_script_memo_free(th_script_memo *m)
{
    if (!m)
        return;
    th_script_memo_clear(m);
    pthread_mutex_destroy(&m->lock);
    th_map_free(m->numbers);
    th_free(m->entries);
    th_free(m);
}

int64_t th_script_memo_count(const th_script_memo *m)
{
    int64_t known = 0;
    for (size_t i = 0; i < m->n; i++)
        known += m->entries[i]->state == KNOWN;
    return known;
}

int th_script_memo_digest(th_script_memo *m, const th_design_block *block, const char *procedure,
                          uint64_t *digest, th_error *err)
{
    uint64_t d;
    th_error reason = {"", ""};
    if (m->provider.identify(m->provider.context, procedure, &d, &reason))
        return th_error_set(err, reason.id, "%s:%d: design \"%s\": %s", block->file, block->line,
                            block->name, reason.text);
    d = th_hash_text(procedure, d);
    for (int i = 0; i < block->n_params; i++) {
        const th_param *p = &block->params[i];
        if (th_script_is_own_key(p->key))
            continue;
        d = th_hash(&p->number, sizeof p->number, th_hash_text(p->key, d));
        d = th_hash_text(p->text ? p->text : "", d + (uint64_t)p->kind);
    }
    *digest = d;
    return 0;
}

/* A new entry in the place of any other with the key. The caller holds the lock. NULL: out of
 * memory. */
static entry *new_entry(th_script_memo *m, const entry_key *key)
{
    if (th_grow(&m->entries, &m->capacity, m->n + 1, sizeof *m->entries))
        return NULL;
    entry *e = th_alloc_zero(1, sizeof *e);
    if (!e || th_map_put(m->numbers, key, sizeof *key, (int64_t)m->n)) {
        th_free(e);
        return NULL;
    }
    e->key = *key;
    m->entries[m->n++] = e;
    return e;
}

/* The entry of a key, FORGOTTEN if it is new or of an earlier round. The caller holds the lock.
 * NULL: out of memory. */
static entry *entry_of(th_script_memo *m, const entry_key *key)
{
    int64_t number;
    entry *e =
        th_map_get(m->numbers, key, sizeof *key, &number) ? m->entries[number] : new_entry(m, key);
    if (e && e->round != m->round) {
        e->state = FORGOTTEN;
        e->round = m->round;
    }
    return e;
}

static bool same_answer(const th_script_answer *a, const th_script_answer *b)
{
    bool same = strcmp(a->variant, b->variant) == 0 && strcmp(a->cannot, b->cannot) == 0;
    for (int i = 0; i < TH_SCRIPT_N_NUMBERS; i++)
        same &= a->has[i] == b->has[i] && a->number[i] == b->number[i];
    return same;
}

/* Asks the question of an entry in the provider's thread. Its entry from now on, KNOWN. NULL: err
 * is set. */
static entry *ask_for(th_script_memo *m, entry *e, const th_script_question *q, th_error *err)
{
    th_script_answer answer;
    if (ask(m, q, &answer, err))
        return NULL;
    if (e->has_answer && !same_answer(&e->answer, &answer) && !(e = new_entry(m, &e->key))) {
        th_error_no_memory(err);
        return NULL;
    }
    if (!e->has_answer)
        e->answer = answer;
    e->has_answer = true;
    e->round = m->round;
    e->state = KNOWN;
    return e;
}

static int fail_needed(const char *procedure, th_error *err)
{
    return th_error_set(err, "SIM-0090", "the answer of procedure %s is needed first", procedure);
}

static int fail_cannot(const char *procedure, const char *why, th_error *err)
{
    return th_error_set(err, "SIM-0097", "procedure %s cannot run it: %s", procedure, why);
}

/* The known answer. NULL without an error: the caller is to ask now. The caller holds the lock. */
static const th_script_answer *look_up(th_script_memo *m, entry *e, const th_script_question *q,
                                       th_error *err)
{
    if (e->state == KNOWN)
        return &e->answer;
    if (e->state == FAILED) {
        *err = e->failure;
    } else if (m->deferred) {
        e->state = NEEDED;
        e->question = *q;
        e->question.shard = &e->key.shard;
        fail_needed(q->procedure, err);
    }
    return NULL;
}

static const th_script_answer *fail(int status)
{
    (void)status;
    return NULL;
}

const th_script_answer *th_script_memo_find(th_script_memo *m, uint64_t digest,
                                            const th_script_question *q, th_error *err)
{
    entry_key key;
    memset(&key, 0, sizeof key);
    key.digest = digest;
    key.shard = *q->shard;
    th_error reason = {"", ""};
    pthread_mutex_lock(&m->lock);
    entry *e = entry_of(m, &key);
    const th_script_answer *found = e ? look_up(m, e, q, &reason) : NULL;
    pthread_mutex_unlock(&m->lock);
    if (!e)
        return fail(th_error_no_memory(err));
    if (reason.id[0] != '\0')
        return fail(th_error_set(err, reason.id, "%s", reason.text));
    if (!found) { /* not deferred, so no other thread calls find */
        if (!(e = ask_for(m, e, q, err)))
            return NULL;
        found = &e->answer;
    }
    if (found->cannot[0] != '\0')
        return fail(fail_cannot(q->procedure, found->cannot, err));
    return found;
}

void th_script_memo_renew(th_script_memo *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->round++;
    pthread_mutex_unlock(&m->lock);
}

/* ---- batches ---- */

void th_script_memo_defer(th_script_memo *m, bool deferred)
{
    if (!m)
        return;
    m->deferred = deferred;
    for (size_t i = 0; i < m->n; i++)
        if (m->entries[i]->state != KNOWN)
            m->entries[i]->state = FORGOTTEN;
}

static int compare_entries(const void *a, const void *b)
{
    return memcmp(&(*(entry *const *)a)->key, &(*(entry *const *)b)->key, sizeof(entry_key));
}

int th_script_memo_fill(th_script_memo *m, th_error *err)
{
    size_t n = 0;
    if (!m)
        return 0;
    entry **needed = th_alloc_array(m->n + 1, sizeof(entry *));
    if (!needed)
        return th_error_no_memory(err);
    for (size_t i = 0; i < m->n; i++)
        if (m->entries[i]->state == NEEDED)
            needed[n++] = m->entries[i];
    qsort(needed, n, sizeof(entry *), compare_entries);
    int failed = 0;
    for (size_t i = 0; !failed && i < n; i++) {
        failed = ask_for(m, needed[i], &needed[i]->question, &needed[i]->failure) ? 0 : -1;
        if (failed) {
            needed[i]->state = FAILED;
            th_error_set(err, needed[i]->failure.id, "%s", needed[i]->failure.text);
        }
    }
    th_free(needed);
    return failed;
}

bool th_script_is_needed(const th_error *err)
{
    th_error needed;
    fail_needed("", &needed);
    return strcmp(err->id, needed.id) == 0;
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
