/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capability.h - which layers accelerators cannot run, and why. */
#ifndef TH_SESSION_CAPABILITY_H
#define TH_SESSION_CAPABILITY_H
#include "session/session.h"

/* Of accelerators with equal designs and memories: for each kind of layer, the first layer that
 * none of their designs can run whole, and why the first of these cannot. */
typedef struct th_incapable {
    int accel, n_accels, layer, n_layers; /* the first of each, how many there are */
    bool is_of_none;                      /* no accelerator can run one of these layers */
    th_error why;
} th_incapable;

/* Calls tell with each. 0, or -1: memory is out, or the procedure of a design fails. */
int th_capability_check(const th_session *s, void (*tell)(void *state, const th_incapable *i),
                        void *state, th_error *err);

#endif
