/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot.c - see plot.h. */
#include <config.h>
#include "render/plot/plot.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/strbuf.h"

th_plot *th_plot_new(th_plot_type type)
{
    th_plot *p = th_alloc_zero(1, sizeof *p);
    if (!p)
        return NULL;
    p->type = type;
    p->arena = th_arena_new();
    if (p->arena)
        return p;
    th_free(p);
    return NULL;
}

void th_plot_free(th_plot *p)
{
    if (!p)
        return;
    for (int s = 0; s < p->n_series; s++)
        th_free(p->series[s].point);
    th_free(p->series);
    th_free(p->category);
    th_arena_free(p->arena);
    th_free(p);
}

const char *th_plot_text(th_plot *p, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    th_print_list(text, sizeof text, format, list);
    va_end(list);
    const char *copy = th_arena_string(p->arena, text);
    p->failed = p->failed || !copy;
    return copy ? copy : "";
}

void th_plot_category(th_plot *p, const char *name)
{
    if (th_grow(&p->category, &p->category_capacity, (size_t)p->n_categories + 1,
                sizeof *p->category) != 0)
        p->failed = true;
    else
        p->category[p->n_categories++] = th_plot_text(p, "%s", name);
}

void th_plot_series_begin(th_plot *p, const char *name, th_join join)
{
    if (th_grow(&p->series, &p->series_capacity, (size_t)p->n_series + 1, sizeof *p->series) != 0) {
        p->failed = true;
        return;
    }
    p->series[p->n_series++] = (th_plot_series){
        .name = name ? th_plot_text(p, "%s", name) : NULL, .join = join, .x_side = 1};
}

void th_plot_point_add(th_plot *p, double x, double y, const char *label)
{
    th_plot_series *s = p->n_series > 0 ? &p->series[p->n_series - 1] : NULL;
    if (!s || th_grow(&s->point, &s->capacity, s->n + 1, sizeof *s->point) != 0) {
        p->failed = true;
        return;
    }
    s->point[s->n++] = (th_plot_point){x, y, label ? th_plot_text(p, "%s", label) : NULL};
}

/* "12,345". */
static void set_apart(double value, char *out, size_t size)
{
    char digits[64];
    int n = snprintf(digits, sizeof digits, "%.0f", value), at = 0;
    for (int i = 0; i < n && at + 2 < (int)size; i++) {
        out[at++] = digits[i];
        if (i < n - 1 && (n - i - 1) % 3 == 0 && digits[i] != '-')
            out[at++] = ',';
    }
    out[at] = '\0';
}

const char *th_plot_label(double value, char *out, size_t size)
{
    if (fabs(value) >= 100 && fabs(value) < 1e9)
        set_apart(value, out, size);
    else
        snprintf(out, size, "%.3g", value);
    return out;
}

const char *th_plot_key_name(const th_plot *p, int s)
{
    return p->n_series > 1 || p->type == TH_PLOT_STACKED ? p->series[s].name : NULL;
}

int th_picture_find(const char *path, th_error *err)
{
    static const char *const ends[TH_N_PICTURES] = {".svg", ".png", ".pdf", ".txt", ".gp"};
    size_t n = strlen(path);
    for (int i = 0; i < TH_N_PICTURES; i++) {
        size_t end = strlen(ends[i]);
        if (n > end && strcmp(path + n - end, ends[i]) == 0)
            return i;
    }
    return th_error_set(err, "TCL-0363",
                        "%s: must end in .svg, .png, .pdf, .txt or .gp (the gnuplot script)", path);
}

/* Removes the date from a PDF, so that the same plot gives the same file. */
static void forget_date(th_strbuf *pdf)
{
    static const char key[] = "/CreationDate (D:", date[] = "20000101000000";
    size_t n = strlen(key);
    for (size_t i = 0; i + n + strlen(date) < pdf->length; i++)
        if (memcmp(pdf->text + i, key, n) == 0)
            memcpy(pdf->text + i + n, date, strlen(date));
}

static void draw_text(const th_plot *p, th_strbuf *out)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_plot_text_draw(p, &text);
    if (text.text)
        th_strbuf_add_visible(out, text.text);
    out->failed |= text.failed;
    th_strbuf_clear(&text);
}

/* gnuplot fills the lines of a terminal with blanks, and begins a page of it. */
static void add_trimmed(th_strbuf *out, const char *drawn)
{
    drawn += *drawn == '\f';
    while (*drawn != '\0') {
        size_t n = strcspn(drawn, "\n"), filled = n;
        while (filled > 0 && drawn[filled - 1] == ' ')
            filled--;
        th_strbuf_add_bytes(out, drawn, filled);
        th_strbuf_add(out, "\n");
        drawn += n + (drawn[n] == '\n');
    }
}

static int draw_by_gnuplot(const th_plot *p, th_picture as, th_strbuf *out, th_error *err)
{
    th_strbuf script = TH_STRBUF_INIT, drawn = TH_STRBUF_INIT;
    int failed = 0;
    th_plot_script(p, as, &script);
    if (script.failed)
        failed = th_error_no_memory(err);
    else if (as == TH_PICTURE_SCRIPT)
        th_strbuf_add(out, script.text);
    else
        failed = th_gnuplot_run(script.text, as == TH_PICTURE_TXT ? &drawn : out, err);
    if (!failed && as == TH_PICTURE_PDF)
        forget_date(out);
    if (!failed && as == TH_PICTURE_TXT)
        add_trimmed(out, drawn.text);
    th_strbuf_clear(&script);
    th_strbuf_clear(&drawn);
    return failed;
}

int th_plot_draw(const th_plot *p, th_picture as, th_strbuf *out, th_error *err)
{
    if (p->failed)
        return th_error_no_memory(err);
    if (as == TH_PICTURE_TXT)
        draw_text(p, out);
    if ((as != TH_PICTURE_TXT || !th_plot_is_text(p)) && draw_by_gnuplot(p, as, out, err) != 0)
        return -1;
    return out->failed ? th_error_no_memory(err) : 0;
}
