/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_file.c - a user's pipeline schedule: one line of text per stage.
 *
 *   # two stages, three micro-batches
 *   F0 F1 B0 F2 B1 B2
 *   F0 B0 F1 B1 F2 B2
 *
 * F forward, B backward, W the gradients of weights, which B includes where no W stands in the
 * file. The number is the micro-batch; F3.1 is that of chunk 1 (else 0). A line "turns" before the
 * stages: odd chunks run from the last stage to the first. */
#include <config.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/files/text_file.h"
#include "training/pipeline_schedule.h"

enum { FILE_BYTES_MAX = 16 << 20 };

typedef struct reader {
    const char *path;
    int line;
    th_pipeline_schedule *s;
    size_t capacity, n; /* operations so far */
    int32_t first_n;    /* operations of the first stage */
} reader;

/* F12.3. 0 or -1. */
static int parse_op(const reader *r, const char *word, th_pipeline_op *op, th_error *err)
{
    const char *kind = strchr("FBW", word[0]);
    char *end = NULL;
    long micro_batch = -1, chunk = 0;
    if (kind && isdigit((unsigned char)word[1])) {
        micro_batch = strtol(word + 1, &end, 10);
        if (*end == '.' && isdigit((unsigned char)end[1]))
            chunk = strtol(end + 1, &end, 10);
    }
    if (micro_batch < 0 || *end || micro_batch >= TH_MICRO_BATCHES_MAX ||
        chunk >= TH_CHUNKS_MAX_OF_STAGE)
        return th_error_set(err, "MAP-0408",
                            "%s:%d: \"%.40s\": must be F, B or W, a micro-batch and a chunk, such "
                            "as F0 or B3.1",
                            r->path, r->line, word);
    *op = (th_pipeline_op){(int32_t)micro_batch, (int16_t)chunk, (int16_t)(kind - "FBW")};
    return 0;
}

static void widen(th_pipeline_schedule *s, const th_pipeline_op *op)
{
    if (op->micro_batch >= s->shape.micro_batches)
        s->shape.micro_batches = op->micro_batch + 1;
    if (op->chunk >= s->shape.chunks)
        s->shape.chunks = op->chunk + 1;
    s->splits_backward |= op->kind == TH_PIPELINE_WEIGHTS;
}

/* The operations of a stage. 0 or -1. */
static int read_stage(reader *r, char *line, th_error *err)
{
    char *rest = NULL;
    size_t before = r->n;
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (th_grow(&r->s->ops, &r->capacity, r->n + 1, sizeof *r->s->ops))
            return th_error_no_memory(err);
        if (parse_op(r, word, &r->s->ops[r->n], err))
            return -1;
        widen(r->s, &r->s->ops[r->n++]);
    }
    int32_t n = (int32_t)(r->n - before);
    if (r->s->shape.stages++ == 0)
        r->first_n = n;
    if (n == r->first_n && r->s->shape.stages <= TH_STAGES_MAX)
        return 0;
    return th_error_set(err, "MAP-0409",
                        "%s:%d: stage %d has %d operations, stage 0 has %d: must be the same "
                        "number, and at most %d stages",
                        r->path, r->line, (int)r->s->shape.stages - 1, (int)n, (int)r->first_n,
                        TH_STAGES_MAX);
}

static int read_lines(reader *r, char *text, th_error *err)
{
    for (char *line = text; line; r->line++) {
        char *next = strchr(line, '\n'), *comment;
        if (next)
            *next++ = '\0';
        if ((comment = strchr(line, '#')))
            *comment = '\0';
        line += strspn(line, " \t\r");
        if (r->s->shape.stages == 0 && strncmp(line, "turns", 5) == 0 &&
            line[5 + strspn(line + 5, " \t\r")] == '\0')
            r->s->is_v = true;
        else if (line[0] && read_stage(r, line, err))
            return -1;
        line = next;
    }
    return 0;
}

/* Are there as many operations as stages, chunks and micro-batches make? */
static int check_number(reader *r, th_error *err)
{
    th_pipeline_schedule *s = r->s;
    int64_t each = (int64_t)s->shape.chunks * s->shape.micro_batches;
    int64_t expected = each * (s->splits_backward ? 3 : 2);
    s->n_ops = r->first_n;
    if (s->shape.stages > 0 && r->first_n == expected)
        return 0;
    return th_error_set(err, "MAP-0410",
                        "%s: %d stages of %d operations: must be %lld, for %d micro-batches and %d "
                        "chunks",
                        r->path, (int)s->shape.stages, (int)r->first_n, (long long)expected,
                        (int)s->shape.micro_batches, (int)s->shape.chunks);
}

int th_pipeline_read(const char *path, th_pipeline_schedule *out, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    *out = (th_pipeline_schedule){.ops = NULL};
    reader r = {.path = path, .line = 1, .s = out};
    int status = th_text_file_read(path, FILE_BYTES_MAX, &text, err);
    if (status == 0)
        status = read_lines(&r, text.text, err) || check_number(&r, err) ||
                         th_pipeline_check(out, path, err)
                     ? -1
                     : 0;
    th_strbuf_clear(&text);
    if (status)
        th_pipeline_clear(out);
    return status;
}
