/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_phrases.c - times as text, and phrases with such times in them, against what printf writes.
 */
#include <config.h>
#include "base/alloc.h"
#include "base/random.h"
#include "sim/trace/phrases.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

static void stamp_of(th_stamp *s, char before, int64_t number, char behind)
{
    th_stamp_number(s, before, number, behind);
    s->at = number;
}

static void expected_text(char *text, size_t n, char before, int64_t number, char behind)
{
    char first[2] = {before, 0}, last[2] = {behind, 0};
    if (behind == '.')
        snprintf(text, n, "%s%" PRId64 ".%06" PRId64, first, number / 1000000, number % 1000000);
    else
        snprintf(text, n, "%s%" PRId64 "%s", first, number, last);
}

/* Steps of all sizes, up to the last time there is. */
static void stamps_are_decimals(void)
{
    static const char ends[][2] = {{'#', '\n'}, {0, 0}, {0, '.'}};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);
    for (int k = 0; k < 3; k++) {
        th_stamp s = {.at = -1};
        int wrong = 0;
        for (int64_t now = 0, step; now >= 0; now = TH_TIME_MAX - now < step ? -1 : now + step) {
            char text[64], expected[64];
            stamp_of(&s, ends[k][0], now, ends[k][1]);
            th_stamp_put(&s, text);
            text[s.n] = 0;
            expected_text(expected, sizeof expected, ends[k][0], now, ends[k][1]);
            wrong += strcmp(text, expected) != 0;
            step = pick(random, 0, 30) ? pick(random, 1, 1 + now / 8) % 100000000
                                       : pick(random, 1, 1 + now / 2);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        stamp_of(&s, ends[k][0], TH_TIME_MAX, ends[k][1]);
        CU_ASSERT_TRUE(s.n >= 19 && s.n <= 21);
    }
    gsl_rng_free(random);
}

/* As protobuf has them: seven bits a byte, the lowest first, and the eighth says that there are
 * more. */
static void stamps_are_varints(void)
{
    th_stamp s = {.at = -1};
    int wrong = 0;
    for (int bits = 0; bits < 64; bits++)
        for (int k = -1; k <= 1; k++) {
            char text[TH_STAMP_BYTES + 1] = "";
            uint64_t number = ((uint64_t)1 << bits) + (uint64_t)(int64_t)k, read = 0;
            th_stamp_varint(&s, number);
            memset(text, 'x', TH_STAMP_BYTES);
            th_stamp_put(&s, text);
            for (int i = 0; i < s.n; i++) {
                read |= (uint64_t)(text[i] & 0x7f) << 7 * i;
                wrong += ((text[i] & 0x80) != 0) != (i + 1 < s.n);
            }
            wrong += read != number || text[s.n] != 'x' ||
                     s.n != (number >> 7 ? (63 - __builtin_clzll(number)) / 7 + 1 : 1);
        }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* What is written to it goes nowhere. */
static th_out *new_out(void)
{
    th_out *o = th_alloc_zero(1, sizeof *o);
    o->file = open("/dev/null", O_WRONLY);
    return o;
}

static void free_out(th_out *o)
{
    close(o->file);
    th_free(o);
}

/* What key says at a time: `key` letters, the stamp, more letters, and so on. */
static void write_at(th_out *o, uint64_t key, const th_stamp *s)
{
    for (uint64_t i = 0; i <= key % 5; i++) {
        for (uint64_t n = 0; n < (i + key) % 70; n++)
            th_out_char(o, (char)('a' + (n + key) % 26));
        if (i < key % 5)
            th_out_stamp(o, s);
    }
}

static void phrases_say_what_was_heard(void)
{
    enum { KEYS = 2000, TIMES = 3 };
    th_out *o = new_out(), *expected = new_out();
    th_phrases *p = th_phrases_new();
    th_stamp s = {.at = -1};
    int wrong = 0, known = 0;
    for (int64_t time = 0; time < TIMES; time++)
        for (uint64_t key = 1; key <= KEYS; key++) {
            stamp_of(&s, '#', 123456789 + time * 777777777, '\n');
            th_out_flush(o);
            th_out_flush(expected);
            write_at(expected, key, &s);
            if (th_phrases_say(p, o, &s, key)) {
                known++;
            } else {
                th_phrases_listen(o);
                write_at(o, key, &s);
                th_phrases_learn(p, o, key);
            }
            wrong += o->n != expected->n || memcmp(o->text, expected->text, o->n) != 0;
            if (time == 1 && key == KEYS)
                th_phrases_forget(p);
        }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(known, KEYS);
    free_out(o);
    free_out(expected);
    th_phrases_free(p);
}

/* Too long, too many times, or memory is out: it is written once, and not learned. */
static void not_all_is_learned(void)
{
    th_out *o = new_out();
    th_phrases *p = th_phrases_new();
    th_stamp s = {.at = -1};
    stamp_of(&s, 0, 1000, 0);
    for (int k = 0; k < 4; k++) {
        th_out_flush(o);
        th_phrases_listen(o);
        for (int i = 0; i < (k == 0 ? 5000 : k == 1 ? 30 : 1); i++)
            if (k == 1)
                th_out_stamp(o, &s);
            else
                th_out_char(o, 'x');
        th_alloc_fail_at(k < 2 ? 0 : k - 1); /* slots, texts */
        th_phrases_learn(p, o, 1 + (uint64_t)k);
        th_alloc_fail_at(0);
        CU_ASSERT_FALSE(th_phrases_say(p, o, &s, 1 + (uint64_t)k));
        CU_ASSERT_EQUAL(o->n, k == 0 ? 5000 : k == 1 ? 120 : 1);
    }
    free_out(o);
    th_phrases_free(p);
    th_phrases_free(NULL);
}

/* Blocks begin where pages of the file do, and what is heard across the end of one is not learned.
 */
static void files_are_written_in_whole_blocks(void)
{
    enum { LINES = 300000, KEYS = 64 };
    FILE *file = tmpfile();
    th_out *o = th_alloc_zero(1, sizeof *o);
    th_phrases *p = th_phrases_new();
    th_stamp s = {.at = -1};
    int wrong = 0, known = 0, cut = 0;
    o->file = fileno(file);
    for (int i = 0; i < LINES; i++) {
        uint64_t key = 1 + (uint64_t)i % KEYS;
        size_t before = o->n;
        stamp_of(&s, '#', 1000000 + i, 0);
        if (th_phrases_say(p, o, &s, key)) {
            known++;
        } else {
            th_phrases_listen(o);
            th_out_stamp(o, &s);
            th_out_number(o, (int64_t)key);
            th_out_char(o, '\n');
            th_phrases_learn(p, o, key);
            wrong += th_phrases_find(p, key, &(th_phrase){0}) != (o->n > before);
            cut += o->n < before;
        }
        if (i % (KEYS * 2) == 0)
            th_phrases_forget(p);
        wrong += lseek(o->file, 0, SEEK_CUR) % TH_OUT_BLOCK != 0;
    }
    th_out_flush(o);
    rewind(file);
    for (int i = 0; i < LINES; i++) {
        char line[64], expected[64];
        snprintf(expected, sizeof expected, "#%d%d\n", 1000000 + i, 1 + i % KEYS);
        wrong += !fgets(line, sizeof line, file) || strcmp(line, expected) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(known > LINES / 3 && cut > 2 && fgetc(file) == EOF);
    fclose(file);
    th_free(o);
    th_phrases_free(p);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(stamps_are_decimals),
        TAP(stamps_are_varints),
        TAP(phrases_say_what_was_heard),
        TAP(not_all_is_learned),
        TAP(files_are_written_in_whole_blocks),
        TAP_END,
    };
    return tap_main("phrases", tests, argc, argv);
}
