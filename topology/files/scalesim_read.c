/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scalesim_read.c - a system from the configuration of SCALE-Sim, an INI file.
 *
 *   read the text -> a line at a time: [section], or key = value -> check required keys -> build
 *
 * One accelerator without a host: a design "systolic" with the array, its dataflow and its three
 * buffers. SCALE-Sim counts words and cycles: here a word is a byte and a cycle 1 ns. With
 * InterfaceBandwidth USER each operand has a port of Bandwidth words per cycle; with CALC memory
 * never limits. Keys without influence on cycles and accesses are ignored; of other keys and
 * sections a note tells. Names of sections and keys are not case-sensitive, as in SCALE-Sim. */
#include <config.h>
#include "topology/files/scalesim_read.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/notes.h"
#include "base/text_file.h"

enum { BYTES_PER_KB = 1024, LARGEST_KB = 1 << 30, LARGEST_SIDE = 65536, LARGEST_WORDS = 1000000 };
enum { N_BUFFERS = 3, WORD_BITS = 8, SLOTS = 2 };
static const char clock_text[] = "1GHz", mode_key[] = "InterfaceBandwidth";
static const int64_t clock_hz = 1000000000, dram_bytes = 64LL << 30;
enum { VECTOR_ELEMENTS = 1024 };

typedef enum {
    SECTION_OTHER,
    SECTION_GENERAL,
    SECTION_ARRAY,
    SECTION_RUN,
    SECTION_SPARSITY
} section;

/* [architecture_presets], by the place in array_keys. */
typedef enum {
    ROWS,
    COLS,
    INPUT_KB,
    WEIGHT_KB,
    OUTPUT_KB,
    DATAFLOW,
    BANDWIDTH,
    N_WANTED, /* what follows is passed over */
    N_ARRAY_KEYS = N_WANTED + 6
} array_key;

static const char *const array_keys[N_ARRAY_KEYS] = {
    "ArrayHeight", "ArrayWidth",        "IfmapSramSzkB",     "FilterSramSzkB", "OfmapSramSzkB",
    "Dataflow",    "Bandwidth",         "IfmapOffset",       "FilterOffset",   "OfmapOffset",
    "MemoryBanks", "ReadRequestBuffer", "WriteRequestBuffer"};

typedef struct {
    const char *path;
    int line;
    section section;
    char *name; /* run_name */
    bool has[N_WANTED], is_user, has_mode;
    int64_t number[N_WANTED]; /* but dataflow and bandwidth */
    char dataflow[3];
    int64_t words[N_BUFFERS]; /* per cycle: input, weight, output */
    th_strbuf unread;         /* keys */
    th_error error;
} reader;

/* ---- values ---- */

static int fail_value(reader *r, const char *key, const char *expected, const char *value)
{
    return th_error_set(&r->error, "TOPO-0170", "%s:%d: key \"%s\": must be %s, not \"%.60s\"",
                        r->path, r->line, key, expected, value);
}

/* The whole number at *text, which moves behind it and the blanks that follow. 0 or -1. */
static int read_number(const char **text, int64_t max, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(*text, &end, 10);
    if (end == *text || errno != 0 || value < 1 || value > max)
        return -1;
    *text = end + strspn(end, " \t");
    *out = value;
    return 0;
}

static int read_whole(reader *r, array_key key, int64_t max, const char *value)
{
    char expected[60];
    const char *rest = value;
    if (read_number(&rest, max, &r->number[key]) == 0 && *rest == '\0')
        return 0;
    snprintf(expected, sizeof expected, "a whole number from 1 to %lld", (long long)max);
    return fail_value(r, array_keys[key], expected, value);
}

static int read_dataflow(reader *r, const char *value)
{
    static const char *const flows[] = {"os", "ws", "is"};
    for (int i = 0; i < 3; i++)
        if (strcasecmp(value, flows[i]) == 0) {
            memcpy(r->dataflow, flows[i], sizeof r->dataflow);
            return 0;
        }
    return fail_value(r, array_keys[DATAFLOW], "os, ws or is", value);
}

/* One number of words per cycle for all operands, or one each. */
static int read_bandwidth(reader *r, const char *value)
{
    const char *rest = value;
    int n = 0;
    while (n < N_BUFFERS && read_number(&rest, LARGEST_WORDS, &r->words[n]) == 0) {
        n++;
        if (*rest != ',')
            break;
        rest += 1 + strspn(rest + 1, " \t");
    }
    if (*rest != '\0' || (n != 1 && n != N_BUFFERS))
        return fail_value(r, array_keys[BANDWIDTH], "words per cycle, one number or three", value);
    for (; n < N_BUFFERS; n++)
        r->words[n] = r->words[0];
    return 0;
}

/* ---- keys ---- */

static const char *const section_names[] = {[SECTION_GENERAL] = "general",
                                            [SECTION_ARRAY] = "architecture_presets",
                                            [SECTION_RUN] = "run_presets",
                                            [SECTION_SPARSITY] = "sparsity"};

static int pass_over(reader *r, const char *name)
{
    enum { SHOWN_BYTES = 300 };
    if (r->unread.length < SHOWN_BYTES)
        th_strbuf_printf(&r->unread, " \"%.40s\"", name);
    return 0;
}

static int is_twice(reader *r, const char *key)
{
    return th_error_set(&r->error, "TOPO-0172", "%s:%d: key \"%s\" is there twice", r->path,
                        r->line, key);
}

static int read_array_key(reader *r, const char *name, const char *value)
{
    int key = 0;
    while (key < N_ARRAY_KEYS && strcasecmp(name, array_keys[key]) != 0)
        key++;
    if (key == N_ARRAY_KEYS)
        return pass_over(r, name);
    if (key >= N_WANTED)
        return 0;
    if (r->has[key])
        return is_twice(r, array_keys[key]);
    r->has[key] = true;
    if (key == DATAFLOW)
        return read_dataflow(r, value);
    if (key == BANDWIDTH)
        return read_bandwidth(r, value);
    return read_whole(r, (array_key)key, key <= COLS ? LARGEST_SIDE : LARGEST_KB, value);
}

static int read_mode(reader *r, const char *value)
{
    if (r->has_mode)
        return is_twice(r, mode_key);
    r->has_mode = true;
    r->is_user = strcasecmp(value, "USER") == 0;
    if (r->is_user || strcasecmp(value, "CALC") == 0)
        return 0;
    return fail_value(r, mode_key, "CALC or USER", value);
}

static int read_key(reader *r, const char *name, const char *value)
{
    switch (r->section) {
    case SECTION_GENERAL:
        if (strcasecmp(name, "run_name") != 0)
            return pass_over(r, name);
        th_free(r->name);
        r->name = th_alloc_string(value);
        return r->name ? 0 : th_error_no_memory(&r->error);
    case SECTION_ARRAY:
        return read_array_key(r, name, value);
    case SECTION_RUN:
        return strcasecmp(name, mode_key) == 0 ? read_mode(r, value) : pass_over(r, name);
    case SECTION_SPARSITY:
        if (strcasecmp(name, "OptimizedMapping") != 0)
            return pass_over(r, name);
        return strcasecmp(value, "false") == 0
                   ? 0
                   : fail_value(r, name, "false (ratios drawn for every row are not modelled)",
                                value);
    case SECTION_OTHER:
        break;
    }
    return pass_over(r, name);
}

/* ---- lines ---- */

static char *trimmed(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]))
        text[--n] = '\0';
    return text;
}

static void begin_section(reader *r, const char *name)
{
    r->section = SECTION_SPARSITY;
    while (r->section > SECTION_OTHER && strcasecmp(name, section_names[r->section]) != 0)
        r->section--;
}

static int read_line(reader *r, char *line)
{
    char *text = trimmed(line);
    size_t n = strlen(text);
    if (n == 0 || text[0] == '#' || text[0] == ';')
        return 0;
    if (text[0] == '[' && text[n - 1] == ']') {
        text[n - 1] = '\0';
        begin_section(r, trimmed(text + 1));
        return 0;
    }
    size_t name = strcspn(text, "=:");
    if (name == n || name == 0)
        return th_error_set(&r->error, "TOPO-0173",
                            "%s:%d: must be [section], or KEY = VALUE, not \"%.60s\"", r->path,
                            r->line, text);
    text[name] = '\0';
    return read_key(r, trimmed(text), trimmed(text + name + 1));
}

static int read_lines(reader *r, char *text, th_strbuf *notes)
{
    bool is_cut = false;
    while (text) {
        char *next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        r->line++;
        if (read_line(r, text))
            return -1;
        is_cut = !next && *text != '\0';
        text = next;
    }
    if (r->unread.length > 0)
        th_note(notes, "keys are not read:%s", r->unread.text);
    if (is_cut)
        th_note(notes, "its last line has no end: the file may be cut short");
    for (int key = 0; key < N_WANTED; key++)
        if (!r->has[key] && (key != BANDWIDTH || r->is_user))
            return th_error_set(&r->error, "TOPO-0174",
                                "%s: key \"%s\" of [architecture_presets] is missing%s%s", r->path,
                                array_keys[key], r->unread.text ? "; not read are" : "",
                                r->unread.text ? r->unread.text : "");
    return 0;
}

static int read_file(reader *r, th_strbuf *notes)
{
    th_strbuf text = TH_STRBUF_INIT;
    int failed = th_text_file_read(r->path, TH_SCALESIM_CONFIG_MAX, &text, &r->error);
    if (!failed)
        failed = read_lines(r, text.text, notes);
    th_strbuf_clear(&text);
    return failed;
}

/* ---- the system ---- */

static int add_number(th_system *s, int design, const char *key, int64_t value, th_error *err)
{
    th_param p = {.key = (char *)key, .kind = TH_PARAM_NUMBER, .number = (double)value};
    return th_system_add_param(s, design, &p, err);
}

static int add_text(th_system *s, int design, const char *key, const char *text, th_error *err)
{
    th_param p = {.key = (char *)key, .kind = TH_PARAM_TEXT, .text = (char *)text};
    return th_system_add_param(s, design, &p, err);
}

static int add_memory(th_system *s, int design, const reader *r, th_error *err)
{
    static const char *const buffers[] = {"input_buffer", "weight_buffer", "output_buffer"};
    static const char *const ports[] = {"input_port", "weight_port", "output_port"};
    char size[40];
    for (int i = 0; i < N_BUFFERS; i++) {
        snprintf(size, sizeof size, "%lldB", (long long)r->number[INPUT_KB + i] * BYTES_PER_KB);
        if (add_text(s, design, buffers[i], size, err) < 0 ||
            (r->is_user && add_number(s, design, ports[i], r->words[i], err) < 0))
            return -1;
    }
    return 0;
}

static int add_design(th_system *s, const reader *r, th_error *err)
{
    int d = th_system_add_design(s, "systolic", "systolic", r->path, 1, err);
    if (d < 0 || add_text(s, d, "clock", clock_text, err) < 0 ||
        add_number(s, d, "rows", r->number[ROWS], err) < 0 ||
        add_number(s, d, "cols", r->number[COLS], err) < 0 ||
        add_text(s, d, "dataflow", r->dataflow, err) < 0 ||
        add_number(s, d, "slots", SLOTS, err) < 0 ||
        add_number(s, d, "sum_bits", WORD_BITS, err) < 0 || add_memory(s, d, r, err) < 0)
        return -1;
    return d;
}

static int build(th_system *s, const reader *r, th_error *err)
{
    int design = add_design(s, r, err);
    int node = design < 0 ? -1 : th_system_add_node(s, "0", TH_NODE_ACCEL, 0, err);
    th_accel accel = {
        .dram_bytes = dram_bytes,
        .dram_bits_per_s = TH_UNLIMITED,
        .dram_burst_bytes = 1,
        .dram_channels = 1,
        .dram_interleave_bytes = TH_DEFAULT_INTERLEAVE_BYTES,
        .vector_hz = clock_hz,
        .vector_elements_per_cycle = VECTOR_ELEMENTS,
        .designs = &design,
        .n_designs = 1,
    };
    if (node < 0 || th_system_set_accel(s, node, &accel, err) < 0)
        return -1;
    return th_system_finish(s, err);
}

th_system *th_system_read_scalesim(const char *path, th_strbuf *notes, th_error *err)
{
    reader r = {.path = path};
    char name[256];
    th_system *s = NULL;
    int length;
    const char *stem = th_file_stem(path, &length);
    snprintf(name, sizeof name, "%.*s", length, stem);
    if (read_file(&r, notes) < 0)
        *err = r.error;
    else
        s = th_system_new(r.name && r.name[0] ? r.name : name, err);
    if (s && build(s, &r, err) < 0) {
        th_system_free(s);
        s = NULL;
    }
    th_free(r.name);
    th_strbuf_clear(&r.unread);
    return s;
}
