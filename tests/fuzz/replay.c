/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - runs a fuzz target over its corpus, in TAP: a line for each file, in the order of
 * their names. FUZZ_CORPUS is the folder of the target in tests/fuzz/corpus; arguments are files to run
 * instead. To fuzz, link the target with -fsanitize=fuzzer in the place of this file. */
#include <config.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run(int number, const char *path)
{
    enum { LARGEST = 1 << 24 };
    th_strbuf bytes = TH_STRBUF_INIT;
    th_error e = {"", ""};
    int failed = th_text_file_read(path, LARGEST, &bytes, &e);
    if (!failed)
        LLVMFuzzerTestOneInput((const uint8_t *)bytes.text, bytes.length);
    printf("%sok %d - %s%s\n", failed ? "not " : "", number, path, e.text);
    fflush(stdout);
    th_strbuf_clear(&bytes);
    return failed;
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int run_corpus(void)
{
    char folder[4096], path[8192];
    struct dirent **entries;
    const char *top = getenv("srcdir");
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", top ? top : ".", FUZZ_CORPUS);
    int n = scandir(folder, &entries, is_file, alphasort);
    if (n <= 0) {
        printf("Bail out! %s: there is no corpus\n", folder);
        return 1;
    }
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        run(i + 1, path);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(i, argv[i]);
    return argc > 1 ? 0 : run_corpus();
}
