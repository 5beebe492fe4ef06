/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.c - a whole page: the template, with each {{name}} replaced by the text of that name; and
 * the parts of its document that all kinds of pages have. */
#include <config.h>
#include <string.h>
#include "render/html/parts.h"

enum { ROWS_MAX = 1000 }; /* of a table; the reports print all */

int th_html_write(const th_strbuf *document, th_strbuf *out, th_error *err)
{
    const char *const texts[][2] = {
        {"style", th_html_style}, {"document", document->text}, {"script", th_html_script}};
    const char *at = th_html_skeleton, *slot;
    if (document->failed)
        return th_error_no_memory(err);
    for (size_t i = 0; (slot = strstr(at, "{{")); i++) {
        th_strbuf_add_bytes(out, at, (size_t)(slot - at));
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (strncmp(slot + 2, texts[k][0], strlen(texts[k][0])) == 0)
                th_strbuf_add(out, texts[k][1]);
        at = strstr(slot, "}}") + 2;
    }
    th_strbuf_add(out, at);
    return out->failed ? th_error_no_memory(err) : 0;
}

/* Is nothing before it in the object or the list? */
static bool is_first(const th_strbuf *out)
{
    return out->length == 0 || strchr("{[", out->text[out->length - 1]);
}

void th_html_field(th_strbuf *out, const char *key, const char *text)
{
    th_strbuf_printf(out, "%s\"%s\":", is_first(out) ? "" : ",", key);
    th_strbuf_add_json(out, text);
}

void th_html_head(const th_report *r, th_strbuf *out)
{
    th_strbuf_add(out, ",\n\"head\":[");
    for (int i = 0; i < r->n_head; i++) {
        if (!r->head[i].is_line)
            continue;
        th_strbuf_add(out, is_first(out) ? "[" : ",[");
        th_strbuf_add_json(out, r->head[i].key);
        th_strbuf_add(out, ",");
        th_strbuf_add_json(out, r->head[i].value.text);
        th_strbuf_add(out, "]");
    }
    th_strbuf_add(out, "]");
}

int th_html_section(const char *id, const char *title, th_report *r, th_strbuf *out, th_error *err)
{
    th_strbuf_add(out, is_first(out) ? "\n{" : ",\n{");
    th_html_field(out, "id", id);
    th_html_field(out, "title", title);
    th_html_head(r, out);
    for (th_table *t = r->first; t; t = t->next)
        th_table_limit(t, ROWS_MAX);
    th_html_tables(r, false, out);
    th_strbuf_add(out, "}");
    return th_report_state(r, err);
}
