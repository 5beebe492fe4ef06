/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_plot.c - write_plot: pictures of runs, of the search and of what happened in a run. */
#include <config.h>
#include "tcl/command.h"

static const th_option plot_options[] = {
    {"-of", TH_OPTION_CHOICE, "WHAT",
     "Saved runs (where RUNS are named), layers or utilization of the accelerators of the run, "
     "load of its links, flows on the most loaded links over time, traffic from node to node, "
     "convergence or Pareto front of the search; points of a study; graph: the layers of the "
     "workload.",
     .names = TH_NAMES("runs", "layers", "utilization", "links", "link_time", "traffic",
                       "convergence", "pareto", "study", "graph")},
    {"-type", TH_OPTION_CHOICE, "TYPE",
     "The kind of plot; by default utilization is stacked, links, link_time and traffic are heat "
     "maps.",
     .names = TH_NAMES("bar", "line", "scatter", "stacked", "heat")},
    {"-x", TH_OPTION_TEXT, "COLUMN",
     "Column on the x axis; columns have the names of write_results and of -format csv "
     "of reports, without the unit (name: that of a run)."},
    {"-y", TH_OPTION_TEXT, "{COLUMN ...}",
     "Columns on the y axis; several of one kind side by side. Of several rows at one place of a "
     "line or of bars the least is shown, or the largest where more is better, as the title says.",
     .least = 1, .most = 8},
    {"-z", TH_OPTION_TEXT, "COLUMN",
     "Column shown as colour in the heat map of a study; of several points in a cell the best."},
    {"-by", TH_OPTION_TEXT, "COLUMN",
     "A colour per value of this column; for a study, per combination of several columns.",
     .least = 1, .most = 24},
    {"-where", TH_OPTION_TEXT, "EXPRESSION",
     "For a study: only points for which it holds, as in report_study."},
    {"-maximize", TH_OPTION_TEXT, "{COLUMN ...}",
     "Columns of a study where more is better, for the front, -y and -z; for values that the "
     "script returns, less is better by default.",
     .most = TH_MANY},
    {"-log", TH_OPTION_CHOICE, "AXES", "Logarithmic axes.", .names = TH_NAMES("x", "y", "xy")},
    {"-title", TH_OPTION_TEXT, "TEXT", "Title of the plot."},
    {.name = NULL},
};

const th_command th_plot_commands[] = {
    {"write_plot", "output", "?RUNS|STUDY? FILE", 1, 2, plot_options,
     "plot saved runs, the present run, a search or a study",
     "RUNS are names that save_run returned; with -of study a STUDY is named; everything else is "
     "of the present run or search. FILE ends in .svg, .png or .pdf, which gnuplot draws; in .txt, "
     "a plot for terminals of 80 columns, whose lines and scatters gnuplot draws; or in .gp, the "
     "gnuplot script, for changes by hand. With -of graph Graphviz draws it: .svg, .png, .pdf, or "
     ".dot (its text, which needs no Graphviz). "
     "Bars and lines over a column of texts keep the order of the rows. A scatter plot of figures "
     "to be minimised or maximised (latency, energy, throughput ...) shows the Pareto front, whose "
     "points are labelled (#N: point N of a study). The same numbers give the same file. Missing "
     "folders are created. Returns FILE.",
     .run = th_lib_run},
    {.name = NULL},
};
