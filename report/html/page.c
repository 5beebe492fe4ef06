/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.c - a whole page: the template, with each {{name}} replaced by the output of a function in
 * the table below. What is on it, the kind of the page says. */
#include <config.h>
#include <string.h>
#include "report/html/parts.h"

enum { ROWS_MAX = 1000 }; /* of a table; the reports print all */

/* The tables of a report; each but the first has its title above it. */
void th_html_report(th_html *p, th_report *r, const char *label)
{
    for (th_table *t = r->first; t; t = t->next) {
        th_table_limit(t, ROWS_MAX);
        if (t->title && t != r->first)
            th_strbuf_printf(p->out, "<h3>%s</h3>\n", t->title);
        if (t->is_record)
            th_html_record(t, p->out);
        else
            th_html_table(t, t->title && t != r->first ? t->title : label, p->out);
    }
}

/* ---- placeholders of the skeleton ---- */

static int slot_style(th_html *p)
{
    th_strbuf_add(p->out, th_html_style);
    return 0;
}

static int slot_script(th_html *p)
{
    th_strbuf_add(p->out, th_html_script);
    return 0;
}

static int slot_contents(th_html *p)
{
    for (const th_html_section *s = p->kind->sections; s->id; s++)
        if (!s->is_there || s->is_there(p))
            th_strbuf_printf(p->out, "<a href=\"#%s\">%s</a>\n", s->id, s->title);
    return 0;
}

static int slot_sections(th_html *p)
{
    int failed = 0;
    for (const th_html_section *s = p->kind->sections; !failed && s->id; s++) {
        if (s->is_there && !s->is_there(p))
            continue;
        th_strbuf_printf(p->out,
                         "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n",
                         s->id, s->id, s->id, s->title);
        failed = s->write(p);
        th_strbuf_add(p->out, "</section>\n");
    }
    return failed;
}

static int slot_title(th_html *p)
{
    return p->kind->title(p);
}

static int slot_head(th_html *p)
{
    return p->kind->head(p);
}

static const struct {
    const char *name;
    int (*write)(th_html *p);
} slots[] = {
    {"title", slot_title},   {"style", slot_style},       {"head", slot_head},
    {"script", slot_script}, {"contents", slot_contents}, {"sections", slot_sections},
};
enum { N_SLOTS = sizeof slots / sizeof *slots };

static int write_slot(th_html *p, const char *name, size_t length)
{
    for (int i = 0; i < N_SLOTS; i++)
        if (strlen(slots[i].name) == length && memcmp(slots[i].name, name, length) == 0)
            return slots[i].write(p);
    return 0;
}

int th_html_write(th_html *p, const th_html_kind *kind)
{
    const char *at = th_html_skeleton, *slot;
    p->kind = kind;
    while ((slot = strstr(at, "{{"))) {
        const char *end = strstr(slot, "}}");
        th_strbuf_add_bytes(p->out, at, (size_t)(slot - at));
        if (write_slot(p, slot + 2, (size_t)(end - slot - 2)) != 0)
            return -1;
        at = end + 2;
    }
    th_strbuf_add(p->out, at);
    return p->out->failed ? th_error_no_memory(p->err) : 0;
}
