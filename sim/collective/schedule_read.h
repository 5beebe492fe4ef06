/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_read.h - reads a user-written schedule from a libconfig file (docs/formats.md). */
#ifndef TH_SIM_COLLECTIVE_SCHEDULE_READ_H
#define TH_SIM_COLLECTIVE_SCHEDULE_READ_H
#include "sim/collective/user_schedule.h"

/* NULL, with FILE:LINE of what is wrong. To be freed with th_user_schedule_free. */
th_user_schedule *th_user_schedule_read(const char *path, th_error *err);
/* The same for text in memory; name stands for the file in messages. */
th_user_schedule *th_user_schedule_read_text(const char *text, const char *name, th_error *err);

#endif
