/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c - the tables of reports as HTML: the columns, units and digits are those of the text. */
#include <config.h>
#include <ctype.h>
#include <string.h>
#include "report/html/parts.h"

/* Non-ASCII characters are written as numbers, so that the page does not depend on its encoding. No
 * line ends between a number and its percent sign. */
enum { NO_BREAK_SPACE = 0xA0 };
void th_html_text(th_strbuf *out, const char *text)
{
    while (text && *text != '\0') {
        uint32_t c = th_utf8_next(&text);
        if (c == ' ' && *text == '%')
            c = NO_BREAK_SPACE;
        if ((c < ' ' && c != '\n' && c != '\t') || (c >= 127 && c < 160))
            c = c < ' ' ? 0x2400 + c : 0xFFFD; /* the picture of the control character */
        if (c > '~' || c == '&' || c == '<' || c == '>' || c == '"')
            th_strbuf_printf(out, "&#%u;", (unsigned)c);
        else
            th_strbuf_printf(out, "%c", (char)c);
    }
}

/* Groups digits in threes, and puts a thin space before the unit. */
#define THIN "&#8239;"

void th_html_digits(th_strbuf *out, const char *number)
{
    size_t left = strcspn(number, ".");
    for (; left > 0; number++, left--)
        th_strbuf_printf(out, "%c%s", *number,
                         left > 1 && left % 3 == 1 && *number != '-' ? THIN : "");
    th_strbuf_add(out, number);
}

/* Text reports write "us", as they are ASCII; here it becomes the Greek letter. */
void th_html_unit(th_strbuf *out, const char *unit)
{
    if (strcmp(unit, "us") == 0)
        th_strbuf_add(out, "&#181;s");
    else
        th_html_text(out, unit);
}

static void add_value(th_strbuf *out, const th_quantity *q)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_report_value(&text, q);
    size_t number = text.text ? strspn(text.text, "-+.0123456789") : 0;
    if (q->kind == TH_KIND_COUNT && number > 0 && text.text[number] == '\0') {
        th_html_digits(out, text.text);
    } else if (q->kind != TH_KIND_TEXT && number > 0 && isalpha((unsigned char)text.text[number])) {
        th_strbuf_printf(out, "%.*s" THIN, (int)number, text.text);
        th_html_unit(out, text.text + number);
    } else {
        th_html_text(out, text.text);
    }
    out->failed |= text.failed;
    th_strbuf_clear(&text);
}

/* Longer headings: in text, the heads of stalls and of traffic explain each other side by side. */
static const char *title_of(const th_column *c)
{
    static const struct {
        const char *name, *title;
    } longer[] = {
        {"stall_input", "stall, input"},     {"stall_weight", "stall, weight"},
        {"stall_partial", "stall, partial"}, {"stall_output", "stall, output"},
        {"dram_read", "DRAM read"},          {"dram_written", "DRAM written"},
        {"roofline", "\303\227 roofline"},
    };
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (strcmp(longer[i].name, c->name) == 0)
            return longer[i].title;
    return c->title;
}

static bool is_number(const th_column *c)
{
    return c->kind != TH_KIND_TEXT;
}

/* The column that names a row comes first. It is the first in text too, except for the critical
 * path, where the task is last. A metric of a study may have that name. */
static int lead_of(const th_table *t)
{
    int lead = 0;
    bool is_named = !is_number(&t->columns[0]) || strcmp(t->columns[0].name, "point") == 0;
    for (int c = 0; !is_named && c < t->n_columns; c++)
        if (strcmp(t->columns[c].name, "what") == 0)
            lead = c;
    return lead;
}

/* The i-th column as shown. */
static int column_at(int i, int lead)
{
    return i == 0 ? lead : i <= lead ? i - 1 : i;
}

static void add_heading(const th_displayed_table *t, th_strbuf *out)
{
    int lead = lead_of(&t->table);
    th_strbuf_add(out, "<thead><tr>");
    for (int i = 0; i < t->table.n_columns; i++) {
        int c = column_at(i, lead);
        const th_column *column = &t->table.columns[c];
        th_strbuf_add(out, "<th scope=\"col\" data-name=\"");
        th_html_text(out, column->name); /* that of a run may stand in it */
        th_strbuf_printf(out, "\"%s>", is_number(column) ? " class=\"n\"" : "");
        th_html_text(out, title_of(column));
        if (t->unit[c][0] != '\0') {
            th_strbuf_add(out, " <span class=\"unit\">");
            th_html_unit(out, t->unit[c]);
            th_strbuf_add(out, "</span>");
        }
        th_strbuf_add(out, "</th>");
    }
    th_strbuf_add(out, "</tr></thead>\n");
}

static void add_row(const th_displayed_table *t, char *const *texts, th_strbuf *out)
{
    int lead = lead_of(&t->table);
    th_strbuf_add(out, "<tr>");
    for (int i = 0; i < t->table.n_columns; i++) {
        int c = column_at(i, lead);
        bool is_name = i == 0 && !is_number(&t->table.columns[c]);
        th_strbuf_add(out, is_name                           ? "<th scope=\"row\">"
                           : is_number(&t->table.columns[c]) ? "<td class=\"n\">"
                                                             : "<td>");
        if (texts[c] && strcmp(texts[c], "-") == 0)
            th_strbuf_add(out, "&ndash;");
        else
            th_html_text(out, texts[c]);
        th_strbuf_add(out, is_name ? "</th>" : "</td>");
    }
    th_strbuf_add(out, "</tr>\n");
}

static void add_note(const th_table *t, const th_table *shown, th_strbuf *out)
{
    const char *notes = th_table_notes(t, shown);
    if (!notes)
        return;
    th_strbuf_add(out, "<p class=\"note\">");
    th_html_text(out, notes);
    th_strbuf_add(out, "</p>\n");
}

void th_html_table(const th_table *t, const char *label, th_strbuf *out)
{
    th_displayed_table shown;
    if (!th_table_display(t, &shown)) {
        out->failed = true;
        return;
    }
    size_t n = (size_t)shown.table.n_columns;
    th_strbuf_printf(out,
                     "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                     "aria-label=\"%s\"><table id=\"table-%s\" class=\"sortable\">\n",
                     label, t->name);
    add_heading(&shown, out);
    th_strbuf_add(out, "<tbody>\n");
    for (size_t row = 0; row < t->n_rows; row++)
        add_row(&shown, &shown.texts[row * n], out);
    th_strbuf_add(out, "</tbody>");
    if (t->total) {
        th_strbuf_add(out, "<tfoot>");
        add_row(&shown, &shown.texts[t->n_rows * n], out);
        th_strbuf_add(out, "</tfoot>");
    }
    th_strbuf_add(out, "</table></div>\n");
    if (t->n_hidden > 0)
        th_strbuf_printf(out, "<p class=\"note\">%zu more rows are not shown.</p>\n", t->n_hidden);
    add_note(t, &shown.table, out);
}

void th_html_record(const th_table *t, th_strbuf *out)
{
    th_strbuf_add(out, "<dl>\n");
    for (int c = 0; t->n_rows > 0 && c < t->n_columns; c++) {
        if (!t->columns[c].title || t->cells[c].is_absent)
            continue;
        th_strbuf_add(out, "<div><dt>");
        th_html_text(out, t->columns[c].title);
        th_strbuf_add(out, "</dt><dd>");
        add_value(out, &t->cells[c]);
        th_strbuf_add(out, "</dd></div>\n");
    }
    th_strbuf_add(out, "</dl>\n");
    add_note(t, t, out);
}
