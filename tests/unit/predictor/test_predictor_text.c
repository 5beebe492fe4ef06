/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_predictor_text.c - lines of predictors: what is written is read back to the last bit, what
 * is no such line is refused. */
#include <config.h>
#include <float.h>
#include <math.h>
#include "predictor/regress/predictor_text.h"
#include "tests/unit/draw.h"
#include "tests/unit/tap.h"

/* A value of every kind. */
typedef struct {
    int32_t d;
    size_t z;
    uint64_t x;
    double f, e;
    float g;
    char s[TH_TEXT_WORD_MAX];
} values;

static int line(th_text_io *io, values *v)
{
    return th_text_open(io, "row %s of %d", v->s, &v->d) ||
                   th_text_more(io, " %z %x", &v->z, &v->x) ||
                   th_text_more(io, " %f %e %g", &v->f, &v->e, &v->g) ||
                   th_text_close(io, "a remark")
               ? -1
               : 0;
}

/* Any bits that are a number. */
static double real(gsl_rng *r)
{
    double x;
    do {
        uint64_t bits = gsl_rng_get(r) << 32 | (gsl_rng_get(r) & UINT32_MAX);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return x;
}

static values drawn(gsl_rng *r)
{
    values v = {.d = draw(r, -1, 1) * INT32_MAX, .z = gsl_rng_get(r), .x = gsl_rng_get(r) << 40};
    v.f = real(r);
    v.e = draw(r, 0, 3) == 0 ? INFINITY : draw(r, 0, 999) / 1024.; /* 6 digits */
    v.g = (float)fmod(real(r), FLT_MAX);
    int n = draw(r, 1, TH_TEXT_WORD_MAX - 1);
    for (int i = 0; i < n; i++)
        v.s[i] = (char)draw(r, '!', '~');
    if (v.s[0] == '#')
        v.s[0] = 'x'; /* or it would be a remark */
    return v;
}

TEST(what_is_written_is_read)
{
    auto_rng *r = th_random_stream(1, "lines", 0);
    for (int i = 0; i < 2000; i++) {
        values v = drawn(r), back = {.d = 0};
        th_error e = {"", ""};
        auto_strbuf text = TH_STRBUF_INIT;
        th_text_io out = {.out = &text}, in = {.path = "t", .err = &e};
        CU_ASSERT_EQUAL(line(&out, &v), 0);
        in.rest = text.text;
        CU_ASSERT_EQUAL(line(&in, &back), 0);
        CU_ASSERT_EQUAL(in.line, 1);
        CU_ASSERT_PTR_NULL(th_text_next(&in));
        CU_ASSERT(isinf(v.e) ? isinf(back.e) : fabs(back.e - v.e) <= 1e-5 * v.e);
        CU_ASSERT(memcmp(&v.f, &back.f, sizeof v.f) == 0 && memcmp(&v.g, &back.g, sizeof v.g) == 0);
        CU_ASSERT(v.d == back.d && v.z == back.z && v.x == back.x);
        TAP_ASSERT_TEXT(v.s, back.s);
    }
}

TEST(what_is_no_line_is_refused)
{
    static const char *const bad[] = {"",
                                      "row a of 1 2 3 4 5 6 7",
                                      "row a of 1 2 3 4 5",
                                      "row a of 1 2 3 4 5 x",
                                      "row a of 1 -2 3 4 5 6",
                                      "row a of 3000000000 2 3 4 5 6",
                                      "row a of 1 99999999999999999999 3 4 5 6",
                                      "row a of 1 2 3 nan 5 6",
                                      "row a of 1 2 3 1e999 5 6",
                                      "row a of 1 2 3 4 5 1e39",
                                      "row a of 1 2 3 4 inf 6",
                                      "row a of 1 2 3 4ms 5 6",
                                      "row a off 1 2 3 4 5 6",
                                      "rows a of 1 2 3 4 5 6",
                                      "row a of 1 2 3 4 5 # 6",
                                      "row 123456789012345678901234567890123456789012345678 of 1 "
                                      "2 3 4 5 6"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[120];
        values v = {.d = 0};
        th_error e = {"", ""};
        snprintf(text, sizeof text, "%s", bad[i]);
        th_text_io io = {.path = "t", .rest = text, .err = &e};
        if (line(&io, &v) == 0)
            printf("# \"%s\" is read\n", bad[i]);
        TAP_ASSERT_TEXT(e.id, "PRED-0080");
        TAP_ASSERT_TEXT(e.text, i == 0 ? "t:0: is no line of a predictor"
                                       : "t:1: is no line of a predictor");
    }
    char text[] = "row a of 1 2 3 4 - 6 # is one\nrest";
    th_error e = {"", ""};
    values v = {.d = 0};
    th_text_io io = {.path = "t", .rest = text, .err = &e};
    CU_ASSERT_EQUAL(line(&io, &v), 0);
    CU_ASSERT(v.d == 1 && v.z == 2 && v.x == 3 && v.f == 4 && isinf(v.e) && v.g == 6);
    TAP_ASSERT_TEXT(io.rest, "rest");
}

/* What does not hold in memory is written all the same. */
TEST(checks_are_of_what_is_read)
{
    auto_strbuf text = TH_STRBUF_INIT;
    th_error e = {"", ""};
    th_text_io out = {.out = &text}, in = {.path = "t", .err = &e};
    CU_ASSERT(th_text_check(&out, false) == 0 && th_text_check(&in, true) == 0 &&
              th_text_check(&in, false) == -1);
}

TAP_MAIN("predictor_text")
