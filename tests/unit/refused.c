/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/refused.h"
#include "base/alloc.h"
#include "base/files/text_file.h"
#include "tests/unit/tap.h"

static const refusing_reader *find(const refusing_reader *readers, const char *name)
{
    while (readers->name && strcmp(readers->name, name) != 0)
        readers++;
    CU_ASSERT_PTR_NOT_NULL_FATAL(readers->name);
    return readers;
}

/* The line at *at, without its end; *at is the next one. NULL at the end of the text. */
static char *take_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (end)
        *end = '\0';
    *at = end && end[1] ? end + 1 : NULL;
    return line;
}

static bool begins_case(const char *line)
{
    return strncmp(line, "== ", 3) == 0 || strncmp(line, "-- ", 3) == 0;
}

/* The text from *at up to the next case, put together again. */
static char *take_text(char **at)
{
    char *text = *at, *end = text;
    while (*at && !begins_case(*at)) {
        char *line = take_line(at);
        end = line + strlen(line);
        if (*at && !begins_case(*at))
            *end = '\n';
    }
    return end > text ? text : NULL;
}

/* Asserts that the text is refused, and that this is said of it. */
static void assert_refused(const refusing_reader *reader, const char *text, const char *expected)
{
    auto_strbuf whole = TH_STRBUF_INIT;
    char said[TH_ERROR_TEXT_MAX + 20];
    th_error e = {"", ""};
    th_strbuf_printf(&whole, "%s%s", reader->before ? reader->before : "", text ? text : "");
    CU_ASSERT_EQUAL(reader->read(whole.text, &e), -1);
    snprintf(said, sizeof said, "%s %s", e.id, e.text);
    TAP_ASSERT_TEXT(said, expected);
}

void assert_refusals(const char *file, const refusing_reader *readers)
{
    char path[4096];
    th_error e = {"", ""};
    const char *top = getenv("srcdir");
    snprintf(path, sizeof path, "%s/tests/unit/%s", top ? top : ".", file);
    th_strbuf cases = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL_FATAL(th_text_file_read(path, 1 << 20, &cases, &e), 0);
    const refusing_reader *reader = NULL;
    int n = 0;
    for (char *at = cases.text, *line; (line = take_line(&at));) {
        if (strncmp(line, "== ", 3) == 0)
            reader = find(readers, line + 3);
        if (!reader || strncmp(line, "-- ", 3) != 0)
            continue;
        assert_refused(reader, take_text(&at), line + 3);
        n++;
    }
    CU_ASSERT_TRUE(n > 0);
    th_strbuf_clear(&cases);
}
