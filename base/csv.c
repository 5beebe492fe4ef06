/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - lines of comma-separated values.
 *   th_csv_next: { cut a line -> { cut a field } } until one is not blank */
#include <config.h>

#include "base/csv.h"

#include <string.h>

#include "base/alloc.h"

static const char blanks[] = " \t\r";

th_csv th_csv_open(char *text)
{
    return (th_csv){.rest = text};
}

/* Takes "..." apart in place; what is behind it up to the comma is dropped. The rest behind it, or
 * NULL. */
static char *unquote(char *from, char **field)
{
    char *to = from;
    const char *at = from + 1;
    *field = from;
    while (*at != '\0' && (*at != '"' || at[1] == '"')) {
        at += *at == '"';
        *to++ = *at++;
    }
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

static int cut(th_csv *c, char *line)
{
    c->n_fields = 0;
    for (char *at = line; at;) {
        if (th_grow(&c->field, &c->capacity, (size_t)c->n_fields + 1, sizeof *c->field))
            return -1;
        at += strspn(at, blanks);
        at = *at == '"' ? unquote(at, &c->field[c->n_fields]) : trim(at, &c->field[c->n_fields]);
        c->n_fields++;
    }
    return 1;
}

int th_csv_next(th_csv *c)
{
    while (c->rest && *c->rest != '\0') {
        char *line = c->rest, *end = strchr(line, '\n');
        c->rest = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        c->line++;
        if (line[strspn(line, blanks)] != '\0')
            return cut(c, line);
    }
    return 0;
}

void th_csv_clear(th_csv *c)
{
    th_free(c->field);
    *c = (th_csv){.rest = NULL};
}
