/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_guard.c - one pass over a configuration text before libconfig 1.5 parses it.
 *
 * libconfig 1.5 reads 9999999999 as 1410065407, needs 74 s for a group of 80,000 members, recurses
 * as deep as the text says, and opens whatever file @include names. So its tokens are cut here by
 * the same rules (names, numbers, strings, comments, brackets; the longest match wins, as in its
 * scanner.l), and each is measured. One rule per function; scan() goes from token to token. */
#include <config.h>
#include "base/files/config_guard.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct scanner {
    const char *at;
    const char *name; /* of the file */
    int line;
    int depth;
    int64_t text; /* bytes of the strings since another token: libconfig joins them */
    int n_members[TH_CONFIG_DEPTH_MAX + 1]; /* of the open group at each depth */
    th_error *err;
} scanner;

/* ---- lengths of tokens at c; 0: none ---- */

static size_t digits_length(const char *c)
{
    size_t n = 0;
    while (isdigit((unsigned char)c[n]))
        n++;
    return n;
}

static size_t exponent_length(const char *c)
{
    if (*c != 'e' && *c != 'E')
        return 0;
    size_t sign = c[1] == '+' || c[1] == '-';
    size_t digits = digits_length(c + 1 + sign);
    return digits ? 1 + sign + digits : 0;
}

static size_t name_length(const char *c)
{
    size_t n = 0;
    if (!isalpha((unsigned char)*c) && *c != '*')
        return 0;
    while (isalnum((unsigned char)c[n]) || (c[n] && strchr("-_*", c[n])))
        n++;
    return n;
}

/* ---- numbers ---- */

typedef enum { INTEGER, LONG_INTEGER, HEX, LONG_HEX, FLOATING } number_kind;

/* Without an L suffix an integer is 32 bits wide, with one 64. */
static size_t suffixed(const char *c, size_t n, number_kind plain, number_kind wide,
                       number_kind *kind)
{
    *kind = c[n] == 'L' ? wide : plain;
    while (c[n] == 'L')
        n++;
    return n;
}

/* Length and kind of the number at c, 0 if there is none. */
static size_t number_length(const char *c, number_kind *kind)
{
    if (c[0] == '0' && (c[1] == 'x' || c[1] == 'X') && isxdigit((unsigned char)c[2])) {
        size_t n = 2;
        while (isxdigit((unsigned char)c[n]))
            n++;
        return suffixed(c, n, HEX, LONG_HEX, kind);
    }
    size_t n = *c == '+' || *c == '-';
    size_t whole = digits_length(c + n);
    n += whole;
    bool has_point = c[n] == '.';
    if (has_point)
        n += 1 + digits_length(c + n + 1);
    if (whole == 0 && !has_point)
        return 0;
    size_t exponent = exponent_length(c + n);
    *kind = FLOATING;
    if (has_point || exponent)
        return n + exponent;
    return suffixed(c, n, INTEGER, LONG_INTEGER, kind);
}

static int check_number(const scanner *s, int length, number_kind kind)
{
    bool is_hex = kind == HEX || kind == LONG_HEX;
    bool is_wide = kind == LONG_INTEGER || kind == LONG_HEX;
    if (kind == FLOATING)
        return 0;
    errno = 0;
    long long value = strtoll(s->at, NULL, is_hex ? 16 : 10);
    if (errno == ERANGE)
        return th_error_set(s->err, "BASE-0020", "%s:%d: integer %.*s: does not fit 64 bits",
                            s->name, s->line, length, s->at);
    if (!is_wide && (value > INT32_MAX || value < INT32_MIN))
        return th_error_set(
            s->err, "BASE-0021",
            "%s:%d: integer %.*s: does not fit 32 bits: write %.*sL, or a quantity with a unit",
            s->name, s->line, length, s->at, length, s->at);
    return 0;
}

/* ---- brackets and members ---- */

static int open_bracket(scanner *s)
{
    if (s->depth == TH_CONFIG_DEPTH_MAX)
        return th_error_set(s->err, "BASE-0022",
                            "%s:%d: more than %d groups and lists within each other", s->name,
                            s->line, TH_CONFIG_DEPTH_MAX);
    s->n_members[++s->depth] = 0;
    return 0;
}

static int count_member(scanner *s)
{
    if (++s->n_members[s->depth] > TH_CONFIG_MEMBERS_MAX)
        return th_error_set(
            s->err, "BASE-0023",
            "%s:%d: a group of more than %d keys: write a list ( ... ) for many elements", s->name,
            s->line, TH_CONFIG_MEMBERS_MAX);
    return 0;
}

static int check_sign(scanner *s)
{
    switch (*s->at) {
    case '{':
    case '[':
    case '(':
        return open_bracket(s);
    case '}':
    case ']':
    case ')':
        s->depth -= s->depth > 0;
        return 0;
    case '=':
    case ':':
        return count_member(s);
    case '@':
        return th_error_set(s->err, "BASE-0024",
                            "%s:%d: @include is not supported: one file, one system or network",
                            s->name, s->line);
    default:
        return 0;
    }
}

/* ---- the pass ---- */

enum { NEVER_ENDS = -1 }; /* libconfig takes an open comment or string at the end for a whole one */

/* Length of the comment at c, without the line break that ends it; 0: none. */
static int64_t comment_length(const char *c)
{
    if (*c == '#' || (c[0] == '/' && c[1] == '/'))
        return (int64_t)strcspn(c, "\n");
    if (c[0] != '/' || c[1] != '*')
        return 0;
    const char *end = strstr(c + 2, "*/");
    return end ? end + 2 - c : NEVER_ENDS;
}

/* Length of the string at c, quotes included; 0: none. */
static int64_t string_length(const char *c)
{
    if (*c != '"')
        return 0;
    int64_t n = 1;
    while (c[n] && c[n] != '"')
        n += c[n] == '\\' && c[n + 1] ? 2 : 1;
    return c[n] ? n + 1 : NEVER_ENDS;
}

static void advance(scanner *s, int64_t n)
{
    for (; n > 0; n--, s->at++)
        s->line += *s->at == '\n';
}

static int never_ends(const scanner *s, const char *what)
{
    return th_error_set(s->err, "BASE-0028", "%s:%d: a %s that begins here never ends", s->name,
                        s->line, what);
}

/* Length of the string, name or number at s->at after checking it; 0: none; -1: refused. */
static int64_t check_token(scanner *s)
{
    number_kind kind = FLOATING;
    int64_t n = string_length(s->at);
    if (n == NEVER_ENDS)
        return never_ends(s, "string");
    s->text = n > 0 ? s->text + n : isspace((unsigned char)*s->at) ? s->text : 0;
    if (n == 0)
        n = (int64_t)name_length(s->at);
    if (n == 0)
        n = (int64_t)number_length(s->at, &kind);
    if (n > TH_CONFIG_TOKEN_MAX || s->text > TH_CONFIG_TOKEN_MAX)
        return th_error_set(s->err, "BASE-0025",
                            "%s:%d: a name, number or string of more than %d bytes: %.20s...",
                            s->name, s->line, TH_CONFIG_TOKEN_MAX, s->at);
    return check_number(s, (int)n, kind) == 0 ? n : -1;
}

static int scan(scanner *s)
{
    while (*s->at) {
        int64_t n = comment_length(s->at);
        if (n == NEVER_ENDS)
            return never_ends(s, "comment");
        if (n == 0)
            n = check_token(s);
        if (n == 0)
            n = check_sign(s) == 0 ? 1 : -1;
        if (n < 0)
            return -1;
        advance(s, n);
    }
    return 0;
}

int th_config_guard(const char *text, size_t size, const char *name, th_error *err)
{
    scanner s = {.at = text, .name = name, .line = 1, .err = err};
    const char *nul = memchr(text, 0, size);
    if (nul) {
        advance(&s, nul - text);
        return th_error_set(err, "BASE-0027", "%s:%d: holds a zero byte: not a text file", name,
                            s.line);
    }
    return scan(&s);
}

/* --- what was probably meant --- */

/* Looks at the text around a syntax error, the commonest mistakes first. A missing separator shows
 * at the token after it, which may stand on the next line. */
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
