/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_mapping.c - select_mapping, write_mapping. read_mapping is in cmd_workload.c, and the reports
 * on mappings are in cmd_report_map.c. */
#include <config.h>
#include "tcl/command.h"
#include "tcl/tcl_session.h"

#define GROUP "map"

/* ---- select_mapping ---- */

static const th_option front_words[] = {{"N", TH_OPTION_INTEGER, .maximum = INT64_MAX},
                                        {.name = NULL}};

static int run_select_mapping(th_call *c)
{
    th_session *s = c->session;
    char digest[20];
    int64_t number = c->word[0].number;
    if (number >= s->search.front->n)
        return th_error_set(&c->err, "TCL-0257",
                            "mapping \"%.40s\": must be an integer from 0 to %d",
                            th_call_word(c, 0), s->search.front->n - 1);
    if (th_session_select(s, (int)number, &c->err) != 0)
        return -1;
    th_call_return_text(c, th_session_digest(s, digest, sizeof digest));
    return 0;
}

/* ---- write_mapping ---- */

static int run_write_mapping(th_call *c)
{
    th_session *s = c->session;
    const th_plan_file *plan = s->hand_built ? s->hand_built->plan : NULL;
    if (!plan && th_session_need_mapping(s, &c->err) != 0)
        return -1;
    th_strbuf text = TH_STRBUF_INIT;
    if (plan)
        th_plan_file_write(plan, &text);
    else
        th_mapping_write(s->mapping, s->system, s->workload, &text);
    int failed = text.failed ? th_error_no_memory(&c->err)
                             : th_session_write_file(s, th_call_word(c, 0), false, &text, &c->err);
    th_strbuf_clear(&text);
    if (!failed)
        th_call_return_text(c, th_call_word(c, 0));
    return failed;
}

const th_command th_mapping_commands[] = {
    {"select_mapping", GROUP, "N", 1, 1, NULL, "select another mapping of the Pareto front",
     "N counts from 0, as report_search -pareto lists them. The front is kept, the run is dropped. "
     "Returns the mapping's digest.",
     .run = run_select_mapping, .kinds = front_words, .needs = {th_session_need_front},
     .not_while_running = true},
    {"write_mapping", GROUP, "FILE", 1, 1, NULL, "write the mapping to a file for read_mapping",
     "Missing folders are created. Of parallel_plan it is the plan, with all numbers. Returns "
     "FILE.",
     .run = run_write_mapping},
    {.name = NULL},
};
