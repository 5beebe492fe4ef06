/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_mtbf.c - see system_mtbf.h. */
#include <config.h>
#include "tcl/reliability/system_mtbf.h"
#include <string.h>
#include "base/alloc.h"

int64_t th_system_mtbf_us(const th_system *s, th_object o)
{
    const th_node *n = o.class == TH_CLASS_NODE ? &s->nodes[o.index] : NULL;
    if (o.class == TH_CLASS_LINK)
        return s->media[s->links[o.index].medium].mtbf_us;
    if (o.class == TH_CLASS_ACCEL)
        n = &s->nodes[s->accel_node[o.index]];
    return !n ? 0 : n->accel >= 0 ? n->a.mtbf_us : n->mtbf_us;
}

/* Counts one unit of a kind: that of its class and mean, or a new one. name: "accel/0". */
static int add_unit(th_failure_kinds *out, const char *class, const char *name, int64_t mtbf_us,
                    th_error *err)
{
    const double s_per_us = 1e-6;
    double mtbf_s = (double)mtbf_us * s_per_us;
    size_t n = strlen(class);
    if (mtbf_us == 0)
        return 0;
    for (int i = 0; i < out->n; i++)
        if (strncmp(out->names[i], class, n) == 0 && out->names[i][n] == '/' &&
            out->all[i].mtbf_s == mtbf_s) {
            out->all[i].n_units++;
            return 0;
        }
    if (out->n == TH_FAILURE_KINDS_MAX)
        return th_error_set(err, "TCL-1170",
                            "the system has more than %d different mtbf: must be fewer, or "
                            "-failures",
                            (int)TH_FAILURE_KINDS_MAX);
    th_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text, "%s/%s", class, name);
    if (text.failed) {
        th_strbuf_clear(&text);
        return th_error_no_memory(err);
    }
    out->names[out->n] = text.text;
    out->all[out->n++] = (th_failure_kind){
        .name = text.text, .n_units = 1, .mtbf_s = mtbf_s, .shape = 1, .takes_spare = true};
    return 0;
}

/* "accel/0" where others of its class have another mean, else "accel". */
static void shorten_names(th_failure_kinds *k)
{
    for (int i = 0; i < k->n; i++) {
        size_t n = strcspn(k->names[i], "/");
        bool is_only = true;
        for (int j = 0; j < k->n; j++)
            is_only &= j == i || strncmp(k->names[j], k->names[i], n) != 0;
        if (is_only)
            k->names[i][n] = '\0';
    }
}

int th_failure_kinds_of_system(const th_system *s, th_failure_kinds *out, th_error *err)
{
    static const char *const class[] = {
        [TH_NODE_ACCEL] = "accel", [TH_NODE_HOST] = "host", [TH_NODE_SWITCH] = "switch"};
    int failed = 0;
    for (int kind = TH_NODE_ACCEL; kind <= TH_NODE_SWITCH; kind++)
        for (int i = 0; i < s->n_nodes && !failed; i++)
            if ((int)s->nodes[i].kind == kind)
                failed = add_unit(out, class[kind], s -> nodes[i].name,
                                  th_system_mtbf_us(s, (th_object){TH_CLASS_NODE, i}), err);
    for (int l = 0; l < s->n_links && !failed; l += th_system_cable_links(s, l))
        failed = add_unit(out, "link", s->links[l].name,
                          th_system_mtbf_us(s, (th_object){TH_CLASS_LINK, l}), err);
    for (int i = 0; i < out->n; i++)
        out->all[i].takes_spare =
            out->names[i][0] == 'a' || out->names[i][0] == 'h'; /* accelerators and hosts */
    shorten_names(out);
    return failed;
}
