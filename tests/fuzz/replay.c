/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - runs a fuzz target over its corpus, in TAP: a line for each file, in the order of
 * their names. FUZZ_CORPUS is the folder of the target in tests/fuzz/corpus; arguments are files to
 * run instead. To fuzz, link the target with -fsanitize=fuzzer in the place of this file
 * (tests/fuzz/run.sh).
 *
 * Each file is run as it is and with MUTANTS changes, drawn with a seed of its own: bytes set,
 * inserted, dropped, pieces repeated. One run must take less than SECONDS of processor time,
 * and all of them less than MEGABYTES of memory, except with the address sanitizer, which keeps
 * what was freed. */
#include <config.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include "base/text_file.h"

enum { MUTANTS = 64, MUTATIONS = 4, SECONDS = 2, MEGABYTES = 200, LARGEST = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- mutants --------------------------------------------------------------------------------- */

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016. */
static uint64_t draw(uint64_t *state, uint64_t n)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return n > 0 ? (*state * 2685821657736338717u >> 16) % n : 0;
}

typedef struct {
    uint8_t *at;
    size_t n, room;
} bytes;

/* Repeats up to 16 bytes from somewhere at another place, in which there is room. */
static void repeat(bytes *b, uint64_t *state)
{
    size_t from = draw(state, b->n), n = 1 + draw(state, 16), to = draw(state, b->n);
    uint8_t piece[16];
    if (n > b->n - from || b->n + n > b->room)
        return;
    memcpy(piece, b->at + from, n);
    memmove(b->at + to + n, b->at + to, b->n - to);
    memcpy(b->at + to, piece, n);
    b->n += n;
}

static void mutate(bytes *b, uint64_t *state)
{
    static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff, '0', '-', '(', '{', '"'};
    size_t at = draw(state, b->n), n = 1 + draw(state, 8);
    switch (draw(state, 4)) {
    case 0:
        b->at[at] ^= (uint8_t)(1 << draw(state, 8));
        break;
    case 1:
        b->at[at] = special[draw(state, sizeof special)];
        break;
    case 2:
        repeat(b, state);
        break;
    default:
        if (n < b->n - at) {
            memmove(b->at + at, b->at + at + n, b->n - at - n);
            b->n -= n;
        }
        break;
    }
}

/* ---- budgets --------------------------------------------------------------------------------- */

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static long megabytes(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1024;
}

static bool is_within_memory(void)
{
#ifdef __SANITIZE_ADDRESS__
    return true;
#else
    return megabytes() < MEGABYTES;
#endif
}

/* Runs it; the longest time of one run so far. */
static void run_once(const uint8_t *data, size_t size, double *longest)
{
    double start = processor_seconds();
    LLVMFuzzerTestOneInput(data, size);
    double taken = processor_seconds() - start;
    *longest = taken > *longest ? taken : *longest;
}

static void run_mutants(const th_strbuf *file, uint64_t seed, double *longest)
{
    bytes b = {.room = file->length + (size_t)MUTATIONS * 16};
    uint64_t state = seed * 0x9e3779b97f4a7c15u;
    b.at = malloc(b.room + 1);
    for (int i = 0; b.at && file->length > 0 && i < MUTANTS; i++) {
        memcpy(b.at, file->text, file->length);
        b.n = file->length;
        for (int k = 0; k < MUTATIONS; k++)
            mutate(&b, &state);
        run_once(b.at, b.n, longest);
    }
    free(b.at);
}

static bool run(int number, const char *path, const char *name)
{
    th_strbuf file = TH_STRBUF_INIT;
    th_error e = {"", ""};
    double longest = 0;
    bool is_good = th_text_file_read(path, LARGEST, &file, &e) == 0;
    if (is_good) {
        run_once((const uint8_t *)file.text, file.length, &longest);
        run_mutants(&file, (uint64_t)number, &longest);
        is_good = longest < SECONDS && is_within_memory();
    }
    printf("%sok %d - %s%s%s\n", is_good ? "" : "not ", number, name, e.text[0] ? ": " : "",
           e.text);
    if (!is_good)
        printf("# %.3f s (below %d), %ld MB (below %d)\n", longest, (int)SECONDS, megabytes(),
               (int)MEGABYTES);
    fflush(stdout);
    th_strbuf_clear(&file);
    return is_good;
}

/* Read by the leak sanitizer: libconfig 1.5 does not free the text in quotes at which it finds a
 * syntax error. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:strbuf_append\nleak:libconfig_yylex\n";
}

/* ---- the corpus ------------------------------------------------------------------------------ */

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int run_corpus(void)
{
    char folder[4096], path[8192];
    struct dirent **entries;
    const char *top = getenv("srcdir");
    bool are_good = true;
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", top ? top : ".", FUZZ_CORPUS);
    int n = scandir(folder, &entries, is_file, alphasort);
    if (n <= 0) {
        printf("Bail out! %s: there is no corpus\n", folder);
        return 1;
    }
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        are_good &= run(i + 1, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return !are_good;
}

int main(int argc, char **argv)
{
    bool are_good = true;
    for (int i = 1; i < argc; i++)
        are_good &= run(i, argv[i], argv[i]);
    return argc > 1 ? !are_good : run_corpus();
}
