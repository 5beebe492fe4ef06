/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - tables of comma-separated values.
 *   th_csv_first, th_csv_row: th_csv_next -> count the fields
 *   th_csv_next: { cut a line -> { cut a field } } until one is not blank */
#include <config.h>

#include "base/files/csv.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/names.h"

static const char blanks[] = " \t\r";

th_csv th_csv_open(const char *path, char *text)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    size_t n = strlen(byte_order_mark);
    if (text && !strchr(text, '\n')) /* lines that end in a carriage return alone */
        for (char *at = text; (at = strchr(at, '\r'));)
            *at = '\n';
    return (th_csv){.path = path,
                    .rest = text && strncmp(text, byte_order_mark, n) == 0 ? text + n : text};
}

/* Takes "..." apart in place. The rest behind the comma that follows, or NULL; *is_good: the quote
 * ends, and nothing but blanks follows. */
static char *unquote(char *from, char **field, bool *is_good)
{
    char *to = from;
    const char *at = from + 1;
    *field = from;
    while (*at != '\0' && (*at != '"' || at[1] == '"')) {
        at += *at == '"';
        *to++ = *at++;
    }
    *is_good = *at == '"';
    at += *is_good;
    at += strspn(at, blanks);
    *is_good = *is_good && strchr(",", *at);
    char *comma = strchr(at, ',');
    *to = '\0';
    return comma ? comma + 1 : NULL;
}

static char *trim(char *from, char **field)
{
    char *comma = strchr(from, ',');
    size_t n = comma ? (size_t)(comma - from) : strlen(from);
    while (n > 0 && strchr(blanks, from[n - 1]))
        n--;
    from[n] = '\0';
    *field = from;
    return comma ? comma + 1 : NULL;
}

static int cut(th_csv *c, char *line, th_error *err)
{
    bool is_good = true;
    c->n_fields = 0;
    for (char *at = line; at;) {
        if (th_grow(&c->field, &c->capacity, (size_t)c->n_fields + 1, sizeof *c->field))
            return th_error_no_memory(err);
        char **field = &c->field[c->n_fields++];
        at += strspn(at, blanks);
        at = *at == '"' ? unquote(at, field, &is_good) : trim(at, field);
        if (!is_good)
            return th_error_set(
                err, "BASE-0320",
                "%s:%d: field %d, \"%.40s\": a quote must end before a comma or the "
                "end of its line",
                c->path, c->line, c->n_fields, *field);
    }
    return 1;
}

int th_csv_next(th_csv *c, th_error *err)
{
    while (c->rest && *c->rest != '\0') {
        char *line = c->rest, *end = strchr(line, '\n');
        c->rest = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        c->line++;
        if (line[strspn(line, blanks)] != '\0')
            return cut(c, line, err);
    }
    return 0;
}

/* ---- headings ---- */

/* The field that one of these names, divided by ";", heads; -1: none. */
static int find(const th_csv *c, const char *names)
{
    for (int f = 0; f < c->n_fields; f++)
        if (th_name_is_among(names, c->field[f]))
            return f;
    return -1;
}

void th_csv_note_others(const th_csv *c, const int *place, int n, th_strbuf *notes)
{
    enum { SHOWN_BYTES = 300 };
    th_strbuf list = TH_STRBUF_INIT;
    for (int f = 0, i; f < c->n_fields; f++) {
        for (i = 0; i < n && place[i] != f; i++) {
        }
        if (i == n && c->field[f][0] != '\0' && list.length < SHOWN_BYTES)
            th_strbuf_printf(&list, " \"%.40s\"", c->field[f]);
    }
    if (list.length > 0)
        th_note(notes, "columns are not read:%s", list.text);
    th_strbuf_clear(&list);
}

int th_csv_place(th_csv *c, const char *const *names, int n_required, int *place, th_strbuf *notes,
                 th_error *err)
{
    int n = 0;
    c->n_headings = c->n_fields;
    for (int f = 0; f < c->n_fields; f++)
        if (c->field[f][0] != '\0' && find(c, c->field[f]) < f)
            return th_error_set(err, "BASE-0322", "%s:%d: column \"%.40s\" comes twice", c->path,
                                c->line, c->field[f]);
    for (; names[n]; n++) {
        place[n] = find(c, names[n]);
        if (place[n] < 0 && n < n_required)
            return th_error_set(err, "BASE-0323", "%s:%d: column \"%.*s\": must be there", c->path,
                                c->line, (int)strcspn(names[n], ";"), names[n]);
    }
    th_csv_note_others(c, place, n, notes);
    return 0;
}

int th_csv_first(th_csv *c, th_error *err)
{
    int status = th_csv_row(c, err);
    if (status == 0)
        return th_error_set(err, "BASE-0324", "%s: must have a line of headings", c->path);
    return status < 0 ? -1 : 0;
}

int th_csv_row(th_csv *c, th_error *err)
{
    int status;
    do
        status = th_csv_next(c, err);
    while (status > 0 && c->field[0][0] == '#');
    if (status > 0 && c->n_headings > 0 && c->n_fields != c->n_headings)
        return th_error_set(err, "BASE-0325",
                            "%s:%d: must have %d fields as the line of headings, has %d", c->path,
                            c->line, c->n_headings, c->n_fields);
    return status;
}

void th_csv_note_cut(const th_csv *c, th_strbuf *notes)
{
    if (!c->rest && c->line > 0)
        th_note(notes, "its last line has no end: the file may be cut short");
}

void th_csv_clear(th_csv *c)
{
    th_free(c->field);
    *c = (th_csv){.rest = NULL};
}
