/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help_markdown.c - the command table as pages of the manual: docs/commands.md lists all commands,
 * docs/commands/NAME.md describes one. */
#include <config.h>
#include <ctype.h>
#include <string.h>
#include "tcl/command.h"

/* "|" would end a cell of a table. */
static void add_cell(th_strbuf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            th_strbuf_add(out, "\\");
        th_strbuf_add_bytes(out, text, 1);
    }
}

static void add_capital(th_strbuf *out, const char *text)
{
    th_strbuf_printf(out, "%c%s", toupper((unsigned char)text[0]), text + 1);
}

/* ---- the list ---- */

static void begin_group(th_strbuf *out, const char *group)
{
    th_strbuf_add(out, "\n## ");
    add_capital(out, group);
    th_strbuf_add(out, "\n\n| | |\n|---|---|\n");
}

static void add_line(th_strbuf *out, const th_command *row)
{
    const char *page = row->alias_of ? row->alias_of : row->name;
    th_strbuf_printf(out, "| [%s](commands/%s.md) | ", row->name, page);
    if (row->alias_of)
        th_strbuf_printf(out, "short for %s", page);
    else
        add_cell(out, row->summary);
    th_strbuf_add(out, " |\n");
}

/* ---- options ---- */

static void add_option(th_strbuf *out, const th_option *o)
{
    char form[120];
    th_strbuf text = TH_STRBUF_INIT;
    th_help_option_form(o, form, sizeof form);
    th_strbuf_add(&text, o->help);
    th_help_choices(&text, o);
    th_strbuf_add(out, "| `");
    add_cell(out, form);
    th_strbuf_add(out, "` | ");
    add_cell(out, text.failed ? "" : text.text);
    th_strbuf_add(out, " |\n");
    out->failed |= text.failed;
    th_strbuf_clear(&text);
}

void th_help_markdown_list(th_strbuf *out)
{
    th_strbuf_add(
        out, "# Commands\n\nWritten by `help -markdown docs` from the command table; not "
             "edited by hand.\n\n"
             "Options stand in any order; scripts never abbreviate them. `?x?` may be left out.\n"
             "Lists of objects take glob patterns of names: `link/3_*`.\n"
             "At the end of a report, `> FILE` writes it to a file and `>> FILE` appends it.\n"
             "What an error message means stands in the message; [messages.md](messages.md) "
             "lists them.\n");
    th_help_each_group(out, begin_group, add_line);
    th_strbuf_add(out, "\n## Options of reports\n\nWhere a report prints text or a table:\n\n"
                       "| option | meaning |\n|---|---|\n");
    for (const th_option *o = th_options_of_reports; o->name; o++)
        add_option(out, o);
}

/* ---- the page of a command ---- */

/* Those of all reports in one line, by their names. */
static void add_options(th_strbuf *out, const th_command *row)
{
    bool is_first = true;
    if (!row->options)
        return;
    th_strbuf_add(out, "| option | meaning |\n|---|---|\n");
    for (const th_option *o = row->options; o->name; o++)
        if (th_help_is_of_reports(o)) {
            th_strbuf_printf(out, "%s`%s`", is_first ? "| " : " ", o->name);
            is_first = false;
        }
    if (!is_first)
        th_strbuf_add(out, " | [options of reports](../commands.md#options-of-reports) |\n");
    for (const th_option *o = row->options; o->name; o++)
        if (!th_help_is_of_reports(o))
            add_option(out, o);
    th_strbuf_add(out, "\n");
}

static void add_short_names(th_strbuf *out, const th_command *row)
{
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *other = th_command_families[f]; other->name; other++)
            if (other->alias_of && strcmp(other->alias_of, row->name) == 0)
                th_strbuf_printf(out, "`%s` is short for it.\n\n", other->name);
}

/* Pictures of docs/pictures/, which scripts/pictures.tcl makes. */
static void add_picture(th_strbuf *out, const th_command *row)
{
    static const struct {
        const char *command, *file, *caption;
    } pictures[] = {
        {"report_utilization", "utilization", "write_plot FILE -of utilization"},
        {"report_links", "links", "write_plot FILE -of links"},
        {"report_layers", "layers", "write_plot FILE -of layers"},
        {"report_search", "convergence", "write_plot FILE -of convergence"},
        {"report_compare", "topologies", "write_plot RUNS FILE -x name -y latency -type bar"},
        {"write_plot", "links", "write_plot FILE -of links"},
        {"write_report", "timeline", "The timeline of a page shows the tasks of every accelerator"},
    };
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        if (strcmp(pictures[i].command, row->name) == 0)
            th_strbuf_printf(out, "![%s](../pictures/%s.svg)\n\n", pictures[i].caption,
                             pictures[i].file);
}

static void add_column(th_strbuf *out, const th_legend *l)
{
    th_strbuf_printf(out, "| `%s` | %s |\n", l->column, l->meaning);
}

static void begin_columns(th_strbuf *out, const char *table)
{
    th_strbuf_printf(out, "\n| column of `%s` | meaning |\n|---|---|\n", table);
}

static void add_columns(Tcl_Interp *interp, th_strbuf *out, const th_command *row)
{
    if (!th_legend_report(row->name, 0))
        return;
    th_strbuf_add(out, "## Columns\n\nBy their names in csv, without the unit.\n");
    th_help_each_column(interp, row, out, begin_columns, add_column);
    th_strbuf_add(out, "\n");
}

void th_help_markdown_page(Tcl_Interp *interp, const th_command *row, th_strbuf *out)
{
    const char *example = th_example_of(row->name);
    th_strbuf_printf(out, "# %s\n\n", row->name);
    add_capital(out, row->summary);
    th_strbuf_add(out, ".\n\n```\n");
    th_help_synopsis_lines(row, out);
    th_strbuf_add(out, "```\n\n");
    if (row->help)
        th_strbuf_printf(out, "%s\n\n", row->help);
    add_short_names(out, row);
    add_options(out, row);
    add_columns(interp, out, row);
    if (example)
        th_strbuf_printf(out, "## Example\n\n```tcl\n%s```\n\n", example);
    add_picture(out, row);
    th_strbuf_printf(out, "See also the [commands of the group \"%s\"](../commands.md#%s).\n",
                     row->group, row->group);
}
