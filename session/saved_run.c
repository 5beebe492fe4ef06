/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_run.c - see saved_run.h. */
#include <config.h>
#include "session/saved_run.h"
#include "base/names.h"
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "session/property_event_list.h"

void th_saved_run_free(th_saved_run *r)
{
    if (!r)
        return;
    for (int c = 0; c < TH_N_SAVED; c++)
        th_free(r->cells[c]);
    th_property_event_list_free(r->events);
    th_arena_free(r->arena);
    th_free(r->page);
    th_free(r->name);
    th_free(r);
}

void th_saved_runs_clear(th_session *s)
{
    for (size_t i = 0; i < s->saved.n; i++)
        th_saved_run_free(s->saved.all[i]);
    th_free(s->saved.all);
    s->saved.all = NULL;
    s->saved.n = s->saved.capacity = 0;
}

static int place_of(const th_session *s, const char *name)
{
    for (size_t i = 0; i < s->saved.n; i++)
        if (strcmp(s->saved.all[i]->name, name) == 0)
            return (int)i;
    return -1;
}

int th_saved_run_add(th_session *s, th_saved_run *r, th_error *err)
{
    int place = r ? place_of(s, r->name) : -1;
    if (!r ||
        (place < 0 && th_grow(&s->saved.all, &s->saved.capacity, s->saved.n + 1, sizeof r) != 0)) {
        th_saved_run_free(r);
        return th_error_no_memory(err);
    }
    if (place < 0)
        place = (int)s->saved.n++;
    else
        th_saved_run_free(s->saved.all[place]);
    s->saved.all[place] = r;
    return 0;
}

int th_saved_run_number(const th_session *s, const th_saved_run *run)
{
    return place_of(s, run->name);
}

th_saved_run *th_saved_run_find(th_session *s, const char *name, th_error *err)
{
    int place = place_of(s, name);
    if (place >= 0)
        return s->saved.all[place];
    if (s->saved.n == 0) {
        th_error_set(err, "TCL-0053", "run \"%s\": none is saved yet: save_run NAME first", name);
        return NULL;
    }
    const char **names = th_alloc_array(s->saved.n + 1, sizeof *names);
    if (!names) {
        th_error_no_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < s->saved.n; i++)
        names[i] = s->saved.all[i]->name;
    names[s->saved.n] = NULL;
    th_error_unknown(err, "TCL-0052", "run", name, names);
    th_free(names);
    return NULL;
}
