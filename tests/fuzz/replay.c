/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - runs the fuzz targets over their corpora, in TAP: a line for each file, in the order
 * of the targets and of the names.
 *   replay                     all targets (with FUZZ_TARGETS=NAME,NAME ... these alone)
 *   replay TARGET FILE ...     these files, in this process: for a debugger
 *
 * A file is run as it is and with changes, drawn with a seed from its name and FUZZ_SEED: bytes
 * set, inserted, dropped, pieces repeated. There are FUZZ_MUTANTS of them, otherwise MUTANTS. One
 * run must make fewer than ALLOCATIONS. A file has a process of its own, and all its runs take less
 * than MEGABYTES of memory, except with the address sanitizer, which keeps what was freed and looks
 * for leaks at each end: there the files of a target share one, and where that fails each is run
 * alone. */
#include <config.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/map.h"
#include "base/files/text_file.h"
#include "tests/fuzz/target.h"

#ifdef __SANITIZE_ADDRESS__
enum { MUTANTS = 24, IS_SLOW = 1 };
#else
enum { MUTANTS = 64, IS_SLOW = 0 };
#endif
enum { MUTATIONS = 4, ALLOCATIONS = 1 << 20, MEGABYTES = 200, LARGEST = 1 << 24 };

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

static long megabytes(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1024;
}

static bool is_within_memory(void)
{
    return IS_SLOW || megabytes() < MEGABYTES;
}

/* A number of the environment. */
static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

/* Runs it; the most allocations of one run so far. */
static void run_once(const fuzz_target *t, const uint8_t *data, size_t size, int64_t *most)
{
    int64_t before = th_alloc_calls();
    fuzz_run(t, data, size);
    int64_t made = th_alloc_calls() - before;
    *most = made > *most ? made : *most;
}

static void run_mutants(const fuzz_target *t, const th_strbuf *file, uint64_t seed, int64_t *most)
{
    bytes b = {.room = file->length + (size_t)MUTATIONS * 16};
    uint64_t state = (seed + 2 * (uint64_t)setting("FUZZ_SEED", 0)) * 0x9e3779b97f4a7c15u;
    long n_mutants = setting("FUZZ_MUTANTS", MUTANTS);
    b.at = malloc(b.room + 1);
    for (int i = 0; b.at && file->length > 0 && i < n_mutants; i++) {
        memcpy(b.at, file->text, file->length);
        b.n = file->length;
        for (int k = 0; k < MUTATIONS; k++)
            mutate(&b, &state);
        run_once(t, b.at, b.n, most);
    }
    free(b.at);
}

/* True: all runs of the file were within the budgets. */
static bool run_file(const fuzz_target *t, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    uint64_t seed = th_hash(name, strlen(name), 1) | 1;
    th_strbuf file = TH_STRBUF_INIT;
    th_error e = {"", ""};
    int64_t most = 0;
    fuzz_run(t, (const uint8_t *)"", 0); /* what it begins with is no part of the first run */
    bool is_good = th_file_bytes_read(path, LARGEST, &file, &e) == 0;
    if (is_good) {
        run_once(t, (const uint8_t *)file.text, file.length, &most);
        run_mutants(t, &file, seed, &most);
        is_good = most < ALLOCATIONS && is_within_memory();
    }
    if (!is_good)
        printf("# %s %lld allocations (below %d), %ld MB (below %d)\n", e.text, (long long)most,
               (int)ALLOCATIONS, megabytes(), (int)MEGABYTES);
    fflush(stdout);
    th_strbuf_clear(&file);
    return is_good;
}

/* ---- the corpus ------------------------------------------------------------------------------ */

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Runs files of a target in a process of their own. */
static bool run_apart(const fuzz_target *t, int n, struct dirent *const *entries)
{
    char path[8192];
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool are_good = true;
        for (int i = 0; i < n; i++) {
            snprintf(path, sizeof path, "%s/%s/%s", fuzz_source_file("tests/fuzz/corpus"), t->name,
                     entries[i]->d_name);
            are_good &= run_file(t, path);
        }
        exit(!are_good);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFSIGNALED(status))
        printf("# ended by signal %d\n", WTERMSIG(status));
    return status == 0;
}

/* Runs the corpus of a target; numbers go on from *number. Where its files fail together, and each
 * is good alone, that is a line of its own. */
static bool run_corpus(const fuzz_target *t, int *number)
{
    char folder[4000];
    struct dirent **entries;
    snprintf(folder, sizeof folder, "%s/%s", fuzz_source_file("tests/fuzz/corpus"), t->name);
    int n = scandir(folder, &entries, is_file, alphasort);
    bool are_known = IS_SLOW && run_apart(t, n, entries), are_good = n > 0;
    for (int i = 0; i < n; i++) {
        bool is_good = are_known || run_apart(t, 1, &entries[i]);
        printf("%sok %d - %s/%s\n", is_good ? "" : "not ", ++*number, t->name, entries[i]->d_name);
        are_good &= is_good;
    }
    if (n <= 0 || (IS_SLOW && !are_known && are_good)) {
        printf("not ok %d - %s: %s\n", ++*number, folder,
               n > 0 ? "one file after the other" : "there is no corpus");
        are_good = false;
    }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    if (n >= 0)
        free(entries);
    return are_good;
}

static bool is_wanted(const fuzz_target *t)
{
    const char *names = getenv("FUZZ_TARGETS");
    char list[1000], name[80];
    snprintf(list, sizeof list, ",%s,", names ? names : "");
    snprintf(name, sizeof name, ",%s,", t->name);
    return !names || strstr(list, name);
}

static int run_all(void)
{
    bool are_good = true;
    int number = 0;
    for (int i = 0; fuzz_targets[i]; i++)
        if (is_wanted(fuzz_targets[i]))
            are_good &= run_corpus(fuzz_targets[i], &number);
    printf("1..%d\n", number);
    return !are_good;
}

static const fuzz_target *find(const char *name)
{
    for (int i = 0; fuzz_targets[i]; i++)
        if (strcmp(fuzz_targets[i]->name, name) == 0)
            return fuzz_targets[i];
    fprintf(stderr, "%s: there is no such target\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    bool are_good = true;
    const fuzz_target *t = argc > 1 ? find(argv[1]) : NULL;
    if (!t)
        return run_all();
    for (int i = 2; i < argc; i++)
        are_good &= run_file(t, argv[i]);
    return !are_good;
}
