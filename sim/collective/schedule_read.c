/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_read.c - reads ranks = ( { threads = ( ( STEP, ... ), ... ); }, ... ), where each STEP
 * is a send or a recv.
 *   open -> ranks -> threads -> steps -> th_user_schedule_finish */
#include <config.h>

#include "sim/collective/schedule_read.h"

#include <stdio.h>
#include <string.h>

#include "base/files/config_read.h"

enum { PARTS_MAX = 1 << 20 }; /* of S */

static int bad_size(const th_config_node *n, th_error *err)
{
    return th_error_set(
        err, "COLL-0038",
        "%s:%d: key \"%s\": must be a part of the whole, \"a/b\" with 0 <= a <= b <= "
        "%d, or bytes, \"64KiB\"",
        th_config_file(n), th_config_line(n), th_config_key(n), PARTS_MAX);
}

static int read_size(const th_config_node *step, const char *key, bool required,
                     th_user_schedule_size *out, th_error *err)
{
    const char *text = NULL;
    char rest;
    if (th_config_string(step, key, required, &text, err) < 0)
        return -1;
    if (!text)
        return 0;
    const th_config_node *n = th_config_member(step, key);
    if (!strchr(text, '/')) {
        out->b = 0;
        return th_parse_bytes(text, &out->bytes, NULL) < 0 ? bad_size(n, err) : 0;
    }
    if (strlen(text) > 20 || sscanf(text, "%d/%d%c", &out->a, &out->b, &rest) != 2 || out->a < 0 ||
        out->b < 1 || out->a > out->b || out->b > PARTS_MAX)
        return bad_size(n, err);
    return 0;
}

static int read_step(th_user_schedule *u, const th_config_node *n, th_error *err)
{
    static const char *const keys[] = {"send", "recv", "size", "at", "reduce", "channel", NULL};
    th_user_schedule_step s = {.at = {.bytes = 0}, .line = th_config_line(n)};
    int64_t peer = 0, channel = 0;
    if (th_config_kind_of(n) != TH_CONFIG_GROUP)
        return th_error_set(err, "COLL-0039",
                            "%s:%d: a step is { send = RANK; size = ...; } or "
                            "{ recv = RANK; size = ...; }",
                            th_config_file(n), s.line);
    if (th_config_check_keys(n, keys, err) < 0)
        return -1;
    s.sends = th_config_member(n, "send");
    if (s.sends == !!th_config_member(n, "recv"))
        return th_error_set(err, "COLL-0040", "%s:%d: a step has one of the keys send and recv",
                            th_config_file(n), s.line);
    const char *wrong = s.sends ? "reduce" : "at";
    if (th_config_member(n, wrong))
        return th_error_set(err, "COLL-0041", "%s:%d: key \"%s\": only a %s has it",
                            th_config_file(n), s.line, wrong, s.sends ? "recv" : "send");
    if (th_config_int(n, s.sends ? "send" : "recv", true, (th_int_range){INT32_MIN, INT32_MAX},
                      &peer, err) < 0 ||
        th_config_int(n, "channel", false, (th_int_range){0, INT32_MAX}, &channel, err) < 0 ||
        read_size(n, "size", true, &s.size, err) || read_size(n, "at", false, &s.at, err) ||
        th_config_bool(n, "reduce", false, &s.reduces, err) < 0)
        return -1;
    s.peer = (int32_t)peer;
    s.channel = (int32_t)channel;
    return th_user_schedule_add_step(u, &s, err);
}

static int read_thread(th_user_schedule *u, const th_config_node *n, th_error *err)
{
    if (th_config_kind_of(n) != TH_CONFIG_LIST)
        return th_error_set(err, "COLL-0042", "%s:%d: a thread is a list of steps",
                            th_config_file(n), th_config_line(n));
    if (th_user_schedule_add_thread(u, err))
        return -1;
    for (int i = 0; i < th_config_count(n); i++)
        if (read_step(u, th_config_at(n, i), err))
            return -1;
    return 0;
}

static int read_rank(th_user_schedule *u, const th_config_node *n, th_error *err)
{
    static const char *const keys[] = {"threads", NULL};
    const th_config_node *threads;
    if (th_config_kind_of(n) != TH_CONFIG_GROUP)
        return th_error_set(err, "COLL-0043", "%s:%d: a rank is { threads = ( ... ); }",
                            th_config_file(n), th_config_line(n));
    if (th_config_check_keys(n, keys, err) < 0 ||
        th_config_child(n, "threads", true, TH_CONFIG_LIST, &threads, err) < 0 ||
        th_user_schedule_add_rank(u, err))
        return -1;
    for (int i = 0; i < th_config_count(threads); i++)
        if (read_thread(u, th_config_at(threads, i), err))
            return -1;
    return 0;
}

static int read_ranks(th_user_schedule *u, const th_config_node *root, th_error *err)
{
    static const char *const keys[] = {"ranks", NULL};
    const th_config_node *ranks;
    if (th_config_check_keys(root, keys, err) < 0 ||
        th_config_child(root, "ranks", true, TH_CONFIG_LIST, &ranks, err) < 0)
        return -1;
    if (th_config_count(ranks) == 0)
        return th_error_set(err, "COLL-0044", "%s:%d: key \"ranks\": must have at least one",
                            th_config_file(ranks), th_config_line(ranks));
    for (int i = 0; i < th_config_count(ranks); i++)
        if (read_rank(u, th_config_at(ranks, i), err))
            return -1;
    return th_user_schedule_finish(u, err);
}

/* Closes c in any case. */
static th_user_schedule *read_config(th_config *c, const char *name, th_error *err)
{
    if (!c)
        return NULL;
    th_user_schedule *u = th_user_schedule_new(name, err);
    if (u && read_ranks(u, th_config_root(c), err)) {
        th_user_schedule_free(u);
        u = NULL;
    }
    th_config_close(c);
    return u;
}

th_user_schedule *th_user_schedule_read(const char *path, th_error *err)
{
    return read_config(th_config_open(path, err), path, err);
}

th_user_schedule *th_user_schedule_read_text(const char *text, const char *name, th_error *err)
{
    return read_config(th_config_open_text(text, name, err), name, err);
}
