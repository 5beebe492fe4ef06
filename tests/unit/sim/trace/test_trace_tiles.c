/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_trace_tiles.c - what a trace shows inside tasks is the same whether the machine steps
 * through all of the run or only where the trace looks, from whatever state of a task. */
#include <config.h>
#include "sim/observe/event_recorder.h"
#include "sim/trace/trace.h"
#include "base/alloc.h"
#include "sim/machine/machine.h"
#include "tests/unit/random_program.h"
#include "tests/unit/stepping.h"
#include "tests/unit/tap.h"
#include <unistd.h>

/* The lines of a file. Where several objects change at an instant, their order is that of hearing
 * of them, which depends on how the machine runs: so lines are sorted. */
typedef struct lines {
    char *text, **line;
    size_t n;
} lines;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static lines sorted_lines(const char *path)
{
    lines l = {0};
    FILE *f = fopen(path, "r");
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    l.text = th_alloc_zero(size + 1, 1);
    l.line = th_alloc_zero(size + 1, sizeof *l.line);
    CU_ASSERT_EQUAL(fread(l.text, 1, size, f), size);
    fclose(f);
    for (char *at = strtok(l.text, "\n"); at; at = strtok(NULL, "\n"))
        l.line[l.n++] = at;
    qsort(l.line, l.n, sizeof *l.line, by_text);
    return l;
}

static void clear(lines *l)
{
    th_free(l->text);
    th_free(l->line);
}

static int differs(const lines *a, lines b)
{
    int wrong = a->n != b.n;
    for (size_t i = 0; !wrong && i < a->n; i++)
        wrong = strcmp(a->line[i], b.line[i]) != 0;
    clear(&b);
    return wrong;
}

static const char path[] = "test_trace_tiles.txt";
static const char *format = "csv"; /* of lines */

static th_trace *open_trace(const world *w, const th_trace_options *o)
{
    th_trace *t = th_trace_open(path, th_trace_find(format), o, w->system, NULL, NULL);
    for (int a = 0; a < w->system->n_accels; a++)
        th_trace_add(t, TH_TRACED_ACCEL, a, th_signals_of(TH_TRACED_ACCEL, true));
    return t;
}

/* Who looks beside the trace: nobody; one who sees all of the run tile by tile; a recorder of
 * stalls that is attached and detached now and then. */
typedef enum { ALONE, BESIDE_STEPPING, BESIDE_OTHERS } company;

static void run(const world *w, th_machine *m, th_trace *t, bool others_look)
{
    th_event_recorder recorder;
    th_stop stop = TH_STOP_UNTIL;
    th_event_recorder_init(&recorder);
    th_trace_observer(t)->next = &recorder.observer;
    while (stop == TH_STOP_UNTIL || stop == TH_STOP_OBSERVER) {
        if (others_look && pick(w->random, 0, 20) == 0) {
            recorder.kinds = pick(w->random, 0, 1) ? 1u << TH_RECORD_STALL : 0;
            CU_ASSERT_EQUAL(th_machine_observe(m, th_trace_observer(t), NULL), 0);
        }
        stop =
            th_machine_run_until(m, others_look ? th_machine_now(m) + 3000000 : TH_TIME_MAX, NULL);
        th_event_recorder_forget(&recorder, NULL);
    }
    CU_ASSERT_EQUAL(stop, TH_STOP_DONE);
    th_machine_observe(m, NULL, NULL);
    th_event_recorder_clear(&recorder);
}

static lines traced(const world *w, const th_trace_options *o, company who)
{
    th_observer stepping = {.type = &stepping_type};
    th_trace *t = open_trace(w, o);
    th_machine *m = th_machine_new(w->system, w->costs, NULL, NULL);
    CU_ASSERT_EQUAL(th_machine_load(m, w->program, NULL), 0);
    stepping.next = th_trace_observer(t);
    CU_ASSERT_EQUAL(
        th_machine_observe(m, who == BESIDE_STEPPING ? &stepping : th_trace_observer(t), NULL), 0);
    run(w, m, t, who == BESIDE_OTHERS);
    CU_ASSERT_EQUAL(th_trace_close(t, NULL), 0);
    th_machine_free(m);
    lines l = sorted_lines(path);
    unlink(path);
    return l;
}

/* However it is run, and in whatever window. At a coarse resolution periods are jumped. */
static void all_modes_show_the_same_on(uint64_t seed, int64_t dram_bits_per_s)
{
    static const th_trace_options windows[] = {
        {.until_ps = TH_TIME_MAX},
        {.resolution_ps = 1000000, .until_ps = TH_TIME_MAX},
        {.since_ps = 50000000, .until_ps = 150000000, .resolution_ps = 1000},
    };
    auto_world w = new_world(seed, dram_bits_per_s);
    int wrong = 0;
    size_t n = 0;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        random_program(&w, 80);
        lines all = traced(&w, &windows[i], BESIDE_STEPPING);
        wrong += differs(&all, traced(&w, &windows[i], ALONE));
        wrong += differs(&all, traced(&w, &windows[i], BESIDE_OTHERS));
        n += all.n;
        clear(&all);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(n > 1000);
}

/* The same tasks again and again, each time when all of the time before have ended: so what happens
 * comes again to the picosecond. */
static void repeat_program(world *w, int times)
{
    const th_program *once = w->program;
    th_program *all = th_program_new(NULL);
    int32_t gate = -1;
    for (int k = 0; k < times; k++) {
        int32_t first = all->n_tasks;
        for (int32_t i = 0; i < once->n_tasks; i++) {
            th_task t = once->tasks[i];
            t.release_ps = 0;
            CU_ASSERT_EQUAL(th_program_add(all, &t, NULL), first + i);
            if (gate >= 0)
                th_program_depend(all, first + i, gate, NULL);
        }
        for (int i = 0; i < n_edges; i++)
            th_program_depend(all, first + edges[i][0], first + edges[i][1], NULL);
        gate = th_program_add(
            all, &(th_task){.kind = TH_TASK_HOST, .node = -1, .peer = -1, .layer = -1}, NULL);
        for (int32_t i = first; i < gate; i++)
            th_program_depend(all, gate, i, NULL);
    }
    CU_ASSERT_EQUAL(th_program_finish(all, NULL), 0);
    th_program_free(w->program);
    w->program = all;
}

static void repeated_tasks_show_the_same_on(uint64_t seed, int64_t dram_bits_per_s)
{
    static const th_trace_options windows[] = {
        {.until_ps = TH_TIME_MAX},
        {.resolution_ps = 1000, .until_ps = TH_TIME_MAX},
        {.resolution_ps = 10, .until_ps = TH_TIME_MAX},
        {.since_ps = 30000000, .until_ps = 800000000},
    };
    auto_world w = new_world(seed, dram_bits_per_s);
    random_program(&w, 12);
    repeat_program(&w, 8);
    size_t n = 0;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        lines all = traced(&w, &windows[i], BESIDE_STEPPING);
        CU_ASSERT_EQUAL(differs(&all, traced(&w, &windows[i], ALONE)), 0);
        CU_ASSERT_EQUAL(differs(&all, traced(&w, &windows[i], BESIDE_OTHERS)), 0);
        n += all.n;
        clear(&all);
    }
    CU_ASSERT_TRUE(n > 1000);
}

TEST(repeated_tasks_show_the_same)
{
    repeated_tasks_show_the_same_on(76, 0);
    repeated_tasks_show_the_same_on(78, 40000000000);
}

/* Its times stand alone, once for all that changes at a tick. */
TEST(repeated_tasks_show_the_same_in_vcd)
{
    format = "vcd";
    repeated_tasks_show_the_same_on(79, 0);
    repeated_tasks_show_the_same_on(80, 40000000000);
    format = "csv";
}

TEST(all_modes_show_the_same)
{
    all_modes_show_the_same_on(71, 0);
}

/* Flows could saturate a DRAM as soon as a cable is in use: engines and flows share it then. */
TEST(all_modes_show_the_same_with_contended_drams)
{
    all_modes_show_the_same_on(72, 40000000000);
    all_modes_show_the_same_on(73, 56000000000);
}

TAP_MAIN("trace_tiles")
