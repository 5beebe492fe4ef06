/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_file.c - reads a whole file, up to a size limit. */
#include <config.h>
#include "base/text_file.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/open_file.h"

static int read_stream(FILE *file, const char *path, size_t size_max, th_strbuf *text,
                       th_error *err)
{
    char piece[16 * 1024];
    th_strbuf_add(text, "");
    while (text->length <= size_max) {
        size_t n = fread(piece, 1, sizeof piece, file);
        th_strbuf_add_bytes(text, piece, n);
        if (n < sizeof piece)
            break;
    }
    if (ferror(file))
        return th_error_set(err, "BASE-0030", "%s: cannot be read: %s", path, strerror(errno));
    return text->failed ? th_error_no_memory(err) : 0;
}

int th_text_file_read(const char *path, size_t size_max, th_strbuf *text, th_error *err)
{
    FILE *file = th_file_stream(path);
    if (!file)
        return th_error_set(err, "BASE-0031", "%s: cannot be opened: %s", path,
                            th_file_problem(errno));
    int status = read_stream(file, path, size_max, text, err);
    fclose(file);
    return status;
}
