/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_system.c - read_system, create_system. The session's system is replaced only
 * by a complete one. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/names.h"
#include "sim/design/design.h"
#include "tcl/core/lib_report.h"
#include "tcl/design_option.h"
#include "tcl/design_script.h"
#include "tcl/files.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/warning.h"
#include "topology/files/system_read.h"
#include "topology/generate/generate.h"
#include "topology/generate/pods.h"

#define GROUP "build"

/* ---- read_system ---- */

/* -design and -designs, one behind the other among the options; either may not be given. */
static int take_designs(th_call *c, const th_value *design, th_system *system)
{
    const th_value *kept = design + 1;
    if (design->word && (th_design_option_apply(design, system, &c->err) != 0 ||
                         th_design_check_system(system, &c->err) != 0))
        return -1;
    return kept->word ? th_design_option_keep(kept, system, &c->err) : 0;
}

enum { MOST_FILES = 2, MOST_WORDS = 3 };
enum { FORMAT_CFG, FORMAT_ASTRA, FORMAT_SCALESIM, FORMAT_INFRAGRAPH };

/* procedure: of lib/, makes a system file's text of the files. NULL: they are one. */
static const struct system_format {
    const char *wanted, *procedure;
    int n_files;
    const th_file_kind *kind[MOST_FILES];
} formats[] = {
    [FORMAT_CFG] = {"-format cfg takes one", NULL, 1, {&th_system_file}},
    [FORMAT_ASTRA] = {"-format astra takes two, network.yml and system.json",
                      "astra::system",
                      2,
                      {&th_astra_network_file, &th_astra_system_file}},
    [FORMAT_SCALESIM] = {"-format scalesim takes one",
                         "scalesim::configuration",
                         1,
                         {&th_system_file}},
    [FORMAT_INFRAGRAPH] = {"-format infragraph takes one",
                           "infragraph::system",
                           1,
                           {&th_system_file}},
};

enum { READ_FORMAT, READ_DESIGN, READ_DESIGNS, READ_MAX_LINKS, READ_BANDWIDTH, READ_LATENCY };

/* Errors in the text that lib/ made name the first file. */
static th_system *read_files(th_call *c, const struct system_format *f, Tcl_Obj *const *paths,
                             int max_links)
{
    th_strbuf text = TH_STRBUF_INIT, notes = TH_STRBUF_INIT;
    const char *file = Tcl_FSGetNativePath(paths[0]);
    Tcl_Obj *words[MOST_WORDS];
    int n = f->n_files;
    if (!f->procedure)
        return th_system_read_up_to(file, max_links, &c->err);
    for (int i = 0; i < f->n_files; i++)
        words[i] = Tcl_NewStringObj(Tcl_FSGetNativePath(paths[i]), -1);
    for (int i = READ_BANDWIDTH; f == &formats[FORMAT_INFRAGRAPH] && i <= READ_LATENCY; i++)
        words[n++] = th_call_has(c, i) ? c->option[i].word : Tcl_NewObj();
    th_system *s = th_lib_read(c, f->procedure, n, words, &text, &notes) == 0
                       ? th_system_read_text_up_to(text.text, file, max_links, &c->err)
                       : NULL;
    th_warn_notes(c, file, !s, &notes);
    th_strbuf_clear(&text);
    return s;
}

/* There is no such file; a machine of that name is generated. */
static void tell_pod(th_call *c, const char *name)
{
    for (const th_pod *p = th_pods; p->name; p++)
        if (strcmp(p->name, name) == 0)
            th_error_set(&c->err, "TCL-3143",
                         "system \"%s\": is generated: create_system %s -size {%s}", name, name,
                         p->size);
}

/* Reads a system from its files, checks the keys of all designs, and takes those of the call. */
static th_system *read_one(th_call *c, int format, Tcl_Obj *const *names, int max_links,
                           const th_value *design)
{
    const struct system_format *f = &formats[format];
    Tcl_Obj *paths[MOST_FILES];
    int n = 0;
    for (; n < f->n_files; n++)
        if (!(paths[n] = th_file_find(c->session, f->kind[n], names[n], &c->err))) {
            tell_pod(c, Tcl_GetString(names[n]));
            break;
        }
    th_system *system = n == f->n_files ? read_files(c, f, paths, max_links) : NULL;
    while (n > 0)
        Tcl_DecrRefCount(paths[--n]);
    if (system && (th_design_check_system(system, &c->err) != 0 ||
                   (design && take_designs(c, design, system) != 0))) {
        th_system_free(system);
        return NULL;
    }
    return system;
}

static th_system *read_prototype(th_call *c, Tcl_Obj *name, const th_value *design)
{
    return read_one(c, FORMAT_CFG, &name, TH_LINKS_DEFAULT_MAX, design);
}

/* Hands the system to the session. A few words can create a very large system, so its size is
 * printed. */
static void take_system(th_call *c, th_system *s)
{
    enum { LARGE_ACCELS = 4096, LARGE_LINKS = 1 << 17 };
    if (s->n_accels > LARGE_ACCELS || s->n_links > LARGE_LINKS)
        th_warn(c, "TCL-0079", "system \"%s\" is large: it has %d accelerators and %d links",
                s->name, s->n_accels, s->n_links);
    th_session_set_system(c->session, s);
    th_call_return_text(c, s->name);
}

#define MAX_LINKS_OPTION                                                                           \
    {                                                                                              \
        "-max_links", TH_OPTION_INTEGER, "N",                                                      \
            "Refuse a system with more links (2097152). A million links take some 80 MB.", 1,      \
            TH_LINKS_MAX                                                                           \
    }

static const th_option read_system_options[] = {
    [READ_FORMAT] =
        {"-format", TH_OPTION_CHOICE, "FORMAT",
         "cfg (the default): one file. astra: ASTRA-sim's network.yml and system.json. "
         "scalesim: SCALE-Sim's configuration. infragraph: a graph of devices, YAML "
         "or (FILE.json) JSON.",
         .names = TH_NAMES([FORMAT_CFG] = "cfg", [FORMAT_ASTRA] = "astra",
                           [FORMAT_SCALESIM] = "scalesim", [FORMAT_INFRAGRAPH] = "infragraph")},
    [READ_DESIGN] =
        {"-design", TH_OPTION_TEXT, "{KEY VALUE ...}", .most = TH_MANY, .is_pairs = true,
         .help = "Adds a design to every accelerator (name, type, and its keys), or changes "
                 "keys of a design in the file."},
    [READ_DESIGNS] = {"-designs", TH_OPTION_TEXT, "{NAME ...}", .least = 1, .most = TH_MANY,
                      .help = "The only designs that accelerators keep, of the file and -design."},
    [READ_MAX_LINKS] = MAX_LINKS_OPTION,
    [READ_BANDWIDTH] = {"-link_bandwidth", TH_OPTION_BANDWIDTH, "RATE",
                        "Of an infragraph: of links that do not say theirs."},
    [READ_LATENCY] = {"-link_latency", TH_OPTION_TIME, "TIME", "The same (0)."},
    {.name = NULL},
};

static const th_option system_words[] = {{"FILE", TH_OPTION_TEXT, .file = &th_system_file},
                                         {.name = NULL}};

static int run_read_system(th_call *c)
{
    int format = (int)th_call_number(c, READ_FORMAT, FORMAT_CFG);
    if (c->n_words != formats[format].n_files)
        return th_error_set(&c->err, "TCL-0145", "%d files given: %s", c->n_words,
                            formats[format].wanted);
    if (format == FORMAT_ASTRA && (th_call_has(c, READ_DESIGN) || th_call_has(c, READ_DESIGNS)))
        return th_error_set(&c->err, "TCL-0148", "-design and -designs: are for -format cfg");
    if (format != FORMAT_INFRAGRAPH &&
        (th_call_has(c, READ_BANDWIDTH) || th_call_has(c, READ_LATENCY)))
        return th_error_set(&c->err, "TCL-2524",
                            "-link_bandwidth and -link_latency: are for -format infragraph");
    th_system *system =
        read_one(c, format, c->words, (int)th_call_number(c, READ_MAX_LINKS, TH_LINKS_DEFAULT_MAX),
                 &c->option[READ_DESIGN]);
    if (!system)
        return -1;
    take_system(c, system);
    return 0;
}

/* ---- mean times between failures ---- */

/* In this order, for parse_mtbf. */
#define MTBF_OPTIONS(OF_ACCEL, OF_LINK, OF_SWITCH)                                                 \
    [OF_ACCEL] =                                                                                   \
        {"-accel_mtbf", TH_OPTION_DURATION, "TIME", .range = TH_ABOVE,                             \
         .help = "Mean time between failures of an accelerator, as 50000h, for "                   \
                 "report_reliability and inject_fault -mtbf system; default: that in the file of " \
                 "-accel; those that come with Tharsis have none."},                               \
    [OF_LINK] = {"-link_mtbf", TH_OPTION_DURATION, "TIME", .range = TH_ABOVE,                      \
                 .help = "The same of every cable, those to the host included (none fails)."},     \
    [OF_SWITCH] = {"-switch_mtbf", TH_OPTION_DURATION, "TIME", .range = TH_ABOVE,                  \
                   .help = "The same of every switch (none fails)."}

static void take_mtbf(const th_call *c, int option, int64_t *us)
{
    if (th_call_has(c, option))
        *us = llround(1e6 * c->option[option].real);
}

/* of_accel: the option for accelerators, which the other two follow; accel: the template. */
static void take_mtbfs(const th_call *c, int of_accel, th_accel *accel, th_topology_options *o)
{
    take_mtbf(c, of_accel, &accel->mtbf_us);
    take_mtbf(c, of_accel + 1, &o->link_mtbf_us);
    take_mtbf(c, of_accel + 2, &o->switch_mtbf_us);
}

static th_accel *template_of(const th_system *prototype)
{
    return &prototype->nodes[prototype->accel_node[0]].a;
}

/* ---- create_system ---- */

enum {
    CREATE_NAME,
    CREATE_TOPOLOGY,
    CREATE_DIMS,
    CREATE_ACCEL,
    CREATE_DESIGN,
    CREATE_DESIGNS,
    CREATE_BANDWIDTH,
    CREATE_LATENCY,
    CREATE_OVERSUBSCRIPTION,
    CREATE_ISLAND,
    CREATE_NICS,
    CREATE_REDUCES,
    CREATE_REDUCTION_RATE,
    CREATE_REDUCTION_LATENCY,
    CREATE_HALF_DUPLEX,
    CREATE_HOST,
    CREATE_HOST_BANDWIDTH,
    CREATE_HOST_LATENCY,
    CREATE_LINK_COST,
    CREATE_ACCEL_MTBF,
    CREATE_LINK_MTBF,
    CREATE_SWITCH_MTBF,
    CREATE_HOST_MTBF,
    CREATE_SIZE,
    CREATE_STRIPES,
    CREATE_MAX_LINKS
};

TH_CHOICE(topology_name, th_topology_types[i] ? th_topology_types[i]->name : NULL)

static const th_option create_system_options[] = {
    [CREATE_NAME] = {"-name", TH_OPTION_TEXT, "NAME",
                     "Name of the system: required, except of a pod (its default is POD_N).",
                     .required = true, .unless = "POD"},
    [CREATE_TOPOLOGY] = {"-topology", TH_OPTION_CHOICE, "TYPE", "The topology.",
                         .choice = topology_name, .required = true, .unless = "POD",
                         .without = "POD"},
    [CREATE_DIMS] =
        {"-dims", TH_OPTION_TEXT, "{N ...}", .least = 1, .most = TH_MAX_DIMS,
         .help = "Size: the number of accelerators of a line, ring, fully_connected, star or "
                 "switch; the sides of a mesh or torus, {4 4} or 4x4; D of a hypercube of 2^D "
                 "accelerators; ARITY DEPTH of a tree, K N of a fattree, ISLANDS ACCELS of "
                 "islands (docs/formats.md has all); of a composition {KIND N} for each "
                 "dimension, KIND being line, ring, fully_connected or switch.",
         .is_extents = true, .required = true, .unless = "POD", .without = "POD"},
    [CREATE_ACCEL] =
        {"-accel", TH_OPTION_TEXT, "FILE", .file = &th_system_file,
         .help = "System file; its first accelerator is the template for all accelerators.",
         .required = true, .unless = "POD"},
    [CREATE_DESIGN] =
        {"-design", TH_OPTION_TEXT, "{KEY VALUE ...}", .most = TH_MANY, .is_pairs = true,
         .help = "Adds a design to that accelerator, or changes keys of a design in the file.",
         .without = "POD"},
    [CREATE_DESIGNS] = {"-designs", TH_OPTION_TEXT, "{NAME ...}", .least = 1, .most = TH_MANY,
                        .help = "The only designs that it keeps, of the file and -design.",
                        .without = "POD"},
    [CREATE_BANDWIDTH] =
        {"-link_bandwidth", TH_OPTION_BANDWIDTH, "{RATE ...}", .least = 1, .most = TH_MAX_DIMS,
         .help = "Bandwidth of every link, in each direction; or a value per dimension, "
                 "or per level from the accelerators up.",
         .required = true, .unless = "POD", .without = "POD"},
    [CREATE_LATENCY] = {"-link_latency", TH_OPTION_TIME, "{TIME ...}", .least = 1,
                        .most = TH_MAX_DIMS,
                        .help = "Latency of every link; or a list like that of -link_bandwidth.",
                        .required = true, .unless = "POD", .without = "POD"},
    [CREATE_OVERSUBSCRIPTION] = {"-oversubscription", TH_OPTION_NUMBER, "RATIO", .low = 1,
                                 .help =
                                     "Links down per link up at the switches of a fat tree (1)."},
    [CREATE_ISLAND] = {"-island", TH_OPTION_CHOICE, "KIND",
                       "How the accelerators of an island are connected (switch).",
                       .names = TH_NAMES("switch", "fully_connected"), .without = "POD"},
    [CREATE_NICS] =
        {"-nics", TH_OPTION_CHOICE, "OF",
         "Links from islands to the fabric: one per accelerator (the default), or one per island.",
         .names = TH_NAMES("accelerator", "island"), .without = "POD"},
    [CREATE_REDUCES] =
        {"-switches_reduce", TH_OPTION_FLAG, NULL,
         "All switches can reduce data in the network; without it those that connect the "
         "accelerators of an island alone (islands, rails), none where an island is "
         "fully connected.",
         .without = "POD"},
    [CREATE_REDUCTION_RATE] = {"-reduction_rate", TH_OPTION_BANDWIDTH, "RATE",
                               "Data of all inputs together that a switch adds; by default as fast "
                               "as they arrive.",
                               .without = "POD"},
    [CREATE_REDUCTION_LATENCY] = {"-reduction_latency", TH_OPTION_TIME, "TIME",
                                  "From the last input of a switch that adds to its sum (0).",
                                  .without = "POD"},
    [CREATE_HALF_DUPLEX] = {"-half_duplex", TH_OPTION_FLAG, NULL,
                            "Both directions of a link share its bandwidth.", .without = "POD"},
    [CREATE_HOST] = {"-host", TH_OPTION_FLAG, NULL, "Adds a host with a link to every accelerator.",
                     .without = "POD"},
    [CREATE_HOST_BANDWIDTH] =
        {"-host_bandwidth", TH_OPTION_BANDWIDTH, "RATE",
         "Bandwidth of the links to the host; default: that of -link_bandwidth.", .with = "-host"},
    [CREATE_HOST_LATENCY] = {"-host_latency", TH_OPTION_TIME, "TIME",
                             "Latency of the links to the host; default: that of -link_latency.",
                             .with = "-host"},
    [CREATE_LINK_COST] =
        {"-link_cost", TH_OPTION_NUMBER, "COST", .high = TH_COST_MAX, .range = TH_ABOVE,
         .help = "Cost of every cable, for report_advice; those of accelerators are in "
                 "the file of -accel.",
         .without = "POD"},
    MTBF_OPTIONS(CREATE_ACCEL_MTBF, CREATE_LINK_MTBF, CREATE_SWITCH_MTBF),
    [CREATE_HOST_MTBF] = {"-host_mtbf", TH_OPTION_DURATION, "TIME", .range = TH_ABOVE,
                          .help = "The same of the host (it does not fail).", .with = "-host"},
    [CREATE_SIZE] = {"-size", TH_OPTION_INTEGER, "{N ...}",
                     "Of a pod: the number of nodes or racks; of TPUs the sides of the torus, "
                     "{4 4} or 4x4.",
                     1, TH_MAX_ACCELS, .most = TH_MAX_DIMS, .is_extents = true, .with = "POD"},
    [CREATE_STRIPES] =
        {"-stripes_from", TH_OPTION_BYTES, "SIZE",
         "Messages of so many bytes are divided over parallel cables, and over cards "
         "with paths that are as good; of a pod as its libraries do, else none.",
         .range = TH_ABOVE},
    [CREATE_MAX_LINKS] = MAX_LINKS_OPTION,
    {.name = NULL},
};

static const th_option pod_words[] = {{"POD", TH_OPTION_CHOICE, .choice = th_pod_name},
                                      {.name = NULL}};

enum { LARGEST_DIM = TH_MAX_ACCELS };

static int parse_extent(th_call *c, Tcl_Obj *word, int *out)
{
    if (Tcl_GetIntFromObj(NULL, word, out) == TCL_OK && *out >= 1 && *out <= LARGEST_DIM)
        return 0;
    return th_error_set(&c->err, "TCL-0071", "-dims \"%s\": must be an integer from 1 to %d",
                        Tcl_GetString(word), (int)LARGEST_DIM);
}

static int parse_kind(th_call *c, Tcl_Obj *kind, Tcl_Obj *extent, int d, th_topology_options *o)
{
    if (!th_topology_dim_kind_find(Tcl_GetString(kind), &o->kinds[d]))
        return th_error_unknown(&c->err, "TCL-0075", "-dims", Tcl_GetString(kind),
                                th_topology_dim_kind_names);
    return parse_extent(c, extent, &o->dims[d]);
}

/* A dimension of a composition: {ring 4}. */
static int parse_shape_dim(th_call *c, Tcl_Obj *word, int d, th_topology_options *o)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, word, &n, &words) != TCL_OK || n != 2)
        return th_error_set(&c->err, "TCL-0074",
                            "-dims \"%s\": a dimension of a composition must be {KIND N}",
                            Tcl_GetString(word));
    return parse_kind(c, words[0], words[1], d, o);
}

/* {ring 4 switch 2} is {{ring 4} {switch 2}}. */
static int parse_kinds(th_call *c, const th_value *dims, th_topology_options *o)
{
    th_topology_dim_kind first;
    bool is_flat =
        dims->n % 2 == 0 && th_topology_dim_kind_find(Tcl_GetString(dims->words[0]), &first);
    o->n_dims = is_flat ? dims->n / 2 : dims->n;
    for (int d = 0; d < o->n_dims; d++)
        if (is_flat ? parse_kind(c, dims->words[2 * d], dims->words[2 * d + 1], d, o) < 0
                    : parse_shape_dim(c, dims->words[d], d, o) < 0)
            return -1;
    return 0;
}

static int parse_dims(th_call *c, bool has_kinds, th_topology_options *o)
{
    const th_value *dims = &c->option[CREATE_DIMS];
    if (has_kinds)
        return parse_kinds(c, dims, o);
    for (int d = 0; d < dims->n; d++)
        if (parse_extent(c, dims->words[d], &o->dims[d]) < 0)
            return -1;
    o->n_dims = dims->n;
    return 0;
}

static int take_values(const th_call *c, int option, int64_t *values)
{
    memcpy(values, c->option[option].numbers, (size_t)c->option[option].n * sizeof *values);
    return c->option[option].n;
}

/* ---- a pod ---- */

/* -size into the pod's options, and the default name, which grows by "_N" for each. */
static int take_size(th_call *c, const th_pod *pod, th_topology_options *o, th_strbuf *name)
{
    const th_value *size = &c->option[CREATE_SIZE];
    int sizes[TH_MAX_DIMS];
    if (!size->word)
        return th_error_set(&c->err, "TCL-2332", "-size {N ...}: is required with POD");
    if (size->n != pod->n_sizes)
        return th_error_set(&c->err, "TCL-0996", "-size \"%s\": must be %s for %s",
                            Tcl_GetString(size->word), pod->size, pod->name);
    th_strbuf_add(name, pod->name);
    for (int i = 0; i < size->n; i++) {
        sizes[i] = (int)size->numbers[i];
        th_strbuf_printf(name, "_%d", sizes[i]);
    }
    th_pod_options(pod, sizes, o);
    return 0;
}

/* Rates of cables that this size has: a pod without spines has none to them. */
static void fit_cables(const th_topology_type *type, th_topology_options *o)
{
    int n = type->n_cables(o);
    if (o->n_bandwidths > n)
        o->n_bandwidths = o->n_latencies = n;
}

static th_system *make_pod(th_call *c, const th_pod *pod, th_topology_options *o, const char *name)
{
    const th_topology_type *type = th_topology_find(pod->topology);
    Tcl_Obj *accel = c->option[CREATE_ACCEL].word;
    accel = accel ? accel : Tcl_NewStringObj(pod->accel, -1);
    Tcl_IncrRefCount(accel);
    th_system *prototype = read_prototype(c, accel, NULL), *system = NULL;
    fit_cables(type, o);
    if (prototype) {
        take_mtbfs(c, CREATE_ACCEL_MTBF, template_of(prototype), o);
        system =
            th_topology_create(th_call_text(c, CREATE_NAME, name), type, o, prototype, &c->err);
    }
    if (system) {
        system->collective_start_ps = pod->collective_start_ps;
        system->stripes_from = th_call_number(c, CREATE_STRIPES, pod->stripes_from);
    }
    th_system_free(prototype);
    Tcl_DecrRefCount(accel);
    return system;
}

static int create_pod(th_call *c)
{
    th_topology_options o;
    th_strbuf name = TH_STRBUF_INIT;
    const th_pod *pod = &th_pods[c->word[0].number];
    th_system *system = NULL;
    if (take_size(c, pod, &o, &name) == 0) {
        o.oversubscription = th_call_real(c, CREATE_OVERSUBSCRIPTION, o.oversubscription);
        o.max_links = (int)th_call_number(c, CREATE_MAX_LINKS, TH_LINKS_DEFAULT_MAX);
        if (name.failed)
            th_error_no_memory(&c->err);
        else
            system = make_pod(c, pod, &o, name.text);
    }
    th_strbuf_clear(&name);
    if (!system)
        return -1;
    take_system(c, system);
    return 0;
}

/* ---- the command ---- */

static int run_create_system(th_call *c)
{
    if (c->n_words > 0)
        return create_pod(c);
    th_topology_options o = {
        .has_island_options = th_call_has(c, CREATE_ISLAND) || th_call_has(c, CREATE_NICS),
        .has_full_islands = th_call_number(c, CREATE_ISLAND, 0) == 1,
        .has_island_nics = th_call_number(c, CREATE_NICS, 0) == 1,
        .switches_reduce = th_call_has(c, CREATE_REDUCES),
        .reduction_bits_per_s = th_call_number(c, CREATE_REDUCTION_RATE, 0),
        .reduction_latency_ps = th_call_number(c, CREATE_REDUCTION_LATENCY, 0),
        .half_duplex = th_call_has(c, CREATE_HALF_DUPLEX),
        .with_host = th_call_has(c, CREATE_HOST),
        .host_bits_per_s = th_call_number(c, CREATE_HOST_BANDWIDTH, 0),
        .host_latency_ps = th_call_number(c, CREATE_HOST_LATENCY, -1),
        .max_links = (int)th_call_number(c, CREATE_MAX_LINKS, TH_LINKS_DEFAULT_MAX),
        .oversubscription = th_call_real(c, CREATE_OVERSUBSCRIPTION, 0),
        .cost = th_call_real(c, CREATE_LINK_COST, 0),
    };
    const th_topology_type *type = th_topology_types[th_call_number(c, CREATE_TOPOLOGY, 0)];
    if (parse_dims(c, type->takes & TH_TAKES_KINDS, &o) != 0)
        return -1;
    o.n_bandwidths = take_values(c, CREATE_BANDWIDTH, o.bits_per_s);
    o.n_latencies = take_values(c, CREATE_LATENCY, o.latency_ps);
    take_mtbf(c, CREATE_HOST_MTBF, &o.host_mtbf_us);
    o.host_cost = o.cost;
    th_system *prototype =
        read_prototype(c, c->option[CREATE_ACCEL].word, &c->option[CREATE_DESIGN]);
    if (!prototype)
        return -1;
    take_mtbfs(c, CREATE_ACCEL_MTBF, template_of(prototype), &o);
    th_system *system =
        th_topology_create(th_call_text(c, CREATE_NAME, ""), type, &o, prototype, &c->err);
    th_system_free(prototype);
    if (!system)
        return -1;
    system->stripes_from = th_call_number(c, CREATE_STRIPES, 0);
    take_system(c, system);
    return 0;
}

const th_command th_system_commands[] = {
    {"read_system", GROUP, "FILE ?FILE?", 1, 2, read_system_options,
     "read a system: accelerators, designs, links",
     "FILE is a path, or the name of a file in a folder of $THARSIS_PATH or in topology/systems, "
     "with or without its extension; create_system makes pods such as dgx_h100. Returns the "
     "system's name. The mapping and the run of the previous system are dropped.",
     .run = run_read_system, .kinds = system_words, .needs = {th_session_need_no_trace},
     .not_while_running = true},
    {"create_system", GROUP, "?POD?", 0, 1, create_system_options,
     "create a regular system, or a commercial machine",
     "Makes either equal accelerators (-accel or -design) on equal links in a -topology of -dims, "
     "or a POD of a -size. Returns the system's name. The mapping and the run of the previous "
     "system are dropped. POD is a commercial machine of nodes, racks or slices: dgx_a100, "
     "dgx_h100, dgx_h200, dgx_b200 or dgx_b300 (nodes of eight GPUs on NVSwitch, on a "
     "rail-optimised fat tree), gb200_nvl72 or gb300_nvl72 (racks of 72 GPUs on NVSwitch), mi300x "
     "or mi355x (nodes of eight, fully connected), tpu_v5e or tpu_v5p (a torus in two or three "
     "dimensions). -size says how many; no other option is needed. Its links have the rates that "
     "messages reach, not those of data sheets, and assumed latencies; the manual's page on "
     "topologies names the sources.",
     .run = run_create_system, .kinds = pod_words, .needs = {th_session_need_no_trace},
     .not_while_running = true},
    {.name = NULL},
};
