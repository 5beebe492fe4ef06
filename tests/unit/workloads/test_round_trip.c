/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_round_trip.c - systems and workloads as text: what is read back has the same serialised
 * bytes (mapper/serialize/serializer.h), which is all that a run depends on. */
#include <config.h>
#include <dirent.h>
#include "base/files/config_write.h"
#include "mapper/serialize/serializer.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"
#include "topology/generate/generate.h"
#include "topology/files/system_write.h"
#include "workloads/models.h"
#include "workloads/workload_write.h"

static void path_of(const char *name, char *out, size_t size)
{
    const char *top = getenv("srcdir");
    snprintf(out, size, "%s/%s", top ? top : ".", name);
}

/* Calls check for every *.cfg of a folder; returns how many there were. */
static int each_of(const char *folder, void (*check)(const char *path))
{
    char at[1024], path[2048];
    path_of(folder, at, sizeof at);
    DIR *d = opendir(at);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    int n = 0;
    for (const struct dirent *e; (e = readdir(d));) {
        size_t length = strlen(e->d_name);
        if (length < 4 || strcmp(e->d_name + length - 4, ".cfg") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", at, e->d_name);
        check(path);
        n++;
    }
    closedir(d);
    return n;
}

static void assert_same_bytes(th_serializer *a, th_serializer *b)
{
    CU_ASSERT_FALSE(a->failed || b->failed);
    CU_ASSERT_TRUE(a->out.length == b->out.length &&
                   memcmp(a->out.text, b->out.text, a->out.length) == 0);
    th_serializer_clear(a);
    th_serializer_clear(b);
}

/* ---- values ---- */

TEST(numbers_are_exact)
{
    static const double numbers[] = {0,       -3,    2147483647, 2147483648.0, 0.1,
                                     1.0 / 3, 1e300, 1e-300,     6.02e23,      2251799813685249.5};
    static const char *const texts[] = {"0", "-3", "2147483647", "2147483648L", "0.1", NULL};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        th_strbuf text = TH_STRBUF_INIT;
        th_config_put_number(&text, numbers[i]);
        CU_ASSERT_EQUAL(strtod(text.text, NULL), numbers[i]);
        CU_ASSERT_TRUE((strpbrk(text.text, ".e") != NULL) ==
                       (i > 3)); /* as libconfig tells them apart */
        if (i < 5)
            TAP_ASSERT_TEXT(text.text, texts[i]);
        th_strbuf_clear(&text);
    }
}

TEST(quantities_are_exact_and_short)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_config_put_time(&text, 1500000);
    th_config_put_time(&text, 123456789012345);
    th_config_put_bytes(&text, 1 << 30);
    th_config_put_bytes(&text, 123456789);
    th_config_put_bandwidth(&text, 8000000000);
    th_config_put_bandwidth(&text, TH_UNLIMITED);
    th_config_put_frequency(&text, 200000001);
    th_config_put_text(&text, "a \"b\" \\ \n");
    TAP_ASSERT_TEXT(text.text,
                    "\"1.5us\"\"123456789012345ps\"\"1GiB\"\"123456789B\"\"8Gbps\"\"unlimited\""
                    "\"200000001Hz\"\"a \\\"b\\\" \\\\ \\x0a\"");
    th_strbuf_clear(&text);
}

/* ---- systems ---- */

static th_system *read_again(const th_system *s)
{
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL_FATAL(th_system_write(s, NULL, NULL, &text, &e), 0);
    th_system *back = th_system_read_text(text.text, "again.cfg", &e);
    if (!back)
        printf("# %s\n%s\n", e.text, text.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    th_strbuf_clear(&text);
    return back;
}

static void assert_comes_back(const th_system *s)
{
    th_serializer w = TH_SERIALIZER_INIT, again = TH_SERIALIZER_INIT;
    th_system *back = read_again(s);
    th_serializer_write_system(&w, s);
    th_serializer_write_system(&again, back);
    assert_same_bytes(&w, &again);
    for (int i = 0; i < s->n_links; i++)
        TAP_ASSERT_TEXT(back->links[i].name, s->links[i].name);
    th_system_free(back);
}

static void check_system(const char *path)
{
    th_system *s = th_system_read(path, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    assert_comes_back(s);
    th_system_free(s);
}

TEST(shipped_systems_come_back)
{
    CU_ASSERT_TRUE(each_of("topology/systems", check_system) > 10);
}

/* Every generator, with all its options. */
TEST(generated_systems_come_back)
{
    th_system *one = system_of("name = \"one\"; " MAP_HELP_ACCEL("1GB"));
    int n = 0;
    for (; th_topology_types[n]; n++) {
        const th_topology_type *type = th_topology_types[n];
        th_error e = {"", ""};
        th_topology_options o = {.n_dims = type->min_dims > 2   ? type->min_dims
                                           : type->max_dims > 1 ? 2
                                                                : 1,
                                 .n_bandwidths = 1,
                                 .n_latencies = 1,
                                 .half_duplex = n % 2,
                                 .with_host = !(type->takes & TH_HAS_HOSTS),
                                 .host_bits_per_s = 777777777,
                                 .host_latency_ps = n % 3 - 1};
        if (type->takes & TH_TAKES_ISLANDS)
            o.has_island_options = o.has_full_islands = true;
        else if (type->takes & TH_TAKES_OVERSUBSCRIPTION)
            o.oversubscription = 2;
        for (int d = 0; d < o.n_dims; d++) {
            o.dims[d] = strcmp(type->name, "hypercube") != 0 && d == 0 ? 4 : 2;
            o.kinds[d] = (th_topology_dim_kind)(d + 2);
        }
        int cables = type->n_cables(&o);
        for (int i = 0; i < cables; i++) {
            o.bits_per_s[i] = 123456789 + i;
            o.latency_ps[i] = 5 + i;
        }
        o.n_latencies = cables;
        th_system *s = th_topology_create("made", type, &o, one, &e);
        TAP_ASSERT_TEXT(e.text, "");
        CU_ASSERT_PTR_NOT_NULL_FATAL(s);
        assert_comes_back(s);
        th_system_free(s);
    }
    CU_ASSERT_TRUE(n > 10);
    th_system_free(one);
}

/* Cables of all kinds, links of one way, a dead one, segments, routes, numbers that are not round.
 */
TEST(odd_systems_come_back)
{
    static const char text[] =
        "name = \"odd\"; link_energy = \"9.36pJ\"; link_energy_source = \"a \\\"book\\\"\";\n"
        "designs = ( { name = \"d\"; type = \"any\"; whole = 3; part = 0.1; long = 5000000000L; on "
        "= true; "
        "word = \"a b\"; } );\n"
        "accelerators = ( { names = [\"a\", \"b\"]; group = 2; dram = { capacity "
        "= \"12345678B\"; "
        "bandwidth = \"unlimited\"; latency = \"123456789ps\"; burst = \"48B\"; channels = 3; "
        "interleave = \"100B\"; "
        "efficiency = ( (\"64B\", 0.4), (\"4KiB\", 0.9) ); }; vector = { clock = \"123456789Hz\"; "
        "elements_per_cycle = 7; exp_operations = 5; buffer = \"1kB\"; concat = \"free\"; }; "
        "designs = [\"d\"]; },\n"
        "{ name = \"c\"; dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; }; vector = { clock "
        "= \"1MHz\"; "
        "elements_per_cycle = 1; }; designs = [\"d\"]; } );\n"
        "hosts = ( \"h\", { name = \"g\"; forwards = false; } );\n"
        "switches = ( { name = \"s\"; reduces = true; }, \"t\" );\n"
        "links = ( { all_pairs = [\"a\", \"b\", \"c\"]; bandwidth = \"1Gbps\"; latency = \"1us\"; "
        "},\n"
        "{ between = [\"a\", \"b\"]; bandwidth = \"2Gbps\"; latency = \"1us\"; duplex = \"half\"; "
        "},\n"
        "{ between = [\"a\", \"s\"]; bandwidth = [\"2Gbps\", \"3Gbps\"]; latency = [\"1us\", "
        "\"2ns\"]; },\n"
        "{ from = \"s\"; to = \"c\"; bandwidth = \"123456789bps\"; latency = \"3ps\"; },\n"
        "{ from = \"c\"; to = \"s\"; bandwidth = \"2Gbps\"; latency = \"3ps\"; },\n"
        "{ between = [\"s\", \"t\"]; bandwidth = \"2Gbps\"; latency = \"1us\"; dead = true; },\n"
        "{ center = \"h\"; leaves = [\"a\", \"b\", \"c\", \"g\"]; bandwidth = \"2Gbps\"; latency = "
        "\"0s\"; } );\n"
        "segments = ( { name = \"bus\"; bandwidth = \"5Gbps\"; latency = \"7ns\"; } );\n"
        "dead_links = [\"a_b.1\"];\n"
        "routes = ( { from = \"a\"; to = \"c\"; links = [\"a_b\", \"bus\", \"b_c\"]; } );\n"
        "routing = \"ecmp\";\n";
    th_error e = {"", ""};
    th_system *s = th_system_read_text(text, "odd.cfg", &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    assert_comes_back(s);
    th_system_free(s);
}

static const char *shout(void *context, const th_design_block *d, const th_param *p)
{
    (void)context;
    return strcmp(d->name, "d") == 0 && strcmp(p->key, "word") == 0 ? "WORD" : p->text;
}

TEST(texts_of_designs_can_be_others)
{
    th_error e = {"", ""};
    th_system *s = th_system_read_text(
        "name = \"one\"; designs = ( { name = \"d\"; type = \"x\"; word = \"word\"; } );"
        "accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; }; "
        "vector = { clock = \"1MHz\"; elements_per_cycle = 1; }; designs = [\"d\"]; } );",
        "one.cfg", &e);
    th_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_EQUAL(th_system_write(s, shout, NULL, &text, &e), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "word = \"WORD\";"));
    th_strbuf_clear(&text);
    th_system_free(s);
}

/* ---- workloads ---- */

static void assert_workload_comes_back(const th_workload *net)
{
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT;
    th_serializer w = TH_SERIALIZER_INIT, again = TH_SERIALIZER_INIT;
    CU_ASSERT_EQUAL_FATAL(th_workload_write(net, &text, &e), 0);
    th_workload *back = th_workload_read_text(text.text, net->file ? net->file : "net", 0, &e);
    if (!back)
        printf("# %s\n%s\n", e.text, text.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    for (int i = 0; i < net->n_layers; i++)
        back->layers[i].line = net->layers[i].line; /* where it stands is another matter */
    th_serializer_write_workload(&w, net);
    th_serializer_write_workload(&again, back);
    assert_same_bytes(&w, &again);
    th_strbuf_clear(&text);
    th_workload_free(back);
}

static void check_workload(const char *path)
{
    th_workload *net = th_workload_read(path, 3, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(net);
    assert_workload_comes_back(net);
    th_workload_free(net);
}

TEST(shipped_workloads_come_back)
{
    CU_ASSERT_TRUE(each_of("workloads/models", check_workload) > 10);
}

TEST(odd_layers_come_back)
{
    static const char *const texts[] = {
        "precision = \"int8\"; input = { channels = 6; height = 19; width = 17; density = 0.3; }; "
        "layers = (\n"
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = [3, 5]; stride = [2, 1]; padding = "
        "[1, 2, 0, 1]; dilation = [2, 1]; "
        "groups = 2; norm = true; bias = true; precision = \"fp16\"; weight_density = 0.25; "
        "output_density = 0.5; },\n"
        "{ name = \"b\"; type = \"conv\"; outputs = 8; kernel = 4; stride = [3, 2]; padding = 1; "
        "transposed = true; output_padding = [2, 0]; "
        "bias = false; sparsity = [2, 4]; output_precision = \"int4\"; },\n"
        "{ name = \"c\"; type = \"conv\"; outputs = 8; kernel = 3; transposed = true; padding = 1; "
        "},\n"
        "{ name = \"p\"; type = \"max_pool\"; kernel = [3, 2]; padding = [1, 1, 0, 0]; stride = 2; "
        "},\n"
        "{ name = \"q\"; type = \"mean_pool\"; kernel = 2; inputs = \"c\"; },\n"
        "{ name = \"s\"; type = \"slice\"; inputs = \"c\"; channels = 3; first = 2; output_density "
        "= 1.0; },\n"
        "{ name = \"t\"; type = \"split\"; inputs = \"c\"; channels = 3; precision = \"fp32\"; },\n"
        "{ name = \"u\"; type = \"gelu\"; inputs = \"c\"; precision = \"bf16\"; output_precision = "
        "\"fp32\"; },\n"
        "{ name = \"f\"; type = \"fc\"; inputs = \"p\"; outputs = 10; weight_precision = \"int4\"; "
        "},\n"
        "{ name = \"x\"; type = \"softmax\"; inputs = \"c\"; heads = 2; }, { name = \"y\"; type = "
        "\"rms_norm\"; },\n"
        "{ name = \"z\"; type = \"mul\"; inputs = [\"x\", \"y\"]; }, { name = \"w\"; type = "
        "\"concat\"; inputs = [\"z\", \"x\", \"y\"]; } );",
        "input = { channels = 1; height = 9; width = 1; }; batch = 2; layers = (\n"
        "{ name = \"e\"; type = \"embedding\"; vocabulary = 100; outputs = 24; weight_precision = "
        "\"int8\"; },\n"
        "{ name = \"l\"; type = \"lstm\"; outputs = 24; bias = false; }, { name = \"g\"; type = "
        "\"gru\"; outputs = 48; },\n"
        "{ name = \"packed\"; type = \"attention\"; heads = 4; precision = \"fp32\"; },\n"
        "{ name = \"m\"; type = \"matmul\"; columns = 12; bias = true; },\n"
        "{ name = \"k\"; type = \"matmul\"; columns = 12; inputs = \"packed\"; },\n"
        "{ name = \"open\"; type = \"attention\"; heads = 2; inputs = [\"m\", \"k\", \"m\"]; "
        "output_density = 0.5; } );",
        "shapes = \"free\"; input = { channels = 3; height = 8; width = 8; }; layers = (\n"
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = 3; in_channels = 5; in_height = "
        "40; in_width = 30; },\n"
        "{ name = \"b\"; type = \"fc\"; outputs = 8; inputs = [\"a\", \"input\"]; in_channels = 7; "
        "} );",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        th_workload *net = workload_of(texts[i]);
        assert_workload_comes_back(net);
        th_workload_free(net);
    }
}

TEST(own_inputs_say_their_shape)
{
    th_workload *net = workload_of(
        "shapes = \"own\"; input = { channels = 1; height = 1; width = 1; }; layers = (\n"
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = 3; in_channels = 5; in_height = "
        "40; in_width = 30; },\n"
        "{ name = \"b\"; type = \"relu\"; },\n"
        "{ name = \"c\"; type = \"fc\"; inputs = \"input\"; outputs = 8; in_channels = 7; "
        "in_height = 2; } );");
    const int32_t *a = net->layers[0].dim, *c = net->layers[2].dim;
    CU_ASSERT_TRUE(net->has_own_inputs && !net->has_free_shapes);
    CU_ASSERT_TRUE(a[TH_DIM_C] == 5 && a[TH_DIM_H] == 38 && a[TH_DIM_W] == 28);
    CU_ASSERT_TRUE(c[TH_DIM_C] == 7 && c[TH_DIM_R] == 2 && c[TH_DIM_S] == 1);
    assert_workload_comes_back(net);
    th_workload_free(net);
}

/* Networks with inputs of their own, joined: extents, precision and density of each input. */
TEST(several_models_come_back)
{
    th_error e = {"", ""};
    const th_model_options o[] = {{"a", 0, 0}, {"b", 7, 9}, {"c", 5000000, 0}};
    th_workload *
        all = NULL,
       *nets[] = {
           shipped_workload("lenet"),
           workload_of(
               "precision = \"int8\"; input = { channels = 3; height = 19; width = 17; density "
               "= 0.3; }; layers = ( { name = \"x\"; type = \"conv\"; outputs = 4; }, { name = "
               "\"y\"; type = \"conv\"; outputs = 8; inputs = \"input\"; } );"),
           workload_of(
               "input = { channels = 1; height = 1; width = 1; }; shapes = \"own\"; layers = ( "
               "{ name = \"x\"; type = \"conv\"; outputs = 4; inputs = \"input\"; in_channels = 5; "
               "in_height = 6; in_width = 7; } );")};
    for (int i = 0; i < 3; i++) {
        th_workload *joined = th_models_join(all, nets[i], &o[i], &e);
        TAP_ASSERT_TEXT(e.text, "");
        CU_ASSERT_PTR_NOT_NULL_FATAL(joined);
        th_workload_free(all);
        th_workload_free(nets[i]);
        all = joined;
        assert_workload_comes_back(all);
    }
    th_workload_free(all);
}

TEST(models_that_are_refused)
{
    static const char head[] = "input = { channels = 1; height = 4; width = 4; };\n";
    static const char layers[] = "layers = ( { name = \"a\"; type = \"relu\"; },\n{ name = \"b\"; "
                                 "type = \"relu\"; } );";
    static const struct {
        const char *models, *id, *text;
    } all[] = {
        {"models = ( 3 );\n", "WORK-0820", "net:2: a model must be a group"},
        {"models = ( { name = \"m\"; layers = 1; input = { channels = 1; height = 4; width = 4; }; "
         "} "
         ");\n",
         "WORK-0821", "net: models of 1 layers, but there are 2"},
        {"models = ( { name = \"m\"; layers = 1; input = { channels = 1; height = 4; width = 4; }; "
         "}, "
         "{ name = \"n\"; layers = 1; input = { channels = 1; height = 4; width = 4; }; } );\n",
         "WORK-0822", "net:4: layer \"b\": reads from layer \"a\", which is of another model"},
        {"models = ( { name = \"m\"; layer = 1; } );\n", "BASE-0037",
         "net:2: unknown key \"layer\""},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        th_error e = {"", ""};
        th_strbuf text = TH_STRBUF_INIT;
        th_strbuf_printf(&text, "%s%s%s", head, all[i].models, layers);
        CU_ASSERT_PTR_NULL(th_workload_read_text(text.text, "net", 0, &e));
        TAP_ASSERT_TEXT(e.id, all[i].id);
        if (strncmp(e.text, all[i].text, strlen(all[i].text)) != 0)
            TAP_ASSERT_TEXT(e.text, all[i].text);
        th_strbuf_clear(&text);
    }
    th_error e = {"", ""};
    th_workload *net = shipped_workload("lenet");
    th_workload *one = th_models_join(NULL, net, &(th_model_options){.name = "m"}, &e);
    CU_ASSERT_PTR_NULL(th_models_join(NULL, one, &(th_model_options){.name = "n"}, &e));
    TAP_ASSERT_TEXT(e.id, "WORK-0090");
    th_workload_free(one);
    th_workload_free(net);
}

/* ---- memory ---- */

TAP_MAIN("round_trip")
