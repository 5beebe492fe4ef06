/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.c - remote evaluation of mappings (worker.h).
 * Messages, all little-endian, with the bytes of each number:
 *   problem: format 4 bytes, system, workload, procedures of script designs, stream, network, goal
 *   chunk:   bound 8 bytes, mappings, then each of them
 *   answer:  per mapping a byte, has it failed? then its fitness, or the id and text of an error;
 *     at the end the counts of the segment memo, 4 x 8 bytes
 * After a mapping that fails, the rest of its chunk fails with the same error. */
#include <config.h>

#include "mapper/pool/worker.h"

#include <string.h>

#include "base/alloc.h"

enum { FORMAT = 4 };

struct th_worker {
    th_system *system;
    th_workload *workload;
    th_problem problem;
    th_script_memo *scripts;
    th_evaluator *evaluator; /* NULL: error says why */
    th_error error;
};

/* --- life --- */

th_worker *th_worker_new(const th_script_provider *scripts, th_error *err)
{
    th_worker *w = th_alloc_zero(1, sizeof *w);
    if (!w) {
        th_error_no_memory(err);
        return NULL;
    }
    w->scripts = th_script_memo_new(scripts, err);
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

int th_worker_write_problem(th_serializer *out, const th_problem *p, th_error *err)
{
    int format = FORMAT;
    th_problem copy = *p;
    const char *procedures = p->scripts ? th_script_memo_text(p->scripts, err) : "";
    if (!procedures)
        return -1;
    th_serializer_int(out, &format);
    if (th_serializer_send_system(out, p->system, err) != 0 ||
        th_serializer_send_workload(out, p->workload, err) != 0)
        return -1;
    th_serializer_text(out, &procedures);
    rest(out, &copy);
    return out->failed ? th_error_no_memory(err) : 0;
}

static int read_problem(th_worker *w, const void *bytes, size_t n, th_error *err)
{
    int format = 0;
    const char *procedures = NULL;
    th_serializer in = th_serializer_reader(bytes, n);
    th_serializer_int(&in, &format);
    if (in.failed || format != FORMAT)
        return th_error_set(err, "MAP-0109",
                            "bytes of a problem: have format %d; this program reads format %d",
                            format, FORMAT);
    w->system = th_serializer_receive_system(&in, err);
    w->workload = w->system ? th_serializer_receive_workload(&in, err) : NULL;
    if (!w->workload)
        return -1;
    w->problem = (th_problem){.system = w->system, .workload = w->workload, .scripts = w->scripts};
    th_serializer_text(&in, &procedures);
    rest(&in, &w->problem);
    return in.failed || in.at != in.end || !procedures
               ? th_error_set(err, "MAP-0110", "serialised problem: truncated or damaged")
               : th_script_memo_set_text(w->scripts, procedures, err);
}

void th_worker_read_problem(th_worker *w, const void *bytes, size_t n)
{
    drop_problem(w);
    if (read_problem(w, bytes, n, &w->error) == 0)
        w->evaluator = th_evaluator_new(&w->problem, &w->error);
}

/* --- chunks --- */

void th_worker_write_chunk(th_serializer *out, th_mapping *const *mappings, int n, double bound)
{
    th_serializer_double(out, &bound);
    th_serializer_count(out, &n, INT32_MAX);
    for (int i = 0; i < n; i++)
        th_serializer_write_mapping(out, mappings[i]);
}

static void write_error(th_serializer *out, const th_error *e)
{
    const char *id = e->id, *text = e->text;
    bool failed = true;
    th_serializer_bool(out, &failed);
    th_serializer_text(out, &id);
    th_serializer_text(out, &text);
}

static int evaluate(th_worker *w, th_serializer *in, double bound, th_fitness *fitness,
                    th_error *err)
{
    const th_serializer_limits limits = {w->system->n_accels, w->system->n_designs,
                                         w->workload->n_layers};
    th_mapping *m = th_serializer_read_mapping(in, &limits);
    if (!m)
        return th_error_set(err, "MAP-0111",
                            "serialised mapping: truncated or damaged, or out of memory");
    int failed = th_evaluator_run(w->evaluator, m, bound, fitness, err);
    th_mapping_free(m);
    return failed;
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
    th_error e = w->error;
    bool failed = !w->evaluator;
    for (int i = 0; i < count; i++) {
        th_fitness fitness;
        failed = failed || evaluate(w, &in, bound, &fitness, &e);
        if (failed) {
            write_error(out, &e);
        } else {
            th_serializer_bool(out, &failed);
            th_serializer_fitness(out, &fitness);
        }
    }
    th_segment_counts c = {0};
    if (w->evaluator)
        c = th_evaluator_segments(w->evaluator);
    counts(out, &c);
    return out->failed ? -1 : 0;
}

int th_worker_read_answer(th_serializer *in, th_fitness *fitness, th_error *err)
{
    bool failed = false;
    const char *id = NULL, *text = NULL;
    th_serializer_bool(in, &failed);
    if (!failed)
        th_serializer_fitness(in, fitness);
    else
        th_serializer_text(in, &id), th_serializer_text(in, &text);
    if (in->failed)
        return th_error_set(err, "MAP-0112", "serialised answer: truncated or damaged");
    return failed ? th_error_set(err, id ? id : "", "%s", text ? text : "") : 0;
}

void th_worker_read_counts(th_serializer *in, th_segment_counts *out)
{
    th_segment_counts c;
    counts(in, &c);
    if (!in->failed)
        *out = c;
}
