/* SPDX-License-Identifier: GPL-3.0-or-later */
/* external.c - numbers of a tensor that lie in another file, beside the model's. */
#include <config.h>
#include "workloads/onnx/shape/fold.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/open_file.h"

/* A number of bytes; -1: it is none. */
static int64_t bytes_of(const th_onnx_tensor *t, const char *key, int64_t otherwise)
{
    const char *text = th_onnx_external(t, key);
    char *end = NULL;
    long long n = text ? strtoll(text, &end, 10) : otherwise;
    return text && (end == text || *end || n < 0) ? -1 : n;
}

/* The file, below the model's folder and nowhere else. false: none. */
static bool path_of(const char *model, const char *location, char *out, size_t size)
{
    const char *slash = strrchr(model, '/');
    int folder = slash ? (int)(slash + 1 - model) : 0;
    bool is_outside = location[0] == '/' || strcmp(location, "..") == 0 ||
                      strncmp(location, "../", 3) == 0 || strstr(location, "/..");
    int n = is_outside ? -1 : snprintf(out, size, "%.*s%s", folder, model, location);
    return n > 0 && (size_t)n < size;
}

/* Reads n bytes from an offset. false: they are not there. */
static bool read_bytes(const char *path, int64_t offset, uint8_t *out, size_t n)
{
    struct stat s;
    if (th_file_stat(path, &s) || !S_ISREG(s.st_mode) || offset > s.st_size - (int64_t)n)
        return false;
    int file = th_file_open(path, O_RDONLY);
    bool is_good = file >= 0 && pread(file, out, n, (off_t)offset) == (ssize_t)n;
    if (file >= 0)
        close(file);
    return is_good;
}

int64_t th_onnx_external_numbers(th_onnx_reader *r, const th_onnx_tensor *t, int64_t n,
                                 int64_t *ints, double *reals)
{
    char path[4096];
    const char *location = th_onnx_external(t, "location");
    size_t size = th_onnx_bytes_of_type(t->data_type) * (size_t)n;
    int64_t offset = bytes_of(t, "offset", 0), length = bytes_of(t, "length", (int64_t)size);
    if (!location || size == 0 || offset < 0 || length != (int64_t)size ||
        !path_of(r->path, location, path, sizeof path))
        return -1;
    th_onnx_tensor held = *t;
    held.raw_data.data = th_alloc(size);
    held.raw_data.len = size;
    held.has_raw_data = true;
    int64_t found = held.raw_data.data && read_bytes(path, offset, held.raw_data.data, size)
                        ? th_onnx_tensor_numbers(&held, n, ints, reals)
                        : -1;
    th_free(held.raw_data.data);
    return found;
}
