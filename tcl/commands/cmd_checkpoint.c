/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_checkpoint.c - save_checkpoint, load_checkpoint: save and continue a run.
 *
 * A run is deterministic, so a checkpoint contains no state of the machine, but the inputs that
 * lead to it: the options of the run, its changes with their times, and its position. Loading first
 * compares a digest of the inputs (system, workload, mapping or program, options), then replays the
 * run up to the position, at the speed of any run, and compares a digest of all events, which
 * differs for another simulator or another procedure of a design. Files are not trusted: every
 * number is checked against the range that the commands allow. */
#include <config.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/files/open_file.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/map.h"
#include "sim/network/packet/packet.h"
#include "session/property_events.h"
#include "tcl/options.h"
#include "tcl/objects/breakpoint.h"

#define GROUP "simulate"
#define MAGIC "tharsis checkpoint 2\n"

enum { LINE_MAX_BYTES = 1000 };

/* ---- digests ---- */

static uint64_t hash_number(uint64_t chain, int64_t number)
{
    return th_hash_word(chain, (uint64_t)number);
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
                               .busy_ps = th_machine_accel(m, i).stats.busy_ps}));
    return d;
}

/* ---- saving ---- */

static void write_position(th_strbuf *b, th_run_position p)
{
    th_strbuf_printf(b, " %" PRId64 " %" PRId64 " %d", p.events, p.now, (int)p.is_time_complete);
}

static void write_options(th_strbuf *b, const th_run_options *o)
{
    const th_network_options *n = &o->network_options;
    th_strbuf_printf(b, "network %s %d %" PRId64 " %" PRId64 " %" PRId32 " %" PRId64 " %" PRId64,
                     o->network->name, (int)n->weigh_by_latency, n->packet_bytes, n->buffer_bytes,
                     n->n_virtual_channels, n->credit_delay_ps, n->router_delay_ps);
    th_strbuf_printf(b, " %" PRId64 " %" PRId32 " %" PRId64 " %d\n", n->terminal_bits_per_s,
                     n->n_crossbar_inputs, n->allocation_cycle_ps, (int)n->may_deadlock);
    th_strbuf_printf(b, "stream %" PRId32 " %" PRId64 " %" PRId32 " %" PRId32 "\n",
                     o->stream.n_inputs, o->stream.interval_ps, o->stream.micro_batches,
                     o->stream.in_flight);
}

/* A digest of the program and the options of the run; -1: memory is out. */
static int digest_run(const th_session *s, const th_run_options *o, uint64_t *out, th_error *err)
{
    enum { DIGEST_SIZE = 20 };
    char system[DIGEST_SIZE], workload[DIGEST_SIZE], mapping[DIGEST_SIZE];
    th_strbuf b = TH_STRBUF_INIT;
    int failed = th_session_input_digests(s, system, workload, sizeof system);
    th_session_digest(s, mapping, sizeof mapping);
    failed |= s->mapping && strcmp(mapping, "-") == 0; /* memory is out */
    th_strbuf_printf(&b, "%s %s %s\n", system, workload, mapping);
    write_options(&b, o);
    if (failed || b.failed)
        failed = th_error_no_memory(err);
    else
        *out = th_hash(b.text, b.length, 0);
    th_strbuf_clear(&b);
    return failed;
}

/* The command and the role of an event, in a number: by set_property; by inject_fault of a version
 * whose faults began and ended with changes like any other; a fault begins; it ends. */
enum { BY_SET_PROPERTY, BY_PLAIN_FAULT, BY_FAULT, BY_REPAIR };

static int by_of(const th_applied_event *c)
{
    return c->is_fault ? BY_PLAIN_FAULT + c->event.role : BY_SET_PROPERTY;
}

static int text_of_checkpoint(th_call *c, th_strbuf *b)
{
    th_session *s = c->session;
    const th_simulation *sim = s->simulation;
    uint64_t run;
    if (digest_run(s, &sim->options, &run, &c->err) != 0)
        return -1;
    th_strbuf_add(b, MAGIC);
    write_options(b, &sim->options);
    th_strbuf_printf(b, "program %016" PRIx64 "\n", run);
    for (size_t i = 0; i < s->events.n; i++) {
        const th_applied_event *k = &s->events.all[i];
        th_strbuf_printf(b, "change %" PRId32 " %" PRId32 " %" PRId64 " %a", k->event.kind,
                         k->event.object, k->event.at, k->event.factor);
        if (k->event.kind == TH_PROPERTY_JITTER)
            th_strbuf_printf(b, " %" PRIu64, k->event.seed);
        th_strbuf_printf(b, " %d", by_of(k));
        write_position(b, k->applied_at);
        th_strbuf_add(b, "\n");
    }
    th_strbuf_add(b, "at");
    write_position(b, th_run_position_of(sim));
    th_strbuf_printf(b, "\nstate %016" PRIx64 "\n", digest_state(s->system, sim));
    return 0;
}

/* ---- loading ---- */

/* Lines that must occur once; any number of property events may stand between them. */
enum { NETWORK, STREAM, PROGRAM, AT, STATE, N_KNOWN };

typedef struct checkpoint {
    th_run_options options;
    uint64_t program, state;
    th_run_position at;
    th_applied_event *changes;
    size_t n_changes, capacity;
    bool is_known[N_KNOWN];
} checkpoint;

/* The fields of a line from `at` on, a space between two. */
typedef struct fields {
    const char *at;
    bool failed; /* a field was missing or out of range */
} fields;

static int64_t next_whole(fields *f, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    long long number = strtoll(f->at, &end, 10);
    f->failed |= end == f->at || errno != 0 || number < least || number > most;
    f->at = end;
    return f->failed ? least : number;
}

static bool next_bool(fields *f)
{
    return next_whole(f, 0, 1) != 0;
}

/* The sign of -0 would go on into rates and clocks. */
static double next_factor(fields *f)
{
    char *end;
    double factor = strtod(f->at, &end);
    f->failed |= end == f->at || signbit(factor) || !(factor <= TH_FACTOR_MAX);
    f->at = end;
    return factor;
}

static th_run_position next_position(fields *f)
{
    th_run_position p;
    p.events = next_whole(f, 0, INT64_MAX);
    p.now = next_whole(f, 0, TH_TIME_MAX);
    p.is_time_complete = next_bool(f);
    return p;
}

/* 0 if all fields were valid and the line ends after them. */
static int last_field(const fields *f)
{
    return !f->failed && (*f->at == '\0' || strcmp(f->at, "\n") == 0) ? 0 : -1;
}

static const th_network_type *next_network(fields *f)
{
    char name[40];
    size_t n = strcspn(f->at, " \n");
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), f->at);
    f->at += n;
    return th_network_find(name);
}

static int read_network(fields f, th_run_options *o)
{
    th_network_options *n = &o->network_options;
    o->network = next_network(&f);
    n->weigh_by_latency = next_bool(&f);
    n->packet_bytes = next_whole(&f, 0, TH_PACKET_BYTES_MAX);
    n->buffer_bytes = next_whole(&f, 0, INT64_MAX);
    n->n_virtual_channels = (int32_t)next_whole(&f, 0, TH_PACKET_CHANNELS_MAX);
    n->credit_delay_ps = next_whole(&f, 0, TH_TIME_MAX);
    n->router_delay_ps = next_whole(&f, 0, TH_TIME_MAX);
    n->terminal_bits_per_s = next_whole(&f, 0, INT64_MAX);
    n->n_crossbar_inputs = (int32_t)next_whole(&f, 0, TH_PACKET_CROSSBAR_MAX);
    n->allocation_cycle_ps = next_whole(&f, 0, TH_TIME_MAX);
    n->may_deadlock = next_bool(&f);
    return o->network ? last_field(&f) : -1;
}

/* A repair ends the fault that was added right before it. */
static bool ends_the_last(const checkpoint *k, const th_applied_event *c)
{
    const th_applied_event *last = k->n_changes > 0 ? &k->changes[k->n_changes - 1] : NULL;
    return last && last->event.role == TH_PROPERTY_FAULT && last->event.kind == c->event.kind &&
           last->event.object == c->event.object && last->event.at < c->event.at &&
           last->applied_at.events == c->applied_at.events &&
           last->applied_at.now == c->applied_at.now;
}

static int read_change(fields f, checkpoint *k)
{
    th_applied_event c = {0};
    c.event.kind = (int32_t)next_whole(&f, TH_PROPERTY_BANDWIDTH, TH_PROPERTY_JITTER);
    c.event.object = (int32_t)next_whole(&f, 0, INT32_MAX);
    c.event.at = next_whole(&f, 0, TH_TIME_MAX);
    c.event.factor = next_factor(&f);
    if (c.event.kind == TH_PROPERTY_JITTER)
        c.event.seed = (uint64_t)next_whole(&f, 0, INT64_MAX);
    int by = (int)next_whole(&f, BY_SET_PROPERTY, BY_REPAIR);
    c.is_fault = by != BY_SET_PROPERTY;
    c.event.role = c.is_fault ? by - BY_PLAIN_FAULT : TH_PROPERTY_SET;
    c.applied_at = next_position(&f);
    if (last_field(&f) != 0 || (c.event.role == TH_PROPERTY_REPAIR && !ends_the_last(k, &c)) ||
        th_grow(&k->changes, &k->capacity, k->n_changes + 1, sizeof *k->changes) != 0)
        return -1;
    k->changes[k->n_changes++] = c;
    return 0;
}

static int read_stream(fields f, th_stream *s)
{
    s->n_inputs = (int32_t)next_whole(&f, 1, TH_STREAM_PARTS_MAX);
    s->interval_ps = next_whole(&f, 0, TH_TIME_MAX);
    s->micro_batches = (int32_t)next_whole(&f, 1, TH_STREAM_PARTS_MAX);
    s->in_flight = (int32_t)next_whole(&f, 0, INT32_MAX);
    return last_field(&f);
}

static int read_position(fields f, th_run_position *p)
{
    *p = next_position(&f);
    return last_field(&f);
}

/* A digest in full, the last field of a line. */
static int read_digest(const char *digits, uint64_t *out)
{
    enum { N_DIGITS = 16, BASE = 16 };
    *out = strtoull(digits, NULL, BASE);
    return strspn(digits, "0123456789abcdef") == N_DIGITS ? 0 : -1;
}

/* Which of the required lines it is; N_KNOWN: another one. *f: the fields after its name. */
static int which_of(const char *line, fields *f)
{
    static const char *const names[] = {"network ", "stream ", "program ",
                                        "at ",      "state ",  "change "};
    for (int which = 0; which <= N_KNOWN; which++) {
        size_t n = strlen(names[which]);
        *f = (fields){line + n, false};
        if (strncmp(line, names[which], n) == 0)
            return which;
    }
    *f = (fields){"", true};
    return N_KNOWN;
}

static int read_line(const char *line, checkpoint *k)
{
    fields f;
    int which = which_of(line, &f);
    if (which < N_KNOWN && k->is_known[which])
        return -1;
    if (which < N_KNOWN)
        k->is_known[which] = true;
    switch (which) {
    case NETWORK:
        return read_network(f, &k->options);
    case STREAM:
        return read_stream(f, &k->options.stream);
    case PROGRAM:
        return read_digest(f.at, &k->program);
    case AT:
        return read_position(f, &k->at);
    case STATE:
        return read_digest(f.at, &k->state);
    default:
        return read_change(f, k);
    }
}

/* Runs go forward only. */
static bool is_in_order(const checkpoint *k)
{
    for (size_t i = 0; i < k->n_changes; i++) {
        th_run_position next = i + 1 < k->n_changes ? k->changes[i + 1].applied_at : k->at;
        if (k->changes[i].applied_at.events > next.events ||
            k->changes[i].applied_at.now > next.now)
            return false;
    }
    return true;
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
    FILE *f = th_file_stream(path);
    if (!f)
        return th_error_set(err, "TCL-0413", "%s: cannot be opened", path);
    bool is_good = fgets(line, sizeof line, f) && strcmp(line, MAGIC) == 0;
    while (is_good && fgets(line, sizeof line, f)) {
        number++;
        is_good = read_line(line, k) == 0;
    }
    fclose(f);
    if (is_good && is_complete(k) && is_in_order(k))
        return 0;
    return th_error_set(err, "TCL-0414", "%s:%d: not a checkpoint of this version, or cut off",
                        path, number);
}

static bool has_objects(const th_system *s, const checkpoint *k)
{
    for (size_t i = 0; i < k->n_changes; i++) {
        const th_property_event *c = &k->changes[i].event;
        if (c->object >= (th_property_is_of_link(c->kind) ? s->n_links : s->n_accels))
            return false;
    }
    return true;
}

/* Checked before lowering, which can take long. */
static int check_run(const th_session *s, const checkpoint *k, const char *path, th_error *err)
{
    uint64_t run;
    if (digest_run(s, &k->options, &run, err) != 0)
        return -1;
    if (run == k->program && has_objects(s->system, k))
        return 0;
    return th_error_set(
        err, "TCL-0415",
        "%s: belongs to another system, workload or mapping (read those first), or was edited",
        path);
}

static int replay(th_call *c, th_simulation *sim, const checkpoint *k, const char *path)
{
    for (size_t i = 0; i < k->n_changes; i++)
        if (th_run_to_position(sim, k->changes[i].applied_at, &c->err) != 0 ||
            th_machine_add_property_event(sim->machine, &k->changes[i].event, &c->err) != 0)
            return -1;
    if (th_run_to_position(sim, k->at, &c->err) != 0)
        return -1;
    sim->has_begun = true;
    return digest_state(c->session->system, sim) == k->state
               ? 0
               : th_error_set(&c->err, "TCL-0416",
                              "%s: its run gave another result: from another version of the "
                              "simulator, or procedures of designs have changed since",
                              path);
}

static void swap_changes(th_session *s, checkpoint *k)
{
    checkpoint old = {
        .changes = s->events.all, .n_changes = s->events.n, .capacity = s->events.capacity};
    s->events.all = k->changes;
    s->events.n = k->n_changes;
    s->events.capacity = k->capacity;
    s->events.n_kept = 0;
    k->changes = old.changes;
    k->n_changes = old.n_changes;
    k->capacity = old.capacity;
}

static int load(th_call *c, checkpoint *k, const char *path)
{
    th_session *s = c->session;
    if (th_session_need_program(s, &c->err) != 0 || read_checkpoint(path, k, &c->err) != 0 ||
        check_run(s, k, path, &c->err) != 0)
        return -1;
    th_simulation *fresh = th_session_new_simulation(s, &k->options, &c->err);
    if (!fresh)
        return -1;
    if (replay(c, fresh, k, path) != 0) {
        th_simulation_free(fresh);
        return -1;
    }
    swap_changes(s, k);
    if (th_session_keep_simulation(s, fresh, &c->err) == 0) {
        th_session_take_network(s, &k->options);
        return 0;
    }
    swap_changes(s, k);
    return -1;
}

static int run_load_checkpoint(th_call *c)
{
    checkpoint k = {.n_changes = 0};
    const char *path = Tcl_FSGetNativePath(c->words[0]);
    int failed = load(c, &k, path ? path : "");
    th_free(k.changes);
    if (!failed)
        th_call_return_time(c, th_machine_now(c->session->simulation->machine));
    return failed;
}

const th_command th_checkpoint_commands[] = {
    {"save_checkpoint", GROUP, "FILE", 1, 1, NULL, "save the state of the present run to a file",
     "The file has the options of the run, the changes by set_property and inject_fault, and the "
     "simulated time. Returns FILE.",
     .text = text_of_checkpoint, .needs = {th_session_need_run}},
    {"load_checkpoint", GROUP, "FILE", 1, 1, NULL, "continue a run from a saved state",
     "Read the same system, workload and mapping, or program, first. The run is simulated again up "
     "to the saved state and compared with it, so that it continues identically to the last bit. "
     "Breakpoints and an open trace see later events only. Returns the simulated time.",
     .run = run_load_checkpoint, .not_while_running = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS},
    {.name = NULL},
};
