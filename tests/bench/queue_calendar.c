/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue_calendar.c - a calendar queue: days of equal width, one sorted chain per day of the year.
 *
 * R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the simulation event
 * set problem", CACM 31 (1988) 1220-1227. The number of days doubles and halves with the number of
 * events; a day's width becomes three times the mean distance of the events next to come. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "tests/bench/queues.h"

enum { FIRST_DAYS = 16, SAMPLED = 25, DAYS_OF_MEAN = 3 };

typedef struct {
    th_pool_of_events pool;
    int *day; /* first event of each */
    size_t n_days, n;
    th_time width, year_day; /* the day now looked at, counted from time 0 */
} calendar;

static size_t day_of(const calendar *c, th_time t)
{
    return (size_t)(t / c->width) & (c->n_days - 1);
}

static void *create(void)
{
    calendar *c = th_alloc_zero(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (calendar){.n_days = FIRST_DAYS, .width = 1000, .pool.free_item = -1};
    c->day = th_alloc_array(c->n_days, sizeof *c->day);
    if (!c->day) {
        th_free(c);
        return NULL;
    }
    memset(c->day, 0xff, c->n_days * sizeof *c->day);
    return c;
}

static void destroy(void *q)
{
    calendar *c = q;
    th_free(c->pool.item);
    th_free(c->day);
    th_free(c);
}

/* The day that holds the first event; there is one. Looks through one year, then for the least. */
static size_t first_day(calendar *c)
{
    for (size_t k = 0; k < c->n_days; k++, c->year_day++) {
        size_t d = (size_t)c->year_day & (c->n_days - 1);
        if (c->day[d] >= 0 && c->pool.item[c->day[d]].event.time / c->width == c->year_day)
            return d;
    }
    int best = -1;
    for (size_t d = 0; d < c->n_days; d++)
        if (c->day[d] >= 0 && (best < 0 || th_event_before(&c->pool.item[c->day[d]].event,
                                                           &c->pool.item[best].event)))
            best = c->day[d];
    c->year_day = c->pool.item[best].event.time / c->width;
    return day_of(c, c->pool.item[best].event.time);
}

/* The mean distance of the next events, taken out and put back, times DAYS_OF_MEAN. */
static th_time new_width(calendar *c)
{
    int taken[SAMPLED];
    int n = 0;
    for (; n < SAMPLED && (size_t)n < c->n; n++) {
        size_t d = first_day(c);
        taken[n] = c->day[d];
        c->day[d] = c->pool.item[taken[n]].next;
    }
    th_time from = c->pool.item[taken[0]].event.time, to = c->pool.item[taken[n - 1]].event.time;
    for (int i = n - 1; i >= 0; i--)
        th_chain_insert(&c->pool, &c->day[day_of(c, c->pool.item[taken[i]].event.time)], taken[i]);
    th_time width = n > 1 ? DAYS_OF_MEAN * (to - from) / (n - 1) : c->width;
    c->year_day = from / (width > 0 ? width : 1);
    return width > 0 ? width : 1;
}

static void resize(calendar *c, size_t n_days)
{
    int *old = c->day, *day = th_alloc_array(n_days, sizeof *day);
    size_t n_old = c->n_days;
    if (!day)
        return; /* stays as it is: slower, not wrong */
    memset(day, 0xff, n_days * sizeof *day);
    c->width = new_width(c);
    c->day = day;
    c->n_days = n_days;
    for (size_t d = 0; d < n_old; d++)
        for (int i = old[d], next; i >= 0; i = next) {
            next = c->pool.item[i].next;
            th_chain_insert(&c->pool, &day[day_of(c, c->pool.item[i].event.time)], i);
        }
    th_free(old);
}

static bool push(void *q, const th_event *e)
{
    calendar *c = q;
    int i = th_chain_take(&c->pool, e);
    if (i < 0)
        return false;
    th_chain_insert(&c->pool, &c->day[day_of(c, e->time)], i);
    if (e->time / c->width < c->year_day)
        c->year_day = e->time / c->width;
    if (++c->n > 2 * c->n_days)
        resize(c, 2 * c->n_days);
    return true;
}

static bool pop(void *q, th_event *out)
{
    calendar *c = q;
    if (c->n == 0)
        return false;
    size_t d = first_day(c);
    int i = c->day[d];
    *out = c->pool.item[i].event;
    c->day[d] = c->pool.item[i].next;
    th_chain_give(&c->pool, i);
    if (--c->n < c->n_days / 2 && c->n_days > FIRST_DAYS)
        resize(c, c->n_days / 2);
    return true;
}

const th_queue_type th_queue_calendar = {"calendar", create, destroy, push, pop};
