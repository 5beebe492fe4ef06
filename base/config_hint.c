/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_hint.c - see config_hint.h. Looks at the text around the error; the commonest mistakes
 * first. A missing separator shows at the token after it, which may stand on the next line. */
#include <config.h>

#include "base/config_hint.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 40 };

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *line_start(const char *text, int line)
{
    while (--line > 0 && strchr(text, '\n'))
        text = strchr(text, '\n') + 1;
    return text;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '*';
}

static bool is_literal(const char *word, size_t n)
{
    return (n == 4 && strncasecmp(word, "true", n) == 0) ||
           (n == 5 && strncasecmp(word, "false", n) == 0);
}

/* "x = yes": a value that is neither a literal, a number nor a text. */
static bool find_bare_word(const char *line, char *out, size_t size)
{
    const char *sign = line + strcspn(line, "=:\n");
    const char *word = *sign == '\n' || *sign == '\0' ? sign : sign + 1 + strspn(sign + 1, " \t");
    size_t n = 0;
    while (is_name(word[n]))
        n++;
    if (n == 0 || n > WORD_MAX || !isalpha((unsigned char)*word) || is_literal(word, n))
        return false;
    snprintf(out, size, ": \"%.*s\" must be true, false, a number, or a text in quotes, \"%.*s\"",
             (int)n, word, (int)n, word);
    return true;
}

/* '"name": ...': a name in quotes. */
static bool has_quoted_name(const char *line)
{
    line += strspn(line, " \t{,");
    const char *end = *line == '"' ? strchr(line + 1, '"') : NULL;
    return end && end[1 + strspn(end + 1, " \t")] == ':';
}

/* How many brackets are open at the end of the text, texts and comments left out. */
static int open_brackets(const char *text)
{
    int depth = 0;
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            for (text++; *text != '\0' && *text != '"'; text++)
                text += *text == '\\' && text[1] != '\0';
            if (*text == '\0')
                return depth + 1;
        } else if (*text == '#' || (*text == '/' && text[1] == '/')) {
            text += strcspn(text, "\n") - 1;
        } else if (strchr("{[(", *text)) {
            depth++;
        } else if (strchr("}])", *text)) {
            depth--;
        }
    }
    return depth;
}

/* Does a value end where the line ends, with no separator behind it, and another begin? */
static bool lacks_comma(const char *text, const char *line)
{
    const char *last = line;
    const char *first = line + strspn(line, " \t");
    while (last > text && isspace((unsigned char)last[-1]))
        last--;
    return last > text && strchr("\"})]0123456789", last[-1]) && strchr("\"{([0123456789", *first);
}

void th_config_hint(const char *text, int line, char *out, size_t size)
{
    const char *at = line_start(text, line);
    const char *end = at + strcspn(at, "\n");
    out[0] = '\0';
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        snprintf(out, size, ": begins with a byte order mark, which must not be there");
    else if (*skip_blanks(text) == '{' || has_quoted_name(at))
        snprintf(out, size, ": is this JSON? Expected NAME = VALUE; with names without quotes");
    else if (find_bare_word(at, out, size))
        return;
    else if (*skip_blanks(end) == '\0' && open_brackets(text) > 0)
        snprintf(out, size, ": ends too early: a quote or one of } ] ) is missing");
    else if (lacks_comma(text, at))
        snprintf(out, size, ": expected a comma between this line and the one before it");
    else
        snprintf(out, size, ": expected NAME = VALUE; with commas between the values of a list");
}
