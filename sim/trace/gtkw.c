/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gtkw.c - a save file of GTKWave beside a value change dump: which signals it shows, in one group
 * per node (accelerators first) with the links that leave the node.
 *
 * GTKWave looks for the dump where it stood relative to the save file ("Find dumpfile" of its
 * savefile.c): both get the same folder, whatever it is called, so that the two files can be moved
 * together and no path of this machine stands in them. A line "@FLAGS" in hexadecimal says how the
 * traces behind it are shown (the TR_* bits of GTKWave's analyzer.h). */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/open_file.h"
#include "base/strbuf.h"
#include "base/files/write_file.h"
#include "sim/trace/trace_state.h"

enum { OPEN_GROUPS = 8 }; /* later ones begin closed */
enum {
    SHOW_BIT = 0x28,        /* right-justified, binary */
    SHOW_DECIMAL = 0x24,    /* right-justified, decimal */
    SHOW_STEPS = 0x8024,    /* and as a staircase */
    SHOW_TEXT = 0x20,       /* right-justified */
    SHOW_GROUP = 0x800200,  /* blank, begins a group */
    SHOW_CLOSED = 0xc00200, /* likewise, closed */
    SHOW_END = 0x1000200,   /* blank, ends a group */
    SHOW_CLOSED_END = 0x1401200
};
static const char first_line[] = "[*] Tharsis " PACKAGE_VERSION "\n";
static const char mark[] = "[*] Tharsis ";

static void add_name(th_strbuf *b, const char *name)
{
    for (; *name; name++) {
        char c = th_vcd_letter(*name);
        th_strbuf_add_bytes(b, &c, 1);
    }
}

static unsigned show_as(th_signal s)
{
    if (th_signal_is_text(s))
        return SHOW_TEXT;
    if (th_signal_is_bit(s))
        return SHOW_BIT;
    return s == TH_SIGNAL_QUEUE_DEPTH || s == TH_SIGNAL_FLOWS || s == TH_SIGNAL_BUFFER_FILL
               ? SHOW_STEPS
               : SHOW_DECIMAL;
}

static void add_signals(const th_trace *t, int32_t object, th_strbuf *b)
{
    const th_traced *o = &t->objects[object];
    for (int32_t i = o->first; i < t->n_variables && t->variables[i].object == object; i++) {
        th_signal s = (th_signal)t->variables[i].signal;
        th_strbuf_printf(b, "@%x\n%s.", show_as(s), th_traced_class_name(t, object));
        add_name(b, th_traced_name(t, object));
        th_strbuf_printf(b, ".%s\n", th_signal_name((int)s));
    }
}

static bool leaves(const th_trace *t, int32_t link, int32_t node)
{
    return t->system->links[link].from == node && t->objects[t->n_nodes + link].signals != 0;
}

static bool has_group(const th_trace *t, int32_t node)
{
    bool any = t->objects[node].signals != 0;
    for (int32_t l = 0; !any && l < t->system->n_links; l++)
        any = leaves(t, l, node);
    return any;
}

static void add_group(const th_trace *t, int32_t node, bool is_closed, th_strbuf *b)
{
    th_strbuf_printf(b, "@%x\n-%s ", is_closed ? SHOW_CLOSED : SHOW_GROUP,
                     th_traced_class_name(t, node));
    add_name(b, th_traced_name(t, node));
    th_strbuf_add(b, "\n");
    add_signals(t, node, b);
    for (int32_t l = 0; l < t->system->n_links; l++)
        if (leaves(t, l, node))
            add_signals(t, t->n_nodes + l, b);
    th_strbuf_printf(b, "@%x\n-end\n", is_closed ? SHOW_CLOSED_END : SHOW_END);
}

static void add_groups(const th_trace *t, th_strbuf *b)
{
    int n = 0;
    for (int others = 0; others < 2; others++)
        for (int32_t node = 0; node < t->n_nodes; node++)
            if ((t->system->nodes[node].accel < 0) == (others == 1) && has_group(t, node))
                add_group(t, node, n++ >= OPEN_GROUPS, b);
}

/* "out/ring8.vcd" -> "out/ring8.gtkw"; other names get the ending. NULL: memory is out. */
static char *name_of(const char *path)
{
    static const char dump[] = ".vcd", ending[] = ".gtkw";
    size_t n = strlen(path);
    if (n > strlen(dump) && strcmp(path + n - strlen(dump), dump) == 0)
        n -= strlen(dump);
    char *name = th_alloc(n + sizeof ending);
    if (name) {
        memcpy(name, path, n);
        memcpy(name + n, ending, sizeof ending);
    }
    return name;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Is there a file that GTKWave, or somebody, has written since? */
static bool belongs_to_user(const char *name)
{
    char head[sizeof mark] = "";
    FILE *f = th_file_stream(name);
    if (!f)
        return errno != ENOENT;
    size_t n = fread(head, 1, sizeof mark - 1, f);
    fclose(f);
    return n != sizeof mark - 1 || memcmp(head, mark, n) != 0;
}

int th_gtkw_write(const th_trace *t, th_error *err)
{
    struct stat is;
    th_strbuf b = TH_STRBUF_INIT;
    if (fstat(t->out.file, &is) != 0 || !S_ISREG(is.st_mode) || !t->is.has_begun)
        return 0;
    char *name = name_of(t->path);
    if (!name)
        return th_error_no_memory(err);
    int failed = 0;
    if (!belongs_to_user(name)) {
        th_strbuf_printf(&b, "%s[dumpfile] \"/trace/%s\"\n[savefile] \"/trace/%s\"\n", first_line,
                         last_part(t->path), last_part(name));
        add_groups(t, &b);
        failed = b.failed ? th_error_no_memory(err) : th_replace_file(name, b.text, b.length, err);
    }
    th_strbuf_clear(&b);
    th_free(name);
    return failed;
}
