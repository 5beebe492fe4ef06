/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_fields.c - see system_fields.h. */
#include <config.h>
#include "topology/files/system_fields.h"
#include <string.h>

#include "base/files/config_write.h"
#include "topology/files/astra.h"
#include "topology/generate/generate.h"

enum { LARGEST_CHANNELS = 4096, LARGEST_VECTOR = 1 << 24, LARGEST_EXP_OPERATIONS = 1000 };

#define OWN(name, text)                                                                            \
    {                                                                                              \
        name, .says = text                                                                         \
    }
#define REQUIRED_OWN(name, text)                                                                   \
    {                                                                                              \
        name, .flags = TH_FIELD_REQUIRED, .says = text                                             \
    }
#define COST(type, member, text)                                                                   \
    {                                                                                              \
        "cost", TH_FIELD_AT(type, member), TH_FIELD_NUMBER, TH_FIELD_ABOVE | TH_FIELD_IF_KNOWN,    \
            .max = TH_COST_MAX, .says = text, .otherwise = "unknown"                               \
    }
#define MTBF(key, type, member, text)                                                              \
    {                                                                                              \
        key, TH_FIELD_AT(type, member), TH_FIELD_DURATION, TH_FIELD_ABOVE | TH_FIELD_IF_KNOWN,     \
            .says = text, .otherwise = "unknown"                                                   \
    }

/* ---- accelerators ---- */

/* One point of a DRAM's efficiency. */
static int read_point(const th_config_node *n, th_dram_efficiency *e, th_error *err)
{
    if (th_config_kind_of(n) != TH_CONFIG_LIST || th_config_count(n) != 2)
        return th_error_set(err, "TOPO-0160",
                            "%s:%d: key \"efficiency\": point %d must be (\"RUN\", SHARE), such as "
                            "(\"64B\", 0.4)",
                            th_config_file(n), th_config_line(n), e->n + 1);
    int64_t *run = &e->run_bytes[e->n], before = e->n > 0 ? e->run_bytes[e->n - 1] : 0;
    double *share = &e->share[e->n];
    if (th_config_as_bytes(th_config_at(n, 0), run, err) < 0 ||
        th_config_as_double(th_config_at(n, 1), share, err) < 0)
        return -1;
    e->n++;
    if (*run <= before)
        return th_error_set(
            err, "TOPO-0161",
            "%s:%d: key \"efficiency\": run %lld of point %d must be more than %lld "
            "bytes: runs ascend",
            th_config_file(n), th_config_line(n), (long long)*run, e->n, (long long)before);
    if (!(*share > 0 && *share <= 1))
        return th_error_set(
            err, "TOPO-0162",
            "%s:%d: key \"efficiency\": share %g of point %d must be above 0 and at "
            "most 1",
            th_config_file(n), th_config_line(n), *share, e->n);
    return 0;
}

static int read_efficiency(const th_config_node *g, void *base, th_error *err)
{
    th_dram_efficiency *e = &((th_accel *)base)->dram_efficiency;
    const th_config_node *list = NULL;
    if (th_config_child(g, "efficiency", true, TH_CONFIG_LIST, &list, err) < 0)
        return -1;
    int n = th_config_count(list);
    if (n < 1 || n > TH_EFFICIENCY_POINTS_MAX)
        return th_error_set(
            err, "TOPO-0163", "%s:%d: key \"efficiency\": must have 1 to %d points, not %d",
            th_config_file(list), th_config_line(list), TH_EFFICIENCY_POINTS_MAX, n);
    for (int i = 0; i < n; i++)
        if (read_point(th_config_at(list, i), e, err) < 0)
            return -1;
    return 0;
}

static void put_efficiency(th_strbuf *out, const void *base)
{
    const th_dram_efficiency *e = &((const th_accel *)base)->dram_efficiency;
    for (int i = 0; i < e->n; i++) {
        th_strbuf_add(out, i > 0 ? ", (" : "( (");
        th_config_put_bytes(out, e->run_bytes[i]);
        th_strbuf_add(out, ", ");
        th_config_put_number(out, e->share[i]);
        th_strbuf_add(out, i + 1 < e->n ? ")" : ") )");
    }
}

const th_field th_dram_fields[] = {
    {"capacity", TH_FIELD_AT(th_accel, dram_bytes), TH_FIELD_BYTES,
     TH_FIELD_REQUIRED | TH_FIELD_ABOVE, .says = "usable size"},
    {"bandwidth", TH_FIELD_AT(th_accel, dram_bits_per_s), TH_FIELD_BANDWIDTH,
     TH_FIELD_REQUIRED | TH_FIELD_UNLIMITED,
     .says = "of all channels together, or `\"unlimited\"`"},
    {"latency", TH_FIELD_AT(th_accel, dram_latency_ps), TH_FIELD_TIME, TH_FIELD_ALWAYS,
     .says = "from a request to its first byte"},
    {"burst", TH_FIELD_AT(th_accel, dram_burst_bytes), TH_FIELD_BYTES,
     TH_FIELD_ALWAYS | TH_FIELD_ABOVE, .absent = 1, .says = "contiguous runs are rounded up to it"},
    {"channels", TH_FIELD_AT(th_accel, dram_channels), TH_FIELD_INT, TH_FIELD_ALWAYS, 1,
     LARGEST_CHANNELS, .absent = 1, .says = "share the bandwidth"},
    {"interleave", TH_FIELD_AT(th_accel, dram_interleave_bytes), TH_FIELD_BYTES,
     TH_FIELD_ALWAYS | TH_FIELD_ABOVE, .absent = TH_DEFAULT_INTERLEAVE_BYTES,
     .says = "bytes lie in pieces of this size over the channels in turn, so a small request does "
             "not reach the full bandwidth"},
    {"efficiency", TH_FIELD_AT(th_accel, dram_efficiency.n), .read = read_efficiency,
     .put = put_efficiency,
     .says = "`( (\"64B\", 0.4), (\"4KiB\", 0.9) )`: up to eight points, ascending, of the "
             "fraction of the bandwidth that contiguous runs reach (without refresh), interpolated "
             "linearly over the logarithm of the run ([pipeline.md](models/pipeline.md))",
     .otherwise = "all of it"},
    {NULL}};

static const char *const concat_names[] = {"copy", "free", NULL};

const th_field th_vector_fields[] = {
    {"clock", TH_FIELD_AT(th_accel, vector_hz), TH_FIELD_FREQUENCY, TH_FIELD_REQUIRED,
     .says = "of the unit for layers without multiply-accumulates"},
    {"elements_per_cycle", TH_FIELD_AT(th_accel, vector_elements_per_cycle), TH_FIELD_INT,
     TH_FIELD_REQUIRED, 1, LARGEST_VECTOR, .says = "that it computes"},
    {"exp_operations", TH_FIELD_AT(th_accel, vector_exp_operations), TH_FIELD_INT, 0, 1,
     LARGEST_EXP_OPERATIONS, .says = "operations of an exponential or a reciprocal",
     .otherwise = "4"},
    {"buffer", TH_FIELD_AT(th_accel, vector_buffer_bytes), TH_FIELD_BYTES, TH_FIELD_ABOVE,
     .says = "rows of norms and softmax that exceed it are read in every pass",
     .otherwise = "all fit"},
    {"concat", TH_FIELD_AT(th_accel, concat_is_free), TH_FIELD_WORD, .words = concat_names,
     .says = "free: concat and slice move no data"},
    {NULL}};

const th_field th_accel_fields[] = {
    OWN("name", "one accelerator"),
    OWN("names", "several equal ones: `[\"a\", \"b\"]`"),
    OWN("count", "so many, named by their numbers; 1 if nothing is said"),
    OWN("group", "its island; 0 if nothing is said"),
    COST(th_accel, cost, "of each, in a unit of your choice; only `report_advice` reads it"),
    MTBF("mtbf", th_accel, mtbf_us, "mean time between failures of each"),
    REQUIRED_OWN("dram", "its memory, see below"),
    REQUIRED_OWN("vector", "its vector unit, see below"),
    REQUIRED_OWN("designs", "names of designs; more than one makes the accelerator adaptive"),
    {NULL}};

/* ---- hosts and switches ---- */

#define FORWARDS                                                                                   \
    {                                                                                              \
        "forwards", TH_FIELD_AT(th_node, forwards), TH_FIELD_BOOL,                                 \
            .absent = true, .says = "routes may pass through it, not only end there"               \
    }
#define REDUCTION(type)                                                                            \
    {"reduction_rate",                                                                             \
     TH_FIELD_AT(type, reduction_bits_per_s),                                                      \
     TH_FIELD_BANDWIDTH,                                                                           \
     TH_FIELD_IF_KNOWN,                                                                            \
     .says = "of a switch that adds data: what it adds, all inputs together",                      \
     .otherwise = "as fast as they arrive"},                                                       \
    {                                                                                              \
        "reduction_latency", TH_FIELD_AT(type, reduction_latency_ps), TH_FIELD_TIME,               \
            TH_FIELD_IF_KNOWN, .says = "from the last input to the first of the sum"               \
    }

const th_field th_host_fields[] = {REQUIRED_OWN("name", "of the host"),
                                   FORWARDS,
                                   MTBF("mtbf", th_node, mtbf_us, "mean time between failures"),
                                   {NULL}};

const th_field th_switch_fields[] = {
    REQUIRED_OWN("name", "of the switch"),
    FORWARDS,
    {"reduces", TH_FIELD_AT(th_node, reduces), TH_FIELD_BOOL,
     .says = "it can add the data that pass through it "
             "([models/collectives.md](models/collectives.md#in_switch))"},
    REDUCTION(th_node),
    MTBF("mtbf", th_node, mtbf_us, "mean time between failures"),
    {NULL}};

/* ---- links ---- */

static const char *const duplex_names[] = {"full", "half", NULL};
#define DUPLEX(type, member, more)                                                                 \
    {                                                                                              \
        "duplex", TH_FIELD_AT(type, member), TH_FIELD_WORD, more,                                  \
            .words = duplex_names, .says = "half: both directions share the bandwidth"             \
    }

const th_field th_link_fields[] = {
    OWN("between", "`[\"a\", \"b\"]`: a cable; two entries make two parallel cables"),
    OWN("all_pairs", "`[\"a\", \"b\", \"c\"]`: a cable between any two"),
    OWN("center", "with `leaves`: a cable from each leaf to the center"),
    OWN("leaves", "names of nodes"),
    OWN("from", "with `to`: a link of one direction, without `duplex`"),
    OWN("to", "a node"),
    REQUIRED_OWN("bandwidth", "1 bit/s to 1 Pbit/s; with `between` and `center` also two values: "
                              "there (from the first node, from the leaf) and back"),
    REQUIRED_OWN("latency", "up to 1000 s; one value or two, as of the bandwidth"),
    COST(th_cable, cost, "of each cable; a link of one direction counts as one"),
    MTBF("mtbf", th_cable, mtbf_us, "mean time between failures of each cable"),
    DUPLEX(th_cable, is_full_duplex, TH_FIELD_INVERTED),
    {"dead", TH_FIELD_AT(th_cable, is_dead), TH_FIELD_BOOL, .says = "no route takes it"},
    {NULL}};

/* ---- generators ---- */

static const char *const island_names[] = {"switch", "fully_connected", NULL};
static const char *const nic_names[] = {"accelerator", "island", NULL};

const th_field th_topology_fields[] = {
    REQUIRED_OWN("type", "the generator, see below"),
    REQUIRED_OWN("dims", "its sizes"),
    OWN("bandwidth", "one value for all links, or a list: one for each dimension, or for each "
                     "level of a tree from the accelerators up; of a dragonfly for the links of "
                     "accelerators, of groups and between them; of islands for those inside, to "
                     "the fabric and, in a fat tree, inside the fabric"),
    OWN("latency", "the same"),
    DUPLEX(th_topology_options, half_duplex, 0),
    {"oversubscription", TH_FIELD_AT(th_topology_options, oversubscription), TH_FIELD_NUMBER,
     .min = 1, .says = "links down per link up of a switch", .otherwise = "1"},
    {"island", TH_FIELD_AT(th_topology_options, has_full_islands), TH_FIELD_WORD, TH_FIELD_IF_ASKED,
     .words = island_names, .says = "of `islands`: the network within an island"},
    {"nics", TH_FIELD_AT(th_topology_options, has_island_nics), TH_FIELD_WORD, TH_FIELD_IF_ASKED,
     .words = nic_names,
     .says = "of `islands`: one link to the fabric per accelerator, or one per island, from its "
             "switch"},
    {"reduces", TH_FIELD_AT(th_topology_options, switches_reduce), TH_FIELD_BOOL,
     .says = "all switches can add data; those that connect the accelerators of an island "
             "(`islands` with `island = \"switch\"`, `rails`) can unless it is `false`",
     .otherwise = "those of islands"},
    {"reduces", TH_FIELD_AT(th_topology_options, islands_only_forward), TH_FIELD_BOOL,
     TH_FIELD_INVERTED, .absent = true},
    REDUCTION(th_topology_options),
    COST(th_topology_options, cost, "of each cable"),
    MTBF("link_mtbf", th_topology_options, link_mtbf_us,
         "mean time between failures of each cable, those to the host included"),
    MTBF("switch_mtbf", th_topology_options, switch_mtbf_us, "of each switch"),
    MTBF("host_mtbf", th_topology_options, host_mtbf_us, "of each host"),
    OWN("host", "`{ bandwidth; latency; cost; }`: a host `host` with its own full-duplex cable to "
                "every accelerator; it does not forward"),
    {NULL}};

const th_field th_generated_host_fields[] = {
    {"bandwidth", TH_FIELD_AT(th_topology_options, host_bits_per_s), TH_FIELD_BANDWIDTH,
     .says = "of each of its cables", .otherwise = "the first one of the links"},
    {"latency", TH_FIELD_AT(th_topology_options, host_latency_ps), TH_FIELD_TIME, .absent = -1,
     .says = "the same", .otherwise = "the first one of the links"},
    COST(th_topology_options, host_cost, "the same"),
    {NULL}};

/* ---- what ASTRA-sim's networks need ---- */

const char *const th_astra_collective_keys[TH_ASTRA_N_COLLECTIVES] = {
    [TH_ASTRA_ALL_REDUCE] = "all_reduce",
    [TH_ASTRA_REDUCE_SCATTER] = "reduce_scatter",
    [TH_ASTRA_ALL_GATHER] = "all_gather",
    [TH_ASTRA_ALL_TO_ALL] = "all_to_all",
};

const char *const th_astra_implementation_names[] = {
    [TH_ASTRA_NONE] = "none",
    [TH_ASTRA_RING] = "ring",
    [TH_ASTRA_DIRECT] = "direct",
    [TH_ASTRA_HALVING_DOUBLING] = "halvingDoubling",
    [TH_ASTRA_DOUBLE_BINARY_TREE] = "doubleBinaryTree",
    [TH_ASTRA_ONE_RING] = "oneRing",
    [TH_ASTRA_ONE_DIRECT] = "oneDirect",
    [TH_ASTRA_ONE_HALVING_DOUBLING] = "oneHalvingDoubling",
    [TH_ASTRA_N_IMPLEMENTATIONS] = NULL};

#define IMPLEMENTATION(key, kind)                                                                  \
    {key, TH_FIELD_AT(th_astra_dim, implementation[kind]), TH_FIELD_WORD,                          \
     .words = th_astra_implementation_names, .says = "how it runs along the dimension"},           \
    {                                                                                              \
        key "_window", TH_FIELD_AT(th_astra_dim, window[kind]), TH_FIELD_INT,                      \
            .max = INT32_MAX,                                                                      \
            .says = "of `direct`: the messages under way at a time, for `direct4` 4",              \
            .otherwise = "all"                                                                     \
    }

/* Bounds that keep every product of times and bytes within its type. */
const th_field th_astra_dim_fields[] = {
    {"bandwidth", TH_FIELD_AT(th_astra_dim, gib_per_s), TH_FIELD_NUMBER, TH_FIELD_REQUIRED, 1e-6,
     1e6, .says = "of every link each way, in 2^30 bytes/s"},
    {"latency", TH_FIELD_AT(th_astra_dim, latency_ns), TH_FIELD_NUMBER, TH_FIELD_REQUIRED, 0, 1e9,
     .says = "of every link, ns"},
    IMPLEMENTATION("all_reduce", TH_ASTRA_ALL_REDUCE),
    IMPLEMENTATION("reduce_scatter", TH_ASTRA_REDUCE_SCATTER),
    IMPLEMENTATION("all_gather", TH_ASTRA_ALL_GATHER),
    IMPLEMENTATION("all_to_all", TH_ASTRA_ALL_TO_ALL),
    {NULL}};

static const char *const optimization_names[] = {"baseline", "localBWAware", NULL};

static int read_custom(const th_config_node *g, void *base, th_error *err)
{
    th_astra *a = base;
    const th_config_node *list = NULL;
    const char *keys[TH_ASTRA_N_COLLECTIVES + 1] = {NULL}, *path;
    memcpy(keys, th_astra_collective_keys, sizeof th_astra_collective_keys);
    if (th_config_child(g, "custom", true, TH_CONFIG_GROUP, &list, err) < 0 ||
        th_config_check_keys(list, keys, err) < 0)
        return -1;
    for (int i = 0; i < TH_ASTRA_N_COLLECTIVES; i++) {
        path = "";
        if (th_config_string(list, keys[i], false, &path, err) < 0)
            return -1;
        if (strlen(path) >= TH_ASTRA_PREFIX_BYTES)
            return th_error_set(
                err, "TOPO-0421", "%s:%d: key \"%s\": must be a path of at most %d bytes",
                th_config_file(list), th_config_line(list), keys[i], TH_ASTRA_PREFIX_BYTES - 1);
        strcpy(a->custom[i], path);
        a->n_custom += path[0] != '\0';
    }
    return 0;
}

static void put_custom(th_strbuf *out, const void *base)
{
    const th_astra *a = base;
    th_strbuf_add(out, "{");
    for (int i = 0; i < TH_ASTRA_N_COLLECTIVES; i++)
        if (a->custom[i][0]) {
            th_strbuf_printf(out, " %s = ", th_astra_collective_keys[i]);
            th_config_put_text(out, a->custom[i]);
            th_strbuf_add(out, ";");
        }
    th_strbuf_add(out, " }");
}

const th_field th_astra_fields[] = {
    {"preferred_dataset_splits", TH_FIELD_AT(th_astra, splits), TH_FIELD_INT, TH_FIELD_REQUIRED, 1,
     65536, .says = "chunks of a collective"},
    {"collective_optimization", TH_FIELD_AT(th_astra, is_local_bw_aware), TH_FIELD_WORD,
     TH_FIELD_REQUIRED, .words = optimization_names,
     .says = "of an all-reduce over several dimensions"},
    {"local_mem_bw", TH_FIELD_AT(th_astra, local_mem_gb_per_s), TH_FIELD_NUMBER, TH_FIELD_REQUIRED,
     1e-6, 1e9, .says = "of the memory that reductions use, 10^9 bytes/s"},
    {"endpoint_delay", TH_FIELD_AT(th_astra, endpoint_delay_ns), TH_FIELD_INT, .max = 1e9,
     .absent = 10, .says = "before every message of a collective and after the last, ns"},
    {"active_chunks_per_dimension", TH_FIELD_AT(th_astra, active_chunks), TH_FIELD_INT, .min = 1,
     .max = 65536, .absent = 1, .says = "of a collective, under way in a dimension"},
    {"peak_perf", TH_FIELD_AT(th_astra, peak_tflops), TH_FIELD_NUMBER, .max = 1e9,
     .says = "of execution traces: TFLOPS of the roofline", .otherwise = "unknown"},
    {"roofline_enabled", TH_FIELD_AT(th_astra, has_roofline), TH_FIELD_BOOL,
     .says = "of execution traces: computations take what it says, not what was measured"},
    {"replay_only", TH_FIELD_AT(th_astra, is_replay_only), TH_FIELD_BOOL,
     .says = "of execution traces: every node takes its measured duration"},
    {"custom", TH_FIELD_AT(th_astra, n_custom), .read = read_custom, .put = put_custom,
     .says = "of execution traces: `{ all_reduce = \"PREFIX\"; }`, collectives whose algorithm is "
             "the trace `PREFIX.0.et`, `PREFIX.1.et` ... ([below](#custom-collectives))"},
    REQUIRED_OWN("dims", "list of groups, one for each dimension of the topology, see below"),
    {NULL}};

/* ---- the file ---- */

static const char *const transfer_names[] = {"network", "serial", NULL};

const th_field th_system_fields[] = {
    REQUIRED_OWN("name", "of the system"),
    OWN("designs", "list of designs that accelerators may be configured with"),
    REQUIRED_OWN("accelerators", "list of entries, each for one or several equal accelerators"),
    OWN("hosts", "list of names, or of groups"),
    OWN("switches", "list of names, or of groups"),
    OWN("links", "list of cables, cliques, stars and links of one direction"),
    OWN("topology", "a generator in place of `hosts`, `switches` and `links`"),
    OWN("segments", "list of `{ name = \"s\"; bandwidth = \"80Gbps\"; latency = \"0ns\"; }`: links "
                    "without end nodes, for `routes` only"),
    OWN("dead_links", "names of links that no route takes: `[\"0_1\", \"1_0\"]`"),
    OWN("routes", "list of `{ from = \"0\"; to = \"3\"; links = [\"0_1\", \"s\", \"1_3\"]; }`: the "
                  "route of one pair in one direction"),
    OWN("routing", "`\"shortest\"`, `\"ecmp\"`, `\"dimension_order\"`, `\"up_down\"` or "
                   "`\"dragonfly\"`; the default depends on the topology"),
    OWN("link_energy", "energy per byte on every link that it crosses (`\"9.36pJ\"`)"),
    OWN("link_energy_source", "the source of that number"),
    {"collective_start", TH_FIELD_AT(th_system, collective_start_ps), TH_FIELD_TIME,
     .says = "what the software of a collective takes before the first byte of each rank that "
             "begins"},
    {"stripes_from", TH_FIELD_AT(th_system, stripes_from), TH_FIELD_BYTES, TH_FIELD_ABOVE,
     .says = "messages of so many bytes are divided over parallel cables, and over cards with "
             "paths that are as good ([models/network.md](models/network.md#stripes))",
     .otherwise = "none is"},
    {"transfers", TH_FIELD_AT(th_system, transfers_serially), TH_FIELD_WORD,
     .words = transfer_names,
     .says = "`\"serial\"`: accelerators transfer data themselves, one tensor after the other "
             "([models/h2h.md](models/h2h.md))"},
    {"weight_memory", TH_FIELD_AT(th_system, weight_memory), TH_FIELD_NUMBER, TH_FIELD_IF_ASKED,
     .max = 1,
     .says = "with `transfers = \"serial\"`: the fraction of the memories that is for weights",
     .otherwise = "0.5"},
    OWN("astra", "what the networks `astra_aware` and `astra_unaware` need "
                 "([below](#systems-of-astra-sim))"),
    {NULL}};
