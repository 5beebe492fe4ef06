/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help_man.c - the command table as a manual page, in the macros of man(7). */
#include <config.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "tcl/command.h"

/* Escapes what roff would interpret: backslashes, hyphens that are minus signs, and a dot or an
 * apostrophe at the beginning of a line. */
static void add_roff(th_strbuf *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        th_strbuf_add(out, "\\&");
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            th_strbuf_add(out, "\\e");
        else if (*text == '-')
            th_strbuf_add(out, "\\-");
        else
            th_strbuf_add_bytes(out, text, 1);
    }
}

static void add_man_option(th_strbuf *out, const th_option *o)
{
    th_strbuf_add(out, ".TP\n.B ");
    add_roff(out, o->name);
    if (o->value) {
        th_strbuf_add(out, " \\fI");
        add_roff(out, o->value);
        th_strbuf_add(out, "\\fP");
    }
    th_strbuf_add(out, "\n");
    th_strbuf text = TH_STRBUF_INIT;
    th_strbuf_add(&text, o->help);
    th_help_choices(&text, o);
    out->failed |= text.failed;
    if (!text.failed)
        add_roff(out, text.text);
    th_strbuf_clear(&text);
    th_strbuf_add(out, "\n");
}

static void add_man_example(th_strbuf *out, const char *lines)
{
    if (!lines)
        return;
    th_strbuf_add(out, ".PP\n.nf\n");
    while (*lines != '\0') {
        char line[200];
        int length = (int)strcspn(lines, "\n");
        snprintf(line, sizeof line, "    %.*s", length, lines);
        add_roff(out, line);
        th_strbuf_add(out, "\n");
        lines += length + (lines[length] == '\n');
    }
    th_strbuf_add(out, ".fi\n");
}

static void add_man_command(th_strbuf *out, const th_command *row)
{
    th_strbuf_add(out, ".SS ");
    add_roff(out, row->name);
    th_strbuf_add(out, "\n");
    if (row->alias_of) {
        th_strbuf_printf(out, "Short for %s.\n", row->alias_of);
        return;
    }
    th_strbuf synopsis = TH_STRBUF_INIT;
    th_help_synopsis(row, &synopsis);
    out->failed |= synopsis.failed;
    th_strbuf_add(out, ".B ");
    if (!synopsis.failed)
        add_roff(out, synopsis.text);
    th_strbuf_clear(&synopsis);
    th_strbuf_printf(out, "\n.PP\n%c", toupper((unsigned char)row->summary[0]));
    add_roff(out, row->summary + 1);
    th_strbuf_add(out, ".\n");
    if (row->help) {
        th_strbuf_add(out, ".PP\n");
        add_roff(out, row->help);
        th_strbuf_add(out, "\n");
    }
    for (const th_option *o = row->options; o && o->name; o++)
        if (!th_help_is_of_reports(o))
            add_man_option(out, o);
    add_man_example(out, th_example_of(row->name));
}

static void add_heading(th_strbuf *out, const char *group)
{
    th_strbuf_add(out, ".SH \"");
    for (; *group != '\0'; group++)
        th_strbuf_printf(out, "%c", toupper((unsigned char)*group));
    th_strbuf_add(out, " COMMANDS\"\n");
}

void th_help_man(th_strbuf *out)
{
    th_strbuf_add(
        out, ".\\\" Written by \"help -man\" from the command table; not edited by hand.\n"
             ".TH THARSIS\\-COMMANDS 7 \"\" \"tharsis " PACKAGE_VERSION "\"\n"
             ".nh\n"
             ".SH NAME\ntharsis\\-commands \\- Tcl commands of the tharsis simulator\n"
             ".SH DESCRIPTION\n"
             "Options stand in any order; scripts never abbreviate them. ?x? may be left out.\n"
             "At the end of a report, > FILE writes it to a file and >> FILE appends it.\n");
    th_help_each_group(out, add_heading, add_man_command);
    th_strbuf_add(out, ".SH OPTIONS OF REPORTS\n");
    for (const th_option *o = th_options_of_reports; o->name; o++)
        add_man_option(out, o);
    th_strbuf_add(out, ".SH SEE ALSO\n.BR tharsis (1)\n");
}
