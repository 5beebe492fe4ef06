/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_table_readers.c - what holds for every reader of tables and logs: nothing is lost in
 * silence. Of a good file of each format
 *   - columns in another order give the same, or are refused;
 *   - a line less, or an end cut off at any byte, gives something else, a note or a refusal;
 *   - another heading is told or refused.
 * What a reader gives is a digest of all that it has read. */
#include <config.h>
#include "base/map.h"
#include "base/files/text_file.h"
#include "training/pipeline_schedule.h"
#include "predictor/data/measurements.h"
#include "sim/design/table_read.h"
#include "tcl/init.h"
#include "tests/unit/draw.h"
#include "tests/unit/predict_help.h"

static th_gpus gpus;
static Tcl_Interp *interp;

/* What a reader says of a file. */
typedef struct {
    bool is_refused, is_noted;
    uint64_t digest;
} outcome;

/* 0, or -1: refused. */
typedef int reader(const char *path, uint64_t *digest, th_strbuf *notes, th_error *e);

static void add(uint64_t *digest, const void *bytes, size_t n)
{
    *digest = th_hash(bytes, n, *digest);
}

static void add_text(uint64_t *digest, const char *text)
{
    add(digest, text, strlen(text) + 1);
}

/* ---- readers ---- */

static int read_measurements(const char *path, uint64_t *digest, th_strbuf *notes, th_error *e)
{
    auto_measurements *m = th_measurements_new();
    th_measurement_source s = {.path = path, .notes = notes};
    int status = th_measurements_read(m, &s, &gpus, e);
    add(digest, &m->digest, sizeof m->digest);
    for (size_t i = 0; i < m->n_rows; i++) {
        add(digest, &m->row[i].row_id, sizeof m->row[i].row_id);
        add_text(digest, m->row[i].group < 0 ? "" : m->group[m->row[i].group]);
    }
    return status;
}

static int read_devices(const char *path, uint64_t *digest, th_strbuf *notes, th_error *e)
{
    auto_gpus g = {.gpu = NULL};
    int status = th_gpus_read(&g, path, notes, e);
    for (int i = 0; i < g.n; i++) {
        add_text(digest, g.gpu[i].name);
        add_text(digest, g.aliases[i]);
        add(digest, g.gpu[i].x, sizeof g.gpu[i].x);
        add(digest, g.gpu[i].extra, sizeof g.gpu[i].extra);
    }
    return status;
}

/* Read in lib/: the rows, and how many lines were left out. */
static int read_collectives(const char *path, uint64_t *digest, th_strbuf *notes, th_error *e)
{
    char script[200];
    snprintf(script, sizeof script, "::tharsis::lib::nccl::measured {%s} {}", path);
    if (Tcl_Eval(interp, script) != TCL_OK) {
        snprintf(e->text, sizeof e->text, "%s", Tcl_GetStringResult(interp));
        return -1;
    }
    Tcl_Obj *rows, *read = Tcl_GetObjResult(interp), *left_out;
    CU_ASSERT_FATAL(Tcl_ListObjIndex(interp, read, 0, &rows) == TCL_OK &&
                    Tcl_ListObjIndex(interp, read, 2, &left_out) == TCL_OK && left_out);
    add_text(digest, Tcl_GetString(rows));
    th_strbuf_add(notes, Tcl_GetString(left_out));
    return 0;
}

static int read_times(const char *path, uint64_t *digest, th_strbuf *notes, th_error *e)
{
    th_time_table *t = th_time_table_read(path, e);
    (void)notes;
    for (size_t i = 0; t && i < t->n; i++) {
        add(digest, &t->rows[i].shape, sizeof t->rows[i].shape);
        add(digest, &t->rows[i].time_ps, sizeof t->rows[i].time_ps);
    }
    th_time_table_free(t);
    return t ? 0 : -1;
}

static int read_schedule(const char *path, uint64_t *digest, th_strbuf *notes, th_error *e)
{
    th_pipeline_schedule s;
    (void)notes;
    if (th_pipeline_read(path, &s, e))
        return -1;
    add(digest, &s.shape, sizeof s.shape);
    add(digest, &s.is_v, sizeof s.is_v);
    add(digest, s.ops, (size_t)s.shape.stages * (size_t)s.n_ops * sizeof *s.ops);
    th_pipeline_clear(&s);
    return 0;
}

/* ---- good files ---- */

#define RANKS "#  Rank  0 Group  0 Pid 7 on a device 0\n#  Rank  1 Group  0 Pid 8 on a device 1\n"
#define HEAD                                                                                       \
    "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"

static const struct {
    const char *name, *text;
    reader *read;
    int heads;         /* lines to that of the headings, from 1; 0: none */
    const char *blank; /* between columns: NULL where they are none */
} files[] = {
    {"measured.csv",
     "row_id,kind,device,phase,group,batch,channels_in,channels_out,in_size,kernel,stride,padding,"
     "precision,bias,time_us\n11,conv,small,call,net,2,3,14,15,5,6,1,fp32,1,17.25\n"
     "12,dense,large,forward,net,2,13,14,,,,,fp32,0,18.5\n"
     "13,dense,small,forward,,3,13,14,,,,,fp32,1,19\n",
     read_measurements, 1, ","},
    {"bmm.csv",
     "OPName,Device,latency_ms,B,M,N,K\nbmm,small,0.25,7,33,34,35\n"
     "bmm,large,0.125,7,33,34,37\n",
     read_measurements, 1, ","},
    {"devices.csv",
     "device,memory_bandwidth_GBps,sms,cores_per_sm,clock_MHz,fp32_GFLOPs,l2_MB,memory_GB,aliases,"
     "fp16_GFLOPs,launch_us,source\nq,101,10,64,1001,1281,11,14,Q 4;qq,2562,2.5,sheet 2021\n"
     "r,1001,80,65,1501,15361,16,33,,,,\"sheet, 2022\"\n",
     read_devices, 1, ","},
    {"collectives.csv",
     "nodes,gpus,collective,bytes,time_us\n1,8,all_reduce,1024,18.5\n2,16,all_gather,4096,25.5\n",
     read_collectives, 1, ","},
    {"nccl.log",
     "# Collective test starting: all_gather_perf\n" RANKS HEAD
     " 1000000 250000 float none -1 30.00 33.33 16.67 0 31.00 32.26 16.13 0\n"
     " 4000000 1000000 float none -1 90.00 44.44 22.22 0 91.00 43.96 21.98 0\n"
     "# Collective test starting: all_reduce_perf\n" RANKS
     "#  Rank  2 Group  0 Pid 9 on b device 0\n" HEAD
     " 1000000 250000 float sum -1 35.00 28.57 38.10 0 31.00 32.26 43.01 0\n",
     read_collectives, 4, " "},
    {"times.csv",
     "kind,B,K,C,H,W,R,S,stride,groups,time_us\nconv,1,64,3,112,113,7,5,2,1,17.5\n"
     "fc,1,1000,512,1,1,1,1,1,1,77.25\n",
     read_times, 1, ","},
    {"stages", "F0 F1 B0 F2 B1 B2\nF0 B0 F1 B1 F2 B2\n", read_schedule, 0, NULL},
};
enum { N_FILES = sizeof files / sizeof *files };

static outcome outcome_of(int file, const char *text, size_t n, bool is_good)
{
    auto_strbuf notes = TH_STRBUF_INIT;
    th_error e = {"", ""};
    outcome o = {.digest = 1};
    char path[60];
    snprintf(path, sizeof path, "table_readers_%s", files[file].name);
    FILE *f = fopen(path, "w");
    CU_ASSERT_FATAL(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
    o.is_refused = files[file].read(path, &o.digest, &notes, &e) != 0;
    o.is_noted = notes.length > 0;
    CU_ASSERT(!o.is_refused || e.text[0] != '\0');
    if (is_good && (o.is_refused || o.is_noted))
        printf("# %s: %s%s\n", path, e.text, notes.text ? notes.text : "");
    unlink(path);
    return o;
}

static outcome good(int file)
{
    outcome o = outcome_of(file, files[file].text, strlen(files[file].text), true);
    CU_ASSERT(!o.is_refused && !o.is_noted);
    return o;
}

static bool is_silent(const outcome *o, const outcome *whole)
{
    return !o->is_refused && !o->is_noted && o->digest == whole->digest;
}

static void must_not_be_silent(int file, const outcome *o, const outcome *whole, const char *what,
                               size_t at)
{
    if (is_silent(o, whole))
        printf("# %s: %s %zu: silence\n", files[file].name, what, at);
    CU_ASSERT_FALSE(is_silent(o, whole));
}

/* A blank, a comma or a line break at the end is no loss. */
TEST(a_cut_end_is_not_lost_in_silence)
{
    for (int i = 0; i < N_FILES; i++) {
        outcome whole = good(i);
        size_t n = strlen(files[i].text);
        while (n > 0 && strchr(" ,\n", files[i].text[n - 1]))
            n--;
        for (size_t k = 0; k < n; k++) {
            outcome o = outcome_of(i, files[i].text, k, false);
            must_not_be_silent(i, &o, &whole, "cut at byte", k);
        }
    }
}

/* The head of a log may be missing: bandwidths prove which field is the time. */
TEST(a_line_less_is_not_lost_in_silence)
{
    for (int i = 0; i < N_FILES; i++) {
        outcome whole = good(i);
        const char *text = files[i].text;
        size_t line = 1;
        for (const char *from = text, *next; *from; from = next, line++) {
            auto_strbuf less = TH_STRBUF_INIT;
            next = strchr(from, '\n') + 1;
            th_strbuf_add_bytes(&less, text, (size_t)(from - text));
            th_strbuf_add(&less, next);
            outcome o = outcome_of(i, less.text, less.length, false);
            if (strncmp(from, HEAD, strlen(HEAD)) != 0)
                must_not_be_silent(i, &o, &whole, "without line", line);
        }
    }
}

/* ---- columns ---- */

enum { COLUMNS_MAX = 24 };

/* Cuts a line at the blank; how many fields. In quotes it is no blank. */
static int cut(char *line, char blank, char *fields[COLUMNS_MAX])
{
    int n = 0;
    bool is_quoted = false;
    fields[n++] = line;
    for (char *at = line; *at; at++) {
        is_quoted ^= *at == '"';
        if (*at != blank || is_quoted)
            continue;
        *at = '\0';
        if (blank == ',' || at[1] != blank)
            fields[n++] = at + 1;
    }
    return n;
}

/* The text with the fields of every line in this order, or with one of the line of headings
 * replaced. Lines of other numbers of fields stay. */
static void rewrite(int file, const int *order, int n_columns, int renamed, th_strbuf *out)
{
    char *copy = strdup(files[file].text), *next, *fields[COLUMNS_MAX];
    char blank = files[file].blank[0];
    int number = 1;
    for (char *line = copy; *line; line = next, number++) {
        next = strchr(line, '\n');
        *next++ = '\0';
        bool is_head = number == files[file].heads;
        int n = cut(line, blank, fields);
        for (int f = 0; f < n; f++) {
            int from = n == n_columns ? order[f] : f;
            th_strbuf_printf(out, "%.*s%s", f > 0, files[file].blank,
                             is_head && from == renamed ? "zebra" : fields[from]);
        }
        th_strbuf_add(out, "\n");
    }
    free(copy);
}

static int count_columns(int file, const char **head)
{
    char *copy, *fields[COLUMNS_MAX];
    *head = files[file].text;
    for (int line = 1; line < files[file].heads; line++)
        *head = strchr(*head, '\n') + 1;
    copy = strndup(*head, strcspn(*head, "\n"));
    int n = cut(copy, files[file].blank[0], fields);
    free(copy);
    return n;
}

TEST(the_order_of_columns_changes_nothing)
{
    enum { ORDERS = 20 };
    auto_rng *r = th_random_stream(1, "columns", 0);
    for (int i = 0; i < N_FILES; i++) {
        const char *head;
        int order[COLUMNS_MAX], n = files[i].blank ? count_columns(i, &head) : 0, same = 0;
        outcome whole = good(i);
        for (int k = 0; n > 0 && k < ORDERS; k++) {
            auto_strbuf text = TH_STRBUF_INIT;
            for (int f = 0; f < n; f++) {
                int other = draw(r, 0, f);
                order[f] = order[other];
                order[other] = f;
            }
            rewrite(i, order, n, -1, &text);
            outcome o = outcome_of(i, text.text, text.length, false);
            same += !o.is_refused;
            if (!o.is_refused && o.digest != whole.digest)
                printf("# %s: %s\n", files[i].name, text.text);
            CU_ASSERT(o.is_refused || o.digest == whole.digest);
        }
        CU_ASSERT(n == 0 || same == ORDERS || files[i].blank[0] == ' ');
    }
}

TEST(another_heading_is_told)
{
    for (int i = 0; i < N_FILES; i++) {
        const char *head = "";
        int order[COLUMNS_MAX], n = files[i].blank ? count_columns(i, &head) : 0;
        for (int f = 0; f < n; f++)
            order[f] = f;
        for (int f = head[0] == '#'; f < n; f++) { /* which is no heading */
            auto_strbuf text = TH_STRBUF_INIT;
            rewrite(i, order, n, f, &text);
            outcome o = outcome_of(i, text.text, text.length, false);
            bool was_empty = strstr(text.text, "zebra") == NULL;
            if (!o.is_refused && !o.is_noted && !was_empty)
                printf("# %s: heading %d is not told\n", files[i].name, f);
            CU_ASSERT(o.is_refused || o.is_noted || was_empty);
        }
    }
}

static void make_all(void)
{
    gpus = two_gpus();
    interp = Tcl_CreateInterp();
    if (Tharsis_Init(interp) != TCL_OK)
        exit(1);
}

TAP_MAIN_WITH("table_readers", make_all)
