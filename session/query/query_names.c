/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query_names.c - tables and columns by name, and errors that say which names are near: to "strat"
 * and "start" of tasks, its column start_ps. */
#include <config.h>
#include <ctype.h>
#include <string.h>
#include "base/min_max.h"
#include "base/names.h"
#include "session/query/query.h"

const th_figures *th_query_table_named(const char *name)
{
    int i = 0;
    while (th_figure_classes[i] && sqlite3_stricmp(th_figure_classes[i]->name, name) != 0)
        i++;
    return th_figure_classes[i];
}

const char *th_query_column_name(const th_attribute *column, char out[static TH_FIGURE_NAME_MAX])
{
    return th_figures_name(column, sqlite3_keyword_check(column->name, (int)strlen(column->name)),
                           out);
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool th_query_mentions(const char *sql, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = sql; *at != '\0'; at++)
        if ((at == sql || !is_of_word(at[-1])) && sqlite3_strnicmp(at, word, (int)n) == 0 &&
            !is_of_word(at[n]))
            return true;
    return false;
}

/* ---- near misses ---- */

int th_query_unknown_table(const char *name, th_error *err)
{
    enum { TABLES_MAX = 32 };
    const char *names[TABLES_MAX];
    int n = 0;
    for (; th_figure_classes[n] && n < TABLES_MAX - 1; n++)
        names[n] = th_figure_classes[n]->name;
    names[n] = NULL;
    return th_error_unknown(err, "TCL-2175", "table", name, names);
}

int th_query_unknown_function(const char *name, th_error *err)
{
    return th_error_unknown(err, "TCL-2171", "function", name, th_query_functions);
}

/* How far a name is from that of a column, with its unit or without. */
static int distance_of(const th_attribute *column, const char *name)
{
    char full[TH_FIGURE_NAME_MAX];
    return th_min(th_name_distance(name, column->name),
                  th_name_distance(name, th_query_column_name(column, full)));
}

/* "; near: start_ps", of a table in the statement, else "; near: macs of layers"; nothing where
 * none is near. */
static void add_near(const char *name, const char *sql, th_strbuf *out)
{
    int least = 2 + (int)strnlen(name, TH_FIGURE_NAME_MAX) / 4; /* one more than is near enough */
    for (int others = 0; others <= 1 && out->length == 0; others++)
        for (int i = 0; th_figure_classes[i]; i++) {
            const th_figures *f = th_figure_classes[i];
            th_attribute a;
            char full[TH_FIGURE_NAME_MAX];
            if (th_query_mentions(sql, f->name) == others)
                continue;
            for (int c = 0; (a = th_figures_column(f, c)).name; c++)
                if (distance_of(&a, name) < least) {
                    least = distance_of(&a, name);
                    th_strbuf_clear(out);
                    th_strbuf_printf(out, "; near: %s%s%s", th_query_column_name(&a, full),
                                     others ? " of " : "", others ? f->name : "");
                }
        }
}

/* What follows the beginning in a text, behind a qualifier: "strat" of "no such column: t.strat";
 * NULL: it begins otherwise. */
static const char *name_behind(const char *said, const char *beginning)
{
    size_t n = strlen(beginning);
    const char *dot = strrchr(said, '.');
    return strncmp(said, beginning, n) != 0 ? NULL : dot ? dot + 1 : said + n;
}

int th_query_explain(const char *said, const char *sql, th_error *err)
{
    const char *name = name_behind(said, "no such table: ");
    if (name)
        return th_query_unknown_table(name, err);
    if ((name = name_behind(said, "no such function: ")))
        return th_query_unknown_function(name, err);
    if (!(name = name_behind(said, "no such column: ")))
        return th_error_set(err, "TCL-2177", "SQL: %s", said);
    th_strbuf near = TH_STRBUF_INIT;
    add_near(name, sql, &near);
    th_error_set(err, "TCL-2178", "%s%s", said, near.text ? near.text : "");
    th_strbuf_clear(&near);
    return -1;
}
