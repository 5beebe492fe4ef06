/* SPDX-License-Identifier: GPL-3.0-or-later */
/* encode.c - compact encoding of numbers for small pages. A number takes seven bits per byte, the
 * lowest first, with the eighth bit set if more follow (LEB128, as in DWARF 5, section 7.6), and is
 * zigzag-encoded for its sign: 0 -1 1 -2 ... becomes 0 1 2 3. The stream is deflated (RFC 1951),
 * because a stream of inputs repeats the same patterns. */
#include <config.h>
#include "render/html/parts.h"
#include <zlib.h>
#include "base/alloc.h"

enum { BITS = 7, MORE = 0x80 };

void th_encode_number(th_strbuf *bytes, int64_t number)
{
    uint64_t n = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
    unsigned char text[10]; /* bytes of 64 bits, seven at a time */
    size_t length = 0;
    for (; n >= MORE; n >>= BITS)
        text[length++] = (unsigned char)(n | MORE);
    text[length++] = (unsigned char)n;
    th_strbuf_add_bytes(bytes, text, length);
}

static void encode_base64(th_strbuf *out, const th_strbuf *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes->length; i += 3) {
        unsigned three = 0;
        size_t n = bytes->length - i < 3 ? bytes->length - i : 3;
        for (size_t k = 0; k < 3; k++)
            three = three << 8 | (k < n ? (unsigned char)bytes->text[i + k] : 0);
        char text[] = {digits[three >> 18], digits[three >> 12 & 63],
                       n > 1 ? digits[three >> 6 & 63] : '=', n > 2 ? digits[three & 63] : '='};
        th_strbuf_add_bytes(out, text, sizeof text);
    }
    out->failed |= bytes->failed;
}

int th_encode_packed(th_strbuf *out, const th_strbuf *bytes)
{
    enum { RAW = -15, MEMORY_LEVEL = 9 }; /* no header; most memory, for speed */
    z_stream z = {.next_in = (Bytef *)bytes->text, .avail_in = (uInt)bytes->length};
    if (bytes->failed || deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, RAW, MEMORY_LEVEL,
                                      Z_DEFAULT_STRATEGY) != Z_OK)
        return -1;
    uLong size = deflateBound(&z, (uLong)bytes->length);
    unsigned char *packed = th_alloc_array(size, 1);
    z.next_out = packed;
    z.avail_out = (uInt)size;
    bool failed = !packed || deflate(&z, Z_FINISH) != Z_STREAM_END;
    if (!failed)
        encode_base64(out, &(th_strbuf){.text = (char *)packed, .length = z.total_out});
    deflateEnd(&z);
    th_free(packed);
    return failed || out->failed ? -1 : 0;
}
