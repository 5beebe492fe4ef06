/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_mapping.c - the bytes as a mapping, whole and partial, of two small problems: on a network,
 * and with serial transfers. What can be read is valid, and, written, reads back with the same
 * digest. */
#include <config.h>
#include <string.h>
#include "base/map.h"
#include "mapper/mapping_read.h"
#include "tests/fuzz/target.h"
#include "topology/files/system_read.h"
#include "workloads/workload_read.h"

#define SYSTEM                                                                                     \
    "name = \"four\"; designs = ("                                                                 \
    "{ name = \"big\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 64; },"             \
    "{ name = \"small\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 16; });"          \
    "accelerators = ("                                                                             \
    "{ names = [\"0\", \"1\", \"2\", \"3\"];"                                                      \
    "  dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; };"                                   \
    "  vector = { clock = \"1GHz\"; elements_per_cycle = 64; };"                                   \
    "  designs = [\"big\", \"small\"]; });"                                                        \
    "hosts = ( \"host\" );"                                                                        \
    "links = ( { all_pairs = [\"0\", \"1\", \"2\", \"3\"]; bandwidth = \"8Gbps\";"                 \
    "latency = \"1us\"; },"                                                                        \
    "{ center = \"host\"; leaves = [\"0\", \"1\", \"2\", \"3\"]; bandwidth = \"8Gbps\";"           \
    "latency = \"1us\"; } );"

static const char system_text[] = SYSTEM;
static const char serial_text[] = SYSTEM "transfers = \"serial\"; weight_memory = 0.5;";
static const char workload_text[] =
    "name = \"net\"; batch = 4; input = { channels = 8; height = 16; width = 16; };"
    "layers = ("
    "{ name = \"c1\"; type = \"conv\"; outputs = 16; kernel = 3; padding = 1; },"
    "{ name = \"c2\"; type = \"conv\"; outputs = 16; kernel = 3; padding = 1; },"
    "{ name = \"sum\"; type = \"add\"; inputs = [\"c2\", \"c1\"]; },"
    "{ name = \"pool\"; type = \"mean_pool\"; },"
    "{ name = \"fc\"; type = \"fc\"; outputs = 10; } );";

static th_system *systems[2];
static th_workload *workload;

static void begin(void)
{
    th_error e = {"", ""};
    systems[0] = th_system_read_text(system_text, "four", &e);
    systems[1] = th_system_read_text(serial_text, "serial", &e);
    workload = th_workload_read_text(workload_text, "net", 0, &e);
    must(systems[0] && systems[1] && workload);
}

static void write_back(const th_mapping *m, const th_system *s)
{
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT;
    must(th_mapping_check(m, s, workload, &e) == 0);
    th_mapping_write(m, s, workload, &text);
    must(!text.failed);
    th_mapping *again = th_mapping_read_text(text.text, "again", s, workload, &e);
    must(again && th_mapping_equal(again, m));
    th_mapping_free(again);
    th_strbuf_clear(&text);
}

static uint64_t digest_of(const th_constraints *c)
{
    const size_t layers = (size_t)c->n_layers, cells = layers * (size_t)c->n_accels;
    return th_hash(c->is_restricted, layers,
                   th_hash(c->has_strategy, layers,
                           th_hash(c->is_allowed, cells, th_hash(c->is_forbidden, cells, 1))));
}

static void read_partial(const char *path, const th_system *s)
{
    th_error e = {"", ""};
    th_constraints *c = th_constraints_new(s, workload);
    must(c != NULL);
    uint64_t before = digest_of(c);
    int failed = th_mapping_read_partial(path, s, workload, c, &e);
    must_read_or_say(!failed, &e);
    if (failed)
        must(digest_of(c) == before && !c->partial);
    else if (th_constraints_validate(c, s, workload, &e) != 0)
        must_read_or_say(false, &e);
    th_constraints_free(c);
}

static void run(const uint8_t *data, size_t size)
{
    const char *path = fuzz_input_file(data, size);
    for (int i = 0; i < 2; i++) {
        th_error e = {"", ""};
        th_mapping *m = th_mapping_read(path, systems[i], workload, &e);
        must_read_or_say(m != NULL, &e);
        if (m)
            write_back(m, systems[i]);
        th_mapping_free(m);
        read_partial(path, systems[i]);
    }
}

const fuzz_target fuzz_mapping = {"mapping", run, begin};
