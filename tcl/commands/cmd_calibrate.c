/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_calibrate.c - calibrate_network: latency, overhead and bandwidth of links from measured
 * collectives. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/text_file.h"
#include "predictor/law/link_law.h"
#include "tcl/command.h"
#include "tcl/warning.h"

enum { CALIBRATE_COLLECTIVE, CALIBRATE_SYSTEM, CALIBRATE_LINK, CALIBRATE_CARDS };
enum { LOG_BYTES_MAX = 4 << 20, SIZES_MAX = 64 };

static const th_option calibrate_options[] = {
    [CALIBRATE_COLLECTIVE] = {"-collective", TH_OPTION_CHOICE, "KIND",
                              "What the log measures, where it does not say so.",
                              .names = th_nccl_names},
    [CALIBRATE_SYSTEM] = {"-system", TH_OPTION_TEXT, "NAME",
                          "Only the rows of a CSV file with this system."},
    [CALIBRATE_LINK] = {"-link_bandwidth", TH_OPTION_BANDWIDTH, "RATE",
                        "Bandwidth of the links of one GPU in one direction inside a node, for its "
                        "efficiency."},
    [CALIBRATE_CARDS] = {"-card_bandwidth", TH_OPTION_BANDWIDTH, "RATE",
                         "Bandwidth of all network cards of a node in one direction, for their "
                         "efficiency."},
    {.name = NULL},
};

static void put(Tcl_Obj *dict, const char *key, double value)
{
    Tcl_DictObjPut(NULL, dict, Tcl_NewStringObj(key, -1), Tcl_ObjPrintf("%.4g", value));
}

/* Bandwidth in GB/s, and its share of the nominal one. It is not told by messages that take little
 * longer than the smallest would. */
static void put_bandwidth(const th_call *c, Tcl_Obj *dict, const char *where,
                          const th_link_law *law, int term, const th_nccl_log *log, int option)
{
    static const double LEAST_SHARE = 0.2;
    double us_per_byte = law->term[term], share = 0;
    th_link_law rest = *law;
    rest.term[term] = 0;
    char key[40];
    if (us_per_byte <= 0)
        return;
    for (size_t i = 0; i < log->n; i++)
        share = fmax(share,
                     1 - th_link_law_us(&rest, &log->rows[i]) / th_link_law_us(law, &log->rows[i]));
    if (share < LEAST_SHARE)
        th_warn(
            c, "TCL-1461",
            "%s bandwidth: bytes take %.0f %% of the time of the largest message, too little to "
            "tell it: measure larger ones",
            where, 100 * share);
    double gbps = 1e-3 / us_per_byte;
    snprintf(key, sizeof key, "%s_bandwidth_gbytes_per_s", where);
    put(dict, key, gbps);
    if (!th_call_has(c, option))
        return;
    snprintf(key, sizeof key, "%s_efficiency", where);
    double efficiency = gbps * 8e9 / (double)c->option[option].number;
    put(dict, key, efficiency);
    if (efficiency > 1)
        th_warn(c, "TCL-1460", "%s %.4g: more than 1, which cannot be: is %s that of these links?",
                key, efficiency, calibrate_options[option].name);
}

typedef struct residual {
    double sum[SIZES_MAX]; /* of relative deviations, by the power of two of the size */
    int n[SIZES_MAX];
    double all, large; /* sums of relative errors, all rows and those from 1 MiB */
    int n_large;
} residual;

static void find_residual(residual *r, const th_link_law *law, const th_nccl_log *log)
{
    for (size_t i = 0; i < log->n; i++) {
        const th_nccl_row *row = &log->rows[i];
        double deviation = th_link_law_us(law, row) / row->us - 1;
        int size = ilogb(row->bytes);
        size = size < 0 ? 0 : size < SIZES_MAX ? size : SIZES_MAX - 1;
        r->sum[size] += deviation;
        r->n[size]++;
        r->all += fabs(deviation);
        if (row->bytes < 1 << 20)
            continue;
        r->large += fabs(deviation);
        r->n_large++;
    }
}

static Tcl_Obj *result_of(const th_call *c, const th_link_law *law, const th_nccl_log *log)
{
    Tcl_Obj *dict = Tcl_NewDictObj(), *sizes = Tcl_NewListObj(0, NULL);
    residual r = {0};
    find_residual(&r, law, log);
    put(dict, "rows", (double)log->n);
    put(dict, "left_out", (double)log->n_left_out);
    put(dict, "launch_us", law->term[TH_LINK_LAUNCH]);
    put(dict, "inside_message_us", law->term[TH_LINK_INSIDE]);
    put_bandwidth(c, dict, "inside", law, TH_LINK_INSIDE_BYTE, log, CALIBRATE_LINK);
    put(dict, "outside_message_us", law->term[TH_LINK_OUTSIDE]);
    put_bandwidth(c, dict, "outside", law, TH_LINK_OUTSIDE_BYTE, log, CALIBRATE_CARDS);
    put(dict, "error_percent", 100 * r.all / (double)log->n);
    if (r.n_large > 0)
        put(dict, "error_from_1mib_percent", 100 * r.large / r.n_large);
    for (int i = 0; i < SIZES_MAX; i++) {
        if (r.n[i] == 0)
            continue;
        Tcl_ListObjAppendElement(NULL, sizes, Tcl_ObjPrintf("%.0f", ldexp(1, i)));
        Tcl_ListObjAppendElement(NULL, sizes, Tcl_ObjPrintf("%+.1f", 100 * r.sum[i] / r.n[i]));
    }
    Tcl_DictObjPut(NULL, dict, Tcl_NewStringObj("unexplained_percent_by_bytes", -1), sizes);
    return dict;
}

static int run_calibrate(th_call *c)
{
    const char *name = Tcl_GetString(c->words[0]);
    const char *path = Tcl_FSGetNativePath(c->words[0]);
    th_strbuf text = {0};
    th_nccl_log log = {0};
    th_link_law law;
    int failed = th_text_file_read(path ? path : name, LOG_BYTES_MAX, &text, &c->err);
    if (!failed)
        failed = th_nccl_log_read(&log, text.text, name,
                                  (int)th_call_number(c, CALIBRATE_COLLECTIVE, -1),
                                  th_call_text(c, CALIBRATE_SYSTEM, NULL), &c->err);
    if (!failed)
        failed = th_link_law_fit(&law, &log, &c->err);
    th_warn_notes(c, name, failed, &log.notes);
    if (!failed)
        Tcl_SetObjResult(c->interp, result_of(c, &law, &log));
    th_nccl_log_clear(&log);
    th_strbuf_clear(&text);
    return failed;
}

const th_command th_calibrate_commands[] = {
    {"calibrate_network", "program", "FILE", 1, 1, calibrate_options,
     "fit latencies and bandwidths to measured collectives",
     "FILE is what a program of nccl-tests printed, with all its lines of ranks, or a CSV file "
     "with "
     "the columns nodes, gpus, collective, bytes and time_us. Returns a dictionary: rows, and how "
     "many lines of times were left out (cut off, of 0 bytes, of other collectives); launch_us, "
     "the time of a collective before its first message; the overhead of a message inside a node "
     "and between nodes; the bandwidth of a GPU inside its node, and of the cards of a node; the "
     "mean error that remains, and by size what remains unexplained, predicted minus measured. A "
     "warning tells where messages are too small to tell a bandwidth. Overhead and launch can be "
     "told apart only by collectives of several kinds or numbers of ranks: otherwise the launch "
     "has all of it.",
     .run = run_calibrate},
    {.name = NULL},
};
