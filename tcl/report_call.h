/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_call.h - what the report commands share: their options, and where the text goes.
 *   th_report_of_call -> sections -> th_report_finish (-sort_by, -limit; printed, written or
 *     returned) */
#ifndef TH_TCL_REPORT_CALL_H
#define TH_TCL_REPORT_CALL_H
#include "session/sections/sections.h"
#include "session/table/report.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"

/* Records take the options up to REPORT_LEGEND alone. */
enum {
    REPORT_FORMAT,
    REPORT_RETURN_STRING,
    REPORT_FIELDS,
    REPORT_DIGITS,
    REPORT_WIDTH,
    REPORT_LEGEND,
    RECORD_N_OPTIONS,
    REPORT_LIMIT = RECORD_N_OPTIONS,
    REPORT_SORT_BY,
    REPORT_INCREASING,
    REPORT_N_OPTIONS
};
enum { REPORT_DIGITS_MAX = 15, REPORT_WIDTH_MIN = 40, REPORT_WIDTH_MAX = 10000 };

#define RECORD_OPTIONS                                                                             \
    [REPORT_FORMAT] = {"-format", TH_OPTION_CHOICE, "FORMAT", "What is printed.",                  \
                       .choice = th_format_name},                                                  \
    [REPORT_RETURN_STRING] = {"-return_string", TH_OPTION_FLAG, NULL,                              \
                              "Returns the report and prints nothing."},                           \
    [REPORT_FIELDS] =                                                                              \
        {"-fields",                                                                                \
         TH_OPTION_TEXT,                                                                           \
         "COLUMNS",                                                                                \
         .least = 1,                                                                               \
         .most = TH_COLUMNS_MAX,                                                                   \
         .help = "Only these columns of the first table, in this order, with the names of "        \
                 "-format csv, without the unit, or their headings in text."},                     \
    [REPORT_DIGITS] = {"-digits", TH_OPTION_INTEGER,                                               \
                       "N",       "Significant digits of the largest value of a column, in text.", \
                       1,         REPORT_DIGITS_MAX},                                              \
    [REPORT_WIDTH] = {"-width",                                                                    \
                      TH_OPTION_INTEGER,                                                           \
                      "N",                                                                         \
                      "Columns of a line of text (COLUMNS, or those of the terminal; else 80).",   \
                      REPORT_WIDTH_MIN,                                                            \
                      REPORT_WIDTH_MAX},                                                           \
    [REPORT_LEGEND] = {"-legend", TH_OPTION_FLAG, NULL,                                            \
                       "The meaning of every heading below its table, in text."}
#define LIMIT_OPTION                                                                               \
    [REPORT_LIMIT] = {"-limit", TH_OPTION_INTEGER, "N", "Maximum number of rows.", 1, INT64_MAX}
#define TABLE_OPTIONS                                                                              \
    RECORD_OPTIONS, LIMIT_OPTION,                                                                  \
        [REPORT_SORT_BY] = {"-sort_by", TH_OPTION_TEXT, "COLUMN",                                  \
                            "Numbers from large to small, texts in order; columns have the names " \
                            "of -format csv, "                                                     \
                            "without the unit, or their headings in text."},                       \
        [REPORT_INCREASING] = {"-increasing", TH_OPTION_FLAG, NULL,                                \
                               "-sort_by: numbers from small to large instead.",                   \
                               .with = "-sort_by"}

extern const th_option th_table_options[];

th_format th_report_format(const th_call *c);
/* The width of what a person reads: COLUMNS, or that of the terminal; 0: neither is known. */
int th_screen_width(void);
/* A report whose head names what is simulated. NULL: memory is out. */
th_report *th_report_of_call(th_call *c, const char *name, const char *title);
/* section_failed: the result of the sections; arranged: the table that -sort_by and -limit apply
 * to, or NULL. Frees r. 0 or -1. */
int th_report_finish(th_call *c, th_report *r, int section_failed, th_table *arranged);
int th_report_arrange(th_call *c, th_table *t);
/* Before long work: has the first table of this trial report the columns of -sort_by and -fields?
 * Frees r. 0 or -1. */
int th_report_check_columns(th_call *c, th_report *r, int section_failed);

/* core/core_where.c: the link of an option, "link/0_1" or "0_1". Its number, or -1. */
int th_call_parse_link(th_call *c, const char *option, const char *text);

#endif
