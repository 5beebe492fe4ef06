/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failure_option.c - see failure_option.h. */
#include <config.h>
#include "tcl/reliability/failure_option.h"
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "base/notes.h"
#include "base/text_file.h"
#include "base/units.h"
#include "tcl/warning.h"

/* ---- durations ---- */

/* A duration in seconds: "30min", "50000h", or a time with ps and ns. 0, or -1 (*e). */
static int parse_seconds(const char *text, double *out, th_error *e)
{
    int64_t value;
    if (th_parse_time(text, &value, NULL) == 0) {
        *out = (double)value * 1e-12;
        return 0;
    }
    if (th_parse_duration(text, &value, e) != 0)
        return -1;
    *out = (double)value * 1e-6;
    return 0;
}

int th_call_seconds(th_call *c, int option, double otherwise, double *out)
{
    th_error e;
    *out = otherwise;
    if (!th_call_has(c, option) || parse_seconds(th_call_text(c, option, ""), out, &e) == 0)
        return 0;
    return th_call_prefix_error(c, c->command->options[option].name, &e);
}

/* ---- a trace file ---- */

static int add_time(const char *path, int line, const char *text, double **times, size_t *capacity,
                    int64_t *n, th_error *err)
{
    double seconds;
    th_error e;
    if (parse_seconds(text, &seconds, &e) != 0)
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

/* ---- the list ---- */

static int fail_kind(th_call *c, const char *kind, const char *key, const char *value,
                     const char *expected)
{
    return th_error_set(&c->err, "TCL-1106", "-failures: \"%.60s\": %s \"%.60s\": must be %s", kind,
                        key, value, expected);
}

static int parse_key(th_call *c, th_failure_kind *k, const char *key, Tcl_Obj *value)
{
    double number = 0;
    int is_true = 0;
    if (strcmp(key, "shape") == 0) {
        if (Tcl_GetDoubleFromObj(NULL, value, &number) != TCL_OK || !(number >= 0.1) || number > 10)
            return fail_kind(c, k->name, key, Tcl_GetString(value), "a number from 0.1 to 10");
        k->shape = number;
        return 0;
    }
    if (strcmp(key, "spare") == 0) {
        if (Tcl_GetBooleanFromObj(NULL, value, &is_true) != TCL_OK)
            return fail_kind(c, k->name, key, Tcl_GetString(value), "0 or 1");
        k->takes_spare = is_true;
        return 0;
    }
    return th_error_unknown(&c->err, "TCL-1107", "-failures: key", key,
                            (const char *const[]){"shape", "spare", NULL});
}

static int parse_law(th_call *c, th_failure_kinds *out, Tcl_Obj **word)
{
    th_failure_kind *k = &out->all[out->n];
    Tcl_WideInt units = 0;
    th_error e;
    if (strcmp(Tcl_GetString(word[1]), "times") == 0) {
        const char *path = Tcl_FSGetNativePath(word[2]);
        th_strbuf notes = TH_STRBUF_INIT;
        if (!path)
            path = Tcl_GetString(word[2]);
        int failed = th_failure_times_read(path, &out->times[out->n], &k->n_times, &notes, &e);
        th_warn_notes(c, path, failed, &notes);
        if (failed)
            return th_call_prefix_error(c, "-failures", &e);
        k->times_s = out->times[out->n];
        return 0;
    }
    if (Tcl_GetWideIntFromObj(NULL, word[1], &units) != TCL_OK || units < 1 ||
        units > TH_FAILURE_UNITS_MAX)
        return fail_kind(c, k->name, "units", Tcl_GetString(word[1]),
                         "an integer from 1 to 16777216, or the word times");
    k->n_units = units;
    if (parse_seconds(Tcl_GetString(word[2]), &k->mtbf_s, &e) != 0)
        return th_call_prefix_error(c, "-failures", &e);
    if (k->mtbf_s <= 0)
        return fail_kind(c, k->name, "mean time between failures", Tcl_GetString(word[2]),
                         "more than 0");
    return 0;
}

static int parse_kind(th_call *c, th_failure_kinds *out, Tcl_Obj *text)
{
    Tcl_Obj **word;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, text, &n, &word) != TCL_OK || n < 3 || n % 2 == 0)
        return th_error_set(&c->err, "TCL-1108",
                            "-failures: \"%.100s\": must be NAME UNITS MTBF ?KEY VALUE ...?, or "
                            "NAME times FILE ?KEY VALUE ...?",
                            Tcl_GetString(text));
    out->all[out->n] = (th_failure_kind){
        .name = Tcl_GetString(word[0]), .n_units = 1, .shape = 1, .takes_spare = true};
    if (parse_law(c, out, word) != 0)
        return -1;
    for (Tcl_Size i = 3; i < n; i += 2)
        if (parse_key(c, &out->all[out->n], Tcl_GetString(word[i]), word[i + 1]) != 0)
            return -1;
    out->n++;
    return 0;
}

int th_failure_kinds_parse(th_call *c, int option, th_failure_kinds *out)
{
    Tcl_Obj **kinds;
    Tcl_Size n;
    *out = (th_failure_kinds){.n = 0};
    if (!th_call_has(c, option))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[option].word, &n, &kinds) != TCL_OK ||
        n > TH_FAILURE_KINDS_MAX)
        return th_error_set(&c->err, "TCL-1109", "-failures: must be a list of at most %d kinds",
                            (int)TH_FAILURE_KINDS_MAX);
    for (Tcl_Size i = 0; i < n; i++)
        if (parse_kind(c, out, kinds[i]) != 0)
            return -1;
    return 0;
}

void th_failure_kinds_clear(th_failure_kinds *k)
{
    for (int i = 0; i < TH_FAILURE_KINDS_MAX; i++) {
        th_free(k->times[i]);
        th_free(k->names[i]);
    }
}
