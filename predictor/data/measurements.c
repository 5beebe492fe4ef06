/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measurements.c - life of measured times. They are read in measurements_read.c. */
#include <config.h>

#include "predictor/data/measurements.h"

#include "base/alloc.h"

th_measurements *th_measurements_new(void)
{
    return th_alloc_zero(1, sizeof(th_measurements));
}

void th_measurements_free(th_measurements *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->n_groups; i++)
        th_free(m->group[i]);
    th_free(m->group);
    th_free(m->device);
    th_free(m->row);
    th_free(m->member);
    th_free(m);
}
