/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help_search.c - finds commands by a word: first those whose name, group, summary or options have
 * it, or that its topic names; then those whose help texts do. Words are compared without their
 * endings, so that "stepping" finds step, and "tile" finds tiles. */
#include <config.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "tcl/command.h"

enum { STEM_MAX = 40, STEM_MIN = 3 };

/* Words of users that stand in no text, and the commands that they mean. */
static const struct {
    const char *word, *commands;
} topics[] = {
    {"sweep", "create_study read_study run_study report_study write_plot parallel_foreach"},
    {"debug", "step where examine add_breakpoint run report_breakpoints"},
    {"waveform", "open_trace add_trace close_trace"},
    {"gtkwave", "open_trace add_trace close_trace"},
    {"bottleneck", "report_critical_path report_bounds report_sensitivity report_utilization"},
    {"buy", "report_advice report_sensitivity"},
    {"upgrade", "report_advice report_sensitivity"},
    {"llm", "create_transformer parallel_plan report_training read_workload"},
    {"llama", "create_transformer parallel_plan report_training"},
    {"gpt", "create_transformer parallel_plan report_training"},
    {"moe", "create_transformer parallel_plan"},
    {"cluster", "create_system"},
    {"dgx", "create_system"},
    {"health", "inject_fault add_trace"},
    {"straggler", "inject_fault"},
    {"goodput", "report_reliability"},
    {"congestion", "report_links report_critical_path"},
    {"compare", "report_compare report_diff save_run write_plot"},
};

/* The word in lower case without "ing", "ed", "es", "s", "er", and with one of a doubled last
 * letter ("stepping": "step"). */
static void stem(const char *word, size_t n, char out[STEM_MAX])
{
    static const char *const endings[] = {"ing", "ers", "ed", "es", "er", "s", "e", NULL};
    if (n >= STEM_MAX)
        n = STEM_MAX - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)tolower((unsigned char)word[i]);
    out[n] = '\0';
    for (const char *const *e = endings; *e; e++) {
        size_t length = strlen(*e);
        if (n >= length + STEM_MIN && strcmp(out + n - length, *e) == 0) {
            n -= length;
            break;
        }
    }
    if (n > STEM_MIN && out[n - 1] == out[n - 2])
        n--;
    out[n] = '\0';
}

/* Has the text the word, or one with the same stem? */
static bool has_word(const char *text, const char *word)
{
    char wanted[STEM_MAX], found[STEM_MAX];
    size_t length = strlen(word);
    stem(word, length, wanted);
    for (const char *p = text; p && *p != '\0'; p++) {
        if (strncasecmp(p, word, length) == 0)
            return true;
        if (!isalpha((unsigned char)*p) || (p > text && isalpha((unsigned char)p[-1])))
            continue;
        size_t n = 0;
        while (isalpha((unsigned char)p[n]))
            n++;
        stem(p, n, found);
        if (strcmp(found, wanted) == 0)
            return true;
    }
    return false;
}

static bool is_topic_of(const th_command *row, const char *word)
{
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        const char *name = strstr(topics[i].commands, row->name);
        size_t n = strlen(row->name);
        if (name && (name[n] == ' ' || name[n] == '\0') &&
            (name == topics[i].commands || name[-1] == ' ') && has_word(topics[i].word, word))
            return true;
    }
    return false;
}

static bool is_about(const th_command *row, const char *word)
{
    if (has_word(row->name, word) || has_word(row->summary, word) || has_word(row->group, word) ||
        is_topic_of(row, word))
        return true;
    for (const th_option *o = row->options; o && o->name; o++)
        if (has_word(o->name, word))
            return true;
    return false;
}

static bool mentions(const th_command *row, const char *word)
{
    if (is_about(row, word))
        return false;
    for (const th_option *o = row->options; o && o->name; o++)
        if (has_word(o->help, word))
            return true;
    return has_word(row->help, word);
}

static int list(th_strbuf *out, const char *word,
                bool (*is_wanted)(const th_command *row, const char *word), const char *heading)
{
    int n = 0;
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++)
            if (!row->alias_of && is_wanted(row, word)) {
                if (n++ == 0)
                    th_strbuf_add(out, heading);
                th_help_line(out, row);
            }
    return n;
}

int th_help_search(const char *word, th_strbuf *out)
{
    if (word[0] == '\0')
        return 0;
    int n = list(out, word, is_about, "");
    return n + list(out, word, mentions, n > 0 ? "\nMentioned in the help of\n" : "");
}
