/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failure_option.c - see failure_option.h. */
#include <config.h>
#include "tcl/reliability/failure_option.h"
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "base/notes.h"
#include "base/files/text_file.h"
#include "base/units.h"
#include "tcl/warning.h"

/* ---- a trace file ---- */

static int add_time(const char *path, int line, const char *text, double **times, size_t *capacity,
                    int64_t *n, th_error *err)
{
    double seconds;
    th_error e;
    if (th_parse_seconds(text, &seconds, &e) != 0)
        return th_error_set(err, "TCL-1102", "%s:%d: %s", path, line, e.text);
    if (*n > 0 && seconds < (*times)[*n - 1])
        return th_error_set(err, "TCL-1103", "%s:%d: \"%.40s\": times must ascend", path, line,
                            text);
    if (th_grow(times, capacity, (size_t)*n + 1, sizeof **times))
        return th_error_no_memory(err);
    (*times)[(*n)++] = seconds;
    return 0;
}

/* Cuts blanks off both ends of a line, and what follows a #. */
static char *trim(char *line)
{
    char *comment = strchr(line, '#');
    if (comment)
        *comment = '\0';
    line += strspn(line, " \t\r");
    size_t n = strlen(line);
    while (n > 0 && strchr(" \t\r", line[n - 1]))
        line[--n] = '\0';
    return line;
}

int th_failure_times_read(const char *path, double **times, int64_t *n, th_strbuf *notes,
                          th_error *err)
{
    enum { FILE_MAX = 4 << 20 };
    th_strbuf text = TH_STRBUF_INIT;
    size_t capacity = 0;
    int number = 1, failed = th_text_file_read(path, FILE_MAX, &text, err);
    *times = NULL;
    *n = 0;
    for (char *line = text.text; !failed && line; number++) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        line = trim(line);
        if (*line && !end)
            th_note(notes, "its last line has no end: the file may be cut short");
        if (*line)
            failed = add_time(path, number, line, times, &capacity, n, err);
        line = end;
    }
    th_strbuf_clear(&text);
    if (!failed && *n == 0)
        failed = th_error_set(err, "TCL-1105", "%s: has no time: must have one in each line", path);
    if (!failed)
        return 0;
    th_free(*times);
    *times = NULL;
    return -1;
}

int th_call_failure_times(const th_call *c, Tcl_Obj *word, double **times, int64_t *n,
                          th_error *err)
{
    th_strbuf notes = TH_STRBUF_INIT;
    const char *path = Tcl_FSGetNativePath(word);
    if (!path)
        path = Tcl_GetString(word);
    int failed = th_failure_times_read(path, times, n, &notes, err);
    th_warn_notes(c, path, failed, &notes);
    return failed;
}
