/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.c - near misses: the known name that is most similar to a given one.
 *
 * Optimal string alignment: the least number of insertions, deletions, replacements of one
 * character, and swaps of two neighbours that are not changed again, that convert a into b. With
 * d[i][j] for the first i characters of a and j of b:
 *   d[i][j] = min(d[i-1][j] + 1, d[i][j-1] + 1, d[i-1][j-1] + (a_i != b_j),
 *                 d[i-2][j-2] + 1 if a_i a_{i-1} = b_{j-1} b_j) */
#include <config.h>
#include "base/names.h"
#include <ctype.h>
#include <string.h>
#include "base/min_max.h"
#include "base/strbuf.h"

enum { LENGTH_MAX = 64 }; /* characters that are compared: names are short */

int th_name_distance(const char *a, const char *b)
{
    int n_a = (int)strnlen(a, LENGTH_MAX), n_b = (int)strnlen(b, LENGTH_MAX);
    int d[LENGTH_MAX + 1][LENGTH_MAX + 1];
    for (int j = 0; j <= n_b; j++)
        d[0][j] = j;
    for (int i = 1; i <= n_a; i++) {
        d[i][0] = i;
        for (int j = 1; j <= n_b; j++) {
            int replaced = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = th_min(replaced, 1 + th_min(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = th_min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n_a][n_b];
}

const char *th_name_nearest(const char *name, const char *const *names, size_t n)
{
    enum { TELLING = 3 }; /* characters that say what was meant */
    const char *nearest = NULL, *beginning = NULL;
    size_t length = strnlen(name, LENGTH_MAX);
    int least = 2 + (int)length / 4; /* one more than is near enough */
    for (size_t i = 0; i < n; i++) {
        int distance = th_name_distance(name, names[i]);
        if (!beginning && length >= TELLING && strncmp(names[i], name, length) == 0)
            beginning = names[i]; /* half a word; one letter amiss goes before it */
        /* Of a name of one letter, everything of one letter would be near. */
        if (distance < least && distance < (int)length) {
            least = distance;
            nearest = names[i];
        }
    }
    return least > 1 && beginning ? beginning : nearest;
}

/* ---- equal names ---- */

/* Do the n characters of a spell name, but for case and what is no letter or digit? */
static bool spells(const char *a, size_t n, const char *name)
{
    size_t i = 0;
    for (;;) {
        while (i < n && !isalnum((unsigned char)a[i]))
            i++;
        while (*name != '\0' && !isalnum((unsigned char)*name))
            name++;
        if (i == n || *name == '\0')
            return i == n && *name == '\0';
        if (tolower((unsigned char)a[i++]) != tolower((unsigned char)*name++))
            return false;
    }
}

bool th_name_is_among(const char *names, const char *name)
{
    for (const char *at = names; *at != '\0';) {
        size_t n = strcspn(at, ";");
        if (n > 0 && spells(at, n, name))
            return true;
        at += n + (at[n] == ';');
    }
    return false;
}

/* ---- what was wrong with a name ---- */

static size_t count_names(const char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

/* The known names as far as they fit on a line that one wants to read. */
static void list_names(th_strbuf *out, const char *const *names, size_t enough)
{
    for (size_t i = 0; names[i]; i++) {
        if (out->length > enough) {
            th_strbuf_add(out, ", ...");
            return;
        }
        th_strbuf_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}

/* A name in capitals is near to what it is in small letters. */
static const char *nearest_of_any_case(const char *name, const char *const *names)
{
    size_t n = count_names(names), length = strlen(name);
    const char *near = th_name_nearest(name, names, n);
    char small[LENGTH_MAX + 1] = "";
    if (near || length > LENGTH_MAX)
        return near;
    for (size_t i = 0; i < length; i++)
        small[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], small) == 0)
            return names[i];
    return th_name_nearest(small, names, n);
}

int th_error_unknown(th_error *err, const char *id, const char *what, const char *name,
                     const char *const *names)
{
    th_strbuf known = TH_STRBUF_INIT;
    /* Of one or two letters, everything is near. */
    const char *near = strlen(name) > 2 ? nearest_of_any_case(name, names) : NULL;
    enum { ENOUGH = 300, ENOUGH_WITH_NEAR = 120 }; /* bytes */
    list_names(&known, names, near ? ENOUGH_WITH_NEAR : ENOUGH);
    const char *list = known.text ? known.text : "nothing";
    if (!names[0])
        th_error_set(err, id, "%s \"%s\": there is none yet", what, name);
    else if (near)
        th_error_set(err, id, "%s \"%s\": did you mean \"%s\"? (must be one of %s)", what, name,
                     near, list);
    else
        th_error_set(err, id, "%s \"%s\": must be one of %s", what, name, list);
    th_strbuf_clear(&known);
    return -1;
}
