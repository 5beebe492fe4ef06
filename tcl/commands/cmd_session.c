/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_session.c - help, version, set_threads. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"

#define GROUP "session"

/* ---- help ---- */

enum { HELP_ALL, HELP_MAN, HELP_MARKDOWN };

static const th_option help_options[] = {
    [HELP_ALL] = {"-all", TH_OPTION_FLAG, NULL, "Lists all commands, by groups."},
    [HELP_MAN] = {"-man", TH_OPTION_FLAG, NULL, "Prints the whole reference as a manual page."},
    [HELP_MARKDOWN] = {"-markdown", TH_OPTION_TEXT, "FOLDER",
                       "Writes the whole reference as Markdown: FOLDER/commands.md, and "
                       "FOLDER/commands/NAME.md for each command."},
    {.name = NULL},
};

static int unknown_command(th_call *c, const char *name)
{
    const char *names[TH_COMMANDS_MAX + 1];
    th_command_names(names);
    return th_error_unknown(&c->err, "TCL-0060", "command", name, names);
}

/* FOLDER/commands.md, or with a row its page. */
static int write_page(th_call *c, const char *folder, const th_command *row)
{
    th_strbuf path = TH_STRBUF_INIT, text = TH_STRBUF_INIT;
    if (row)
        th_help_markdown_page(c->interp, row, &text);
    else
        th_help_markdown_list(&text);
    th_strbuf_printf(&path, "%s/commands%s%s.md", folder, row ? "/" : "", row ? row->name : "");
    int failed = text.failed || path.failed
                     ? th_error_no_memory(&c->err)
                     : th_session_write_file(c->session, path.text, false, &text, &c->err);
    th_strbuf_clear(&text);
    th_strbuf_clear(&path);
    return failed;
}

static int write_pages(th_call *c, const char *folder)
{
    if (write_page(c, folder, NULL) != 0)
        return -1;
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++)
            if (!row->alias_of && write_page(c, folder, row) != 0)
                return -1;
    return 0;
}

static int run_help(th_call *c)
{
    if (th_call_has(c, HELP_MARKDOWN))
        return write_pages(c, th_call_text(c, HELP_MARKDOWN, ""));
    const th_command *row = c->n_words > 0 ? th_command_find(th_call_word(c, 0)) : NULL;
    th_strbuf text = TH_STRBUF_INIT;
    if (c->n_words > 0 && !row && th_help_search(th_call_word(c, 0), &text) == 0) {
        th_strbuf_clear(&text);
        return unknown_command(c, th_call_word(c, 0));
    }
    if (c->n_words > 0 && !row)
        ; /* those that were found */
    else if (row)
        th_help_command(c->interp, row, &text);
    else if (th_call_has(c, HELP_MAN))
        th_help_man(&text);
    else
        (th_call_has(c, HELP_ALL) ? th_help_all : th_help_first)(&text);
    int failed = text.failed ? th_error_no_memory(&c->err)
                             : th_session_print(c->session, text.text, &c->err);
    th_strbuf_clear(&text);
    return failed;
}

static int run_version(th_call *c)
{
    th_call_return_text(c, PACKAGE_VERSION);
    return 0;
}

/* ---- set_threads ---- */

static const th_option threads_words[] = {{"N", TH_OPTION_INTEGER, .minimum = 1, .maximum = 1024},
                                          {.name = NULL}};

static int run_set_threads(th_call *c)
{
    if (c->n_words > 0)
        c->session->threads = (int)c->word[0].number;
    Tcl_SetObjResult(c->interp, Tcl_NewIntObj(c->session->threads));
    return 0;
}

const th_command th_session_commands[] = {
    {"help", GROUP, "?WORD?", 0, 1, help_options,
     "list the commands of a first script, or describe one",
     "WORD is a command (\"COMMAND -help\" prints the same), or any word: then the commands that "
     "are about it are listed, by names, summaries and options, and those whose help mentions it. "
     "Endings do not matter: stepping finds step.",
     .run = run_help},
    {"version", GROUP, "", 0, 0, NULL, "return the version of Tharsis", NULL, .run = run_version},
    {"set_threads", GROUP, "?N?", 0, 1, NULL, "set and return the number of threads",
     "Searches, studies and what-if runs use them; no result depends on their number. The default "
     "is the number of processors.",
     .run = run_set_threads, .kinds = threads_words},
    {.name = NULL},
};
