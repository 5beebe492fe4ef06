/* SPDX-License-Identifier: GPL-3.0-or-later */
/* of_lib.c - sections of reports that are Tcl (lib/reports.tcl), for pages, pictures and files of
 * results. */
#include <config.h>
#include "report/sections/sections.h"

static int tables(th_session *s, const char *call, th_report *r, th_error *err)
{
    return s->observer->tables(s, call, r, err);
}

int th_section_summary(th_session *s, th_report *r, th_error *err)
{
    return tables(s, "report_summary {}", r, err);
}

int th_section_accels(th_session *s, th_report *r, th_error *err)
{
    return tables(s, "report_utilization {}", r, err);
}

int th_section_layer_figures(th_session *s, th_report *r, th_error *err)
{
    return tables(s, "report_layers {}", r, err);
}
