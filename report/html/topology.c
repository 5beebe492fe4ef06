/* SPDX-License-Identifier: GPL-3.0-or-later */
/* topology.c - the figure of a system: nodes at the positions of layout.c, links in the colour of
 * their load. A cable is two lines, one per direction, each on the right; a line that would cross a
 * node is drawn around it. With many links the figure has no names of links, and the links of one
 * colour are one path. */
#include <config.h>
#include <math.h>
#include "base/alloc.h"
#include "report/html/layout.h"
#include "report/html/parts.h"
#include "report/sections/sections.h"

enum {
    NODES_MAX = 2048, /* in a picture */
    LINKS_MAX = 10000,
    NAMED_LINKS_MAX = 600,
    CELL = 64,  /* units of the picture between two neighbours */
    MARGIN = 56 /* distance of a bow from the nodes */
};
/* The shades --heat-1 .. --heat-8 end at these loads: logarithmic below 10 %, so that light traffic
 * is told apart, and in quarters up to 100 %. --heat-0: nothing was carried. */
static const double shade_ends[] = {0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1};
enum { SHADES = 1 + sizeof shade_ends / sizeof *shade_ends };
static const double RADIUS = 0.27,
                    BESIDE = 0.05; /* of a node; of a line from the middle of its cable */

typedef struct th_picture {
    th_html *page;
    const th_system *system;
    th_html_position *at; /* in units of the picture */
    double *load;         /* of each link */
    double width, height;
} th_picture;

/* ---- shapes ---- */

static void scale(th_picture *p)
{
    double x = p->at[0].x, y = p->at[0].y, right = x, bottom = y;
    int n = p->system->n_nodes;
    for (int i = 1; i < n; i++) {
        x = fmin(x, p->at[i].x);
        y = fmin(y, p->at[i].y);
        right = fmax(right, p->at[i].x);
        bottom = fmax(bottom, p->at[i].y);
    }
    for (int i = 0; i < n; i++)
        p->at[i] =
            (th_html_position){(p->at[i].x - x) * CELL + MARGIN, (p->at[i].y - y) * CELL + MARGIN};
    p->width = (right - x) * CELL + 2 * MARGIN;
    p->height = (bottom - y) * CELL + 2 * MARGIN;
}

/* Does the straight line between two nodes come too close to a third one? */
static bool is_blocked(const th_picture *p, int a, int b)
{
    th_html_position from = p->at[a], to = p->at[b];
    double dx = to.x - from.x, dy = to.y - from.y, length2 = dx * dx + dy * dy;
    for (int i = 0; i < p->system->n_nodes; i++) {
        double t = ((p->at[i].x - from.x) * dx + (p->at[i].y - from.y) * dy) / length2;
        if (i == a || i == b || t <= 0 || t >= 1)
            continue;
        if (hypot(from.x + t * dx - p->at[i].x, from.y + t * dy - p->at[i].y) < 1.2 * RADIUS * CELL)
            return true;
    }
    return false;
}

/* "M1 2L3 4", or with a bow "M1 2Q5 6 3 4"; number: among the links from the one node to the
 * other. */
static void add_path(const th_picture *p, int a, int b, int number, th_strbuf *out)
{
    th_html_position from = p->at[a], to = p->at[b];
    double length = hypot(to.x - from.x, to.y - from.y), ux = (to.x - from.x) / length,
           uy = (to.y - from.y) / length;
    double aside = (1 + number) * BESIDE * CELL, trim = RADIUS * CELL;
    double x0 = from.x + ux * trim - uy * aside, y0 = from.y + uy * trim + ux * aside;
    double x1 = to.x - ux * trim - uy * aside, y1 = to.y - uy * trim + ux * aside;
    if (is_blocked(p, a, b)) {
        double bow = fmin(0.3 * length, 1.4 * CELL) + 2 * aside;
        int side = a < b ? 1 : -1; /* both directions on one side, next to each other */
        bow *= side > 0 ? 1 : -1;
        th_strbuf_printf(out, "M%.0f %.0fQ%.0f %.0f %.0f %.0f", x0, y0, (x0 + x1) / 2 + uy * bow,
                         (y0 + y1) / 2 - ux * bow, x1, y1);
        return;
    }
    th_strbuf_printf(out, "M%.0f %.0fL%.0f %.0f", x0, y0, x1, y1);
}

/* ---- links ---- */

static int shade_of(const th_picture *p, int link)
{
    int shade = 1;
    while (shade < SHADES - 1 && p->load[link] > shade_ends[shade - 1])
        shade++;
    return p->load[link] > 0 ? shade : 0;
}

/* How many earlier links join the same nodes in the same direction. */
static int number_of(const th_system *s, int link)
{
    int n = 0;
    const th_link *l = &s->links[link];
    for (int32_t k = s->adjacency.out_start[l->from]; k < s->adjacency.out_start[l->from + 1]; k++)
        n += s->adjacency.out_links[k] < link && s->links[s->adjacency.out_links[k]].to == l->to;
    return n;
}

static void add_named_link(th_picture *p, int link, int shade)
{
    const th_system *s = p->system;
    const th_link *l = &s->links[link];
    char bytes[64], bandwidth[64];
    th_strbuf *out = p->page->out;
    th_strbuf_printf(out, "<path class=\"h%d\" d=\"", shade);
    add_path(p, l->from, l->to, number_of(s, link), out);
    th_strbuf_add(out, "\"><title>link/");
    th_html_text(out, l->name);
    th_strbuf_printf(
        out, ": load %.2f %%, %s at %s</title></path>\n", 100 * p->load[link],
        th_format_bytes(p->page->result->links[link].bytes, bytes, sizeof bytes),
        th_format_bandwidth(s->media[l->medium].bits_per_s, bandwidth, sizeof bandwidth));
}

/* The busiest links last, so that they are on top. */
static void add_links(th_picture *p)
{
    const th_system *s = p->system;
    bool has_names = s->n_links <= NAMED_LINKS_MAX;
    for (int shade = 0; shade < SHADES; shade++) {
        if (!has_names)
            th_strbuf_printf(p->page->out, "<path class=\"h%d\" d=\"", shade);
        for (int l = 0; l < s->n_links; l++) {
            if (s->links[l].from < 0 || shade_of(p, l) != shade)
                continue;
            if (has_names)
                add_named_link(p, l, shade);
            else
                add_path(p, s->links[l].from, s->links[l].to, number_of(s, l), p->page->out);
        }
        if (!has_names)
            th_strbuf_add(p->page->out, "\"/>\n");
    }
}

/* ---- nodes ---- */

/* Where there are several sets, the set is named below the box. */
static void add_set(th_picture *p, int node)
{
    const th_mapping *m = p->page->session->mapping;
    int accel = p->system->nodes[node].accel;
    for (int k = 0; m && m->n_sets > 1 && k < m->n_sets; k++)
        for (int i = 0; i < m->sets[k].n_accels; i++)
            if (m->sets[k].accels[i] == accel)
                th_strbuf_printf(p->page->out,
                                 "<text class=\"set\" x=\"%.0f\" y=\"%.0f\">set %d</text>",
                                 p->at[node].x, p->at[node].y + RADIUS * CELL + 11, k);
}

/* An accelerator is a box, filled by its busy share. */
static void add_accel(th_picture *p, int node)
{
    const th_node *n = &p->system->nodes[node];
    const th_result *x = p->page->result;
    double busy =
        x->elapsed_ps > 0 ? (double)x->accels[n->accel].stats.busy_ps / (double)x->elapsed_ps : 0;
    double r = RADIUS * CELL, left = p->at[node].x - r, top = p->at[node].y - r;
    th_strbuf *out = p->page->out;
    th_strbuf_printf(out, "<g><title>accel/");
    th_html_text(out, n->name);
    th_strbuf_printf(out,
                     ": busy %.2f %%</title><rect class=\"box\" x=\"%.0f\" y=\"%.0f\" "
                     "width=\"%.0f\" height=\"%.0f\" rx=\"4\"/><rect class=\"fill\" x=\"%.0f\" "
                     "y=\"%.1f\" width=\"%.0f\" height=\"%.1f\" rx=\"4\"/>",
                     100 * busy, left, top, 2 * r, 2 * r, left, top + 2 * r * (1 - busy), 2 * r,
                     2 * r * busy);
    th_strbuf_printf(out, "<text x=\"%.0f\" y=\"%.0f\">", p->at[node].x, p->at[node].y + 5);
    th_html_text(out, n->name);
    th_strbuf_add(out, "</text>");
    add_set(p, node);
    th_strbuf_add(out, "</g>\n");
}

static void add_other(th_picture *p, int node)
{
    const th_node *n = &p->system->nodes[node];
    th_strbuf *out = p->page->out;
    double r = n->kind == TH_NODE_HOST ? RADIUS * CELL * 1.15 : RADIUS * CELL * 0.7;
    th_strbuf_printf(out, "<g class=\"%s\"><title>node/",
                     n->kind == TH_NODE_HOST ? "host" : "switch");
    th_html_text(out, n->name);
    th_strbuf_printf(out, "</title><circle cx=\"%.0f\" cy=\"%.0f\" r=\"%.1f\"/>", p->at[node].x,
                     p->at[node].y, r);
    if (n->kind == TH_NODE_HOST) {
        th_strbuf_printf(out, "<text x=\"%.0f\" y=\"%.0f\">", p->at[node].x, p->at[node].y + 4);
        th_html_text(out, n->name);
        th_strbuf_add(out, "</text>");
    }
    th_strbuf_add(out, "</g>\n");
}

/* ---- the picture ---- */

static void add_legend(th_picture *p)
{
    th_strbuf *out = p->page->out;
    th_strbuf_add(out, "<ol class=\"heat\" aria-label=\"Colours of links, by their load\"><li "
                       "class=\"what\">Load of links</li><li><i class=\"h0\"></i>0</li>");
    for (int i = 1; i < SHADES; i++)
        th_strbuf_printf(out, "<li><i class=\"h%d\"></i>%s%g&#8239;%%</li>", i, i == 1 ? "to " : "",
                         100 * shade_ends[i - 1]);
    if (p->page->session->mapping)
        th_strbuf_add(
            out,
            "<li class=\"what\"><i class=\"busy\"></i> part of the time that an accelerator was "
            "busy</li>");
    th_strbuf_add(out, "</ol>\n");
}

static void draw(th_picture *p)
{
    th_strbuf *out = p->page->out;
    scale(p);
    th_strbuf_printf(
        out,
        "<div class=\"picture\" role=\"region\" tabindex=\"0\" aria-label=\"Picture of the "
        "system\"><svg viewBox=\"0 0 %.0f %.0f\" style=\"--w:%.0f\" role=\"img\" aria-label=\"",
        p->width, p->height, p->width);
    th_html_text(out, p->system->name);
    th_strbuf_printf(
        out, ": %d accelerators, %d links, coloured by their load\">\n<g class=\"links\">\n",
        p->system->n_accels, p->system->n_links);
    add_links(p);
    th_strbuf_add(out, "</g>\n<g class=\"nodes\">\n");
    for (int i = 0; i < p->system->n_nodes; i++)
        if (p->system->nodes[i].kind == TH_NODE_ACCEL)
            add_accel(p, i);
        else
            add_other(p, i);
    th_strbuf_add(out, "</g>\n</svg></div>\n");
    add_legend(p);
}

int th_html_topology(th_html *page)
{
    const th_system *s = page->session->system;
    th_picture p = {.page = page, .system = s};
    if (s->n_nodes > NODES_MAX || s->n_links > LINKS_MAX) {
        th_strbuf_printf(page->out,
                         "<p class=\"note\">A picture of %d nodes and %d links would show nothing; "
                         "the table of links has their loads.</p>\n",
                         s->n_nodes, s->n_links);
        return 0;
    }
    p.at = th_alloc_array((size_t)s->n_nodes + 1, sizeof *p.at);
    p.load = th_link_loads(s, page->result);
    int failed = !p.at || !p.load || th_html_layout(s, p.at) != 0;
    if (!failed)
        draw(&p);
    th_free(p.at);
    th_free(p.load);
    return failed ? th_error_no_memory(page->err) : 0;
}
