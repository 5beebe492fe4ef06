/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stepping.h - an observer for which a machine runs all tasks tile by tile. */
#ifndef TH_TESTS_UNIT_STEPPING_H
#define TH_TESTS_UNIT_STEPPING_H
#include "sim/program/observer.h"

static inline th_tile_window whole_run(const th_observer *o, int accel)
{
    (void)o, (void)accel;
    return (th_tile_window){.until = TH_TIME_MAX};
}

static const th_observer_type stepping_type = {.tile_window = whole_run};

#endif
