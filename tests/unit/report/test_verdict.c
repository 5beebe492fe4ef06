/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_verdict.c - the sentence of a page, from made-up figures with known answers. */
#include <config.h>
#include "report/sections/verdict.h"
#include <stdio.h>
#include "tests/unit/tap.h"

static const char *sentence_of(const th_verdict *v)
{
    static char text[1000];
    th_strbuf out = TH_STRBUF_INIT;
    th_verdict_sentence(v, &out);
    snprintf(text, sizeof text, "%s", out.text);
    th_strbuf_clear(&out);
    return text;
}

static const char *comparison_of(const th_verdict *a, const th_verdict *b)
{
    static char text[1000];
    th_strbuf out = TH_STRBUF_INIT;
    th_verdict_compare(a, "old", b, "new", &out);
    snprintf(text, sizeof text, "%s", out.text);
    th_strbuf_clear(&out);
    return text;
}

/* 800 + 160 + 40 = 1000: 80, 16 and 4 %; the last is too small to be named. */
TEST(two_classes_in_balance)
{
    const th_verdict v = {
        .is_done = true,
        .elapsed_ps = 1000,
        .part_ps = {[TH_PART_ARRAY] = 800, [TH_PART_MEMORY] = 160, [TH_PART_LINK] = 40},
        .classes = {{"GPU", 1, 0.9, 0.9, 0.9}, {"FPGA", 2, 0.7, 0.75, 0.8}},
        .n_classes = 2,
        .link = "host_0",
        .link_load = 0.19,
    };
    CU_ASSERT_STRING_EQUAL(sentence_of(&v),
                           "The critical path is 80 % array and 16 % own DRAM; GPU and FPGA are "
                           "balanced, at work 90 % and 75 % of the time; the link host_0 is the "
                           "busiest at 19 %.");
    CU_ASSERT_EQUAL(th_verdict_limit(&v), TH_PART_ARRAY);
    CU_ASSERT_DOUBLE_EQUAL(th_verdict_share(&v, TH_PART_MEMORY), 0.16, 1e-12);
}

/* 0.4 < 0.8 x 0.9; the busier class comes first whatever the order. */
TEST(two_classes_out_of_balance)
{
    const th_verdict v = {
        .part_ps = {[TH_PART_CONTENTION] = 7},
        .classes = {{"FPGA", 2, 0.4, 0.4, 0.4}, {"GPU", 1, 0.9, 0.9, 0.9}},
        .n_classes = 2,
    };
    CU_ASSERT_STRING_EQUAL(sentence_of(&v),
                           "The critical path is 100 % contention; GPU and FPGA are not balanced, "
                           "at work 90 % and 40 % of the time.");
}

/* 0.72 = 0.8 x 0.9 is balanced to the last digit, 0.71 is not. */
TEST(one_class)
{
    th_verdict v = {
        .part_ps = {[TH_PART_ARRAY] = 1, [TH_PART_MEMORY] = 1},
        .classes = {{"npu", 8, 0.5 * 0.8, 0.45, 0.5}},
        .n_classes = 1,
        .link = "0_1",
        .link_load = 0.004,
    };
    CU_ASSERT_STRING_EQUAL(sentence_of(&v),
                           "The critical path is 50 % array and 50 % own DRAM; the 8 accelerators "
                           "are balanced, at work 40 % to 50 % of the time; the link 0_1 is the "
                           "busiest at less than 1 %.");
    v.classes[0].least = 0.39;
    CU_ASSERT_STRING_EQUAL(
        sentence_of(&v), "The critical path is 50 % array and 50 % own DRAM; the 8 accelerators "
                         "are not balanced, at work 39 % to 50 % of the time; the link 0_1 is the "
                         "busiest at less than 1 %.");
    v.classes[0] = (th_accel_class){"npu", 1, 0.5, 0.5, 0.5};
    v.link[0] = '\0';
    CU_ASSERT_STRING_EQUAL(sentence_of(&v),
                           "The critical path is 50 % array and 50 % own DRAM; the accelerator "
                           "works 50 % of the time.");
}

TEST(three_classes_name_the_extremes)
{
    const th_verdict v = {
        .part_ps = {[TH_PART_HOST] = 1, [TH_PART_COLLECTIVE] = 4, [TH_PATH_WAIT] = 5},
        .classes = {{"a", 1, 0.5, 0.5, 0.5}, {"b", 1, 0.1, 0.1, 0.1}, {"c", 1, 0.6, 0.6, 0.6}},
        .n_classes = 3,
    };
    CU_ASSERT_STRING_EQUAL(
        sentence_of(&v), "The critical path is 50 % waiting for arrivals, 40 % collectives and "
                         "10 % host; the 3 kinds of accelerators are not balanced, from c at work "
                         "60 % of the time to b at work 10 %.");
}

/* Accelerators that do nothing at all are not called balanced. */
TEST(nothing_ran)
{
    const th_verdict v = {.classes = {{"npu", 8, 0, 0, 0}}, .n_classes = 1};
    CU_ASSERT_STRING_EQUAL(sentence_of(&v), "Nothing has ended yet.");
    CU_ASSERT_EQUAL(th_verdict_limit(&v), -1);
}

/* 12.14 ms after its arrival is 2.64 ms past 9.5 ms. */
TEST(missed_deadlines_come_first)
{
    th_verdict v = {
        .part_ps = {[TH_PART_ARRAY] = 1},
        .missed = {1, "radar", 9500000000, 2640000000},
    };
    CU_ASSERT_STRING_EQUAL(sentence_of(&v), "radar misses its deadline of 9.5ms by 2.64ms; the "
                                            "critical path is 100 % array.");
    v.missed.n = 2;
    CU_ASSERT_STRING_EQUAL(sentence_of(&v),
                           "radar misses its deadline of 9.5ms by 2.64ms, and 1 other model is "
                           "late; the critical path is 100 % array.");
    v.missed.n = 3;
    CU_ASSERT_STRING_EQUAL(sentence_of(&v),
                           "radar misses its deadline of 9.5ms by 2.64ms, and 2 other models are "
                           "late; the critical path is 100 % array.");
}

/* Equal parts are named in their order; a fourth one is not, even if it is large. */
TEST(at_most_three_parts)
{
    const th_verdict v = {.part_ps = {5, 5, 5, 5}};
    CU_ASSERT_STRING_EQUAL(sentence_of(&v), "The critical path is 25 % array, 25 % own DRAM and "
                                            "25 % link latency.");
}

/* 3,000,000 / 2,000,000 ps; of the 1 us saved, DRAM has 0.9. */
TEST(two_runs)
{
    const th_verdict a = {.elapsed_ps = 3000000,
                          .part_ps = {[TH_PART_ARRAY] = 1000000, [TH_PART_MEMORY] = 2000000}};
    const th_verdict b = {.elapsed_ps = 2000000,
                          .part_ps = {[TH_PART_ARRAY] = 900000, [TH_PART_MEMORY] = 1100000}};
    CU_ASSERT_STRING_EQUAL(comparison_of(&a, &b), "new is 1.5 times as fast as old: it saves 1us, "
                                                  "most of all in own DRAM (90 %).");
    CU_ASSERT_STRING_EQUAL(comparison_of(&b, &a), "old is 1.5 times as fast as new: it saves 1us, "
                                                  "most of all in own DRAM (90 %).");
    CU_ASSERT_STRING_EQUAL(comparison_of(&a, &a),
                           "old and new take the same time to half a percent.");
}

TAP_MAIN("verdict")
