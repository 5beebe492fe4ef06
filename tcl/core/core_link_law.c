/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_link_law.c - the law of links (predictor/law/link_law.h), for lib/nccl.tcl. */
#include <config.h>
#include "base/alloc.h"
#include "predictor/law/link_law.h"
#include "tcl/core/lib_report.h"

enum { NODES, RANKS, BYTES, US, N_NUMBERS };
static const double MOST = 1e18;

/* {COLLECTIVE NODES RANKS BYTES US}; 0 or -1. */
static int read_row(Tcl_Obj *list, th_link_row *row)
{
    Tcl_Obj **word;
    int kind;
    double x[N_NUMBERS];
    if (th_lib_elements(list, 1 + N_NUMBERS, &word) < 0 ||
        Tcl_GetIndexFromObj(NULL, word[0], th_link_collectives, "", TCL_EXACT, &kind) != TCL_OK ||
        th_lib_doubles(Tcl_NewListObj(N_NUMBERS, word + 1), N_NUMBERS, x) != 0)
        return -1;
    *row = (th_link_row){kind, x[NODES], x[RANKS], x[BYTES], x[US]};
    bool is_good = row->nodes >= 1 && row->nodes <= row->ranks && row->ranks >= 2 &&
                   row->ranks < MOST && row->bytes > 0 && row->bytes < MOST && row->us > 0 &&
                   row->us < MOST;
    return is_good ? 0 : -1;
}

static int fit(th_call *c, const th_link_row *rows, int n)
{
    th_link_law law;
    if (th_link_law_fit(&law, rows, (size_t)n, &c->err) != 0)
        return -1;
    Tcl_Obj *times = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < n; i++) {
        double part[TH_LINK_TERMS];
        th_link_law_parts(&law, &rows[i], part);
        th_lib_append(times, th_lib_list(part, TH_LINK_TERMS));
    }
    return th_lib_give(c, TH_LIB_LIST(th_lib_list(law.term, TH_LINK_TERMS), times));
}

/* link_law ROWS: the terms of the law that is fitted to them, and what each adds to each row. */
static int run_link_law(th_call *c)
{
    Tcl_Obj **list;
    int n = th_lib_elements(c->words[0], -1, &list);
    if (n < 1)
        return th_lib_fault(c, "link_law");
    th_link_row *rows = th_alloc_array((size_t)n, sizeof *rows);
    int failed = rows ? 0 : th_error_no_memory(&c->err);
    for (int i = 0; !failed && i < n; i++)
        failed = read_row(list[i], &rows[i]) ? th_lib_fault(c, "a row of link_law") : 0;
    if (!failed)
        failed = fit(c, rows, n);
    th_free(rows);
    return failed;
}

const th_command th_core_link_law_commands[] = {
    TH_CORE_ROW("link_law", "ROWS", 1, 1, run_link_law),
    {.name = NULL},
};
