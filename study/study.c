/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.c - a parameter study (study.h).
 * Cell c of axes with n_0, n_1, ... n_k values has, on axis i, value (c / (n_(i+1) ... n_k)) mod
 * n_i. */
#include <config.h>
#include "study/study.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"

th_study *th_study_new(void)
{
    th_study *s = th_alloc_zero(1, sizeof *s);
    if (!s || !(s->arena = th_arena_new())) {
        th_free(s);
        return NULL;
    }
    s->name = s->version = s->script = s->where = "";
    return s;
}

void th_study_free(th_study *s)
{
    if (s)
        th_arena_free(s->arena);
    th_free(s);
}

const char *th_study_text(th_study *s, const char *text)
{
    return th_arena_string(s->arena, text);
}

/* --- building --- */

/* Is it a name that needs no quotes in Tcl and SQL? */
static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    enum { NAME_BYTES_MAX = 60 };
    size_t n = strspn(text, rest);
    return n > 0 && n <= NAME_BYTES_MAX && text[n] == '\0' && strspn(text, letters) > 0;
}

static int check_name(const char *what, const char *name, th_error *err)
{
    if (is_name(name))
        return 0;
    return th_error_set(err, "STUDY-0001",
                        "%s \"%.80s\": must be a name of letters, digits and _, at most 60", what,
                        name);
}

int th_study_add_parameter(th_study *s, const char *name, const char *const *values, int32_t n,
                           th_error *err)
{
    if (check_name("parameter", name, err))
        return -1;
    if (s->n_parameters == TH_STUDY_PARAMETERS_MAX)
        return th_error_set(err, "STUDY-0002", "parameter \"%s\": there may be at most %d", name,
                            (int)TH_STUDY_PARAMETERS_MAX);
    if (n < 1)
        return th_error_set(err, "STUDY-0003", "parameter \"%s\": must have values", name);
    th_study_parameter *p = &s->parameters[s->n_parameters];
    *p = (th_study_parameter){.name = th_study_text(s, name),
                              .values = th_arena_alloc(s->arena, (size_t)n * sizeof *p->values),
                              .n_values = n,
                              .axis = s->n_axes};
    bool failed = !p->name || !p->values;
    for (int32_t i = 0; i < n && !failed; i++)
        failed = !(p->values[i] = th_study_text(s, values[i]));
    if (failed)
        return th_error_no_memory(err);
    s->n_parameters++;
    s->n_axes++;
    return 0;
}

int th_study_add_metric(th_study *s, const th_study_metric *metric, th_error *err)
{
    if (check_name("metric", metric->name, err) || check_name("metric", metric->column, err))
        return -1;
    if (s->n_metrics == TH_STUDY_METRICS_MAX)
        return th_error_set(err, "STUDY-0004", "metric \"%s\": there may be at most %d",
                            metric->name, (int)TH_STUDY_METRICS_MAX);
    th_study_metric *m = &s->metrics[s->n_metrics];
    *m = *metric;
    m->name = th_study_text(s, metric->name);
    m->kind = th_study_text(s, metric->kind);
    m->column = th_study_text(s, metric->column);
    if (!m->name || !m->kind || !m->column)
        return th_error_no_memory(err);
    s->n_metrics++;
    return 0;
}

int th_study_parameter_named(const th_study *s, const char *name)
{
    for (int i = 0; i < s->n_parameters; i++)
        if (strcmp(s->parameters[i].name, name) == 0)
            return i;
    return -1;
}

int th_study_join(th_study *s, const char *a, const char *b, th_error *err)
{
    int i = th_study_parameter_named(s, a), j = th_study_parameter_named(s, b);
    if (i < 0 || j < 0)
        return th_error_set(err, "STUDY-0005", "-zip: \"%.60s\" is no parameter", i < 0 ? a : b);
    if (s->parameters[i].n_values != s->parameters[j].n_values)
        return th_error_set(err, "STUDY-0006",
                            "-zip: \"%s\" has %d values and \"%s\" has %d: parameters that advance "
                            "together must have equally many",
                            a, (int)s->parameters[i].n_values, b, (int)s->parameters[j].n_values);
    int from = s->parameters[j].axis, to = s->parameters[i].axis;
    if (from == to)
        return th_error_set(err, "STUDY-0007", "-zip: \"%s\" advances with \"%s\" already", b, a);
    int low = from < to ? from : to, high = from < to ? to : from;
    for (int k = 0; k < s->n_parameters; k++) {
        int *axis = &s->parameters[k].axis;
        *axis = *axis == high ? low : *axis - (*axis > high);
    }
    s->n_axes--;
    return 0;
}

/* --- checking --- */

/* SQL ignores case. */
static int check_columns(const th_study *s, th_error *err)
{
    static const char *const taken[] = {"point", "cell", "status", "error", "mapping"};
    enum { N_TAKEN = sizeof taken / sizeof *taken };
    const char *names[N_TAKEN + TH_STUDY_PARAMETERS_MAX + 2 * TH_STUDY_METRICS_MAX];
    int n = 0;
    for (int i = 0; i < N_TAKEN; i++)
        names[n++] = taken[i];
    for (int i = 0; i < s->n_parameters; i++)
        names[n++] = s->parameters[i].name;
    for (int i = 0; i < s->n_metrics; i++) {
        names[n++] = s->metrics[i].name;
        if (strcasecmp(s->metrics[i].name, s->metrics[i].column) != 0)
            names[n++] = s->metrics[i].column;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (strcasecmp(names[i], names[j]) == 0)
                return th_error_set(
                    err, "STUDY-0008",
                    "\"%s\": the name is taken already; parameters, metrics and "
                    "point, cell, status, error, mapping must differ by more than case",
                    names[i]);
    return 0;
}

static int32_t axis_length(const th_study *s, int axis)
{
    for (int i = 0; i < s->n_parameters; i++)
        if (s->parameters[i].axis == axis)
            return s->parameters[i].n_values;
    return 1;
}

int64_t th_study_n_cells(const th_study *s)
{
    int64_t n = 1;
    for (int axis = 0; axis < s->n_axes && n <= TH_STUDY_CELLS_MAX; axis++)
        n *= axis_length(s, axis);
    return n;
}

int th_study_check(const th_study *s, th_error *err)
{
    if (s->n_parameters == 0)
        return th_error_set(err, "STUDY-0009", "a study must have parameters");
    if (s->n_metrics == 0)
        return th_error_set(err, "STUDY-0010", "a study must have metrics");
    if (th_study_n_cells(s) > TH_STUDY_CELLS_MAX)
        return th_error_set(err, "STUDY-0011", "the parameters make more than %d points",
                            (int)TH_STUDY_CELLS_MAX);
    return check_columns(s, err);
}

/* --- cells --- */

const char *th_study_value(const th_study *s, int64_t cell, int parameter)
{
    const th_study_parameter *p = &s->parameters[parameter];
    for (int axis = s->n_axes - 1; axis > p->axis; axis--)
        cell /= axis_length(s, axis);
    return p->values[cell % p->n_values];
}

int64_t th_study_point_seed(const th_study *s, int64_t cell)
{
    uint64_t h = th_hash_word(0, (uint64_t)s->seed);
    for (int i = 0; i < s->n_parameters; i++)
        h = th_hash_text(th_study_value(s, cell, i), th_hash_text(s->parameters[i].name, h));
    return (int64_t)(h % INT32_MAX) + 1;
}

/* --- two studies --- */

static uint64_t hash_parameters(const th_study *s, uint64_t h)
{
    for (int i = 0; i < s->n_parameters; i++) {
        const th_study_parameter *p = &s->parameters[i];
        h = th_hash_word(th_hash_text(p->name, h), (uint64_t)p->axis);
        for (int32_t k = 0; k < p->n_values; k++)
            h = th_hash_text(p->values[k], h);
    }
    return h;
}

uint64_t th_study_digest(const th_study *s)
{
    const char *texts[] = {s->name, s->version, s->script, s->where};
    uint64_t h = th_hash_word(0, (uint64_t)s->seed);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        h = th_hash_text(texts[i], h);
    h = hash_parameters(s, h);
    for (int i = 0; i < s->n_metrics; i++)
        h = th_hash_text(s->metrics[i].column, th_hash_text(s->metrics[i].kind, h));
    return h;
}

static int differ(th_error *err, const char *what, const char *file, const char *here)
{
    return th_error_set(err, "STUDY-0012",
                        "the file holds another study: %s: \"%.120s\" there, \"%.120s\" here", what,
                        file, here);
}

/* Copies the first line of a text to out, without its end. Returns the next line; NULL: there is
 * none. */
static const char *take_line(const char *text, char *out, size_t size)
{
    size_t n = strcspn(text, "\n");
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), text);
    return text[n] == '\n' ? text + n + 1 : NULL;
}

static int compare_scripts(const char *file, const char *here, th_error *err)
{
    char a[200] = "", b[200] = "", what[40];
    if (strcmp(file, here) == 0)
        return 0;
    for (int line = 1; file || here; line++) {
        size_t n = file ? strcspn(file, "\n") : 0, m = here ? strcspn(here, "\n") : 0;
        bool same = file && here && n == m && memcmp(file, here, n) == 0;
        a[0] = b[0] = '\0';
        file = file ? take_line(file, a, sizeof a) : NULL;
        here = here ? take_line(here, b, sizeof b) : NULL;
        snprintf(what, sizeof what, "-script, line %d", line);
        if (!same)
            return differ(err, what, a, b);
    }
    return 0;
}

static void list_values(const th_study_parameter *p, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (int32_t i = 0; i < p->n_values && n + 1 < size; i++) {
        int more = snprintf(out + n, size - n, strpbrk(p->values[i], " \t") ? "%s{%s}" : "%s%s",
                            i > 0 ? " " : "", p->values[i]);
        n += more > 0 ? (size_t)more : 0;
    }
}

static int compare_parameter(const th_study_parameter *a, const th_study_parameter *b,
                             th_error *err)
{
    char what[100], x[200], y[200];
    bool same = a->n_values == b->n_values;
    for (int32_t i = 0; same && i < a->n_values; i++)
        same = strcmp(a->values[i], b->values[i]) == 0;
    snprintf(what, sizeof what, "parameter %s", a->name);
    list_values(a, x, sizeof x);
    list_values(b, y, sizeof y);
    if (!same)
        return differ(err, what, x, y);
    return a->axis == b->axis ? 0 : differ(err, "-zip", "another grouping", b->name);
}

static const char *parameter_name(const th_study *s, int i)
{
    return i < s->n_parameters ? s->parameters[i].name : "";
}

static const char *metric_column(const th_study *s, int i)
{
    return i < s->n_metrics ? s->metrics[i].column : "";
}

int th_study_compare(const th_study *file, const th_study *here, th_error *err)
{
    char a[30], b[30];
    if (strcmp(file->name, here->name) != 0)
        return differ(err, "name", file->name, here->name);
    if (strcmp(file->version, here->version) != 0)
        return differ(err, "version of tharsis", file->version, here->version);
    for (int i = 0; i < file->n_parameters || i < here->n_parameters; i++)
        if (strcmp(parameter_name(file, i), parameter_name(here, i)) != 0)
            return differ(err, "-parameters", parameter_name(file, i), parameter_name(here, i));
    for (int i = 0; i < file->n_parameters; i++)
        if (compare_parameter(&file->parameters[i], &here->parameters[i], err))
            return -1;
    if (strcmp(file->where, here->where) != 0)
        return differ(err, "-where", file->where, here->where);
    for (int i = 0; i < file->n_metrics || i < here->n_metrics; i++)
        if (strcmp(metric_column(file, i), metric_column(here, i)) != 0)
            return differ(err, "-metrics", metric_column(file, i), metric_column(here, i));
    for (int i = 0; i < file->n_metrics; i++)
        if (strcmp(file->metrics[i].kind, here->metrics[i].kind) != 0)
            return differ(err, file->metrics[i].name, file->metrics[i].kind, here->metrics[i].kind);
    snprintf(a, sizeof a, "%" PRId64, file->seed);
    snprintf(b, sizeof b, "%" PRId64, here->seed);
    if (file->seed != here->seed)
        return differ(err, "-seed", a, b);
    return compare_scripts(file->script, here->script, err);
}
