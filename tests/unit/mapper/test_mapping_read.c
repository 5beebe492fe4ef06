/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "mapper/mapping_read.h"
#include "tests/unit/pool_help.h"
#include "tests/unit/tap.h"

static th_system *sys;
static th_workload *net;

#define SETS                                                                                       \
    "sets = (\n  { design = \"tiled\"; accelerators = [ \"0\", \"6\" ]; },\n"                      \
    "  { design = \"winograd\"; accelerators = ( \"5\" ); } );\n"
#define C "  { name = \"c\"; set = 0; split = { H = 2; }; rotate = \"K\"; }"
#define F "  { name = \"f\"; set = 1; }"

TEST(reads_layers_in_any_order)
{
    th_error e = {"", ""};
    th_mapping *m =
        th_mapping_read_text(SETS "layers = (\n" F ",\n" C " );\n", "m.map", sys, net, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    th_mapping *expected = mapping_on("06 5", net);
    expected->sets[1].design = 2;
    put_layer(expected, 0, 0, "H2 rK");
    put_layer(expected, 1, 1, "");
    CU_ASSERT_TRUE(th_mapping_equal(m, expected));
    th_mapping_free(m);
    th_mapping_free(expected);
}

static void assert_refused(const char *text, const char *id, const char *message)
{
    th_error e = {"", ""};
    int64_t live = th_alloc_live();
    CU_ASSERT_PTR_NULL(th_mapping_read_text(text, "m.map", sys, net, &e));
    TAP_ASSERT_TEXT(e.id, id);
    TAP_ASSERT_TEXT(e.text, message);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TEST(refuses_bad_sets)
{
    assert_refused(
        "sets = ( { design = \"tiled\";\n accelerators = [ \"0\",\n \"9\" ]; } ); layers = ();",
        "MAP-0013", "m.map:3: unknown accelerator \"9\"");
    assert_refused(
        "sets = ( { design = \"tiled\";\n accelerators = [ \"host\" ]; } ); layers = ();",
        "MAP-0013", "m.map:2: unknown accelerator \"host\"");
    assert_refused("\nsets = ( { design = \"tilde\"; accelerators = [ \"0\" ]; } ); layers = ();",
                   "MAP-0014", "m.map:2: unknown design \"tilde\", did you mean \"tiled\"?");
    assert_refused("sets = ( { design = \"quantum\"; accelerators = [ \"0\" ]; } ); layers = ();",
                   "MAP-0014", "m.map:1: unknown design \"quantum\"");
    assert_refused("sets = ( { design = \"tiled\"; accelerators = [ \"0\", \"3\" ]; },\n"
                   "{ design = \"tiled\"; accelerators = [ \"4\", \"3\" ]; } ); layers = ();",
                   "MAP-0007", "m.map:2: set 1: accel/3 is in two sets, or twice in one");
    assert_refused(
        "sets = ( { design = \"tiled\"; accelerators = [ \"2\", \"1\", \"2\" ]; } ); layers = ();",
        "MAP-0007", "m.map:1: set 0: accel/2 is in two sets, or twice in one");
    assert_refused("sets = ( { design = \"tiled\"; accelerators = [ ]; } ); layers = ();",
                   "MAP-0009", "m.map:1: set 0 has no accelerators");
    assert_refused(
        "sets = ( { design = \"tiled\"; accelerators = [ \"1\", \"2\" ];\n shares = [ 3 ]; } ); "
        "layers = ();",
        "MAP-0089", "m.map:2: 1 shares for 2 accelerators");
    assert_refused("sets = (\n 3 ); layers = ();", "MAP-0019",
                   "m.map:2: a set must be a group { ... }");
}

TEST(refuses_bad_layers)
{
    assert_refused(SETS "layers = (\n" C ",\n  { name = \"g\"; set = 0; } );", "MAP-0017",
                   "m.map:6: workload \"net\" has no layer \"g\"");
    assert_refused(SETS "layers = (\n  { name = \"cc\"; set = 0; } );", "MAP-0017",
                   "m.map:5: workload \"net\" has no layer \"cc\", did you mean \"c\"?");
    assert_refused(SETS "layers = (\n" C ",\n" F ",\n" C " );", "MAP-0018",
                   "m.map:7: layer \"c\" is mapped twice");
    assert_refused(SETS "layers = (\n" C " );", "MAP-0020",
                   "m.map: layer \"f\" of workload \"net\" is left out");
    assert_refused(SETS "layers = (\n \"c\" );", "MAP-0019",
                   "m.map:5: a layer must be a group { ... }");
}

#define LAYER(REST) SETS "layers = (\n  { name = \"c\"; set = 0; " REST " } );"

TEST(refuses_bad_strategies)
{
    assert_refused(LAYER("split = { H = 2;\n N = 2; };"), "MAP-0015",
                   "m.map:6: unknown dimension \"N\", must be one of B, K, C, H, W, R, S");
    assert_refused(LAYER("split = { HW = 2; };"), "MAP-0015",
                   "m.map:5: unknown dimension \"HW\", must be one of B, K, C, H, W, R, S");
    assert_refused(LAYER("split = { H = 2; }; rotate = \"N\";"), "MAP-0016",
                   "m.map:5: rotate \"N\" must be one of B, K, C, H, W");
    assert_refused(LAYER("split = { H = 2; }; rotate = \"\";"), "MAP-0016",
                   "m.map:5: rotate \"\" must be one of B, K, C, H, W");
    assert_refused(
        LAYER("split = { K = 2; }; rotate = \"K\";"), "MAP-0001",
        "m.map:5: layer \"c\" cannot rotate along K: no operand that is cut along K is the "
        "same on several accelerators");
    assert_refused(
        SETS "layers = ( { name = \"f\"; set = 0; split = { C = 2; }; rotate = \"B\"; } );",
        "MAP-0001",
        "m.map:4: layer \"f\" cannot rotate along B: no operand that is cut along B is the "
        "same on several accelerators");
    assert_refused(
        SETS "layers = ( { name = \"f\"; set = 0; split = { K = 2; }; rotate = \"B\"; } );",
        "MAP-0002", "m.map:4: layer \"f\" cannot rotate along B: 2 pieces of 1 elements");
    assert_refused(LAYER("split = { R = 4; };"), "MAP-0003",
                   "m.map:5: layer \"c\": R is split 4 ways, must be 1 .. 3");
    assert_refused(LAYER("split = { C = 2; };"), "MAP-0004",
                   "m.map:5: layer \"c\": a grouped conv layer cannot be split 2 ways along C");
    assert_refused(LAYER("split = { H = 2; }; chunks = { H = 2; W = 2; };"), "MAP-0128",
                   "m.map:5: chunks: must name one dimension, but names 2");
    assert_refused(LAYER("split = { H = 2; }; chunks = { N = 2; };"), "MAP-0015",
                   "m.map:5: unknown dimension \"N\", must be one of B, K, C, H, W, R, S");
    assert_refused(
        LAYER("split = { H = 2; }; chunks = { H = 5; };"), "MAP-0124",
        "m.map:5: layer \"c\": 5 chunks along H: must be 2 .. 4, and 3 at most for shards "
        "of 3");
    assert_refused(LAYER("split = { K = 2; }; chunks = { C = 2; };"), "MAP-0125",
                   "m.map:5: layer \"c\": 1 shards of a grouped conv layer cannot be cut into 2 "
                   "chunks along C");
    assert_refused(LAYER("split = { H = 2; }; rotate = \"K\"; chunks = { W = 2; };"), "MAP-0123",
                   "m.map:5: layer \"c\" rotates along K and has chunks: must be one of the two");
    assert_refused(LAYER(""), "MAP-0005",
                   "m.map:5: layer \"c\": the splits make 1 shards for a set of 2 accelerators");
}

TEST(refuses_what_is_no_mapping_at_all)
{
    const char *const texts[] = {
        "",
        "sets = ( );",
        "layers = ( );",
        "sets = 3; layers = ( );",
        SETS "layers = ( ); extra = 1;",
        LAYER("sett = 1;"),
        LAYER("split = ( 2 );"),
        LAYER("split = { H = 0; };"),
        LAYER("split = { H = 2147483648L; };"),
        LAYER("split = { H = \"2\"; };"),
        LAYER("rotate = 3;"),
        SETS "layers = ( { name = \"c\"; set = 2; } );",
        SETS "layers = ( { name = \"c\"; set = -1; } );",
        SETS "layers = ( { set = 0; } );",
        "sets = ( { design = \"tiled\"; accelerators = { a = \"0\"; }; } ); layers = ( );",
        "sets = ( { design = \"tiled\"; accelerators = \"0\"; } ); layers = ( );",
        "sets = ( { design = \"tiled\"; accelerators = [ 0, 1 ]; } ); layers = ( );",
        "sets = ( { accelerators = [ \"0\" ]; } ); layers = ( );",
        "sets = ( { design = \"tiled\"; } ); layers = ( );",
        "sets = ( { design = \"own\"; accelerators = [ \"0\" ]; shares = 1; } ); layers = ( );",
        "sets = ( { design = \"own\"; accelerators = [ \"0\" ]; shares = [ 0 ]; } ); layers = ( );",
        "sets = ( { design = \"own\"; accelerators = [ \"0\" ]; shares = [ 10001 ]; } ); layers = "
        "( );",
        "sets = ( ",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        th_error e = {"", ""};
        CU_ASSERT_PTR_NULL(th_mapping_read_text(texts[i], "m.map", sys, net, &e));
        CU_ASSERT_TRUE(e.id[0] != 0 && strncmp(e.text, "m.map:", 6) == 0);
    }
}

TEST(refuses_a_file_that_is_not_there)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_mapping_read("no/such/file.map", sys, net, &e));
    CU_ASSERT_TRUE(strstr(e.text, "no/such/file.map") != NULL);
}

/* A random mapping of alexnet onto sets of f1_16xlarge, written and read: the same, and the same
 * bytes. */
TEST(reads_what_was_written)
{
    th_workload *w = shipped_workload("alexnet");
    gsl_rng *r = th_random_stream(5, "write", 0);
    int n_chunked = 0;
    for (int round = 0; round < 300; round++) {
        th_mapping *m = random_mapping_on(r, round % 2 ? "1350 24 7" : "76543210", w);
        for (int i = 0; i < m->n_sets; i++)
            m->sets[i].design = (int32_t)pick(r, TH_DESIGN_OWN, 2);
        for (int i = 0; i < m->n_sets; i++) {
            int32_t shares[8];
            for (int a = 0; a < 8; a++)
                shares[a] = (int32_t)pick(r, 1, TH_SHARE_MAX);
            CU_ASSERT_EQUAL(th_set_share(&m->sets[i], pick(r, 0, 1) ? shares : NULL), 0);
        }
        for (int l = 0; l < w->n_layers; l++) {
            th_strategy s = m->strategy[l];
            th_strategy_set_chunks(&s, (int32_t)pick(r, 1, TH_SHARD_CHUNKS_MAX),
                                   (int32_t)pick(r, 0, TH_DIM_W));
            if (th_strategy_fits(&s, &w->layers[l], w->batch, m->sets[m->set_of[l]].n_accels))
                m->strategy[l] = s;
            n_chunked += m->strategy[l].chunks > 0;
        }
        th_strbuf text = TH_STRBUF_INIT, again = TH_STRBUF_INIT;
        th_error e = {"", ""};
        th_mapping_write(m, sys, w, &text);
        th_mapping *back = th_mapping_read_text(text.text, "m.map", sys, w, &e);
        CU_ASSERT_PTR_NOT_NULL_FATAL(back);
        CU_ASSERT_TRUE(th_mapping_equal(m, back));
        th_mapping_write(back, sys, w, &again);
        TAP_ASSERT_TEXT(again.text, text.text);
        th_strbuf_clear(&text);
        th_strbuf_clear(&again);
        th_mapping_free(back);
        th_mapping_free(m);
    }
    CU_ASSERT_TRUE(n_chunked > 300);
    gsl_rng_free(r);
    th_workload_free(w);
}

int main(int argc, char **argv)
{
    sys = shipped_system("f1_16xlarge");
    net = workload_of(
        "name = \"net\"; batch = 1; input = { channels = 4; height = 9; width = 9; };"
        "layers = ( { name = \"c\"; type = \"conv\"; outputs = 6; kernel = 3; groups = 2; },"
        "{ name = \"f\"; type = \"fc\"; outputs = 10; } );");
    int status = tap_run("mapping_read", argc, argv);
    th_system_free(sys);
    th_workload_free(net);
    return status;
}
