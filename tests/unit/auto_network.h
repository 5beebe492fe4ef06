/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auto_network.h - networks that go at the end of their block (auto.h). */
#ifndef TH_TESTS_UNIT_AUTO_NETWORK_H
#define TH_TESTS_UNIT_AUTO_NETWORK_H
#include "sim/network/network.h"

static inline void end_of_th_network(th_network **it)
{
    if (*it)
        (*it)->type->destroy(*it);
}
#define auto_network __attribute__((cleanup(end_of_th_network))) th_network

#endif
