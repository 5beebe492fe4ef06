/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_checkpoint.c - save_checkpoint, load_checkpoint: a run put aside, and taken up again.
 *
 * A run is deterministic. So a checkpoint holds no state of the machine, but what leads to it: the options of the
 * run, what was changed in it and when, and where it stands. Loading replays the program to there, at the
 * speed of any run, and compares digests: of the program, which tells of another system, workload or mapping,
 * and of everything that has happened, which tells of another simulator. */
#include <config.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"
#include "tcl/changes.h"
#include "tcl/watching.h"

#define GROUP "simulate"
#define MAGIC "tharsis checkpoint 1\n"

enum { LINE_MAX_BYTES = 1000 };

/* ---- digests ---- */

static uint64_t hash_number(uint64_t chain, int64_t number)
{
    return th_hash_word(chain, (uint64_t)number);
}

static uint64_t digest_system(const th_system *s)
{
    uint64_t d = hash_number(0, s->n_nodes);
    for (int i = 0; i < s->n_links; i++) {
        const th_link *l = &s->links[i];
        d = hash_number(hash_number(hash_number(d, l->from), l->to), l->latency_ps);
        d = hash_number(hash_number(d, l->medium), s->media[l->medium].bits_per_s);
    }
    return d;
}

/* What is run: tasks, what they take alone, and their order. */
static uint64_t digest_program(const th_system *s, const th_simulation *sim)
{
    const th_program *p = sim->program;
    const th_works *works = sim->lower != NULL ? th_lower_works(sim->lower) : sim->works;
    uint64_t d = digest_system(s);
    for (int32_t i = 0; i < p->n_tasks; i++) {
        const th_task *t = &p->tasks[i];
        int64_t alone = t->kind == TH_TASK_COMPUTE      ? th_works_get(works, t->work)->folded_ps
                        : t->kind == TH_TASK_COLLECTIVE ? p->collectives[t->work].bytes
                                                        : t->bytes;
        const int64_t words[] = {t->kind, t->node, t->peer, alone, t->release_ps, t->delay_ps, t->input};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            d = hash_number(d, words[k]);
        for (int32_t k = p->successor_start[i]; k < p->successor_start[i + 1]; k++)
            d = hash_number(d, p->successors[k]);
    }
    return d;
}

/* What has happened. */
static uint64_t digest_state(const th_system *s, const th_simulation *sim)
{
    const th_machine *m = sim->machine;
    const th_task_result *times = th_machine_times(m);
    uint64_t d = hash_number(hash_number(0, th_machine_now(m)), th_machine_events(m));
    for (int32_t i = 0; i < sim->program->n_tasks; i++) {
        d = hash_number(hash_number(d, times[i].start_ps), times[i].end_ps);
        d = hash_number(hash_number(d, times[i].ready_ps), times[i].cause);
    }
    for (int i = 0; i < s->n_links; i++) {
        th_link_result l = th_machine_link(m, i);
        d = hash_number(hash_number(hash_number(d, l.bytes), l.busy_ps), l.flow_ps);
    }
    for (int i = 0; i < s->n_accels; i++)
        d = hash_number(d, th_stats_occupied(&(th_pipeline_stats){
                               .busy_ps = th_machine_accel(m, i).did.busy_ps}));
    return d;
}

/* ---- saving ---- */

static void write_position(th_strbuf *b, th_position p)
{
    th_strbuf_printf(b, " %" PRId64 " %" PRId64 " %d", p.events, p.now, (int)p.is_whole);
}

static void write_options(th_strbuf *b, const th_run_options *o)
{
    const th_network_options *n = &o->network_options;
    th_strbuf_printf(b, "network %s %d %" PRId64 " %" PRId64 " %" PRId32 " %" PRId64 " %" PRId64 " %d\n",
                     o->network->name, (int)n->weigh_by_latency, n->packet_bytes, n->buffer_bytes,
                     n->n_virtual_channels, n->credit_delay_ps, n->router_delay_ps, (int)n->may_deadlock);
    th_strbuf_printf(b, "stream %" PRId32 " %" PRId64 " %" PRId32 " %" PRId32 "\n", o->stream.n_inputs,
                     o->stream.interval_ps, o->stream.micro_batches, o->stream.in_flight);
}

static int run_save_checkpoint(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    const th_simulation *sim = s->simulation;
    th_strbuf b = TH_STRBUF_INIT;
    th_strbuf_add(&b, MAGIC);
    write_options(&b, &sim->options);
    th_strbuf_printf(&b, "program %016" PRIx64 "\n", digest_program(s->system, sim));
    for (size_t i = 0; i < s->n_changes; i++) {
        const th_made_alteration *k = &s->changes[i];
        th_strbuf_printf(&b, "change %" PRId32 " %" PRId32 " %" PRId64 " %a %d", k->change.kind,
                         k->change.object, k->change.at, k->change.factor, (int)k->is_fault);
        write_position(&b, k->made);
        th_strbuf_add(&b, "\n");
    }
    th_strbuf_add(&b, "at");
    write_position(&b, th_position_of(sim));
    th_strbuf_printf(&b, "\nstate %016" PRIx64 "\n", digest_state(s->system, sim));
    int rc = b.failed ? th_error_no_memory(&c->err)
                      : th_session_write_file(s, th_call_word(c, 0), false, b.text, &c->err);
    th_strbuf_clear(&b);
    if (rc == 0)
        Tcl_SetObjResult(c->interp, c->words[0]);
    return rc;
}

/* ---- loading ---- */

/* Lines of which there must be one; any number of changes stands among them. */
enum { NETWORK, STREAM, PROGRAM, AT, STATE, N_KNOWN };

typedef struct checkpoint {
    th_run_options options;
    uint64_t program, state;
    th_position at;
    th_made_alteration *changes;
    size_t n_changes, capacity;
    bool is_known[N_KNOWN];
} checkpoint;

static int read_network(const char *line, checkpoint *k)
{
    char name[40];
    int weighs, may_deadlock;
    th_network_options *n = &k->options.network_options;
    if (sscanf(line, "network %39s %d %" SCNd64 " %" SCNd64 " %" SCNd32 " %" SCNd64 " %" SCNd64 " %d", name,
               &weighs, &n->packet_bytes, &n->buffer_bytes, &n->n_virtual_channels, &n->credit_delay_ps,
               &n->router_delay_ps, &may_deadlock) != 8)
        return -1;
    n->weigh_by_latency = weighs != 0;
    n->may_deadlock = may_deadlock != 0;
    k->options.network = th_network_find(name);
    return k->options.network != NULL ? 0 : -1;
}

static int read_change(const char *line, checkpoint *k)
{
    th_made_alteration c = {0};
    int is_fault, is_whole;
    if (sscanf(line, "change %" SCNd32 " %" SCNd32 " %" SCNd64 " %la %d %" SCNd64 " %" SCNd64 " %d",
               &c.change.kind, &c.change.object, &c.change.at, &c.change.factor, &is_fault, &c.made.events,
               &c.made.now, &is_whole) != 8 ||
        th_grow(&k->changes, &k->capacity, k->n_changes + 1, sizeof *k->changes) != 0)
        return -1;
    c.is_fault = is_fault != 0;
    c.made.is_whole = is_whole != 0;
    k->changes[k->n_changes++] = c;
    return 0;
}

static int read_stream(const char *line, th_stream *s)
{
    return sscanf(line, "stream %" SCNd32 " %" SCNd64 " %" SCNd32 " %" SCNd32, &s->n_inputs, &s->interval_ps,
                  &s->micro_batches, &s->in_flight) == 4 &&
                   s->n_inputs >= 1 && s->interval_ps >= 0 && s->micro_batches >= 1 && s->in_flight >= 0
               ? 0
               : -1;
}

static int read_position(const char *line, th_position *p)
{
    int is_whole;
    if (sscanf(line, "at %" SCNd64 " %" SCNd64 " %d", &p->events, &p->now, &is_whole) != 3)
        return -1;
    p->is_whole = is_whole != 0;
    return p->events >= 0 && p->now >= 0 ? 0 : -1;
}

/* All of its digits, the last thing on the line. */
static int read_digest(const char *digits, uint64_t *out)
{
    enum { N_DIGITS = 16, BASE = 16 };
    *out = strtoull(digits, NULL, BASE);
    return strspn(digits, "0123456789abcdef") == N_DIGITS ? 0 : -1;
}

/* Which of the lines that there must be; N_KNOWN: another one. */
static int which_of(const char *line)
{
    static const char *const names[N_KNOWN] = {"network ", "stream ", "program ", "at ", "state "};
    int which = 0;
    while (which < N_KNOWN && strncmp(line, names[which], strlen(names[which])) != 0)
        which++;
    return which;
}

static int read_line(const char *line, checkpoint *k)
{
    int which = which_of(line);
    if (which < N_KNOWN && k->is_known[which])
        return -1;
    if (which < N_KNOWN)
        k->is_known[which] = true;
    switch (which) {
    case NETWORK:
        return read_network(line, k);
    case STREAM:
        return read_stream(line, &k->options.stream);
    case PROGRAM:
        return read_digest(line + strlen("program "), &k->program);
    case AT:
        return read_position(line, &k->at);
    case STATE:
        return read_digest(line + strlen("state "), &k->state);
    default:
        return read_change(line, k);
    }
}

static bool is_complete(const checkpoint *k)
{
    for (int i = 0; i < N_KNOWN; i++)
        if (!k->is_known[i])
            return false;
    return true;
}

static int read_checkpoint(const char *path, checkpoint *k, th_error *err)
{
    char line[LINE_MAX_BYTES];
    int number = 1;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return th_error_set(err, "TCL-0413", "%s: cannot be opened", path);
    bool is_good = fgets(line, sizeof line, f) != NULL && strcmp(line, MAGIC) == 0;
    while (is_good && fgets(line, sizeof line, f) != NULL) {
        number++;
        is_good = read_line(line, k) == 0;
    }
    fclose(f);
    if (is_good && is_complete(k))
        return 0;
    return th_error_set(err, "TCL-0414", "%s:%d: not a checkpoint of this version, or cut off", path, number);
}

static int check_objects(const th_system *s, const checkpoint *k)
{
    for (size_t i = 0; i < k->n_changes; i++) {
        const th_alteration *c = &k->changes[i].change;
        int n = c->kind == TH_CHANGE_CLOCK ? s->n_accels : s->n_links;
        if (c->object < 0 || c->object >= n || (c->kind != TH_CHANGE_CLOCK && c->kind != TH_CHANGE_BANDWIDTH) ||
            !(c->factor >= 0 && c->factor <= TH_FACTOR_MAX))
            return -1;
    }
    return 0;
}

static int replay(th_call *c, th_simulation *sim, const checkpoint *k, const char *path)
{
    const th_system *s = c->session->system;
    if (check_objects(s, k) != 0 || digest_program(s, sim) != k->program)
        return th_error_set(&c->err, "TCL-0415",
                            "%s: is of another system, workload or mapping: read those first", path);
    for (size_t i = 0; i < k->n_changes; i++)
        if (th_position_reach(sim, k->changes[i].made, &c->err) != 0 ||
            th_machine_change(sim->machine, &k->changes[i].change, &c->err) != 0)
            return -1;
    if (th_position_reach(sim, k->at, &c->err) != 0)
        return -1;
    sim->has_begun = true;
    return digest_state(s, sim) == k->state
               ? 0
               : th_error_set(&c->err, "TCL-0416",
                              "%s: another run came of it: written by another version of the simulator", path);
}

static int load(th_call *c, checkpoint *k, const char *path)
{
    th_session *s = c->session;
    if (th_session_need_program(s, &c->err) != 0 || read_checkpoint(path, k, &c->err) != 0)
        return -1;
    th_simulation *fresh = th_session_new_simulation(s, &k->options, &c->err);
    if (fresh == NULL)
        return -1;
    if (replay(c, fresh, k, path) != 0) {
        th_simulation_free(fresh);
        return -1;
    }
    th_made_alteration *old = s->changes;
    s->changes = k->changes;
    s->n_changes = k->n_changes;
    s->change_capacity = k->capacity;
    k->changes = old;
    return th_session_keep_simulation(s, fresh, &c->err);
}

static int run_load_checkpoint(th_call *c)
{
    checkpoint k = {.n_changes = 0};
    const char *path = Tcl_FSGetNativePath(c->words[0]);
    int rc = load(c, &k, path != NULL ? path : "");
    th_free(k.changes);
    if (rc == 0)
        th_call_return_time(c, th_machine_now(c->session->simulation->machine));
    return rc;
}

const th_command th_checkpoint_commands[] = {
    {"save_checkpoint", GROUP, "FILE", 1, 1, NULL, "put the present run aside",
     "The options of the run, what set_property and inject_fault did, and where it stands. Returns FILE.",
     .run = run_save_checkpoint},
    {"load_checkpoint", GROUP, "FILE", 1, 1, NULL, "take a run up where it was put aside",
     "For the same system, workload and mapping, or program, which must have been read. The run is done again up "
     "to there, as quickly as any run, and compared: from then on it is the run that was saved, to the "
     "last bit. Breakpoints and an open trace see only what comes after. Returns the simulated time.",
     .run = run_load_checkpoint, .not_while_running = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS},
    {.name = NULL},
};
