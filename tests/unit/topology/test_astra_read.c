/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_astra_read.c - the group "astra" of a system file. */
#include <config.h>
#include "tests/unit/astra_help.h"
#include "tests/unit/no_memory.h"
#include "topology/files/system_copy.h"
#include "topology/files/system_write.h"
#include "topology/routing/route.h"

static const astra_setup two_dims = {
    "ring, switch", "4, 8", "50.0, 25.5", "500.0, 1000.25", "halvingDoubling, direct16", 4, 3, 12,
    "baseline"};
static const astra_setup one_dim = {"ring", "4", "50", "500", "ring"};

TEST(reads_dimensions_and_parameters)
{
    auto_system *s = astra_system(&two_dims);
    const th_astra *a = s->astra;
    CU_ASSERT_EQUAL(a->n_dims, 2);
    CU_ASSERT_EQUAL(a->dims[0].kind, TH_TOPOLOGY_DIM_RING);
    CU_ASSERT_EQUAL(a->dims[0].size, 4);
    CU_ASSERT_EQUAL(a->dims[1].kind, TH_TOPOLOGY_DIM_SWITCH);
    CU_ASSERT_EQUAL(a->dims[1].size, 8);
    CU_ASSERT_EQUAL(a->dims[1].gib_per_s, 25.5);
    CU_ASSERT_EQUAL(a->dims[1].latency_ns, 1000.25);
    CU_ASSERT_EQUAL(a->dims[0].implementation[TH_ASTRA_ALL_REDUCE], TH_ASTRA_HALVING_DOUBLING);
    CU_ASSERT_EQUAL(a->dims[0].window[TH_ASTRA_ALL_REDUCE], 0);
    CU_ASSERT_EQUAL(a->dims[1].implementation[TH_ASTRA_ALL_TO_ALL], TH_ASTRA_DIRECT);
    CU_ASSERT_EQUAL(a->dims[1].window[TH_ASTRA_ALL_TO_ALL], 16);
    CU_ASSERT_EQUAL(a->endpoint_delay_ns, 12);
    CU_ASSERT_EQUAL(a->active_chunks, 3);
    CU_ASSERT_EQUAL(a->splits, 4);
    CU_ASSERT_EQUAL(a->local_mem_gb_per_s, 1600);
    CU_ASSERT_FALSE(a->is_local_bw_aware);
}

/* ---- the graph ---- */

static void expect_way(const th_system *s, int from, int to, int hops, th_time latency_ps,
                       int64_t bits_per_s)
{
    th_route_summary r = {0};
    CU_ASSERT_EQUAL(th_route_summarize(s, from, to, &r), 0);
    CU_ASSERT_EQUAL(r.n_links, hops);
    CU_ASSERT_EQUAL(r.latency_ps, latency_ps);
    CU_ASSERT_EQUAL(r.bits_per_s, bits_per_s);
}

/* Accelerator 6 is (2, 1): two steps along the ring of four, then through the switch of column 2.
 * 25.5 GB/s are 25.5 * 2^33 bits/s. */
TEST(stands_beside_the_graph)
{
    const int64_t gib = 1LL << 33;
    auto_system *s = astra_system(&two_dims);
    CU_ASSERT_EQUAL(s->n_accels, 32);
    CU_ASSERT_EQUAL(s->n_nodes, 32 + 4);
    CU_ASSERT_EQUAL(s->n_links, 2 * (8 * 4 + 4 * 8));
    expect_way(s, 0, 1, 1, 500000, 50 * gib);
    expect_way(s, 0, 3, 1, 500000, 50 * gib);
    expect_way(s, 0, 4, 2, 2000500, 51 * gib / 2);
    expect_way(s, 0, 6, 4, 3000500, 51 * gib / 2);
}

/* ---- copies ---- */

TEST(comes_back_as_it_is_written)
{
    th_error e = {"", ""};
    auto_strbuf text = TH_STRBUF_INIT;
    auto_system *s = astra_system(&two_dims);
    CU_ASSERT_EQUAL(th_system_write(s, NULL, NULL, &text, &e), 0);
    auto_system *again = th_system_read_text(text.text, "again.cfg", &e);
    TAP_ASSERT_TEXT(e.text, "");
    auto_system *copy = th_system_copy(s, &e);
    CU_ASSERT_EQUAL(memcmp(again->astra, s->astra, sizeof *s->astra), 0);
    CU_ASSERT_EQUAL(memcmp(copy->astra, s->astra, sizeof *s->astra), 0);
    for (int i = 0; i < s->n_links; i++)
        CU_ASSERT_EQUAL(again->media[again->links[i].medium].bits_per_s,
                        s->media[s->links[i].medium].bits_per_s);
}

/* ---- errors ---- */

/* The system of one dimension with this in place of that. */
static void expect_failure(const char *that, const char *this, const char *id, const char *why)
{
    th_error e = {"", ""};
    auto_strbuf text = TH_STRBUF_INIT, changed = TH_STRBUF_INIT;
    astra_text(&one_dim, &text);
    const char *at = strstr(text.text, that);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    th_strbuf_printf(&changed, "%.*s%s%s", (int)(at - text.text), text.text, this,
                     at + strlen(that));
    CU_ASSERT_PTR_NULL(th_system_read_text(changed.text, "s.cfg", &e));
    TAP_ASSERT_ERROR(e, id, why);
}

TEST(refuses_wrong_groups)
{
    static const char dims[] = "s.cfg:7: key \"dims\": must be as many as those of a topology "
                               "whose dimensions are of two nodes or more and no lines";
    expect_failure("size = 4", "size = 1", "TOPO-0281", dims);
    expect_failure("type = \"ring\"", "type = \"line\"", "TOPO-0281", dims);
    expect_failure("dims = ({ bandwidth = 50; latency = 500;",
                   "dims = ({ bandwidth = 5; latency = 5; }, { bandwidth = 50; latency = 500;",
                   "TOPO-0281", dims);
    expect_failure("bandwidth = 50;", "bandwidth = 0;", "BASE-0461",
                   "s.cfg:7: key \"bandwidth\": must be from 1e-06 to 1e+06, not 0");
    expect_failure("preferred_dataset_splits = 1;", "", "BASE-0034",
                   "s.cfg:5: key \"astra\": has no key \"preferred_dataset_splits\"");
}

/* ---- memory ---- */

static int read_two_dims(const void *text, th_error *e)
{
    th_system *s = th_system_read_text(text, "s.cfg", e);
    th_system_free(s);
    return s ? 0 : -1;
}

TEST(survives_lack_of_memory)
{
    auto_strbuf text = TH_STRBUF_INIT;
    astra_text(&two_dims, &text);
    CU_ASSERT_TRUE(fail_each_allocation(read_two_dims, text.text) > 10);
}

TAP_MAIN("astra_read")
