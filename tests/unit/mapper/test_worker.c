/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "mapper/pool/worker.h"
#include "tests/unit/pool_help.h"
#include "tests/unit/tap.h"

enum { MAPPINGS = 20 };

static th_system *sys;
static th_workload *net;
static th_problem problem;
static th_mapping *mappings[MAPPINGS];

static void make_mappings(void)
{
    auto_rng *r = th_random_stream(9, "worker", 0);
    for (int i = 0; i < MAPPINGS; i++)
        mappings[i] = random_mapping_on(r, i % 3 ? "0213" : "01 23", net);
}

/* The text of the procedures is the number of cycles of every shard; "x": the procedure fails. */
static int check(const char *text, const char *procedure, th_error *err)
{
    return text[0] ? 0 : th_error_set(err, "gone", "there is no %s", procedure);
}

static int answer_cycles(void *context, const char *text, const th_script_question *q,
                         th_script_answer *out, th_error *err)
{
    (void)context, (void)q;
    out->has[TH_SCRIPT_CYCLES] = true;
    out->number[TH_SCRIPT_CYCLES] = atof(text);
    return text[0] == 'x' ? th_error_set(err, "SIM-0094", "it fails") : 0;
}

static void leave(void)
{
}

static const th_script_provider scripts = {.check = check, .answer = answer_cycles, .leave = leave};

static th_worker *worker_with(const th_problem *p)
{
    th_worker *w = th_worker_new(&scripts, NULL);
    auto_serializer bytes = TH_SERIALIZER_INIT;
    CU_ASSERT_EQUAL(th_worker_write_problem(&bytes, p, NULL), 0);
    th_worker_read_problem(w, bytes.out.text, bytes.out.length);
    return w;
}

/* The answer to a chunk of the first n. */
static th_serializer answer_of(th_worker *w, int n, double bound)
{
    th_serializer chunk = TH_SERIALIZER_INIT, answer = TH_SERIALIZER_INIT;
    th_worker_write_chunk(&chunk, mappings, n, bound);
    CU_ASSERT_EQUAL(th_worker_evaluate(w, chunk.out.text, chunk.out.length, &answer), 0);
    th_serializer_clear(&chunk);
    return answer;
}

static void assert_as_here(th_worker *w, const th_problem *p, double bound)
{
    auto_evaluator *here = th_evaluator_new(p, NULL);
    auto_serializer answer = answer_of(w, MAPPINGS, bound);
    th_serializer in = th_serializer_reader(answer.out.text, answer.out.length);
    for (int i = 0; i < MAPPINGS; i++) {
        th_fitness got = {0}, expected;
        CU_ASSERT_EQUAL(th_worker_read_answer(&in, &got, NULL), 0);
        CU_ASSERT_EQUAL(th_evaluator_run(here, mappings[i], bound, &expected, NULL), 0);
        CU_ASSERT_TRUE(got.fit == expected.fit && got.value == expected.value);
        CU_ASSERT_TRUE(got.fit != TH_FIT ||
                       (got.metrics.latency_ps == expected.metrics.latency_ps &&
                        got.metrics.interval_ps == expected.metrics.interval_ps));
    }
    th_segment_counts counts = {0}, same = th_evaluator_segments(here);
    th_worker_read_counts(&in, &counts);
    CU_ASSERT_TRUE(in.at == in.end && !in.failed);
    CU_ASSERT_TRUE(counts.lookups >= same.lookups && counts.evaluations >= same.evaluations);
    th_worker_read_counts(&in, &same); /* no more bytes: stays */
    CU_ASSERT_TRUE(in.failed && same.lookups == th_evaluator_segments(here).lookups);
}

TEST(answers_are_those_from_here)
{
    auto_worker *w = worker_with(&problem);
    assert_as_here(w, &problem, INFINITY);
    assert_as_here(w, &problem, 2e6);
}

/* The stream, the network and the goal travel too, and a problem takes the place of the one before.
 */
TEST(all_of_the_problem_travels)
{
    th_problem other = problem;
    other.stream = (th_stream){.n_inputs = 3, .interval_ps = 777, .micro_batches = 1};
    other.network = th_network_find("ideal");
    other.goal.objective = TH_OBJECTIVE_THROUGHPUT;
    other.goal.deadline_ps = 1000000;
    auto_worker *w = worker_with(&problem);
    th_serializer bytes = TH_SERIALIZER_INIT;
    th_worker_write_problem(&bytes, &other, NULL);
    th_worker_read_problem(w, bytes.out.text, bytes.out.length);
    th_serializer_clear(&bytes);
    assert_as_here(w, &other, INFINITY);
}

/* --- what goes wrong -------------------------------------------------------------------------- */

static void assert_answers(th_worker *w, const char *id)
{
    auto_serializer answer = answer_of(w, 2, INFINITY);
    th_serializer in = th_serializer_reader(answer.out.text, answer.out.length);
    for (int i = 0; i < 2; i++) {
        th_error e = {"", ""};
        th_fitness f;
        CU_ASSERT_EQUAL(th_worker_read_answer(&in, &f, &e), -1);
        TAP_ASSERT_TEXT(e.id, id);
    }
}

TEST(a_bad_problem_is_the_answer)
{
    auto_worker *w = th_worker_new(&scripts, NULL);
    auto_serializer bytes = TH_SERIALIZER_INIT;
    th_worker_write_problem(&bytes, &problem, NULL);
    th_worker_read_problem(w, bytes.out.text, bytes.out.length - 1);
    assert_answers(w, "MAP-0110");
    th_worker_read_problem(w, bytes.out.text, bytes.out.length - 300);
    assert_answers(w, "MAP-0101");
    const char format = bytes.out.text[0];
    bytes.out.text[0] = 77;
    th_worker_read_problem(w, bytes.out.text, bytes.out.length);
    assert_answers(w, "MAP-0109");
    bytes.out.text[0] = format;
    th_worker_read_problem(w, bytes.out.text, bytes.out.length);
    assert_as_here(w, &problem, INFINITY);
}

TEST(damaged_chunks_and_answers_are_told)
{
    auto_worker *w = worker_with(&problem);
    auto_serializer chunk = TH_SERIALIZER_INIT, answer = TH_SERIALIZER_INIT;
    th_error e = {"", ""};
    th_fitness f;
    th_worker_write_chunk(&chunk, mappings, 1, INFINITY);
    CU_ASSERT_EQUAL(th_worker_evaluate(w, chunk.out.text, chunk.out.length - 1, &answer), 0);
    th_serializer in = th_serializer_reader(answer.out.text, answer.out.length);
    CU_ASSERT_EQUAL(th_worker_read_answer(&in, &f, &e), -1);
    TAP_ASSERT_TEXT(e.id, "MAP-0111");
    CU_ASSERT_EQUAL(th_worker_read_answer(&in, &f, &e), -1);
    TAP_ASSERT_TEXT(e.id, "MAP-0112");
}

/* The text of the procedures travels, and a new problem brings a new one; where one fails, so does
 * the rest of the chunk. */
TEST(procedures_answer_there)
{
    static const char text[] =
        "name = \"t\"; designs = ( { name = \"d\"; type = \"script\"; procedure = \"p\"; clock = "
        "\"1GHz\"; } ); accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth = \"10GB/s\"; "
        "latency = \"1ns\"; burst = \"1B\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = "
        "1; "
        "}; designs = [\"d\"]; } ); topology = { type = \"ring\"; dims = [4]; bandwidth = "
        "\"8Gbps\"; "
        "latency = \"100ns\"; };";
    th_problem p = problem;
    auto_system *s = system_of(text);
    p.system = s;
    p.scripts = th_script_memo_new(&scripts, NULL);
    th_worker *w = th_worker_new(&scripts, NULL);
    for (int cycles = 1000; cycles < 100000; cycles *= 9) {
        char number[20];
        snprintf(number, sizeof number, "%d", cycles);
        th_script_memo_clear(p.scripts);
        th_script_memo_set_text(p.scripts, number, NULL);
        th_serializer bytes = TH_SERIALIZER_INIT;
        CU_ASSERT_EQUAL(th_worker_write_problem(&bytes, &p, NULL), 0);
        th_worker_read_problem(w, bytes.out.text, bytes.out.length);
        th_serializer_clear(&bytes);
        assert_as_here(w, &p, INFINITY);
    }
    th_worker_free(w);
    th_script_memo_set_text(p.scripts, "x", NULL);
    w = worker_with(&p);
    assert_answers(w, "SIM-0094");
    th_worker_free(w);
    th_script_memo_set_text(p.scripts, "", NULL);
    w = worker_with(&p);
    assert_answers(w, "gone");
    th_worker_free(w);
    th_script_memo_free(p.scripts);
}

static void make_all(void)
{
    sys = ring_of_four();
    net = three_layers();
    problem = (th_problem){.system = sys, .workload = net, .stream = th_stream_single};
    make_mappings();
}

TAP_MAIN_WITH("worker", make_all)
