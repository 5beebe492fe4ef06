/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map.c - the head of every report, and the tables of a mapping. */
#include <config.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "session/property_event_list.h"
#include "session/sections/sections.h"

/* ---- head ---- */

/* NULL: a hand-built program has none. */
static const char *algorithm_of(const th_session *s)
{
    if (s->hand_built)
        return NULL;
    return !s->mapping ? "-" : s->search.type ? s->search.type->name : "file";
}

static void head_lines(th_session *s, th_report *r, const char *digest)
{
    char text[400], seed[60] = "", precision[60];
    if (s->system) {
        th_print(text, sizeof text, "%.200s, %d accelerator%s, %d link%s", s->system->name,
                 s->system->n_accels, s->system->n_accels == 1 ? "" : "s", s->system->n_links,
                 s->system->n_links == 1 ? "" : "s");
        th_report_head_line(r, "system", text);
    }
    if (s->workload) {
        th_session_precision(s, precision, sizeof precision);
        th_print(text, sizeof text, "%.200s, %d layer%s, batch %d, %s", s->workload->name,
                 s->workload->n_layers, s->workload->n_layers == 1 ? "" : "s",
                 (int)s->workload->batch, precision);
        th_report_head_line(r, "workload", text);
    }
    if (s->hand_built) {
        th_print(text, sizeof text, "%.200s, %d task%s, %s", s->hand_built->name,
                 (int)s->hand_built->program->n_tasks,
                 s->hand_built->program->n_tasks == 1 ? "" : "s", digest);
        th_report_head_line(r, "program", text);
    }
    if (s->mapping) {
        if (s->search.type && !s->search.type->is_baseline)
            snprintf(seed, sizeof seed, ", seed %" PRIu64, s->search.seed);
        snprintf(text, sizeof text, "%s, by %s%s", digest, algorithm_of(s), seed);
        th_report_head_line(r, "mapping", text);
    }
}

/* ", 3 inputs"; a hand-built program has no stream. */
static void describe_inputs(const th_simulation *sim, char *out, size_t size)
{
    int n = (int)sim->options.stream.n_inputs;
    snprintf(out, size, ", %d input%s", n, n == 1 ? "" : "s");
    if (!sim->lower)
        out[0] = '\0';
}

static void head_run_line(th_session *s, th_report *r)
{
    char text[400], time[64], network[TH_NETWORK_TEXT_MAX], inputs[40];
    const th_simulation *sim = s->simulation;
    if (!sim || !sim->has_begun)
        return;
    bool is_done = th_machine_is_done(sim->machine);
    describe_inputs(sim, inputs, sizeof inputs);
    const th_run_options ran = th_simulation_ran(sim);
    snprintf(text, sizeof text, "%s network%s%s, %s at %s", ran.network->name,
             th_network_describe_options(&ran, network, sizeof network), inputs,
             is_done ? "done" : "stopped",
             th_format_time(th_machine_now(sim->machine), time, sizeof time));
    th_report_head_line(r, "run", text);
}

static void head_fields(th_session *s, th_report *r, const char *digest)
{
    const th_simulation *sim = s->simulation;
    char network[TH_NETWORK_TEXT_MAX];
    const th_run_options run = sim ? th_simulation_ran(sim) : s->defaults;
    bool is_found = s->mapping && s->search.type && !s->search.type->is_baseline;
    th_report_head_field(r, "version", th_text(PACKAGE_VERSION));
    th_report_head_field(r, "system", th_text(s->system ? s->system->name : NULL));
    th_report_head_field(r, "workload", th_text(s->workload ? s->workload->name : NULL));
    th_report_head_field(r, "batch",
                         s->workload ? th_count(s->workload->batch) : th_absent(TH_KIND_COUNT));
    th_report_head_field(r, "program", th_text(s->hand_built ? s->hand_built->name : NULL));
    th_report_head_field(r, "program_digest", th_text(s->hand_built ? digest : NULL));
    th_report_head_field(r, "mapping", th_text(s->hand_built ? NULL : digest));
    th_report_head_field(r, "algorithm", th_text(algorithm_of(s)));
    th_report_head_field(r, "seed",
                         is_found ? th_count((int64_t)s->search.seed) : th_absent(TH_KIND_COUNT));
    th_report_head_field(r, "network", th_text(th_network_describe(&run, network, sizeof network)));
    th_report_head_field(r, "inputs", th_count(run.stream.n_inputs));
    th_report_head_field(r, "interval", th_ps(run.stream.interval_ps));
    th_report_head_field(r, "micro_batches", th_count(run.stream.micro_batches));
}

/* Property events: a line in text, a list in CSV and JSON. */
static void head_changes(const th_session *s, th_report *r)
{
    th_property_event_list *changes = th_property_event_list_of(s);
    th_table *t = th_report_head_table(r, "changes", th_property_event_list_columns);
    th_strbuf line = TH_STRBUF_INIT;
    if (changes)
        th_property_event_list_add_line(changes, TH_HEAD_WIDTH, &line);
    if (line.text)
        th_report_head_line(r, "changes", line.text);
    for (int i = 0; changes && i < changes->n; i++) {
        th_quantity cells[TH_PROPERTY_EVENT_LIST_COLUMNS];
        th_property_event_list_cells(&changes->all[i], cells);
        th_table_row(t, cells);
    }
    r->failed |= !changes || line.failed;
    th_strbuf_clear(&line);
    th_property_event_list_free(changes);
}

/* Wherever a time of a step stands. */
static void head_unmeasured(const th_session *s, th_report *r)
{
    th_strbuf said = TH_STRBUF_INIT;
    th_hand_built_describe_unmeasured(s->hand_built, &said);
    if (said.text) {
        th_report_head_line(r, "held against", said.text);
        th_report_head_field(r, "held_against", th_text(said.text));
    }
    th_strbuf_clear(&said);
}

int th_section_head(th_session *s, th_report *r, th_error *err)
{
    char digest[20];
    (void)err;
    th_session_digest(s, digest, sizeof digest);
    head_lines(s, r, digest);
    head_run_line(s, r);
    head_changes(s, r);
    th_report_head_line(r, "version", "tharsis " PACKAGE_VERSION);
    head_fields(s, r, digest);
    head_unmeasured(s, r);
    return 0;
}
