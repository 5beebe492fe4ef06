/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <stdatomic.h>
#include "mapper/pool/pool.h"
#include "sim/design/script_memo.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/design_help.h"
#include "tests/unit/pool_help.h"

/* A provider without an interpreter: cycles for 64 multiply-accumulates each, in 4 tiles. */
typedef struct {
    atomic_int calls;
    int fails_on; /* output channels of shards that fail; 0: none */
    int version;  /* of the procedure */
    bool is_gone;
    th_script_answer answer; /* where cycles are given, said to every question */
    double rows;             /* the parameter, of the last question */
} fake;

static int take_text(void *context, th_script_memo *m, th_error *err)
{
    const fake *f = context;
    char text[20];
    snprintf(text, sizeof text, "%s%d", f->is_gone ? "-" : "", f->version);
    return th_script_memo_set_text(m, text, err);
}

static int check(const char *text, const char *procedure, th_error *err)
{
    return text[0] == '-' ? th_error_set(err, "gone", "there is no %s", procedure) : 0;
}

static int answer(void *context, const char *text, const th_script_question *q,
                  th_script_answer *out, th_error *err)
{
    fake *f = context;
    (void)text;
    atomic_fetch_add(&f->calls, 1);
    for (int i = 0; i < q->block->n_params; i++)
        if (strcmp(q->block->params[i].key, "rows") == 0)
            f->rows = q->block->params[i].number;
    if (q->shard->dim[TH_DIM_K] == f->fails_on)
        return th_error_set(err, "SIM-0094", "it fails");
    if (f->answer.has[TH_SCRIPT_CYCLES]) {
        *out = f->answer;
        return 0;
    }
    out->number[TH_SCRIPT_CYCLES] = ceil((double)th_shard_macs(q->shard) / 64) + 4;
    out->number[TH_SCRIPT_TILES] = 4;
    out->has[TH_SCRIPT_CYCLES] = out->has[TH_SCRIPT_TILES] = true;
    return 0;
}

static void leave(void)
{
}

static th_script_memo *memo_of(fake *f)
{
    const th_script_provider provider = {f, take_text, check, answer, leave};
    return th_script_memo_new(&provider, NULL);
}

#define SCRIPT "type = \"script\"; procedure = \"p\"; clock = \"100MHz\"; "

static void set(th_script_answer *a, th_script_number n, double value)
{
    a->has[n] = true;
    a->number[n] = value;
}

/* The work of a shard on a system of one design, whose script says f->answer. */
static th_compute_cost work_on(const char *keys, fake *f, const th_shard *shard, th_error *e)
{
    auto_system *s = system_with(keys);
    auto_costs *w = th_compute_cost_cache_new(s, e);
    auto_script_memo *m = memo_of(f);
    th_compute_cost out = {.design = -2};
    if (w && th_compute_cost_set_scripts(w, m, e) == 0 &&
        th_compute_cost_lookup(w, 0, 0, shard, e) == 0)
        out = *th_compute_cost_get(w, 0);
    out.schedule.variant = NULL; /* the memo's */
    return out;
}

/* 1 x 1 kernel, 8 x 4 x 16 pixels, K 6, C 10, tiles of one row of 16: tiled loads 10 x 16 inputs
 * and all 60 weights in each of 8 steps, computes 16 cycles, stores 6 x 16. Said in totals, it is
 * the same schedule and takes as long. */
TEST(totals_equal_the_tiled_schedule)
{
    th_shard s = conv_shard(1, 6, 10, 8, 16, 1);
    fake f = {0};
    set(&f.answer, TH_SCRIPT_CYCLES, 8 * 16);
    set(&f.answer, TH_SCRIPT_TILES, 8);
    set(&f.answer, TH_SCRIPT_WEIGHT_BYTES, 8 * 60 * 2);
    th_compute_cost said =
        work_on(SCRIPT "input_port = 7; weight_port = 3; output_port = 2;", &f, &s, NULL);
    th_compute_cost tiled =
        work_on("type = \"tiled\"; clock = \"100MHz\"; tile_k = 6; tile_c = 10; tile_h = 1; "
                "tile_w = 16; input_port = 7; weight_port = 3; output_port = 2;",
                &f, &s, NULL);
    CU_ASSERT_EQUAL(memcmp(said.schedule.step, tiled.schedule.step, sizeof said.schedule.step), 0);
    CU_ASSERT_EQUAL(memcmp(said.schedule.output_bytes, tiled.schedule.output_bytes,
                           sizeof said.schedule.output_bytes),
                    0);
    CU_ASSERT_TRUE(said.collapsed_ps == tiled.collapsed_ps && said.collapsed_ps > 8 * 16 * 10000);
    CU_ASSERT_EQUAL(memcmp(&said.collapsed, &tiled.collapsed, sizeof said.collapsed), 0);
}

/* 103 cycles and 1 input byte in 10 tiles: 9 of 10 cycles and a last one of 13, which loads the
 * byte. */
TEST(the_last_tile_has_the_remainders)
{
    th_shard s = conv_shard(2, 7, 5, 4, 4, 3);
    fake f = {0};
    set(&f.answer, TH_SCRIPT_CYCLES, 103);
    set(&f.answer, TH_SCRIPT_TILES, 10);
    set(&f.answer, TH_SCRIPT_INPUT_BYTES, 1);
    set(&f.answer, TH_SCRIPT_MACS_PER_CYCLE, 12.5);
    th_compute_cost w = work_on(SCRIPT "slots = 3;", &f, &s, NULL);
    th_schedule_totals t = th_schedule_sum(&w.schedule);
    assert_step(&w.schedule, 0, 0, 7 * 5 * 9 * 2 / 10, 10, 2 * 7 * 16 * 2 / 10);
    CU_ASSERT_TRUE(w.schedule.step[TH_LAST_H].cycles == 13 &&
                   w.schedule.step[TH_LAST_H].input_bytes == 1);
    CU_ASSERT_TRUE(t.cycles == 103 && t.input_bytes == 1 && t.weight_bytes == 7 * 5 * 9 * 2 &&
                   t.output_bytes == 2 * 7 * 16 * 2);
    CU_ASSERT_TRUE(w.schedule.slots_in == 3 && w.schedule.slots_out == 3);
    CU_ASSERT_EQUAL(w.schedule.macs_per_cycle, 12.5);
    CU_ASSERT_EQUAL(w.collapsed.busy_ps, 103 * 10000);
}

/* Groups touch their own channels alone; the second operand of a matmul has a matrix for every
 * image. */
TEST(tensors_left_out_move_once)
{
    th_shard s = conv_shard(3, 8, 12, 5, 6, 3);
    s.groups = 4;
    s.precision[TH_TENSOR_WEIGHT] = TH_INT8;
    CU_ASSERT_EQUAL(th_script_tensor_bytes(&s, TH_TENSOR_INPUT), 3 * 12 * 7 * 8 * 2);
    CU_ASSERT_EQUAL(th_script_tensor_bytes(&s, TH_TENSOR_WEIGHT), 8 * 3 * 9);
    CU_ASSERT_EQUAL(th_script_tensor_bytes(&s, TH_TENSOR_OUTPUT), 3 * 8 * 30 * 2);
    th_shard product = conv_shard(3, 8, 12, 5, 1, 1);
    product.kind = TH_LAYER_MATMUL;
    product.n_operands = 2;
    CU_ASSERT_EQUAL(th_script_tensor_bytes(&product, TH_TENSOR_WEIGHT), 3 * 8 * 12 * 2);
}

/* All bytes zero: nothing but cycles. */
TEST(no_bytes_take_no_time)
{
    th_shard s = conv_shard(1, 6, 10, 8, 16, 1);
    fake f = {0};
    set(&f.answer, TH_SCRIPT_CYCLES, 77);
    for (int n = TH_SCRIPT_INPUT_BYTES; n <= TH_SCRIPT_OUTPUT_BYTES; n++)
        set(&f.answer, (th_script_number)n, 0);
    CU_ASSERT_EQUAL(work_on(SCRIPT, &f, &s, NULL).collapsed_ps, 77 * 10000);
}

/* ---- what is wrong ---- */

TEST(answers_are_checked)
{
    static const struct {
        th_script_number field;
        double value;
        const char *id, *text;
    } wrong[] = {
        {TH_SCRIPT_CYCLES, 0, "SIM-0094", "cycles is 0: must be a whole number in 1 .. 1e+15"},
        {TH_SCRIPT_CYCLES, -5, "SIM-0094", "cycles is -5"},
        {TH_SCRIPT_CYCLES, 2.5, "SIM-0094", "cycles is 2.5"},
        {TH_SCRIPT_CYCLES, 1e16, "SIM-0094", "cycles is 1e+16"},
        {TH_SCRIPT_CYCLES, NAN, "SIM-0094", "cycles is nan"},
        {TH_SCRIPT_TILES, 0, "SIM-0094", "tiles is 0: must be a whole number in 1 .. 1e+06"},
        {TH_SCRIPT_TILES, 101, "SIM-0095", "101 tiles in 100 cycles: every tile must take one"},
        {TH_SCRIPT_OUTPUT_BYTES, -1, "SIM-0094", "output_bytes is -1"},
        {TH_SCRIPT_MACS_PER_CYCLE, 0, "SIM-0094",
         "macs_per_cycle is 0: must be a number in 0.001 .. 1e+12"},
    };
    th_shard s = conv_shard(1, 6, 10, 8, 16, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        th_error e = {"", ""};
        fake f = {0};
        set(&f.answer, TH_SCRIPT_CYCLES, 100);
        set(&f.answer, wrong[i].field, wrong[i].value);
        CU_ASSERT_EQUAL(work_on(SCRIPT, &f, &s, &e).design, -2);
        CU_ASSERT_STRING_EQUAL(e.id, wrong[i].id);
        CU_ASSERT_PTR_NOT_NULL(strstr(e.text, wrong[i].text));
        CU_ASSERT_PTR_NOT_NULL(strstr(e.text,
                                      "design \"d\": procedure p (conv, batch 1, k 6, c 10, "
                                      "8 x 16, kernel 1 x 1): "));
        CU_ASSERT_TRUE(th_script_is_cause(&e));
    }
    th_script_answer none = {.has = {[TH_SCRIPT_TILES] = true}, .number = {[TH_SCRIPT_TILES] = 2}};
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_script_check(&none, &e), -1);
    CU_ASSERT_STRING_EQUAL(e.id, "SIM-0093");
}

/* Others are refused (keys.refused). */
TEST(its_keys_are_known)
{
    auto_system *s =
        system_with(SCRIPT "time_limit = \"1ms\"; rows = 3; block = \"x\"; fast = true;");
    CU_ASSERT_EQUAL(th_design_check_system(s, NULL), 0);
}

TEST(someone_must_answer)
{
    auto_system *s = system_with(SCRIPT);
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    th_shard shard = conv_shard(1, 6, 10, 8, 16, 1);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 0, &shard, &e), -1);
    CU_ASSERT_STRING_EQUAL(e.id, "SIM-0092");
    fake f = {.is_gone = true};
    auto_script_memo *m = memo_of(&f);
    CU_ASSERT_EQUAL(th_compute_cost_set_scripts(w, m, &e), -1);
    CU_ASSERT_STRING_EQUAL(e.text, "test:1: design \"d\": there is no p");
}

/* A refusal is an answer: it is not asked for again, and no fault of the script. */
TEST(a_refusal_is_an_answer)
{
    fake f = {.answer = {.cannot = "no kernels of one"}};
    set(&f.answer, TH_SCRIPT_CYCLES, 0);
    auto_script_memo *m = memo_of(&f);
    auto_system *s = system_with(SCRIPT);
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    th_shard shard = conv_shard(1, 6, 10, 8, 16, 1);
    CU_ASSERT_EQUAL(th_compute_cost_set_scripts(w, m, NULL), 0);
    for (int i = 0; i < 2; i++) {
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 0, &shard, &e), -1);
        CU_ASSERT_STRING_EQUAL(e.id, "SIM-0097");
        CU_ASSERT_STRING_EQUAL(e.text, "procedure p cannot run it: no kernels of one");
        CU_ASSERT_FALSE(th_script_is_cause(&e));
    }
    CU_ASSERT_EQUAL(f.calls, 1);
}

/* ---- the memo ---- */

/* One call for equal shards, in all works, whoever adds to sums; more for other shards, parameters
 * and procedures, none for those of before. */
TEST(a_shard_is_asked_for_once)
{
    fake f = {.version = 5};
    auto_script_memo *m = memo_of(&f);
    auto_system *three = system_with(SCRIPT "rows = 3;"), *four = system_with(SCRIPT "rows = 4;");
    th_compute_cost_cache *w[] = {th_compute_cost_cache_new(three, NULL),
                                  th_compute_cost_cache_new(three, NULL),
                                  th_compute_cost_cache_new(four, NULL)};
    th_shard s = conv_shard(1, 6, 10, 8, 16, 1), sums = s, other = s;
    sums.adds_to_output = 1;
    other.stride_w = 2;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(th_compute_cost_set_scripts(w[i], m, NULL), 0);
        CU_ASSERT_EQUAL(th_compute_cost_lookup(w[i], 0, 0, &s, NULL), 0);
        CU_ASSERT_EQUAL(th_compute_cost_lookup(w[i], 0, 0, &sums, NULL), 1);
        CU_ASSERT_TRUE(th_compute_cost_get(w[i], 1)->schedule.reads_sums);
        CU_ASSERT_EQUAL(f.calls, 1);
    }
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w[1], 0, 0, &other, NULL), 2);
    CU_ASSERT_EQUAL(f.calls, 2);
    CU_ASSERT_EQUAL(th_compute_cost_set_scripts(w[2], m, NULL), 0);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w[2], 0, 0, &s, NULL), 0);
    CU_ASSERT_TRUE(f.calls == 3 && f.rows == 4);
    f.version = 6;
    th_compute_cost_cache *changed = th_compute_cost_cache_new(three, NULL);
    CU_ASSERT_EQUAL(th_compute_cost_set_scripts(changed, m, NULL), 0);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(changed, 0, 0, &s, NULL), 0);
    CU_ASSERT_TRUE(f.calls == 4);
    th_compute_cost_cache_free(changed);
    for (int i = 0; i < 3; i++)
        th_compute_cost_cache_free(w[i]);
    th_script_memo_clear(m);
}

/* What was asked before stays known to those who asked before; they ask nothing new of another
 * procedure. */
TEST(a_procedure_that_has_changed_is_not_asked)
{
    fake f = {.version = 1};
    th_script_memo *m = memo_of(&f);
    th_system *s = system_with(SCRIPT);
    th_compute_cost_cache *before = th_compute_cost_cache_new(s, NULL),
                          *after = th_compute_cost_cache_new(s, NULL);
    th_shard known = conv_shard(1, 6, 10, 8, 16, 1), other = conv_shard(1, 6, 10, 8, 17, 1);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_compute_cost_set_scripts(before, m, NULL), 0);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(before, 0, 0, &known, NULL), 0);
    f.version = 2;
    CU_ASSERT_EQUAL(th_compute_cost_set_scripts(after, m, NULL), 0);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(before, 0, 0, &known, NULL), 0);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(before, 0, 0, &other, &e), -1);
    CU_ASSERT_STRING_EQUAL(e.id, "SIM-0090");
    CU_ASSERT_TRUE(th_script_is_cause(&e) && f.calls == 1);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(after, 0, 0, &other, NULL), 0);
    th_compute_cost_cache_free(before);
    th_compute_cost_cache_free(after);
    th_script_memo_free(m);
    th_system_free(s);
    th_script_memo_leave(NULL);
    th_script_memo_clear(NULL);
    th_script_memo_free(NULL);
}

/* ---- batches on several threads ---- */

enum { MAPPINGS = 40 };

static const char four_accelerators[] =
    "name = \"four\"; designs = ( { name = \"d\"; " SCRIPT " } );"
    "topology = { type = \"ring\"; dims = [4]; bandwidth = \"8Gbps\"; latency = \"1us\";"
    "  host = { bandwidth = \"8Gbps\"; latency = \"1us\"; }; };"
    "accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; latency = \"100ns\"; "
    "};"
    "  vector = { clock = \"200MHz\"; elements_per_cycle = 64; }; designs = [\"d\"]; } );";

static th_mapping **random_mappings(const th_workload *net)
{
    static th_mapping *mappings[MAPPINGS];
    auto_rng *r = th_random_stream(4, "script", 0);
    for (int i = 0; i < MAPPINGS; i++)
        mappings[i] = random_mapping_on(r, i % 3 ? "0123" : "01 23", net);
    return mappings;
}

/* The same fitness on any number of threads; nothing is left to ask the second time; the failure of
 * a shard is the same error everywhere. */
TEST(threads_change_nothing)
{
    static const int threads[] = {1, 2, 7};
    auto_system *s = system_of(four_accelerators);
    auto_workload *net = shipped_workload("alexnet");
    th_mapping **mappings = random_mappings(net);
    static th_fitness expected[MAPPINGS], got[MAPPINGS];
    th_error error[2] = {{"", ""}, {"", ""}};
    for (int t = 0; t < 3; t++) {
        fake f = {.rows = 0};
        th_problem problem = {
            .system = s, .workload = net, .stream = th_stream_single, .scripts = memo_of(&f)};
        th_pool *p = th_pool_new(NULL, &problem, threads[t], NULL);
        CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, MAPPINGS, INFINITY, t ? got : expected, NULL),
                        0);
        CU_ASSERT_TRUE(f.calls > 50);
        CU_ASSERT_TRUE(t == 0 || memcmp(expected, got, sizeof got) == 0);
        int calls = f.calls;
        CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, MAPPINGS, INFINITY, got, NULL), 0);
        CU_ASSERT_TRUE(f.calls == calls && memcmp(expected, got, sizeof got) == 0);
        th_script_memo_clear(problem.scripts);
        th_pool_free(p);
        f.fails_on = 500; /* of some mappings, a part of a layer */
        p = th_pool_new(NULL, &problem, threads[t], NULL);
        CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, MAPPINGS, INFINITY, got, &error[t > 0]), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(error[t > 0].text, "it fails"));
        if (t > 0)
            TAP_ASSERT_TEXT(error[1].text, error[0].text);
        f.fails_on = 0;
        CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, MAPPINGS, INFINITY, got, NULL), 0);
        CU_ASSERT_EQUAL(memcmp(expected, got, sizeof got), 0);
        th_pool_free(p);
        th_script_memo_free(problem.scripts);
    }
    for (int i = 0; i < MAPPINGS; i++)
        th_mapping_free(mappings[i]);
}

/* ---- memory ---- */

static th_system *one_script;

static int ask_script(const void *shard, th_error *e)
{
    fake f = {0};
    const th_script_provider provider = {&f, take_text, check, answer, leave};
    th_script_memo *m = th_script_memo_new(&provider, e);
    th_compute_cost_cache *w = m ? th_compute_cost_cache_new(one_script, e) : NULL;
    int failed =
        !w || th_compute_cost_set_scripts(w, m, e) || th_compute_cost_lookup(w, 0, 0, shard, e) < 0;
    th_compute_cost_cache_free(w);
    th_script_memo_free(m);
    return failed ? -1 : 0;
}

TEST(failed_allocations_leave_nothing)
{
    th_shard s = conv_shard(1, 6, 10, 8, 16, 1);
    one_script = system_with(SCRIPT);
    CU_ASSERT_TRUE(fail_each_allocation(ask_script, &s) > 5);
    th_system_free(one_script);
}

TAP_MAIN("script")
