/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/names.h"
#include "tests/unit/tap.h"

TEST(counts_single_edits)
{
    CU_ASSERT_EQUAL(th_name_distance("mesh", "mesh"), 0);
    CU_ASSERT_EQUAL(th_name_distance("bandwith", "bandwidth"), 1); /* insert */
    CU_ASSERT_EQUAL(th_name_distance("latencyy", "latency"), 1);   /* delete */
    CU_ASSERT_EQUAL(th_name_distance("rinq", "ring"), 1);          /* replace */
    CU_ASSERT_EQUAL(th_name_distance("tours", "torus"), 1);        /* swap */
}

/* kitten -> sitten -> sittin -> sitting; from nothing every character is one insertion; the swap in
 * ca -> abc may not be touched again, so it is 3 (and not 2, as with unrestricted swaps). */
TEST(counts_several_edits)
{
    CU_ASSERT_EQUAL(th_name_distance("kitten", "sitting"), 3);
    CU_ASSERT_EQUAL(th_name_distance("", "torus"), 5);
    CU_ASSERT_EQUAL(th_name_distance("torus", ""), 5);
    CU_ASSERT_EQUAL(th_name_distance("ca", "abc"), 3);
}

TEST(looks_at_64_characters)
{
    char a[200], b[200];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    a[sizeof a - 1] = b[sizeof b - 1] = 0;
    CU_ASSERT_EQUAL(th_name_distance(a, b), 64);
}

TEST(names_the_nearest)
{
    static const char *const names[] = {"latency", "bandwidth", "duplex", "latencies"};
    TAP_ASSERT_TEXT(th_name_nearest("bandwith", names, 4), "bandwidth");
    TAP_ASSERT_TEXT(th_name_nearest("latenci", names, 4), "latency"); /* 1, against 2 */
    TAP_ASSERT_TEXT(th_name_nearest("duplex", names, 4), "duplex");
    CU_ASSERT_PTR_NULL(th_name_nearest("clock", names, 4));
    static const char *const nets[] = {"lenet", "resnet101", "resnet18", "vgg"};
    TAP_ASSERT_TEXT(th_name_nearest("resnet", nets, 4),
                    "resnet101"); /* half a word before 2 amiss */
    TAP_ASSERT_TEXT(th_name_nearest("enet", nets, 4), "lenet");
    CU_ASSERT_PTR_NULL(th_name_nearest("clock", names, 0));
}

/* Near enough is 1 + length / 4: 2 for four characters. */
TEST(knows_what_is_too_far)
{
    static const char *const names[] = {"abcd"};
    TAP_ASSERT_TEXT(th_name_nearest("abxy", names, 1), "abcd");
    CU_ASSERT_PTR_NULL(th_name_nearest("axyz", names, 1));
}

/* All names of one letter are one letter apart. */
TEST(knows_that_one_letter_is_no_hint)
{
    static const char *const names[] = {"0", "1", "ab"};
    CU_ASSERT_PTR_NULL(th_name_nearest("9", names, 2));
    CU_ASSERT_PTR_NULL(th_name_nearest("", names, 2));
    TAP_ASSERT_TEXT(th_name_nearest("ac", names, 3), "ab");
}

TEST(takes_the_first_of_equals)
{
    static const char *const names[] = {"relu6", "relu7"};
    TAP_ASSERT_TEXT(th_name_nearest("relu", names, 2), "relu6");
}

TAP_MAIN("names")
