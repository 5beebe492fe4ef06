/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decompress.c - files compressed by xz (liblzma) or gzip (zlib), recognised by their first bytes.
 * A truncated file is an error. */
#include <config.h>

#include "predictor/data/decompress.h"

#include <lzma.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/files/text_file.h"

enum { CHUNK = 1 << 16 };
/* A small file must not fill the memory: measurements compress to about a twentieth. */
enum { SMALL_FILE = 1 << 20, SMALL_UNPACKED_MAX = 24 << 20 };

typedef struct {
    const char *path;
    size_t size_max;
    bool is_small; /* packed, of less than SMALL_FILE bytes */
    th_strbuf *out;
    th_error *err;
} unpacker;

static int too_long(const unpacker *u)
{
    if (u->is_small)
        return th_error_set(u->err, "PRED-0165",
                            "%s: unpacks to more than %zu bytes, the most for a file of less than "
                            "%d: unpack it first",
                            u->path, u->size_max, (int)SMALL_FILE);
    return th_error_set(u->err, "PRED-0020", "%s: must be %zu bytes at most", u->path, u->size_max);
}

static int damaged(const unpacker *u, const char *tool)
{
    return th_error_set(u->err, "PRED-0021", "%s: is damaged or cut short (%s)", u->path, tool);
}

/* 0 or -1. */
static int add(const unpacker *u, const unsigned char *bytes, size_t n)
{
    th_strbuf_add_bytes(u->out, bytes, n);
    if (u->out->failed)
        return th_error_no_memory(u->err);
    return u->out->length > u->size_max ? too_long(u) : 0;
}

static int unpack_xz(const unpacker *u, const th_strbuf *packed)
{
    static const uint64_t MEMORY_MAX = (uint64_t)256 << 20;
    unsigned char chunk[CHUNK];
    lzma_stream s = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&s, MEMORY_MAX, LZMA_CONCATENATED) != LZMA_OK)
        return th_error_no_memory(u->err);
    s.next_in = (const unsigned char *)packed->text;
    s.avail_in = packed->length;
    lzma_ret status = LZMA_OK;
    int failed = 0;
    while (!failed && status == LZMA_OK) {
        s.next_out = chunk;
        s.avail_out = CHUNK;
        status = lzma_code(&s, LZMA_FINISH);
        failed = add(u, chunk, CHUNK - s.avail_out);
    }
    lzma_end(&s);
    return failed ? -1 : status == LZMA_STREAM_END ? 0 : damaged(u, "xz");
}

static int unpack_gzip(const unpacker *u, th_strbuf *packed)
{
    enum { GZIP_ONLY = 16 };
    unsigned char chunk[CHUNK];
    z_stream s = {.next_in = (unsigned char *)packed->text, .avail_in = (uInt)packed->length};
    if (inflateInit2(&s, GZIP_ONLY + MAX_WBITS) != Z_OK)
        return th_error_no_memory(u->err);
    int status = Z_OK, failed = 0;
    while (!failed && status == Z_OK) {
        s.next_out = chunk;
        s.avail_out = CHUNK;
        status = inflate(&s, Z_NO_FLUSH);
        failed = add(u, chunk, CHUNK - s.avail_out);
        if (status == Z_STREAM_END && s.avail_in > 0) /* another member */
            status = inflateReset(&s);
    }
    inflateEnd(&s);
    return failed ? -1 : status == Z_STREAM_END ? 0 : damaged(u, "gzip");
}

/* Before its bytes are unpacked. */
static void limit(unpacker *u, const th_strbuf *packed)
{
    u->is_small = packed->length < SMALL_FILE && u->size_max > SMALL_UNPACKED_MAX;
    if (u->is_small)
        u->size_max = SMALL_UNPACKED_MAX;
}

int th_decompress_file(const char *path, size_t size_max, th_strbuf *text, th_error *err)
{
    static const char xz[] = "\xFD"
                             "7zXZ",
                      gzip[] = "\x1F\x8B";
    unpacker u = {path, size_max, false, text, err};
    th_strbuf raw = TH_STRBUF_INIT;
    int failed = th_file_bytes_read(path, size_max, &raw, err);
    if (!failed && raw.length > strlen(xz) && memcmp(raw.text, xz, strlen(xz)) == 0) {
        limit(&u, &raw);
        failed = unpack_xz(&u, &raw);
    } else if (!failed && raw.length > strlen(gzip) && memcmp(raw.text, gzip, strlen(gzip)) == 0) {
        limit(&u, &raw);
        failed = unpack_gzip(&u, &raw);
    } else if (!failed) {
        failed = add(&u, (const unsigned char *)raw.text, raw.length);
    }
    th_strbuf_clear(&raw);
    if (!failed && text->text && strlen(text->text) != text->length)
        failed = th_error_set(err, "PRED-0158", "%s: must be text, has a zero byte", path);
    return failed;
}
