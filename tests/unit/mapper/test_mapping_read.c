/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "mapper/mapping_read.h"
#include "tests/unit/refused.h"
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
    auto_mapping *m =
        th_mapping_read_text(SETS "layers = (\n" F ",\n" C " );\n", "m.map", sys, net, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    auto_mapping *expected = mapping_on("06 5", net);
    expected->sets[1].design = 2;
    put_layer(expected, 0, 0, "H2 rK");
    put_layer(expected, 1, 1, "");
    CU_ASSERT_TRUE(th_mapping_equal(m, expected));
}

static int read_refused(const char *text, th_error *e)
{
    int64_t live = th_alloc_live();
    th_mapping *m = th_mapping_read_text(text, "m.map", sys, net, e);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    return m ? 0 : -1;
}

static int read_refused_layers(const char *layers, th_error *e)
{
    char text[2000];
    snprintf(text, sizeof text, SETS "layers = (\n%s );", layers);
    return read_refused(text, e);
}

static int read_refused_partial(const char *text, th_error *e)
{
    th_constraints *c = th_constraints_new(sys, net);
    int failed = th_mapping_read_partial_text(text, "p.map", sys, net, c, e);
    th_constraints_free(c);
    return failed;
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"mapping", read_refused},
                                              {"layers", read_refused_layers},
                                              {"partial", read_refused_partial},
                                              {NULL, NULL}};
    assert_refusals("mapper/mapping_read.refused", readers);
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
    auto_workload *w = shipped_workload("alexnet");
    auto_rng *r = th_random_stream(5, "write", 0);
    static const char *const sets[] = {"1350 24 7", "76543210",
                                       "76543210 1350 24 7 0153 7 7 7 7 7"};
    int n_chunked = 0;
    for (int round = 0; round < 300; round++) {
        auto_mapping *m = random_mapping_on(r, sets[round % 3], w);
        for (int i = 0; i < m->n_sets; i++)
            m->sets[i].design = i > 0 && round % 3 == 2 ? m->sets[0].design /* in all its sets */
                                                        : (int32_t)pick(r, TH_DESIGN_OWN, 2);
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
        auto_strbuf text = TH_STRBUF_INIT, again = TH_STRBUF_INIT;
        th_error e = {"", ""};
        th_mapping_write(m, sys, w, &text);
        auto_mapping *back = th_mapping_read_text(text.text, "m.map", sys, w, &e);
        CU_ASSERT_PTR_NOT_NULL_FATAL(back);
        CU_ASSERT_TRUE(th_mapping_equal(m, back));
        th_mapping_write(back, sys, w, &again);
        TAP_ASSERT_TEXT(again.text, text.text);
    }
    CU_ASSERT_TRUE(n_chunked > 300);
}

static void make_all(void)
{
    sys = shipped_system("f1_16xlarge");
    net = workload_of(
        "name = \"net\"; batch = 1; input = { channels = 4; height = 9; width = 9; };"
        "layers = ( { name = \"c\"; type = \"conv\"; outputs = 6; kernel = 3; groups = 2; },"
        "{ name = \"f\"; type = \"fc\"; outputs = 10; } );");
}

TAP_MAIN_WITH("mapping_read", make_all)
