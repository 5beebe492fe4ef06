/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.c - remote evaluation of mappings (worker.h).
 * Messages, all little-endian, with the bytes of each number:
 *   problem: format 4 bytes, system, workload, stream, network, goal
 *   chunk:   bound 8 bytes, mappings, then each of them
 *   answer:  per mapping a byte (th_answer), then its fitness, or the id and text of an error;
 *     at the end the counts of the segment memo, 4 x 8 bytes
 * Procedures of script designs exist only where their interpreter is: a mapping that needs one is
 * answered by TH_ANSWER_NEEDS_SCRIPT. */
#include <config.h>

#include "mapper/pool/worker.h"

#include <string.h>

#include "base/alloc.h"

enum { FORMAT = 2 };

struct th_worker {
    th_system *system;
    th_workload *workload;
    th_problem problem;
    th_script_memo *scripts;
    th_evaluator *evaluator; /* NULL: error says why */
    th_error error;
};

/* --- scripts --- */

static int identify(void *context, const char *procedure, uint64_t *digest, th_error *err)
{
    (void)context, (void)procedure, (void)err;
    *digest = 0;
    return 0;
}

/* --- life --- */

th_worker *th_worker_new(th_error *err)
{
    /* Calls are deferred, and never made. */
    static const th_script_provider no_provider = {NULL, identify, NULL};
    th_worker *w = th_alloc_zero(1, sizeof *w);
    if (!w) {
        th_error_no_memory(err);
        return NULL;
    }
    w->scripts = th_script_memo_new(&no_provider, err);
    if (w->scripts)
        return w;
    th_free(w);
    return NULL;
}

static void drop_problem(th_worker *w)
{
    th_evaluator_free(w->evaluator);
    th_script_memo_clear(w->scripts);
    th_workload_free(w->workload);
    th_system_free(w->system);
    w->evaluator = NULL;
    w->workload = NULL;
    w->system = NULL;
    w->error = (th_error){"", ""};
}

void th_worker_free(th_worker *w)
{
    if (!w)
        return;
    drop_problem(w);
    th_script_memo_free(w->scripts);
    th_free(w);
}

/* --- problems --- */

/* All but system and workload. */
static void rest(th_serializer *w, th_problem *p)
{
    th_serializer_stream(w, &p->stream);
    th_serializer_network(w, &p->network, &p->network_options);
    th_serializer_goal(w, &p->goal);
}

void th_worker_write_problem(th_serializer *out, const th_problem *p)
{
    int format = FORMAT;
    th_problem copy = *p;
    th_serializer_int(out, &format);
    th_serializer_write_system(out, p->system);
    th_serializer_write_workload(out, p->workload);
    rest(out, &copy);
}

static int read_problem(th_worker *w, const void *bytes, size_t n, th_error *err)
{
    int format = 0;
    th_serializer in = th_serializer_reader(bytes, n);
    th_serializer_int(&in, &format);
    if (in.failed || format != FORMAT)
        return th_error_set(err, "MAP-0109",
                            "bytes of a problem: have format %d; this program reads format %d",
                            format, FORMAT);
    w->system = th_serializer_read_system(&in, err);
    w->workload = w->system ? th_serializer_read_workload(&in, err) : NULL;
    if (!w->workload)
        return -1;
    w->problem = (th_problem){.system = w->system, .workload = w->workload, .scripts = w->scripts};
    rest(&in, &w->problem);
    return in.failed || in.at != in.end
               ? th_error_set(err, "MAP-0110", "serialised problem: truncated or damaged")
               : 0;
}

void th_worker_read_problem(th_worker *w, const void *bytes, size_t n)
{
    drop_problem(w);
    if (read_problem(w, bytes, n, &w->error) == 0)
        w->evaluator = th_evaluator_new(&w->problem, &w->error);
}

/* --- chunks --- */

void th_worker_write_chunk(th_serializer *out, th_mapping *const *mappings, const int *which, int n,
                           double bound)
{
    th_serializer_double(out, &bound);
    th_serializer_count(out, &n, INT32_MAX);
    for (int i = 0; i < n; i++)
        th_serializer_write_mapping(out, mappings[which[i]]);
}

static void write_error(th_serializer *out, const th_error *e)
{
    const char *id = e->id, *text = e->text;
    uint8_t failed = TH_ANSWER_FAILED;
    th_serializer_byte(out, &failed);
    th_serializer_text(out, &id);
    th_serializer_text(out, &text);
}

static void evaluate(th_worker *w, th_serializer *in, double bound, th_serializer *out)
{
    const th_serializer_limits limits = {w->system->n_accels, w->system->n_designs,
                                         w->workload->n_layers};
    th_fitness fitness;
    th_error e = {"", ""};
    th_mapping *m = th_serializer_read_mapping(in, &limits);
    int status = -1;
    if (m)
        status = th_evaluator_run(w->evaluator, m, bound, &fitness, &e);
    else
        th_error_set(&e, "MAP-0111", "serialised mapping: truncated or damaged, or out of memory");
    th_mapping_free(m);
    if (status < 0) {
        write_error(out, &e);
        return;
    }
    uint8_t kind = status > 0 ? TH_ANSWER_NEEDS_SCRIPT : TH_ANSWER_DONE;
    th_serializer_byte(out, &kind);
    if (status == 0)
        th_serializer_fitness(out, &fitness);
}

static void counts(th_serializer *w, th_segment_counts *c)
{
    th_serializer_int64(w, &c->evaluations);
    th_serializer_int64(w, &c->full_replays);
    th_serializer_int64(w, &c->lookups);
    th_serializer_int64(w, &c->replayed);
}

int th_worker_evaluate(th_worker *w, const void *bytes, size_t n, th_serializer *out)
{
    th_serializer in = th_serializer_reader(bytes, n);
    double bound = 0;
    int32_t count = 0;
    th_serializer_clear(out);
    *out = (th_serializer)TH_SERIALIZER_INIT;
    th_serializer_double(&in, &bound);
    th_serializer_count(&in, &count, n < INT32_MAX ? (int32_t)n : INT32_MAX);
    th_script_memo_defer(w->scripts, true);
    for (int i = 0; i < count; i++) {
        if (w->evaluator)
            evaluate(w, &in, bound, out);
        else
            write_error(out, &w->error);
    }
    th_script_memo_defer(w->scripts, false);
    th_segment_counts c = {0};
    if (w->evaluator)
        c = th_evaluator_segments(w->evaluator);
    counts(out, &c);
    return out->failed ? -1 : 0;
}

th_answer th_worker_read_answer(th_serializer *in, th_fitness *fitness, th_error *err)
{
    uint8_t kind = TH_ANSWER_DONE;
    const char *id = NULL, *text = NULL;
    th_serializer_byte(in, &kind);
    if (kind == TH_ANSWER_NEEDS_SCRIPT)
        return TH_ANSWER_NEEDS_SCRIPT;
    if (kind == TH_ANSWER_DONE)
        th_serializer_fitness(in, fitness);
    else
        th_serializer_text(in, &id), th_serializer_text(in, &text);
    if (in->failed)
        th_error_set(err, "MAP-0112", "serialised answer: truncated or damaged");
    else if (kind == TH_ANSWER_DONE)
        return TH_ANSWER_DONE;
    else
        th_error_set(err, id ? id : "", "%s", text ? text : "");
    return TH_ANSWER_FAILED;
}

void th_worker_read_counts(th_serializer *in, th_segment_counts *out)
{
    th_segment_counts c;
    counts(in, &c);
    if (!in->failed)
        *out = c;
}
