/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.c - what a session has: its parts, its program, its digests. session_parts.c makes,
 * replaces and frees its parts. */
#include <config.h>
#include "session/session.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/map.h"
#include "mapper/serialize/serializer.h"
#include "training/step_precision.h"

int th_session_need_front(th_session *s, th_error *err)
{
    if (th_session_need_mapping(s, err) != 0)
        return -1;
    if (s->search.front)
        return 0;
    return th_error_set(
        err, "TCL-0256",
        "no Pareto front: map_workload -objective {pareto latency energy} finds one");
}

th_problem th_session_problem(const th_session *s, const th_system *system, const th_run_options *o)
{
    return (th_problem){
        .system = system,
        .workload = s->workload,
        .stream = o->stream.n_inputs > 0 ? o->stream : th_stream_single,
        .network = o->network,
        .network_options = o->network_options,
        .scripts = s->scripts,
    };
}

const th_training_step *th_session_step(const th_session *s)
{
    return s->hand_built ? s->hand_built->step : NULL;
}

int th_session_need_system(th_session *s, th_error *err)
{
    return s->system
               ? 0
               : th_error_set(err, "TCL-0020", "no system yet: read_system or create_system first");
}

int th_session_need_workload(th_session *s, th_error *err)
{
    if (s->workload)
        return 0;
    if (s->hand_built)
        return th_error_set(err, "TCL-0152",
                            "the program \"%s\" is hand-built and has neither workload nor "
                            "mapping: read_workload%s takes its place",
                            s->hand_built->name,
                            s->model.name[0] ? " or create_transformer -forward" : "");
    return th_error_set(err, "TCL-0021", "no workload yet: read_workload%s first",
                        s->model.name[0] ? ", or create_transformer -forward," : "");
}

int th_session_need_problem(th_session *s, th_error *err)
{
    return th_session_need_system(s, err) != 0 ? -1 : th_session_need_workload(s, err);
}

int th_session_need_mapping(th_session *s, th_error *err)
{
    if (th_session_need_problem(s, err) != 0)
        return -1;
    return s->mapping ? 0
                      : th_error_set(err, "TCL-0022",
                                     "no mapping yet: map_workload or read_mapping first");
}

int th_session_need_program(th_session *s, th_error *err)
{
    if (!s->hand_built && s->system && !s->workload)
        return th_error_set(
            err, "TCL-0185",
            "nothing to run yet: read_workload and map_workload, or create_program first");
    if (!s->hand_built)
        return th_session_need_mapping(s, err);
    if (s->hand_built->program->n_tasks > 0)
        return 0;
    return th_error_set(err, "TCL-0153",
                        "the program \"%s\" has no tasks yet: add_transfer or add_collective first",
                        s->hand_built->name);
}

int th_session_need_run(th_session *s, th_error *err)
{
    if (th_session_need_program(s, err) != 0)
        return -1;
    if (s->simulation && s->simulation->has_begun)
        return 0;
    return th_error_set(err, "TCL-0023", "nothing has run yet: run or step first");
}

int th_session_need_every_rank(th_session *s, th_error *err)
{
    if (!s->hand_built || !s->hand_built->step || !s->hand_built->step->is_merged)
        return 0;
    return th_error_set(err, "TCL-0929",
                        "one rank stands for all %d of its stage, and messages take what the plan "
                        "gave them: parallel_plan -merge 0 simulates every rank and link",
                        (int)th_plan_stage_ranks(&s->hand_built->step->plan));
}

int th_session_need_no_trace(th_session *s, th_error *err)
{
    if (!s->trace)
        return 0;
    return th_error_set(err, "TCL-0024",
                        "a trace of what is simulated now is open: close_trace first");
}

const th_program *th_session_program(const th_session *s)
{
    if (s->hand_built && !(s->hand_built->trace && s->simulation))
        return s->hand_built->program;
    return s->simulation ? s->simulation->program : NULL;
}

const th_collective *th_session_collective(const th_session *s, int32_t number)
{
    return s->simulation ? th_simulation_collective(s->simulation, number)
                         : &s->hand_built->program->collectives[number];
}

char *th_session_digest(const th_session *s, char *out, size_t size)
{
    th_strbuf text = TH_STRBUF_INIT;
    snprintf(out, size, "-");
    if (s->hand_built)
        snprintf(out, size, "%016" PRIx64, th_hand_built_digest(s->hand_built));
    if (s->mapping) {
        th_mapping_write(s->mapping, s->system, s->workload, &text);
        if (text.text && !text.failed)
            snprintf(out, size, "%016" PRIx64, th_hash(text.text, text.length, 0));
    }
    th_strbuf_clear(&text);
    return out;
}

char *th_session_precision(const th_session *s, char *out, size_t size)
{
    unsigned found = 0;
    size_t n = 0;
    if (s->hand_built && s->hand_built->step) {
        snprintf(out, size, "%s", th_step_precisions[s->hand_built->step->plan.precision].name);
        return out;
    }
    out[0] = '\0';
    for (int l = 0; s->workload && l < s->workload->n_layers; l++)
        for (int t = 0; t < TH_N_TENSORS; t++)
            found |= 1u << s->workload->layers[l].precision[t];
    for (int p = 0; p < TH_N_PRECISIONS && n < size; p++)
        if (found >> p & 1)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? "/" : "",
                                  th_precision_name((th_precision)p));
    return out;
}

static int digest_of(th_serializer *w, char *out, size_t size)
{
    bool failed = w->failed || w->out.failed;
    snprintf(out, size, "%016" PRIx64, th_hash(w->out.text ? w->out.text : "", w->out.length, 0));
    th_serializer_clear(w);
    return failed ? -1 : 0;
}

int th_session_input_digests(const th_session *s, char *system, char *workload, size_t size)
{
    th_serializer a = TH_SERIALIZER_INIT, b = TH_SERIALIZER_INIT;
    th_serializer_write_system(&a, s->system);
    int failed = digest_of(&a, system, size);
    snprintf(workload, size, "-");
    if (!s->workload)
        return failed;
    th_serializer_write_workload(&b, s->workload);
    return digest_of(&b, workload, size) != 0 ? -1 : failed;
}
