/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dram_read.c - the local memory of an accelerator: th_read_dram, called by accel_read.c.
 *
 *   dram = { capacity = "8GiB"; bandwidth = "16GB/s" or "unlimited"; latency = "100ns"; burst =
 *            "64B"; channels = 4; interleave = "256B"; efficiency = ( ("64B", 0.4),
 *            ("4KiB", 0.9) ); };
 * sim/pipeline/port.h explains the numbers. */
#include <config.h>
#include "topology/files/system_reader.h"

#include <string.h>

enum { LARGEST_CHANNELS = 4096 };

int th_reader_size(th_system_reader *r, const th_config_node *g, const char *key, bool required,
                   int64_t *out)
{
    if (th_config_bytes(g, key, required, out, &r->error) < 0)
        return -1;
    const th_config_node *n = th_config_member(g, key);
    if (!n || *out > 0)
        return 0;
    return th_error_set(&r->error, "TOPO-0033", "%s:%d: key \"%s\": must be greater than 0",
                        th_config_file(n), th_config_line(n), key);
}

static int read_bandwidth(th_system_reader *r, const th_config_node *g, th_accel *a)
{
    const th_config_node *n = th_config_member(g, "bandwidth");
    const char *text = "";
    bool is_text = n && th_config_kind_of(n) == TH_CONFIG_STRING;
    if (is_text && th_config_as_string(n, &text, &r->error) < 0)
        return -1;
    if (strcmp(text, "unlimited") != 0)
        return th_config_bandwidth(g, "bandwidth", true, &a->dram_bits_per_s, &r->error);
    a->dram_bits_per_s = TH_UNLIMITED;
    return 0;
}

static int read_channels(th_system_reader *r, const th_config_node *g, th_accel *a)
{
    int64_t channels = 1;
    a->dram_interleave_bytes = TH_DEFAULT_INTERLEAVE_BYTES;
    if (th_config_int(g, "channels", false, (th_int_range){1, LARGEST_CHANNELS}, &channels,
                      &r->error) < 0)
        return -1;
    a->dram_channels = (int32_t)channels;
    return th_reader_size(r, g, "interleave", false, &a->dram_interleave_bytes);
}

static int read_point(th_system_reader *r, const th_config_node *n, th_dram_efficiency *e)
{
    if (th_config_kind_of(n) != TH_CONFIG_LIST || th_config_count(n) != 2)
        return th_error_set(&r->error, "TOPO-0160",
                            "%s:%d: key \"efficiency\": point %d must be (\"RUN\", SHARE), such as "
                            "(\"64B\", 0.4)",
                            th_config_file(n), th_config_line(n), e->n + 1);
    int64_t *run = &e->run_bytes[e->n], before = e->n > 0 ? e->run_bytes[e->n - 1] : 0;
    double *share = &e->share[e->n];
    if (th_config_as_bytes(th_config_at(n, 0), run, &r->error) < 0 ||
        th_config_as_double(th_config_at(n, 1), share, &r->error) < 0)
        return -1;
    e->n++;
    if (*run <= before)
        return th_error_set(
            &r->error, "TOPO-0161",
            "%s:%d: key \"efficiency\": run %lld of point %d must be more than %lld "
            "bytes: runs ascend",
            th_config_file(n), th_config_line(n), (long long)*run, e->n, (long long)before);
    if (!(*share > 0 && *share <= 1))
        return th_error_set(
            &r->error, "TOPO-0162",
            "%s:%d: key \"efficiency\": share %g of point %d must be above 0 and at "
            "most 1",
            th_config_file(n), th_config_line(n), *share, e->n);
    return 0;
}

static int read_efficiency(th_system_reader *r, const th_config_node *g, th_accel *a)
{
    const th_config_node *list = NULL;
    if (th_config_child(g, "efficiency", false, TH_CONFIG_LIST, &list, &r->error) < 0)
        return -1;
    if (!list)
        return 0;
    int n = th_config_count(list);
    if (n < 1 || n > TH_EFFICIENCY_POINTS_MAX)
        return th_error_set(
            &r->error, "TOPO-0163", "%s:%d: key \"efficiency\": must have 1 to %d points, not %d",
            th_config_file(list), th_config_line(list), TH_EFFICIENCY_POINTS_MAX, n);
    for (int i = 0; i < n; i++)
        if (read_point(r, th_config_at(list, i), &a->dram_efficiency) < 0)
            return -1;
    return 0;
}

int th_read_dram(th_system_reader *r, const th_config_node *g, th_accel *a)
{
    static const char *const keys[] = {"capacity", "bandwidth",  "latency",    "burst",
                                       "channels", "interleave", "efficiency", NULL};
    const th_config_node *n = NULL;
    a->dram_burst_bytes = 1;
    if (th_config_child(g, "dram", true, TH_CONFIG_GROUP, &n, &r->error) < 0 ||
        th_config_check_keys(n, keys, &r->error) < 0 ||
        th_reader_size(r, n, "capacity", true, &a->dram_bytes) < 0 || read_bandwidth(r, n, a) < 0 ||
        th_config_time(n, "latency", false, &a->dram_latency_ps, &r->error) < 0 ||
        read_channels(r, n, a) < 0 || read_efficiency(r, n, a) < 0)
        return -1;
    return th_reader_size(r, n, "burst", false, &a->dram_burst_bytes);
}
