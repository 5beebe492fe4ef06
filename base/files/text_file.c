/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_file.c - reads a whole file, up to a size limit. */
#include <config.h>
#include "base/files/text_file.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/files/open_file.h"

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
    if (text->length > size_max)
        return th_error_set(err, "BASE-0326", "%s: must be %zu bytes at most", path, size_max);
    return text->failed ? th_error_no_memory(err) : 0;
}

int th_file_bytes_read(const char *path, size_t size_max, th_strbuf *bytes, th_error *err)
{
    FILE *file = th_file_stream(path);
    if (!file)
        return th_error_set(err, "BASE-0031", "%s: cannot be opened: %s", path,
                            th_file_problem(errno));
    int status = read_stream(file, path, size_max, bytes, err);
    fclose(file);
    return status;
}

int th_text_file_read(const char *path, size_t size_max, th_strbuf *text, th_error *err)
{
    if (th_file_bytes_read(path, size_max, text, err))
        return -1;
    if (strlen(text->text) == text->length)
        return 0;
    return th_error_set(err, "BASE-0327", "%s: must be text, has a zero byte", path);
}

const char *th_file_stem(const char *path, int *length)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    *length = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
    return name;
}
