/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_network_read.c - the dimensions of a system from ASTRA-sim's network.yml, through libyaml.
 *
 *   topology: [ Ring, Switch ]    npus_count: [ 4, 8 ]
 *   bandwidth: [ 50.0, 25.0 ]     latency: [ 500.0, 1000.0 ]
 *
 *   read the text -> check its size -> load the document -> one list per key -> equal lengths
 * libyaml limits its depth to below 1000, and an alias refers to a node again without copying it,
 * so a small file cannot grow. Every message begins with FILE:LINE. */
#include <config.h>
#include "topology/files/astra_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/names.h"
#include "base/files/text_file.h"

enum { TOPOLOGY, NPUS_COUNT, BANDWIDTH, LATENCY, N_KEYS };

static const char *const keys[N_KEYS] = {"topology", "npus_count", "bandwidth", "latency"};

static const struct {
    const char *name;
    th_topology_dim_kind kind;
} kinds[] = {{"Ring", TH_TOPOLOGY_DIM_RING},
             {"FullyConnected", TH_TOPOLOGY_DIM_FULL},
             {"Switch", TH_TOPOLOGY_DIM_SWITCH}};

/* Bounds that keep every product of the physics within its type. */
static const double largest_gib_per_s = 1e6, smallest_gib_per_s = 1e-6, largest_latency_ns = 1e9;
enum { SMALLEST_SIZE = 2, LARGEST_SIZE = 1 << 20 };

typedef struct {
    const char *path;
    yaml_document_t document;
    int count[N_KEYS]; /* elements of each list; 0: not there yet */
    int line[N_KEYS];
    th_astra_dim dims[TH_MAX_DIMS];
    th_error error;
} reader;

static int line_of(const yaml_node_t *n)
{
    return (int)n->start_mark.line + 1;
}

static const char *text_of(const yaml_node_t *n)
{
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* ---- one element of a list ---- */

static int read_kind(reader *r, const yaml_node_t *n, th_astra_dim *dim)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(text_of(n), kinds[i].name) == 0) {
            dim->kind = kinds[i].kind;
            return 0;
        }
    return th_error_set(&r->error, "TOPO-0114",
                        "%s:%d: key \"topology\": must be Ring, FullyConnected or Switch, not "
                        "\"%.40s\"",
                        r->path, line_of(n), text_of(n));
}

static int read_size(reader *r, const yaml_node_t *n, th_astra_dim *dim)
{
    char *end;
    errno = 0;
    long value = strtol(text_of(n), &end, 10);
    if (errno != 0 || end == text_of(n) || *end != '\0' || value < SMALLEST_SIZE ||
        value > LARGEST_SIZE)
        return th_error_set(&r->error, "TOPO-0115",
                            "%s:%d: key \"npus_count\": must be an integer from %d to %d, not "
                            "\"%.40s\"",
                            r->path, line_of(n), SMALLEST_SIZE, LARGEST_SIZE, text_of(n));
    dim->size = (int)value;
    return 0;
}

static int read_number(reader *r, const yaml_node_t *n, int key, double min, double max,
                       double *out)
{
    char *end;
    double value = strtod(text_of(n), &end);
    if (end == text_of(n) || *end != '\0' || !isfinite(value) || value < min || value > max)
        return th_error_set(&r->error, "TOPO-0116",
                            "%s:%d: key \"%s\": must be a number from %g to %g, not \"%.40s\"",
                            r->path, line_of(n), keys[key], min, max, text_of(n));
    *out = value;
    return 0;
}

static int read_element(reader *r, const yaml_node_t *n, int key, th_astra_dim *dim)
{
    if (!text_of(n))
        return th_error_set(&r->error, "TOPO-0117", "%s:%d: key \"%s\": must be a list of values",
                            r->path, n ? line_of(n) : r->line[key], keys[key]);
    switch (key) {
    case TOPOLOGY:
        return read_kind(r, n, dim);
    case NPUS_COUNT:
        return read_size(r, n, dim);
    case BANDWIDTH:
        return read_number(r, n, key, smallest_gib_per_s, largest_gib_per_s, &dim->gib_per_s);
    default:
        return read_number(r, n, key, 0, largest_latency_ns, &dim->latency_ns);
    }
}

/* ---- keys ---- */

static int key_of(reader *r, const yaml_node_t *n)
{
    const char *name = text_of(n);
    int line = n ? line_of(n) : 1;
    for (int i = 0; i < N_KEYS; i++)
        if (name && strcmp(name, keys[i]) == 0) {
            if (r->count[i] > 0)
                return th_error_set(&r->error, "TOPO-0111", "%s:%d: key \"%s\" is given twice",
                                    r->path, line, name);
            return i;
        }
    const char *near = name ? th_name_nearest(name, keys, N_KEYS) : NULL;
    return th_error_set(&r->error, "TOPO-0112",
                        "%s:%d: unknown key \"%.40s\"%s%s%s (topology, npus_count, bandwidth and "
                        "latency were expected)",
                        r->path, line, name ? name : "", near ? ": did you mean \"" : "",
                        near ? near : "", near ? "\"?" : "");
}

static int read_pair(reader *r, const yaml_node_pair_t *pair)
{
    const yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);
    int key = key_of(r, yaml_document_get_node(&r->document, pair->key));
    if (key < 0)
        return -1;
    r->line[key] = value ? line_of(value) : 1;
    if (!value || value->type != YAML_SEQUENCE_NODE)
        return th_error_set(&r->error, "TOPO-0118",
                            "%s:%d: key \"%s\": must be a list, one element for each dimension",
                            r->path, r->line[key], keys[key]);
    const yaml_node_item_t *first = value->data.sequence.items.start;
    ptrdiff_t n = value->data.sequence.items.top - first;
    if (n < 1 || n > TH_MAX_DIMS)
        return th_error_set(&r->error, "TOPO-0113",
                            "%s:%d: key \"%s\": has %d elements: must be 1 to %d dimensions",
                            r->path, r->line[key], keys[key], (int)n, TH_MAX_DIMS);
    for (ptrdiff_t i = 0; i < n; i++)
        if (read_element(r, yaml_document_get_node(&r->document, first[i]), key, &r->dims[i]) < 0)
            return -1;
    r->count[key] = (int)n;
    return 0;
}

static int check_lists(reader *r)
{
    for (int i = 0; i < N_KEYS; i++) {
        if (r->count[i] == 0)
            return th_error_set(&r->error, "TOPO-0119", "%s: key \"%s\" is missing", r->path,
                                keys[i]);
        if (r->count[i] != r->count[TOPOLOGY])
            return th_error_set(&r->error, "TOPO-0120",
                                "%s:%d: key \"%s\" has %d elements, but topology has %d dimensions",
                                r->path, r->line[i], keys[i], r->count[i], r->count[TOPOLOGY]);
    }
    return 0;
}

static int read_document(reader *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (!root || root->type != YAML_MAPPING_NODE)
        return th_error_set(&r->error, "TOPO-0121",
                            "%s:%d: must be keys and lists: topology, npus_count, bandwidth, "
                            "latency",
                            r->path, root ? line_of(root) : 1);
    for (const yaml_node_pair_t *p = root->data.mapping.pairs.start;
         p < root->data.mapping.pairs.top; p++)
        if (read_pair(r, p) < 0)
            return -1;
    return check_lists(r);
}

/* ---- the file ---- */

static int syntax_error(const char *path, const yaml_parser_t *p, th_error *err)
{
    if (p->error == YAML_MEMORY_ERROR)
        return th_error_no_memory(err);
    size_t line = p->problem_mark.line ? p->problem_mark.line : p->context_mark.line;
    return th_error_set(err, "TOPO-0110", "%s:%d: not YAML: %s", path, (int)line + 1,
                        p->problem ? p->problem : "unreadable");
}

/* Behind the document there is nothing: what another one says is not dropped in silence. */
static int expect_end(reader *r, yaml_parser_t *parser)
{
    yaml_document_t next;
    if (!yaml_parser_load(parser, &next))
        return syntax_error(r->path, parser, &r->error);
    const yaml_node_t *root = yaml_document_get_root_node(&next);
    int status =
        root ? th_error_set(&r->error, "TOPO-0240", "%s:%d: a second document: one was expected",
                            r->path, line_of(root))
             : 0;
    yaml_document_delete(&next);
    return status;
}

static int parse(reader *r, const th_strbuf *text)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return th_error_no_memory(&r->error);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->text, text->length);
    int status;
    if (yaml_parser_load(&parser, &r->document)) {
        status = read_document(r);
        yaml_document_delete(&r->document);
        if (status == 0)
            status = expect_end(r, &parser);
    } else {
        status = syntax_error(r->path, &parser, &r->error);
    }
    yaml_parser_delete(&parser);
    return status;
}

int th_astra_read_network(const char *path, th_astra *out, th_error *err)
{
    reader r = {.path = path};
    th_strbuf text = TH_STRBUF_INIT;
    int status = th_text_file_read(path, TH_ASTRA_FILE_MAX, &text, &r.error);
    if (status == 0)
        status = parse(&r, &text);
    th_strbuf_clear(&text);
    if (status < 0) {
        if (err)
            *err = r.error;
        return -1;
    }
    memcpy(out->dims, r.dims, sizeof r.dims);
    out->n_dims = r.count[TOPOLOGY];
    return 0;
}
