/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_mtbf.c - see system_mtbf.h. */
#include <config.h>
#include "tcl/reliability/system_mtbf.h"

int64_t th_system_mtbf_us(const th_system *s, th_object o)
{
    const th_node *n = o.class == TH_CLASS_NODE ? &s->nodes[o.index] : NULL;
    if (o.class == TH_CLASS_LINK)
        return s->media[s->links[o.index].medium].mtbf_us;
    if (o.class == TH_CLASS_ACCEL)
        n = &s->nodes[s->accel_node[o.index]];
    return !n ? 0 : n->accel >= 0 ? n->a.mtbf_us : n->mtbf_us;
}
