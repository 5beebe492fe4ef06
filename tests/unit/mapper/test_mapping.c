/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "mapper/mapping.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

/* Accelerators p, q, r can take tiny and big, s big alone; h is a host. */
static const char system_text[] =
    "name = \"sys\"; designs = ("
    "{ name = \"tiny\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 3; },"
    "{ name = \"big\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 7; } );"
    "accelerators = ("
    "{ names = [\"p\", \"q\", \"r\"]; dram = { capacity = \"1MiB\"; bandwidth = \"8GB/s\"; }; "
    "vector = { clock = \"1GHz\"; elements_per_cycle = 2; }; designs = [\"tiny\", \"big\"]; },"
    "{ name = \"s\"; dram = { capacity = \"1MiB\"; bandwidth = \"8GB/s\"; }; "
    "vector = { clock = \"1GHz\"; elements_per_cycle = 2; }; designs = [\"big\"]; } );"
    "hosts = ( \"h\" ); links = ( { center = \"h\"; leaves = [\"p\", \"q\", \"r\", \"s\"]; "
    "bandwidth = \"8Gbps\"; latency = \"1us\"; } );";

static const char net_text[] =
    "name = \"net\"; batch = 2; input = { channels = 4; height = 9; width = 9; }; layers = ("
    "{ name = \"c\"; type = \"conv\"; outputs = 6; kernel = 3; },"
    "{ name = \"p\"; type = \"max_pool\"; kernel = 7; },"
    "{ name = \"f\"; type = \"fc\"; outputs = 10; } );";

static th_system *sys;
static th_workload *net;

/* Accelerators 2 0 with design tiny run c and f, accelerator 3 with big the pool. */
static th_mapping *good(void)
{
    th_mapping *m = mapping_on("20 3", net);
    m->sets[1].design = 1;
    put_layer(m, 0, 0, "H2 rC");
    put_layer(m, 1, 1, "");
    put_layer(m, 2, 0, "K2");
    return m;
}

TEST(accepts_a_good_one)
{
    auto_mapping *m = good();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_mapping_check(m, sys, net, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
}

TEST(writes_what_a_person_can_edit)
{
    auto_mapping *m = good();
    auto_strbuf text = TH_STRBUF_INIT;
    th_mapping_write(m, sys, net, &text);
    TAP_ASSERT_TEXT(text.text, "# mapping of net (batch 2) onto sys\n"
                               "sets = (\n"
                               "  { design = \"tiny\"; accelerators = [ \"r\", \"p\" ]; },\n"
                               "  { design = \"big\"; accelerators = [ \"s\" ]; }\n"
                               ");\n"
                               "layers = (\n"
                               "  { name = \"c\"; set = 0; split = { H = 2; }; rotate = \"C\"; },\n"
                               "  { name = \"p\"; set = 1; split = {  }; },\n"
                               "  { name = \"f\"; set = 0; split = { K = 2; }; }\n"
                               ");\n");
}

TEST(a_copy_is_equal_until_it_is_changed)
{
    auto_mapping *m = good();
    for (int change = 0; change < 8; change++) {
        th_mapping *c = th_mapping_copy(m);
        CU_ASSERT_TRUE(th_mapping_equal(m, c) && th_mapping_equal(c, m));
        switch (change) {
        case 0:
            c->sets[1].design = 0;
            break;
        case 1:
            c->sets[0].accels[1] = 1;
            break;
        case 2:
            c->set_of[2] = 1;
            break;
        case 3:
            c->strategy[2] = strategy_of("C2");
            break;
        case 4:
            c->strategy[0].rotate = TH_NO_ROTATION;
            break;
        case 5:
            c->sets[0].n_accels = 1;
            break;
        case 6:
            c->n_sets = 1;
            break;
        default:
            c->n_layers = 2;
        }
        CU_ASSERT_FALSE(th_mapping_equal(m, c));
        c->n_sets = 2;
        th_mapping_free(c);
    }
}

static void assert_refused(th_mapping *m, const char *id, const char *text)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_mapping_check(m, sys, net, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
    th_mapping_free(m);
}

#define REFUSED(ID, TEXT, ...)                                                                     \
    do {                                                                                           \
        th_mapping *m = good();                                                                    \
        __VA_ARGS__;                                                                               \
        assert_refused(m, ID, TEXT);                                                               \
    } while (0)

TEST(refuses_bad_sets)
{
    REFUSED("MAP-0006", "set 0: accelerator 4 does not exist, must be 0 .. 3",
            m->sets[0].accels[1] = 4);
    REFUSED("MAP-0006", "set 0: accelerator -1 does not exist, must be 0 .. 3",
            m->sets[0].accels[0] = -1);
    REFUSED("MAP-0583",
            "set 1: accel/r has design \"big\" there, but \"tiny\" in set 0: must have one design "
            "in all of its sets",
            m->sets[1].accels[0] = 2);
    REFUSED("MAP-0583",
            "set 1: accel/p has design \"tiny\" there, but \"big\" in set 0: must have one design "
            "in all of its sets",
            m->sets[0].design = 1, m->sets[1].design = TH_DESIGN_OWN, m->sets[1].accels[0] = 0);
    REFUSED("MAP-0007", "set 0: accel/r is twice in it", m->sets[0].accels[1] = 2);
    REFUSED("MAP-0008", "set 1: accel/s cannot be configured with design \"tiny\"",
            m->sets[1].design = 0);
    REFUSED("MAP-0009", "set 1 has no accelerators", m->sets[1].n_accels = 0);
    REFUSED("MAP-0010", "set 1: design 2 does not exist", m->sets[1].design = 2);
    REFUSED("MAP-0010", "set 0: design -2 does not exist", m->sets[0].design = -2);
    REFUSED("MAP-0088", "set 0: share 0 must be 1 .. 10000",
            th_set_share(&m->sets[0], (const int32_t[]){1, 0}));
    REFUSED("MAP-0088", "set 0: share 10001 must be 1 .. 10000",
            th_set_share(&m->sets[0], (const int32_t[]){10001, 3}));
}

static th_mapping *all_on_the_first_of(const char *sets)
{
    th_mapping *m = mapping_on(sets, net);
    for (int l = 0; l < net->n_layers; l++)
        put_layer(m, l, 0, "");
    return m;
}

TEST(an_accelerator_may_be_in_several_sets)
{
    auto_mapping *m = all_on_the_first_of("0 201 20");
    th_error e = {"", ""};
    m->sets[1].design = TH_DESIGN_OWN; /* tiny is the first of all three */
    CU_ASSERT_EQUAL(th_mapping_check(m, sys, net, &e), 0);
    CU_ASSERT_TRUE(th_mapping_sets_overlap(m));
    assert_refused(all_on_the_first_of("0 1 01 0"), "MAP-0584",
                   "the mapping has 4 sets for 3 layers: sets that share accelerators must be no "
                   "more than layers");
    auto_mapping *apart = all_on_the_first_of("0 1 2 3"); /* idle sets that share nothing */
    apart->sets[3].design = 1;
    CU_ASSERT_FALSE(th_mapping_sets_overlap(apart));
    CU_ASSERT_EQUAL(th_mapping_check(apart, sys, net, &e), 0);
}

/* 20 works beside 1, 3 and 201 beside none of these: the smallest sets come first. */
TEST(sets_at_once_share_no_accelerators)
{
    auto_mapping *m = mapping_on("0123 201 20 1 3", net);
    const int32_t set_of[][3] = {{0, 0, 0}, {0, 1, 2}, {2, 3, 0}, {2, 3, 4}, {1, 3, 3}, {1, 4, 0}};
    const int32_t at_once[] = {1, 1, 2, 3, 1, 2};
    for (int i = 0; i < 6; i++) {
        memcpy(m->set_of, set_of[i], sizeof set_of[i]);
        CU_ASSERT_EQUAL(th_mapping_sets_at_once(m, 0, 3), at_once[i]);
    }
    CU_ASSERT_EQUAL(th_mapping_sets_at_once(m, 1, 1), 1);
}

/* r has tiny, its first design, and s its only one. */
TEST(each_accelerator_may_keep_its_own_design)
{
    auto_mapping *m = mapping_on("23 0", net);
    th_error e = {"", ""};
    put_layer(m, 0, 0, "H2");
    put_layer(m, 1, 1, "");
    put_layer(m, 2, 0, "K2");
    m->sets[0].design = TH_DESIGN_OWN;
    CU_ASSERT_EQUAL(th_set_share(&m->sets[0], (const int32_t[]){3, 7}), 0);
    CU_ASSERT_EQUAL(th_mapping_check(m, sys, net, &e), 0);
    CU_ASSERT_EQUAL(th_set_design(&m->sets[0], 0, sys), 0);
    CU_ASSERT_EQUAL(th_set_design(&m->sets[0], 1, sys), 1);
    CU_ASSERT_EQUAL(th_set_design(&m->sets[1], 0, sys), 0);
    th_strbuf text = TH_STRBUF_INIT;
    th_mapping_write(m, sys, net, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text,
                                  "  { design = \"own\"; accelerators = [ \"r\", \"s\" ]; "
                                  "shares = [ 3, 7 ]; },\n"));
    th_strbuf_clear(&text);
    auto_mapping *copy = th_mapping_copy(m);
    CU_ASSERT_TRUE(th_mapping_equal(m, copy));
    copy->sets[0].shares[1] = 6;
    CU_ASSERT_FALSE(th_mapping_equal(m, copy));
    CU_ASSERT_EQUAL(th_set_share(&copy->sets[0], NULL), 0);
    CU_ASSERT_FALSE(th_mapping_equal(m, copy) || th_mapping_equal(copy, m));
}

TEST(a_design_called_own_cannot_be_asked_for)
{
    char own[] = "own", *name = sys->designs[0].name;
    sys->designs[0].name = own;
    assert_refused(good(), "MAP-0087",
                   "set 0: a design that is called \"own\" cannot be asked for: the word stands "
                   "for each accelerator's own");
    sys->designs[0].name = name;
}

TEST(refuses_bad_layers)
{
    REFUSED("MAP-0011", "the mapping has 2 layers, workload \"net\" has 3", m->n_layers = 2);
    REFUSED("MAP-0012", "layer \"p\" is on no set", m->set_of[1] = 2);
    REFUSED("MAP-0012", "layer \"p\" is on no set", m->set_of[1] = -1);
    REFUSED("MAP-0003", "layer \"f\": H is split 2 ways, must be 1 .. 1",
            m->strategy[2] = strategy_of("H2"));
    REFUSED("MAP-0005", "layer \"c\": the splits make 4 shards for a set of 2 accelerators",
            m->strategy[0] = strategy_of("B2 K2"));
}

static void make_all(void)
{
    sys = system_of(system_text);
    net = workload_of(net_text);
}

TAP_MAIN_WITH("mapping", make_all)
