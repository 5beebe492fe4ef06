/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_read.c - the group "astra" of a system file: what ASTRA-sim's networks need besides the
 * graph. The topology says how many dimensions there are, and of which kind and size. */
#include <config.h>
#include "topology/files/astra.h"

#include "topology/files/system_fields.h"
#include "topology/files/system_reader.h"

static int check_dims(th_system_reader *r, const th_config_node *list)
{
    const th_system *s = r->s;
    bool holds = th_config_count(list) == s->n_dims;
    for (int d = 0; d < s->n_dims; d++)
        holds &= s->dims[d].kind != TH_TOPOLOGY_DIM_LINE && s->dims[d].size > 1;
    if (holds)
        return 0;
    return th_error_set(&r->error, "TOPO-0281",
                        "%s:%d: key \"dims\": must be as many as those of a topology whose "
                        "dimensions are of two nodes or more and no lines",
                        th_config_file(list), th_config_line(list));
}

int th_read_astra(th_system_reader *r)
{
    const th_config_node *g = NULL, *list;
    if (th_config_child(r->root, "astra", false, TH_CONFIG_GROUP, &g, &r->error) < 0)
        return -1;
    if (!g)
        return 0;
    th_astra *a = r->s->astra = th_memory_take(&r->s->memory, 1, sizeof *a);
    if (!a)
        return th_error_no_memory(&r->error);
    if (th_fields_read(th_astra_fields, g, a, &r->error) < 0 ||
        th_reader_list(r, g, "dims", 1, 0, &list) < 0 || check_dims(r, list) < 0)
        return -1;
    for (; a->n_dims < r->s->n_dims; a->n_dims++) {
        const th_shape_dim *shape = &r->s->dims[a->n_dims];
        const th_config_node *n = th_config_at(list, a->n_dims);
        th_astra_dim *dim = &a->dims[a->n_dims];
        dim->kind = (th_topology_dim_kind)shape->kind;
        dim->size = shape->size;
        if (th_reader_group(r, n, "a dimension") < 0 ||
            th_fields_read(th_astra_dim_fields, n, dim, &r->error) < 0)
            return -1;
    }
    return 0;
}
