/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <dirent.h>
#include <math.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "mapper/serialize/serializer.h"
#include "session/what_if/advice_system.h"
#include "session/what_if/what_if.h"
#include "tests/unit/astra_help.h"
#include "tests/unit/draw.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"
#include "topology/files/system_write.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"

/* Known bytes: little-endian, 7 bits at a time, a text with its 0. */
TEST(numbers_have_known_bytes)
{
    th_serializer w = TH_SERIALIZER_INIT;
    int small = -2;
    int64_t large = 0x0102030405060708;
    int32_t count = 300;
    const char *text = "ab", *none = NULL;
    th_serializer_int(&w, &small);
    th_serializer_int64(&w, &large);
    th_serializer_count(&w, &count, 1000);
    th_serializer_text(&w, &text);
    th_serializer_text(&w, &none);
    static const char expected[] =
        "\xfe\xff\xff\xff\x08\x07\x06\x05\x04\x03\x02\x01\xac\x02\x01\x03"
        "ab\0\0";
    CU_ASSERT_EQUAL_FATAL(w.out.length, sizeof expected - 1);
    CU_ASSERT_EQUAL(memcmp(w.out.text, expected, w.out.length), 0);
    th_serializer r = th_serializer_reader(w.out.text, w.out.length);
    th_serializer_int(&r, &small);
    th_serializer_int64(&r, &large);
    th_serializer_count(&r, &count, 300);
    th_serializer_text(&r, &text);
    th_serializer_text(&r, &none);
    CU_ASSERT_TRUE(small == -2 && large == 0x0102030405060708 && count == 300 && !none);
    TAP_ASSERT_TEXT(text, "ab");
    CU_ASSERT_TRUE(!r.failed && r.at == r.end);
    r = th_serializer_reader("\xac\x02", 2);
    th_serializer_count(&r, &count, 299);
    CU_ASSERT_TRUE(r.failed && count == 0);
    th_serializer_clear(&w);
}

TEST(fitness_round_trips)
{
    th_fitness all[] = {{TH_FIT, 0.1, {7, -3, 5, 0.3}, 11},
                        {.fit = TH_FIT_STOPPED, .value = INFINITY, .work = 13},
                        {.fit = TH_FIT_INFEASIBLE, .value = INFINITY, .work = 17}};
    th_serializer w = TH_SERIALIZER_INIT;
    for (int i = 0; i < 3; i++)
        th_serializer_fitness(&w, &all[i]);
    CU_ASSERT_EQUAL(w.out.length, 49 + 9 + 9);
    th_serializer r = th_serializer_reader(w.out.text, w.out.length);
    for (int i = 0; i < 3; i++) {
        th_fitness f = {0};
        th_serializer_fitness(&r, &f);
        CU_ASSERT_TRUE(f.fit == all[i].fit && f.value == all[i].value && f.work == all[i].work &&
                       f.metrics.latency_ps == all[i].metrics.latency_ps &&
                       f.metrics.interval_ps == all[i].metrics.interval_ps &&
                       f.metrics.lateness_ps == all[i].metrics.lateness_ps &&
                       f.metrics.energy_j == all[i].metrics.energy_j);
    }
    th_serializer_clear(&w);
    uint8_t wrong = TH_FIT_INFEASIBLE + 1;
    th_fitness f;
    r = th_serializer_reader(&wrong, 1);
    th_serializer_fitness(&r, &f);
    CU_ASSERT_TRUE(r.failed);
}

/* --- what is shipped goes there and back ------------------------------------------------------ */

/* Calls check for every *.cfg of a folder; returns how many there were. */
static int each_of(const char *folder, void (*check)(const char *path))
{
    char at[1024], path[2048];
    const char *top = getenv("srcdir");
    snprintf(at, sizeof at, "%s/%s", top ? top : ".", folder);
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

static th_serializer bytes_of_system(const th_system *s)
{
    th_serializer w = TH_SERIALIZER_INIT;
    th_serializer_write_system(&w, s);
    CU_ASSERT_FALSE(w.failed);
    return w;
}

static th_serializer sent_system(const th_system *s)
{
    th_serializer w = TH_SERIALIZER_INIT;
    CU_ASSERT_EQUAL(th_serializer_send_system(&w, s, NULL), 0);
    return w;
}

static void assert_same_names_and_routes(const th_system *a, const th_system *b)
{
    CU_ASSERT_EQUAL_FATAL(a->n_links, b->n_links);
    for (int i = 0; i < a->n_links; i++)
        TAP_ASSERT_TEXT(b->links[i].name, a->links[i].name);
    for (int i = 0; i < a->n_accels; i += 3) {
        int x[TH_ROUTE_MAX], y[TH_ROUTE_MAX], to = a->accel_node[(7 * i + 1) % a->n_accels];
        int n = th_route(a, a->accel_node[i], to, x);
        CU_ASSERT_EQUAL_FATAL(th_route(b, a->accel_node[i], to, y), n);
        CU_ASSERT_TRUE(n <= 0 || memcmp(x, y, (size_t)n * sizeof *x) == 0);
    }
}

static void system_comes_back(const th_system *s)
{
    th_error e = {"", ""};
    th_serializer sent = sent_system(s), w = bytes_of_system(s);
    th_serializer r = th_serializer_reader(sent.out.text, sent.out.length);
    th_system *back = th_serializer_receive_system(&r, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_TRUE(r.at == r.end);
    th_serializer_clear(&sent);
    for (int d = 0; d < s->n_designs; d++) {
        TAP_ASSERT_TEXT(back->designs[d].file, s->designs[d].file);
        CU_ASSERT_EQUAL(back->designs[d].line, s->designs[d].line);
    }
    th_serializer again = bytes_of_system(back);
    CU_ASSERT_TRUE(again.out.length == w.out.length &&
                   memcmp(again.out.text, w.out.text, w.out.length) == 0);
    assert_same_names_and_routes(s, back);
    th_serializer_clear(&again);
    th_serializer_clear(&w);
    th_system_free(back);
}

static void check_system(const char *path)
{
    th_system *s = th_system_read(path, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    system_comes_back(s);
    th_system_free(s);
}

TEST(systems_round_trip)
{
    CU_ASSERT_TRUE(each_of("topology/systems", check_system) > 3);
}

/* Ranks know the windows and the roofline, too. */
TEST(parameters_of_astra_round_trip)
{
    auto_system *s =
        astra_system(&(astra_setup){"ring, switch", "4, 3", "50.1, 0.3", "500.5, 0",
                                    "direct4, halvingDoubling", 7, 3, 12, "baseline", 123.25});
    s->astra->has_roofline = true;
    system_comes_back(s);
    th_serializer sent = sent_system(s);
    th_serializer r = th_serializer_reader(sent.out.text, sent.out.length);
    auto_system *back = th_serializer_receive_system(&r, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(memcmp(back->astra, s->astra, sizeof *s->astra), 0);
    th_serializer_clear(&sent);
}

/* A random system of a generator. */
static th_system *random_system(gsl_rng *r, const th_topology_type *type, const th_system *one)
{
    th_error e = {"", ""};
    th_topology_options o = {.n_dims = draw(r, type->min_dims,
                                            type->max_dims < 4   ? type->max_dims
                                            : type->min_dims > 2 ? type->min_dims
                                                                 : 3),
                             .half_duplex = draw(r, 0, 1),
                             .with_host = !(type->takes & TH_HAS_HOSTS) && draw(r, 0, 1),
                             .host_bits_per_s = draw(r, 0, 1) * 777777777,
                             .host_latency_ps = draw(r, -1, 5),
                             .link_mtbf_us = draw(r, 0, 1) * 1000000};
    if (type->takes & TH_TAKES_ISLANDS)
        o.has_full_islands = o.has_island_options = draw(r, 0, 1);
    else if (type->takes & TH_TAKES_OVERSUBSCRIPTION)
        o.oversubscription = draw(r, 0, 2);
    for (int d = 0; d < o.n_dims; d++) {
        o.dims[d] = strcmp(type->name, "hypercube") != 0 && d == 0 ? 4 : 2;
        o.kinds[d] = (th_topology_dim_kind)draw(r, 0, 3);
    }
    o.n_bandwidths = o.n_latencies = type->n_cables(&o);
    for (int i = 0; i < o.n_latencies; i++) {
        o.bits_per_s[i] = draw(r, 100000000, 900000000);
        o.latency_ps[i] = draw(r, 5, 500000);
    }
    th_system *s = th_topology_create("made", type, &o, one, &e);
    if (!s)
        bail_out(&e);
    s->collective_start_ps = draw(r, 1, 1000);
    s->stripes_from = draw(r, 0, 1000);
    return s;
}

/* The text of a system that was not changed reads back to it. */
static void text_comes_back(const th_system *s)
{
    th_error e = {"", ""};
    auto_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL(th_system_write(s, NULL, NULL, &text, &e), 0);
    auto_system *back = th_system_read_text(text.text, "again.cfg", &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    th_serializer w = bytes_of_system(s), again = bytes_of_system(back);
    CU_ASSERT_TRUE(again.out.length == w.out.length &&
                   memcmp(again.out.text, w.out.text, w.out.length) == 0);
    th_serializer_clear(&w);
    th_serializer_clear(&again);
}

/* Copies of any generator's systems, as they are and with any property changed. */
TEST(copies_and_changed_systems_round_trip)
{
    auto_system *one = system_of("name = \"one\"; " MAP_HELP_ACCEL("1GB"));
    auto_rng *r = th_random_stream(11, "copies", 0);
    int n_changed = 0;
    for (int n = 0; n < 3; n++)
        for (int i = 0; th_topology_types[i]; i++) {
            th_error e = {"", ""};
            auto_system *s = random_system(r, th_topology_types[i], one);
            auto_system *copy = th_what_if_rebuild(s, &e);
            TAP_ASSERT_TEXT(e.text, "");
            text_comes_back(copy);
            auto_system *more = th_system_with_more(s, 0, NULL);
            CU_ASSERT_TRUE(!more || (more->collective_start_ps == s->collective_start_ps &&
                                     more->stripes_from == s->stripes_from));
            system_comes_back(copy);
            for (int p = 0; p < TH_N_WHAT_IF_PROPERTIES; p++) {
                th_what_if_property what = (th_what_if_property)p;
                int32_t object =
                    draw(r, 0, (th_what_if_is_of_links(what) ? s->n_links : s->n_accels) - 1);
                if (!th_what_if_applies(copy, what, object))
                    continue;
                auto_system *made =
                    th_what_if_system(copy, &(th_what_if){what, 0.25, &object, 1}, &e);
                TAP_ASSERT_TEXT(e.text, "");
                system_comes_back(made);
                n_changed++;
            }
        }
    CU_ASSERT_TRUE(n_changed > 100);
}

/* Explicit routes, segments, dead links: made by hand. */
TEST(fields_without_file_keys_round_trip)
{
    th_error e = {"", ""};
    th_system *from = system_of("name = \"one\"; " MAP_HELP_ACCEL("1GB"));
    th_system *s = th_system_new("odd", NULL);
    for (int i = 0; i < 4; i++) {
        char name[] = {(char)('a' + i), 0};
        th_system_add_node(s, name, i == 3 ? TH_NODE_SWITCH : TH_NODE_ACCEL, i, NULL);
        if (i < 3)
            th_system_copy_accel(s, i, from, 0, NULL);
    }
    for (int i = 0; i < 3; i++)
        th_system_add_cable(s, i, 3, th_cable_symmetric(1000000 + i, 5 + i, i != 1), NULL);
    int spare = th_system_add_cable(s, 0, 1, th_cable_symmetric(7000000, 1, true), NULL);
    s->links[spare].is_dead = true;
    int bus = th_system_add_segment(s, "bus", th_system_add_medium(s, 5000, NULL), 11, NULL);
    int way[] = {0, bus, 3};
    CU_ASSERT_EQUAL_FATAL(th_system_add_route(s, 0, 1, way, 3, &e), 0);
    s->link_energy.j_per_byte = 3e-12;
    s->link_energy.source = th_arena_string(s->names.text, "somewhere");
    s->routing = th_routing_find("ecmp");
    CU_ASSERT_EQUAL_FATAL(th_system_finish(s, &e), 0);
    system_comes_back(s);
    th_system_free(s);
    th_system_free(from);
}

static void check_workload(const char *path)
{
    th_error e = {"", ""};
    th_workload *net = th_workload_read(path, 2, &e);
    if (!net)
        bail_out(&e);
    th_serializer sent = TH_SERIALIZER_INIT, w = TH_SERIALIZER_INIT, again = TH_SERIALIZER_INIT;
    CU_ASSERT_EQUAL(th_serializer_send_workload(&sent, net, NULL), 0);
    th_serializer_write_workload(&w, net);
    th_serializer r = th_serializer_reader(sent.out.text, sent.out.length);
    th_workload *back = th_serializer_receive_workload(&r, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    th_serializer_write_workload(&again, back);
    CU_ASSERT_TRUE(r.at == r.end && again.out.length == w.out.length &&
                   memcmp(again.out.text, w.out.text, w.out.length) == 0);
    CU_ASSERT_EQUAL(th_workload_macs(back), th_workload_macs(net));
    TAP_ASSERT_TEXT(back->file, net->file);
    for (int l = 0; l < net->n_layers; l++)
        CU_ASSERT_EQUAL(back->layers[l].line, net->layers[l].line);
    th_serializer_clear(&sent);
    th_serializer_clear(&w);
    th_serializer_clear(&again);
    th_workload_free(back);
    th_workload_free(net);
}

TEST(workloads_round_trip)
{
    CU_ASSERT_TRUE(each_of("workloads/models", check_workload) > 3);
}

/* --- mappings --------------------------------------------------------------------------------- */

static th_system *f1;
static th_workload *net;
static th_mapping *mapping;

static void make_mapping(void)
{
    static const char *const strategies[] = {"K2 C2", "H4", "K2 C2 rH", "K2 c2"};
    f1 = shipped_system("f1_16xlarge");
    net = shipped_workload("alexnet");
    mapping = mapping_on("0213 75 46", net);
    for (int i = 0; i < 3; i++)
        mapping->sets[i].design = i % f1->n_designs;
    mapping->sets[1].design = TH_DESIGN_OWN;
    th_set_share(&mapping->sets[2], (const int32_t[]){3, 9999});
    for (int l = 0; l < net->n_layers; l++)
        put_layer(mapping, l, l % 3, l % 3 ? "K2" : strategies[l / 3 % 4]);
}

static th_serializer_limits limits(void)
{
    return (th_serializer_limits){f1->n_accels, f1->n_designs, net->n_layers};
}

TEST(a_mapping_round_trips)
{
    const th_serializer_limits l = limits();
    th_serializer w = TH_SERIALIZER_INIT;
    th_serializer_write_mapping(&w, mapping);
    th_serializer_write_mapping(&w, mapping);
    /* 1 for the number of sets, 1 to say that there are no queues, 3 and a byte per accelerator for
     * each, 3 for shares; at most 5 distinct strategies */
    CU_ASSERT_TRUE(w.out.length <=
                   2 * (size_t)(1 + 1 + 3 * 3 + 8 + 3 + 1 + 5 * 9 + 2 * net->n_layers));
    th_serializer r = th_serializer_reader(w.out.text, w.out.length);
    for (int i = 0; i < 2; i++) {
        th_mapping *back = th_serializer_read_mapping(&r, &l);
        CU_ASSERT_PTR_NOT_NULL_FATAL(back);
        CU_ASSERT_TRUE(th_mapping_equal(back, mapping));
        th_mapping_free(back);
    }
    CU_ASSERT_TRUE(r.at == r.end);
    th_serializer_clear(&w);
}

/* Every prefix is refused; a changed byte is refused, or gives a mapping with indices in range. */
TEST(a_damaged_mapping_never_crashes)
{
    const th_serializer_limits l = limits();
    th_serializer w = TH_SERIALIZER_INIT;
    th_serializer_write_mapping(&w, mapping);
    int64_t live = th_alloc_live();
    for (size_t n = 0; n < w.out.length; n++) {
        th_serializer r = th_serializer_reader(w.out.text, n);
        CU_ASSERT_PTR_NULL(th_serializer_read_mapping(&r, &l));
    }
    for (size_t n = 0; n < w.out.length * 256; n++) {
        char old = w.out.text[n / 256];
        w.out.text[n / 256] = (char)(n % 256);
        th_serializer r = th_serializer_reader(w.out.text, w.out.length);
        th_mapping *m = th_serializer_read_mapping(&r, &l);
        for (int i = 0; m && i < m->n_layers; i++)
            CU_ASSERT_TRUE(m->set_of[i] >= 0 && m->set_of[i] < m->n_sets);
        th_mapping_free(m);
        w.out.text[n / 256] = old;
    }
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    th_serializer_clear(&w);
}

/* --- damage and memory ------------------------------------------------------------------------ */

TEST(truncated_bytes_are_refused)
{
    th_serializer w = sent_system(f1), v = TH_SERIALIZER_INIT;
    th_serializer_send_workload(&v, net, NULL);
    int64_t live = th_alloc_live();
    for (size_t n = 0; n < w.out.length; n += 1 + n / 50) {
        th_error e = {"", ""};
        th_serializer r = th_serializer_reader(w.out.text, n);
        CU_ASSERT_PTR_NULL(th_serializer_receive_system(&r, &e));
        TAP_ASSERT_TEXT(e.id, "MAP-0100");
    }
    for (size_t n = 0; n < v.out.length; n += 1 + n / 50) {
        th_error e = {"", ""};
        th_serializer r = th_serializer_reader(v.out.text, n);
        CU_ASSERT_PTR_NULL(th_serializer_receive_workload(&r, &e));
        TAP_ASSERT_TEXT(e.id, "MAP-0101");
    }
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    th_serializer_clear(&w);
    th_serializer_clear(&v);
}

TEST(changed_bytes_never_crash)
{
    th_serializer w = sent_system(f1), v = TH_SERIALIZER_INIT;
    th_serializer_send_workload(&v, net, NULL);
    gsl_rng *random = th_random_stream(3, "serializer", 0);
    int64_t live = th_alloc_live();
    for (int i = 0; i < 300; i++) {
        th_serializer *bytes = i % 2 ? &w : &v;
        size_t at = (size_t)pick(random, 0, (int64_t)bytes->out.length - 1);
        char old = bytes->out.text[at];
        bytes->out.text[at] = (char)pick(random, 0, 255);
        th_serializer r = th_serializer_reader(bytes->out.text, bytes->out.length);
        if (i % 2)
            th_system_free(th_serializer_receive_system(&r, NULL));
        else
            th_workload_free(th_serializer_receive_workload(&r, NULL));
        bytes->out.text[at] = old;
    }
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    gsl_rng_free(random);
    th_serializer_clear(&w);
    th_serializer_clear(&v);
}

TEST(out_of_memory_leaks_nothing)
{
    th_serializer w = sent_system(f1);
    th_serializer_send_workload(&w, net, NULL);
    int64_t live = th_alloc_live();
    bool done = false;
    for (int64_t k = 1; !done && k < 5000; k += 1 + k / 20) {
        th_error e = {"", ""};
        th_serializer r = th_serializer_reader(w.out.text, w.out.length);
        th_alloc_fail_at(k);
        th_system *s = th_serializer_receive_system(&r, &e);
        th_workload *back = s ? th_serializer_receive_workload(&r, &e) : NULL;
        th_alloc_fail_at(0);
        done = back != NULL;
        if (!done)
            TAP_ASSERT_TEXT(e.id, "BASE-0001");
        th_system_free(s);
        th_workload_free(back);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    CU_ASSERT_TRUE(done);
    th_serializer_clear(&w);
}

int main(int argc, char **argv)
{
    make_mapping();
    int status = tap_run("serializer", argc, argv);
    th_mapping_free(mapping);
    th_workload_free(net);
    th_system_free(f1);
    return status;
}
